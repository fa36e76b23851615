classdef elementwise < handle
%clinalg.elementwise  Functions of clinalg.array element by element.
%   +, -, .*, ./, .^, abs, exp, max of two arrays, ...: a row and a column or a matrix are expanded as in MATLAB. The operations wait until
%   their values are read, and run as one kernel then; explain(x) shows what waits. Where the device has no such function of
%   the operands, as of sparse matrices, MATLAB computes it: help clinalg.hosted.
%
%   Example:
%     x = clinalg.vector([1; 2; 3]);
%     y = exp(-x) .* 2 + 1;
%     explain(y)
%
%   See also clinalg.array, clinalg.shapes, clinalg.matrices, clinalg.hosted.

  methods
    function c = plus(a, b)
    %+  Sum.
      [c, known] = fused('plus', a, b);
      if ~known
        c = clinalg.operands.combined('plus', a, b, 1);
      end
    end

    function c = minus(a, b)
    %-  Difference.
      [c, known] = fused('minus', a, b);
      if ~known
        c = clinalg.operands.combined('minus', a, b, -1);
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
      clinalg.operands.check_classes('.*', a, b);
      [a, b] = clinalg.operands.numbers(a, b);
      if isnumeric(a) && ~isobject(a) && isscalar(a) && clinalg.operands.keeps_class(b, a)
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
      [c, known] = fused('rdivide', a, b);
      if known, return, end
      clinalg.operands.check_classes('./', a, b);
      if iscomplex(a) && isreal(b)
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
        c = clinalg.operands.promoted(a);
      elseif isequal(size(a), size(b)) && ~issparse(a) && ~issparse(b)
        dims = size(a);
        [a, b] = clinalg.operands.pair(a, b);
        c = clinalg.array.shaped(clinalg_mex('MexComplex', 0, a.h, b.h), dims);
      else
        c = clinalg.hosted.one('complex', {a, b});
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
      if ischar(f)
        f = str2func(f);
      end
      c = f(a, b);
    end
  end

  methods (Hidden)
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

    function c = part(a, name, mex)
      if issparse(a)
        c = clinalg.hosted.one(name, {a});
      else
        c = clinalg.array.shaped(clinalg_mex(mex, 0, hand(a)), size(a));
      end
    end
  end
end
