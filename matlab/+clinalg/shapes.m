classdef shapes < handle
%clinalg.shapes  Sizes, shapes and properties of clinalg.array.
%   size, numel, isempty, isreal, reshape, repmat, flip, ..., as for MATLAB's own arrays.
%
%   Example:
%     x = clinalg.vector(1 : 6);
%     size(reshape(x, 2, []))
%
%   See also clinalg.array, clinalg.elementwise, clinalg.matrices.

  methods
    function e = end(a, k, n)
    %end  The last index.
      s = size(a);
      if n == 1
        e = prod(s);
      elseif k < n
        e = size(a, k);
      else
        e = prod(s(k : end));
      end
    end

    function n = numel(a, varargin)
    %numel  Number of elements.
      n = 1;
      if nargin == 1
        n = prod(size(a)); %#ok<PSIZE>
      end
    end

    function varargout = size(a, varargin)
    %size  Length of each dimension.
      if isempty(a.form)
        [m, n] = clinalg_mex('MexSize', 0, a.h);
        s = [m, n];
      elseif isempty(a.form.dims)
        [n, m] = clinalg_mex('MexSize', 0, a.form.of.h);
        s = [m, n];
      else
        s = a.form.dims;
      end
      if nargin > 1
        dims = [varargin{:}];
        s(end + 1 : max(dims)) = 1;
        s = s(dims);
        if nargout > 1
          varargout = num2cell(s);
        else
          varargout = {s};
        end
      elseif nargout < 2
        varargout = {s};
      else
        s(end + 1 : nargout) = 1;
        varargout = [num2cell(s(1 : nargout - 1)), {prod(s(nargout : end))}];
      end
    end

    function t = size_equal(varargin)
    %size_equal  Whether all arguments have the same size.
      sizes = cellfun(@(a) {size(a)}, varargin);
      t = numel(sizes) < 2 || isequal(sizes{:});
    end

    function n = length(a)
    %length  Length of the longest dimension; 0 where one is 0.
      s = size(a);
      n = max(s) * all(s > 0);
    end

    function n = ndims(a)
    %ndims  Number of dimensions.
      n = numel(size(a));
    end

    function n = rows(a)
    %rows  Number of rows.
      n = size(a, 1);
    end

    function n = columns(a)
    %columns  Number of columns.
      n = size(a, 2);
    end

    function t = isempty(a)
    %isempty  Whether there is no element.
      t = any(size(a) == 0);
    end

    function t = isnull(~)
    %isnull  False.
      t = false;
    end

    function t = isvector(a)
    %isvector  Whether it has one row or one column.
      s = size(a);
      t = numel(s) == 2 && any(s == 1) && all(s > 0);
    end

    function t = iscolumn(a)
    %iscolumn  Whether it has one column.
      t = ndims(a) == 2 && size(a, 2) == 1;
    end

    function t = isrow(a)
    %isrow  Whether it has one row.
      t = ndims(a) == 2 && size(a, 1) == 1;
    end

    function t = isscalar(a)
    %isscalar  Whether it has one element.
      t = all(size(a) == 1);
    end

    function t = ismatrix(a)
    %ismatrix  Whether it has two dimensions.
      t = ndims(a) == 2;
    end

    function t = issquare(a)
    %issquare  Whether it has as many rows as columns.
      s = size(a);
      t = numel(s) == 2 && s(1) == s(2);
    end

    function t = isnumeric(~)
    %isnumeric  True.
      t = true;
    end

    function t = isfloat(~)
    %isfloat  True.
      t = true;
    end

    function t = islogical(~)
    %islogical  False.
      t = false;
    end

    function t = isreal(a)
    %isreal  Whether the values are real.
      t = ~iscomplex(a);
    end

    function t = iscomplex(a)
    %iscomplex  Whether the values are complex.
      t = clinalg.operands.is_complex(source(a).h);
    end

    function t = issparse(a)
    %issparse  Whether it is a sparse or band matrix.
      t = ~strcmp(kind_of(a), 'full');
    end

    function t = isgpuarray(~)
    %isgpuarray  True: an array on the device.
      t = true;
    end

    function t = existsOnGPU(a)
    %existsOnGPU  Whether the device still has the values; not after clinalg.shutdown.
      try
        clinalg_mex('MexInfo', 0, source(a).h);
        t = true;
      catch
        t = false;
      end
    end

    function name = classUnderlying(a)
    %classUnderlying  'double' or 'single'.
      name = underlyingType(a);
    end

    function name = underlyingType(a)
    %underlyingType  'double' or 'single'.
      info = clinalg_mex('MexInfo', 0, source(a).h);
      name = info.class;
    end

    function t = isUnderlyingType(a, name)
    %isUnderlyingType  Whether the values are of a class.
      t = strcmp(underlyingType(a), name);
    end

    function t = isaUnderlying(a, name)
    %isaUnderlying  Whether the values are of a class or of 'float' or 'numeric'.
      t = any(strcmp(name, {underlyingType(a), 'float', 'numeric'}));
    end

    function c = reshape(a, varargin)
    %reshape  The values in another shape.
      if numel(varargin) == 1
        dims = varargin{1};
      else
        unknown = cellfun(@isempty, varargin);
        if sum(unknown) == 1
          varargin{unknown} = numel(a) / prod([varargin{:}]);
        end
        dims = [varargin{:}];
      end
      dims = double(clinalg.operands.on_host(dims));
      if ~strcmp(kind_of(a), 'full') || numel(dims) < 2 || any(dims < 0 | dims ~= fix(dims)) || prod(dims) ~= numel(a) || prod(dims) == 0
        c = clinalg.hosted.one('reshape', {a, dims});
      else
        dims = dims(1 : max([2, find(dims ~= 1, 1, 'last')]));
        c = clinalg.array.shaped(clinalg_mex('MexTakeLinear', 0, hand(a), [], dims(1), prod(dims(2 : end))), dims);
      end
    end

    function c = repmat(a, varargin)
    %repmat  Copies below each other and side by side.
      times = [varargin{:}];
      times = [times, times(ones(1, numel(times) == 1))];
      [m, n] = size(a);
      if numel(times) ~= 2 || ndims(a) > 2 || any(times < 1 | times ~= fix(times)) || isempty(a) || ~strcmp(kind_of(a), 'full')
        c = clinalg.hosted.one('repmat', [{a}, varargin]);
      else
        c = clinalg.operands.made(clinalg_mex('MexTake', 0, hand(a), repmat(1 : m, 1, times(1)), repmat(1 : n, 1, times(2))));
      end
    end

    function c = flip(a, varargin)
    %flip  In reverse order along a dimension.
      dims = size(a);
      dim = [find(dims ~= 1, 1), 1];
      if nargin > 1
        dim = varargin{1};
      end
      at = {[], []};
      if isempty(a) || numel(dims) > 2 || ~any(dim(1) == [1 2]) || ~strcmp(kind_of(a), 'full')
        c = clinalg.hosted.one('flip', [{a}, varargin]);
      else
        at{dim(1)} = dims(dim(1)) : -1 : 1;
        c = clinalg.operands.made(clinalg_mex('MexTake', 0, hand(a), at{:}));
      end
    end

    function c = fliplr(a)
    %fliplr  Columns in reverse order.
      c = flip(a, 2);
    end

    function c = flipud(a)
    %flipud  Rows in reverse order.
      c = flip(a, 1);
    end
  end
end
