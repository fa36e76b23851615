function tests = test_poisson()
% The Poisson problem on boxes against manufactured solutions, by the order of their errors.
tests = {@conditions, @order_four, @full_tensor, @tensor_that_varies, @krylov_methods, @periodic_cells, @three_dimensions, @handles, @single_precision, @bad_input};
end

function check_order(errors, order)
check(all(errors > 0) && abs(log2(errors(1) / errors(2)) - order) < 0.1, 'order %g', log2(errors(1) / errors(2)));
end

function conditions()
% -u_xx - 2 u_yy + 3 u = 2 u for u = sin(x + 0.3) exp(y) with Robin, Neumann and Dirichlet sides.
errors = zeros(1, 2);
for k = 1 : 2
  n = 16 * k + 1;
  S = clinalg.poisson([n, n - 4], 'Lengths', [2 1], 'Sides', [1.5 Inf; 0 Inf], 'Diffusion', [1 2], 'Shift', 3);
  [x, y] = ndgrid(S.x, S.y);
  exact = sin(x + 0.3) .* exp(y);
  g = {(1.5 * sin(0.3) - cos(0.3)) * exp(S.y), exact(:, 1); cos(2.3) * exp(S.y), exact(:, end)};
  [u, flag, relres, iter, history, reason, imbalance] = solve(S, 2 * exact, g);
  check(flag == 0 && relres <= 1e-10 && iter < 12 && numel(history) == iter + 1 && ischar(reason) && isnan(imbalance));
  check(isequal(size(u), [n, n - 4]) && max(abs(u(:, 1) - exact(:, 1))) == 0);
  errors(k) = max(abs(u(:) - exact(:)));
  [v, ~, ~, iter] = solve(S, clinalg.matrix(2 * exact), g, u);
  check(isa(v, 'clinalg.array') && iter == 0 && max(abs(u(:) - reshape(gather(v), [], 1))) < 1e-14, 'from the solution');
end
check(abs(log2(errors(1) / errors(2)) - 2) < 0.25, 'of order 2');
end

function order_four()
% -Laplace u = 3 u for u = sin(2 x) exp(y).
errors = zeros(1, 2);
for k = 1 : 2
  n = 16 * k + 1;
  S = clinalg.poisson([n n], struct('Order', 4));
  [x, y] = ndgrid(S.x, S.y);
  exact = sin(2 * x) .* exp(y);
  u = solve(S, 3 * exact, {exact(1, :), exact(:, 1); exact(end, :), exact(:, end)});
  errors(k) = max(abs(u(:) - exact(:)));
end
check_order(errors, 4);
end

