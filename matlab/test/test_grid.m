function tests = test_grid()
tests = {@jacobi, @red_black, @defect, @transfers, @vectors_are_grids, @the_poisson_problem, @poisson_with_boundary_values, ...
  @poisson_forms_agree, @poisson_with_a_shift, @poisson_ends, @bad_grids};
end

function [u, f] = random_grids(N, type)
u = cast(rand(N), type);
f = cast(rand(N) - 0.5, type);
end

function v = stencil(u)
% h^2 times minus the Laplacian of u, inside.
v = 4 * u(2:end-1, 2:end-1) - u(1:end-2, 2:end-1) - u(3:end, 2:end-1) - u(2:end-1, 1:end-2) - u(2:end-1, 3:end);
end

function u = jacobi_by_hand(u, f, sweeps, omega)
h = 1 / (size(u, 1) - 1);
for k = 1 : sweeps
  u(2:end-1, 2:end-1) = u(2:end-1, 2:end-1) + omega / 4 * (h ^ 2 * f(2:end-1, 2:end-1) - stencil(u));
end
end

function u = red_black_by_hand(u, f, sweeps)
N = size(u, 1);
h = 1 / (N - 1);
[i, j] = ndgrid(1:N, 1:N);
inside = i > 1 & i < N & j > 1 & j < N;
for k = 1 : sweeps
  for colour = 0 : 1
    v = u;
    v(2:end-1, 2:end-1) = u(2:end-1, 2:end-1) + (h ^ 2 * f(2:end-1, 2:end-1) - stencil(u)) / 4;
    here = inside & mod(i + j, 2) == colour;
    u(here) = v(here);
  end
end
end

function jacobi()
gpu = MexInitOpenCL();
for type = {'double', 'single'}
  for N = [3 4 5 17 66]
    [u, f] = random_grids(N, type{1});
    [hu, hf] = deal(MexMatrix(gpu, u), MexMatrix(gpu, f));
    tolerance = 20 * eps(type{1});
    check_close(MexHandleMatrix(gpu, MexJacobi(gpu, hu, hf)), jacobi_by_hand(u, f, 1, 1), tolerance);
    check_close(MexHandleMatrix(gpu, MexJacobi(gpu, hu, hf, [], 4, 0.8)), jacobi_by_hand(u, f, 4, 0.8), tolerance);
    o = MexMatrix(gpu, zeros(N, type{1}));
    check(MexJacobi(gpu, hu, hf, o, 3) == o);
    check_close(MexHandleMatrix(gpu, o), jacobi_by_hand(u, f, 3, 1), tolerance);
    check(isequal(MexHandleMatrix(gpu, hu), u));
    check(MexJacobi(gpu, hu, hf, hu, 3) == hu);
    check(isequal(MexHandleMatrix(gpu, hu), MexHandleMatrix(gpu, o)));
    check(isequal(MexHandleMatrix(gpu, MexJacobi(gpu, hu, hf, [], 0)), MexHandleMatrix(gpu, hu)));
  end
end
end

function red_black()
gpu = MexInitOpenCL();
for type = {'double', 'single'}
  for N = [3 4 5 17 66]
    [u, f] = random_grids(N, type{1});
    [hu, hf] = deal(MexMatrix(gpu, u), MexMatrix(gpu, f));
    tolerance = 20 * eps(type{1});
    check_close(MexHandleMatrix(gpu, MexRBGS(gpu, hu, hf)), red_black_by_hand(u, f, 1), tolerance);
    o = MexMatrix(gpu, zeros(N, type{1}));
    check(MexRBGS(gpu, hu, hf, o, 3) == o);
    check_close(MexHandleMatrix(gpu, o), red_black_by_hand(u, f, 3), tolerance);
    check(MexRBGS(gpu, hu, hf, hu, 3) == hu);
    check(isequal(MexHandleMatrix(gpu, hu), MexHandleMatrix(gpu, o)));
  end
end
end

function defect()
gpu = MexInitOpenCL();
for type = {'double', 'single'}
  for N = [3 4 17 66]
    [u, f] = random_grids(N, type{1});
    d = zeros(N, type{1});
    d(2:end-1, 2:end-1) = f(2:end-1, 2:end-1) - (N - 1) ^ 2 * stencil(u);
    [hu, hf] = deal(MexMatrix(gpu, u), MexMatrix(gpu, f));
    check_close(MexHandleMatrix(gpu, MexPoissonDefect(gpu, hu, hf)), d, 20 * eps(type{1}));
    o = MexMatrix(gpu, NaN(N, type{1}));
    check(MexPoissonDefect(gpu, hu, hf, o) == o);
    check_close(MexHandleMatrix(gpu, o), d, 20 * eps(type{1}));
  end
end
end

