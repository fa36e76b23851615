classdef array < clinalg.hosted
%clinalg.array  Array in the memory of an OpenCL device, used like one of MATLAB's.
%   clinalg.matrix and clinalg.vector make one; the device memory is freed when the last reference is cleared.
%   It has the value of a MATLAB array: after c = x, c(1) = 0 leaves x alone.
%
%   Double or single, real or complex; full, sparse or band. Results have the class that MATLAB gives them; an operand in
%   MATLAB's memory is copied to the device. A result of one element is a number, a comparison gives a logical array, both in
%   MATLAB's memory, so that "if x(1) > 0", "while any(x > 1)" and "a / norm(x)" work as ever. Say "if all(x)", not "if x",
%   of an array: Octave takes an object for false.
%
%   x(i), A(i, j), A(:, j), x(end), x(mask), x([])  parts; x(i) = v and x(i) = [] change the variable x
%   [a, b], [a; b]   concatenation; an assignment does not make an array larger
%   A * B, A' * x, A.' * x, A \ B, B / A, A ^ k
%   a + b, a - b, a .* b, a ./ b, a .^ b, -a, ==, <, ...; a row and a column or a matrix are expanded as in MATLAB
%   norm, sum, dot, max, find, sort, ...
%   size, numel, length, ndims, isempty, nnz, underlyingType, isUnderlyingType
%   gather           copies in MATLAB's memory: x = gather(a), [x, y] = gather(a, b)
%   double, single   copy on the device in this precision
%   zeros, ones, eye, rand, randn, linspace(..., 'like', a)
%   copy, disp, explain
%
%   Operations element by element wait until their values are read, and run as one kernel then; explain(x) shows what waits.
%
%   help clinalg.hosted lists the functions that copy to MATLAB's memory and back. clinalg.store and clinalg.restore keep
%   arrays in files.
%
%   Example:
%     A = clinalg.matrix(gallery('tridiag', 5));
%     x = clinalg.vector(ones(5, 1));
%     y = gather(A * x)
%
%   See also clinalg.matrix, clinalg.vector, clinalg.hosted, clinalg.pcg, clinalg.poisson.

  properties (SetAccess = private)
    h % the handle of the object for the Mex functions; [] until a lazy transpose is made
    form = [] % a struct: of, conjugate for a lazy transpose; dims for more than two dimensions
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

    % Indexing.

    function varargout = subsref(a, s)
    %subsref  x(i), A(i, j), a.h and a.method(...).
      switch s(1).type
        case '()'
          part = indexed(a, s(1).subs);
          if numel(s) > 1
            [varargout{1 : max(nargout, 1)}] = subsref(part, s(2 : end));
          else
            varargout = {part};
          end
        case '.'
          settle(a);
          varargout = cell(1, max(nargout, ~strcmp(s(1).subs, 'delete')));
          [varargout{:}] = builtin('subsref', a, s);
        otherwise
          error('clinalg:call:unsupported', '{}: an array on the device is indexed with (): x(i)');
      end
    end

    function a = subsasgn(a, s, value)
    %subsasgn  x(i) = v, A(i, j) = v, x(i) = [].
      if ~isa(a, 'clinalg.array')
        error('clinalg:call:unsupported', ['x(i) = v: v is on the device and x is not; write gather(v), or make x ' ...
          'on the device first']);
      elseif numel(s) > 1 || ~strcmp(s(1).type, '()')
        error('clinalg:call:unsupported', 'an array on the device is assigned to with () only: x(i) = v');
      end
      a = assigned(a, s(1).subs, value);
    end

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

    function n = numArgumentsFromSubscript(~, ~, ~)
    % One value for a.h, whatever numel says.
      n = 1;
    end

    function c = horzcat(varargin)
    %[a, b]  Side by side.
      c = cat(2, varargin{:});
    end

    function c = vertcat(varargin)
    %[a; b]  One below the other.
      c = cat(1, varargin{:});
    end

    function c = cat(dim, varargin)
    %cat  Joined along a dimension.
      clinalg.array.check_classes('cat', varargin{:});
      sizes = cellfun(@(x) {size(x)}, varargin);
      plain = (dim == 1 || dim == 2) && all(cellfun(@(s) numel(s) == 2 && all(s > 0), sizes)) && ~any(cellfun(@issparse, varargin));
      if plain
        lengths = vertcat(sizes{:});
        plain = all(lengths(:, 3 - dim) == lengths(1, 3 - dim));
      end
      if ~plain
        c = clinalg.hosted.one('cat', [{dim}, varargin]);
        return
      end
      total = lengths(1, :);
      total(dim) = sum(lengths(:, dim));
      as_single = any(cellfun(@(x) isa(x, 'single') || (isa(x, 'clinalg.array') && isUnderlyingType(x, 'single')), varargin));
      c = clinalg.array(clinalg_mex('MexZeros', 0, total(1), total(2), as_single));
      if ~all(cellfun(@isreal, varargin))
        c = clinalg.array.promoted(c);
      end
      at = {[], []};
      before = 0;
      for k = 1 : numel(varargin)
        [~, x] = clinalg.array.pair(c, varargin{k});
        at{dim} = before + 1 : before + lengths(k, dim);
        clinalg_mex('MexPut', 0, c.h, x.h, at{:});
        before = before + lengths(k, dim);
      end
    end

    % Arithmetic.

    function c = mtimes(a, b)
    %*  Product of matrices, or with a number.
      if ~isobject(a) && isscalar(a) || ~isobject(b) && isscalar(b)
        [c, known] = fused('times', a, b);
        if known, return, end
      end
      if isscalar(a) || isscalar(b)
        c = times(a, b);
        return
      end
      clinalg.array.check_classes('*', a, b);
      [m, n] = size(a);
      [k, p] = size(b);
      if n ~= k || numel(size(a)) > 2 || numel(size(b)) > 2
        error('clinalg:argument:shape', '*: a is %s, b is %s; the inner sizes must agree', ...
          clinalg.array.by(size(a)), clinalg.array.by(size(b)));
      elseif m * p * n > 0 && p > 1 && m > 1 && ~issparse(a) && ~issparse(b)
        [a, op_a] = clinalg.array.untransposed(a);
        [b, op_b] = clinalg.array.untransposed(b);
        [a, b] = clinalg.array.pair(a, b);
        c = clinalg.array(clinalg_mex('MexMatrixMatrix', 0, a.h, b.h, op_a, op_b));
      elseif m * p * n > 0 && p * m > 1 && clinalg.array.both_sparse(a, b)
        [a, b] = clinalg.array.pair(a, b);
        c = clinalg.array(clinalg_mex('MexSparseMultiply', 0, a.h, b.h));
      elseif m * p * n == 0 || (p > 1 && m > 1)
        c = clinalg.hosted.one('mtimes', {a, b});
      elseif p > 1
        c = (b.' * a.').';
      else
        c = clinalg.array.applied(a, b);
      end
    end

    function c = plus(a, b)
    %+  Sum.
      [c, known] = fused('plus', a, b);
      if ~known
        c = clinalg.array.combined('plus', a, b, 1);
      end
    end

    function c = minus(a, b)
    %-  Difference.
      [c, known] = fused('minus', a, b);
      if ~known
        c = clinalg.array.combined('minus', a, b, -1);
      end
    end

    function c = uminus(a)
    %-  Negative.
      [c, known] = fused_one('uminus', a);
      if ~known
        c = scaled(a, -1);
      end
    end

    function c = uplus(a)
    %+  The array itself.
      c = a;
    end

    function c = times(a, b)
    %.*  Product, element by element.
      [c, known] = fused('times', a, b);
      if known, return, end
      clinalg.array.check_classes('.*', a, b);
      [a, b] = clinalg.array.numbers(a, b);
      if isnumeric(a) && ~isobject(a) && isscalar(a) && clinalg.array.keeps_class(b, a)
        c = scaled(b, a);
      elseif isnumeric(b) && ~isobject(b) && isscalar(b) && clinalg.array.keeps_class(a, b)
        c = scaled(a, b);
      elseif ~issparse(a) && ~issparse(b) && iscomplex(a) && isreal(b)
        c = complex(real(a) .* b, imag(a) .* b);
      elseif ~issparse(a) && ~issparse(b) && isreal(a) && iscomplex(b)
        c = complex(a .* real(b), a .* imag(b));
      elseif isequal(size(a), size(b)) && ~issparse(a) && ~issparse(b)
        dims = size(a);
        [a, b] = clinalg.array.pair(a, b);
        c = clinalg.array.shaped(clinalg_mex('MexVectorTimesVector', 0, a.h, b.h), dims);
      else
        c = clinalg.array.mapped('times', a, b);
      end
    end

    function x = mldivide(a, b)
    %\  Solution of a x = b: by LU for a full square matrix, by QR in the least-squares sense for a tall one.
      clinalg.array.check_classes('\', a, b);
      if isa(a, 'clinalg.array') && strcmp(kind_of(a), 'operator')
        x = clinalg.heat_forward(a) \ b;
        return
      end
      [m, n] = size(a);
      if isscalar(a)
        x = ldivide(a, b);
      elseif ~issparse(a) && ~issparse(b) && m >= n && n > 0 && size(b, 1) == m && size(b, 2) > 0
        [a, b] = clinalg.array.pair(a, b);
        x = clinalg.array.made(clinalg_mex('MexSolveDense', 0, a.h, b.h));
      else
        x = clinalg.hosted.one('mldivide', {a, b});
      end
    end

    function x = mrdivide(b, a)
    %/  Quotient with a number, or the solution of x a = b.
      if ~isobject(a) && isscalar(a)
        [x, known] = fused('rdivide', b, a);
        if known, return, end
      end
      clinalg.array.check_classes('/', b, a);
      if isscalar(a)
        x = rdivide(b, a);
      elseif size(b, 2) ~= size(a, 2)
        error('clinalg:argument:shape', '/: b is %s, a is %s; the numbers of columns must agree', ...
          clinalg.array.by(size(b)), clinalg.array.by(size(a)));
      else
        x = (a.' \ b.').';
      end
    end

    function c = rdivide(a, b)
    %./  Quotient, element by element.
      [c, known] = fused('rdivide', a, b);
      if known, return, end
      clinalg.array.check_classes('./', a, b);
      if iscomplex(a) && isreal(b)
        % Part by part: infinities stay what they are.
        c = complex(real(a) ./ b, imag(a) ./ b);
      else
        c = clinalg.array.mapped('rdivide', a, b);
      end
    end

    function t = ctranspose(a)
    %'  Conjugate transpose, made when its values are needed; T * x multiplies without it.
      t = flipped(a, iscomplex(a));
    end

    function t = transpose(a)
    %.'  Transpose, made when its values are needed; T * x multiplies without it.
      t = flipped(a, false);
    end

    % Parts of sparse matrices.

    function v = diag(a, k)
    %diag  A diagonal as a vector, or a matrix with a vector as diagonal; on the device of a sparse matrix.
      if nargin < 2, k = 0; end
      [m, n] = size(a);
      count = min(m - max(0, -k), n - max(0, k));
      if ~is_plain_sparse(a) || m == 1 || n == 1 || ~isscalar(k) || count < 2
        given = {a, k};
        v = clinalg.hosted.one('diag', given(1 : nargin));
        return
      end
      d = clinalg.array(clinalg_mex('MexSparseBand', 0, hand(a), k, k));
      rows_ = max(0, -k) + (1 : count);
      d = clinalg.array(clinalg_mex('MexSparsePart', 0, d.h, rows_, []));
      v = d * sparse(ones(n, 1));
    end

    function c = tril(a, varargin)
    %tril  Lower triangle; on the device of a sparse matrix.
      c = triangle(a, 'tril', varargin);
    end

    function c = triu(a, varargin)
    %triu  Upper triangle; on the device of a sparse matrix.
      c = triangle(a, 'triu', varargin);
    end

    function n = nnz(a)
    %nnz  Number of elements that are not zero.
      if is_plain_sparse(a)
        c = copy(a);
        n = clinalg_mex('MexDropZeros', 0, c.h);
      else
        n = clinalg.hosted.call('nnz', 1, 'H', {a});
        n = n{1};
      end
    end

    function v = nonzeros(a)
    %nonzeros  Elements that are not zero, in a column.
      if is_plain_sparse(a)
        v = clinalg.array.made(clinalg_mex('MexNonzeros', 0, hand(a)));
      else
        v = clinalg.hosted.one('nonzeros', {a});
      end
    end

    function c = spones(a)
    %spones  Ones where elements are not zero.
      if is_plain_sparse(a) && isreal(a)
        c = copy(a);
        clinalg_mex('MexDropZeros', 0, c.h);
        clinalg_mex('MexFill', 0, c.h, 1);
      else
        c = clinalg.hosted.one('spones', {a});
      end
    end

    % Numbers of an array.

    function s = norm(a, varargin)
    %norm  Norm of a vector or matrix; on the device with p = 1, 2, Inf of a vector and 'fro'.
      if nargin == 1 && isempty(a.form)
        [m, n] = clinalg_mex('MexSize', 0, a.h);
        if m == 1 || n == 1
          s = clinalg_mex('MexNorm2', 0, a.h);
          return
        end
      end
      p = 2;
      if nargin > 1
        p = varargin{1};
      end
      if ischar(p)
        p = lower(p);
      end
      vector = isvector(a) && nargin < 3;
      if nargin < 3 && strcmp(p, 'fro') || (vector && isequal(p, 2))
        s = clinalg_mex('MexNorm2', 0, hand(a));
      elseif vector && isequal(p, 1)
        s = clinalg_mex('MexNorm1', 0, hand(a));
      elseif vector && (isequal(p, Inf) || strcmp(p, 'inf'))
        s = clinalg_mex('MexNormInf', 0, hand(a));
      else
        s = clinalg.hosted.one('norm', [{a}, varargin]);
      end
    end

    function s = sum(a, varargin)
    %sum  Sum along a dimension, or of all elements with sum(a, 'all').
      if nargin == 2 && strcmp(varargin{1}, 'all')
        s = clinalg.array.narrowed(clinalg_mex('MexSum', 0, hand(a)));
      elseif nargin == 1 && isvector(a) && ~isempty(a)
        s = clinalg.array.narrowed(clinalg_mex('MexSum', 0, hand(a)));
      else
        s = clinalg.array.along('sum', a, varargin);
      end
    end

    function s = prod(a, varargin)
    %prod  Product along a dimension.
      s = clinalg.array.along('prod', a, varargin);
    end

    function varargout = max(varargin)
    %max  Largest values along a dimension or of two arrays; positions are in MATLAB's memory.
      varargout = clinalg.array.extremum('max', nargout, varargin);
    end

    function varargout = min(varargin)
    %min  Smallest values along a dimension or of two arrays; positions are in MATLAB's memory.
      varargout = clinalg.array.extremum('min', nargout, varargin);
    end

    % Functions of each element.

    function c = atan2(a, b)
    %atan2  Angle of the point (b, a).
      [c, known] = fused('atan2', a, b);
      if ~known
        c = clinalg.array.mapped('atan2', a, b);
      end
    end

    function c = hypot(a, b)
    %hypot  sqrt(a^2 + b^2) without overflow.
      [c, known] = fused('hypot', a, b);
      if ~known
        c = clinalg.array.mapped('hypot', a, b);
      end
    end

    function c = power(a, b)
    %.^  Power, element by element; on the device with a whole exponent, and of squares, magnitudes and the like with any.
      [c, known] = fused('power', a, b);
      if known, return, end
      if ~isa(b, 'clinalg.array') && isequal(b, 2) && isa(b, 'double') && ~issparse(a)
        c = times(a, a);
      else
        c = clinalg.hosted.one('power', {a, b});
      end
    end

    function c = exp(a)
    %exp  Exponential.
      c = each(a, 'exp', -Inf);
    end

    function c = log(a)
    %log  Natural logarithm.
      c = each(a, 'log', 0);
    end

    function c = sqrt(a)
    %sqrt  Square root.
      c = each(a, 'sqrt', 0);
    end

    function c = sin(a)
    %sin  Sine.
      c = each(a, 'sin', -Inf);
    end

    function c = cos(a)
    %cos  Cosine.
      c = each(a, 'cos', -Inf);
    end

    function c = tan(a)
    %tan  Tangent.
      c = each(a, 'tan', -Inf);
    end

    function c = atan(a)
    %atan  Inverse tangent.
      c = each(a, 'atan', -Inf);
    end

    function c = tanh(a)
    %tanh  Hyperbolic tangent.
      c = each(a, 'tanh', -Inf);
    end

    function c = floor(a)
    %floor  Round towards minus infinity.
      c = each(a, 'floor', -Inf);
    end

    function c = ceil(a)
    %ceil  Round towards plus infinity.
      c = each(a, 'ceil', -Inf);
    end

    function c = round(a)
    %round  Round to the nearest integer.
      c = each(a, 'round', -Inf);
    end

    function c = fix(a)
    %fix  Round towards zero.
      c = each(a, 'fix', -Inf);
    end

    function c = sign(a)
    %sign  Sign.
      c = each(a, 'sign', -Inf);
    end

    function c = expm1(a)
    %expm1  exp(x) - 1.
      c = each(a, 'expm1', -Inf);
    end

    function c = sinh(a)
    %sinh  Hyperbolic sine.
      c = each(a, 'sinh', -Inf);
    end

    function c = cosh(a)
    %cosh  Hyperbolic cosine.
      c = each(a, 'cosh', -Inf);
    end

    function c = asinh(a)
    %asinh  Inverse hyperbolic sine.
      c = each(a, 'asinh', -Inf);
    end

    function c = angle(a)
    %angle  Phase angle.
      if issparse(a)
        c = clinalg.hosted.one('angle', {a});
      else
        c = atan2(imag(a), real(a));
      end
    end

    function c = arg(a)
    %arg  Phase angle.
      c = angle(a);
    end

    function c = ldivide(a, b)
    %.\  Left quotient, element by element.
      c = rdivide(b, a);
    end

    function s = dot(a, b, varargin)
    %dot  Dot product of two vectors, of which the first is conjugated; of matrices column by column.
      clinalg.array.check_classes('dot', a, b);
      if nargin == 2 && isvector(a) && isvector(b) && numel(a) == numel(b) && ~issparse(a) && ~issparse(b)
        if ~isequal(size(a), size(b))
          b = b.';
        end
        [a, b] = clinalg.array.pair(a, b);
        s = clinalg.array.narrowed(clinalg_mex('MexDot', 0, a.h, b.h));
      else
        s = clinalg.hosted.one('dot', [{a, b}, varargin]);
      end
    end

    % Sizes and properties.

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
      t = clinalg.array.is_complex(source(a).h);
    end

    function t = issparse(a)
    %issparse  Whether it is a sparse or band matrix.
      t = ~strcmp(kind_of(a), 'full');
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

    % Parts of complex numbers, copies, conversions.

    function c = real(a)
    %real  Real parts.
      c = part(a, 'real', 'MexRealPart');
    end

    function c = imag(a)
    %imag  Imaginary parts.
      c = part(a, 'imag', 'MexImagPart');
    end

    function c = abs(a)
    %abs  Magnitudes.
      [c, known] = fused_one('abs', a);
      if ~known
        c = part(a, 'abs', 'MexAbs');
      end
    end

    function c = conj(a)
    %conj  Conjugate, element by element.
      [c, known] = fused_one('conj', a);
      if ~known
        c = clinalg.array.shaped(clinalg_mex('MexConj', 0, hand(a)), size(a));
      end
    end

    function c = complex(a, b)
    %complex  a + 1i * b; complex(a) is a complex copy.
      if nargin < 2
        c = clinalg.array.promoted(a);
      elseif isequal(size(a), size(b)) && ~issparse(a) && ~issparse(b)
        dims = size(a);
        [a, b] = clinalg.array.pair(a, b);
        c = clinalg.array.shaped(clinalg_mex('MexComplex', 0, a.h, b.h), dims);
      else
        c = clinalg.hosted.one('complex', {a, b});
      end
    end

    function varargout = gather(varargin)
    %gather  Copies in MATLAB's memory; a sparse or band matrix gives a sparse one.
      varargout = cell(1, max(nargout, 1));
      for k = 1 : numel(varargout)
        x = varargin{k};
        if isa(x, 'clinalg.array')
          if isempty(x.form)
            x = clinalg_mex('MexHandleMatrix', 0, x.h);
          else
            x = reshape(clinalg_mex('MexHandleMatrix', 0, hand(x)), size(x));
          end
        end
        varargout{k} = x;
      end
    end

    function c = double(a)
    %double  Copy on the device in double precision.
      c = converted(a, false, iscomplex(a));
    end

    function c = single(a)
    %single  Copy on the device in single precision.
      c = converted(a, true, iscomplex(a));
    end

    function c = cast(a, name)
    %cast  Copy of another class: 'double' or 'single' on the device, others in MATLAB's memory.
      c = feval(name, a);
    end

    function c = copy(a)
    %copy  Copy on the device.
      c = clinalg.array.shaped(clinalg_mex('MexCopy', 0, hand(a)), size(a));
    end

    function c = full(a)
    %full  Full array of the same values.
      c = a;
      if issparse(a)
        c = clinalg.array.like(full(gather(a)), a);
      end
    end

    function c = sparse(a, varargin)
    %sparse  Sparse matrix of the same values.
      if nargin > 1
        c = clinalg.hosted.one('sparse', [{a}, varargin]);
      elseif strcmp(kind_of(a), 'sparse')
        c = a;
      else
        c = clinalg.array.like(sparse(double(gather(a))), a);
      end
    end

    % Arrays like another one.

    function c = zeros(varargin)
    %zeros  zeros(..., 'like', a) on the device.
      c = clinalg.array.made_like('zeros', varargin);
    end

    function c = ones(varargin)
    %ones  ones(..., 'like', a) on the device.
      c = clinalg.array.made_like('ones', varargin);
    end

    function c = eye(varargin)
    %eye  eye(..., 'like', a) on the device.
      c = clinalg.array.made_like('eye', varargin);
    end

    function c = rand(varargin)
    %rand  rand(..., 'like', a): MATLAB's random numbers on the device.
      c = clinalg.array.made_like('rand', varargin);
    end

    function c = randn(varargin)
    %randn  randn(..., 'like', a): MATLAB's random numbers on the device.
      c = clinalg.array.made_like('randn', varargin);
    end

    function c = linspace(varargin)
    %linspace  linspace(..., 'like', a), or between limits of which one is on the device.
      c = clinalg.array.made_like('linspace', varargin);
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
      dims = double(clinalg.array.on_host(dims));
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
        c = clinalg.array.made(clinalg_mex('MexTake', 0, hand(a), repmat(1 : m, 1, times(1)), repmat(1 : n, 1, times(2))));
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
        c = clinalg.array.made(clinalg_mex('MexTake', 0, hand(a), at{:}));
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

    function c = arrayfun(f, varargin)
    %arrayfun  A function of each element, in MATLAB's memory.
      varargin = clinalg.hosted.gathered('arrayfun', varargin);
      c = clinalg.hosted.uploaded(arrayfun(f, varargin{:}), false);
    end

    function c = bsxfun(f, a, b)
    %bsxfun  f(a, b), whose operands expand by themselves.
      if ischar(f)
        f = str2func(f);
      end
      c = f(a, b);
    end

    function varargout = explain(a)
    %explain  What a waits for, as text: the expression that is evaluated when its values are read; of a sparse matrix how
    % its products run.
      words = clinalg_mex('MexExplain', 0, hand(a));
      if nargout
        varargout = {words};
      else
        fprintf('%s\n', words);
      end
    end

    function disp(a)
    %disp  Shape, class and storage, and the values of up to 1000 elements.
      info = clinalg_mex('MexInfo', 0, hand(a));
      words = '';
      if strcmp(info.kind, 'sparse')
        words = sprintf(', %d stored entries', info.entries);
      elseif strcmp(info.kind, 'band')
        words = sprintf(', %d sub- and %d superdiagonals', info.kl, info.ku);
      end
      type = info.kind;
      if info.complex
        type = [type, ' complex'];
      end
      fprintf('  %s %s array of class %s on the device%s\n', clinalg.array.by(size(a)), type, info.class, words);
      few = strcmp(info.kind, 'full') * numel(a) + strcmp(info.kind, 'sparse') * info.entries;
      if few > 0 && few <= 1000
        disp(gather(a));
      end
    end

    function s = saveobj(a)
    %saveobj  The values, for save of MATLAB; Octave cannot save objects: use clinalg.store.
      s = struct('values', gather(a), 'class', underlyingType(a));
    end
  end

  methods (Access = private)
    function settle(a)
    % Makes a lazy transpose.
      if ~isempty(a.form) && isempty(a.form.dims)
        of = a.form.of;
        names = {'MexTranspose', 'MexConjTranspose'};
        if any(strcmp(kind_of(of), {'full', 'sparse'}))
          a.h = clinalg_mex(names{1 + a.form.conjugate}, 0, of.h);
        else
          x = clinalg_mex('MexHandleMatrix', 0, of.h).';
          if a.form.conjugate
            x = conj(x);
          end
          a.h = clinalg_mex('MexSparseMatrix', 0, x, strcmp(underlyingType(of), 'single'));
        end
        a.form = [];
      end
    end

    function h = hand(a)
    % The handle of the values.
      settle(a);
      h = a.h;
    end

    function o = source(a)
    % Itself, or what a lazy transpose is of.
      o = a;
      if ~isempty(a.form) && isempty(a.form.dims)
        o = a.form.of;
      end
    end

    function kind = kind_of(a)
    % 'full', 'sparse', 'band' or 'operator'.
      info = clinalg_mex('MexInfo', 0, source(a).h);
      kind = info.kind;
    end

    function t = is_plain_sparse(a)
    % Whether it is a sparse matrix with elements, no band matrix.
      t = strcmp(kind_of(a), 'sparse') && prod(size(a)) > 1;
    end

    function c = triangle(a, name, given)
      k = 0;
      if ~isempty(given), k = given{1}; end
      if ~is_plain_sparse(a) || numel(given) > 1 || ~isnumeric(k) || ~isscalar(k)
        c = clinalg.hosted.one(name, [{a}, given]);
      elseif strcmp(name, 'tril')
        c = clinalg.array(clinalg_mex('MexSparseBand', 0, hand(a), -Inf, k));
      else
        c = clinalg.array(clinalg_mex('MexSparseBand', 0, hand(a), k, Inf));
      end
    end

    function t = flipped(a, conjugate)
      if ndims(a) > 2
        error('clinalg:argument:shape', 'transpose: a is %s, expected two dimensions; use permute', ...
          clinalg.array.by(size(a)));
      elseif isempty(a.form)
        t = clinalg.array([]);
        t.form = struct('dims', [], 'of', a, 'conjugate', conjugate);
      else
        t = a.form.of;
        if conjugate ~= a.form.conjugate
          t = conj(t);
        end
      end
    end

    function c = scaled(a, k)
      if ~isreal(k) && ~iscomplex(a)
        a = clinalg.array.promoted(a);
      end
      if ~isempty(a.form) && isempty(a.form.dims)
        % The number goes to the other side of the conjugation.
        if a.form.conjugate
          k = conj(k);
        end
        c = flipped(scaled(a.form.of, k), a.form.conjugate);
      else
        c = clinalg.array.shaped(clinalg_mex('MexVectorTimesConstant', 0, a.h, k), size(a));
      end
    end

    function [c, known] = fused(name, a, b)
    % A function of two operands that is evaluated with others when it is read; known is false where the device leaves it to the caller.
      if isa(a, 'clinalg.array'), a = a.h; elseif isinteger(a), a = []; end
      if isa(b, 'clinalg.array'), b = b.h; elseif isinteger(b), b = []; end
      c = clinalg_mex('MexLazy2', 0, name, a, b);
      known = c ~= 0;
      if known
        c = clinalg.array(c);
      end
    end

    function [c, known] = fused_one(name, a)
    % As fused for a function of one operand.
      c = clinalg_mex('MexLazy', 0, name, a.h);
      known = c ~= 0;
      if known
        c = clinalg.array(c);
      end
    end

    function c = each(a, name, least)
    % A function of each element; by MATLAB for complex numbers, and for numbers below `least`, whose results are complex.
      [c, known] = fused_one(name, a);
      if known, return, end
      if iscomplex(a) || issparse(a) || isempty(a) || (isfinite(least) && least_of(a) < least)
        c = clinalg.hosted.one(name, {a});
      else
        c = clinalg.array.shaped(clinalg_mex('MexMap', 0, name, hand(a)), size(a));
      end
    end

    function m = least_of(a)
    % The smallest element.
      column = clinalg.array(clinalg_mex('MexReduce', 0, 'min', hand(a), 1));
      if size(column, 2) > 1
        column = clinalg.array(clinalg_mex('MexReduce', 0, 'min', column.h, 2));
      end
      m = gather(column);
    end

    function c = converted(a, as_single, as_complex)
      c = clinalg.array.shaped(clinalg_mex('MexConvert', 0, hand(a), as_single, as_complex), size(a));
    end

    function c = part(a, name, mex)
      if issparse(a)
        c = clinalg.hosted.one(name, {a});
      else
        c = clinalg.array.shaped(clinalg_mex(mex, 0, hand(a)), size(a));
      end
    end

    function c = indexed(a, subs)
    % a(subs{:}).
      subs = clinalg.hosted.gathered('()', subs);
      dims = size(a);
      [at, part, shape] = clinalg.array.positions(subs, dims, true);
      if isempty(at)
        c = indexed_by_host(a, subs);
      elseif strcmp(kind_of(a), 'full') && numel(at) == 1
        c = clinalg.array.made(clinalg_mex('MexTakeLinear', 0, hand(a), at{1}, shape(1), shape(2)));
      elseif strcmp(kind_of(a), 'full')
        c = clinalg.array.made(clinalg_mex('MexTake', 0, hand(a), at{:}));
      elseif strcmp(kind_of(a), 'sparse') && numel(at) == 2
        c = clinalg.array(clinalg_mex('MexSparsePart', 0, hand(a), at{:}));
        if isscalar(c)
          c = gather(c);
        end
      else
        c = indexed_by_host(a, subs);
      end
    end

    function c = indexed_by_host(a, subs)
      x = gather(a);
      try
        c = x(subs{:});
      catch problem
        error('clinalg:argument:index', 'x(i): x is %s: %s', clinalg.array.by(size(a)), problem.message);
      end
      c = clinalg.hosted.uploaded(c, strcmp(underlyingType(a), 'single'));
    end

    function c = assigned(a, subs, value)
    % a after a(subs{:}) = value.
      clinalg.array.check_classes('x(i) = v', a, value);
      subs = clinalg.hosted.gathered('()', subs);
      before = size(a);
      [at, part, shape] = clinalg.array.positions(subs, before, false);
      % Positions that occur twice, other classes and deletion are left to MATLAB.
      if ~isempty(at) && strcmp(kind_of(a), 'full') && clinalg.array.fits(a, value, prod(part)) && clinalg.array.are_single(at) ...
          && (isscalar(value) || clinalg.array.same_shape(part, shape, size(value)))
        c = copy(a);
        if isa(value, 'clinalg.array')
          [~, value] = clinalg.array.pair(c, value);
        else
          value = clinalg.array.like(value, c);
          if iscomplex(c)
            value = clinalg.array.promoted(value);
          end
        end
        if numel(at) == 1
          clinalg_mex('MexPutLinear', 0, c.h, value.h, at{1});
        else
          clinalg_mex('MexPut', 0, c.h, value.h, at{:});
        end
        return
      end
      x = gather(a);
      if isequal(value, []) && isa(value, 'double')
        x(subs{:}) = [];
      else
        x(subs{:}) = clinalg.array.on_host(value);
        if ~isequal(size(x), before)
          error('clinalg:argument:index', ['x(i) = v: an index is beyond x, which is %s; an array on the device does not ' ...
            'grow by assignment: make it with its final size, or write x = [x; v]'], clinalg.array.by(before));
        end
      end
      c = clinalg.array.whole(x, strcmp(underlyingType(a), 'single'));
    end
  end

  methods (Static, Hidden)
    function [a, b] = pair(a, b)
    % Both on the device, in single precision if one is, and complex if one is.
      if ~isa(a, 'clinalg.array')
        a = clinalg.array.operand(a, b);
      elseif ~isa(b, 'clinalg.array')
        b = clinalg.array.operand(b, a);
      end
      settle(a);
      settle(b);
      if bitand(bitxor(a.h, b.h), bitshift(uint64(1), 63)) ~= 0
        a = clinalg.array.lowered(a);
        b = clinalg.array.lowered(b);
      end
      if clinalg.array.is_complex(bitxor(a.h, b.h))
        a = clinalg.array.promoted(a);
        b = clinalg.array.promoted(b);
      end
    end

    function t = both_sparse(a, b)
    % Whether both are sparse matrices, on the device or in MATLAB's memory, and none is a band matrix.
      t = issparse(a) && issparse(b) && ~(isa(a, 'clinalg.array') && strcmp(kind_of(a), 'band')) ...
        && ~(isa(b, 'clinalg.array') && strcmp(kind_of(b), 'band'));
    end

    function [at, part, shape] = positions(subs, dims, reading)
    % The positions that one or two subscripts of a matrix name ([] for all), the lengths of the part and, for one subscript, the shape of what is
    % read; at is empty where MATLAB is left to say what they mean or what is wrong with them.
      at = {};
      part = [];
      shape = [0 0];
      if numel(dims) > 2 || numel(subs) > 2 || isempty(subs)
        return
      end
      lengths = dims;
      if numel(subs) == 1
        lengths = prod(dims);
      end
      found = cell(1, numel(subs));
      part = lengths;
      for k = 1 : numel(subs)
        index = subs{k};
        if ischar(index)
          if ~strcmp(index, ':'), return, end
          found{k} = [];
          if lengths(k) == 0, return, end
          continue
        elseif islogical(index)
          if numel(index) ~= lengths(k) || (numel(subs) == 1 && ~isequal(size(index), dims)), return, end
          index = find(index);
        end
        if ~isnumeric(index) || isempty(index) || ~isreal(index) || ndims(index) > 2, return, end
        index = double(index);
        list = index(:);
        if any(list < 1 | list > lengths(k) | list ~= fix(list)), return, end
        found{k} = index;
        part(k) = numel(list);
      end
      if numel(subs) == 1
        shape = size(found{1});
        if ischar(subs{1})
          shape = [lengths, 1];
        elseif islogical(subs{1}) && ~any(dims == 1)
          shape = [part, 1];
        elseif any(shape == 1) && any(dims == 1) && prod(dims) ~= 1
          % A vector by a vector keeps the direction of the first.
          shape = [part, 1];
          if dims(1) == 1
            shape = [1, part];
          end
        end
      end
      at = found;
    end

    function t = fits(a, value, count)
    % Whether a(...) = value leaves the class of a as it is, and value has one element or this many.
      t = (isscalar(value) || numel(value) == count) && ~issparse(value) && (isreal(value) || iscomplex(a)) ...
        && ndims(value) == 2;
      if t && strcmp(underlyingType(a), 'double')
        t = (isa(value, 'clinalg.array') && strcmp(underlyingType(value), 'double')) || isa(value, 'double') || islogical(value);
      end
    end

    function t = are_single(at)
    % Whether no position occurs twice.
      t = true;
      for k = 1 : numel(at)
        list = at{k}(:);
        t = t && (numel(list) < 2 || all(diff(list) > 0) || numel(unique(list)) == numel(list));
      end
    end

    function t = same_shape(part, shape, got)
    % Whether the values have the shape of the part but for lengths of 1.
      if numel(part) == 1
        t = prod(got) == part && (any(got == 1) || isequal(got, shape));
      else
        t = isequal(part(part ~= 1), got(got ~= 1));
      end
    end

    function t = is_complex(h)
    % Whether a handle names complex values: its second highest bit.
      t = bitand(h, bitshift(uint64(1), 62)) ~= 0;
    end

    function c = promoted(a)
    % The array itself if it is complex, else a complex copy.
      c = a;
      if ~iscomplex(a)
        c = converted(a, strcmp(underlyingType(a), 'single'), true);
      end
    end

    function c = lowered(a)
    % The array itself if it is in single precision, else a copy that is.
      c = a;
      if bitand(a.h, bitshift(uint64(1), 63)) ~= 0
        c = single(a);
      end
    end

    function o = operand(x, other)
    % A copy on the device of an operand in MATLAB's memory, in the precision of the other or in single precision.
      type = underlyingType(other);
      if isa(x, 'single')
        type = 'single';
      end
      o = clinalg.array.like(x, type);
    end

    function o = like(x, other)
    % A copy on the device in the precision of another array or in the one that a name says.
      type = other;
      if ~ischar(other)
        type = underlyingType(other);
      end
      if numel(size(x)) > 2
        o = clinalg.array.nd(cast(x, type));
      else
        o = clinalg.matrix(x, type);
      end
    end

    function o = nd(x)
    % A copy on the device of a full array of any number of dimensions.
      dims = size(x);
      o = clinalg.array(clinalg_mex('MexMatrix', 0, reshape(x, dims(1), prod(dims(2 : end)))));
      if numel(dims) > 2
        o.form = struct('dims', dims, 'of', [], 'conjugate', false);
        clinalg_mex('MexMark', 0, o.h);
      end
    end

    function o = shaped(h, dims)
    % The array of a handle whose values have these dimensions.
      o = clinalg.array(h);
      if numel(dims) > 2
        o.form = struct('dims', dims, 'of', [], 'conjugate', false);
        clinalg_mex('MexMark', 0, h);
      end
    end

    function o = made(h)
    % The array of a handle; one element as a number.
      o = clinalg.array(h);
      if isscalar(o)
        o = clinalg.array.narrowed(gather(o));
      end
    end

    function s = narrowed(s)
    % A number, real where its imaginary part is zero, as MATLAB's operations give it.
      if imag(s) == 0
        s = real(s);
      end
    end

    function o = whole(x, as_single)
    % A copy on the device of an array, also of one element.
      if issparse(x)
        o = clinalg.array(clinalg_mex('MexSparseMatrix', 0, x, as_single));
      else
        o = clinalg.array.nd(full(x));
      end
    end

    function x = on_host(x)
      if isa(x, 'clinalg.array')
        x = gather(x);
      end
    end

    function varargout = numbers(varargin)
    % Arrays of one element as numbers, others as they are.
      varargout = varargin;
      several = ~cellfun(@isscalar, varargin);
      for k = 1 : numel(varargin)
        if any(several) && ~several(k) && isa(varargin{k}, 'clinalg.array')
          varargout{k} = full(gather(varargin{k}));
        end
      end
    end

    function t = keeps_class(a, k)
    % Whether the number k leaves the class of the array a as it is.
      t = isa(k, 'double') || strcmp(underlyingType(a), 'single');
    end

    function words = by(dims)
    % '3 x 4'.
      words = strjoin(cellfun(@(d) {sprintf('%d', d)}, num2cell(dims)), ' x ');
    end

    function check_classes(name, varargin)
    % An error unless the operands are arrays on the device, or numbers or logical arrays of MATLAB.
      for k = 1 : numel(varargin)
        x = varargin{k};
        if ~(isfloat(x) || islogical(x))
          hint = '';
          if isinteger(x)
            hint = ': convert it with double(x) or single(x)';
          elseif ischar(x)
            hint = ': convert it with double(x)';
          end
          error('clinalg:argument:class', ['%s: operand %d is of class %s, expected an array on the device, or one of ' ...
            'class double, single or logical%s'], name, k, class(x), hint);
        end
      end
    end

    function c = along(name, a, given)
    % A reduction of the first dimension that is longer than 1 or of the one that is given.
      dims = size(a);
      dim = find(dims ~= 1, 1);
      if ~isempty(given)
        dim = given{1};
      end
      if numel(given) < 2 && numel(dims) == 2 && prod(dims) > 0 && isequal(dim, fix(dim)) && isscalar(dim) && any(dim == [1 2]) ...
          && strcmp(kind_of(a), 'full')
        c = clinalg.array.made(clinalg_mex('MexReduce', 0, name, hand(a), dim));
      else
        c = clinalg.hosted.one(name, [{a}, given]);
      end
    end

    function results = extremum(name, count, given)
    % max and min: on the device of real arrays without positions.
      if count < 2 && numel(given) == 2
        [c, known] = fused(name, given{:});
        if ~known
          c = clinalg.array.mapped(name, given{:});
        end
        results = {c};
      elseif count < 2 && isa(given{1}, 'clinalg.array') && isreal(given{1}) && (numel(given) == 1 || isempty(given{2}))
        results = {clinalg.array.along(name, given{1}, given(3 : end))};
      else
        results = clinalg.hosted.call(name, count, 'D1', given);
      end
    end

    function [o, op] = untransposed(a)
    % What a lazy transpose is of, and how it is transposed.
      o = a;
      op = 'notransp';
      if isa(a, 'clinalg.array') && ~isempty(a.form)
        o = a.form.of;
        ops = {'transp', 'ctransp'};
        op = ops{1 + a.form.conjugate};
      end
    end

    function c = mapped(name, a, b)
    % A function of two arrays or of an array and a number, element by element; by MATLAB where the device has none.
      clinalg.array.check_classes(name, a, b);
      [a, b] = clinalg.array.numbers(a, b);
      [r, s] = deal(size(a), size(b));
      same = isequal(r, s);
      plain = (same || (numel(r) == 2 && numel(s) == 2 && all(r == s | r == 1 | s == 1))) && prod(r) > 0 && prod(s) > 0;
      real_only = any(strcmp(name, {'max', 'min', 'atan2', 'hypot'}));
      if ~plain || issparse(a) || issparse(b) || (real_only && ~(isreal(a) && isreal(b)))
        c = clinalg.hosted.one(name, {a, b});
        return
      end
      [a, b] = clinalg.array.pair(a, b);
      h = clinalg_mex('MexMap2', 0, name, a.h, b.h);
      if same
        c = clinalg.array.shaped(h, r);
      else
        c = clinalg.array(h);
      end
    end

    function c = applied(a, b)
    % A matrix or its transpose times a column.
      if isa(a, 'clinalg.array') && ~isempty(a.form)
        ops = {'transp', 'ctransp'};
        op = ops{1 + a.form.conjugate};
        row = size(a, 1) == 1;
        [x, b] = clinalg.array.pair(a.form.of, b);
        if row
          names = {'MexDotu', 'MexDot'};
          names = names{1 + strcmp(op, 'ctransp')};
          if ~strcmp(kind_of(x), 'full') || ~strcmp(kind_of(b), 'full')
            c = clinalg.hosted.one('mtimes', {a, b});
          else
            c = clinalg.array.narrowed(clinalg_mex(names, 0, x.h, b.h));
          end
          return
        elseif strcmp(kind_of(x), 'band')
          settle(a);
          [x, b] = clinalg.array.pair(a, b);
          op = 'notransp';
        end
      else
        [x, b] = clinalg.array.pair(a, b);
        op = 'notransp';
      end
      if ~strcmp(kind_of(b), 'full')
        c = clinalg.hosted.one('mtimes', {a, b});
      elseif strcmp(op, 'notransp')
        c = clinalg.array.made(clinalg_mex('MexMultiply', 0, x.h, b.h));
      else
        c = clinalg.array.made(clinalg_mex('MexMultiplyOp', 0, op, x.h, b.h));
      end
    end

    function c = combined(name, a, b, sign)
    % a + sign b.
      clinalg.array.check_classes(name, a, b);
      [a, b] = clinalg.array.numbers(a, b);
      dims = size(a);
      if isequal(dims, size(b)) && prod(dims) > 1 && clinalg.array.both_sparse(a, b)
        [a, b] = clinalg.array.pair(a, b);
        c = clinalg.array(clinalg_mex('MexSparseAdd', 0, 1, a.h, sign, b.h));
      elseif ~isequal(dims, size(b)) || issparse(a) || issparse(b)
        c = clinalg.array.mapped(name, a, b);
      else
        [a, b] = clinalg.array.pair(a, b);
        c = clinalg.array.shaped(clinalg_mex('MexAxpby', 0, 1, a.h, sign, b.h), dims);
      end
    end

    function c = made_like(name, given)
    % An array made by a function of MATLAB, on the device and in the class of the last argument after 'like'.
      n = numel(given);
      if n > 1 && strcmp(given{n - 1}, 'like')
        other = given{n};
        given = clinalg.hosted.gathered(name, given(1 : n - 2));
        c = clinalg.array.whole(full(cast(feval(name, given{:}), underlyingType(other))), false);
        if iscomplex(other)
          c = clinalg.array.promoted(c);
        end
      elseif strcmp(name, 'linspace')
        c = clinalg.hosted.one(name, given);
      else
        error('clinalg:argument:value', '%s: expected sizes in MATLAB''s memory, or %s(..., ''like'', a)', name, name);
      end
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

    function given = options(caller, options, names)
    % The fields of a structure of options in the order of their names, [] for those that it lacks.
      if ~isstruct(options) && ~isempty(options)
        error('clinalg:argument:class', '%s: options is of class %s, expected a structure', caller, class(options));
      end
      given = cell(1, numel(names));
      if isempty(options), return, end
      for name = fieldnames(options).'
        at = find(strcmp(names, name{1}));
        if isempty(at)
          error('clinalg:argument:value', '%s: options.%s is not known, expected %s', caller, name{1}, strjoin(names, ', '));
        end
        given{at} = options.(name{1});
        if isa(given{at}, 'string')
          given{at} = char(given{at});
        end
      end
    end

    function A = sparse_handle(A)
    % A matrix on the device, sparse if it comes from MATLAB's memory, whose handle is ready.
      if ~isa(A, 'clinalg.array')
        A = clinalg.matrix(sparse(A));
      end
      settle(A);
    end

    function a = loadobj(s)
    % From what saveobj gives.
      a = clinalg.array.like(s.values, s.class);
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
      if clinalg.array.is_complex(like.h)
        x = clinalg.array.promoted(x);
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
          'clinalg.%s: M is of class %s, expected a name such as ''jacobi'', ''ilu'' or ''amg'', a clinalg.factor or []', ...
          name, class(M));
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
  end
end
