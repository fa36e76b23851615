function tests = test_complex()
tests = {@transfers, @sparse_and_band, @sums_and_products, @transposes, @parts, @mixed_with_real, @solving_dense, ...
  @krylov_methods, @files, @refusals, @shown};
end

function z = values(varargin)
z = complex(rand(varargin{:}) - 0.5, rand(varargin{:}) - 0.5);
end

function e = accuracy(type)
e = 200 * eps(type);
end

function transfers()
gpu = MexInitOpenCL();
for type = {'double', 'single'}
  for shape = {[1 1], [1 7], [7 1], [33 65], [0 3]}
    A = cast(values(shape{1}), type{1});
    h = MexMatrix(gpu, A);
    B = MexHandleMatrix(gpu, h);
    check(isequal(A, B) && isequal(size(A), size(B)) && strcmp(class(B), type{1}), mat2str(shape{1}));
    info = MexInfo(gpu, h);
    check(info.complex || isempty(A));
    MexReleaseMatrix(gpu, h);
  end
  A = cast(values(3, 4), type{1});
  z = MexZeros(gpu, 3, 4, strcmp(type{1}, 'single'), 1);
  MexWriteMatrix(gpu, z, A);
  check(isequal(MexHandleMatrix(gpu, z), A));
  MexWriteMatrix(gpu, z, real(A));
  check(isequal(MexHandleMatrix(gpu, z), real(A)));
  MexFill(gpu, z, 1 - 2i);
  check(isequal(MexHandleMatrix(gpu, z), cast(repmat(1 - 2i, 3, 4), type{1})));
  c = MexConvert(gpu, MexMatrix(gpu, A), 1);
  check(isequal(MexHandleMatrix(gpu, c), single(A)));
end
x = [complex(NaN, 1); complex(Inf, -0); complex(1, -Inf)];
y = MexHandleMatrix(gpu, MexMatrix(gpu, x));
im = imag(y);
check(isequal(isnan(x), isnan(y)) && isequal(im, imag(x)) && 1 / im(2) == -Inf);
end

function sparse_and_band()
gpu = MexInitOpenCL();
S = sprand(50, 40, 0.1) + 1i * sprand(50, 40, 0.1);
x = values(40, 1);
y = values(50, 1);
for as_single = [0 1]
  h = MexSparseMatrix(gpu, S, as_single);
  T = MexHandleMatrix(gpu, h);
  if as_single
    check(issparse(T) && isequal(full(T), double(single(full(S)))));
  else
    check(issparse(T) && isequal(S, T) && nnz(S) == nnz(T));
  end
