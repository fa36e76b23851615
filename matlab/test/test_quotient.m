function tests = test_quotient()
% A \ b of large sparse arrays, and clinalg.solve.
tests = {@symmetric, @other_matrices, @rectangular, @without_iterations, @by_hand, @the_line_of_the_guide};
if ~isempty(getenv('CLINALG_TEST_THOROUGH'))
  tests = [tests, {@single_precision, @saddle_point, @no_solution}];
end
end

function [x, id, words] = quotient(A, b)
% A \ b with its warning.
lastwarn('', '');
state = warning();
restored = onCleanup(@() warning(state));
x = A \ b;
[words, id] = lastwarn();
end

function symmetric()
S = gallery('poisson', 32);
b = cos((1 : 1024)' * [1, 2, 3]);
[x, id, words] = quotient(clinalg.matrix(S), b);
check(isempty(id), words);
check(isa(x, 'clinalg.array') && isequal(size(x), [1024 3]));
check_close(gather(x), S \ b, 1e-12);
% One of the operands on the device is enough, and the row form is the transposed one.
[x, id, words] = quotient(S, clinalg.vector(b(:, 1)));
check(isempty(id), words);
check_close(gather(x), S \ b(:, 1), 1e-12);
x = b(:, 2)' / clinalg.matrix(S);
check_close(gather(x), b(:, 2)' / S, 1e-12);
end

function single_precision()
S = gallery('poisson', 32);
b = cos((1 : 1024)');
[x, id, words] = quotient(clinalg.matrix(S, 'single'), single(b));
check(isempty(id), words);
check(strcmp(underlyingType(x), 'single'));
check_close(double(gather(x)), S \ b, 1e-3);
end

function saddle_point()
S = gallery('poisson', 32);
B = [speye(300), sparse(300, 724)] - [sparse(300, 1), speye(300), sparse(300, 723)];
K = [4 * speye(1024) + S, B'; B, sparse(300, 300)];
b = sin((1 : 1324)');
[x, id, words] = quotient(clinalg.matrix(K), b);
check(isempty(id), words);
check_close(gather(x), K \ b, 1e-12);
end

function other_matrices()
n = 1024;
flow = gallery('poisson', 32) + spdiags(ones(n, 1) * [-0.6, 0.6], [-1, 1], n, n);
b = sin((1 : n)');
[x, id, words] = quotient(clinalg.matrix(flow), b);
check(isempty(id), words);
check_close(gather(x), flow \ b, 1e-12);
hermitian = gallery('poisson', 32) + spdiags(1i * ones(n, 1) * [-0.3, 0.3], [-1, 1], n, n);
[x, id, words] = quotient(clinalg.matrix(hermitian), b + 1i);
check(isempty(id), words);
check_close(gather(x), hermitian \ (b + 1i), 1e-12);
% Real numbers on one side.
x = quotient(clinalg.matrix(hermitian), b);
check_close(gather(x), hermitian \ b, 1e-12);
end

function rectangular()
T = gallery('tridiag', 1000, -1, 3, 1);
A = [speye(1000); T(1 : 400, :)];
b = cos((1 : 1400)');
[x, id, words] = quotient(clinalg.matrix(A), [b, 2 * b]);
check(strcmp(id, 'clinalg:solve:iterative') && ~isempty(strfind(words, 'LSMR')), words); %#ok<STREMP>
check_close(gather(x), A \ [b, 2 * b], 1e-7);
% Of all solutions the one of smallest norm.
x = quotient(clinalg.matrix(A'), b(1 : 1000));
check_close(gather(x), A * ((A' * A) \ b(1 : 1000)), 1e-7);
end

function without_iterations()
n = 1100;
L = speye(n) * 2 + spdiags(ones(n, 1) * [0.5, 0.25], [-7, -1], n, n);
b = cos((1 : n)' * [1, 2]);
for S = {L, L'}
  [x, id] = quotient(clinalg.matrix(S{1}), b);
  check(isempty(id), id);
  check_close(gather(x), S{1} \ b, 1e-12);
end
small = gallery('poisson', 10);
[x, id] = quotient(clinalg.matrix(small), b(1 : 100, :));
check(isempty(id), id);
check_close(gather(x), small \ b(1 : 100, :), 1e-12);
band = gallery('tridiag', n);
[x, id] = quotient(clinalg.matrix(band, 1, 1), b);
check(isempty(id), id);
check_close(gather(x), band \ b, 1e-9);
check_error('clinalg:argument:value', 'mldivide', @() clinalg.matrix(band) \ ones(5, 1));
end

function no_solution()
% A chain without conditions at its ends, and b with a part along its null vector.
n = 10001;
T = spdiags(ones(n, 1) * [-1, 2, -1], -1 : 1, n, n);
T(1, 1) = 1;
T(n, n) = 1;
[x, id, words] = quotient(clinalg.matrix(T), ones(n, 1));
check(strcmp(id, 'clinalg:solve:notConverged') && ~isempty(strfind(words, 'did not converge')), words); %#ok<STREMP>
check(isequal(size(x), [n 1]));
end

function by_hand()
S = gallery('poisson', 32);
b = ones(1024, 2);
[x, flag, relres, iter, info] = clinalg.solve(S, b, 'Tolerance', 1e-6);
check(isequal(flag, [0 0]) && all(relres <= 1e-6) && all(iter > 0) && isa(x, 'double'));
check(strcmp(info.preconditioner, 'algebraic multigrid') && ~isempty(info.why) && ~isempty(info.reason));
[~, flag, ~, iter] = clinalg.solve(clinalg.matrix(S), b(:, 1), 1e-12, 2);
check(flag == 1 && iter == 2);
[x, flag] = clinalg.solve(clinalg.matrix(gallery('tridiag', 1200), 1, 1), clinalg.vector(ones(1200, 1)));
check(flag == 0 && isa(x, 'clinalg.array'));
[~, flag, relres, ~, info] = clinalg.solve(S, b, 'Solver', 'minres,jacobi,tol=1e-4');
check(isequal(flag, [0 0]) && all(relres > 1e-6) && strcmp(info.method, 'MINRES') && strcmp(info.preconditioner, 'Jacobi'));
[~, flag, ~, iter] = clinalg.solve(S, b(:, 1), 1e-10, 3, 'Solver', 'cg,none,max-iterations=5');
check(flag == 1 && iter == 3);
check_error('clinalg:argument:value', 'bicgstab, idrs, gmres', @() clinalg.solve(S, b, 'Solver', 'gmers'));
check_error('clinalg:argument:value', 'above 0 and below 1', @() clinalg.solve(S, b, 'Solver', 'cg,tol=NaN'));
check_error('clinalg:argument:value', 'at once', @() clinalg.solve(S, b, 'Solver', 'block-cg'));
check_error('clinalg:argument:class', 'sparse', @() clinalg.solve(eye(3), ones(3, 1)));
check_error('clinalg:argument:shape', 'rows', @() clinalg.solve(S, ones(3, 1)));
check_error('clinalg:argument:count', 'too few', @() clinalg.solve(S));
check_error('clinalg:argument:value', 'Tolerance', @() clinalg.solve(S, b, 'Tol', 1));
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, S);
check_error('clinalg:argument:shape', '`b`', @() MexSolveSparse(gpu, A, MexMatrix(gpu, ones(5, 1))));
check_error('clinalg:argument:precision', '`b`', @() MexSolveSparse(gpu, A, MexMatrix(gpu, single(b))));
check_error('clinalg:argument:value', '`tol`', @() MexSolveSparse(gpu, A, MexMatrix(gpu, b), -1));
check_error('clinalg:handle:kind', '`A`', @() MexSolveSparse(gpu, MexMatrix(gpu, b), MexMatrix(gpu, b)));
MexReleaseOpenCL(gpu);
end

function the_line_of_the_guide()
% Octave cannot save objects: clinalg.store keeps x.
rand('state', 5); %#ok<RAND>
S = sprand(1000, 1000, .01);
b = ones(1000, 1);
file = [tempname(), '.mat'];
state = warning();
restored = onCleanup(@() warning(state));
lastwarn('', '');
evalc('A = clinalg.matrix(S); B = A*A; x = A\b; x(1:10), x(end) = 0; s = sum(A,1), m = max(abs(x)), clinalg.store(file, ''x'')');
[words, id] = lastwarn();
check(isempty(id), words);
kept = clinalg.restore(file);
delete(file);
expected = S \ b;
expected(end) = 0;
check(norm(gather(kept.x) - expected) <= 1e-6 * norm(expected));
check_close(gather(s), full(sum(S, 1)), 1e-14);
check_close(m, max(abs(expected)), 1e-6);
check(norm(gather(B) - S * S, 1) <= 1e-14 * norm(S * S, 1));
end
