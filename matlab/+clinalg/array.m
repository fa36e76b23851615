classdef array < handle
%clinalg.array  Matrix or vector in the memory of an OpenCL device.
%   clinalg.matrix and clinalg.vector make one. It frees the device memory when its last reference is
%   cleared. It is a handle object: b = a names the same values, copy(a) makes new ones.
%
%   Of one precision, double or single, and real. An operand in MATLAB's memory is converted to the
%   precision of the other and copied to the device; two arrays must have the same precision.
%
%   A * x            product of a matrix and a column; x' * y is a number, x' * A a row
%   A' * x           product with the transpose of a full or sparse matrix
%   A \ b            direct solution, for operators V and D of clinalg.heat_operator
%   a + b, a - b     of the same kind and shape, or with a number and a full array
%   k * a, a / k     with a number
%   a .* b, a ./ k, -a
%   norm, sum, dot   numbers; norm(x, p) with p = 1, 2, Inf, norm(A, 'fro')
%   size, numel, length, ndims, isempty, nnz, underlyingType
%   gather           copy in MATLAB's memory
%   double, single   copy on the device in this precision
%   copy, disp
%
%   Example:
%     A = clinalg.matrix(gallery('tridiag', 5));
%     x = clinalg.vector(ones(5, 1));
%     y = gather(A * x)
%
%   See also clinalg.matrix, clinalg.vector, clinalg.allocate, clinalg.pcg, clinalg.poisson.

  properties (SetAccess = private)
    h % the handle of the object for the Mex functions
  end

  methods
    function o = array(h)
    %array  From the handle of a Mex function; the array frees it.
      o.h = h;
    end

    function delete(o)
    %delete  Free the device memory. Quiet and harmless a second time.
      try
        clinalg_mex('MexRelease', 0, o.h);
      catch
      end
    end

    function c = mtimes(a, b)
    %*  Product of a matrix and a vector, or with a number.
      if ~isa(a, 'clinalg.array') && isscalar(a)
        c = scaled(b, a);
      elseif ~isa(b, 'clinalg.array') && isscalar(b)
        c = scaled(a, b);
      else
        [a, b] = clinalg.array.pair(a, b);
        [m, n] = clinalg_mex('MexSize', 0, a.h);
        [k, p] = clinalg_mex('MexSize', 0, b.h);
        if n ~= k
          error('clinalg:argument:shape', '*: a is %d x %d, b is %d x %d; the inner sizes must agree', m, n, k, p);
        elseif p == 1
          c = clinalg.array(clinalg_mex('MexMultiply', 0, a.h, b.h));
          if m == 1
            c = gather(c);
          end
        elseif m == 1
          c = clinalg.array(clinalg_mex('MexMultiplyTranspose', 0, b.h, a.h))';
        else
          error('clinalg:argument:shape', '*: b is %d x %d; a matrix is multiplied with a column here', k, p);
        end
      end
    end

    function c = plus(a, b)
    %+  Sum.
      c = clinalg.array.combined(a, b, 1);
    end

    function c = minus(a, b)
    %-  Difference.
      c = clinalg.array.combined(a, b, -1);
    end

    function c = uminus(a)
    %-  Negative.
      c = scaled(a, -1);
    end

    function c = uplus(a)
    %+  The array itself.
      c = a;
    end

    function c = times(a, b)
    %.*  Product, element by element.
      if ~isa(a, 'clinalg.array') && isscalar(a)
        c = scaled(b, a);
      elseif ~isa(b, 'clinalg.array') && isscalar(b)
        c = scaled(a, b);
      else
        [a, b] = clinalg.array.pair(a, b);
        c = clinalg.array(clinalg_mex('MexVectorTimesVector', 0, a.h, b.h));
      end
    end

    function x = mldivide(a, b)
    %\  Direct solution, where there is one.
      if ~isa(a, 'clinalg.array') || ~strcmp(getfield(clinalg_mex('MexInfo', 0, a.h), 'kind'), 'operator')
        error('clinalg:call:unsupported', ['\\: on the device A \\ b is there for operators V and D of the heat ' ...
          'equation; clinalg.pcg, clinalg.bicgstab and clinalg.gmres solve other systems']);
      end
      x = clinalg.heat_forward(a) \ b;
    end

    function c = mrdivide(a, k)
    %/  Quotient with a number.
      c = divided(a, k);
    end

    function c = rdivide(a, k)
    %./  Quotient with a number.
      c = divided(a, k);
    end

    function t = ctranspose(a)
    %'  Transpose, without a copy; T * x multiplies with it.
      t = clinalg.transposed(a);
    end

    function t = transpose(a)
    %.'  Transpose, without a copy.
      t = clinalg.transposed(a);
    end

    function s = norm(a, p)
    %norm  1-, 2- or infinity norm of a vector, Frobenius norm of a matrix.
      if nargin < 2
        p = 2;
      end
      if ischar(p)
        p = lower(p);
      end
      if strcmp(p, 'fro') || (isequal(p, 2) && isvector(a))
        s = clinalg_mex('MexNorm2', 0, a.h);
      elseif isequal(p, 1) && isvector(a)
        s = clinalg_mex('MexNorm1', 0, a.h);
      elseif (isequal(p, Inf) || strcmp(p, 'inf')) && isvector(a)
        s = clinalg_mex('MexNormInf', 0, a.h);
      elseif isvector(a)
        error('clinalg:argument:value', 'norm: p is 1, 2, Inf or ''fro''');
      else
        error('clinalg:argument:value', 'norm: of a matrix on the device there is only norm(A, ''fro'')');
      end
    end

    function s = sum(a, which)
    %sum  Sum of a vector, or of all elements with sum(a, 'all').
      if nargin > 1 && ~strcmp(which, 'all')
        error('clinalg:argument:value', 'sum: of an array on the device there is sum(x) and sum(a, ''all'')');
      elseif nargin < 2 && ~isvector(a)
        error('clinalg:argument:shape', 'sum: a is a matrix; for the sum of all elements say sum(a, ''all'')');
      end
      s = clinalg_mex('MexSum', 0, a.h);
    end

    function s = dot(a, b)
    %dot  Dot product of two vectors.
      [a, b] = clinalg.array.pair(a, b);
      s = clinalg_mex('MexDot', 0, a.h, b.h);
    end

    function varargout = size(a, dim)
    %size  Number of rows and columns.
      [m, n] = clinalg_mex('MexSize', 0, a.h);
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

    function n = numel(a)
    %numel  Number of elements.
      n = prod(size(a)); %#ok<PSIZE>
    end

    function n = numArgumentsFromSubscript(~, ~, ~)
    % One value for a.h, whatever numel says.
      n = 1;
    end

    function n = length(a)
    %length  Larger of the numbers of rows and columns; 0 where one is 0.
      s = size(a);
      n = max(s) * all(s > 0);
    end

    function n = ndims(~)
    %ndims  2.
      n = 2;
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

    function t = isvector(a)
    %isvector  Whether it has one row or one column.
      s = size(a);
      t = any(s == 1);
    end

    function t = iscolumn(a)
    %iscolumn  Whether it has one column.
      t = size(a, 2) == 1;
    end

    function t = isrow(a)
    %isrow  Whether it has one row.
      t = size(a, 1) == 1;
    end

    function t = isscalar(a)
    %isscalar  Whether it has one element.
      t = all(size(a) == 1);
    end

    function t = ismatrix(~)
    %ismatrix  True.
      t = true;
    end

    function t = issquare(a)
    %issquare  Whether it has as many rows as columns.
      s = size(a);
      t = s(1) == s(2);
    end

    function t = isnumeric(~)
    %isnumeric  True.
      t = true;
    end

    function t = isfloat(~)
    %isfloat  True.
      t = true;
    end

    function t = isreal(~)
    %isreal  True.
      t = true;
    end

    function t = issparse(a)
    %issparse  Whether it is a sparse or band matrix.
      info = clinalg_mex('MexInfo', 0, a.h);
      t = ~strcmp(info.kind, 'full');
    end

    function n = nnz(a)
    %nnz  Number of stored entries that are not zero.
      n = nnz(gather(a));
    end

    function name = underlyingType(a)
    %underlyingType  'double' or 'single'.
      info = clinalg_mex('MexInfo', 0, a.h);
      name = info.class;
    end

    function x = gather(a)
    %gather  Copy in MATLAB's memory; a sparse or band matrix gives a sparse one.
      x = clinalg_mex('MexHandleMatrix', 0, a.h);
    end

    function c = double(a)
    %double  Copy on the device in double precision.
      c = clinalg.array(clinalg_mex('MexConvert', 0, a.h, 0));
    end

    function c = single(a)
    %single  Copy on the device in single precision.
      c = clinalg.array(clinalg_mex('MexConvert', 0, a.h, 1));
    end

    function c = copy(a)
    %copy  Copy on the device.
      c = clinalg.array(clinalg_mex('MexCopy', 0, a.h));
    end

    function d = diag(a)
    %diag  Main diagonal of a matrix as a vector.
      d = clinalg.array(clinalg_mex('MexDiagonal', 0, a.h));
    end

    function disp(a)
    %disp  Shape, class and storage.
      info = clinalg_mex('MexInfo', 0, a.h);
      words = '';
      if strcmp(info.kind, 'sparse')
        words = sprintf(', %d stored entries', info.entries);
      elseif strcmp(info.kind, 'band')
        words = sprintf(', %d sub- and %d superdiagonals', info.kl, info.ku);
      end
      fprintf('  %d x %d %s array of class %s on the device%s\n', info.rows, info.cols, info.kind, info.class, words);
    end

    function c = horzcat(varargin)
    %horzcat  Not offered.
      error('clinalg:call:unsupported', '[a, b]: arrays on the device are not concatenated; gather them first');
    end

    function c = vertcat(varargin)
    %vertcat  Not offered.
      error('clinalg:call:unsupported', '[a; b]: arrays on the device are not concatenated; gather them first');
    end

    function c = cat(varargin)
    %cat  Not offered.
      error('clinalg:call:unsupported', 'cat: arrays on the device are not concatenated; gather them first');
    end
  end

  methods (Access = private)
    function c = scaled(a, k)
      c = clinalg.array(clinalg_mex('MexVectorTimesConstant', 0, a.h, k));
    end

    function c = divided(a, k)
      if ~isa(a, 'clinalg.array') || isa(k, 'clinalg.array') || ~isscalar(k)
        error('clinalg:argument:class', '/: an array on the device is divided by a number only');
      end
      c = scaled(a, 1 / double(k));
    end
  end

  methods (Static, Hidden)
    function [a, b] = pair(a, b)
    % Both on the device, in the precision of the one that is there.
      if ~isa(a, 'clinalg.array')
        a = clinalg.array.like(a, b);
      elseif ~isa(b, 'clinalg.array')
        b = clinalg.array.like(b, a);
      end
    end

    function c = combined(a, b, sign)
    % a + sign b; a number stands for a full array of it.
      if ~isa(a, 'clinalg.array') && isscalar(a)
        a = clinalg.array.filled(a, b);
      elseif ~isa(b, 'clinalg.array') && isscalar(b)
        b = clinalg.array.filled(b, a);
      end
      [a, b] = clinalg.array.pair(a, b);
      c = clinalg.array(clinalg_mex('MexAxpby', 0, 1, a.h, sign, b.h));
    end

    function o = filled(k, other)
      if issparse(other)
        error('clinalg:argument:shape', '+: a number is added to a full array only');
      end
      o = copy(other);
      clinalg_mex('MexFill', 0, o.h, k);
    end

    function t = names_single(caller, name)
    % Whether a class name says single precision.
      switch char(name)
        case 'single'
          t = true;
        case 'double'
          t = false;
        otherwise
          error('clinalg:argument:value', '%s: the class is ''%s'', expected ''double'' or ''single''', ...
            caller, char(name));
      end
    end

    function x = start(b, like, x0)
    % A new array like b with the values of x0, or zeros, to be written by a solver.
      if isempty(x0)
        x = copy(b);
        clinalg_mex('MexFill', 0, x.h, 0);
      elseif isa(x0, 'clinalg.array')
        x = copy(x0);
      else
        x = clinalg.array.like(x0, like);
      end
    end

    function [x, flag, relres, iter, resvec, reason] = solve(name, mex, A, b, numbers, M, M2, x0)
    % Runs a Krylov method on operands of either memory.
      if isa(A, 'function_handle') || ischar(A)
        error('clinalg:argument:class', ['clinalg.%s: A is a function, expected a matrix; %s(A, b) takes a ' ...
          'function of arrays on the device'], name, name);
      elseif ~isempty(M2)
        error('clinalg:argument:value', 'clinalg.%s: M2 is given, expected []: there is one preconditioner', name);
      elseif isa(M, 'clinalg.factor')
        M = M.inverse.h;
      elseif isequal(M, []) || ischar(M) || isa(M, 'string')
        M = char(M);
        if isempty(M), M = []; end
      else
        error('clinalg:argument:class', ...
          'clinalg.%s: M is of class %s, expected ''jacobi'', a clinalg.factor or []', name, class(M));
      end
      on_device = isa(A, 'clinalg.array') || isa(b, 'clinalg.array');
      if ~on_device
        A = clinalg.matrix(A);
      end
      [A, b] = clinalg.array.pair(A, b);
      x = clinalg.array.start(b, A, x0);
      [~, flag, relres, iter, resvec, reason] = clinalg_mex(mex, 0, A.h, b.h, numbers{:}, M, x.h);
      if ~on_device
        x = gather(x);
      end
    end

    function o = like(x, other)
      if isa(x, 'clinalg.transposed')
        o = full(x);
      else
        o = clinalg.matrix(x, underlyingType(other));
      end
    end
  end
end
