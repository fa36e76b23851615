function tests = test_algebra()
tests = {@products, @products_into_an_output, @multiply_add, @vector_operations, @outputs_may_be_inputs, ...
  @operations_on_matrices, @formats, @reductions, @norms_of_extreme_values, @shapes_must_fit, @precisions_must_fit, ...
  @results_repeat};
end

function [tolerance, n] = accuracy(type)
tolerance = 50 * eps(type);
n = [1 2 31 64 257 3001];
end

function products()
gpu = MexInitOpenCL();
for type = {'double', 'single'}
  [tolerance, sizes] = accuracy(type{1});
  as_single = strcmp(type{1}, 'single');
  for n = sizes
    m = ceil(n / 3);
    S = sprand(m, n, min(1, 5 / n)) + sparse(1, n, 1, m, n);
    A = rand(m, n) - 0.5;
    B = spdiags(rand(n, 3), -1:1, n, n);
    if as_single
      [S, B] = deal(sparse(double(single(full(S)))), sparse(double(single(full(B)))));
    end
    A = cast(A, type{1});
    x = cast(rand(n, 1) - 0.5, type{1});
    u = cast(rand(m, 1) - 0.5, type{1});
    cast_ = @(v) cast(full(v), type{1});
    [a, s, b] = deal(MexMatrix(gpu, A), MexSparseMatrix(gpu, S, as_single), MexBandMatrix(gpu, B, 1, 1, as_single));
    [hx, hu] = deal(MexMatrix(gpu, x), MexMatrix(gpu, u));
    get = @(h) MexHandleMatrix(gpu, h);
    check_close(get(MexMatrixVector(gpu, a, hx)), A * x, n * tolerance, 'A x');
    check_close(get(MexSparseMatrixVector(gpu, s, hx)), cast_(S * double(x)), tolerance, 'S x');
    check_close(get(MexBandMatrixVector(gpu, b, hx)), cast_(B * double(x)), tolerance, 'B x');
    check_close(get(MexMatrixTransposeVector(gpu, a, hu)), A' * u, n * tolerance, 'A'' u');
    check_close(get(MexSparseMatrixTransposeVector(gpu, s, hu)), cast_(S' * double(u)), n * tolerance, 'S'' u');
    for h = [a s b]
      y = MexMultiply(gpu, h, hx);
      [rows, cols] = MexSize(gpu, y);
      check(rows == MexSize(gpu, h) && cols == 1);
    end
    check(isequal(get(MexMultiplyTranspose(gpu, s, hu)), get(MexSparseMatrixTransposeVector(gpu, s, hu))));
    % A row is a vector as well.
    check(isequal(get(MexSparseMatrixVector(gpu, s, MexMatrix(gpu, x'))), get(MexSparseMatrixVector(gpu, s, hx))));
    MexReleaseOpenCL(gpu);
    gpu = MexInitOpenCL();
  end
end
end

function products_into_an_output()
gpu = MexInitOpenCL();
for type = {'double', 'single'}
  as_single = strcmp(type{1}, 'single');
  S = sparse([1 2; 0 4; 5 0]);
  x = MexMatrix(gpu, cast([1; 10], type{1}));
  handles = {MexMatrix(gpu, cast(full(S), type{1})), MexSparseMatrix(gpu, S, as_single), ...
    MexBandMatrix(gpu, S, 2, 1, as_single)};
  names = {'MexMatrixVector', 'MexSparseMatrixVector', 'MexBandMatrixVector'};
  for k = 1 : 3
    y = MexMatrix(gpu, cast([NaN; NaN; NaN], type{1}));
    check(feval(names{k}, gpu, handles{k}, x, y) == y);
    check(isequal(MexHandleMatrix(gpu, y), cast([21; 40; 5], type{1})), names{k});
    z = feval(names{k}, gpu, handles{k}, x, []);
    check(z ~= y && isequal(MexHandleMatrix(gpu, z), MexHandleMatrix(gpu, y)));
    check_error('clinalg:argument:value', '`y`', @() feval(names{k}, gpu, handles{k}, x, x));
  end
end
end

function multiply_add()
gpu = MexInitOpenCL();
A = [1 2; 3 4];
for h = [MexMatrix(gpu, A), MexSparseMatrix(gpu, sparse(A)), MexBandMatrix(gpu, A, 1, 1)]
  x = MexMatrix(gpu, [1; 1]);
  y = MexMatrix(gpu, [10; 20]);
  check(MexMultiplyAdd(gpu, -2, h, x, 0.5, y) == y);
  check(isequal(MexHandleMatrix(gpu, y), -2 * A * [1; 1] + 0.5 * [10; 20]));
  MexWriteMatrix(gpu, y, [NaN; Inf]);
  MexMultiplyAdd(gpu, 1, h, x, 0, y);
  check(isequal(MexHandleMatrix(gpu, y), A * [1; 1]), 'beta = 0 does not read y');
end
end

function vector_operations()
gpu = MexInitOpenCL();
for type = {'double', 'single'}
  [tolerance, sizes] = accuracy(type{1});
  for n = [0 sizes]
    x = cast(rand(n, 1) - 0.5, type{1});
    y = cast(rand(n, 1) - 0.5, type{1});
    [a, b] = deal(MexMatrix(gpu, x), MexMatrix(gpu, y));
    get = @(h) MexHandleMatrix(gpu, h);
    check(isequal(get(MexVectorPlusVector(gpu, a, b)), x + y), '+');
    check(isequal(get(MexVectorMinusVector(gpu, a, b)), x - y), '-');
    check_close(get(MexVectorMinusVectorConstant(gpu, a, b, 0.3)), x - cast(0.3, type{1}) * y, tolerance, 'a - k b');
    check(isequal(get(MexVectorTimesConstant(gpu, a, -0.7)), cast(-0.7, type{1}) * x), 'k a');
    check(isequal(get(MexVectorTimesVector(gpu, a, b)), x .* y), '.*');
    check_close(get(MexAxpby(gpu, 0.3, a, -2, b)), cast(0.3, type{1}) * x - 2 * y, tolerance, 'axpby');
    c = MexMatrix(gpu, zeros(n, 1, type{1}));
    check(MexVectorPlusVector(gpu, a, b, c) == c && isequal(get(c), x + y));
    check(MexVectorMinusVector(gpu, a, b, c) == c && isequal(get(c), x - y));
    check(MexVectorMinusVectorConstant(gpu, a, b, 2, c) == c && isequal(get(c), x - 2 * y));
    check(MexVectorTimesConstant(gpu, a, 4, c) == c && isequal(get(c), 4 * x));
    check(MexVectorTimesVector(gpu, a, b, c) == c && isequal(get(c), x .* y));
    check(MexAxpby(gpu, 2, a, 4, b, c) == c && isequal(get(c), 2 * x + 4 * y));
  end
end
end

function outputs_may_be_inputs()
gpu = MexInitOpenCL();
x = rand(100, 1);
y = rand(100, 1);
a = MexMatrix(gpu, x);
b = MexMatrix(gpu, y);
MexVectorPlusVector(gpu, a, b, a);
check(isequal(MexHandleMatrix(gpu, a), x + y));
MexVectorMinusVector(gpu, a, b, b);
check(isequal(MexHandleMatrix(gpu, b), (x + y) - y));
MexVectorTimesConstant(gpu, a, 3, a);
check(isequal(MexHandleMatrix(gpu, a), 3 * (x + y)));
MexVectorMinusVector(gpu, a, a, a);
check(isequal(MexHandleMatrix(gpu, a), zeros(100, 1)));
end

function operations_on_matrices()
gpu = MexInitOpenCL();
A = rand(5, 7);
a = MexMatrix(gpu, A);
check(isequal(MexHandleMatrix(gpu, MexVectorPlusVector(gpu, a, a)), A + A));
S = sprand(30, 40, 0.2);
s = MexSparseMatrix(gpu, S);
t = MexVectorTimesConstant(gpu, s, 3);
check(isequal(MexHandleMatrix(gpu, t), 3 * S));
check(isequal(MexHandleMatrix(gpu, MexVectorMinusVector(gpu, t, s)), 3 * S - S));
check_close(MexSum(gpu, s), full(sum(S(:))), 1e-14);
check_close(MexNorm2(gpu, s), norm(S, 'fro'), 1e-14);
B = [1 2 0; 3 4 5; 0 6 7];
b = MexBandMatrix(gpu, B, 1, 1);
check(isequal(full(MexHandleMatrix(gpu, MexAxpby(gpu, 2, b, -1, b))), B));
check(MexSum(gpu, b) == sum(B(:)));
check_error('clinalg:argument:shape', '`b`', @() MexVectorPlusVector(gpu, s, MexSparseMatrix(gpu, speye(30, 40))));
check_error('clinalg:argument:shape', '`b`', @() MexVectorPlusVector(gpu, a, b));
end

function formats()
% What an upload finds, in words; other formats by force; the matrix stays as it is.
gpu = MexInitOpenCL();
n = 64;
T = spdiags(ones(n, 1) * [-1 2 -1], -1:1, n, n);
S = kron(T, speye(n)) + kron(speye(n), T);
x = mod((1:n * n)', 7) - 3;
s = MexSparseMatrix(gpu, S);
hx = MexMatrix(gpu, x);
begins = @(h, word) strncmp(MexExplain(gpu, h), word, numel(word));
check(begins(s, 'stencil') && ~isempty(strfind(MexExplain(gpu, s), 'analysis took')));
for format = {'csr', 'dia', 'stencil'}
  MexSetFormat(gpu, s, format{1});
  check(begins(s, format{1}), format{1});
  check(isequal(MexHandleMatrix(gpu, MexSparseMatrixVector(gpu, s, hx)), full(S * x)), format{1});
  check(isequal(MexHandleMatrix(gpu, s), S), format{1});
end
MexSetFormat(gpu, s, 'csr');
MexSetFormat(gpu, s);
check(begins(s, 'stencil'));
% Coefficients that differ are no stencil: an error, and everything as it was.
[i, j] = find(S);
R = sparse(i, j, mod((1:nnz(S))', 11) + 1);
r = MexSparseMatrix(gpu, R);
words = MexExplain(gpu, r);
check_error('clinalg:argument:value', 'stencil', @() MexSetFormat(gpu, r, 'stencil'));
check(strcmp(MexExplain(gpu, r), words));
check_error('clinalg:argument:value', 'best', @() MexSetFormat(gpu, r, 'rows'));
check(isequal(MexHandleMatrix(gpu, r), R));
end

function reductions()
gpu = MexInitOpenCL();
for type = {'double', 'single'}
  [tolerance, sizes] = accuracy(type{1});
  for n = [0 sizes 100000]
    x = cast(rand(n, 1) - 0.3, type{1});
    y = cast(rand(n, 1) - 0.3, type{1});
    [a, b] = deal(MexMatrix(gpu, x), MexMatrix(gpu, y));
    wide = double(x);
    check_close(MexSum(gpu, a), cast(pairwise(wide), type{1}), tolerance, 'sum');
    check_close(MexDot(gpu, a, b), cast(pairwise(wide .* double(y)), type{1}), tolerance, 'dot');
    check_close(MexNorm1(gpu, a), cast(pairwise(abs(wide)), type{1}), tolerance, 'norm1');
    check_close(MexNorm2(gpu, a), cast(sqrt(pairwise(wide .^ 2)), type{1}), tolerance, 'norm2');
    check(isequal(MexNormInf(gpu, a), max([abs(x); 0])), 'norm inf');
  end
  n = MexMatrix(gpu, cast([1; NaN; 2], type{1}));
  check(isnan(MexSum(gpu, n)) && isnan(MexNorm1(gpu, n)) && isnan(MexNorm2(gpu, n)) && isnan(MexNormInf(gpu, n)));
  i = MexMatrix(gpu, cast([1; -Inf; 2], type{1}));
  check(MexSum(gpu, i) == -Inf && MexNorm1(gpu, i) == Inf && MexNorm2(gpu, i) == Inf && MexNormInf(gpu, i) == Inf);
end
end

function s = pairwise(x)
% Sum with an error of a few units in the last place.
while numel(x) > 1
  if mod(numel(x), 2) == 1
    x(end + 1) = 0; %#ok<AGROW>
  end
  x = x(1:2:end) + x(2:2:end);
end
s = sum(x);
end

function norms_of_extreme_values()
gpu = MexInitOpenCL();
for scale = [1e200 1e-200]
  check_close(MexNorm2(gpu, MexMatrix(gpu, scale * [3; 4])), scale * 5, 4 * eps);
end
for scale = [1e30 1e-30]
  check_close(MexNorm2(gpu, MexMatrix(gpu, single(scale * [3; 4]))), single(scale * 5), 4 * eps('single'));
end
end

function shapes_must_fit()
gpu = MexInitOpenCL();
a = MexMatrix(gpu, ones(3, 2));
s = MexSparseMatrix(gpu, sparse(ones(3, 2)));
b = MexBandMatrix(gpu, ones(3, 2), 2, 1);
x = MexMatrix(gpu, ones(3, 1));
y = MexMatrix(gpu, ones(2, 1));
check_error('clinalg:argument:length', 'argument 3 `x` has length 3, expected 2', @() MexMatrixVector(gpu, a, x));
check_error('clinalg:argument:length', 'argument 3 `x` has length 3, expected 2', @() MexSparseMatrixVector(gpu, s, x));
check_error('clinalg:argument:length', 'argument 3 `x` has length 3, expected 2', @() MexBandMatrixVector(gpu, b, x));
check_error('clinalg:argument:length', 'argument 4 `y` has length 2, expected 3', @() MexMatrixVector(gpu, a, y, MexCopy(gpu, y)));
check_error('clinalg:argument:shape', 'argument 3 `x`', @() MexMatrixVector(gpu, a, a));
check_error('clinalg:argument:shape', 'argument 3 `b`', @() MexVectorPlusVector(gpu, x, y));
check_error('clinalg:argument:shape', 'argument 4 `c`', @() MexVectorPlusVector(gpu, x, x, y));
check_error('clinalg:argument:shape', 'argument 3 `b`', @() MexDot(gpu, x, y));
end

function precisions_must_fit()
gpu = MexInitOpenCL();
s = MexSparseMatrix(gpu, speye(2), 1);
x = MexMatrix(gpu, [1; 2]);
f = MexMatrix(gpu, single([1; 2]));
check_error('clinalg:argument:precision', 'argument 3 `x`', @() MexSparseMatrixVector(gpu, s, x));
check_error('clinalg:argument:precision', 'argument 4 `y`', @() MexSparseMatrixVector(gpu, s, f, x));
check_error('clinalg:argument:precision', 'argument 3 `b`', @() MexVectorPlusVector(gpu, x, f));
check_error('clinalg:argument:precision', 'argument 3 `b`', @() MexDot(gpu, x, f));
end

function results_repeat()
gpu = MexInitOpenCL();
a = MexMatrix(gpu, rand(54321, 1));
s = MexSum(gpu, a);
d = MexNorm2(gpu, a);
for k = 1 : 5
  check(MexSum(gpu, a) == s && MexNorm2(gpu, a) == d);
end
end
