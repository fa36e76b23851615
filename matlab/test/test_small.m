function tests = test_small()
% Arrays that stay on the host because they are small, and those just beyond: both as Octave's own.
tests = {@operations_at_each_size, @copies_follow_writes, @expressions_keep_their_operands, @small_systems_and_their_warnings, @joined_arrays, @loops};
end

function operations_at_each_size()
% 32768 elements are the limit.
functions = {
  @(x, y) x + y
  @(x, y) x .* y - 2 * x
  @(x, y) x ./ y
  @(x, y) x + y(1, :)
  @(x, y) x .* y(:, 1)
  @(x, y) -x
  @(x, y) abs(x)
  @(x, y) exp(x / 8)
  @(x, y) x.'
  @(x, y) x'
  @(x, y) x(:)
  @(x, y) x(end, 1)
  @(x, y) x(:, end)
  @(x, y) x([1 end], :)
  @(x, y) x(end : -1 : 1, :)
  @(x, y) x(x == x)
  @(x, y) sum(x)
  @(x, y) sum(x, 2)
  @(x, y) prod(y(:, 1) / 4)
  @(x, y) norm(y(:))
  @(x, y) norm(y(:), 1)
  @(x, y) norm(x(:), Inf)
  @(x, y) dot(y(:), y(:))
  @(x, y) y(:, 1)' * y
  @(x, y) y' * y(:, 1)
  @(x, y) y' * y
  @(x, y) [x, y]
  @(x, y) [x; y; x]
  @(x, y) assigned(x, y)
  };
of_reals = {
  @(x, y) max(x, y)
  @(x, y) min(x, 0)
  @(x, y) max(x)
  @(x, y) min(x, [], 2)
  @(x, y) floor(x) + round(y) + fix(y) + sign(x)
  @(x, y) mod(x, 1.5)
  @(x, y) rem(y, 2)
  @(x, y) hypot(x, y)
  @(x, y) atan2(y, x)
  @(x, y) x .^ 3
  @(x, y) x .^ 5
  @(x, y) y .^ -2
  @(x, y) x > y
  };
rand('seed', 11);
for shape = {[0 0], [0 3], [1 1], [1 6], [5 1], [7 5], [128 256], [129 256]}
  for type = {'double', 'single', 'complex'}
    s = shape{1};
    x = 8 * rand(s) - 4;
    y = 8 * rand(s) - 4;
    if strcmp(type{1}, 'complex')
      x = complex(x, rand(s));
      y = complex(y, rand(s));
      list = functions;
    else
      special = [0, -0, Inf, -Inf, NaN];
      x(1 : 3 : end) = special(1 + mod(0 : numel(x(1 : 3 : end)) - 1, 5));
      if strcmp(type{1}, 'single'), x = single(x); y = single(y); end
      list = [functions; of_reals];
    end
    a = clinalg.array.nd(x);
    b = clinalg.array.nd(y);
    for k = 1 : numel(list)
      compare(list{k}, {x, y}, {a, b}, s);
    end
  end
end
end

function compare(f, own, given, s)
what = sprintf('%s of %d x %d %s', func2str(f), s, class(own{1}));
try
  want = f(own{:});
catch
  % What Octave refuses has to be an error here, too.
  failed = false;
  try
    f(given{:});
  catch
    failed = true;
  end
  check(failed, '%s is no error', what);
  return
end
got = f(given{:});
if isa(got, 'clinalg.array'), got = gather(got); end
check(isequal(size(got), size(want)), '%s: size', what);
got = double(full(got));
want = double(full(want));
for part = {@real, @imag}
  g = part{1}(got)(:);
  w = part{1}(want)(:);
  check(isequal(isnan(g), isnan(w)) && isequal(g(isinf(w)), w(isinf(w))), '%s: NaN and Inf', what);
  plain = isfinite(w);
  tolerance = 1e-12;
  if isa(own{1}, 'single'), tolerance = 1e-3; end
  scale = max([1; abs(want(isfinite(want)))(:)]);
  check(all(abs(g(plain) - w(plain)) <= tolerance * scale), '%s', what);
