function tests = test_factor()
% Factorisations of full matrices against those of MATLAB's own arrays.
tests = {@lu_factors, @cholesky_factors, @qr_factors, @inverses_and_determinants, @systems_by_structure, @divisions_warn_like_matlab, ...
  @rank_deficient_columns_of_several_right_sides, @what_has_none};
end

function each_type(run)
for values = {rand(6), rand(6) + 1i * rand(6)}
  for as = {@double, @single}
    A = as{1}(values{1});
    run(A, 1e3 * eps(class(A)), as{1});
  end
end
end

function lu_factors()
each_type(@lu_of_type);
end

function lu_of_type(A, tolerance, ~)
for M = {A, A(:, 1 : 3), A(1 : 3, :)}
  a = clinalg.matrix(M{1});
  [L, U, P] = lu(M{1});
  [l, u, p] = lu(a);
  check(isequal(gather(p), full(P)) && isUnderlyingType(l, class(A)));
  check_close(gather(l), L, tolerance);
  check_close(gather(u), U, tolerance);
  [l, u, p] = lu(a, 'vector');
  check_close(gather(l * u), M{1}(p, :), tolerance);
  [l, u] = lu(a);
  check_close(gather(l * u), M{1}, tolerance);
  check_close(gather(lu(a)), lu(M{1}), tolerance);
end
end

function cholesky_factors()
each_type(@cholesky_of_type);
end

function cholesky_of_type(A, tolerance, as)
H = A * A' + eye(6);
h = clinalg.matrix(H);
check_close(gather(chol(h)), chol(H), tolerance);
check_close(gather(chol(clinalg.matrix(triu(H)), 'upper')), chol(H), tolerance, 'of the upper triangle alone');
check_close(gather(chol(clinalg.matrix(tril(H)), 'lower')), chol(H)', tolerance, 'of the lower triangle alone');
H(4, 4) = -1;
[R, flag] = chol(H);
[r, got] = chol(clinalg.matrix(H));
check(got == flag && flag == 4);
check_close(gather(r), R, tolerance);
[r, flag] = chol(clinalg.matrix(-as(eye(3))));
check(flag == 1 && isequal(size(r), [0 0]));
check_error('clinalg:matrix:notPositiveDefinite', 'order 4', @() chol(clinalg.matrix(H)));
end

function qr_factors()
each_type(@qr_of_type);
end

function qr_of_type(A, tolerance, ~)
for M = {A, A(:, 1 : 3), A(1 : 3, :)}
  a = clinalg.matrix(M{1});
  for economy = {{}, {0}}
    [Q, R] = qr(M{1}, economy{1}{:});
    [q, r] = qr(a, economy{1}{:});
    check(isequal(size(q), size(Q)) && isequal(size(r), size(R)));
    check_close(gather(q * r), M{1}, tolerance);
    check_close(gather(q' * q), eye(size(Q, 2), class(A)) + 0 * A(1), tolerance);
    check_close(abs(gather(qr(a, economy{1}{:}))), abs(R), tolerance);
  end
end
[q, r, p] = qr(clinalg.matrix(A));
check_close(gather(q * r), A * full(gather(p)), tolerance);
end

function inverses_and_determinants()
each_type(@inverse_of_type);
warning('off', 'clinalg:matrix:singular', 'local');
check(isequal(gather(inv(clinalg.matrix([1 2; 2 4]))), Inf(2)) && det(clinalg.matrix([1 2; 2 4])) == 0);
warning('error', 'clinalg:matrix:singular', 'local');
check_error('clinalg:matrix:singular', 'infinite', @() inv(clinalg.matrix([1 2; 2 4])));
warning('error', 'clinalg:matrix:nearlySingular', 'local');
check_error('clinalg:matrix:nearlySingular', 'rcond', @() inv(clinalg.matrix([1 1; 1 1 + eps])));
end

function inverse_of_type(A, tolerance, as)
A = A + 3 * as(eye(6));
a = clinalg.matrix(A);
check_close(gather(inv(a)), inv(A), tolerance);
check_close(det(a), det(A), tolerance);
end

function systems_by_structure()
each_type(@system_of_type);
end

function system_of_type(A, tolerance, as)
b = as(reshape(1 : 12, 6, 2));
A = A + 3 * as(eye(6));
indefinite = A + A' - 5 * as(eye(6));
for M = {A, triu(A), tril(A), A * A', indefinite, A(:, 1 : 3)}
  check_close(gather(clinalg.matrix(M{1}) \ b), M{1} \ b, 50 * tolerance);
end
% Only a triangle has no NaN where the other half has one.
T = triu(A);
T(3, 1) = NaN;
check(any(isnan(gather(clinalg.matrix(T) \ b))(:)));
end

function divisions_warn_like_matlab()
% Each system with the warning it has and its solution, [] where none of its digits is correct.
for type = {@double, @single}
  as = type{1};
  systems = {
    magic(4), 'nearlySingular', []
    hilb(14), 'nearlySingular', []
    triu(toeplitz([1, -2 * ones(1, 59)])), 'nearlySingular', []
    [1 2; 2 4], 'singular', [0.2; 0.4]
    [1 2; 0 0], 'singular', [0.2; 0.4]
    zeros(2), 'singular', [0; 0]
    [1 2; 2 4; 3 6], 'rankDeficient', [0.2; 0.4]
    [ones(6, 1), kron(eye(2), ones(3, 1))], 'rankDeficient', [7; -1; 8] / 3
    [1 2 3; 2 4 6], 'rankDeficient', [1; 2; 3] / 14
    [0 1; 0 2; 0 3], 'rankDeficient', [0; 1]
    [3 1; 1 2], '', []
    [1 0; 0 1; 1 1], '', []
    [1 2 3; 4 5 6], '', []
    };
  for k = 1 : size(systems, 1)
    [A, id, expected] = systems{k, :};
    b = (1 : size(A, 1)).';
    state = warning('on', 'all');
    lastwarn('', '');
    words = evalc('x = clinalg.matrix(as(A)) \ as(b);');
    [~, got] = lastwarn();
    warning(state);
    if ~isempty(id), id = ['clinalg:matrix:', id]; end
    check(strcmp(got, id), 'system %d: the warning is %s, expected %s: %s', k, got, id, words);
    if ~isempty(expected)
      check_close(gather(x), as(expected), 100 * eps(as(1)), sprintf('system %d', k));
    end
  end
end
end

function rank_deficient_columns_of_several_right_sides()
% The residual and the norm are those of the pseudoinverse.
for type = {@double, @single}
  as = type{1};
  for z = [0, 1i]
    A = reshape(sin(1 : 40), 10, 4) + z * reshape(cos(1 : 40), 10, 4);
    A = as([A, A * [1; 2; 0; -1], A(:, 2)]);
    B = as(reshape(cos(1 : 30), 10, 3) + z);
    state = warning('off', 'clinalg:matrix:rankDeficient');
    X = clinalg.matrix(A) \ B;
    Y = clinalg.matrix(A') \ B(1 : 6, :);
    warning(state);
    check_close(gather(X), pinv(A, 1e-4) * B, 1000 * eps(as(1)), 'tall');
    check_close(gather(Y), pinv(A', 1e-4) * B(1 : 6, :), 1000 * eps(as(1)), 'wide');
  end
end
end

function what_has_none()
for f = {@chol, @inv, @det}
  check_error('clinalg:argument:shape', 'square', @() f{1}(clinalg.matrix(ones(2, 3))));
end
check_error('clinalg:argument:value', 'lower', @() chol(clinalg.matrix(eye(3)), 'left'));
end
