classdef (HandleCompatible) hosted
%clinalg.hosted  Functions of clinalg.array that compute in MATLAB's memory.
%   Each copies its arguments from the device, calls the function of the same name, and copies results back: their cost
%   is that of the copies. Numbers, logical arrays, positions, integers and texts stay in MATLAB's memory.
%   Sorting, searching and sets, special functions, statistics, transforms, filters, polynomials, interpolation, plots and printed text. ode45, ode23,
%   fsolve, fminsearch and fminunc call the function of the caller with arrays on the device.
%   help clinalg.operations lists what runs on the device itself.
%
%   Example:
%     x = clinalg.vector([3 1 2]);
%     [sorted, position] = sort(x);
%     gather(sorted), position
%
%   See also clinalg.array, clinalg.operations, clinalg.matrix.

  methods
    % Logic: a logical array in MATLAB's memory. The comparisons are in clinalg.array.

    function varargout = and(varargin)
    %&  Logical and, element by element.
      varargout = clinalg.hosted.call('and', nargout, 'H', varargin);
    end

    function varargout = or(varargin)
    %|  Logical or, element by element.
      varargout = clinalg.hosted.call('or', nargout, 'H', varargin);
    end

    function varargout = not(varargin)
    %~  Logical not, element by element.
      varargout = clinalg.hosted.call('not', nargout, 'H', varargin);
    end

    function varargout = xor(varargin)
    %xor  Exclusive or, element by element.
      varargout = clinalg.hosted.call('xor', nargout, 'H', varargin);
    end

    function varargout = any(varargin)
    %any  Whether an element of each column is not zero.
      varargout = clinalg.hosted.call('any', nargout, 'H', varargin);
    end

    function varargout = all(varargin)
    %all  Whether all elements of each column are not zero.
      varargout = clinalg.hosted.call('all', nargout, 'H', varargin);
    end

    function varargout = logical(varargin)
    %logical  The values as a logical array.
      varargout = clinalg.hosted.call('logical', nargout, 'H', varargin);
    end

    function varargout = isnan(varargin)
    %isnan  Which elements are NaN.
      varargout = clinalg.hosted.call('isnan', nargout, 'H', varargin);
    end

    function varargout = isinf(varargin)
    %isinf  Which elements are infinite.
      varargout = clinalg.hosted.call('isinf', nargout, 'H', varargin);
    end

    function varargout = isfinite(varargin)
    %isfinite  Which elements are finite.
      varargout = clinalg.hosted.call('isfinite', nargout, 'H', varargin);
    end

    function varargout = isequal(varargin)
    %isequal  Whether the values of all arguments are equal.
      varargout = clinalg.hosted.call('isequal', nargout, 'H', varargin);
    end

    function varargout = ismember(varargin)
    %ismember  Which elements are in a set.
      varargout = clinalg.hosted.call('ismember', nargout, 'H', varargin);
    end

    function varargout = issymmetric(varargin)
    %issymmetric  Whether it equals its transpose.
      varargout = clinalg.hosted.call('issymmetric', nargout, 'H', varargin);
    end

    function varargout = ishermitian(varargin)
    %ishermitian  Whether it equals its conjugate transpose.
      varargout = clinalg.hosted.call('ishermitian', nargout, 'H', varargin);
    end

    function varargout = isdefinite(varargin)
    %isdefinite  Whether it is positive definite.
      varargout = clinalg.hosted.call('isdefinite', nargout, 'H', varargin);
    end

    function varargout = isbanded(varargin)
    %isbanded  Whether nonzeros lie in a band.
      varargout = clinalg.hosted.call('isbanded', nargout, 'H', varargin);
    end

    function varargout = isdiag(varargin)
    %isdiag  Whether nonzeros lie on the main diagonal.
      varargout = clinalg.hosted.call('isdiag', nargout, 'H', varargin);
    end

    function varargout = istril(varargin)
    %istril  Whether it is lower triangular.
      varargout = clinalg.hosted.call('istril', nargout, 'H', varargin);
    end

    function varargout = istriu(varargin)
    %istriu  Whether it is upper triangular.
      varargout = clinalg.hosted.call('istriu', nargout, 'H', varargin);
    end

    function varargout = issorted(varargin)
    %issorted  Whether the elements are in order.
      varargout = clinalg.hosted.call('issorted', nargout, 'H', varargin);
    end

    function varargout = isna(varargin)
    %isna  Which elements are missing values.
      varargout = clinalg.hosted.call('isna', nargout, 'H', varargin);
    end

    function varargout = isprime(varargin)
    %isprime  Which elements are prime numbers.
      varargout = clinalg.hosted.call('isprime', nargout, 'H', varargin);
    end

    function varargout = signbit(varargin)
    %signbit  Whether the sign bit is set.
      varargout = clinalg.hosted.call('signbit', nargout, 'H', varargin);
    end

    % Positions and counts in MATLAB's memory.

    function varargout = find(varargin)
    %find  Positions of the elements that are not zero.
      varargout = clinalg.hosted.call('find', nargout, 'H', varargin);
    end

    function varargout = nzmax(varargin)
    %nzmax  Number of stored entries.
      varargout = clinalg.hosted.call('nzmax', nargout, 'H', varargin);
    end

    function varargout = colon(varargin)
    %colon  A range in MATLAB's memory.
      varargout = clinalg.hosted.call('colon', nargout, 'H', varargin);
    end

    function varargout = lookup(varargin)
    %lookup  Positions in a sorted table.
      varargout = clinalg.hosted.call('lookup', nargout, 'H', varargin);
    end

    function varargout = rank(varargin)
    %rank  Rank of a matrix.
      varargout = clinalg.hosted.call('rank', nargout, 'H', varargin);
    end

    function varargout = sub2ind(varargin)
    %sub2ind  Linear indices of subscripts.
      varargout = clinalg.hosted.call('sub2ind', nargout, 'H', varargin);
    end

    function varargout = ind2sub(varargin)
    %ind2sub  Subscripts of linear indices.
      varargout = clinalg.hosted.call('ind2sub', nargout, 'H', varargin);
    end

    function varargout = delaunay(varargin)
    %delaunay  Triangles of a Delaunay triangulation.
      varargout = clinalg.hosted.call('delaunay', nargout, 'H', varargin);
    end

    function varargout = convhull(varargin)
    %convhull  Convex hull.
      varargout = clinalg.hosted.call('convhull', nargout, 'H', varargin);
    end

    function varargout = amd(varargin)
    %amd  Order of the rows and columns with little fill-in, of a sparse matrix.
      varargout = clinalg.hosted.call('amd', nargout, 'H', varargin);
    end

    function varargout = colamd(varargin)
    %colamd  Order of the columns with little fill-in, of a sparse matrix.
      varargout = clinalg.hosted.call('colamd', nargout, 'H', varargin);
    end

    function varargout = symamd(varargin)
    %symamd  Order of the rows and columns with little fill-in, of a sparse symmetric matrix.
      varargout = clinalg.hosted.call('symamd', nargout, 'H', varargin);
    end

    function varargout = symrcm(varargin)
    %symrcm  Reverse Cuthill-McKee order of a sparse matrix.
      varargout = clinalg.hosted.call('symrcm', nargout, 'H', varargin);
    end

    function varargout = dmperm(varargin)
    %dmperm  Dulmage-Mendelsohn order of a sparse matrix.
      varargout = clinalg.hosted.call('dmperm', nargout, 'H', varargin);
    end

    function varargout = etree(varargin)
    %etree  Elimination tree of a sparse matrix.
      varargout = clinalg.hosted.call('etree', nargout, 'H', varargin);
    end

    function varargout = sprank(varargin)
    %sprank  Structural rank of a sparse matrix.
      varargout = clinalg.hosted.call('sprank', nargout, 'H', varargin);
    end

    % Other classes, in MATLAB's memory.

    function varargout = int8(varargin)
    %int8  Integers in MATLAB's memory.
      varargout = clinalg.hosted.call('int8', nargout, 'H', varargin);
    end

    function varargout = int16(varargin)
    %int16  Integers in MATLAB's memory.
      varargout = clinalg.hosted.call('int16', nargout, 'H', varargin);
    end

    function varargout = int32(varargin)
    %int32  Integers in MATLAB's memory.
      varargout = clinalg.hosted.call('int32', nargout, 'H', varargin);
    end

    function varargout = int64(varargin)
    %int64  Integers in MATLAB's memory.
      varargout = clinalg.hosted.call('int64', nargout, 'H', varargin);
    end

    function varargout = uint8(varargin)
    %uint8  Integers in MATLAB's memory.
      varargout = clinalg.hosted.call('uint8', nargout, 'H', varargin);
    end

    function varargout = uint16(varargin)
    %uint16  Integers in MATLAB's memory.
      varargout = clinalg.hosted.call('uint16', nargout, 'H', varargin);
    end

    function varargout = uint32(varargin)
    %uint32  Integers in MATLAB's memory.
      varargout = clinalg.hosted.call('uint32', nargout, 'H', varargin);
    end

    function varargout = uint64(varargin)
    %uint64  Integers in MATLAB's memory.
      varargout = clinalg.hosted.call('uint64', nargout, 'H', varargin);
    end

    function varargout = char(varargin)
    %char  Characters.
      varargout = clinalg.hosted.call('char', nargout, 'H', varargin);
    end

    function varargout = num2cell(varargin)
    %num2cell  A cell for each element.
      varargout = clinalg.hosted.call('num2cell', nargout, 'H', varargin);
    end

    function varargout = mat2cell(varargin)
    %mat2cell  Cells of parts.
      varargout = clinalg.hosted.call('mat2cell', nargout, 'H', varargin);
    end

    function varargout = typecast(varargin)
    %typecast  The bytes as another class.
      varargout = clinalg.hosted.call('typecast', nargout, 'D', varargin);
    end

    function varargout = swapbytes(varargin)
    %swapbytes  The bytes in reverse order.
      varargout = clinalg.hosted.call('swapbytes', nargout, 'D', varargin);
    end

    % Elementwise functions.

    function varargout = idivide(varargin)
    %idivide  Not for arrays on the device: integer division is for integer classes.
      varargout = clinalg.hosted.call('idivide', nargout, 'D', varargin);
    end

    function varargout = cbrt(varargin)
    %cbrt  Cube root.
      varargout = clinalg.hosted.call('cbrt', nargout, 'D', varargin);
    end

    function varargout = nthroot(varargin)
    %nthroot  Real root of an order.
      varargout = clinalg.hosted.call('nthroot', nargout, 'D', varargin);
    end

    function varargout = log1p(varargin)
    %log1p  log(1 + x).
      varargout = clinalg.hosted.call('log1p', nargout, 'D', varargin);
    end

    function varargout = log2(varargin)
    %log2  Base-2 logarithm.
      varargout = clinalg.hosted.call('log2', nargout, 'D', varargin);
    end

    function varargout = log10(varargin)
    %log10  Base-10 logarithm.
      varargout = clinalg.hosted.call('log10', nargout, 'D', varargin);
    end

    function varargout = sec(varargin)
    %sec  Secant.
      varargout = clinalg.hosted.call('sec', nargout, 'D', varargin);
    end

    function varargout = csc(varargin)
    %csc  Cosecant.
      varargout = clinalg.hosted.call('csc', nargout, 'D', varargin);
    end

    function varargout = cot(varargin)
    %cot  Cotangent.
      varargout = clinalg.hosted.call('cot', nargout, 'D', varargin);
    end

    function varargout = asin(varargin)
    %asin  Inverse sine.
      varargout = clinalg.hosted.call('asin', nargout, 'D', varargin);
    end

    function varargout = acos(varargin)
    %acos  Inverse cosine.
      varargout = clinalg.hosted.call('acos', nargout, 'D', varargin);
    end

    function varargout = acosh(varargin)
    %acosh  Inverse hyperbolic cosine.
      varargout = clinalg.hosted.call('acosh', nargout, 'D', varargin);
    end

    function varargout = atanh(varargin)
    %atanh  Inverse hyperbolic tangent.
      varargout = clinalg.hosted.call('atanh', nargout, 'D', varargin);
    end

    function varargout = sind(varargin)
    %sind  Sine of degrees.
      varargout = clinalg.hosted.call('sind', nargout, 'D', varargin);
    end

    function varargout = cosd(varargin)
    %cosd  Cosine of degrees.
      varargout = clinalg.hosted.call('cosd', nargout, 'D', varargin);
    end

    function varargout = tand(varargin)
    %tand  Tangent of degrees.
      varargout = clinalg.hosted.call('tand', nargout, 'D', varargin);
    end

    function varargout = deg2rad(varargin)
    %deg2rad  Degrees to radians.
      varargout = clinalg.hosted.call('deg2rad', nargout, 'D', varargin);
    end

    function varargout = rad2deg(varargin)
    %rad2deg  Radians to degrees.
      varargout = clinalg.hosted.call('rad2deg', nargout, 'D', varargin);
    end

    function varargout = gamma(varargin)
    %gamma  Gamma function.
      varargout = clinalg.hosted.call('gamma', nargout, 'D', varargin);
    end

    function varargout = gammaln(varargin)
    %gammaln  Logarithm of the gamma function.
      varargout = clinalg.hosted.call('gammaln', nargout, 'D', varargin);
    end

    function varargout = erf(varargin)
    %erf  Error function.
      varargout = clinalg.hosted.call('erf', nargout, 'D', varargin);
    end

    function varargout = erfc(varargin)
    %erfc  Complementary error function.
      varargout = clinalg.hosted.call('erfc', nargout, 'D', varargin);
    end

    function varargout = erfinv(varargin)
    %erfinv  Inverse error function.
      varargout = clinalg.hosted.call('erfinv', nargout, 'D', varargin);
    end

    function varargout = gcd(varargin)
    %gcd  Greatest common divisor.
      varargout = clinalg.hosted.call('gcd', nargout, 'D', varargin);
    end

    function varargout = lcm(varargin)
    %lcm  Least common multiple.
      varargout = clinalg.hosted.call('lcm', nargout, 'D', varargin);
    end

    function varargout = eps(varargin)
    %eps  Distance to the next larger number.
      varargout = clinalg.hosted.call('eps', nargout, 'D', varargin);
    end

    function varargout = sinc(varargin)
    %sinc  sin(pi x) / (pi x).
      varargout = clinalg.hosted.call('sinc', nargout, 'D', varargin);
    end

    function varargout = bitand(varargin)
    %bitand  Bitwise and.
      varargout = clinalg.hosted.call('bitand', nargout, 'D', varargin);
    end

    function varargout = bitor(varargin)
    %bitor  Bitwise or.
      varargout = clinalg.hosted.call('bitor', nargout, 'D', varargin);
    end

    function varargout = bitxor(varargin)
    %bitxor  Bitwise exclusive or.
      varargout = clinalg.hosted.call('bitxor', nargout, 'D', varargin);
    end

    function varargout = bitshift(varargin)
    %bitshift  Bits shifted.
      varargout = clinalg.hosted.call('bitshift', nargout, 'D', varargin);
    end

    function varargout = bitset(varargin)
    %bitset  A bit set.
      varargout = clinalg.hosted.call('bitset', nargout, 'D', varargin);
    end

    function varargout = bitget(varargin)
    %bitget  A bit.
      varargout = clinalg.hosted.call('bitget', nargout, 'D', varargin);
    end

    function varargout = lgamma(varargin)
    %lgamma  Logarithm of the gamma function.
      varargout = clinalg.hosted.call('lgamma', nargout, 'D', varargin);
    end

    function varargout = gammainc(varargin)
    %gammainc  Incomplete gamma function.
      varargout = clinalg.hosted.call('gammainc', nargout, 'D', varargin);
    end

    function varargout = betainc(varargin)
    %betainc  Incomplete beta function.
      varargout = clinalg.hosted.call('betainc', nargout, 'D', varargin);
    end

    function varargout = psi(varargin)
    %psi  Digamma and polygamma functions.
      varargout = clinalg.hosted.call('psi', nargout, 'D', varargin);
    end

    function varargout = erfcinv(varargin)
    %erfcinv  Inverse complementary error function.
      varargout = clinalg.hosted.call('erfcinv', nargout, 'D', varargin);
    end

    function varargout = erfcx(varargin)
    %erfcx  Scaled complementary error function.
      varargout = clinalg.hosted.call('erfcx', nargout, 'D', varargin);
    end

    function varargout = expint(varargin)
    %expint  Exponential integral.
      varargout = clinalg.hosted.call('expint', nargout, 'D', varargin);
    end

    function varargout = cosint(varargin)
    %cosint  Cosine integral.
      varargout = clinalg.hosted.call('cosint', nargout, 'D', varargin);
    end

    function varargout = sinint(varargin)
    %sinint  Sine integral.
      varargout = clinalg.hosted.call('sinint', nargout, 'D', varargin);
    end

    function varargout = ellipke(varargin)
    %ellipke  Complete elliptic integrals.
      varargout = clinalg.hosted.call('ellipke', nargout, 'D', varargin);
    end

    function varargout = ellipj(varargin)
    %ellipj  Jacobi elliptic functions.
      varargout = clinalg.hosted.call('ellipj', nargout, 'D', varargin);
    end

    function varargout = legendre(varargin)
    %legendre  Associated Legendre functions.
      varargout = clinalg.hosted.call('legendre', nargout, 'D', varargin);
    end

    function varargout = besselj(varargin)
    %besselj  Bessel function of the first kind.
      varargout = clinalg.hosted.call('besselj', nargout, 'D', varargin);
    end

    function varargout = bessely(varargin)
    %bessely  Bessel function of the second kind.
      varargout = clinalg.hosted.call('bessely', nargout, 'D', varargin);
    end

    function varargout = besseli(varargin)
    %besseli  Modified Bessel function of the first kind.
      varargout = clinalg.hosted.call('besseli', nargout, 'D', varargin);
    end

    function varargout = besselk(varargin)
    %besselk  Modified Bessel function of the second kind.
      varargout = clinalg.hosted.call('besselk', nargout, 'D', varargin);
    end

    function varargout = besselh(varargin)
    %besselh  Hankel function.
      varargout = clinalg.hosted.call('besselh', nargout, 'D', varargin);
    end

    function varargout = airy(varargin)
    %airy  Airy functions.
      varargout = clinalg.hosted.call('airy', nargout, 'D', varargin);
    end

    function varargout = bincoeff(varargin)
    %bincoeff  Binomial coefficients.
      varargout = clinalg.hosted.call('bincoeff', nargout, 'D', varargin);
    end

    % Reductions and running results.

    function varargout = sumsq(varargin)
    %sumsq  Sum of squares along a dimension.
      varargout = clinalg.hosted.call('sumsq', nargout, 'D', varargin);
    end

    function varargout = mean(varargin)
    %mean  Mean along a dimension.
      varargout = clinalg.hosted.call('mean', nargout, 'D', varargin);
    end

    function varargout = median(varargin)
    %median  Median along a dimension.
      varargout = clinalg.hosted.call('median', nargout, 'D', varargin);
    end

    function varargout = mode(varargin)
    %mode  Most frequent value along a dimension.
      varargout = clinalg.hosted.call('mode', nargout, 'D', varargin);
    end

    function varargout = std(varargin)
    %std  Standard deviation along a dimension.
      varargout = clinalg.hosted.call('std', nargout, 'D', varargin);
    end

    function varargout = var(varargin)
    %var  Variance along a dimension.
      varargout = clinalg.hosted.call('var', nargout, 'D', varargin);
    end

    function varargout = range(varargin)
    %range  Largest less smallest value along a dimension.
      varargout = clinalg.hosted.call('range', nargout, 'D', varargin);
    end

    function varargout = cumsum(varargin)
    %cumsum  Running sum.
      varargout = clinalg.hosted.call('cumsum', nargout, 'D', varargin);
    end

    function varargout = cumprod(varargin)
    %cumprod  Running product.
      varargout = clinalg.hosted.call('cumprod', nargout, 'D', varargin);
    end

    function varargout = diff(varargin)
    %diff  Differences of neighbours.
      varargout = clinalg.hosted.call('diff', nargout, 'D', varargin);
    end

    function varargout = trapz(varargin)
    %trapz  Integral by the trapezoidal rule.
      varargout = clinalg.hosted.call('trapz', nargout, 'D', varargin);
    end

    function varargout = cumtrapz(varargin)
    %cumtrapz  Running integral by the trapezoidal rule.
      varargout = clinalg.hosted.call('cumtrapz', nargout, 'D', varargin);
    end

    function varargout = quantile(varargin)
    %quantile  Quantiles along a dimension.
      varargout = clinalg.hosted.call('quantile', nargout, 'D', varargin);
    end

    function varargout = prctile(varargin)
    %prctile  Percentiles along a dimension.
      varargout = clinalg.hosted.call('prctile', nargout, 'D', varargin);
    end

    function varargout = iqr(varargin)
    %iqr  Interquartile range.
      varargout = clinalg.hosted.call('iqr', nargout, 'D', varargin);
    end

    function varargout = statistics(varargin)
    %statistics  Smallest value, quartiles, largest value, mean and further moments.
      varargout = clinalg.hosted.call('statistics', nargout, 'D', varargin);
    end

    function varargout = movmean(varargin)
    %movmean  Moving mean.
      varargout = clinalg.hosted.call('movmean', nargout, 'D', varargin);
    end

    function varargout = movmedian(varargin)
    %movmedian  Moving median.
      varargout = clinalg.hosted.call('movmedian', nargout, 'D', varargin);
    end

    % Reductions whose further outputs are positions, which stay in MATLAB's memory.

    function varargout = cummax(varargin)
    %cummax  Running maximum.
      varargout = clinalg.hosted.call('cummax', nargout, 'D1', varargin);
    end

    function varargout = cummin(varargin)
    %cummin  Running minimum.
      varargout = clinalg.hosted.call('cummin', nargout, 'D1', varargin);
    end

    function varargout = sort(varargin)
    %sort  Sorted along a dimension.
      varargout = clinalg.hosted.call('sort', nargout, 'D1', varargin);
    end

    function varargout = sortrows(varargin)
    %sortrows  Rows in order.
      varargout = clinalg.hosted.call('sortrows', nargout, 'D1', varargin);
    end

    function varargout = unique(varargin)
    %unique  Different values in order.
      varargout = clinalg.hosted.call('unique', nargout, 'D1', varargin);
    end

    function varargout = union(varargin)
    %union  Values in either of two sets.
      varargout = clinalg.hosted.call('union', nargout, 'D1', varargin);
    end

    function varargout = intersect(varargin)
    %intersect  Values in both of two sets.
      varargout = clinalg.hosted.call('intersect', nargout, 'D1', varargin);
    end

    function varargout = setdiff(varargin)
    %setdiff  Values of a set that are not in another.
      varargout = clinalg.hosted.call('setdiff', nargout, 'D1', varargin);
    end

    function varargout = histc(varargin)
    %histc  Counts of values between edges.
      varargout = clinalg.hosted.call('histc', nargout, 'D1', varargin);
    end

    % Shapes.

    function varargout = permute(varargin)
    %permute  The dimensions in another order.
      varargout = clinalg.hosted.call('permute', nargout, 'D', varargin);
    end

    function varargout = ipermute(varargin)
    %ipermute  The inverse of permute.
      varargout = clinalg.hosted.call('ipermute', nargout, 'D', varargin);
    end

    function varargout = squeeze(varargin)
    %squeeze  Without dimensions of length 1.
      varargout = clinalg.hosted.call('squeeze', nargout, 'D', varargin);
    end

    function varargout = kron(varargin)
    %kron  Kronecker product.
      varargout = clinalg.hosted.call('kron', nargout, 'D', varargin);
    end

    function varargout = circshift(varargin)
    %circshift  Shifted around.
      varargout = clinalg.hosted.call('circshift', nargout, 'D', varargin);
    end

    function varargout = rot90(varargin)
    %rot90  Rotated by right angles.
      varargout = clinalg.hosted.call('rot90', nargout, 'D', varargin);
    end

    function varargout = vec(varargin)
    %vec  All values in a column.
      varargout = clinalg.hosted.call('vec', nargout, 'D', varargin);
    end

    function varargout = blkdiag(varargin)
    %blkdiag  Matrices along a diagonal.
      varargout = clinalg.hosted.call('blkdiag', nargout, 'D', varargin);
    end

    function varargout = meshgrid(varargin)
    %meshgrid  Coordinates of a grid.
      varargout = clinalg.hosted.call('meshgrid', nargout, 'D', varargin);
    end

    function varargout = ndgrid(varargin)
    %ndgrid  Coordinates of a grid.
      varargout = clinalg.hosted.call('ndgrid', nargout, 'D', varargin);
    end

    function varargout = toeplitz(varargin)
    %toeplitz  Matrix with constant diagonals.
      varargout = clinalg.hosted.call('toeplitz', nargout, 'D', varargin);
    end

    function varargout = hankel(varargin)
    %hankel  Matrix with constant antidiagonals.
      varargout = clinalg.hosted.call('hankel', nargout, 'D', varargin);
    end

    function varargout = vander(varargin)
    %vander  Vandermonde matrix.
      varargout = clinalg.hosted.call('vander', nargout, 'D', varargin);
    end

    function varargout = merge(varargin)
    %merge  Elements of one array or of another.
      varargout = clinalg.hosted.call('merge', nargout, 'D', varargin);
    end

    function varargout = resize(varargin)
    %resize  In another size, filled up with zeros.
      varargout = clinalg.hosted.call('resize', nargout, 'D', varargin);
    end

    function varargout = accumarray(varargin)
    %accumarray  Sums by subscripts.
      varargout = clinalg.hosted.call('accumarray', nargout, 'D', varargin);
    end

    function varargout = repelem(varargin)
    %repelem  Each element several times.
      varargout = clinalg.hosted.call('repelem', nargout, 'D', varargin);
    end

    function varargout = vech(varargin)
    %vech  Lower triangle in a column.
      varargout = clinalg.hosted.call('vech', nargout, 'D', varargin);
    end

    function varargout = perms(varargin)
    %perms  All permutations.
      varargout = clinalg.hosted.call('perms', nargout, 'D', varargin);
    end

    function varargout = nchoosek(varargin)
    %nchoosek  Binomial coefficient, or all choices.
      varargout = clinalg.hosted.call('nchoosek', nargout, 'D', varargin);
    end

    function varargout = accumdim(varargin)
    %accumdim  Sums along a dimension by subscripts.
      varargout = clinalg.hosted.call('accumdim', nargout, 'D', varargin);
    end

    function varargout = compan(varargin)
    %compan  Companion matrix.
      varargout = clinalg.hosted.call('compan', nargout, 'D', varargin);
    end

    % Matrices.

    function varargout = mpower(varargin)
    %^  Power of a square matrix.
      varargout = clinalg.hosted.call('mpower', nargout, 'D', varargin);
    end

    function varargout = pinv(varargin)
    %pinv  Pseudoinverse.
      varargout = clinalg.hosted.call('pinv', nargout, 'D', varargin);
    end

    function varargout = trace(varargin)
    %trace  Sum of the diagonal.
      varargout = clinalg.hosted.call('trace', nargout, 'D', varargin);
    end

    function varargout = eig(varargin)
    %eig  Eigenvalues and eigenvectors.
      varargout = clinalg.hosted.call('eig', nargout, 'D', varargin);
    end

    function varargout = svd(varargin)
    %svd  Singular values and vectors.
      varargout = clinalg.hosted.call('svd', nargout, 'D', varargin);
    end

    function varargout = schur(varargin)
    %schur  Schur decomposition.
      varargout = clinalg.hosted.call('schur', nargout, 'D', varargin);
    end

    function varargout = hess(varargin)
    %hess  Hessenberg form.
      varargout = clinalg.hosted.call('hess', nargout, 'D', varargin);
    end

    function varargout = expm(varargin)
    %expm  Matrix exponential.
      varargout = clinalg.hosted.call('expm', nargout, 'D', varargin);
    end

    function varargout = logm(varargin)
    %logm  Matrix logarithm.
      varargout = clinalg.hosted.call('logm', nargout, 'D', varargin);
    end

    function varargout = sqrtm(varargin)
    %sqrtm  Matrix square root.
      varargout = clinalg.hosted.call('sqrtm', nargout, 'D', varargin);
    end

    function varargout = null(varargin)
    %null  Basis of the null space.
      varargout = clinalg.hosted.call('null', nargout, 'D', varargin);
    end

    function varargout = orth(varargin)
    %orth  Basis of the range.
      varargout = clinalg.hosted.call('orth', nargout, 'D', varargin);
    end

    function varargout = normest(varargin)
    %normest  Estimate of the 2-norm.
      varargout = clinalg.hosted.call('normest', nargout, 'H', varargin);
    end

    function varargout = cond(varargin)
    %cond  Condition number.
      varargout = clinalg.hosted.call('cond', nargout, 'D', varargin);
    end

    function varargout = rcond(varargin)
    %rcond  Estimate of the reciprocal condition number.
      varargout = clinalg.hosted.call('rcond', nargout, 'D', varargin);
    end

    function varargout = cross(varargin)
    %cross  Cross product.
      varargout = clinalg.hosted.call('cross', nargout, 'D', varargin);
    end

    function varargout = spdiags(varargin)
    %spdiags  Diagonals of a sparse matrix.
      varargout = clinalg.hosted.call('spdiags', nargout, 'D', varargin);
    end

    function varargout = balance(varargin)
    %balance  Balanced matrix.
      varargout = clinalg.hosted.call('balance', nargout, 'D', varargin);
    end

    function varargout = qz(varargin)
    %qz  Generalised Schur decomposition.
      varargout = clinalg.hosted.call('qz', nargout, 'D', varargin);
    end

    function varargout = svds(varargin)
    %svds  A few singular values and vectors.
      varargout = clinalg.hosted.call('svds', nargout, 'D', varargin);
    end

    function varargout = sylvester(varargin)
    %sylvester  Solution of A X + X B = C.
      varargout = clinalg.hosted.call('sylvester', nargout, 'D', varargin);
    end

    % Transforms, filters, polynomials and interpolation.

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

    function varargout = fftn(varargin)
    %fftn  Fourier transform in all dimensions.
      varargout = clinalg.hosted.call('fftn', nargout, 'D', varargin);
    end

    function varargout = ifftn(varargin)
    %ifftn  Inverse Fourier transform in all dimensions.
      varargout = clinalg.hosted.call('ifftn', nargout, 'D', varargin);
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

    function varargout = fftconv(varargin)
    %fftconv  Convolution by Fourier transforms.
      varargout = clinalg.hosted.call('fftconv', nargout, 'D', varargin);
    end

    function varargout = roots(varargin)
    %roots  Roots of a polynomial.
      varargout = clinalg.hosted.call('roots', nargout, 'D', varargin);
    end

    function varargout = polyvalm(varargin)
    %polyvalm  Polynomial of a matrix.
      varargout = clinalg.hosted.call('polyvalm', nargout, 'D', varargin);
    end

    function varargout = residue(varargin)
    %residue  Partial fractions.
      varargout = clinalg.hosted.call('residue', nargout, 'D', varargin);
    end

    function varargout = spline(varargin)
    %spline  Interpolation by cubic splines.
      varargout = clinalg.hosted.call('spline', nargout, 'D', varargin);
    end

    function varargout = pchip(varargin)
    %pchip  Interpolation by monotone cubics.
      varargout = clinalg.hosted.call('pchip', nargout, 'D', varargin);
    end

    function varargout = interp1(varargin)
    %interp1  Interpolation in a table.
      varargout = clinalg.hosted.call('interp1', nargout, 'D', varargin);
    end

    function varargout = interp2(varargin)
    %interp2  Interpolation in a grid.
      varargout = clinalg.hosted.call('interp2', nargout, 'D', varargin);
    end

    function varargout = interpn(varargin)
    %interpn  Interpolation in a grid of any number of dimensions.
      varargout = clinalg.hosted.call('interpn', nargout, 'D', varargin);
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

    % Differential equations, nonlinear equations and minimisation: the function of the caller takes and gives arrays on the device.

    function varargout = ode45(varargin)
    %ode45  Differential equations y' = f(t, y) with y on the device in f; t and y of the result are in MATLAB's memory. clinalg.ode
    % integrates on the device.
      varargout = clinalg.hosted.with_function('ode45', nargout, varargin, 3, 2);
    end

    function varargout = ode23(varargin)
    %ode23  As ode45, of a lower order.
      varargout = clinalg.hosted.with_function('ode23', nargout, varargin, 3, 2);
    end

    function varargout = fsolve(varargin)
    %fsolve  Solution of f(x) = 0 with x on the device in f.
      varargout = clinalg.hosted.with_function('fsolve', max(nargout, 1), varargin, 2, 1);
    end

    function varargout = fminsearch(varargin)
    %fminsearch  Minimum of f(x) by a simplex method, with x on the device in f.
      varargout = clinalg.hosted.with_function('fminsearch', max(nargout, 1), varargin, 2, 1);
    end

    function varargout = fminunc(varargin)
    %fminunc  Minimum of f(x) by quasi-Newton steps, with x on the device in f.
      varargout = clinalg.hosted.with_function('fminunc', max(nargout, 1), varargin, 2, 1);
    end

    function varargout = ode15s(varargin) %#ok<STOUT>
    %ode15s  Not for arrays on the device.
      clinalg.hosted.not_on_device('ode15s', 'ode45, clinalg.ode, or ode15s of gather(y0)');
    end

    function varargout = ode15i(varargin) %#ok<STOUT>
    %ode15i  Not for arrays on the device.
      clinalg.hosted.not_on_device('ode15i', 'ode15i of gather(y0)');
    end

    function varargout = ode23s(varargin) %#ok<STOUT>
    %ode23s  Not for arrays on the device.
      clinalg.hosted.not_on_device('ode23s', 'ode45, clinalg.ode, or ode23s of gather(y0)');
    end

    function varargout = lsode(varargin) %#ok<STOUT>
    %lsode  Not for arrays on the device.
      clinalg.hosted.not_on_device('lsode', 'ode45, clinalg.ode, or lsode of gather(y0)');
    end

    function varargout = fzero(varargin) %#ok<STOUT>
    %fzero  Not for arrays on the device.
      clinalg.hosted.not_on_device('fzero', 'fsolve, or fzero of gather(x0)');
    end

    function varargout = fminbnd(varargin) %#ok<STOUT>
    %fminbnd  Not for arrays on the device.
      clinalg.hosted.not_on_device('fminbnd', 'numbers as limits, gather(a)');
    end

    function varargout = sqp(varargin) %#ok<STOUT>
    %sqp  Not for arrays on the device.
      clinalg.hosted.not_on_device('sqp', 'fminunc, or sqp of gather(x0)');
    end

    function varargout = lsqnonneg(varargin) %#ok<STOUT>
    %lsqnonneg  Not for arrays on the device.
      clinalg.hosted.not_on_device('lsqnonneg', 'lsqnonneg(gather(A), gather(b)); A \ b has no bounds');
    end

    % What is on the device by another name.

    function varargout = ilu(varargin) %#ok<STOUT>
    %ilu  Not of arrays on the device: clinalg.ilu.
      clinalg.hosted.not_on_device('ilu', 'clinalg.ilu(A), clinalg.precond(A, ''ilu''), or ilu(gather(A))');
    end

    function varargout = ichol(varargin) %#ok<STOUT>
    %ichol  Not of arrays on the device: clinalg.ichol.
      clinalg.hosted.not_on_device('ichol', 'clinalg.ichol(A), clinalg.precond(A, ''ic''), or ichol(gather(A))');
    end

    % Plots and printed text.

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

    function varargout = dec2bin(varargin)
    %dec2bin  The numbers as text, binary.
      varargout = clinalg.hosted.call('dec2bin', nargout, 'H', varargin);
    end

    function varargout = dec2hex(varargin)
    %dec2hex  The numbers as text, hexadecimal.
      varargout = clinalg.hosted.call('dec2hex', nargout, 'H', varargin);
    end

    function varargout = rat(varargin)
    %rat  Approximation by fractions, as text or as numerators and denominators.
      varargout = clinalg.hosted.call('rat', nargout, 'D', varargin);
    end

    function varargout = rats(varargin)
    %rats  Approximation by fractions, as text.
      varargout = clinalg.hosted.call('rats', nargout, 'H', varargin);
    end

    function varargout = jsonencode(varargin)
    %jsonencode  JSON text.
      varargout = clinalg.hosted.call('jsonencode', nargout, 'H', varargin);
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

    % The functions below are those of MATLAB or Octave of the same name, whose help says what they do.

    % Logic and checks: logical arrays in MATLAB's memory.

    function varargout = isequaln(varargin), varargout = clinalg.hosted.call('isequaln', nargout, 'H', varargin); end
    function varargout = isequalwithequalnans(varargin), varargout = clinalg.hosted.call('isequalwithequalnans', nargout, 'H', varargin); end
    function varargout = isindex(varargin), varargout = clinalg.hosted.call('isindex', nargout, 'H', varargin); end
    function varargout = inpolygon(varargin), varargout = clinalg.hosted.call('inpolygon', nargout, 'H', varargin); end

    % Positions, texts and arrays in MATLAB's memory.

    function varargout = bandwidth(varargin), varargout = clinalg.hosted.call('bandwidth', nargout, 'H', varargin); end
    function varargout = cell(varargin), varargout = clinalg.hosted.call('cell', nargout, 'H', varargin); end
    function varargout = magic(varargin), varargout = clinalg.hosted.call('magic', nargout, 'H', varargin); end
    function varargout = hilb(varargin), varargout = clinalg.hosted.call('hilb', nargout, 'H', varargin); end
    function varargout = invhilb(varargin), varargout = clinalg.hosted.call('invhilb', nargout, 'H', varargin); end
    function varargout = hadamard(varargin), varargout = clinalg.hosted.call('hadamard', nargout, 'H', varargin); end
    function varargout = gallery(varargin), varargout = clinalg.hosted.call('gallery', nargout, 'H', varargin); end
    function varargout = randi(varargin), varargout = clinalg.hosted.call('randi', nargout, 'H', varargin); end
    function varargout = rande(varargin), varargout = clinalg.hosted.call('rande', nargout, 'H', varargin); end
    function varargout = randg(varargin), varargout = clinalg.hosted.call('randg', nargout, 'H', varargin); end
    function varargout = randp(varargin), varargout = clinalg.hosted.call('randp', nargout, 'H', varargin); end
    function varargout = randperm(varargin), varargout = clinalg.hosted.call('randperm', nargout, 'H', varargin); end
    function varargout = primes(varargin), varargout = clinalg.hosted.call('primes', nargout, 'H', varargin); end
    function varargout = list_primes(varargin), varargout = clinalg.hosted.call('list_primes', nargout, 'H', varargin); end
    function varargout = true(varargin), varargout = clinalg.hosted.call('true', nargout, 'H', varargin); end
    function varargout = false(varargin), varargout = clinalg.hosted.call('false', nargout, 'H', varargin); end
    function varargout = blanks(varargin), varargout = clinalg.hosted.call('blanks', nargout, 'H', varargin); end
    function varargout = num2hex(varargin), varargout = clinalg.hosted.call('num2hex', nargout, 'H', varargin); end
    function varargout = cellslices(varargin), varargout = clinalg.hosted.call('cellslices', nargout, 'H', varargin); end
    function varargout = matrix_type(varargin), varargout = clinalg.hosted.call('matrix_type', nargout, 'H', varargin); end
    function varargout = delaunayn(varargin), varargout = clinalg.hosted.call('delaunayn', nargout, 'H', varargin); end
    function varargout = convhulln(varargin), varargout = clinalg.hosted.call('convhulln', nargout, 'H', varargin); end
    function varargout = tsearch(varargin), varargout = clinalg.hosted.call('tsearch', nargout, 'H', varargin); end
    function varargout = tsearchn(varargin), varargout = clinalg.hosted.call('tsearchn', nargout, 'H', varargin); end
    function varargout = dsearch(varargin), varargout = clinalg.hosted.call('dsearch', nargout, 'H', varargin); end
    function varargout = dsearchn(varargin), varargout = clinalg.hosted.call('dsearchn', nargout, 'H', varargin); end

    % Elementwise and special functions.

    function varargout = acosd(varargin), varargout = clinalg.hosted.call('acosd', nargout, 'D', varargin); end
    function varargout = asind(varargin), varargout = clinalg.hosted.call('asind', nargout, 'D', varargin); end
    function varargout = atand(varargin), varargout = clinalg.hosted.call('atand', nargout, 'D', varargin); end
    function varargout = atan2d(varargin), varargout = clinalg.hosted.call('atan2d', nargout, 'D', varargin); end
    function varargout = acot(varargin), varargout = clinalg.hosted.call('acot', nargout, 'D', varargin); end
    function varargout = acotd(varargin), varargout = clinalg.hosted.call('acotd', nargout, 'D', varargin); end
    function varargout = acoth(varargin), varargout = clinalg.hosted.call('acoth', nargout, 'D', varargin); end
    function varargout = acsc(varargin), varargout = clinalg.hosted.call('acsc', nargout, 'D', varargin); end
    function varargout = acscd(varargin), varargout = clinalg.hosted.call('acscd', nargout, 'D', varargin); end
    function varargout = acsch(varargin), varargout = clinalg.hosted.call('acsch', nargout, 'D', varargin); end
    function varargout = asec(varargin), varargout = clinalg.hosted.call('asec', nargout, 'D', varargin); end
    function varargout = asecd(varargin), varargout = clinalg.hosted.call('asecd', nargout, 'D', varargin); end
    function varargout = asech(varargin), varargout = clinalg.hosted.call('asech', nargout, 'D', varargin); end
    function varargout = cospi(varargin), varargout = clinalg.hosted.call('cospi', nargout, 'D', varargin); end
    function varargout = sinpi(varargin), varargout = clinalg.hosted.call('sinpi', nargout, 'D', varargin); end
    function varargout = cotd(varargin), varargout = clinalg.hosted.call('cotd', nargout, 'D', varargin); end
    function varargout = coth(varargin), varargout = clinalg.hosted.call('coth', nargout, 'D', varargin); end
    function varargout = cscd(varargin), varargout = clinalg.hosted.call('cscd', nargout, 'D', varargin); end
    function varargout = csch(varargin), varargout = clinalg.hosted.call('csch', nargout, 'D', varargin); end
    function varargout = secd(varargin), varargout = clinalg.hosted.call('secd', nargout, 'D', varargin); end
    function varargout = sech(varargin), varargout = clinalg.hosted.call('sech', nargout, 'D', varargin); end
    function varargout = dawson(varargin), varargout = clinalg.hosted.call('dawson', nargout, 'D', varargin); end
    function varargout = erfi(varargin), varargout = clinalg.hosted.call('erfi', nargout, 'D', varargin); end
    function varargout = beta(varargin), varargout = clinalg.hosted.call('beta', nargout, 'D', varargin); end
    function varargout = betaln(varargin), varargout = clinalg.hosted.call('betaln', nargout, 'D', varargin); end
    function varargout = betaincinv(varargin), varargout = clinalg.hosted.call('betaincinv', nargout, 'D', varargin); end
    function varargout = gammaincinv(varargin), varargout = clinalg.hosted.call('gammaincinv', nargout, 'D', varargin); end
    function varargout = bitcmp(varargin), varargout = clinalg.hosted.call('bitcmp', nargout, 'D', varargin); end
    function varargout = factor(varargin), varargout = clinalg.hosted.call('factor', nargout, 'D', varargin); end
    function varargout = factorial(varargin), varargout = clinalg.hosted.call('factorial', nargout, 'D', varargin); end
    function varargout = nextpow2(varargin), varargout = clinalg.hosted.call('nextpow2', nargout, 'D', varargin); end
    function varargout = pow2(varargin), varargout = clinalg.hosted.call('pow2', nargout, 'D', varargin); end
    function varargout = realpow(varargin), varargout = clinalg.hosted.call('realpow', nargout, 'D', varargin); end
    function varargout = reallog(varargin), varargout = clinalg.hosted.call('reallog', nargout, 'D', varargin); end
    function varargout = realsqrt(varargin), varargout = clinalg.hosted.call('realsqrt', nargout, 'D', varargin); end
    function varargout = ifelse(varargin), varargout = clinalg.hosted.call('ifelse', nargout, 'D', varargin); end
    function varargout = common_size(varargin), varargout = clinalg.hosted.call('common_size', nargout, 'D', varargin); end
    function varargout = cart2pol(varargin), varargout = clinalg.hosted.call('cart2pol', nargout, 'D', varargin); end
    function varargout = cart2sph(varargin), varargout = clinalg.hosted.call('cart2sph', nargout, 'D', varargin); end
    function varargout = pol2cart(varargin), varargout = clinalg.hosted.call('pol2cart', nargout, 'D', varargin); end
    function varargout = sph2cart(varargin), varargout = clinalg.hosted.call('sph2cart', nargout, 'D', varargin); end

    % Statistics.

    function varargout = movsum(varargin), varargout = clinalg.hosted.call('movsum', nargout, 'D', varargin); end
    function varargout = movmax(varargin), varargout = clinalg.hosted.call('movmax', nargout, 'D', varargin); end
    function varargout = movmin(varargin), varargout = clinalg.hosted.call('movmin', nargout, 'D', varargin); end
    function varargout = movprod(varargin), varargout = clinalg.hosted.call('movprod', nargout, 'D', varargin); end
    function varargout = movstd(varargin), varargout = clinalg.hosted.call('movstd', nargout, 'D', varargin); end
    function varargout = movvar(varargin), varargout = clinalg.hosted.call('movvar', nargout, 'D', varargin); end
    function varargout = movmad(varargin), varargout = clinalg.hosted.call('movmad', nargout, 'D', varargin); end
    function varargout = movrange(varargin), varargout = clinalg.hosted.call('movrange', nargout, 'D', varargin); end
    function varargout = meansq(varargin), varargout = clinalg.hosted.call('meansq', nargout, 'D', varargin); end
    function varargout = moment(varargin), varargout = clinalg.hosted.call('moment', nargout, 'D', varargin); end
    function varargout = skewness(varargin), varargout = clinalg.hosted.call('skewness', nargout, 'D', varargin); end
    function varargout = kurtosis(varargin), varargout = clinalg.hosted.call('kurtosis', nargout, 'D', varargin); end
    function varargout = mad(varargin), varargout = clinalg.hosted.call('mad', nargout, 'D', varargin); end
    function varargout = center(varargin), varargout = clinalg.hosted.call('center', nargout, 'D', varargin); end
    function varargout = zscore(varargin), varargout = clinalg.hosted.call('zscore', nargout, 'D', varargin); end
    function varargout = corr(varargin), varargout = clinalg.hosted.call('corr', nargout, 'D', varargin); end
    function varargout = corrcoef(varargin), varargout = clinalg.hosted.call('corrcoef', nargout, 'D', varargin); end
    function varargout = ranks(varargin), varargout = clinalg.hosted.call('ranks', nargout, 'D', varargin); end
    function varargout = bounds(varargin), varargout = clinalg.hosted.call('bounds', nargout, 'D', varargin); end
    function varargout = rescale(varargin), varargout = clinalg.hosted.call('rescale', nargout, 'D', varargin); end
    function varargout = vecnorm(varargin), varargout = clinalg.hosted.call('vecnorm', nargout, 'D', varargin); end
    function varargout = uniquetol(varargin), varargout = clinalg.hosted.call('uniquetol', nargout, 'D', varargin); end
    function varargout = setxor(varargin), varargout = clinalg.hosted.call('setxor', nargout, 'D', varargin); end
    function varargout = nth_element(varargin), varargout = clinalg.hosted.call('nth_element', nargout, 'D', varargin); end

    % Shapes.

    function varargout = flipdim(varargin), varargout = clinalg.hosted.call('flipdim', nargout, 'D', varargin); end
    function varargout = shift(varargin), varargout = clinalg.hosted.call('shift', nargout, 'D', varargin); end
    function varargout = shiftdim(varargin), varargout = clinalg.hosted.call('shiftdim', nargout, 'D', varargin); end
    function varargout = postpad(varargin), varargout = clinalg.hosted.call('postpad', nargout, 'D', varargin); end
    function varargout = prepad(varargin), varargout = clinalg.hosted.call('prepad', nargout, 'D', varargin); end
    function varargout = rotdim(varargin), varargout = clinalg.hosted.call('rotdim', nargout, 'D', varargin); end
    function varargout = repelems(varargin), varargout = clinalg.hosted.call('repelems', nargout, 'D', varargin); end
    function varargout = cplxpair(varargin), varargout = clinalg.hosted.call('cplxpair', nargout, 'D', varargin); end
    function varargout = unwrap(varargin), varargout = clinalg.hosted.call('unwrap', nargout, 'D', varargin); end
    function varargout = detrend(varargin), varargout = clinalg.hosted.call('detrend', nargout, 'D', varargin); end

    % Matrices and their factorisations.

    function varargout = eigs(varargin), varargout = clinalg.hosted.call('eigs', nargout, 'D', varargin); end
    function varargout = gsvd(varargin), varargout = clinalg.hosted.call('gsvd', nargout, 'D', varargin); end
    function varargout = cholinv(varargin), varargout = clinalg.hosted.call('cholinv', nargout, 'D', varargin); end
    function varargout = chol2inv(varargin), varargout = clinalg.hosted.call('chol2inv', nargout, 'D', varargin); end
    function varargout = cholupdate(varargin), varargout = clinalg.hosted.call('cholupdate', nargout, 'D', varargin); end
    function varargout = cholinsert(varargin), varargout = clinalg.hosted.call('cholinsert', nargout, 'D', varargin); end
    function varargout = choldelete(varargin), varargout = clinalg.hosted.call('choldelete', nargout, 'D', varargin); end
    function varargout = cholshift(varargin), varargout = clinalg.hosted.call('cholshift', nargout, 'D', varargin); end
    function varargout = qrupdate(varargin), varargout = clinalg.hosted.call('qrupdate', nargout, 'D', varargin); end
    function varargout = qrinsert(varargin), varargout = clinalg.hosted.call('qrinsert', nargout, 'D', varargin); end
    function varargout = qrdelete(varargin), varargout = clinalg.hosted.call('qrdelete', nargout, 'D', varargin); end
    function varargout = qrshift(varargin), varargout = clinalg.hosted.call('qrshift', nargout, 'D', varargin); end
    function varargout = givens(varargin), varargout = clinalg.hosted.call('givens', nargout, 'D', varargin); end
    function varargout = planerot(varargin), varargout = clinalg.hosted.call('planerot', nargout, 'D', varargin); end
    function varargout = krylov(varargin), varargout = clinalg.hosted.call('krylov', nargout, 'D', varargin); end
    function varargout = mgorth(varargin), varargout = clinalg.hosted.call('mgorth', nargout, 'D', varargin); end
    function varargout = rref(varargin), varargout = clinalg.hosted.call('rref', nargout, 'D', varargin); end
    function varargout = condeig(varargin), varargout = clinalg.hosted.call('condeig', nargout, 'D', varargin); end
    function varargout = normest1(varargin), varargout = clinalg.hosted.call('normest1', nargout, 'D', varargin); end
    function varargout = subspace(varargin), varargout = clinalg.hosted.call('subspace', nargout, 'D', varargin); end
    function varargout = ordeig(varargin), varargout = clinalg.hosted.call('ordeig', nargout, 'D', varargin); end
    function varargout = ordschur(varargin), varargout = clinalg.hosted.call('ordschur', nargout, 'D', varargin); end
    function varargout = polyeig(varargin), varargout = clinalg.hosted.call('polyeig', nargout, 'D', varargin); end
    function varargout = linsolve(varargin), varargout = clinalg.hosted.call('linsolve', nargout, 'D', varargin); end
    function varargout = lscov(varargin), varargout = clinalg.hosted.call('lscov', nargout, 'D', varargin); end
    function varargout = spaugment(varargin), varargout = clinalg.hosted.call('spaugment', nargout, 'D', varargin); end

    % Polynomials, interpolation, filters and integrals.

    function varargout = poly(varargin), varargout = clinalg.hosted.call('poly', nargout, 'D', varargin); end
    function varargout = polyder(varargin), varargout = clinalg.hosted.call('polyder', nargout, 'D', varargin); end
    function varargout = polyint(varargin), varargout = clinalg.hosted.call('polyint', nargout, 'D', varargin); end
    function varargout = polyout(varargin), varargout = clinalg.hosted.call('polyout', nargout, 'D', varargin); end
    function varargout = polyreduce(varargin), varargout = clinalg.hosted.call('polyreduce', nargout, 'D', varargin); end
    function varargout = polyaffine(varargin), varargout = clinalg.hosted.call('polyaffine', nargout, 'D', varargin); end
    function varargout = polygcd(varargin), varargout = clinalg.hosted.call('polygcd', nargout, 'D', varargin); end
    function varargout = mpoles(varargin), varargout = clinalg.hosted.call('mpoles', nargout, 'D', varargin); end
    function varargout = deconv(varargin), varargout = clinalg.hosted.call('deconv', nargout, 'D', varargin); end
    function varargout = mkpp(varargin), varargout = clinalg.hosted.call('mkpp', nargout, 'D', varargin); end
    function varargout = ppval(varargin), varargout = clinalg.hosted.call('ppval', nargout, 'D', varargin); end
    function varargout = ppder(varargin), varargout = clinalg.hosted.call('ppder', nargout, 'D', varargin); end
    function varargout = ppint(varargin), varargout = clinalg.hosted.call('ppint', nargout, 'D', varargin); end
    function varargout = convn(varargin), varargout = clinalg.hosted.call('convn', nargout, 'D', varargin); end
    function varargout = filter2(varargin), varargout = clinalg.hosted.call('filter2', nargout, 'D', varargin); end
    function varargout = fftfilt(varargin), varargout = clinalg.hosted.call('fftfilt', nargout, 'D', varargin); end
    function varargout = interpft(varargin), varargout = clinalg.hosted.call('interpft', nargout, 'D', varargin); end
    function varargout = interp3(varargin), varargout = clinalg.hosted.call('interp3', nargout, 'D', varargin); end
    function varargout = griddata(varargin), varargout = clinalg.hosted.call('griddata', nargout, 'D', varargin); end
    function varargout = curl(varargin), varargout = clinalg.hosted.call('curl', nargout, 'D', varargin); end
    function varargout = divergence(varargin), varargout = clinalg.hosted.call('divergence', nargout, 'D', varargin); end
    function varargout = polyarea(varargin), varargout = clinalg.hosted.call('polyarea', nargout, 'D', varargin); end
    function varargout = rectint(varargin), varargout = clinalg.hosted.call('rectint', nargout, 'D', varargin); end
    function varargout = quad(varargin), varargout = clinalg.hosted.call('quad', nargout, 'D', varargin); end
    function varargout = quadv(varargin), varargout = clinalg.hosted.call('quadv', nargout, 'D', varargin); end
    function varargout = quadl(varargin), varargout = clinalg.hosted.call('quadl', nargout, 'D', varargin); end
    function varargout = quadgk(varargin), varargout = clinalg.hosted.call('quadgk', nargout, 'D', varargin); end
    function varargout = quadcc(varargin), varargout = clinalg.hosted.call('quadcc', nargout, 'D', varargin); end
    function varargout = integral(varargin), varargout = clinalg.hosted.call('integral', nargout, 'D', varargin); end
    function varargout = integral2(varargin), varargout = clinalg.hosted.call('integral2', nargout, 'D', varargin); end
    function varargout = integral3(varargin), varargout = clinalg.hosted.call('integral3', nargout, 'D', varargin); end
    function varargout = quad2d(varargin), varargout = clinalg.hosted.call('quad2d', nargout, 'D', varargin); end
    function varargout = dblquad(varargin), varargout = clinalg.hosted.call('dblquad', nargout, 'D', varargin); end
    function varargout = triplequad(varargin), varargout = clinalg.hosted.call('triplequad', nargout, 'D', varargin); end
    function varargout = glpk(varargin), varargout = clinalg.hosted.call('glpk', nargout, 'D', varargin); end
    function varargout = qp(varargin), varargout = clinalg.hosted.call('qp', nargout, 'D', varargin); end
    function varargout = pqpnonneg(varargin), varargout = clinalg.hosted.call('pqpnonneg', nargout, 'D', varargin); end

    % Checks that raise errors, printed text, files and plots.

    function varargout = assert(varargin), varargout = clinalg.hosted.call('assert', nargout, 'N', varargin); end
    function varargout = validateattributes(varargin), varargout = clinalg.hosted.call('validateattributes', nargout, 'N', varargin); end
    function varargout = mustBeFinite(varargin), varargout = clinalg.hosted.call('mustBeFinite', nargout, 'N', varargin); end
    function varargout = mustBeGreaterThan(varargin), varargout = clinalg.hosted.call('mustBeGreaterThan', nargout, 'N', varargin); end
    function varargout = mustBeGreaterThanOrEqual(varargin), varargout = clinalg.hosted.call('mustBeGreaterThanOrEqual', nargout, 'N', varargin); end
    function varargout = mustBeInteger(varargin), varargout = clinalg.hosted.call('mustBeInteger', nargout, 'N', varargin); end
    function varargout = mustBeLessThan(varargin), varargout = clinalg.hosted.call('mustBeLessThan', nargout, 'N', varargin); end
    function varargout = mustBeLessThanOrEqual(varargin), varargout = clinalg.hosted.call('mustBeLessThanOrEqual', nargout, 'N', varargin); end
    function varargout = mustBeMember(varargin), varargout = clinalg.hosted.call('mustBeMember', nargout, 'N', varargin); end
    function varargout = mustBeNegative(varargin), varargout = clinalg.hosted.call('mustBeNegative', nargout, 'N', varargin); end
    function varargout = mustBeNonNan(varargin), varargout = clinalg.hosted.call('mustBeNonNan', nargout, 'N', varargin); end
    function varargout = mustBeNonempty(varargin), varargout = clinalg.hosted.call('mustBeNonempty', nargout, 'N', varargin); end
    function varargout = mustBeNonnegative(varargin), varargout = clinalg.hosted.call('mustBeNonnegative', nargout, 'N', varargin); end
    function varargout = mustBeNonpositive(varargin), varargout = clinalg.hosted.call('mustBeNonpositive', nargout, 'N', varargin); end
    function varargout = mustBeNonsparse(varargin), varargout = clinalg.hosted.call('mustBeNonsparse', nargout, 'N', varargin); end
    function varargout = mustBeNonzero(varargin), varargout = clinalg.hosted.call('mustBeNonzero', nargout, 'N', varargin); end
    function varargout = mustBeNumeric(varargin), varargout = clinalg.hosted.call('mustBeNumeric', nargout, 'N', varargin); end
    function varargout = mustBeNumericOrLogical(varargin), varargout = clinalg.hosted.call('mustBeNumericOrLogical', nargout, 'N', varargin); end
    function varargout = mustBePositive(varargin), varargout = clinalg.hosted.call('mustBePositive', nargout, 'N', varargin); end
    function varargout = mustBeReal(varargin), varargout = clinalg.hosted.call('mustBeReal', nargout, 'N', varargin); end
    function varargout = printf(varargin), varargout = clinalg.hosted.call('printf', nargout, 'N', varargin); end
    function varargout = fdisp(varargin), varargout = clinalg.hosted.call('fdisp', nargout, 'N', varargin); end
    function varargout = dlmwrite(varargin), varargout = clinalg.hosted.call('dlmwrite', nargout, 'N', varargin); end
    function varargout = csvwrite(varargin), varargout = clinalg.hosted.call('csvwrite', nargout, 'N', varargin); end
    function varargout = fwrite(varargin), varargout = clinalg.hosted.call('fwrite', nargout, 'N', varargin); end
    function varargout = area(varargin), varargout = clinalg.hosted.call('area', nargout, 'N', varargin); end
    function varargout = barh(varargin), varargout = clinalg.hosted.call('barh', nargout, 'N', varargin); end
    function varargout = pie(varargin), varargout = clinalg.hosted.call('pie', nargout, 'N', varargin); end
    function varargout = stairs(varargin), varargout = clinalg.hosted.call('stairs', nargout, 'N', varargin); end
    function varargout = errorbar(varargin), varargout = clinalg.hosted.call('errorbar', nargout, 'N', varargin); end
    function varargout = fill(varargin), varargout = clinalg.hosted.call('fill', nargout, 'N', varargin); end
    function varargout = fill3(varargin), varargout = clinalg.hosted.call('fill3', nargout, 'N', varargin); end
    function varargout = patch(varargin), varargout = clinalg.hosted.call('patch', nargout, 'N', varargin); end
    function varargout = line(varargin), varargout = clinalg.hosted.call('line', nargout, 'N', varargin); end
    function varargout = polar(varargin), varargout = clinalg.hosted.call('polar', nargout, 'N', varargin); end
    function varargout = rose(varargin), varargout = clinalg.hosted.call('rose', nargout, 'N', varargin); end
    function varargout = compass(varargin), varargout = clinalg.hosted.call('compass', nargout, 'N', varargin); end
    function varargout = feather(varargin), varargout = clinalg.hosted.call('feather', nargout, 'N', varargin); end
    function varargout = comet(varargin), varargout = clinalg.hosted.call('comet', nargout, 'N', varargin); end
    function varargout = surfc(varargin), varargout = clinalg.hosted.call('surfc', nargout, 'N', varargin); end
    function varargout = surfl(varargin), varargout = clinalg.hosted.call('surfl', nargout, 'N', varargin); end
    function varargout = meshc(varargin), varargout = clinalg.hosted.call('meshc', nargout, 'N', varargin); end
    function varargout = contour3(varargin), varargout = clinalg.hosted.call('contour3', nargout, 'N', varargin); end
    function varargout = ribbon(varargin), varargout = clinalg.hosted.call('ribbon', nargout, 'N', varargin); end
    function varargout = waterfall(varargin), varargout = clinalg.hosted.call('waterfall', nargout, 'N', varargin); end
    function varargout = plotyy(varargin), varargout = clinalg.hosted.call('plotyy', nargout, 'N', varargin); end
    function varargout = plotmatrix(varargin), varargout = clinalg.hosted.call('plotmatrix', nargout, 'N', varargin); end
    function varargout = scatter3(varargin), varargout = clinalg.hosted.call('scatter3', nargout, 'N', varargin); end
    function varargout = stem3(varargin), varargout = clinalg.hosted.call('stem3', nargout, 'N', varargin); end
    function varargout = quiver3(varargin), varargout = clinalg.hosted.call('quiver3', nargout, 'N', varargin); end
    function varargout = trimesh(varargin), varargout = clinalg.hosted.call('trimesh', nargout, 'N', varargin); end
    function varargout = trisurf(varargin), varargout = clinalg.hosted.call('trisurf', nargout, 'N', varargin); end
    function varargout = triplot(varargin), varargout = clinalg.hosted.call('triplot', nargout, 'N', varargin); end
    function varargout = tetramesh(varargin), varargout = clinalg.hosted.call('tetramesh', nargout, 'N', varargin); end
    function varargout = streamline(varargin), varargout = clinalg.hosted.call('streamline', nargout, 'N', varargin); end
    function varargout = slice(varargin), varargout = clinalg.hosted.call('slice', nargout, 'N', varargin); end
    function varargout = axis(varargin), varargout = clinalg.hosted.call('axis', nargout, 'N', varargin); end
    function varargout = xlim(varargin), varargout = clinalg.hosted.call('xlim', nargout, 'N', varargin); end
    function varargout = ylim(varargin), varargout = clinalg.hosted.call('ylim', nargout, 'N', varargin); end
    function varargout = zlim(varargin), varargout = clinalg.hosted.call('zlim', nargout, 'N', varargin); end
    function varargout = caxis(varargin), varargout = clinalg.hosted.call('caxis', nargout, 'N', varargin); end
    function varargout = set(varargin), varargout = clinalg.hosted.call('set', nargout, 'N', varargin); end
    function varargout = text(varargin), varargout = clinalg.hosted.call('text', nargout, 'N', varargin); end
  end

  methods (Static, Hidden)
    function results = call(name, count, where, given)
    % Results of a function of MATLAB. where: 'D' copies all floating-point results to the device, 'D1' the first, 'H' and 'N' none.
      [given, as_single] = clinalg.hosted.gathered(name, given);
      % What draws or prints may give nothing.
      results = cell(1, max(count, ~strcmp(where, 'N')));
      try
        [results{:}] = feval(name, given{:});
      catch problem
        % Errors are the purpose of functions such as validateattributes: they are passed on unchanged.
        if strncmp(problem.identifier, 'clinalg:', 8) || strcmp(where, 'N')
          rethrow(problem);
        end
        words = cellfun(@(a) {[clinalg.operands.by(size(a)), ' ', class(a)]}, given);
        error('clinalg:argument:value', '%s of arguments %s: %s', name, strjoin(words, ', '), problem.message);
      end
      last = numel(results) * strcmp(where, 'D') + strcmp(where, 'D1');
      for k = 1 : last
        results{k} = clinalg.hosted.uploaded(results{k}, as_single);
      end
    end

    function results = with_function(name, count, given, start, argument)
    % Results of a function of MATLAB whose first argument is a function of the caller. That function takes arrays on the device as its
    % argument with this number where the given argument `start` is one. Results are on the device but for those of differential equations.
      f = given{1};
      if ischar(f) || isa(f, 'string')
        f = str2func(char(f));
      elseif ~isa(f, 'function_handle')
        error('clinalg:argument:class', '%s: argument 1 is of class %s, expected a function handle', name, class(f));
      end
      on_device = numel(given) >= start && isa(given{start}, 'clinalg.array');
      given(2 : end) = clinalg.hosted.gathered(name, given(2 : end));
      given{1} = @(varargin) clinalg.hosted.called(f, argument * on_device, varargin);
      results = cell(1, count);
      [results{:}] = feval(name, given{:});
      if ~strncmp(name, 'ode', 3)
        results = cellfun(@(value) {clinalg.hosted.uploaded(value, false)}, results);
      end
    end

    function varargout = called(f, argument, given)
    % Values in MATLAB's memory of a function of the caller, whose argument with this number is copied to the device.
      if argument > 0
        given{argument} = clinalg.operands.whole(given{argument}, false);
      end
      varargout = cell(1, max(nargout, 1));
      [varargout{:}] = f(given{:});
      varargout = cellfun(@(value) {clinalg.operands.on_host(value)}, varargout);
    end

    function not_on_device(name, instead)
      error('clinalg:call:unsupported', '%s: arrays on the device are not accepted; use %s', name, instead);
    end

    function result = one(name, given)
    % The one result of a function of MATLAB, on the device if it is an array of floating-point numbers.
      results = clinalg.hosted.call(name, 1, 'D', given);
      result = results{1};
    end

    function [given, as_single] = gathered(name, given)
    % The arguments in MATLAB's memory, and whether one is sparse in single precision, a class that MATLAB has not.
      as_single = false;
      any_sparse = false;
      any_single = false;
      for k = 1 : numel(given)
        x = given{k};
        if isobject(x) && isa(x, 'clinalg.array')
          given{k} = gather(x);
          as_single = as_single || (issparse(given{k}) && strcmp(underlyingType(x), 'single'));
          x = given{k};
        elseif isa(x, 'clinalg.factor')
          error('clinalg:argument:class', '%s: argument %d is a clinalg.factor, expected an array', name, k);
        end
        any_sparse = any_sparse || issparse(x);
        any_single = any_single || isa(x, 'single');
      end
      if any_sparse && any_single
        % MATLAB has no operations of sparse matrices and single precision: double precision in between.
        as_single = true;
        for k = 1 : numel(given)
          if isa(given{k}, 'single')
            given{k} = double(given{k});
          end
        end
      end
    end

    function value = uploaded(value, as_single)
    % A copy on the device of an array of floating-point numbers; anything else as it is.
      if ~isfloat(value) || isscalar(value)
        return
      end
      if issparse(value)
        value = clinalg.array(clinalg_mex('MexSparseMatrix', 0, value, as_single));
      else
        if as_single
          value = single(value);
        end
        value = clinalg.array.nd(full(value));
      end
    end
  end
end
