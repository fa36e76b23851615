function tests = test_gpu_array()
% Scripts written for gpuArray, in which gpuArray names clinalg.gpuArray, against the same ones on MATLAB's own arrays.
tests = {@scripts, @static_forms, @properties, @functions_of_elements, @solvers_of_the_host};
end

function list = scripts_of_users()
% Each ends with its result in r.
list = {
  % Conjugate gradients.
  ['A = gpuArray(full(gallery(''poisson'', 6))); b = gpuArray(ones(36, 1)); x = zeros(36, 1, ''like'', b); r = b - A * x; p = r; s = r'' * r; ' ...
   'for k = 1 : 60, q = A * p; a = s / (p'' * q); x = x + a * p; r = r - a * q; t = r'' * r; if sqrt(t) < 1e-12, break, end, ' ...
   'p = r + t / s * p; s = t; end, r = gather(x);']
  % The logistic map and its mean.
  'x = gpuArray(linspace(0.1, 0.9, 50)''); for k = 1 : 20, x = 3.2 * x .* (1 - x); end, r = [gather(mean(x)), gather(max(x)), gather(min(x))];'
  % A least-squares fit of a polynomial.
  't = gpuArray((0 : 0.1 : 2)''); y = 1 + 2 * t - 0.5 * t .^ 2; V = [ones(size(t), ''like'', t), t, t .^ 2]; r = gather(V \ y);'
  % Heat on a grid by slices.
  ['u = gpuArray(zeros(17)); u(9, 9) = 1; for k = 1 : 30, v = u; v(2 : 16, 2 : 16) = u(2 : 16, 2 : 16) + 0.2 * (u(1 : 15, 2 : 16) ' ...
   '+ u(3 : 17, 2 : 16) + u(2 : 16, 1 : 15) + u(2 : 16, 3 : 17) - 4 * u(2 : 16, 2 : 16)); u = v; end, r = gather(u);']
  % The power method in single precision.
  'A = gpuArray(single([4 1 0; 1 3 1; 0 1 2])); x = gpuArray(ones(3, 1, ''single'')); for k = 1 : 60, x = A * x; x = x / norm(x); end, r = gather(x'' * A * x);'
  % arrayfun with a formula.
  'x = gpuArray(linspace(-2, 2, 41)); y = gpuArray(linspace(0, 1, 41)); r = gather(arrayfun(@(a, b) exp(-a ^ 2) * b + a / 3, x, y));'
  % Newton''s method with a mask.
  'x = gpuArray([1 2 3 5 9]); z = x; for k = 1 : 40, d = (z .^ 2 - x) ./ (2 * z); z(abs(d) > 1e-14) = z(abs(d) > 1e-14) - d(abs(d) > 1e-14); end, r = gather(z);'
};
end

function scripts()
for script = scripts_of_users().'
  got = result_of(script{1}, @clinalg.gpuArray);
  expected = result_of(script{1}, @(x) x);
  check_close(got, expected, 1e3 * eps(class(expected)), script{1});
end
end

function r = result_of(script, gpuArray) %#ok<INUSD>
eval(script);
end

function static_forms()
check(isequal(gather(clinalg.gpuArray.zeros(2, 3)), zeros(2, 3)));
x = clinalg.gpuArray.ones(2, 'single');
check(isequal(gather(x), ones(2, 'single')) && isa(x, 'clinalg.array'));
check(isequal(gather(clinalg.gpuArray.eye(2, 3)), eye(2, 3)));
check(isequal(gather(clinalg.gpuArray.linspace(0, 1, 5)), linspace(0, 1, 5)));
check(isequal(gather(clinalg.gpuArray.colon(1, 2, 9)), 1 : 2 : 9));
check(isequal(size(clinalg.gpuArray.rand(3, 2)), [3 2]) && isequal(size(clinalg.gpuArray.randn(3, 2, 2)), [3 2 2]));
check(isUnderlyingType(zeros(2, 'like', x), 'single'));
end

