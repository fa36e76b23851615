function tests = test_objects()
tests = {@arrays_are_made, @products, @sparse_times_full, @sums_and_multiples, @transposes, @reductions, @shapes, @conversions, ...
  @host_operands, @the_hosts_pcg, @solvers, @the_poisson_problem, @files, @like_another, @values_are_not_shared, @bad_operands, @words};
end

function [A, S, x, tolerance] = operands(type)
S = sprand(40, 30, 0.2);
if strcmp(type, 'single')
  S = sparse(double(single(full(S))));
end
A = cast(rand(40, 30), type);
x = cast(rand(30, 1), type);
tolerance = 100 * eps(type);
end

function arrays_are_made()
for type = {'double', 'single'}
  [A, S, x] = operands(type{1});
  a = clinalg.matrix(A);
  check(isa(a, 'clinalg.array') && isequal(gather(a), A) && strcmp(underlyingType(a), type{1}) && ~issparse(a));
  s = clinalg.matrix(S, type{1});
  check(isequal(gather(s), S) && strcmp(underlyingType(s), type{1}) && issparse(s) && nnz(s) == nnz(S));
  b = clinalg.matrix(eye(4), 1, 2, type{1});
  check(isequal(full(gather(b)), eye(4)) && strcmp(underlyingType(b), type{1}));
  v = clinalg.vector(x);
  check(isequal(gather(v), x));
  check(isequal(size(gather(clinalg.vector(x'))), [1 30]));
  z = clinalg.allocate(3, 4, type{1});
  check(isequal(gather(z), zeros(3, 4, type{1})) && isa(gather(z), type{1}));
end
check(isa(gather(clinalg.matrix(single(1), 'double')), 'double'));
check(isa(gather(clinalg.matrix(1, 'single')), 'single'));
check(isequal(gather(clinalg.vector(sparse([1 0 2]))), [1 0 2]));
check(isequal(gather(clinalg.matrix(true)), 1));
end

function products()
for type = {'double', 'single'}
  [A, S, x, tolerance] = operands(type{1});
  for M = {A, S}
    a = clinalg.matrix(M{1}, type{1});
    v = clinalg.vector(x);
    expected = cast(full(M{1} * double(x)), type{1});
    check_close(gather(a * v), expected, tolerance);
    check_close(gather(a * x), expected, tolerance, 'with a vector of the host');
  end
  check_close(gather(A * clinalg.vector(x)), A * x, tolerance, 'with a matrix of the host');
  r = clinalg.vector(x');
  check_close(r * x, x' * x, tolerance, 'row times column');
end
end

function sparse_times_full()
for z = [0 1i]
  S = sprand(20, 15, 0.3) * (1 + z);
  [B, C] = deal(rand(15, 4) + z, rand(4, 20) - z);
  s = clinalg.matrix(S);
  for y = {s * clinalg.matrix(B), s * B, S * clinalg.matrix(B)}
    check(~issparse(y{1}));
    check_close(gather(y{1}), S * B, 1e-14);
  end
  for y = {clinalg.matrix(C) * s, C * s, clinalg.matrix(C) * S}
    check_close(gather(y{1}), C * S, 1e-14);
  end
  check_close(gather(s' * clinalg.matrix(C)'), S' * C', 1e-14);
  check_close(gather(single(s) * single(clinalg.matrix(B))), single(S * B), 1e-6);
end
band = full(toeplitz([2 1 0 0 0]));
check_close(gather(clinalg.matrix(band, 1, 1) * B(1 : 5, :)), band * B(1 : 5, :), 1e-14);
end

function sums_and_multiples()
for type = {'double', 'single'}
  x = cast(rand(20, 1), type{1});
  y = cast(rand(20, 1), type{1});
  [a, b] = deal(clinalg.vector(x), clinalg.vector(y));
  check(isequal(gather(a + b), x + y) && isequal(gather(a - b), x - y));
  check(isequal(gather(2 * a), 2 * x) && isequal(gather(a * 2), 2 * x) && isequal(gather(a / 4), x / 4));
  check(isequal(gather(-a), -x) && isequal(gather(+a), x));
  check(isequal(gather(a .* b), x .* y) && isequal(gather(3 .* a), 3 * x) && isequal(gather(a .* 3), 3 * x));
  check(isequal(gather(a ./ 2), x / 2));
  check(isequal(gather(a + 1), x + 1) && isequal(gather(1 - a), 1 - x));
  c = a;
  c += b;
  c -= 2 * b;
  check_close(gather(c), x - y, 10 * eps(type{1}));
  check(isequal(gather(a), x), 'operands stay');
  M = clinalg.matrix(x * y');
  check(isequal(gather(M + M), 2 * (x * y')) && isequal(gather(M / 2), (x * y') / 2));
end
S = sprand(10, 10, 0.3);
s = clinalg.matrix(S);
check(isequal(gather(s + s), 2 * S) && isequal(gather(3 * s), 3 * S) && isequal(gather(-s), -S));
end

function transposes()
for type = {'double', 'single'}
  [A, S, x, tolerance] = operands(type{1});
  u = cast(rand(40, 1), type{1});
  for M = {A, S}
    a = clinalg.matrix(M{1}, type{1});
    expected = cast(full(M{1}' * double(u)), type{1});
    check_close(gather(a' * clinalg.vector(u)), expected, tolerance);
    check_close(gather(a' * u), expected, tolerance);
    check_close(gather(a.' * u), expected, tolerance);
    check(isequal(gather(a'), M{1}') && isequal(gather(a''), M{1}) && isequal(size(a'), [30 40]));
    check(isequal(gather(full(a')), cast(full(M{1}'), type{1})));
  end
  v = clinalg.vector(x);
  check_close(v' * v, x' * x, tolerance);
  check_close(v' * x, x' * x, tolerance);
  check_close(x' * v, x' * x, tolerance);
  check(isequal(size(v'), [1 30]) && isequal(gather((2 * v)'), 2 * x') && isequal(gather(2 * v'), 2 * x'));
  check_close(gather(u' * clinalg.matrix(A) * 1), u' * A, tolerance);
  check(isequal(gather(v' + v'), 2 * x') && isequal(gather(v' / 2), x' / 2) && isequal(gather(-v'), -x'));
  check_close(norm(v'), norm(x), tolerance);
end
end

function reductions()
for type = {'double', 'single'}
  x = cast(rand(50, 1) - 0.5, type{1});
  v = clinalg.vector(x);
  t = 50 * eps(type{1});
  check_close(norm(v), norm(x), t);
  check_close(norm(v, 2), norm(x), t);
  check_close(norm(v, 1), norm(x, 1), t);
  check_close(norm(v, Inf), norm(x, Inf), 0);
  check_close(norm(v, 'inf'), norm(x, Inf), 0);
  check_close(norm(v, 'fro'), norm(x), t);
  check_close(sum(v), sum(x), 10 * t);
  check_close(dot(v, v), dot(x, x), t);
  check_close(dot(v, x), dot(x, x), t);
  A = cast(rand(4, 5), type{1});
  check_close(norm(clinalg.matrix(A), 'fro'), norm(A, 'fro'), t);
  check_close(sum(clinalg.matrix(A), 'all'), sum(A(:)), t);
end
end

function shapes()
a = clinalg.matrix(rand(4, 7));
[m, n] = size(a);
[p, q, r] = size(a);
check(m == 4 && n == 7 && p == 4 && q == 7 && r == 1);
check(isequal(size(a), [4 7]) && size(a, 1) == 4 && size(a, 2) == 7 && size(a, 3) == 1);
check(isequal(size(a, [1 2]), [4 7]));
check(numel(a) == 28 && length(a) == 7 && ndims(a) == 2 && ~isempty(a));
check(rows(a) == 4 && columns(a) == 7 && ~isvector(a) && ~issquare(a) && ismatrix(a) && ~isscalar(a));
check(isnumeric(a) && isreal(a) && isfloat(a) && ~issparse(a));
e = clinalg.matrix(zeros(0, 3));
check(isempty(e) && length(e) == 0 && numel(e) == 0 && isequal(size(gather(e)), [0 3]));
v = clinalg.vector([1 2 3]);
check(isrow(v) && ~iscolumn(v) && isvector(v) && iscolumn(clinalg.vector([1; 2])));
check(isequal(gather(diag(clinalg.matrix([1 2; 3 4]))), [1; 4]));
end

function conversions()
x = rand(5, 1);
v = clinalg.vector(x);
s = single(v);
check(isa(gather(s), 'single') && isequal(gather(s), single(x)) && isa(gather(double(s)), 'double'));
c = copy(v);
check(c.h ~= v.h && isequal(gather(c), x));
S = sprand(5, 5, 0.5);
check(isequal(full(gather(single(clinalg.matrix(S)))), double(single(full(S)))));
check(isa(gather(s + v), 'single') && isequal(gather(s + v), single(x) + x), 'single and double give single');
check(isequal(gather(double(s) + v), double(single(x)) + x));
end

function host_operands()
x = rand(6, 1);
v = clinalg.vector(single(x));
check(isa(gather(v + x), 'single'), 'the operand of the host takes the precision of the array');
check(isequal(gather(x - clinalg.vector(2 * x)), x - 2 * x));
check(isequal(gather(clinalg.vector(x) .* x), x .* x));
check(isequal(gather(clinalg.vector(x) + (x > 0.5)), x + (x > 0.5)));
end

function the_hosts_pcg()
A = gallery('poisson', 12);
b = A * ones(144, 1);
[a, v] = deal(clinalg.matrix(A), clinalg.vector(b));
[x, flag, relres, iter, resvec] = pcg(@(x) a * x, v, 1e-8, 100);
[y, host_flag, host_relres, host_iter, host_resvec] = pcg(A, b, 1e-8, 100);
check(isa(x, 'clinalg.array') && flag == 0 && host_flag == 0 && iter == host_iter);
check_close(gather(x), y, 1e-9);
check_close(resvec, host_resvec(:, 1), 1e-8);
check(abs(relres - host_relres) < 1e-10);
[~, flag] = pcg(a, v, 1e-8, 100);
check(flag == 0);
end

function solvers()
n = 100;
e = ones(n, 1);
S = spdiags([-e 4 * e -e], -1:1, n, n);
U = spdiags([-2 * e 4 * e -e], -1:1, n, n);
b = rand(n, 1);
[x, flag, relres, iter, resvec] = clinalg.pcg(S, b, 1e-10, 100);
check(isa(x, 'double') && flag == 0 && relres <= 1e-10 && norm(S * x - b) <= 2e-10 * norm(b));
check(numel(resvec) == iter + 1);
[y, flag] = clinalg.pcg(clinalg.matrix(S), clinalg.vector(b), 1e-10, 100, 'jacobi');
check(isa(y, 'clinalg.array') && flag == 0);
check_close(gather(y), x, 1e-9);
[y, flag, ~, iter] = clinalg.pcg(clinalg.matrix(S), b, 1e-6, [], [], [], x);
check(isa(y, 'clinalg.array') && flag == 0 && iter == 0);
check(isequal(gather(y), x), 'the start is not changed');
[x, flag] = clinalg.bicgstab(U, b, 1e-10, 100);
check(flag == 0 && norm(U * x - b) <= 2e-10 * norm(b));
[x, flag, ~, iter] = clinalg.gmres(U, b, 20, 1e-10, 5);
check(flag == 0 && norm(U * x - b) <= 2e-10 * norm(b) && isequal(size(iter), [1 2]));
[x, flag] = clinalg.pcg(single(full(S)), single(b), 1e-5, 100);
check(isa(x, 'single') && flag == 0);
lastwarn('');
warning('off', 'clinalg:solve:notConverged', 'local');
clinalg.pcg(S, b, 1e-14, 1);
% The norm of e is a whole number: the step is 1 exactly.
[y, flag] = clinalg.pcg(@(x) x, e);
check(flag == 0 && isequal(gather(y), e), 'a function in place of a matrix');
[~, flag] = clinalg.pcg(S, b, 1e-6, 100, speye(n));
check(flag == 0);
check_error('clinalg:argument:class', '''jacobi''', @() clinalg.pcg(S, b, [], [], {speye(n)}));
check_error('clinalg:argument:value', 'M2', @() clinalg.pcg(S, b, [], [], 'jacobi', speye(n)));
check_error('clinalg:argument:value', '`Preconditioner` is ''ilux''', @() clinalg.gmres(S, b, [], [], [], 'ilux'));
check_error('clinalg:argument:count', 'clinalg.pcg', @() clinalg.pcg(S));
end

function the_poisson_problem()
N = 65;
[x, y] = meshgrid(linspace(0, 1, N));
exact = sin(pi * x) .* sin(pi * y);
f = 2 * pi ^ 2 * exact;
[u, flag, relres, iter, history] = solve(clinalg.poisson([N N], 'Tolerance', 1e-9), f);
check(isa(u, 'double') && flag == 0 && relres <= 1e-9 && numel(history) == iter + 1);
check(max(max(abs(u - exact))) < pi ^ 2 / 6 / (N - 1) ^ 2);
v = solve(clinalg.poisson([N N], 'Tolerance', 1e-9, 'Cycle', 'fmg', 'Smoother', 'jacobi'), clinalg.matrix(f));
check(isa(v, 'clinalg.array'));
check_close(gather(v), u, 1e-8);
[w, ~, ~, iter] = solve(clinalg.poisson([N N], 'Tolerance', 1e-8), f, [], u);
check(iter == 0 && isequal(w, u));
check_error('clinalg:argument:count', 'clinalg.poisson', @() clinalg.poisson());
end

function files()
file = [tempname(), '.mtx'];
S = sprand(9, 8, 0.3);
clinalg.write(clinalg.matrix(S), file);
check(isequal(gather(clinalg.read(file)), S));
check(strcmp(underlyingType(clinalg.read(file, 'single')), 'single'));
delete(file);
check_error('clinalg:file:io', 'MexReadMarket', @() clinalg.read(file));
check_error('clinalg:argument:class', 'clinalg.write', @() clinalg.write(S, file));
end

function like_another()
for type = {'double', 'single'}
  x = clinalg.matrix(cast([1 2; 3 4], type{1}));
  check(isequal(gather(eye(2, 3, 'like', x)), eye(2, 3, type{1})));
  for made = {rand(2, 3, 'like', x), randn(2, 3, 'like', x), ones(2, 3, 'like', x), linspace(0, 1, 6, 'like', x)}
    check(isa(made{1}, 'clinalg.array') && isUnderlyingType(made{1}, type{1}) && numel(made{1}) == 6);
  end
  check(iscomplex(zeros(2, 'like', complex(x))) && isaUnderlying(x, 'float'));
end
S = clinalg.matrix(speye(3), 'single');
e = eye(2, 3, 'like', S);
check(issparse(e) && isUnderlyingType(e, 'single') && isequal(gather(e), speye(2, 3)) && ~issparse(rand(2, 'like', S)));
check_error('clinalg:argument:value', '''like''', @() zeros(x));
end

function values_are_not_shared()
x = clinalg.vector([1; 2; 3]);
before = clinalg.memory();
for k = 1 : 50
  c = x;
  c(2) = k;
end
check(isequal(gather(x), [1; 2; 3]) && isequal(gather(c), [1; 50; 3]));
clear c
after = clinalg.memory();
check(after.live_bytes == before.live_bytes, 'assignments free what they replace');
end

function bad_operands()
A = clinalg.matrix(rand(3, 4));
v = clinalg.vector([1; 2; 3]);
check_error('clinalg:argument:shape', 'inner sizes', @() A * v);
check_error('clinalg:argument:shape', 'inner sizes', @() A * [1 2]);
check_error('clinalg:argument:shape', 'a is 4 x 3, b is 2 x 1', @() A' * [1; 2]);
check_error('clinalg:argument:class', '', @() v * {1});
check_error('clinalg:argument:class', '', @() v + 'abc');
check_error('clinalg:argument:class', '', @() v + int8([1; 2; 3]));
% A handle is a number of a class that arrays cannot have, and no array.
for f = {@plus, @minus, @times, @rdivide, @mtimes, @max}
  check_error('clinalg:argument:class', 'uint64', @() f{1}(v, v.h));
  check_error('clinalg:argument:class', 'uint64', @() f{1}(v.h, v));
end
check_error('clinalg:argument:shape', 'numbers of columns', @() [1 2] / v);
check_error('clinalg:argument:shape', 'row or a column', @() clinalg.vector(rand(2)));
check_error('clinalg:argument:value', '''int8''', @() clinalg.matrix(1, 'int8'));
check_error('clinalg:argument:count', 'clinalg.matrix', @() clinalg.matrix(1, 2));
check_error('clinalg:argument:count', 'MexMatrix', @() clinalg.matrix());
check_error('clinalg:argument:count', 'clinalg.vector', @() clinalg.vector());
check_error('clinalg:device:notFound', '', @() clinalg.device('none like this'));
end

function words()
v = clinalg.vector([1; 2]); %#ok<NASGU>
shown = evalc('v');
check(~isempty(strfind(shown, '2 x 1 full array of class double')), shown); %#ok<STREMP>
shown = evalc('disp(clinalg.matrix(speye(3), ''single''))');
check(~isempty(strfind(shown, '3 x 3 sparse array of class single on the device, 3 stored entries')), shown); %#ok<STREMP>
shown = evalc('disp(v'')');
check(~isempty(strfind(shown, '1 x 2 full')) && ~isempty(strfind(shown, '1   2')), shown); %#ok<STREMP>
end
