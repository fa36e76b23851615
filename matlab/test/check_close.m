function check_close(got, expected, tolerance, what)
% An error unless got has the shape and class of expected and differs by at most tolerance, relative to the largest
% magnitude of expected; equal infinities and NaN at the same places are no difference.
if nargin < 4
  what = 'result';
end
if ~isequal(size(got), size(expected))
  error('clinalg:test:check', '%s is %s, expected %s', what, mat2str(size(got)), mat2str(size(expected)));
elseif ~strcmp(class(got), class(expected))
  error('clinalg:test:check', '%s is of class %s, expected %s', what, class(got), class(expected));
end
got = double(full(got(:)));
expected = double(full(expected(:)));
same = (got == expected) | (isnan(got) & isnan(expected));
usual = isfinite(expected);
scale = max([abs(expected(usual)); realmin]);
difference = max([abs(got(~same) - expected(~same)) / scale; 0]);
if any(isnan(got(~same)) ~= isnan(expected(~same))) || ~(difference <= tolerance)
  error('clinalg:test:check', '%s differs by %g, allowed %g', what, difference, tolerance);
end
end