function properties()
x = clinalg.gpuArray(single([1 2; 3 4]));
check(isgpuarray(x) && existsOnGPU(x) && strcmp(classUnderlying(x), 'single'));
check(isequal(gather(clinalg.gpuArray(x)), gather(x)) && issparse(clinalg.gpuArray(speye(3))));
c = x;
c(1) = 7;
check(isequal(gather(x), single([1 2; 3 4])) && c(1) == 7 && isgpuarray(c));
D = rand(2, 3, 4);
check(isequal(gather(clinalg.gpuArray(D)), D));
check_error('clinalg:argument:class', 'double(x)', @() clinalg.gpuArray(int8(3)));
check_error('clinalg:argument:count', 'values', @() clinalg.gpuArray());
check_error('clinalg:call:unsupported', 'loop over the pages', @() pagefun(@mtimes, x, x));
end

function functions_of_elements()
x = clinalg.gpuArray([1 2 3]);
k = 2;
check(isequal(gather(arrayfun(@(a) a * a, x)), [1 4 9]), 'products of elements, not of matrices');
check(isequal(gather(arrayfun(@(a) a * k, x)), [2 4 6]), 'numbers of the caller');
check(isequal(gather(arrayfun(@(a) 5, x)), [5 5 5]));
check(isequal(gather(arrayfun(@(a) max([a, 2]), x)), [2 2 3]));
check(isequal(gather(arrayfun(@(a) max(a), x)), [1 2 3]));
[p, q] = arrayfun(@(a) deal(a, -a), x);
check(isequal(gather(p), [1 2 3]) && isequal(gather(q), [-1 -2 -3]));
check_close(gather(arrayfun(@(a, b) a ^ b, x, 2)), [1 4 9], 1e-15);
end

function solvers_of_the_host()
% MATLAB's own methods on device arrays, and on function handles over them.
A = gallery('poisson', 8) + spdiags((1 : 64).' / 64, 1, 64, 64);
S = gallery('poisson', 8);
b = sin(1 : 64).';
X = clinalg.matrix(A);
f = clinalg.vector(b);
[x, flag] = pcg(@(v) clinalg.matrix(S) * v, f, 1e-10, 200);
check(flag == 0 && norm(S * gather(x) - b) <= 1e-9 * norm(b));
[x, flag] = bicgstab(@(v) X * v, f, 1e-10, 200);
check(flag == 0 && norm(A * gather(x) - b) <= 1e-9 * norm(b));
for given = {{X, f}, {X, b}, {A, f}, {@(v) X * v, f}}
  [x, flag] = gmres(given{1}{:}, 64, 1e-10, 64);
  check(flag == 0 && isa(x, 'clinalg.array') && norm(A * gather(x) - b) <= 1e-9 * norm(b));
end
[x, flag] = gmres(A, b, 64, 1e-10, 64, X);
check(flag == 0 && norm(A * x - b) <= 1e-9 * norm(b), 'a preconditioner on the device');
% With nothing on the device among its arguments it is MATLAB's own, which fills arrays in MATLAB's memory.
[x, flag] = gmres(@(v) gather(X * clinalg.vector(v)), b, 64, 1e-10, 64);
check(flag == 0 && norm(A * x - b) <= 1e-9 * norm(b));
[t, y] = ode45(@(t, y) gather(-(X * clinalg.vector(y))), [0 0.5], b, odeset('RelTol', 1e-8, 'AbsTol', 1e-10));
check_close(y(end, :).', expm(-0.5 * full(A)) * b, 1e-6);
check(t(end) == 0.5);
[t, y] = ode45(@(t, y) on_device(-(X * y)), [0 0.5], f, odeset('RelTol', 1e-8, 'AbsTol', 1e-10));
check(isa(y, 'double') && t(end) == 0.5, 'the result is in MATLAB''s memory');
check_close(y(end, :).', expm(-0.5 * full(A)) * b, 1e-6);
check_error('clinalg:argument:shape', 'inner sizes', @() ode45(@(t, y) X * [y; y], [0 0.5], f));
x = fsolve(@(v) on_device(X * v - f), f);
check(isa(x, 'clinalg.array'));
check_close(gather(x), A \ b, 1e-4);
end

function x = on_device(x)
check(isa(x, 'clinalg.array'), 'an array in MATLAB''s memory');
end
