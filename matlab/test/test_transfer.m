function tests = test_transfer()
tests = {@full_arrays, @sparse_matrices, @band_matrices, @logical_arrays, @special_values, @writing, @slices, ...
  @copies_and_precisions, @transposes_and_diagonals, @files, @stored_zeros, @sizes_and_infos, @lazy_arrays};
end

function full_arrays()
gpu = MexInitOpenCL();
for type = {'double', 'single'}
  for shape = {[0 0], [0 3], [3 0], [1 1], [1 7], [7 1], [33 65], [1000 1]}
    A = rand(shape{1}, type{1}) - 0.5;
    h = MexMatrix(gpu, A);
    B = MexHandleMatrix(gpu, h);
    check(isequal(A, B) && isequal(size(A), size(B)) && strcmp(class(B), type{1}), mat2str(shape{1}));
    MexReleaseMatrix(gpu, h);
  end
end
end

function sparse_matrices()
gpu = MexInitOpenCL();
list = {sparse(0, 0), sparse(0, 4), sparse(4, 0), sparse(5, 3), sparse(2), speye(70), sprand(50, 80, 0.1), ...
  sprand(300, 20, 0.5), sparse(1000, 1000, 1), gallery('poisson', 20)};
for k = 1 : numel(list)
  S = list{k};
  h = MexSparseMatrix(gpu, S);
  T = MexHandleMatrix(gpu, h);
  check(issparse(T) && isequal(S, T) && isequal(size(S), size(T)) && nnz(S) == nnz(T), 'matrix %d', k);
  MexReleaseSparseMatrix(gpu, h);
  h = MexSparseMatrix(gpu, S, 1);
  T = MexHandleMatrix(gpu, h);
  check(issparse(T) && isequal(full(T), double(single(full(S)))), 'single matrix %d', k);
  MexReleaseSparseMatrix(gpu, h);
end
end

function band_matrices()
gpu = MexInitOpenCL();
for shape = {[1 1], [5 5], [4 9], [9 4], [100 100]}
  for band = {[0 0], [1 2], [3 0], [0 4], [20 20]}
    kl = band{1}(1);
    ku = band{1}(2);
    A = triu(tril(rand(shape{1}), ku), -kl);
    h = MexBandMatrix(gpu, A, kl, ku);
    B = MexHandleMatrix(gpu, h);
    check(issparse(B) && isequal(full(B), A));
    s = MexBandMatrix(gpu, sparse(A), kl, ku);
    check(isequal(full(MexHandleMatrix(gpu, s)), A));
    f = MexBandMatrix(gpu, A, kl, ku, 1);
    check(isequal(full(MexHandleMatrix(gpu, f)), double(single(A))));
    g = MexBandMatrix(gpu, single(A), kl, ku);
    info = MexInfo(gpu, g);
    check(strcmp(info.kind, 'band') && strcmp(info.class, 'single') && info.kl == kl && info.ku == ku);
    cellfun(@(b) MexReleaseBandMatrix(gpu, b), {h, s, f, g});
  end
end
check_error('clinalg:argument:value', 'argument 2 `A`', @() MexBandMatrix(gpu, [1 2; 3 4], 0, 1));
check_error('clinalg:argument:value', 'argument 2 `A`', @() MexBandMatrix(gpu, sparse([1 2; 3 4]), 1, 0));
end

function logical_arrays()
gpu = MexInitOpenCL();
A = rand(20, 30) > 0.5;
B = MexHandleMatrix(gpu, MexMatrix(gpu, A));
check(isa(B, 'double') && isequal(A, B));
check(isequal(MexHandleMatrix(gpu, MexSparseMatrix(gpu, sparse(A))), sparse(double(A))));
check(isequal(full(MexHandleMatrix(gpu, MexBandMatrix(gpu, A, 20, 30))), double(A)));
end

