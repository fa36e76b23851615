classdef (HandleCompatible) operations
%clinalg.operations  Operators and functions of clinalg.array that run on the device.
%   Element by element: +, -, .*, ./, .^, ==, abs, exp, max of two arrays, ...; a row and a column or a matrix are expanded as in MATLAB.
%   These wait until their values are read, and run as one kernel then; explain(x) shows what waits.
%
%   Matrices: A * B, A \ b, A', lu, chol, qr, inv, det, norm, sum, max, dot, and parts of sparse matrices (diag, tril, triu, nnz).
%
%   Where the device has no such function of the operands, MATLAB computes it: help clinalg.hosted.
%
%   Example:
%     x = clinalg.vector([1; 2; 3]);
%     A = clinalg.matrix([4 1 0; 1 3 1; 0 1 2]);
%     y = exp(-x) .* 2 + 1;
%     norm(A * (A \ y) - y)
%
%   See also clinalg.array, clinalg.hosted.

  methods
    % plus, minus, times, rdivide and products with numbers hold the body of `fused`, and functions of one operand that of `fused_one`: a call of either
    % takes Octave 20 us more, a tenth of the operation (Octave 7.3, arrays of 100 elements). The Mex functions read the handles of their operands
    % themselves: isa and a.h take Octave 6 us for each.

    function c = plus(a, b, varargin)
    %+  Sum.
      if nargin > 2, c = clinalg.operands.folded(@plus, a, b, varargin); return, end
      c = clinalg_mex('MexLazy2', 0, 'plus', a, b);
      if c, c = clinalg.array(c); return, end
      c = clinalg.operands.combined('plus', a, b, 1);
    end

    function c = minus(a, b)
    %-  Difference.
      c = clinalg_mex('MexLazy2', 0, 'minus', a, b);
      if c, c = clinalg.array(c); return, end
      c = clinalg.operands.combined('minus', a, b, -1);
    end

    function c = uminus(a)
    %-  Negative.
      c = clinalg_mex('MexLazy', 0, 'uminus', a);
      if c, c = clinalg.array(c); return, end
      if isscalar(a), c = -gather(a); else, c = scaled(a, -1); end
    end

    function c = uplus(a)
    %+  The array itself.
      c = a;
    end

    function c = times(a, b, varargin)
    %.*  Product, element by element.
      if nargin > 2, c = clinalg.operands.folded(@times, a, b, varargin); return, end
      c = clinalg_mex('MexLazy2', 0, 'times', a, b);
      if c, c = clinalg.array(c); return, end
      clinalg.operands.check_classes('.*', a, b);
      [a, b, done] = clinalg.operands.numbers(a, b);
      if done
        c = clinalg.hosted.one('times', {a, b});
      elseif issparse(a) && isscalar(a) || issparse(b) && isscalar(b)
        % A sparse number makes the product sparse.
        [a, b] = clinalg.operands.full_number(a, b);
        c = sparse(times(a, b));
      elseif isnumeric(a) && ~isobject(a) && isscalar(a) && clinalg.operands.keeps_class(b, a)
        c = scaled(b, a);
      elseif isnumeric(b) && ~isobject(b) && isscalar(b) && clinalg.operands.keeps_class(a, b)
        c = scaled(a, b);
      elseif ~issparse(a) && ~issparse(b) && iscomplex(a) && isreal(b)
        c = complex(real(a) .* b, imag(a) .* b);
      elseif ~issparse(a) && ~issparse(b) && isreal(a) && iscomplex(b)
        c = complex(a .* real(b), a .* imag(b));
      elseif isequal(size(a), size(b)) && ~issparse(a) && ~issparse(b)
        dims = size(a);
        [a, b] = clinalg.operands.pair(a, b);
        c = clinalg.array.shaped(clinalg_mex('MexVectorTimesVector', 0, a.h, b.h), dims);
      else
        c = clinalg.operands.mapped('times', a, b);
      end
    end

    function c = rdivide(a, b)
    %./  Quotient, element by element.
      c = clinalg_mex('MexLazy2', 0, 'rdivide', a, b);
      if c, c = clinalg.array(c); return, end
      clinalg.operands.check_classes('./', a, b);
      [a, b, done] = clinalg.operands.numbers(a, b);
      if done
        c = clinalg.hosted.one('rdivide', {a, b});
      elseif iscomplex(a) && isreal(b)
        % Part by part: infinities stay what they are.
        c = complex(real(a) ./ b, imag(a) ./ b);
      else
        c = clinalg.operands.mapped('rdivide', a, b);
      end
    end

    function c = atan2(a, b)
    %atan2  Angle of the point (b, a).
      [c, known] = fused('atan2', a, b);
      if ~known
        c = clinalg.operands.mapped('atan2', a, b);
      end
    end

    function c = hypot(a, b)
    %hypot  sqrt(a^2 + b^2) without overflow.
      [c, known] = fused('hypot', a, b);
      if ~known
        c = clinalg.operands.mapped('hypot', a, b);
      end
    end

    function c = mod(a, b)
    %mod  Remainder with the sign of b.
      [c, known] = fused('mod', a, b);
      if ~known
        c = clinalg.operands.mapped('mod', a, b);
      end
    end

    function c = rem(a, b)
    %rem  Remainder with the sign of a.
      [c, known] = fused('rem', a, b);
      if ~known
        c = clinalg.operands.mapped('rem', a, b);
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
      c = clinalg_mex('MexLazy', 0, 'exp', a);
      if c, c = clinalg.array(c); else, c = each(a, 'exp', -Inf); end
    end

    function c = log(a)
    %log  Natural logarithm.
      c = clinalg_mex('MexLazy', 0, 'log', a);
      if c, c = clinalg.array(c); else, c = each(a, 'log', 0); end
    end

    function c = sqrt(a)
    %sqrt  Square root.
      c = clinalg_mex('MexLazy', 0, 'sqrt', a);
      if c, c = clinalg.array(c); else, c = each(a, 'sqrt', 0); end
    end

    function c = sin(a)
    %sin  Sine.
      c = clinalg_mex('MexLazy', 0, 'sin', a);
      if c, c = clinalg.array(c); else, c = each(a, 'sin', -Inf); end
    end

    function c = cos(a)
    %cos  Cosine.
      c = clinalg_mex('MexLazy', 0, 'cos', a);
      if c, c = clinalg.array(c); else, c = each(a, 'cos', -Inf); end
    end

    function c = tan(a)
    %tan  Tangent.
      c = clinalg_mex('MexLazy', 0, 'tan', a);
      if c, c = clinalg.array(c); else, c = each(a, 'tan', -Inf); end
    end

    function c = atan(a)
    %atan  Inverse tangent.
      c = clinalg_mex('MexLazy', 0, 'atan', a);
      if c, c = clinalg.array(c); else, c = each(a, 'atan', -Inf); end
    end

    function c = tanh(a)
    %tanh  Hyperbolic tangent.
      c = clinalg_mex('MexLazy', 0, 'tanh', a);
      if c, c = clinalg.array(c); else, c = each(a, 'tanh', -Inf); end
    end

    function c = floor(a)
    %floor  Round towards minus infinity.
      c = clinalg_mex('MexLazy', 0, 'floor', a);
      if c, c = clinalg.array(c); else, c = each(a, 'floor', -Inf); end
    end

    function c = ceil(a)
    %ceil  Round towards plus infinity.
      c = clinalg_mex('MexLazy', 0, 'ceil', a);
      if c, c = clinalg.array(c); else, c = each(a, 'ceil', -Inf); end
    end

    function c = round(a)
    %round  Round to the nearest integer.
      c = clinalg_mex('MexLazy', 0, 'round', a);
      if c, c = clinalg.array(c); else, c = each(a, 'round', -Inf); end
    end

    function c = fix(a)
    %fix  Round towards zero.
      c = clinalg_mex('MexLazy', 0, 'fix', a);
      if c, c = clinalg.array(c); else, c = each(a, 'fix', -Inf); end
    end

    function c = sign(a)
    %sign  Sign.
      c = clinalg_mex('MexLazy', 0, 'sign', a);
      if c, c = clinalg.array(c); else, c = each(a, 'sign', -Inf); end
    end

    function c = expm1(a)
    %expm1  exp(x) - 1.
      c = clinalg_mex('MexLazy', 0, 'expm1', a);
      if c, c = clinalg.array(c); else, c = each(a, 'expm1', -Inf); end
    end

    function c = sinh(a)
    %sinh  Hyperbolic sine.
      c = clinalg_mex('MexLazy', 0, 'sinh', a);
      if c, c = clinalg.array(c); else, c = each(a, 'sinh', -Inf); end
    end

    function c = cosh(a)
    %cosh  Hyperbolic cosine.
      c = clinalg_mex('MexLazy', 0, 'cosh', a);
      if c, c = clinalg.array(c); else, c = each(a, 'cosh', -Inf); end
    end

    function c = asinh(a)
    %asinh  Inverse hyperbolic sine.
      c = clinalg_mex('MexLazy', 0, 'asinh', a);
      if c, c = clinalg.array(c); else, c = each(a, 'asinh', -Inf); end
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
      c = clinalg_mex('MexLazy', 0, 'abs', a);
      if c, c = clinalg.array(c); return, end
      c = part(a, 'abs', 'MexAbs');
    end

    function c = conj(a)
    %conj  Conjugate, element by element.
      [c, known] = fused_one('conj', a);
      if known, return, end
      if isscalar(a)
        c = conj(gather(a));
      else
        c = clinalg.array.shaped(clinalg_mex('MexConj', 0, hand(a)), size(a));
      end
    end

    function c = complex(a, b)
    %complex  a + 1i * b; complex(a) is a complex copy.
      if nargin < 2
        if isscalar(a), c = complex(gather(a)); else, c = clinalg.operands.promoted(a); end
        return
      end
      [a, b, done] = clinalg.operands.numbers(a, b);
      if done
        c = clinalg.hosted.one('complex', {a, b});
      elseif isequal(size(a), size(b)) && ~issparse(a) && ~issparse(b)
        dims = size(a);
        [a, b] = clinalg.operands.pair(a, b);
        c = clinalg.array.shaped(clinalg_mex('MexComplex', 0, a.h, b.h), dims);
      else
        % MATLAB's memory may hold what is complex with imaginary parts of zero, and a copy from there is real.
        c = clinalg.hosted.one('complex', {a, b});
        if isa(c, 'clinalg.array'), c = clinalg.operands.promoted(c); end
      end
    end

    function varargout = arrayfun(f, varargin)
    %arrayfun  A function of each element: on the device where it is an anonymous function that is a formula of functions element by
    % element, such as @(x, y) exp(-x ^ 2) * y; else in MATLAB's memory, element by element.
      if nargout < 2 && isa(f, 'function_handle')
        [c, known] = clinalg.operands.formula(f, varargin);
        if known
          varargout = {c};
          return
        end
      end
      given = clinalg.hosted.gathered('arrayfun', varargin);
      [varargout{1 : max(nargout, 1)}] = arrayfun(f, given{:});
      varargout = cellfun(@(c) {clinalg.hosted.uploaded(c, false)}, varargout);
    end

    function varargout = pagefun(varargin) %#ok<STOUT>
    %pagefun  Not for arrays on the device.
      error('clinalg:call:unsupported', ['pagefun: pagefun is not supported for arrays on the device; loop over the pages, for k = 1 : ' ...
        'size(A, 3), C(:, :, k) = A(:, :, k) * B(:, :, k); end, or use pagefun of gather(A)']);
    end

    function c = bsxfun(f, a, b)
    %bsxfun  f(a, b), whose operands expand by themselves.
      if issparse(a) || issparse(b)
        c = clinalg.hosted.one('bsxfun', {f, a, b});
        return
      elseif ischar(f)
        f = str2func(f);
      end
      c = f(a, b);
    end

    % Matrices.

    function c = mtimes(a, b, varargin)
    %*  Product of matrices, or with a number.
      if nargin > 2, c = clinalg.operands.folded(@mtimes, a, b, varargin); return, end
      if ~isobject(b) && isscalar(b) || ~isobject(a) && isscalar(a)
        c = clinalg_mex('MexLazy2', 0, 'times', a, b);
        if c, c = clinalg.array(c); return, end
      elseif isobject(a) && isobject(b)
        c = clinalg_mex('MexSmallProduct', 0, 'notransp', a, b);
        if isa(c, 'uint64'), c = clinalg.array(c); return, end
        if isempty(c) && isa(a, 'clinalg.array') && isempty(a.h)
          op = 'transp';
          if a.form.conjugate, op = 'ctransp'; end
          c = clinalg_mex('MexSmallProduct', 0, op, a.form.of, b);
        end
        if isa(c, 'uint64'), c = clinalg.array(c); return, end
        if ~isempty(c), return, end
      end
      if ~isobject(a) || ~isobject(b)
        [a, b, c] = clinalg.operands.scaled_by_diagonal(a, b);
        if ~isempty(c), return, end
      end
      if isscalar(a) || isscalar(b)
        if isa(a, 'clinalg.array') && isscalar(a) && isscalar(b) && strcmp(kind_of(a), 'operator')
          c = clinalg.operands.applied(a, b);
          return
        end
        [a, b] = clinalg.operands.full_number(a, b);
        c = times(a, b);
        return
      end
      clinalg.operands.check_classes('*', a, b);
      [m, n] = size(a);
      [k, p] = size(b);
      if n ~= k || numel(size(a)) > 2 || numel(size(b)) > 2
        error('clinalg:argument:shape', '*: a is %s, b is %s; the inner sizes must agree', ...
          clinalg.operands.by(size(a)), clinalg.operands.by(size(b)));
      elseif m * p * n > 0 && p > 1 && m > 1 && ~issparse(a) && ~issparse(b)
        [a, op_a] = clinalg.operands.untransposed(a);
        [b, op_b] = clinalg.operands.untransposed(b);
        [a, b] = clinalg.operands.pair(a, b);
        c = clinalg.array(clinalg_mex('MexMatrixMatrix', 0, a.h, b.h, op_a, op_b));
      elseif m * p * n > 0 && p * m > 1 && clinalg.operands.both_sparse(a, b)
        [a, b] = clinalg.operands.pair(a, b);
        c = clinalg.array(clinalg_mex('MexSparseMultiply', 0, a.h, b.h));
      elseif m * p * n > 0 && p > 1 && m > 1 && ~issparse(b)
        % A sparse matrix times the columns of a full one.
        [a, b] = clinalg.operands.pair(a, b);
        c = clinalg.array(clinalg_mex('MexMultiplyColumns', 0, a.h, b.h));
      elseif m * p * n > 0 && p > 1 && m > 1 && ~issparse(a)
        c = (b.' * a.').';
      elseif m * p * n == 0 || (p > 1 && m > 1)
        c = clinalg.hosted.one('mtimes', {a, b});
      elseif p > 1
        c = (b.' * a.').';
      else
        c = clinalg.operands.applied(a, b);
      end
    end

    function x = mldivide(a, b)
    %\  Solution of a x = b: for a square full matrix by substitution, Cholesky or LU, for another one by QR in the least-squares sense, of several
    % solutions the one of smallest norm. clinalg:matrix:nearlySingular warns that few or no digits may be correct, clinalg:matrix:singular
    % (square a) and clinalg:matrix:rankDeficient (rectangular a) that x is the minimum-norm least-squares solution. For a sparse one with
    % 1000 or more rows or columns by a complete factorisation on the device. Where that takes longer than seconds, or a is rectangular or singular,
    % by iteration, as clinalg.solve, to a relative residual of 1e-10 (in single precision 1e-5), with the warning clinalg:solve:iterative; a sparse
    % triangle, smaller matrices and band matrices directly.
      if isobject(a) && isobject(b)
        x = clinalg_mex('MexSmallSolve', 0, a, b);
        if x, x = clinalg.array(x); return, end
      end
      clinalg.operands.check_classes('\', a, b);
      if isa(a, 'clinalg.array') && strcmp(kind_of(a), 'operator')
        x = clinalg.heat_forward(a) \ b;
        return
      end
      [m, n] = size(a);
      if isscalar(a)
        [a, b] = clinalg.operands.full_number(a, b);
        x = ldivide(a, b);
      elseif ~issparse(a) && ~issparse(b) && min(m, n) > 0 && size(b, 1) == m && size(b, 2) > 0 && ndims(a) == 2 && ndims(b) == 2
        [a, b] = clinalg.operands.pair(a, b);
        x = clinalg.factorisations.left_divide(a, b);
      elseif max(m, n) >= 1000 && min(m, n) > 0 && issparse(a) && ~issparse(b) && size(b, 1) == m && size(b, 2) > 0 ...
          && ~(isa(a, 'clinalg.array') && strcmp(kind_of(a), 'band'))
        x = clinalg.factorisations.of_large_sparse(a, b);
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
      if isa(a, 'clinalg.decomposition')
        x = (a.' \ b.').';
        return
      end
      clinalg.operands.check_classes('/', b, a);
      if isscalar(a)
        [b, a] = clinalg.operands.full_number(b, a);
        x = rdivide(b, a);
      elseif size(b, 2) ~= size(a, 2)
        error('clinalg:argument:shape', '/: b is %s, a is %s; the numbers of columns must agree', ...
          clinalg.operands.by(size(b)), clinalg.operands.by(size(a)));
      else
        x = (a.' \ b.').';
      end
    end

    function t = ctranspose(a)
    %'  Conjugate transpose, made when its values are needed; T * x multiplies without it.
      t = clinalg_mex('MexSmallTranspose', 0, a, true);
      if t, t = clinalg.array(t); else, t = flipped(a, iscomplex(a)); end
    end

    function t = transpose(a)
    %.'  Transpose, made when its values are needed; T * x multiplies without it.
      t = clinalg_mex('MexSmallTranspose', 0, a, false);
      if t, t = clinalg.array(t); else, t = flipped(a, false); end
    end

    function v = diag(a, k, n)
    %diag  A diagonal as a vector, or a matrix with a vector as diagonal, diag(v, m, n) of m x n; on the device of a sparse matrix.
      if nargin > 2
        v = clinalg.hosted.one('diag', {a, k, n});
        return
      elseif nargin < 2
        k = 0;
      end
      if ~isa(a, 'clinalg.array')
        v = clinalg.hosted.one('diag', {a, k});
        return
      end
      k = clinalg.operands.on_host(k);
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
      if isa(a, 'clinalg.array'), c = triangle(a, 'tril', varargin); else, c = clinalg.hosted.one('tril', [{a}, varargin]); end
    end

    function c = triu(a, varargin)
    %triu  Upper triangle; on the device of a sparse matrix.
      if isa(a, 'clinalg.array'), c = triangle(a, 'triu', varargin); else, c = clinalg.hosted.one('triu', [{a}, varargin]); end
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
        v = clinalg.operands.column_of(clinalg_mex('MexNonzeros', 0, hand(a)));
        if isscalar(v), v = gather(v); end
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

    function s = norm(a, varargin)
    %norm  Norm of a vector or matrix; on the device with p = 1, 2, Inf of a vector and 'fro'.
      if nargin == 1
        s = clinalg_mex('MexVectorNumber', 0, 'norm2', a);
        if ~isempty(s), return, end
      end
      p = 2;
      if nargin > 1
        varargin = clinalg.hosted.gathered('norm', varargin);
        p = varargin{1};
      end
      if ~isa(a, 'clinalg.array')
        s = clinalg.hosted.one('norm', [{a}, varargin]);
        return
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
      s = [];
      if nargin == 1
        s = clinalg_mex('MexReduce', 0, 'sum', a);
      elseif nargin == 2 && isobject(a) && ~isobject(varargin{1}) && isscalar(varargin{1}) && any(varargin{1} == [1 2])
        s = clinalg_mex('MexReduce', 0, 'sum', a, varargin{1});
      end
      if isa(s, 'uint64'), s = clinalg.array(s); return, end
      if ~isempty(s), return, end
      if ~isa(a, 'clinalg.array')
        s = clinalg.operands.along('sum', a, varargin);
      elseif nargin == 2 && strcmp(varargin{1}, 'all')
        s = clinalg.operands.narrowed(clinalg_mex('MexSum', 0, hand(a)));
        if issparse(a), s = sparse(double(s)); end
      elseif nargin == 1 && isvector(a) && ~isempty(a)
        s = clinalg.operands.narrowed(clinalg_mex('MexSum', 0, hand(a)));
        if issparse(a), s = sparse(double(s)); end
      else
        s = clinalg.operands.along('sum', a, varargin);
      end
    end

    function s = prod(a, varargin)
    %prod  Product along a dimension.
      s = clinalg.operands.along('prod', a, varargin);
    end

    function varargout = max(varargin)
    %max  Largest values along a dimension or of two arrays; positions are in MATLAB's memory.
      c = [];
      if nargin == 1 && nargout < 2, c = clinalg_mex('MexReduce', 0, 'max', varargin{1}); end
      if isa(c, 'uint64'), c = clinalg.array(c); end
      if ~isempty(c), varargout = {c}; return, end
      varargout = clinalg.operands.extremum('max', nargout, varargin);
    end

    function varargout = min(varargin)
    %min  Smallest values along a dimension or of two arrays; positions are in MATLAB's memory.
      c = [];
      if nargin == 1 && nargout < 2, c = clinalg_mex('MexReduce', 0, 'min', varargin{1}); end
      if isa(c, 'uint64'), c = clinalg.array(c); end
      if ~isempty(c), varargout = {c}; return, end
      varargout = clinalg.operands.extremum('min', nargout, varargin);
    end

    function s = dot(a, b, varargin)
    %dot  Dot product of two vectors, of which the first is conjugated; of matrices column by column.
      if nargin == 2 && isobject(a) && isobject(b)
        s = clinalg_mex('MexSmallProduct', 0, 'dot', a, b);
        if ~isempty(s), return, end
      end
      clinalg.operands.check_classes('dot', a, b);
      if nargin == 2 && isvector(a) && isvector(b) && numel(a) == numel(b) && ~issparse(a) && ~issparse(b)
        if ~isequal(size(a), size(b))
          b = b.';
        end
        [a, b] = clinalg.operands.pair(a, b);
        s = clinalg.operands.narrowed(clinalg_mex('MexDot', 0, a.h, b.h));
      else
        s = clinalg.hosted.one('dot', [{a, b}, varargin]);
      end
    end

    function varargout = gmres(A, varargin)
    %gmres  clinalg.gmres with the arguments of gmres: gmres(A, b, restart, tol, maxit, M1, M2, x0).
      given = clinalg.operands.gmres_arguments(varargin);
      [varargout{1 : max(nargout, 1)}] = clinalg.gmres(A, given{:});
    end

    % Factorisations, of full matrices on the device; their bodies are in clinalg.factorisations.

    function varargout = lu(varargin)
    %lu  LU factorisation with partial pivoting: [L, U, P] with P * A = L * U, [L, U] with A = L * U, one output with U and, below
    % the diagonal, L. lu(a, 'vector') gives the order p of the rows in place of P: A(p, :) = L * U.
      varargout = clinalg.factorisations.factorised('lu', max(nargout, 1), varargin);
    end

    function varargout = chol(varargin)
    %chol  Cholesky factorisation: R with R' * R = A of the upper triangle of A, chol(a, 'lower') L with L * L' = A of the lower
    % one. flag is 0, or the order of the first leading minor that is not positive; R is of the part before it.
      varargout = clinalg.factorisations.factorised('chol', max(nargout, 1), varargin);
    end

    function varargout = qr(varargin)
    %qr  QR factorisation: [Q, R] with A = Q * R, or R alone; qr(a, 0) and qr(a, 'econ') without the columns of Q beyond those of A. A
    % permutation, [Q, R, E], and qr(a, b) are computed in MATLAB's memory.
      varargout = clinalg.factorisations.factorised('qr', max(nargout, 1), varargin);
    end

    function o = decomposition(varargin)
    %decomposition  Factors that are kept for many right-hand sides: dA \ b; see clinalg.decomposition.
      o = clinalg.decomposition(varargin{:});
    end

    function varargout = condest(varargin)
    %condest  Estimate of the condition number in the 1-norm; of a large sparse matrix on the device. A second output is computed in MATLAB's memory.
      varargout = clinalg.factorisations.condition(max(nargout, 1), varargin);
    end

    function varargout = inv(varargin)
    %inv  Inverse of a square matrix, and its reciprocal condition number. To solve a system, A \ b is faster and more accurate.
      varargout = clinalg.factorisations.factorised('inv', max(nargout, 1), varargin);
    end

    function varargout = det(varargin)
    %det  Determinant of a square matrix, of a large sparse one from its factors on the device; its reciprocal condition number is estimated in
    % MATLAB's memory.
      varargout = clinalg.factorisations.factorised('det', max(nargout, 1), varargin);
    end
  end

  methods (Hidden)
    function [c, known] = fused(name, a, b)
    % A function of two operands that is evaluated with others when it is read; known is false where the device leaves it to the caller.
      c = clinalg_mex('MexLazy2', 0, name, a, b);
      known = c ~= 0;
      if known
        c = clinalg.array(c);
      end
    end

    function [c, known] = fused_one(name, a)
    % As fused for a function of one operand.
      c = clinalg_mex('MexLazy', 0, name, a);
      known = c ~= 0;
      if known
        c = clinalg.array(c);
      end
    end

    function c = each(a, name, least)
    % A function of each element; complex where numbers are below `least`; by MATLAB where the device has none.
      if isscalar(a)
        c = feval(name, full(gather(a)));
      elseif issparse(a) || isempty(a) || iscomplex(a)
        c = clinalg.hosted.one(name, {a});
      elseif ~isfinite(least) || least_of(a) >= least
        c = clinalg.array.shaped(clinalg_mex('MexMap', 0, name, hand(a)), size(a));
      elseif ndims(a) > 2
        c = clinalg.hosted.one(name, {a});
      elseif strcmp(name, 'log')
        c = complex(log(abs(a)), pi * max(sign(-a), 0));
      else
        % Subtracting 0 * sign(a) propagates NaN and keeps -0; adding 0 turns -0 into 0.
        c = complex(sqrt(max(a, 0)) - 0 * sign(a), sqrt(max(-a, 0)) + 0);
      end
    end

    function m = least_of(a)
    % The smallest element.
      m = a;
      while isa(m, 'clinalg.array'), m = min(m); end
    end

    function c = part(a, name, mex)
      if isscalar(a)
        c = feval(name, gather(a));
      elseif issparse(a)
        c = clinalg.hosted.one(name, {a});
      else
        c = clinalg.array.shaped(clinalg_mex(mex, 0, hand(a)), size(a));
      end
    end

    function t = is_plain_sparse(a)
    % Whether it is a sparse matrix with elements, no band matrix.
      t = strcmp(kind_of(a), 'sparse') && prod(size(a)) > 1;
    end

    function c = triangle(a, name, given)
      given = clinalg.hosted.gathered(name, given);
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
  end
end
