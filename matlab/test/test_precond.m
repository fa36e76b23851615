function tests = test_precond()
tests = {@incomplete_factors_against_the_host, @approximate_inverses_against_closed_forms, @solvers_take_them, ...
  @factors_as_matrices, @functions_of_the_caller, @best_iterate, @eigenvalues, @tiny_matrices_have_all_their_eigenvalues, ...
  @unsymmetric_matrices_have_no_eigenpairs, @mass_matrices_are_positive_definite, @multigrid, @multigrid_options, @complex_matrices, ...
  @complex_right_hand_sides, @single_rows, @several_columns, @failed_refills, @entries_that_are_not_finite, @arguments_by_their_names, ...
  @saddle_points, @errors};
end

function incomplete_factors_against_the_host()
% ILU(0) and IC(0) of MATLAB, applied to a vector.
A = gallery('poisson', 8) + spdiags((1 : 64).' / 10, 0, 64, 64);
U = A;
U(2, 1) = -0.5;
r = sin(1 : 64).';
[L, R] = ilu(U);
M = clinalg.precond(U);
check_close(gather(M \ r), R \ (L \ r), 1e-12);
s = info(M);
check(strcmp(s.kind, 'ilu') && s.rows == 64 && s.entries == nnz(U) && ~s.matched && isequal(s.levels, [15 15]), mat2str(s.levels));
L = ichol(A);
M = clinalg.precond(clinalg.matrix(A), 'ic', struct('shift', 0));
check_close(gather(M \ clinalg.vector(r)), L.' \ (L \ r), 1e-12);
s = info(M);
check(strcmp(s.kind, 'ic') && s.entries == nnz(L) && s.shift == 0);
% Without dropping, ILUT is a factorisation.
M = clinalg.precond(U, 'ilut', struct('DropTolerance', 0, 'Fill', 64));
check_close(gather(M \ r), U \ r, 1e-10);
check(isequal(size(M), [64 64]));
% By colours there are two levels.
s = info(clinalg.precond(A, 'ic', struct('order', 'multicolour')));
check(isequal(s.levels, [2 2]));
end

function approximate_inverses_against_closed_forms()
A = gallery('tridiag', 6);
r = (1 : 6).';
d = 2 ./ [5 6 6 6 6 5].';
check_close(gather(clinalg.precond(A, 'spai0') \ r), d .* r, 1e-14);
D = diag(diag(A));
w = 1.3;
S = w / (2 - w) * (D / w + tril(A, -1)) / D * (D / w + triu(A, 1));
check_close(gather(clinalg.precond(A, 'ssor', struct('omega', w, 'order', 'natural')) \ r), S \ r, 1e-13);
% The inverse of a matrix of two rows has the pattern of FSAI.
B = sparse([4 1; 1 3]);
check_close(gather(clinalg.precond(B, 'fsai') \ [1; 2]), B \ [1; 2], 1e-14);
end

function solvers_take_them()
A = clinalg.matrix(gallery('poisson', 20));
b = clinalg.vector(ones(400, 1));
[~, ~, ~, plain] = clinalg.pcg(A, b, 1e-8, 400);
for kind = {'ilu', 'ilut', 'ic', 'ssor', 'fsai', 'amg'}
  [x, flag, relres, iter] = clinalg.pcg(A, b, 1e-8, 400, kind{1});
  check(flag == 0 && relres <= 1e-8 && iter < plain && norm(b - A * x) <= 1.1e-8 * norm(b), '%s: %d', kind{1}, iter);
  M = clinalg.precond(A, kind{1});
  [~, flag, ~, again] = clinalg.pcg(A, b, 1e-8, 400, M);
  check(flag == 0 && again == iter, kind{1});
end
[~, flag] = clinalg.bicgstab(A, b, 1e-8, 100, 'ilu');
check(flag == 0);
[~, flag] = clinalg.gmres(A, b, 20, 1e-8, 20, 'spai0');
check(flag == 0);
end

function factors_as_matrices()
% Those of MATLAB, and solvers with two factors.
A = gallery('poisson', 12);
b = A * sin(1 : 144).';
X = clinalg.matrix(A);
L = clinalg.ichol(X);
check_close(gather(L), ichol(A), 1e-14);
check_close(gather(clinalg.ichol(A, struct('shape', 'upper'))), ichol(A).', 1e-14);
check_close(gather(clinalg.ichol(A, struct('diagcomp', 0.1))), ichol(A, struct('diagcomp', 0.1)), 1e-14);
[x, ~, ~, iter] = pcg(A, b, 1e-9, 100, ichol(A), ichol(A).');
for M = {{L, L'}, {ichol(A), ichol(A).'}, {clinalg.precond(A, 'ic', 'Shift', 0, 'Order', 'natural')}}
  [y, flag, ~, got] = clinalg.pcg(X, b, 1e-9, 100, M{1}{:});
  check(flag == 0 && got == iter, '%d of %d', got, iter);
  check_close(gather(y), x, 1e-8);
end
U = A;
U(2, 1) = -0.5;
[L, R] = clinalg.ilu(U);
[l, r] = ilu(U);
check_close(gather(L), l, 1e-14);
check_close(gather(R), r, 1e-14);
check_close(gather(clinalg.ilu(U)), l + r - speye(144), 1e-14);
[~, flag, ~, iter] = clinalg.gmres(U, b, 20, 1e-9, 5, L, R);
[~, ~, ~, expected] = clinalg.gmres(U, b, 20, 1e-9, 5, clinalg.precond(U, 'ilu', 'Order', 'natural'));
check(flag == 0 && isequal(iter, expected));
[~, flag] = clinalg.bicgstab(single(full(U)), single(b), 1e-4, 50, L, R);
check(flag == 0, 'factors in double precision');
[~, flag, ~, iter] = clinalg.pcg(A, b, 1e-9, 200, [], diag(diag(A)));
[~, ~, ~, plain] = clinalg.pcg(A, b, 1e-9, 200, 'jacobi');
check(flag == 0 && iter == plain);
[~, flag, ~, iter] = clinalg.pcg(A, b, 1e-9, 200, full(A));
check(flag == 0 && iter == 1, 'a full matrix');
C = A + 5 * speye(144) + 1i * spdiags(ones(144, 1), 1, 144, 144) - 1i * spdiags(ones(144, 1), -1, 144, 144);
L = clinalg.ichol(C);
check_close(gather(L), ichol(C), 1e-13);
[~, flag, ~, iter] = clinalg.pcg(C, b + 1i, 1e-10, 100, L, L');
[~, ~, ~, expected] = pcg(C, b + 1i, 1e-10, 100, ichol(C), ichol(C)');
check(flag == 0 && iter == expected);
check_error('clinalg:argument:value', 'clinalg.precond(A, ''ilut'')', @() clinalg.ilu(U, struct('type', 'crout', 'droptol', 0.1)));
check_error('clinalg:argument:value', 'michol', @() clinalg.ichol(A, struct('michol', 'on')));
check_error('clinalg:argument:value', 'row 2', @() clinalg.ilu(sparse([1 1; 1 1])));
check_error('clinalg:argument:value', 'row 2', @() clinalg.ichol(sparse([1 2; 2 1])));
check_error('clinalg:argument:value', 'a name alone', @() clinalg.pcg(A, b, 1e-9, 9, 'ilu', L));
check_error('clinalg:argument:value', 'both sides', @() MexTriangular(0, X.h));
end

function functions_of_the_caller()
A = gallery('poisson', 12);
b = A * sin(1 : 144).';
X = clinalg.matrix(A);
f = clinalg.vector(b);
before = clinalg.memory();
[x, ~, ~, iter] = clinalg.pcg(X, f, 1e-9, 200);
[y, flag, ~, got, resvec] = clinalg.pcg(@(v) X * v, f, 1e-9, 200);
check(flag == 0 && got == iter && isa(y, 'clinalg.array') && numel(resvec) == iter + 1);
check_close(gather(y), gather(x), 1e-8);
L = ichol(A);
[x, ~, ~, iter] = clinalg.pcg(A, b, 1e-9, 200, L, L.');
% One function in MATLAB's memory and one on the device.
M = clinalg.precond(A, 'ic', 'Shift', 0, 'Order', 'natural');
for F = {{@(r) L.' \ (L \ gather(r))}, {@(r) L \ gather(r), @(r) L.' \ gather(r)}, {L, @(r) L.' \ gather(r)}, {@(r) M \ r}}
  [y, flag, ~, got] = clinalg.pcg(A, b, 1e-9, 200, F{1}{:});
  check(flag == 0 && got == iter && isa(y, 'double'), '%d of %d', got, iter);
  check_close(y, x, 1e-8);
end
[y, flag, ~, got] = clinalg.gmres(@(v) X * v, f, 20, 1e-9, 8, @(r) M \ r, [], f);
[x, ~, ~, iter] = clinalg.gmres(X, f, 20, 1e-9, 8, M, [], f);
check(flag == 0 && isequal(got, iter) && isequal(gather(x), gather(y)));
[~, flag] = clinalg.bicgstab(@(v) 1i * (A * gather(v)), 1i * b, 1e-9, 200, 'none');
check(flag == 0, 'complex products');
check_error('my:error', 'no product', @() clinalg.pcg(@(v) error('my:error', 'no product'), f));
check_error('clinalg:argument:shape', '3 x 1, expected 144 x 1', @() clinalg.pcg(@(v) v(1 : 3), f));
check_error('clinalg:argument:complex', 'complex(b)', @() clinalg.pcg(@(v) 1i * v, f));
check_error('clinalg:argument:value', 'has no entries', @() clinalg.pcg(@(v) X * v, f, 1e-9, 9, 'ilu'));
check_error('clinalg:argument:value', 'tol', @() clinalg.pcg(@(v) X * v, f, -1));
check_error('clinalg:argument:class', 'clinalg.factor', @() clinalg.pcg(X, f, 1e-9, 9, {1}));
check_error('clinalg:argument:class', 'function handle', @() clinalg.pcg('afun', f));
check_error('clinalg:handle:foreign', '`run`', @() MexSolveNext(0, uint64(3)));
clear x y
after = clinalg.memory();
check(after.objects == before.objects + 1, '%d objects', after.objects - before.objects);
run = MexSolveBegin(0, 'pcg', 'function', f.h);
[wanted, r] = MexSolveNext(0, run);
check(strcmp(wanted, 'A'));
check_error('clinalg:argument:value', 'requested', @() MexSolveNext(0, run));
check_error('clinalg:solve:cancelled', 'product', @() MexSolveEnd(0, run));
check_error('clinalg:handle:stale', '`run`', @() MexSolveEnd(0, run));
MexRelease(0, r);
end

function best_iterate()
% As MATLAB's pcg where it does not converge.
% The residuals differ by much more than rounding errors, iteration 12 makes them larger.
n = 200;
A = spdiags((1 : n).' .^ 2, 0, n, n);
b = sin(1 : n).';
[x, flag, relres, iter, resvec] = clinalg.pcg(A, b, 1e-14, 12);
[~, host_flag, ~, host_iter] = pcg(A, b, 1e-14, 12);
check(flag == 1 && host_flag == 1 && iter == host_iter && iter < 12 && numel(resvec) == 13, '%d', iter);
check_close(relres, norm(b - A * x) / norm(b), 1e-8);
check(norm(b - A * x) <= min(resvec) * (1 + 1e-8));
% With a start, which is worse than nothing.
start = 1e3 * ones(n, 1);
[x, flag, relres, iter] = clinalg.pcg(A, b, 1e-14, 12, [], [], start);
[again, ~] = clinalg.pcg(A, b, 1e-14, iter, [], [], start);
check(flag == 1 && isequal(x, again));
I = gallery('poisson', 10) - 2 * speye(100);
[x, ~, relres, ~, resvec] = clinalg.bicgstab(I, ones(100, 1), 1e-14, 15);
check(norm(1 - I * x) <= min(resvec) * (1 + 1e-8) && abs(relres * 10 - norm(1 - I * x)) < 1e-9);
end

function multigrid_options()
A = gallery('poisson', 60);
b = ones(3600, 1);
iterations = zeros(1, 3);
cycles = 'vwk';
for k = 1 : 3
  M = clinalg.amg(A, 'Cycle', cycles(k), 'Coarsening', 'aggregation', 'CoarseSize', 20);
  [x, flag, ~, iterations(k)] = clinalg.pcg(A, b, 1e-8, 50, M);
  check(flag == 0 && norm(b - A * x) <= 1.1e-8 * norm(b), cycles(k));
end
check(iterations(3) <= iterations(1), mat2str(iterations));
[one, two] = deal(info(clinalg.amg(A, 'Coarsening', 'aggregation')), info(clinalg.amg(A, 'Coarsening', 'classical')));
check(~isequal([one.levels.rows], [two.levels.rows]));
[~, flag] = clinalg.pcg(A, b, 1e-8, 50, clinalg.amg(A, 'Coarsening', 'classical', 'SinglePrecision', true));
check(flag == 0);
% Gauss-Seidel sweeps, and a finest level coarsened aggressively.
M = clinalg.amg(A, 'Coarsening', 'classical', 'Smoother', 'gauss-seidel', 'Steps', 1, 'Aggressive', true, 'CoarseSize', 100);
[x, flag] = clinalg.pcg(A, b, 1e-8, 50, M);
check(flag == 0 && norm(b - A * x) <= 1.1e-8 * norm(b));
check_error('clinalg:argument:value', '`Aggressive`', @() clinalg.amg(A, 'Aggressive', true));
% Plane elasticity by bilinear elements on n x n nodes, fixed on the left: motions from coordinates are those of a rigid body.
[K, nodes] = elasticity(24);
M = clinalg.amg(K, 'Coordinates', nodes, 'CoarseSize', 60);
f = ones(size(K, 1), 1);
[x, flag, ~, iter] = clinalg.pcg(K, f, 1e-8, 100, M);
[~, ~, ~, without] = clinalg.pcg(K, f, 1e-8, 400, clinalg.amg(K, 'Block', 2, 'CoarseSize', 60));
check(flag == 0 && iter < without && norm(f - K * x) <= 1.1e-8 * norm(f), '%d, %d without', iter, without);
Z = zeros(2 * size(nodes, 1), 3);
Z(1 : 2 : end, 1) = 1;
Z(2 : 2 : end, 2) = 1;
Z(1 : 2 : end, 3) = -nodes(:, 2);
Z(2 : 2 : end, 3) = nodes(:, 1);
[~, ~, ~, same] = clinalg.pcg(K, f, 1e-8, 100, clinalg.amg(K, 'NearNull', Z, 'Block', 2, 'CoarseSize', 60));
check(abs(same - iter) <= 1, '%d, %d', same, iter);
check_error('clinalg:argument:value', 'follows from the coordinates', @() clinalg.amg(K, 'Coordinates', nodes, 'Block', 2));
check_error('clinalg:argument:length', '`Coordinates`', @() clinalg.amg(K, 'Coordinates', nodes(2 : end, :)));
check_error('clinalg:argument:value', '`Coarsening`', @() clinalg.amg(A, 'Coarsening', 'pmis'));
end

function [K, nodes] = elasticity(n)
% Stiffness matrix of plane elasticity by bilinear elements on n x n nodes, fixed on the left, and the coordinates of its nodes.
h = 1;
g = [-1 1] / sqrt(3);
D = [3 1 0; 1 3 0; 0 0 1];
E = zeros(8);
for s = g
  for t = g
    dx = [-(1 - t), 1 - t, 1 + t, -(1 + t)] / 4 * 2 / h;
    dy = [-(1 - s), -(1 + s), 1 + s, 1 - s] / 4 * 2 / h;
    B = zeros(3, 8);
    B(1, 1 : 2 : end) = dx;
    B(2, 2 : 2 : end) = dy;
    B(3, 1 : 2 : end) = dy;
    B(3, 2 : 2 : end) = dx;
    E = E + B' * D * B * h ^ 2 / 4;
  end
end
[i, j] = ndgrid(1 : n - 1);
corner = @(a, b) i(:) + a + (j(:) + b - 1) * n;
c = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
d = zeros(numel(i), 8);
d(:, 1 : 2 : end) = 2 * c - 1;
d(:, 2 : 2 : end) = 2 * c;
K = sparse(n ^ 2 * 2, n ^ 2 * 2);
[p, q] = ndgrid(1 : 8);
for e = 1 : 64
  K = K + sparse(d(:, p(e)), d(:, q(e)), E(p(e), q(e)), 2 * n ^ 2, 2 * n ^ 2);
end
[x, y] = ndgrid(0 : n - 1);
free = find(x(:) > 0);
nodes = [x(free), y(free)];
unknowns = sort([2 * free - 1; 2 * free]);
K = K(unknowns, unknowns);
K = (K + K') / 2;
end

function eigenvalues()
A = gallery('poisson', 12);
B = spdiags(1 + (1 : 144).' / 144, 0, 144, 144);
exact = sort(eig(full(A)));
X = clinalg.matrix(A);
check_close(clinalg.eigs(X, 4, 'smallestreal'), exact(1 : 4), 1e-10);
check_close(clinalg.eigs(X, 3, 'la'), exact(end : -1 : end - 2), 1e-10);
[V, D, flag] = clinalg.eigs(X, B, 3, 'smallestabs', struct('Preconditioner', 'amg', 'Tolerance', 1e-9));
check(flag == 0 && isa(V, 'clinalg.array') && ~isa(D, 'clinalg.array'));
V = gather(V);
check_close(diag(D), sort(eigs(A, B, 3, 'sm')), 1e-9);
check(norm(A * V - B * V * D) <= 1e-8 * norm(full(A)));
check_close(V' * B * V, eye(3), 1e-9);
% Both ends: an indefinite matrix.
C = A - 3.5 * speye(144);
all = sort(abs(eig(full(C))), 'descend');
check_close(abs(clinalg.eigs(C, 5)), all(1 : 5), 1e-9);
M = clinalg.amg(A);
check_close(clinalg.eigs(A, 2, 'sa', struct('Preconditioner', M)), exact(1 : 2), 1e-10);
check_error('clinalg:eigs:indefinite', 'positive definite', @() clinalg.eigs(C, 2, 'smallestabs'));
check_error('clinalg:argument:value', 'only the smallest', @() clinalg.eigs(A, 2, 'la', struct('Preconditioner', M)));
% More than half of the eigenvalues, where both ends overlap.
check_close(abs(clinalg.eigs(C, 100)), all(1 : 100), 1e-9);
check_error('clinalg:argument:value', 'half of the 200 rows', @() clinalg.eigs(speye(200), 101));
check_error('clinalg:argument:value', 'smallestreal', @() clinalg.eigs(A, 2, 'nearest'));
check_error('clinalg:argument:class', 'use eigs', @() clinalg.eigs(A, 2, 0.5));
check_error('clinalg:argument:value', 'not Hermitian', @() clinalg.eigs(A * 1i, 2, 'sa'));
end

function tiny_matrices_have_all_their_eigenvalues()
for sigma = {'largestabs', 'largestreal', 'smallestreal', 'smallestabs'}
  for A = {-2.5, sparse(-2.5), clinalg.matrix(sparse(-2.5)), single(-2.5), complex(-2.5)}
    check_close(double(clinalg.eigs(A{1}, 1, sigma{1})), -2.5, 1e-15);
  end
  ascending = any(strcmp(sigma{1}, {'smallestreal', 'smallestabs'}));
  exact = [3; 1];
  if ascending, exact = [1; 3]; end
  for k = 1 : 2
    check_close(clinalg.eigs([2 1; 1 2], k, sigma{1}), exact(1 : k), 1e-14);
    check_close(clinalg.eigs(sparse([2 1i; -1i 2]), k, sigma{1}), exact(1 : k), 1e-14);
  end
  check_error('clinalg:argument:value', '`k` is 3, expected from 1 to the 2 rows', @() clinalg.eigs([2 1; 1 2], 3, sigma{1}));
end
[V, D, flag] = clinalg.eigs(-2.5);
check(abs(V) == 1 && D == -2.5 && flag == 0);
% The order of eigs.
check_close(clinalg.eigs(diag([1 -3 2]), 3), [-3; 2; 1], 1e-13);
check_close(clinalg.eigs(diag([1 -3 2]), 3, 'smallestabs'), [1; 2; -3], 1e-13);
end

function unsymmetric_matrices_have_no_eigenpairs()
A = gallery('poisson', 12);
wind = A + 1e-4 * spdiags(ones(144, 1), 1, 144, 144);
one = A;
one(7, 8) = one(7, 8) + 1e-4;
skew = gallery('tridiag', 40, -1, 2, -0.999);
for type = {'double', 'single'}
  accuracy = max(1e-9, 1e4 * eps(type{1}));
  for S = {wind, one, skew}
    for X = {clinalg.matrix(S{1}, type{1}), clinalg.matrix(full(S{1}), type{1})}
      check_error('clinalg:argument:value', 'symmetric', @() clinalg.eigs(X{1}, 2, 'sa'));
    end
  end
  check_error('clinalg:argument:value', 'symmetric', @() clinalg.eigs(clinalg.matrix(full(skew), 1, 1, type{1}), 2, 'sa'));
  check_error('clinalg:argument:value', '`B`', @() clinalg.eigs(clinalg.matrix(A, type{1}), speye(144) + 0.1 * (wind - A), 2, 'sa'));
  % Symmetric up to rounding: products in another order.
  [Q, ~] = qr(cos((1 : 60)' * (1 : 60) + 0.5 * ones(60, 1) * (1 : 60) .^ 2));
  d = [-30 : -1, 1 : 30]';
  rounded = cast(Q, type{1}) * diag(cast(d, type{1})) * cast(Q, type{1})';
  rounded = rounded .* (1 + eps(type{1}) * triu(ones(60)));
  check_close(double(clinalg.eigs(clinalg.matrix(rounded), 2, 'sa')), [-30; -29], accuracy);
  scaled = A .* (1 + double(eps(type{1})) * triu(ones(144)));
  exact = sort(eig(full(A)));
  check_close(double(clinalg.eigs(clinalg.matrix(sparse(scaled), type{1}), 2, 'la')), exact(end : -1 : end - 1), accuracy);
end
end

function multigrid()
A = gallery('poisson', 40);
M = clinalg.amg(A, struct('Reusable', true, 'CoarseSize', 100));
s = info(M);
rows = [s.levels.rows];
check(rows(1) == 1600 && all(diff(rows) < 0) && rows(end) <= 100 && s.direct && s.null_vectors == 0);
check(s.levels(1).entries == nnz(A) && s.levels(end).prolongator == 0 && s.levels(1).prolongator > 0);
check(abs(s.grid_complexity - sum(rows) / 1600) < 1e-12);
check(abs(s.operator_complexity - sum([s.levels.entries]) / nnz(A)) < 1e-12);
r = sin(1 : 1600).';
z = gather(M \ r);
% A cycle for 4 A is a quarter of that for A.
refill(M, 4 * A);
check_close(gather(M \ r), z / 4, 1e-12);
h = MexAmg(0, MexSparseMatrix(0, A));
factor = MexAmgFactor(0, h, MexSparseMatrix(0, A));
check(factor > 0 && factor < 0.5, '%g', factor);
% Constants given are those taken.
check_close(gather(clinalg.amg(A, struct('CoarseSize', 100, 'NearNull', ones(1600, 1))) \ r), z, 1e-12);
end

function complex_matrices()
A = gallery('tridiag', 20, -1, 5, -1) + 1i * spdiags(ones(20, 1), 1, 20, 20) - 1i * spdiags(ones(20, 1), -1, 20, 20);
r = (1 : 20).' + 1i;
% Tridiagonal matrices have no fill.
check_close(gather(clinalg.precond(A) \ r), A \ r, 1e-12);
[~, flag, ~, iter] = clinalg.gmres(A, r, 20, 1e-10, 1, 'ilu');
check(flag == 0 && iter(2) <= 2);
% The Laplacian with smooth phases: Hermitian positive definite.
L = gallery('poisson', 40);
D = spdiags(exp(0.01i * (1 : 1600).'), 0, 1600, 1600);
A = D * L * D';
b = A * (sin((1 : 1600).') + 1i * cos((1 : 1600).' .^ 2));
[~, ~, ~, plain] = clinalg.pcg(A, b, 1e-10, 500);
M = clinalg.amg(A, struct('NearNull', diag(D)));
for precond = {M, 'amg'}
  [x, flag, ~, iter] = clinalg.pcg(A, b, 1e-10, 500, precond{1});
  check(flag == 0 && 3 * iter < plain, '%d of %d', iter, plain);
  check_close(gather(x), A \ b, 1e-7);
end
check_error('clinalg:argument:value', 'auto or aggregation', @() clinalg.amg(A, struct('Coarsening', 'classical')));
end

function saddle_points()
% A chain of masses and constraints of differences.
B = sparse([1 : 30, 1 : 30], [1 : 30, 2 : 31], [ones(1, 30), -ones(1, 30)], 30, 60);
K = [gallery('tridiag', 60, -1, 4, -1), B'; B, sparse(30, 30)];
b = sin((1 : 90)');
A = clinalg.matrix(K);
[~, ~, ~, plain] = clinalg.minres(A, b, 1e-10, 200);
[x, flag, relres, iter] = clinalg.minres(A, clinalg.vector(b), 'Tolerance', 1e-10, 'MaxIterations', 200, 'Preconditioner', 'saddle');
check(flag == 0 && relres <= 1e-10 && iter < plain / 2, '%d of %d', iter, plain);
check_close(gather(x), K \ b, 1e-8);
M = clinalg.saddle(A);
[x, flag, ~, again] = clinalg.minres(A, b, 1e-10, 200, M);
check(flag == 0 && again == iter);
s = info(M);
check(strcmp(s.shape, 'diagonal') && isequal(s.rows, [60 30]) && ~s.null_constant && any(strcmp(s.schur, {'product', 'diagonal'})));
% The right half of iterations with triangular blocks, and the rows named.
order = [61 : 90, 1 : 60];
P = K(order, order);
M = clinalg.precond(P, 'saddle', 'Shape', 'triangular', 'Block', 1 : 30, 'Schur', 'product', 'First', 'ic', 'Second', 'jacobi');
s = info(M);
check(strcmp(s.shape, 'triangular') && strcmp(s.schur, 'product') && strcmp(s.first, 'ic') && strcmp(s.second, 'jacobi'));
[x, flag, ~, iter] = clinalg.gmres(P, b(order), 90, 1e-10, 1, M);
check(flag == 0 && iter(2) < plain / 2);
check_close(gather(x), P \ b(order), 1e-8);
[~, flag] = clinalg.gmres(A, b, 90, 1e-10, 1, 'saddle');
check(flag == 0);
s = info(clinalg.saddle(A, struct('rows', 60, 'mass', ones(30, 1))));
check(strcmp(s.schur, 'mass') && isempty(s.second));
% With a function of the caller as A there are no entries.
check_error('clinalg:argument:value', 'function', @() clinalg.minres(@(x) A * x, b, 1e-6, 9, 'saddle'));
check_error('clinalg:argument:value', 'saddle point', @() clinalg.saddle(gallery('poisson', 4)));
check_error('clinalg:argument:value', 'shape', @() clinalg.saddle(A, 'Shape', 'round'));
check_error('clinalg:argument:value', '`rows`', @() clinalg.saddle(A, 'Rows', 60, 'Block', 61 : 90));
check_error('clinalg:argument:value', '`block`', @() clinalg.saddle(A, 'Block', 0 : 5));
check_error('clinalg:argument:value', 'real', @() clinalg.minres(clinalg.matrix(K + 1i * speye(90)), b, 1e-6, 9, 'saddle'));
% A symmetric indefinite system and a function as product.
S = gallery('tridiag', 50, -1, 0.5, -1);
c = ones(50, 1);
[x, flag] = clinalg.minres(@(x) S * gather(x), c, 1e-10, 200);
check(flag == 0);
check_close(gather(x), S \ c, 1e-8);
end

function errors()
A = gallery('tridiag', 5);
check_error('clinalg:argument:value', '`kind`', @() clinalg.precond(A, 'lu'));
check_error('clinalg:argument:value', '`droptol` is not known', @() clinalg.precond(A, 'ilut', struct('droptol', 1)));
check_error('clinalg:argument:value', '`DropTolerance`', @() clinalg.precond(A, 'ilu', struct('DropTolerance', 1)));
check_error('clinalg:argument:value', '`Omega`', @() clinalg.precond(A, 'ssor', struct('omega', 2)));
check_error('clinalg:argument:class', 'options', @() clinalg.amg(A, 3));
check_error('clinalg:argument:shape', '`A`', @() clinalg.precond(sparse(2, 3)));
check_error('clinalg:handle:kind', '`A`', @() clinalg.precond(clinalg.matrix(eye(2))));
check_error('clinalg:argument:value', 'row 2', @() clinalg.precond(sparse([1 1; 1 1]), 'ilu', struct('matching', 'never')));
check_error('clinalg:argument:value', 'refill: `Reusable`', @() refill(clinalg.amg(A), A));
check_error('clinalg:argument:shape', 'algebraic multigrid', @() refill(clinalg.precond(A), A));
check_error('clinalg:argument:shape', '`A`', @() clinalg.pcg(eye(3), ones(3, 1), [], [], 'ilu'));
check_error('clinalg:argument:shape', '`Preconditioner`', @() clinalg.pcg(eye(3), ones(3, 1), [], [], clinalg.precond(A)));
% Both triangles are read before one is used.
U = gallery('poisson', 20) + sparse(3, 4, 0.5, 400, 400);
for kind = {'ic', 'fsai'}
  check_error('clinalg:argument:value', 'not symmetric', @() clinalg.precond(U, kind{1}));
  check_error('clinalg:argument:value', 'ilu', @() clinalg.pcg(U, ones(400, 1), 1e-6, 9, kind{1}));
  check_error('clinalg:argument:value', 'not Hermitian', @() clinalg.precond(U + 1i * speye(400), kind{1}));
end
for M = {[], 'jacobi', @(r) r, clinalg.amg(U)}
  check_error('clinalg:argument:shape', '`b` is 399 x 1, expected 400 rows', @() clinalg.pcg(U, ones(399, 1), 1e-6, 9, M{1}));
  check_error('clinalg:argument:shape', '`A` is 400 x 300, expected a square', @() clinalg.bicgstab(U(:, 1 : 300), ones(399, 1), 1e-6, 9, M{1}));
end
end

function mass_matrices_are_positive_definite()
A = gallery('poisson', 20);
for B = {-speye(400), sparse(400, 400), A - 2 * speye(400), -eye(400)}
  check_error('clinalg:argument:value', 'clinalg.eigs: `B`: B is not positive definite', @() clinalg.eigs(A, B{1}, 3, 'smallestreal'));
end
d = clinalg.eigs(A, A + speye(400), 3, 'smallestreal');
e = sort(eig(full(A), full(A) + eye(400)));
check_close(d, e(1 : 3), 1e-8);
end

function complex_right_hand_sides()
% A and M are real.
A = gallery('poisson', 20);
b = (1 + 2i) * ones(400, 1);
b(7) = 3i;
for M = {'amg', 'sa', 'classical', clinalg.amg(A), clinalg.precond(A, 'ic')}
  [x, flag, relres] = clinalg.pcg(A, b, 1e-9, 200, M{1});
  check(flag == 0 && relres <= 1e-9);
  check_close(x, A \ b, 1e-6);
end
[x, flag] = clinalg.gmres(clinalg.matrix(A), clinalg.vector(b), 'Tolerance', 1e-9, 'MaxIterations', 200, 'Preconditioner', 'amg', ...
  'InitialGuess', b);
check(flag == 0 && isa(x, 'clinalg.array'));
check_close(gather(x), A \ b, 1e-6);
end

function single_rows()
% Matrices of one row.
A = sparse(2);
for M = {clinalg.amg(A), clinalg.precond(A, 'ilu'), clinalg.precond(A, 'fsai'), clinalg.precond(A, 'jacobi')}
  check_close(M{1} \ 4, 2, 1e-15);
  check_close(gather(M{1} \ [4 8]), [2 4], 1e-15);
end
a = clinalg.matrix(A);
check(isequal(full(a * clinalg.vector(3)), 6) && isequal(full(a * a), 4) && isequal(full(a' * 4), 8) && isequal(full(a .* a), 4));
end

function several_columns()
A = gallery('poisson', 20);
B = reshape(sin(1 : 1200), 400, 3);
M = clinalg.amg(A);
X = gather(M \ B);
for k = 1 : 3
  check(isequal(X(:, k), gather(M \ B(:, k))));
end
check(isequal(gather(M \ sparse(B)), X) && isequal(gather(M \ clinalg.matrix(B)), X));
check_close(gather(M \ (B * (1 + 2i))), X * (1 + 2i), 1e-13);
Y = M \ single(B);
check(strcmp(underlyingType(Y), 'single'));
check_close(double(gather(Y)), X, 1e-5);
check_error('clinalg:argument:shape', 'M is 400 x 400, b is 1 x 10', @() M \ B(1 : 10));
% A function as preconditioner.
[x, flag] = clinalg.pcg(A, B, 1e-9, 100, @(r) M \ r);
check(flag == 0);
check_close(x, clinalg.pcg(A, B, 1e-9, 100, M), 1e-12);
[x, flag] = clinalg.pcg(@(v) A * v, B, 1e-9, 200);
check(flag == 0);
check_close(x, A \ B, 1e-6);
end

function failed_refills()
% M keeps the values that it had.
A = gallery('poisson', 30);
b = ones(900, 1);
M = clinalg.amg(A, 'Reusable', true);
refill(M, 2 * A);
before = gather(M \ b);
B = A;
B(5, 6) = NaN;
check_error('clinalg:argument:value', 'row 5 and column 6', @() refill(M, B));
check(isequal(gather(M \ b), before));
end

function entries_that_are_not_finite()
A = gallery('poisson', 10);
b = ones(100, 1);
for at = {[5 6], [6 5], [5 5]}
  B = A;
  B(at{1}(1), at{1}(2)) = NaN;
  place = sprintf('row %d and column %d (counted from 1) is NaN', at{1});
  for kind = {'ilu', 'ilut', 'ic', 'ssor', 'spai0', 'fsai', 'amg'}
    check_error('clinalg:argument:value', place, @() clinalg.precond(B, kind{1}));
    check_error('clinalg:argument:value', place, @() clinalg.pcg(B, b, 1e-8, 50, kind{1}));
  end
  [~, ~, ~, ~, ~, reason] = clinalg.krylov('pcg', B, b, {1e-8});
  check(~isempty(strfind(reason, sprintf('A(%d, %d) is NaN', at{1}))), reason);
end
b(7) = Inf;
[~, ~, ~, ~, ~, reason] = clinalg.krylov('bicgstab', A, b, {1e-8});
check(~isempty(strfind(reason, 'b(7, 1) is inf')), reason);
end

function arguments_by_their_names()
A = gallery('poisson', 10);
b = ones(100, 1);
check_error('clinalg:argument:shape', 'clinalg.pcg: `b` is 10 x 1, expected 100 rows', @() clinalg.pcg(A, b(1 : 10)));
check_error('clinalg:argument:shape', '`b` is 10 x 2, expected 100 rows', @() clinalg.pcg(A, b(1 : 10) * [1 1]));
check_error('clinalg:argument:value', 'clinalg.amg: `Steps` is 0', @() clinalg.amg(A, 'Steps', 0));
check_error('clinalg:argument:value', 'clinalg.amg: `NearNull`: vector 1', @() clinalg.amg(A, 'NearNull', 0 * b));
check_error('clinalg:argument:shape', '`NearNull` is 1 x 1', @() clinalg.amg(A, 'NearNull', 1));
check_error('clinalg:argument:value', '`Smoother` is ''none'', expected ''chebyshev'', ''l1-jacobi''', @() clinalg.amg(A, 'Smoother', 'none'));
check_error('clinalg:argument:shape', 'clinalg.eigs: `B` is 3 x 3', @() clinalg.eigs(A, speye(3), 3, 'smallestreal'));
check(strcmp(getfield(info(clinalg.precond(A, 'jacobi')), 'kind'), 'jacobi'));
check_close(gather(clinalg.precond(A, 'jacobi') \ b), b / 4, 1e-15);
for kind = {'sa', 'classical'; 'aggregation', 'classical'}
  s = info(clinalg.precond(A, kind{1}, 'CoarseSize', 20));
  check(strcmp(s.coarsening, kind{2}) && isnan(s.convergence_factor));
end
X = clinalg.matrix(A);
M = clinalg.amg(X, 'Smoother', 'l1-jacobi');
factor = MexAmgFactor(0, M.inverse.h, X.h);
check(getfield(info(M), 'convergence_factor') == factor);
end
