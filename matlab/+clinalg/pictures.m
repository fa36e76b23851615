classdef pictures < handle
%clinalg.pictures  Plots and printed text of clinalg.array.
%   plot, surf, spy, imagesc, fprintf, num2str, ... copy their arguments from the device and call the function of the same name.
%
%   Example:
%     x = clinalg.vector([3 1 2]);
%     sprintf('%g ', x)
%
%   See also clinalg.array, clinalg.hosted.

  methods
    function varargout = num2str(varargin)
    %num2str  The numbers as text.
      varargout = clinalg.hosted.call('num2str', nargout, 'H', varargin);
    end

    function varargout = int2str(varargin)
    %int2str  The rounded numbers as text.
      varargout = clinalg.hosted.call('int2str', nargout, 'H', varargin);
    end

    function varargout = mat2str(varargin)
    %mat2str  The array as text that evaluates to it.
      varargout = clinalg.hosted.call('mat2str', nargout, 'H', varargin);
    end

    function varargout = sprintf(varargin)
    %sprintf  Formatted text.
      varargout = clinalg.hosted.call('sprintf', nargout, 'H', varargin);
    end

    function varargout = fprintf(varargin)
    %fprintf  Writes formatted text.
      varargout = clinalg.hosted.call('fprintf', nargout, 'N', varargin);
    end

    function varargout = plot(varargin)
    %plot  Line plot.
      varargout = clinalg.hosted.call('plot', nargout, 'N', varargin);
    end

    function varargout = plot3(varargin)
    %plot3  Line plot in space.
      varargout = clinalg.hosted.call('plot3', nargout, 'N', varargin);
    end

    function varargout = semilogx(varargin)
    %semilogx  Plot with a logarithmic axis.
      varargout = clinalg.hosted.call('semilogx', nargout, 'N', varargin);
    end

    function varargout = semilogy(varargin)
    %semilogy  Plot with a logarithmic axis.
      varargout = clinalg.hosted.call('semilogy', nargout, 'N', varargin);
    end

    function varargout = loglog(varargin)
    %loglog  Plot with two logarithmic axes.
      varargout = clinalg.hosted.call('loglog', nargout, 'N', varargin);
    end

    function varargout = bar(varargin)
    %bar  Bar chart.
      varargout = clinalg.hosted.call('bar', nargout, 'N', varargin);
    end

    function varargout = hist(varargin)
    %hist  Histogram.
      varargout = clinalg.hosted.call('hist', nargout, 'N', varargin);
    end

    function varargout = stem(varargin)
    %stem  Stem plot.
      varargout = clinalg.hosted.call('stem', nargout, 'N', varargin);
    end

    function varargout = surf(varargin)
    %surf  Surface.
      varargout = clinalg.hosted.call('surf', nargout, 'N', varargin);
    end

    function varargout = mesh(varargin)
    %mesh  Wire-frame surface.
      varargout = clinalg.hosted.call('mesh', nargout, 'N', varargin);
    end

    function varargout = contour(varargin)
    %contour  Contour lines.
      varargout = clinalg.hosted.call('contour', nargout, 'N', varargin);
    end

    function varargout = contourf(varargin)
    %contourf  Filled contours.
      varargout = clinalg.hosted.call('contourf', nargout, 'N', varargin);
    end

    function varargout = quiver(varargin)
    %quiver  Arrows.
      varargout = clinalg.hosted.call('quiver', nargout, 'N', varargin);
    end

    function varargout = scatter(varargin)
    %scatter  Points.
      varargout = clinalg.hosted.call('scatter', nargout, 'N', varargin);
    end

    function varargout = imagesc(varargin)
    %imagesc  Image with scaled colours.
      varargout = clinalg.hosted.call('imagesc', nargout, 'N', varargin);
    end

    function varargout = image(varargin)
    %image  Image.
      varargout = clinalg.hosted.call('image', nargout, 'N', varargin);
    end

    function varargout = pcolor(varargin)
    %pcolor  Checkerboard of colours.
      varargout = clinalg.hosted.call('pcolor', nargout, 'N', varargin);
    end

    function varargout = spy(varargin)
    %spy  Pattern of nonzeros.
      varargout = clinalg.hosted.call('spy', nargout, 'N', varargin);
    end
  end
end
