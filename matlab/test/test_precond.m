function tests = test_precond()
tests = {@incomplete_factors_against_the_host, @approximate_inverses_against_closed_forms, @solvers_take_them, ...
  @eigenvalues, @multigrid, @complex_matrices, @errors};
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
M = clinalg.precond(U, 'ilut', struct('drop', 0, 'fill', 64));
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
check_error('clinalg:argument:value', 'half of the 144 rows', @() clinalg.eigs(A, 100));
check_error('clinalg:argument:value', 'smallestreal', @() clinalg.eigs(A, 2, 'nearest'));
check_error('clinalg:argument:class', 'use eigs', @() clinalg.eigs(A, 2, 0.5));
check_error('clinalg:argument:value', 'real', @() clinalg.eigs(A * 1i, 2, 'sa'));
end

function multigrid()
A = gallery('poisson', 40);
M = clinalg.amg(A, struct('reusable', true, 'coarse', 100));
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
check_close(gather(clinalg.amg(A, struct('coarse', 100, 'Z', ones(1600, 1))) \ r), z, 1e-12);
end

function complex_matrices()
A = gallery('tridiag', 20, -1, 5, -1) + 1i * spdiags(ones(20, 1), 1, 20, 20) - 1i * spdiags(ones(20, 1), -1, 20, 20);
r = (1 : 20).' + 1i;
% Tridiagonal matrices have no fill.
check_close(gather(clinalg.precond(A) \ r), A \ r, 1e-12);
[~, flag, ~, iter] = clinalg.gmres(A, r, 20, 1e-10, 1, 'ilu');
check(flag == 0 && iter(2) <= 2);
check_error('clinalg:argument:value', 'real', @() clinalg.amg(A));
end

function errors()
A = gallery('tridiag', 5);
check_error('clinalg:argument:value', '`kind`', @() clinalg.precond(A, 'lu'));
check_error('clinalg:argument:value', '`droptol` is not known', @() clinalg.precond(A, 'ilut', struct('droptol', 1)));
check_error('clinalg:argument:value', '`drop`', @() clinalg.precond(A, 'ilu', struct('drop', 1)));
check_error('clinalg:argument:value', '`omega`', @() clinalg.precond(A, 'ssor', struct('omega', 2)));
check_error('clinalg:argument:class', 'options', @() clinalg.amg(A, 3));
check_error('clinalg:argument:shape', '`A`', @() clinalg.precond(sparse(2, 3)));
check_error('clinalg:handle:kind', '`A`', @() clinalg.precond(clinalg.matrix(eye(2))));
check_error('clinalg:argument:value', 'row 2', @() clinalg.precond(sparse([1 1; 1 1]), 'ilu', struct('matching', 'never')));
check_error('clinalg:argument:value', '`reusable`', @() refill(clinalg.amg(A), A));
check_error('clinalg:argument:shape', 'algebraic multigrid', @() refill(clinalg.precond(A), A));
check_error('clinalg:argument:shape', '`A`', @() clinalg.pcg(eye(3), ones(3, 1), [], [], 'ilu'));
check_error('clinalg:argument:shape', '`precond`', @() clinalg.pcg(eye(3), ones(3, 1), [], [], clinalg.precond(A)));
end