function transfers()
gpu = MexInitOpenCL();
for type = {'double', 'single'}
  for M = [3 4 9 33]
    N = 2 * M - 1;
    e = cast(rand(M), type{1});
    fine = zeros(N, type{1});
    fine(1:2:end, 1:2:end) = e;
    fine(2:2:end, 1:2:end) = (e(1:end-1, :) + e(2:end, :)) / 2;
    fine(:, 2:2:end) = (fine(:, 1:2:end-2) + fine(:, 3:2:end)) / 2;
    U = MexCoarseToFine(gpu, MexMatrix(gpu, e));
    check_close(MexHandleMatrix(gpu, U), fine, 4 * eps(type{1}), 'interpolation');
    d = cast(rand(N), type{1});
    coarse = zeros(M, type{1});
    w = conv2(d, [1 2 1; 2 4 2; 1 2 1] / 16, 'valid');
    coarse(2:end-1, 2:end-1) = w(2:2:end-1, 2:2:end-1);
    R = MexFineToCoarse(gpu, MexMatrix(gpu, d));
    check_close(MexHandleMatrix(gpu, R), coarse, 8 * eps(type{1}), 'restriction');
    check(MexCoarseToFine(gpu, MexMatrix(gpu, e), U) == U && MexFineToCoarse(gpu, MexMatrix(gpu, d), R) == R);
  end
end
end

function vectors_are_grids()
gpu = MexInitOpenCL();
[u, f] = random_grids(9, 'double');
[hu, hf] = deal(MexMatrix(gpu, u(:)), MexMatrix(gpu, f(:)));
v = MexHandleMatrix(gpu, MexRBGS(gpu, MexMatrix(gpu, u), MexMatrix(gpu, f)));
check(isequal(MexHandleMatrix(gpu, MexRBGS(gpu, hu, hf, hu)), v(:)));
end

function the_poisson_problem()
gpu = MexInitOpenCL();
before = 0;
for N = [17 33 65 129]
  [x, y] = meshgrid(linspace(0, 1, N));
  exact = sin(pi * x) .* sin(2 * pi * y);
  f = MexMatrix(gpu, 5 * pi ^ 2 * exact);
  [u, flag, relres, iter, history, reason] = solve(gpu, f, [N N], 'tol', 1e-9);
  check(flag == 0 && relres <= 1e-9 && iter < 15 && numel(history) == iter + 1, reason);
  off = max(max(abs(MexHandleMatrix(gpu, u) - exact)));
  if before > 0
    check(abs(before / off - 4) < 0.1, 'the error falls by %g', before / off);
  end
  before = off;
end
end

function poisson_with_boundary_values()
gpu = MexInitOpenCL();
N = 65;
[x, y] = meshgrid(linspace(0, 1, N));
exact = x .^ 2 - y .^ 2 + 3 * x .* y;
start = exact;
start(2:end-1, 2:end-1) = 0;
for type = {'double', 'single'}
  u = MexMatrix(gpu, cast(start, type{1}));
  S = solver(gpu, [N N], 'tol', eps(type{1}), 'single', strcmp(type{1}, 'single'));
  [v, flag] = MexPoissonSolve(gpu, S, MexMatrix(gpu, zeros(N, type{1})), u);
  check(v == u && (flag == 0 || flag == 3));
  check_close(double(MexHandleMatrix(gpu, u)), exact, 100 * eps(type{1}));
end
end

function poisson_forms_agree()
gpu = MexInitOpenCL();
N = 33;
F = rand(N);
f = MexMatrix(gpu, F);
for cycle = {'v', 'w', 'fmg'}
  for smoother = {'rbgs', 'jacobi'}
    [u, ~, ~, iter] = solve(gpu, f, [N N], 'tol', 1e-9, 'cycle', cycle{1}, 'smoother', smoother{1});
    reference = MexHandleMatrix(gpu, u);
    for backend = {'matrix', 'reference'}
      [u, flag, ~, its] = solve(gpu, f, [N N], 'tol', 1e-9, 'cycle', cycle{1}, 'smoother', smoother{1}, 'backend', backend{1});
      check(flag == 0 && its == iter, '%s %s %s', cycle{1}, smoother{1}, backend{1});
      check_close(MexHandleMatrix(gpu, u), reference, 1e-12);
    end
  end
end
end

