classdef gpuArray < clinalg.array
%clinalg.gpuArray  Device array with the interface of MATLAB's gpuArray.
%   x = clinalg.gpuArray(values)
%   x = clinalg.gpuArray.zeros(m, n, class), and ones, rand, randn, eye, linspace, colon
%
%   A script written for gpuArray runs with one additional line, gpuArray = @clinalg.gpuArray, where it calls gpuArray(values), and with
%   clinalg.gpuArray.zeros(...) in place of gpuArray.zeros(...) or zeros(..., 'gpuArray'). x has the methods of clinalg.array; results of
%   operations are of that class. gather, isgpuarray, existsOnGPU, classUnderlying and arrayfun are as for gpuArray: arrayfun accepts
%   functions that work element by element, and runs them on the whole arrays. pagefun is not supported.
%   class is 'double' (default) or 'single'.
%
%   Example:
%     gpuArray = @clinalg.gpuArray;
%     x = gpuArray([1 2; 3 4]);
%     y = gather(x * x')
%
%   See also clinalg.array, clinalg.matrix.

  methods
    function o = gpuArray(values)
    %gpuArray  A copy of an array of MATLAB on the device; of an array on the device one of the same values.
      if nargin < 1
        error('clinalg:argument:count', 'clinalg.gpuArray: too few arguments; the call is clinalg.gpuArray(values)');
      elseif isinteger(values) || ischar(values)
        error('clinalg:argument:class', ['clinalg.gpuArray: values is of class %s, expected double, single or logical: convert it ' ...
          'with double(x) or single(x)'], class(values));
      end
      if isa(values, 'clinalg.array')
        values = gather(values);
      end
      form = [];
      if issparse(values)
        h = clinalg_mex('MexSparseMatrix', 0, values);
      else
        [h, form] = clinalg.array.uploaded(values);
      end
      o@clinalg.array(h);
      o.form = form;
    end
  end

  methods (Static)
    function x = zeros(varargin)
    %zeros  Zeros on the device.
      x = clinalg.gpuArray.by('zeros', varargin);
    end

    function x = ones(varargin)
    %ones  Ones on the device.
      x = clinalg.gpuArray.by('ones', varargin);
    end

    function x = eye(varargin)
    %eye  Identity matrix on the device.
      x = clinalg.gpuArray.by('eye', varargin);
    end

    function x = rand(varargin)
    %rand  MATLAB's random numbers on the device.
      x = clinalg.gpuArray.by('rand', varargin);
    end

    function x = randn(varargin)
    %randn  MATLAB's normally distributed random numbers on the device.
      x = clinalg.gpuArray.by('randn', varargin);
    end

    function x = linspace(varargin)
    %linspace  Equally spaced numbers on the device.
      x = clinalg.gpuArray.by('linspace', varargin);
    end

    function x = colon(varargin)
    %colon  first : last or first : step : last on the device.
      x = clinalg.gpuArray.by('colon', varargin);
    end
  end

  methods (Static, Hidden)
    function x = by(name, given)
    % An array of MATLAB's function on the device.
      if numel(given) > 1 && strcmp(given{end - 1}, 'like')
        x = clinalg.operands.made_like(name, given);
      else
        given = clinalg.hosted.gathered(name, given);
        x = clinalg.gpuArray(feval(name, given{:}));
      end
    end
  end
end