end
end

function x = assigned(x, y)
x(1) = y(1);
x(end, :) = y(1, :);
x(:, 1) = 7;
end

function copies_follow_writes()
% The values on the host and on the device are the same after a write to either.
gpu = MexInitOpenCL();
large = clinalg.matrix(ones(300));
x = clinalg.matrix((1 : 300)');
check(norm(gather(large * x) - 45150) == 0);
MexPutLinear(gpu, x.h, MexMatrix(gpu, 5), 2);
check(x(2) == 5 && sum(x) == 45153);
check(norm(gather(large * x) - 45153) == 0);
MexFill(gpu, x.h, 2);
check(max(x) == 2 && isequal(gather(x), 2 * ones(300, 1)));
y = x;
y(1) = 9;
check(x(1) == 2 && y(1) == 9 && norm(gather(large * y) - 607) == 0);
end

function expressions_keep_their_operands()
gpu = MexInitOpenCL();
x = clinalg.matrix([1 2 3]);
y = x + 1;
MexFill(gpu, x.h, 0);
check(isequal(gather(y), [2 3 4]));
z = clinalg.matrix(ones(400)) .* clinalg.matrix(1 : 400);
check(isequal(gather(z), repmat(1 : 400, 400, 1)));
end

function small_systems_and_their_warnings()
% 128 unknowns are the limit.
for n = [2 127 128 129]
  rand('seed', n);
  A = rand(n) + n * eye(n);
  b = rand(n, 2);
  check_close(gather(clinalg.matrix(A) \ clinalg.matrix(b)), A \ b, 1e-12);
  check_close(gather(clinalg.matrix(tril(A)) \ clinalg.matrix(b)), tril(A) \ b, 1e-12);
  check_close(gather(clinalg.matrix(A + 1i * A') \ clinalg.matrix(b)), (A + 1i * A') \ b, 1e-12);
end
lastwarn('', '');
warning('off', 'clinalg:matrix:singular', 'local');
x = gather(clinalg.matrix([1 2; 2 4]) \ clinalg.matrix([1; 2]));
[~, id] = lastwarn();
check(norm(x - [0.2; 0.4]) < 1e-12);
end

function joined_arrays()
x = clinalg.matrix([1; 2]);
check(isequal(gather([x; 3]), [1; 2; 3]) && isequal(gather([0; x; 3; x]), [0; 1; 2; 3; 1; 2]));
check(isequal(gather([x, x, [5; 6]]), [1 1 5; 2 2 6]) && isequal(gather([x; []]), [1; 2]));
check(isequal(gather([x; x; x; x; x; x; x]), repmat([1; 2], 7, 1)));
check(isequal(class(gather([x; single(3)])), 'single') && isequal(gather([x; 1i]), [1; 2; 1i]));
check_error('clinalg:argument:value', 'dimension', @() horzcat(x, [1 2 3]));
end

function loops()
% Gram-Schmidt and power iteration as written for arrays of the host.
rand('seed', 3);
A = rand(40, 12);
check_close(gather(gram_schmidt(clinalg.matrix(A))), gram_schmidt(A), 1e-12);
B = rand(30) + 10 * eye(30);
check_close(power_iteration(clinalg.matrix(B), clinalg.matrix(ones(30, 1))), power_iteration(B, ones(30, 1)), 1e-12);
end

function Q = gram_schmidt(A)
Q = A;
for k = 1 : size(A, 2)
  v = Q(:, k);
  for i = 1 : k - 1, v = v - (Q(:, i)' * v) * Q(:, i); end
  Q(:, k) = v / norm(v);
end
end

function value = power_iteration(A, x)
for k = 1 : 50
  y = A * x;
  x = y / norm(y);
end
value = x' * (A * x);
end
