classdef transposed
%clinalg.transposed  Transpose of an array on the device, without a copy.
%   a' makes one. a' * x multiplies with it, x' * y is the dot product of two columns.
%
%   See also clinalg.array.

  properties (SetAccess = private)
    of % the array
  end

  methods
    function t = transposed(a)
    %transposed  Of a clinalg.array.
      t.of = a;
    end

    function c = mtimes(a, b)
    %*  Product with a column, or with a number.
      if isa(a, 'clinalg.transposed') && isa(b, 'clinalg.transposed')
        c = (b.of * a.of)';
      elseif isa(b, 'clinalg.transposed')
        if isscalar(a)
          c = (b.of * a)';
        else
          c = a * full(b);
        end
      elseif ~isa(b, 'clinalg.array') && isscalar(b)
        c = (a.of * b)';
      else
        [x, b] = clinalg.array.pair(a.of, b);
        [m, n] = clinalg_mex('MexSize', 0, x.h);
        [k, p] = clinalg_mex('MexSize', 0, b.h);
        if m ~= k || p ~= 1
          error('clinalg:argument:shape', '*: a'' is %d x %d, b is %d x %d; expected b of %d x 1', n, m, k, p, m);
        elseif n == 1
          c = clinalg_mex('MexDot', 0, x.h, b.h);
        else
          c = clinalg.array(clinalg_mex('MexMultiplyTranspose', 0, x.h, b.h));
        end
      end
    end

    function c = plus(a, b)
    %+  Sum.
      c = full(a) + full(b);
    end

    function c = minus(a, b)
    %-  Difference.
      c = full(a) - full(b);
    end

    function c = uminus(a)
    %-  Negative.
      c = (-a.of)';
    end

    function c = mrdivide(a, k)
    %/  Quotient with a number.
      c = (a.of / k)';
    end

    function c = rdivide(a, k)
    %./  Quotient with a number.
      c = (a.of / k)';
    end

    function a = ctranspose(t)
    %'  The array.
      a = t.of;
    end

    function a = transpose(t)
    %.'  The array.
      a = t.of;
    end

    function c = full(t)
    %full  Copy on the device that is transposed.
      c = clinalg.array(clinalg_mex('MexTranspose', 0, t.of.h));
    end

    function x = gather(t)
    %gather  Copy in MATLAB's memory.
      x = gather(t.of)';
    end

    function s = norm(t, varargin)
    %norm  2-norm or infinity norm of a vector, Frobenius norm of a matrix.
      s = norm(t.of, varargin{:});
    end

    function s = sum(t, varargin)
    %sum  Sum of a vector, or of all elements with sum(t, 'all').
      s = sum(t.of, varargin{:});
    end

    function varargout = size(t, dim)
    %size  Number of rows and columns.
      [n, m] = size(t.of);
      if nargin > 1
        s = [m, n];
        s(end + 1 : max(dim)) = 1;
        varargout = {s(dim)};
      elseif nargout < 2
        varargout = {[m, n]};
      else
        varargout = [{m, n}, repmat({1}, 1, nargout - 2)];
      end
    end

    function t = isnumeric(~)
    %isnumeric  True.
      t = true;
    end

    function t = isvector(a)
    %isvector  Whether it has one row or one column.
      t = isvector(a.of);
    end

    function t = isscalar(a)
    %isscalar  Whether it has one element.
      t = isscalar(a.of);
    end

    function disp(t)
    %disp  Shape, class and storage.
      fprintf('  transpose of');
      disp(t.of);
    end
  end
end