function poisson_with_a_shift()
% Against the matrix, by a direct method.
gpu = MexInitOpenCL();
N = 17; h = 1 / (N - 1); m = N - 2;
L = spdiags(ones(m, 1) * [-1 2 -1], -1:1, m, m) / h^2;
I = speye(m);
inner = rand(m, m, m);
for d = [2 3]
  if d == 2
    A = kron(I, L) + kron(L, I); b = inner(:, :, 1);
    F = zeros(N); F(2:end-1, 2:end-1) = b;
  else
    A = kron(I, kron(I, L)) + kron(I, kron(L, I)) + kron(L, kron(I, I)); b = inner;
    F = zeros(N, N, N); F(2:end-1, 2:end-1, 2:end-1) = b;
  end
  x = (A + 50 * speye(m^d)) \ b(:);
  [u, flag] = solve(gpu, MexMatrix(gpu, F(:)), repmat(N, 1, d), 'tol', 1e-12, 'c', 50);
  U = reshape(MexHandleMatrix(gpu, u), size(F));
  if d == 2
    U = U(2:end-1, 2:end-1);
  else
    U = U(2:end-1, 2:end-1, 2:end-1);
  end
  check(flag == 0);
  check_close(U(:), x, 1e-12);
end
check_error('clinalg:argument:value', '`c`', @() solver(gpu, [9 9], 'c', -1));
end

function poisson_ends()
gpu = MexInitOpenCL();
f = MexMatrix(gpu, rand(33));
% The cube: sines are eigenvectors of the 7-point stencil.
N = 17; s = sin(pi * linspace(0, 1, N)');
s([1 N]) = 0;
cube = kron(s, kron(s, s));
c = MexMatrix(gpu, cube);
[u, flag] = solve(gpu, c, [N N N], 'tol', 1e-13, 'cycle', 'fmg');
check(flag == 0);
lambda = 3 * 4 * (N - 1)^2 * sin(pi / (2 * (N - 1)))^2;
check_close(MexHandleMatrix(gpu, u), cube / lambda, 1e-12);
check_error('clinalg:argument:length', '`f`', @() solve(gpu, MexMatrix(gpu, rand(10, 1)), [N N N]));
[~, flag, ~, iter] = solve(gpu, f, [33 33], 'tol', 1e-12, 'maxit', 2);
check(flag == 1 && iter == 2);
f = MexMatrix(gpu, NaN(33));
[~, flag] = solve(gpu, f, [33 33]);
check(flag == 4);
f = MexMatrix(gpu, ones(129));
[~, flag, relres] = solve(gpu, f, [129 129], 'tol', 1e-20);
check(flag == 3 && relres < 1e-11);
end

function bad_grids()
gpu = MexInitOpenCL();
g = MexMatrix(gpu, rand(9));
v = MexMatrix(gpu, rand(10, 1));
check_error('clinalg:argument:shape', '`u`', @() MexRBGS(gpu, v, v));
check_error('clinalg:argument:length', '`f`', @() MexJacobi(gpu, g, MexMatrix(gpu, rand(5))));
check_error('clinalg:argument:length', '`o`', @() MexRBGS(gpu, g, g, MexMatrix(gpu, rand(5))));
check_error('clinalg:argument:shape', '`d`', @() MexFineToCoarse(gpu, MexMatrix(gpu, rand(6))));
check_error('clinalg:argument:length', '`U`', @() MexCoarseToFine(gpu, g, MexCopy(gpu, g)));
check_error('clinalg:argument:precision', '`f`', @() MexRBGS(gpu, g, MexMatrix(gpu, single(rand(9)))));
check_error('clinalg:argument:value', '`o`', @() MexRBGS(gpu, MexMatrix(gpu, rand(9)), g, g));
check_error('clinalg:argument:value', '`omega`', @() MexJacobi(gpu, g, g, [], 1, Inf));
% What only the squares and cubes of the fastest kernels have.
check_error('clinalg:argument:value', '2^k + 1', @() solver(gpu, [10 10], 'smoother', 'jacobi'));
check_error('clinalg:argument:value', '`backend`', @() solver(gpu, [6 6 6], 'backend', 'matrix'));
check_error('clinalg:argument:value', '`mixed`', @() solver(gpu, [9 9], 'mixed', 1, 'single', 1));
check_error('clinalg:argument:value', '`cycle` is ''x''', @() solver(gpu, [9 9], 'cycle', 'x'));
check_error('clinalg:argument:value', '`tol`', @() solver(gpu, [9 9], 'tol', -1));
check_error('clinalg:handle:kind', '`f`', @() solve(gpu, MexSparseMatrix(gpu, speye(9)), [9 9]));
end

function S = solver(gpu, points, varargin)
% A solver on the unit square or cube with the options named.
names = {'x', 'y', 'z', 'sides', 'centring', 'D', 'k', 'at', 'c', 'order', 'tol', 'maxit', 'cycle', 'single', 'smoother', 'backend', 'mixed'};
given = cell(1, numel(names));
for k = 1 : 2 : numel(varargin)
  given{strcmp(names, varargin{k})} = varargin{k + 1};
end
S = MexPoisson(gpu, points, given{:});
end

function varargout = solve(gpu, f, points, varargin)
[varargout{1 : max(nargout, 1)}] = MexPoissonSolve(gpu, solver(gpu, points, varargin{:}), f);
end