function full_tensor()
% -div(k D grad u) = f for u = sin(x + 2 y), k = exp(x) in the cells, graded intervals.
errors = zeros(1, 2);
for k = 1 : 2
  n = 16 * k + 1;
  t = linspace(0, 1, n);
  t = t + 0.1 * sin(pi * t);
  S = clinalg.poisson([n n], 'Coordinates', {t, []}, 'Diffusion', [1 0.5; 0.5 2], 'CoefficientAt', 'cells', ...
    'Coefficient', repmat(exp((t(1 : end - 1) + t(2 : end)).' / 2), 1, n - 1));
  check(isequal(S.x, t(:)));
  [x, y] = ndgrid(S.x, S.y);
  exact = sin(x + 2 * y);
  f = exp(x) .* (11 * exact - 2 * cos(x + 2 * y));
  u = solve(S, f, {exact(1, :), exact(:, 1); exact(end, :), exact(:, end)});
  errors(k) = max(abs(u(:) - exact(:)));
end
check_order(errors, 2);
end

function tensor_that_varies()
% -div(D grad u) = f for u = sin(x + 2 y) with D = [2 + x, y / 2; y / 2, 2] in the cells.
errors = zeros(1, 2);
for k = 1 : 2
  n = 16 * k + 1;
  middles = ((1 : n - 1)' - 0.5) / (n - 1);
  [x, y] = ndgrid(middles, middles);
  S = clinalg.poisson([n n], 'Diffusion', {2 + x, 2, y / 2});
  [x, y] = ndgrid(S.x, S.y);
  s = x + 2 * y;
  exact = sin(s);
  f = (10 + s) .* exact - 1.5 * cos(s);
  [u, flag] = solve(S, f, {exact(1, :), exact(:, 1); exact(end, :), exact(:, end)});
  check(flag == 0);
  errors(k) = max(abs(u(:) - exact(:)));
end
check_order(errors, 2);
% In three dimensions a tensor that is the same in all cells is the constant one.
D = [2 0.5 0.25; 0.5 1.5 0.125; 0.25 0.125 1];
count = 8 * 7 * 6;
S = MexPoisson(0, [9 8 7], [], [], [], [], [], repmat([2 1.5 1 0.5 0.25 0.125], count, 1));
u = MexHandleMatrix(0, MexPoissonSolve(0, S, MexMatrix(0, ones(9, 8 * 7))));
v = solve(clinalg.poisson([9 8 7], 'Diffusion', D, 'CoefficientAt', 'cells'), 1);
check_close(reshape(u, 9, 8, 7), v, 1e-8);
check_error('clinalg:argument:shape', '336 rows', @() MexPoisson(0, [9 8 7], [], [], [], [], [], ones(5, 6)));
check_error('clinalg:argument:value', '`D`', @() MexPoisson(0, [5 5], [], [], [], [], [], repmat([1 1 2], 16, 1)));
check_error('clinalg:argument:value', '`k`', ...
  @() MexPoisson(0, [5 5], [], [], [], [], [], repmat([1 1 0], 16, 1), ones(16, 1), 'cells'));
check_error('clinalg:argument:shape', 'Diffusion{1}', @() clinalg.poisson([5 5], 'Diffusion', {ones(5), 1, 0}));
check_error('clinalg:argument:length', 'Diffusion', @() clinalg.poisson([5 5], 'Diffusion', {1, 1}));
end

function krylov_methods()
% Operator, right-hand side and cycle of a solver give its solution by conjugate gradients.
S = clinalg.poisson([33 21], 'Lengths', [2 1], 'Sides', [1.5 Inf; 0 Inf], 'Shift', 1);
[x, y] = ndgrid(S.x, S.y);
f = exp(x) .* y;
g = {1, S.x; 2 + S.y, 0};
u = solve(S, f, g);
A = operator(S);
b = right_side(S, f, g);
check(isequal(size(A), numel(b) * [1 1]) && numel(b) < numel(f));
[z, flag, ~, iter] = clinalg.pcg(A, b, 1e-12, 30, preconditioner(S));
check(flag == 0 && iter < 15, 'flag %d, %d iterations', flag, iter);
check_close(values(S, z), u, 1e-9);
[~, flag, ~, plain] = clinalg.pcg(A, b, 1e-12, 1000);
check(flag == 0 && plain > 3 * iter);
gpu = MexInitOpenCL();
B = MexPoissonOperator(gpu, S.h);
M = MexPoissonPreconditioner(gpu, S.h);
h = MexPoissonRightSide(gpu, S.h, MexMatrix(gpu, f));
[z, flag] = MexCG(gpu, B, h, 1e-12, 30, M);
check(flag == 0);
check_close(MexHandleMatrix(gpu, MexPoissonPoints(gpu, S.h, z)), u(:), 1e-9);
check_error('clinalg:argument:length', '', @() MexPoissonPoints(gpu, S.h, MexMatrix(gpu, 1)));
check_error('clinalg:handle:kind', '`S`', @() MexPoissonOperator(gpu, z));
arrayfun(@(a) MexRelease(gpu, a), [B, M, h, z]);
end

function periodic_cells()
% -Laplace u = 5 pi^2 u for u = cos(pi x) cos(2 pi y) in cells, insulated and periodic: determined up to a constant.
errors = zeros(1, 2);
for k = 1 : 2
  S = clinalg.poisson([8 16] * k, 'Centring', 'cell', 'Sides', [0 NaN; 0 NaN], 'Cycle', 'fmg');
  [x, y] = ndgrid(S.x, S.y);
  exact = cos(pi * x) .* cos(2 * pi * y);
  [u, flag, ~, ~, ~, ~, imbalance] = solve(S, 5 * pi^2 * exact);
  check(flag == 0 && abs(imbalance) < 1e-12 && S.x(1) == 0.5 / (8 * k) && abs(mean(u(:))) < 1e-14);
  errors(k) = max(abs(u(:) - exact(:)));
end
check_order(errors, 2);
check_error('clinalg:argument:value', 'balance', @() solve(S, 1));
check_error('clinalg:argument:value', 'balance', @() solve(S, 0, [1 0; 0 0]));
u = solve(S, 0, [1 0; -1 0]);
check(max(max(abs(u - repmat(0.5 - S.x, 1, 32)))) < 1e-9, 'a flux through the box');
end

function three_dimensions()
% Finite volumes are exact for u = x^2 + 2 y + z, with a value on each side.
S = clinalg.poisson([6 5 4], 'Lengths', [1 2 3], 'Sides', [Inf 0 1; Inf 0 1]);
[x, y, z] = ndgrid(S.x, S.y, S.z);
exact = x .^ 2 + 2 * y + z;
face = @(k) exact(:, :, k);
g = {squeeze(exact(1, :, :)), -2, face(1) - 1; squeeze(exact(end, :, :)), 2, face(4) + 1};
u = solve(S, -2, g);
check(isequal(size(u), [6 5 4]));
check(max(abs(u(:) - exact(:))) < 1e-8);
% Sides do not keep the values of the solve before.
v = solve(S, 0);
check(max(abs(v(:))) == 0);
end

function handles()
gpu = MexInitOpenCL();
S = MexPoisson(gpu, [9 7]);
info = MexInfo(gpu, S);
check(strcmp(info.kind, 'poisson') && strcmp(info.class, 'double') && info.rows == 63);
% u = x is linear; the corners belong to the sides of y.
x = linspace(0, 1, 9).';
MexPoissonSide(gpu, S, 1, 1, ones(7, 1));
MexPoissonSide(gpu, S, 2, 0, x);
MexPoissonSide(gpu, S, 2, 1, x);
[u, flag] = MexPoissonSolve(gpu, S, MexZeros(gpu, 9, 7));
check(flag == 0);
check_close(MexHandleMatrix(gpu, u), repmat(x, 1, 7), 1e-9);
MexPoissonSide(gpu, S, 1, 1);
MexPoissonSide(gpu, S, 2, 0);
MexPoissonSide(gpu, S, 2, 1);
check(isequal(MexHandleMatrix(gpu, MexPoissonSolve(gpu, S, MexZeros(gpu, 63, 1))), zeros(63, 1)));
[~, flag] = MexPoissonSolve(gpu, S, MexMatrix(gpu, [NaN; zeros(62, 1)]));
check(flag == 0, 'f is not read where u is given');
start = MexMatrix(gpu, ones(9, 7));
[u, flag] = MexPoissonSolve(gpu, S, MexMatrix(gpu, NaN(9, 7)), start);
check(flag == 4 && u == start && isequal(MexHandleMatrix(gpu, u), ones(9, 7)));
% Without values of the sides u keeps those it has there.
start = repmat(x, 1, 7);
start(2 : 8, 2 : 6) = 0;
[u, flag] = MexPoissonSolve(gpu, S, MexZeros(gpu, 9, 7), MexMatrix(gpu, start));
check(flag == 0);
check_close(MexHandleMatrix(gpu, u), repmat(x, 1, 7), 1e-9);
check(MexRelease(gpu, S) && ~MexRelease(gpu, S));
end

function single_precision()
S = clinalg.poisson([20 15], 'Class', 'single');
T = clinalg.poisson([20 15]);
[u, flag] = solve(S, 1);
check(isa(u, 'single') && flag == 0);
check_close(double(u), solve(T, single(1)), 1e-4);
S = clinalg.poisson([33 33], 'MaxCycles', 1, 'Cycle', 'w', 'Tolerance', 1e-12);
[~, flag, ~, iter] = solve(S, 1);
check(flag == 1 && iter == 1);
delete(T);
delete(T);
end

function bad_input()
make = @clinalg.poisson;
value = 'clinalg:argument:value';
check_error('clinalg:argument:count', 'too few', @() make());
check_error(value, 'Lengths', @() make([5 5], 'Length', 1));
check_error('clinalg:argument:length', 'Lengths', @() make([5 5], 'Lengths', 1));
check_error('clinalg:argument:class', 'Coordinates', @() make([5 5], 'Coordinates', 0 : 4));
check_error(value, '`points`', @() make(5));
check_error(value, '`points`', @() make([5 NaN]));
check_error(value, '`points`', @() make([5 2.5]));
check_error(value, '`y` is -1 along y', @() make([5 5], 'Lengths', [1 -1]));
check_error(value, '`x` is 4 coordinates along x', @() make([5 5], 'Coordinates', {1 : 4, []}));
check_error(value, '`z`', @() MexPoisson(0, [5 5], 1, 1, 1));
check_error('clinalg:argument:shape', '2 x 2', @() make([5 5], 'Sides', [0 0 0; 0 0 0]));
check_error(value, 'one periodic side along y', @() make([5 5], 'Sides', [0 NaN; Inf Inf]));
check_error(value, 'alpha', @() make([5 5], 'Sides', [-1 0; Inf Inf]));
check_error(value, '''vertex'' or ''cell''', @() make([5 5], 'Centring', 'cells'));
check_error(value, 'symmetric', @() make([5 5], 'Diffusion', [1 0.5; 0 1], 'CoefficientAt', 'cells'));
check_error(value, '`D`', @() make([5 5], 'Diffusion', [1 2; 2 1]));
check_error('clinalg:argument:shape', '`D`', @() make([5 5], 'Diffusion', [1 2 3]));
check_error('clinalg:argument:length', '`k`', @() make([5 5], 'Coefficient', ones(4), 'CoefficientAt', 'points'));
check_error(value, '`k`', @() make([5 5], 'Coefficient', zeros(5)));
check_error(value, '`order`', @() make([5 5], 'Order', 3));
check_error(value, 'Neumann', @() make([5 5], 'Order', 4, 'Sides', [0 Inf; Inf Inf]));
check_error(value, '`c`', @() make([5 5], 'Shift', -1));
check_error(value, 'Class', @() make([5 5], 'Class', 'half'));
S = make([5 4]);
check_error('clinalg:argument:shape', 'f is [4 5]', @() solve(S, ones(4, 5)));
check_error('clinalg:argument:shape', 'f is [5 4 2]', @() solve(S, ones(5, 4, 2)));
check_error('clinalg:argument:shape', 'u0', @() solve(S, 1, [], ones(3)));
check_error('clinalg:argument:shape', 'g is [1 2]', @() solve(S, 1, [1 2]));
check_error('clinalg:argument:length', 'g{2, 1} has 3 values, expected 1 or 4', @() solve(S, 1, {[], []; [1 2 3], []}));
check_error('clinalg:argument:value', '`f` is complex', @() solve(S, 1i));
check_error(value, 'argument 3 `direction` is 3', @() MexPoissonSide(0, S.h, 3, 0));
check_error(value, 'argument 3 `direction` is 0', @() MexPoissonSide(0, S.h, 0, 0));
check_error('clinalg:argument:length', '`g`', @() MexPoissonSide(0, S.h, 1, 0, ones(5, 1)));
check_error('clinalg:argument:length', 'argument 3 `f`', @() MexPoissonSolve(0, S.h, MexMatrix(0, ones(5))));
check_error('clinalg:argument:length', 'argument 4 `u`', @() MexPoissonSolve(0, S.h, MexMatrix(0, ones(5, 4)), MexMatrix(0, 1)));
check_error('clinalg:handle:kind', 'argument 2 `S`', @() MexPoissonSolve(0, MexMatrix(0, 1), MexMatrix(0, 1)));
end
