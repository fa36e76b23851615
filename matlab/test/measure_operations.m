function us = measure_operations()
%measure_operations  Times of small operations on device arrays.
%   us = measure_operations()
%
%   Microseconds of one operation with vectors of 100 elements: the minimum and the median of 200 rounds of 25 calls. Operations take turns;
%   other programs can only add time. A sum that nobody reads is not evaluated; norm and gather of a sum evaluate it.
x = clinalg.vector(rand(100, 1));
y = clinalg.vector(rand(100, 1));
[h, g] = deal(x.h, y.h);
works = {'c = x + y', @(n) added(n, x, y); 'c = x + 2', @(n) added(n, x, 2); 'norm(x)', @(n) normed(n, x); 'gather(x)', @(n) gathered(n, x); ...
  'norm(x + y)', @(n) sum_normed(n, x, y); 'gather(x + y)', @(n) sum_gathered(n, x, y); ...
  'MexLazy2, MexRelease', @(n) lazy(n, h, g); 'MexNorm2', @(n) mex_norm(n, h); 'MexHandleMatrix', @(n) mex_gather(n, h)};
rounds = zeros(200, size(works, 1));
for r = 1 : size(rounds, 1)
  for w = 1 : size(works, 1)
    start = tic();
    works{w, 2}(25);
    rounds(r, w) = toc(start) / 25 * 1e6;
  end
end
us = [min(rounds); median(rounds)];
fprintf('%-24s %8s %8s\n', 'us', 'least', 'median');
for w = 1 : size(works, 1)
  fprintf('%-24s %8.1f %8.1f\n', works{w, 1}, us(:, w));
end
if nargout == 0, clear us, end
end

function added(n, x, y), for k = 1 : n, c = x + y; end, end
function normed(n, x), for k = 1 : n, s = norm(x); end, end
function gathered(n, x), for k = 1 : n, v = gather(x); end, end
function sum_normed(n, x, y), for k = 1 : n, s = norm(x + y); end, end
function sum_gathered(n, x, y), for k = 1 : n, v = gather(x + y); end, end
function lazy(n, h, g), for k = 1 : n, clinalg_mex('MexRelease', 0, clinalg_mex('MexLazy2', 0, 'plus', h, g)); end, end
function mex_norm(n, h), for k = 1 : n, s = clinalg_mex('MexNorm2', 0, h); end, end
function mex_gather(n, h), for k = 1 : n, v = clinalg_mex('MexHandleMatrix', 0, h); end, end