end
s = clinalg.matrix(S);
check(issparse(s) && ~isreal(s));
check_close(gather(s * x), S * x, accuracy('double'), 'S x');
check_close(gather(s' * y), S' * y, accuracy('double'), 'S'' y');
check_close(gather(s.' * y), S.' * y, accuracy('double'), 'S.'' y');
check(isequal(gather(full(s')), S') && isequal(gather(full(s.')), S.'));
B = triu(tril(values(9, 9), 2), -1);
b = clinalg.matrix(B, 1, 2);
check(isequal(full(gather(b)), B));
check_close(gather(b * x(1:9)), B * x(1:9), accuracy('double'), 'B x');
check(isequal(gather(diag(b)), diag(B)));
end

function sums_and_products()
for type = {'double', 'single'}
  e = accuracy(type{1});
  A = cast(values(20, 15), type{1});
  x = cast(values(15, 1), type{1});
  y = cast(values(15, 1), type{1});
  [a, u, v] = deal(clinalg.matrix(A), clinalg.vector(x), clinalg.vector(y));
  check_close(gather(a * u), A * x, e, 'A x');
  check_close(gather(u + v), x + y, e, 'plus');
  check_close(gather(u - y), x - y, e, 'minus');
  check_close(gather((2 - 1i) * u), (2 - 1i) * x, e, 'number times');
  check_close(gather(u / 2i), x / 2i, e, 'quotient');
  check_close(gather(u + 1i), x + 1i, e, 'plus a number');
  check_close(gather(u .* v), x .* y, e, 'element by element');
  check_close(gather(-u), -x, e, 'minus');
  check_close(sum(u), sum(x), e, 'sum');
  check_close(dot(u, v), dot(x, y), e, 'dot');
  check_close(u' * v, x' * y, e, 'x'' y');
  check_close(u.' * v, x.' * y, e, 'x.'' y');
  check_close(norm(u), norm(x), e, 'norm');
  check_close(norm(u, 1), norm(x, 1), e, 'norm 1');
  check_close(norm(u, Inf), norm(x, Inf), e, 'norm Inf');
  check_close(norm(a, 'fro'), norm(A, 'fro'), e, 'norm fro');
end
gpu = MexInitOpenCL();
x = double(x);
y = double(y);
A = double(A);
[hx, hy] = deal(MexMatrix(gpu, x), MexMatrix(gpu, y));
z = MexAxpby(gpu, 2i, hx, 1 - 1i, hy);
check_close(MexHandleMatrix(gpu, z), 2i * x + (1 - 1i) * y, accuracy('double'), 'axpby');
z = MexMultiplyAdd(gpu, 1i, MexMatrix(gpu, A), hx, 2i, MexMatrix(gpu, ones(20, 1) * 1i));
check_close(MexHandleMatrix(gpu, z), 1i * A * x - 2, accuracy('double'), 'alpha A x + beta y');
end

function transposes()
A = values(6, 4);
x = values(6, 1);
y = values(4, 1);
a = clinalg.matrix(A);
e = accuracy('double');
check_close(gather(a' * x), A' * x, e, 'A'' x');
check_close(gather(a.' * x), A.' * x, e, 'A.'' x');
check(isequal(gather(a'), A') && isequal(gather(a.'), A.'));
check(isequal(gather((a')'), A) && isequal(gather((a.').'), A));
check(isequal(gather((a.')'), conj(A)) && isequal(gather((a').'), conj(A)));
check(isequal(gather(full(a')), A') && isequal(gather(full(a.')), A.'));
check_close(gather((2i * a') * x), 2i * A' * x, e, 'k A'' x');
check_close(gather((a' / 2i) * x), A' / 2i * x, e, 'A'' / k x');
check_close(gather((a.' * 1i) * x), A.' * 1i * x, e, 'A.'' k x');
check_close(gather(a' + A'), 2 * A', e, 'A'' + A''');
check_close(gather(clinalg.vector(x)' * a), x' * A, e, 'x'' A');
check_close(gather(clinalg.vector(x).' * a), x.' * A, e, 'x.'' A');
check_close(gather(clinalg.vector(y.') * a'), y.' * A', e, 'row times A''');
check_close(sum(clinalg.vector(x)'), sum(x'), e, 'sum of a row');
gpu = MexInitOpenCL();
h = MexMatrix(gpu, A);
check(isequal(MexHandleMatrix(gpu, MexTranspose(gpu, h)), A.'));
check(isequal(MexHandleMatrix(gpu, MexConjTranspose(gpu, h)), A'));
hx = MexMatrix(gpu, x);
check_close(MexHandleMatrix(gpu, MexMatrixTransposeVector(gpu, h, hx)), A' * x, e, 'MexMatrixTransposeVector');
check_close(MexHandleMatrix(gpu, MexMultiplyOp(gpu, 'notransp', h, MexMatrix(gpu, y))), A * y, e, 'notransp');
end

function parts()
for type = {'double', 'single'}
  A = cast(values(5, 3), type{1});
  a = clinalg.matrix(A);
  check(isequal(gather(real(a)), real(A)) && isequal(gather(imag(a)), imag(A)) && isequal(gather(conj(a)), conj(A)));
  check_close(gather(abs(a)), abs(A), accuracy(type{1}), 'abs');
  check(isreal(real(a)) && ~isreal(a) && iscomplex(a) && isreal(abs(a)));
  check(isequal(gather(complex(real(a), imag(a))), A));
end
s = clinalg.matrix(sparse([1+2i 0; 0 3i]));
check(isequal(gather(conj(s)), sparse([1-2i 0; 0 -3i])));
end

function mixed_with_real()
x = [1; 2; 3];
z = [1i; 2; 3 - 4i];
[u, w] = deal(clinalg.vector(x), clinalg.vector(z));
check(isequal(gather(u + w), x + z) && isequal(gather(w - u), z - x) && isequal(gather(u .* w), x .* z));
check(isequal(gather(u * 1i), x * 1i) && isequal(gather(u + z), x + z) && isequal(gather(u + 2i), x + 2i));
A = magic(3);
check(isequal(gather(clinalg.matrix(A) * w), A * z) && isequal(gather(clinalg.matrix(A * 1i) * u), A * 1i * x));
check(isequal(dot(u, w), dot(x, z)) && isequal(u' * w, x' * z));
check(isequal(gather(clinalg.matrix(sparse(A)) * z), A * z));
c = complex(u);
check(~isreal(c) && isequal(gather(c), x));
check(isequal(gather(single(w)), single(z)) && strcmp(underlyingType(single(w)), 'single'));
end

function solving_dense()
for type = {'double', 'single'}
  e = 100 * accuracy(type{1});
  A = cast(values(12) + 4 * eye(12), type{1});
  B = cast(values(12, 3), type{1});
  a = clinalg.matrix(A);
  check_close(gather(a \ B(:, 1)), A \ B(:, 1), e, 'A \ b');
  check_close(gather(a \ B), A \ B, e, 'A \ B');
  check_close(gather(A \ clinalg.matrix(B)), A \ B, e, 'A of the host');
  check_close(gather(a' \ B), A' \ B, e, 'A'' \ B');
  check_close(gather(a.' \ B), A.' \ B, e, 'A.'' \ B');
  check_close(gather(a \ real(B)), A \ real(B), e, 'a real right-hand side');
  R = real(A);
  check_close(gather(clinalg.matrix(R) \ B), R \ B, e, 'a real matrix');
  check_close(gather(clinalg.matrix(R) \ real(B)), R \ real(B), e, 'both real');
  M = cast(values(12, 5), type{1});
  check_close(gather(clinalg.matrix(M) \ B), M \ B, e, 'least squares');
end
gpu = MexInitOpenCL();
A = values(12) + 4 * eye(12);
B = values(12, 3);
H = A' * A;
x = MexSolveDense(gpu, MexMatrix(gpu, H), MexMatrix(gpu, B), 'cholesky');
check_close(MexHandleMatrix(gpu, x), H \ B, 1e-10, 'Cholesky');
Z = clinalg.matrix(complex(zeros(2), zeros(2)));
check_error('clinalg:matrix:singular', '', @() MexSolveDense(gpu, Z.h, MexMatrix(gpu, [1; 1i])));
check_error('clinalg:matrix:notPositiveDefinite', '', @() MexSolveDense(gpu, MexMatrix(gpu, -H), x, 'cholesky'));
check(isequal(gather(clinalg.matrix(speye(3)) \ [1; 1i; 2]), [1; 1i; 2]), 'a sparse matrix');
check_error('clinalg:argument:value', '''lu''', @() MexSolveDense(gpu, MexMatrix(gpu, H), x, 'svd'));
end

function krylov_methods()
n = 60;
e = ones(n, 1);
H = spdiags([(-1 - 0.5i) * e, 4 * e, (-1 + 0.5i) * e], -1 : 1, n, n);
N = spdiags([(-2 + 1i) * e, (4 + 2i) * e, -1i * e], -1 : 1, n, n);
b = values(n, 1);
x = clinalg.pcg(clinalg.matrix(H), b, 1e-12, 100);
check_close(gather(x), H \ b, 1e-10, 'pcg');
x = clinalg.pcg(clinalg.matrix(H), b, 1e-12, 100, 'jacobi');
check_close(gather(x), H \ b, 1e-10, 'pcg with Jacobi');
x = clinalg.bicgstab(clinalg.matrix(N), b, 1e-12, 200);
check_close(gather(x), N \ b, 1e-10, 'bicgstab');
x = clinalg.gmres(clinalg.matrix(N), clinalg.vector(b), 20, 1e-12, 20);
check_close(gather(x), N \ b, 1e-10, 'gmres');
check_close(clinalg.gmres(N, b, 20, 1e-12, 20), N \ b, 1e-10, 'gmres of the host''s arrays');
[x, flag] = clinalg.gmres(clinalg.matrix(N), real(b), 20, 1e-12, 20, [], [], real(b));
check(flag == 0);
check_close(gather(x), N \ real(b), 1e-10, 'gmres with a real right-hand side and start');
end

function files()
gpu = MexInitOpenCL();
file = [tempname(), '.mtx'];
A = values(4, 3);
clinalg.write(clinalg.matrix(A), file);
check(isequal(gather(clinalg.read(file)), A) && isequal(gather(clinalg.read(file, 'single')), single(A)));
S = sprand(20, 30, 0.2) * (1 + 2i);
clinalg.write(clinalg.matrix(S), file);
check(isequal(gather(clinalg.read(file)), S));
gzip(file);
check(isequal(gather(clinalg.read([file, '.gz'])), S));
delete([file, '.gz']);
fid = fopen(file, 'w');
fprintf(fid, '%%%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 5 0\n2 1 1 -3\n');
fclose(fid);
check(isequal(MexHandleMatrix(gpu, MexReadMarket(gpu, file)), sparse([5 1+3i; 1-3i 0])));
delete(file);
end

function refusals()
gpu = MexInitOpenCL();
z = MexMatrix(gpu, [1i; 2; 3]);
x = MexMatrix(gpu, [1; 2; 3]);
check_error('clinalg:argument:value', 'complex', @() MexVectorPlusVector(gpu, z, x));
check_error('clinalg:argument:value', 'real', @() MexVectorTimesConstant(gpu, x, 1i));
check_error('clinalg:argument:value', 'complex', @() MexWriteMatrix(gpu, x, [1i; 2; 3]));
check_error('clinalg:argument:value', 'MexJacobi', @() MexJacobi(gpu, z, z, [], 1, 0.8));
check_error('clinalg:argument:value', 'MexPoissonSolve', @() MexPoissonSolve(gpu, MexPoisson(gpu, [5 5]), MexMatrix(gpu, 1i * ones(5))));
check_error('clinalg:argument:complex', 'tol', @() MexCG(gpu, MexSparseMatrix(gpu, speye(3)), x, 1i));
check_error('clinalg:argument:complex', 'y0', @() MexOde(gpu, 'u'' = -u', [0 1], 1i));
end

function shown()
text = evalc('disp(clinalg.vector([1i; 2]))');
check(~isempty(strfind(text, '2 x 1 full complex array of class double')), text); %#ok<STREMP>
end