function special_values()
gpu = MexInitOpenCL();
for type = {'double', 'single'}
  x = cast([NaN; Inf; -Inf; 0; -0; realmin(type{1}) / 8; realmax(type{1})], type{1});
  y = MexHandleMatrix(gpu, MexMatrix(gpu, x));
  check(isequaln_(x, y) && isequal(1 ./ y(5), -Inf));
end
s = sparse([1 2 3], [1 2 3], [NaN Inf -Inf]);
check(isequaln_(full(s), full(MexHandleMatrix(gpu, MexSparseMatrix(gpu, s)))));
end

function t = isequaln_(a, b)
t = isequal(isnan(a), isnan(b)) && isequal(a(~isnan(a)), b(~isnan(b)));
end

function writing()
gpu = MexInitOpenCL();
for type = {'double', 'single'}
  h = MexMatrix(gpu, zeros(3, 4, type{1}));
  A = rand(3, 4);
  check(MexWriteMatrix(gpu, h, A) == h);
  check(isequal(MexHandleMatrix(gpu, h), cast(A, type{1})));
  MexWriteMatrix(gpu, h, single(A));
  check(isequal(MexHandleMatrix(gpu, h), cast(single(A), type{1})));
  MexWriteMatrix(gpu, h, A > 0.5);
  check(isequal(MexHandleMatrix(gpu, h), cast(A > 0.5, type{1})));
  MexFill(gpu, h, 0.1);
  check(isequal(MexHandleMatrix(gpu, h), cast(0.1 * ones(3, 4), type{1})));
  check_error('clinalg:argument:shape', 'argument 3 `A` is 4 x 3, expected 3 x 4', @() MexWriteMatrix(gpu, h, A'));
  z = MexZeros(gpu, 2, 5, strcmp(type{1}, 'single'));
  check(isequal(MexHandleMatrix(gpu, z), zeros(2, 5, type{1})) && isa(MexHandleMatrix(gpu, z), type{1}));
end
end

function slices()
gpu = MexInitOpenCL();
for type = {'double', 'single'}
  A = rand(6, 5, type{1});
  h = MexMatrix(gpu, A);
  check(isequal(MexHandleMatrix(gpu, MexSlice(gpu, h, 4, 10)), A(4:13)'));
  check(isequal(size(MexHandleMatrix(gpu, MexSlice(gpu, h, 31, 0))), [0 1]));
  v = MexMatrix(gpu, cast([7; 8; 9], type{1}));
  MexWriteSlice(gpu, h, 28, v);
  A(28:30) = 7:9;
  check(isequal(MexHandleMatrix(gpu, h), A));
  check_error('clinalg:argument:value', 'MexSlice', @() MexSlice(gpu, h, 30, 2));
  check_error('clinalg:argument:value', '`first`', @() MexSlice(gpu, h, 0, 1));
  check_error('clinalg:argument:value', 'MexWriteSlice', @() MexWriteSlice(gpu, h, 29, v));
end
end

function copies_and_precisions()
gpu = MexInitOpenCL();
for A = {rand(4, 3), sprand(9, 7, 0.3), single(rand(5, 1))}
  h = upload(gpu, A{1});
  c = MexCopy(gpu, h);
  MexFill(gpu, h, 0);
  check(isequal(MexHandleMatrix(gpu, c), A{1}));
  check(MexCopy(gpu, c, h) == h && isequal(MexHandleMatrix(gpu, h), A{1}));
  f = MexHandleMatrix(gpu, MexConvert(gpu, c, 1));
  d = MexHandleMatrix(gpu, MexConvert(gpu, c, 0));
  check(isequal(full(f), single(full(A{1}))) && isequal(d, double(A{1})));
end
b = MexConvert(gpu, MexBandMatrix(gpu, [1.1 2; 0 3], 0, 1), 1);
info = MexInfo(gpu, b);
check(strcmp(info.kind, 'band') && strcmp(info.class, 'single') && info.ku == 1);
check(isequal(full(MexHandleMatrix(gpu, b)), double(single([1.1 2; 0 3]))));
end

function transposes_and_diagonals()
gpu = MexInitOpenCL();
for A = {rand(4, 7), rand(1, 5), rand(5, 1), sprand(30, 40, 0.1), single(rand(3))}
  h = upload(gpu, A{1});
  check(isequal(MexHandleMatrix(gpu, MexTranspose(gpu, h)), A{1}'));
  if min(size(A{1})) > 1
    check(isequal(MexHandleMatrix(gpu, MexDiagonal(gpu, h)), full(diag(A{1}))));
  end
end
b = MexBandMatrix(gpu, [1 2 0; 0 3 4], 0, 1);
check(isequal(MexHandleMatrix(gpu, MexDiagonal(gpu, b)), [1; 3]));
check_error('clinalg:argument:shape', 'MexTranspose', @() MexTranspose(gpu, b));
end

function files()
gpu = MexInitOpenCL();
file = [tempname(), '.mtx'];
S = sprand(20, 30, 0.2);
MexWriteMarket(gpu, MexSparseMatrix(gpu, S), file);
check(isequal(MexHandleMatrix(gpu, MexReadMarket(gpu, file)), S));
f = MexReadMarket(gpu, file, 1);
info = MexInfo(gpu, f);
check(strcmp(info.class, 'single') && strcmp(info.kind, 'sparse'));
A = rand(4, 3);
MexWriteMarket(gpu, MexMatrix(gpu, A), file);
check(isequal(MexHandleMatrix(gpu, MexReadMarket(gpu, file)), A));
MexWriteMarket(gpu, MexBandMatrix(gpu, [1 2; 0 3], 0, 1), file);
check(isequal(MexHandleMatrix(gpu, MexReadMarket(gpu, file)), sparse([1 2; 0 3])));
fid = fopen(file, 'w');
fprintf(fid, '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n');
fclose(fid);
check_error('clinalg:file:format', ':3:', @() MexReadMarket(gpu, file));
delete(file);
check_error('clinalg:file:io', 'MexReadMarket', @() MexReadMarket(gpu, file));
check_error('clinalg:file:io', 'MexWriteMarket', @() MexWriteMarket(gpu, f, '/no/such/folder/a.mtx'));
end

function stored_zeros()
gpu = MexInitOpenCL();
h = MexSparseMatrix(gpu, sprand(10, 10, 0.5));
MexFill(gpu, h, 0);
Z = MexHandleMatrix(gpu, h);
check(nnz(Z) == 0 && isequal(Z, sparse(10, 10)));
end

function sizes_and_infos()
gpu = MexInitOpenCL();
h = MexSparseMatrix(gpu, sparse([1 2], [1 3], [4 5], 2, 6));
[rows, cols] = MexSize(gpu, h);
check(rows == 2 && cols == 6);
info = MexInfo(gpu, h);
check(strcmp(info.kind, 'sparse') && strcmp(info.class, 'double') && info.entries == 2);
info = MexInfo(gpu, MexMatrix(gpu, single([1 2 3])));
check(strcmp(info.kind, 'full') && strcmp(info.class, 'single') && info.rows == 1 && info.entries == 3);
end

function lazy_arrays()
% Octave keeps ranges, constants and diagonals in forms of their own.
gpu = MexInitOpenCL();
check(isequal(MexHandleMatrix(gpu, MexMatrix(gpu, 1:5)), 1:5));
check(isequal(MexHandleMatrix(gpu, MexMatrix(gpu, eye(3))), full(eye(3))));
[~, ~, P] = lu(magic(4));
check(isequal(MexHandleMatrix(gpu, MexMatrix(gpu, full(P))), full(P)));
check(isequal(MexHandleMatrix(gpu, MexMatrix(gpu, true)), 1));
A = magic(4);
check(isequal(MexHandleMatrix(gpu, MexMatrix(gpu, A(:, 2))), A(:, 2)));
end
