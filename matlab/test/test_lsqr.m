function tests = test_lsqr()
% clinalg.lsqr against A \ b and pinv.
tests = {@full_rank, @all_kinds, @of_several_solutions_the_smallest, @from_a_start, @ends, @several_columns, @preconditioners_by_name, @functions_and_preconditioners, @bad_calls};
end

function A = tall(m, n)
% Well conditioned columns of different lengths.
A = [speye(n); spdiags(ones(m - n, 1) * [1, -2, 1], [0, 3, 7], m - n, n)] * spdiags(1 + mod(0 : n - 1, 5)', 0, n, n);
end

function full_rank()
A = tall(90, 40);
b = cos((1 : 90)');
x = A \ b;
[y, flag, relres, iter, resvec] = clinalg.lsqr(A, b, 1e-12, 200);
check(flag == 0 && isa(y, 'double') && isequal(size(y), [40 1]) && iter <= 200);
check_close(y, x, 1e-9);
check_close(relres, norm(b - A * x) / norm(b), 1e-9);
check(numel(resvec) == iter + 1 && all(diff(resvec) <= 1e-12 * norm(b)));
check_close(resvec([1 end]), [norm(b); norm(b - A * x)], 1e-9);
% Scaled columns take fewer iterations; b is in the range here.
[y, flag, relres, fewer] = clinalg.lsqr(clinalg.matrix(A), b, 'Tolerance', 1e-12, 'MaxIterations', 200, 'Preconditioner', 'jacobi');
check(flag == 0 && isa(y, 'clinalg.array') && fewer < iter, '%d, %d', fewer, iter);
check_close(gather(y), x, 1e-9);
[y, flag, relres] = clinalg.lsqr(A, A * (1 : 40)', 1e-12, 200);
check(flag == 0 && relres <= 1e-12);
check_close(y, (1 : 40)', 1e-9);
end

function all_kinds()
A = tall(60, 25);
b = sin((1 : 60)');
for type = {'double', 'single'}
  accuracy = max(1e-9, 2e3 * eps(type{1}));
  tol = 20 * eps(type{1});
  for shift = [0, 1i]
    S = A + shift * spdiags(0.3 * ones(60, 1), -2, 60, 25);
    c = b + shift * cos((1 : 60)');
    for kind = {clinalg.matrix(S, type{1}), clinalg.matrix(full(S), type{1})}
      [x, flag] = clinalg.lsqr(kind{1}, cast(c, type{1}), tol, 300);
      check(flag == 0 || flag == 3, '%d', flag);
      check_close(double(gather(x)), S \ c, accuracy);
    end
  end
end
T = spdiags(ones(30, 1) * [-1, 3, 1], -1 : 1, 30, 28);
x = clinalg.lsqr(clinalg.matrix(T, 1, 1), b(1 : 30), 1e-12, 100);
check_close(gather(x), T \ b(1 : 30), 1e-9);
end

function of_several_solutions_the_smallest()
% A column that is the sum of two others, and a system with fewer rows than columns.
A = tall(50, 20);
A = [A, A(:, 1) + A(:, 2)];
b = cos((1 : 50)');
[x, flag] = clinalg.lsqr(A, b, 1e-12, 200);
check(flag == 0);
check_close(x, pinv(full(A)) * b, 1e-9);
W = tall(50, 20)';
[x, flag, relres] = clinalg.lsqr(W, b(1 : 20), 1e-12, 200);
check(flag == 0 && relres <= 1e-12);
check_close(x, pinv(full(W)) * b(1 : 20), 1e-9);
% With scaled columns the smallest in the norm of the scales.
d = sqrt(sum(A .^ 2, 1)).';
[x, flag] = clinalg.lsqr(A, b, 1e-12, 200, 'jacobi');
check(flag == 0);
check_close(x, (pinv(full(A) * diag(1 ./ d)) * b) ./ d, 1e-9);
end

function from_a_start()
A = tall(50, 20)';
b = sin((1 : 20)');
x0 = (1 : 50)' / 10;
expected = x0 + pinv(full(A)) * (b - A * x0);
given = clinalg.vector(x0);
for start = {x0, given}
  [x, flag] = clinalg.lsqr(A, b, 1e-12, 200, [], [], start{1});
  check(flag == 0);
  check_close(x, expected, 1e-9);
end
check(isequal(gather(given), x0), 'the start is not changed');
[~, flag, ~, iter] = clinalg.lsqr(A, b, 1e-10, 200, [], [], expected);
check(flag == 0 && iter == 0);
end

function ends()
A = tall(90, 40);
b = cos((1 : 90)');
[~, flag, relres, iter, resvec] = clinalg.lsqr(A, b, 1e-12, 2);
check(flag == 1 && iter == 2 && numel(resvec) == 3 && relres < 1);
[~, flag, ~, iter] = clinalg.lsqr(A, b, 1e-12);
check(flag == 1 && iter == 20);
[x, flag, relres, iter] = clinalg.lsqr(A, zeros(90, 1));
check(flag == 0 && iter == 0 && relres == 0 && all(x == 0));
[~, flag] = clinalg.lsqr(sparse([1, NaN; 0, 1; 1, 1]), ones(3, 1));
check(flag == 4);
end

function several_columns()
A = tall(90, 40);
B = cos((1 : 90)' * [1, 2, 3]);
[x, flag] = clinalg.lsqr(clinalg.matrix(A), B, 1e-12, 200);
check(flag == 0 && isequal(size(x), [40 3]));
check_close(gather(x), A \ B, 1e-9);
end

function bad_calls()
A = tall(9, 4);
b = ones(9, 1);
check_error('clinalg:argument:count', 'too few', @() clinalg.lsqr(A));
check_error('clinalg:argument:shape', '`b` is 4 x 1, expected 9 x 1', @() clinalg.lsqr(A, ones(4, 1)));
check_error('clinalg:argument:shape', '`InitialGuess`', @() clinalg.lsqr(A, b, [], [], [], [], b));
check_error('clinalg:argument:value', 'A'' A', @() clinalg.lsqr(A, b, 1e-6, 5, 'ilu'));
check_error('clinalg:argument:value', 'none', @() clinalg.lsqr(A, b, 1e-6, 5, 'llu'));
check_error('clinalg:argument:shape', 'sparse', @() clinalg.lsqr(full(A), b, 1e-6, 5, 'jacobi'));
check_error('clinalg:argument:shape', 'square', @() clinalg.lsqr(A, b, 1e-6, 5, A, A));
check_error('clinalg:argument:value', 'M2', @() clinalg.lsqr(A, b, 1e-6, 5, 'jacobi', speye(4)));
check_error('clinalg:argument:class', 'jacobi', @() clinalg.lsqr(A, b, 1e-6, 5, {}));
check_error('clinalg:argument:value', '`Tolerance`', @() clinalg.lsqr(A, b, -1));
check_error('clinalg:argument:value', 'Tolerance', @() clinalg.lsqr(A, b, 'Tol', 1));
end

function preconditioners_by_name()
% Of A' A, for square and rectangular matrices.
S = spdiags(ones(300, 1) * [-1, 3, -0.5], -1 : 1, 300, 300) * spdiags(1 + mod(0 : 299, 7)', 0, 300, 300);
for A = {S, tall(90, 40)}
  A = A{1};
  b = cos((1 : size(A, 1))');
  [x, ~, ~, plain] = clinalg.lsqr(A, b, 1e-11, 900);
  for kind = {'ic', 'ssor', 'spai0', 'fsai', 'amg'}
    [y, flag, ~, iter] = clinalg.lsqr(A, b, 1e-11, 900, kind{1});
    check(flag == 0 && (iter < plain || strcmp(kind{1}, 'spai0')), '%s: %d, %d', kind{1}, iter, plain);
    check_close(y, A \ b, 1e-8);
  end
  check_close(x, A \ b, 1e-8);
end
c = b + 1i * sin(b);
[y, flag] = clinalg.lsqr(A + 1i * A, c, 1e-11, 900, 'ic');
check(flag == 0);
check_close(y, (A + 1i * A) \ c, 1e-8);
end

function functions_and_preconditioners()
A = tall(90, 40);
b = cos((1 : 90)');
x = A \ b;
D = clinalg.matrix(A);
Dt = D';
f = {@(v) D * v, @(v) Dt * v};
by = @(v, how) f{1 + strcmp(how, 'transp')}(v);
[y, flag, relres, iter, resvec] = clinalg.lsqr(by, b, 1e-12, 200);
[z, ~, ~, steps] = clinalg.lsqr(A, b, 1e-12, 200);
check(flag == 0 && isa(y, 'double') && abs(iter - steps) <= 2 && numel(resvec) == iter + 1, '%d %d', iter, steps);
check_close(y, x, 1e-9);
check_close(relres, norm(b - A * x) / norm(b), 1e-9);
% R of a QR factorisation: one step.
R = qr(A, 0);
[y, flag, ~, iter] = clinalg.lsqr(A, b, 1e-10, 200, R(1 : 40, :));
check(flag == 0 && iter <= 3, '%d', iter);
check_close(y, x, 1e-8);
L = tril(R(1 : 40, :)');
[y, flag] = clinalg.lsqr(D, b, 1e-12, 300, L, speye(40));
check(flag == 0 && isa(y, 'clinalg.array'));
check_close(gather(y), x, 1e-8);
M = spdiags(sqrt(sum(A .^ 2, 1))', 0, 40, 40);
g = @(v, how) M \ v;
[y, flag] = clinalg.lsqr(A, [b, 2 * b], 1e-12, 300, @(v, how) clinalg.vector(g(gather(v), how)), [], [x, x] + 1);
check(flag == 0);
check_close(y, [x, 2 * x], 1e-8);
end
