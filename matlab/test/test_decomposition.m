function tests = test_decomposition()
% Decompositions, determinants and condition numbers of matrices on the device against MATLAB's own solutions.
tests = {@sparse_systems, @indefinite_systems, @full_systems, @transposes, @new_values, @ill_conditioned_matrices_warn_once, @large_determinants_and_conditions, ...
  @what_has_none};
end

function A = convection(n, as)
% Convection and diffusion on n x n points, with complex reactions if `as` is @complex.
e = ones(n, 1);
T = spdiags([-1.4 * e, 2 * e, -0.6 * e], -1 : 1, n, n);
A = kron(speye(n), T) + kron(T, speye(n)) + 0.1 * speye(n ^ 2);
if strcmp(func2str(as), 'complex'), A = A + 0.3i * spdiags((1 : n ^ 2).' / n ^ 2, 0, n ^ 2, n ^ 2); end
end

function sparse_systems()
for as = {@double, @complex}
  A = convection(12, as{1});
  for M = {A, A * A' + speye(144)}
    dA = decomposition(clinalg.matrix(M{1}));
    check(strcmp(dA.Type, 'lu') == isequal(M{1}, A) && dA.IsSparse && isequal(dA.MatrixSize, [144, 144]) && isequal(size(dA), [144, 144]));
    check(dA.IsReal == isreal(M{1}) && strcmp(dA.Datatype, 'double'));
    for B = {rand(144, 1), rand(144, 3), rand(144, 2) + 1i * rand(144, 2), clinalg.matrix(rand(144, 2)), sparse(eye(144, 2))}
      x = dA \ B{1};
      b = B{1};
      if isa(b, 'clinalg.array'), b = gather(b); end
      check(isa(x, 'clinalg.array'));
      check_close(gather(x), M{1} \ full(b), 1e-12);
    end
    s = info(dA);
    check(s.backwardError < 1e-15 && s.entries >= nnz(tril(M{1})));
    check(isUnderlyingType(dA \ single(rand(144, 1)), 'single'));
  end
end
x = clinalg.decomposition(single(3) * eye(2)) \ [3; 6];
check_close(gather(x), single([1; 2]), 1e-6);
end

function indefinite_systems()
% [H B'; B 0] has as many negative eigenvalues as B has rows.
n = 80;
m = 20;
B = sparse(1 : m, 1 : m, 1, m, n) + sprand(m, n, 0.05);
K = [gallery('tridiag', n) + speye(n), B.'; B, sparse(m, m)];
b = rand(n + m, 2);
for type = {'auto', 'ldl'}
  dK = decomposition(clinalg.matrix(K), type{1});
  check(strcmp(dK.Type, 'ldl'));
  check_close(gather(dK \ b), K \ b, 1e-9);
  check_close(gather(dK' \ b), K \ b, 1e-9);
  check_close(det(dK), det(K), 1e-9 * abs(det(K)));
  s = info(dK);
  check(isequal(s.inertia, [n, m, 0]) && s.matched);
end
check_close(gather(clinalg.matrix(K) \ b), K \ b, 1e-9);
% Complex symmetric, which has no inertia; LU does not show it.
H = gallery('poisson', 12) - (3 - 0.2i) * speye(144);
dH = decomposition(clinalg.matrix(H));
b = rand(144, 1) + 1i * rand(144, 1);
check(strcmp(dH.Type, 'ldl') && isempty(getfield(info(dH), 'inertia')));
check_close(gather(dH \ b), H \ b, 1e-10);
check_close(gather(dH' \ b), H' \ b, 1e-10);
check_close(gather(dH.' \ b), H.' \ b, 1e-10);
check(isempty(getfield(info(decomposition(clinalg.matrix(K), 'lu')), 'inertia')));
end

function full_systems()
A = magic(5) + 1i * eye(5);
dA = decomposition(clinalg.matrix(A));
check(strcmp(dA.Type, 'lu') && ~dA.IsSparse && ~dA.IsReal);
check_close(gather(dA \ (1 : 5).'), A \ (1 : 5).', 1e-12);
check_close(det(dA), det(A), 1e-8);
tall = rand(7, 3);
dT = decomposition(clinalg.matrix(tall));
check(strcmp(dT.Type, 'qr'));
check_close(gather(dT \ (1 : 7).'), tall \ (1 : 7).', 1e-12);
dC = decomposition(clinalg.matrix(tall' * tall), 'chol');
check(strcmp(dC.Type, 'chol'));
check_close(gather(dC \ [1; 2; 3]), (tall' * tall) \ [1; 2; 3], 1e-10);
check_close(det(dC), det(tall' * tall), 1e-10);
end

function transposes()
for as = {@double, @complex}
  A = convection(8, as{1});
  for M = {A, full(A), A * A', full(A * A')}
    types = {'auto', 'lu'};
    if isequal(full(M{1}), full(A * A')), types{3} = 'chol'; end
    for type = types
      dA = decomposition(clinalg.matrix(M{1}), type{1});
      B = rand(3, 64) + 1i * rand(3, 64);
      check_close(gather(dA' \ B.'), M{1}' \ B.', 1e-10);
      check_close(gather(dA.' \ B.'), M{1}.' \ B.', 1e-10);
      check_close(gather((dA').' \ B.'), conj(M{1}) \ B.', 1e-10);
      check_close(gather(dA'' \ B.'), M{1} \ B.', 1e-10);
      check_close(gather(B / dA), B / M{1}, 1e-10);
      check_close(gather(clinalg.matrix(B) / dA), B / M{1}, 1e-10);
      check_close(gather(B / dA'), B / M{1}', 1e-10);
    end
  end
end
end

function new_values()
A = convection(10, @double);
dA = decomposition(clinalg.matrix(A));
refill(dA, A + speye(100));
b = rand(100, 1);
check_close(gather(dA \ b), (A + speye(100)) \ b, 1e-12);
check_error('clinalg:argument:value', 'other places', @() refill(dA, A + sparse(1, 100, 1, 100, 100)));
check_error('clinalg:argument:value', 'sparse', @() refill(decomposition(clinalg.matrix(eye(3))), sparse(eye(3))));
end

function ill_conditioned_matrices_warn_once()
A = spdiags([1e-18; ones(99, 1)], 0, 100, 100) + sparse(2, 1, 1, 100, 100);
dA = decomposition(clinalg.matrix(A));
check(isIllConditioned(dA) && rcond(dA) < 1e-17);
lastwarn('', '');
evalc('x = dA \ ones(100, 1);');
[~, id] = lastwarn();
check(strcmp(id, 'clinalg:matrix:nearlySingular'));
check_close(gather(x), A \ ones(100, 1), 1e4);
lastwarn('', '');
x = dA \ ones(100, 1);
[~, id] = lastwarn();
check(isempty(id));
well = decomposition(clinalg.matrix(convection(10, @double)));
check(~isIllConditioned(well));
% The solution of a large system warns too.
for shift = [1.2e-13, 1e-3]
  % Singular without the shift.
  A = spdiags(ones(1200, 1) * [-1, 2, -1], -1 : 1, 1200, 1200);
  A(1, 1) = 1;
  A(1200, 1200) = 1;
  A(600, 600) = 2 + shift;
  lastwarn('', '');
  evalc('x = clinalg.matrix(A) \ ones(1200, 1);');
  [~, id] = lastwarn();
  check(strcmp(id, 'clinalg:matrix:nearlySingular') == (shift < 1e-10));
end
end

function large_determinants_and_conditions()
n = 1200;
% The determinant of tridiag(-1, 2, -1) is n + 1, the inverse has the elements min(i, j) (n + 1 - max(i, j)) / (n + 1).
A = spdiags(ones(n, 1) * [-1, 2, -1], -1 : 1, n, n);
a = clinalg.matrix(A);
check_close(det(a), n + 1, 1e-8);
half = n / 2;
norm_of_inverse = half * (half + 1) / 2;
check(abs(condest(a) / (4 * norm_of_inverse) - 1) < 1e-10);
check_close(det(-a), n + 1, 1e-8);
% A cyclic shift of an even number of rows is an odd permutation.
check_close(det(clinalg.matrix(sparse([2 : n, 1], 1 : n, 1))), -1, 1e-12);
A(1, 1) = 1;
A(n, n) = 1;
check(abs(det(clinalg.matrix(A))) < 1e-8);
end

function what_has_none()
check_error('clinalg:argument:count', 'clinalg.decomposition(A, type)', @() clinalg.decomposition());
check_error('clinalg:argument:value', 'ldl is for sparse ones', @() clinalg.decomposition(eye(3), 'ldl'));
check_error('clinalg:argument:value', 'not symmetric', @() clinalg.decomposition(sparse([1 2; 3 4]), 'ldl'));
check_error('clinalg:argument:value', 'lsmr', @() clinalg.decomposition(speye(3), 'qr'));
check_error('clinalg:matrix:notPositiveDefinite', 'positive', @() clinalg.decomposition(-speye(3), 'chol'));
check_error('clinalg:argument:shape', '2 x 3', @() clinalg.decomposition(sparse(ones(2, 3))));
dA = clinalg.decomposition(speye(3));
check_error('clinalg:argument:shape', 'dA is 3 x 3, b is 2 x 1', @() dA \ ones(2, 1));
check_error('clinalg:argument:value', 'sparse', @() info(clinalg.decomposition(eye(3))));
singular = clinalg.decomposition(sparse([1 1 0; 1 1 0; 0 0 1]));
singular.CheckCondition = false;
check_error('clinalg:argument:value', 'singular to working precision', @() singular \ [1; 2; 3]);
end
