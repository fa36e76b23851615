classdef signals < handle
%clinalg.signals  Transforms, filters, polynomials and interpolation of clinalg.array.
%   fft, conv, filter, polyval, interp1, ... copy their arguments to MATLAB's memory and the results back to the device.
%
%   Example:
%     x = clinalg.vector([1 2 3]);
%     gather(conv(x, [1 1]))
%
%   See also clinalg.array, clinalg.hosted.

  methods
    function varargout = fft(varargin)
    %fft  Fourier transform.
      varargout = clinalg.hosted.call('fft', nargout, 'D', varargin);
    end

    function varargout = ifft(varargin)
    %ifft  Inverse Fourier transform.
      varargout = clinalg.hosted.call('ifft', nargout, 'D', varargin);
    end

    function varargout = fft2(varargin)
    %fft2  Two-dimensional Fourier transform.
      varargout = clinalg.hosted.call('fft2', nargout, 'D', varargin);
    end

    function varargout = ifft2(varargin)
    %ifft2  Inverse two-dimensional Fourier transform.
      varargout = clinalg.hosted.call('ifft2', nargout, 'D', varargin);
    end

    function varargout = fftshift(varargin)
    %fftshift  Zero frequency in the middle.
      varargout = clinalg.hosted.call('fftshift', nargout, 'D', varargin);
    end

    function varargout = ifftshift(varargin)
    %ifftshift  The inverse of fftshift.
      varargout = clinalg.hosted.call('ifftshift', nargout, 'D', varargin);
    end

    function varargout = conv(varargin)
    %conv  Convolution.
      varargout = clinalg.hosted.call('conv', nargout, 'D', varargin);
    end

    function varargout = conv2(varargin)
    %conv2  Two-dimensional convolution.
      varargout = clinalg.hosted.call('conv2', nargout, 'D', varargin);
    end

    function varargout = filter(varargin)
    %filter  Digital filter.
      varargout = clinalg.hosted.call('filter', nargout, 'D', varargin);
    end

    function varargout = polyval(varargin)
    %polyval  Values of a polynomial.
      varargout = clinalg.hosted.call('polyval', nargout, 'D', varargin);
    end

    function varargout = polyfit(varargin)
    %polyfit  Coefficients of a fitted polynomial.
      varargout = clinalg.hosted.call('polyfit', nargout, 'D', varargin);
    end

    function varargout = interp1(varargin)
    %interp1  Interpolation in a table.
      varargout = clinalg.hosted.call('interp1', nargout, 'D', varargin);
    end

    function varargout = interp2(varargin)
    %interp2  Interpolation in a grid.
      varargout = clinalg.hosted.call('interp2', nargout, 'D', varargin);
    end

    function varargout = cov(varargin)
    %cov  Covariance.
      varargout = clinalg.hosted.call('cov', nargout, 'D', varargin);
    end

    function varargout = del2(varargin)
    %del2  Discrete Laplacian.
      varargout = clinalg.hosted.call('del2', nargout, 'D', varargin);
    end

    function varargout = gradient(varargin)
    %gradient  Differences that approximate the gradient.
      varargout = clinalg.hosted.call('gradient', nargout, 'D', varargin);
    end
  end
end
