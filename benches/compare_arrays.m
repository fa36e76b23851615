% Small and medium operations on clinalg arrays beside Octave's own: microseconds, the best of many calls.
%   octave benches/compare_arrays.m FOLDER    FOLDER holds clinalg_mex.mex; prints a table
root = fileparts (fileparts (mfilename ("fullpath")));
addpath (fullfile (root, "matlab"));
addpath (argv (){end});

function s = best (f, times)
  s = Inf;
  for k = 1:times, t = tic; f (); s = min (s, toc (t)); end
end

function assign_element (x), x(5) = 1; end
function assign_column (A, v), A(:, 3) = v; end

% Loops of 10 000 small operations.
function loop_elementwise (x, y)
  for k = 1:2500, x = 0.5 * (x + y); z = x - y; w = z .* y; end
end
function loop_elements (x)
  s = 0;
  for k = 1:5000, s = s + x(mod (k, 100) + 1); end
  for k = 1:5000, x(mod (k, 100) + 1) = s; end
end
function loop_reductions (x, y)
  for k = 1:2500, a = norm (x); b = sum (y); c = max (x); d = x' * y; end
end

% Explicit Euler steps of the heat equation.
function u = heat (u)
  for k = 1:50
    v = u(2:end-1, 2:end-1);
    u(2:end-1, 2:end-1) = v + 0.2 * (u(1:end-2, 2:end-1) + u(3:end, 2:end-1) + u(2:end-1, 1:end-2) + u(2:end-1, 3:end) - 4 * v);
  end
  gather (u);
end

function c = k_means (p, c)
  for step = 1:5
    d = zeros (size (p, 1), size (c, 1), "like", p);
    for k = 1:size (c, 1), d(:, k) = sum ((p - c(k, :)) .^ 2, 2); end
    [~, nearest] = min (d, [], 2);
    for k = 1:size (c, 1), c(k, :) = mean (p(nearest == k, :), 1); end
  end
  gather (c);
end

function Q = gram_schmidt (A)
  Q = A;
  for k = 1:size (A, 2)
    v = Q(:, k);
    for i = 1:k-1, v = v - (Q(:, i)' * v) * Q(:, i); end
    Q(:, k) = v / norm (v);
  end
  gather (Q);
end

function conjugate_gradients (A, b)
  x = zeros (size (b), "like", b); r = b; p = r; s = r' * r;
  for k = 1:200
    q = A * p; a = s / (p' * q); x = x + a * p; r = r - a * q; t = r' * r; p = r + (t / s) * p; s = t;
  end
  gather (x);
end

rand ("seed", 1);
n = 100;
own = struct ("x", rand (n, 1), "y", rand (n, 1), "A", rand (n) + n * eye (n), "u", rand (200), "p", rand (10000, 2), "c", rand (5, 2), "G", rand (500, 40));
device = structfun (@clinalg.matrix, own, "UniformOutput", false);
cases = {
  "x + y",          @(d) d.x + d.y, 150
  "gather(x + y)",  @(d) gather (d.x + d.y), 150
  "exp(x)",         @(d) exp (d.x), 150
  "x > 0.5",        @(d) d.x > 0.5, 150
  "x(5)",           @(d) d.x(5), 150
  "x(5) = 1",       @(d) assign_element (d.x), 150
  "A(:, 3)",        @(d) d.A(:, 3), 150
  "A(:, 3) = v",    @(d) assign_column (d.A, d.x), 150
  "max(x)",         @(d) max (d.x), 150
  "sum(x)",         @(d) sum (d.x), 150
  "sum(A)",         @(d) sum (d.A), 150
  "norm(x)",        @(d) norm (d.x), 150
  "dot(x, y)",      @(d) dot (d.x, d.y), 150
  "x' * y",         @(d) d.x' * d.y, 150
  "A * x",          @(d) d.A * d.x, 150
  "size(x)",        @(d) size (d.x), 150
  "x'",             @(d) d.x', 150
  "[x; y]",         @(d) [d.x; d.y], 150
  "[x, y]",         @(d) [d.x, d.y], 150
  "A \\ x",         @(d) d.A \ d.x, 150
  "loop +-.*",      @(d) loop_elementwise (d.x, d.y), 3
  "loop x(k)",      @(d) loop_elements (d.x), 3
  "loop norm, max", @(d) loop_reductions (d.x, d.y), 3
  "cg 100",         @(d) conjugate_gradients (d.A, d.x), 3
  "heat 200^2",     @(d) heat (d.u), 3
  "k-means 10^4",   @(d) k_means (d.p, d.c), 3
  "Gram-Schmidt",   @(d) gram_schmidt (d.G), 3
};
printf ("%-16s %12s %12s %8s\n", "microseconds", "clinalg", "Octave", "ratio");
for k = 1:rows (cases)
  f = cases{k, 2};
  f (device);
  here = best (@() f (device), cases{k, 3});
  host = best (@() f (own), cases{k, 3});
  printf ("%-16s %12.1f %12.1f %8.1f\n", cases{k, 1}, here * 1e6, host * 1e6, here / host);
end
