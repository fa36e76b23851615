function tests = test_solve()
tests = {@systems_are_solved, @iterations_are_those_of_the_host, @a_start_is_used, @ends, @nothing_to_do, @bad_systems, ...
  @functions_are_given_arrays_like_any_other};
end

function systems_are_solved()
gpu = MexInitOpenCL();
n = 200;
e = ones(n, 1);
S = spdiags([-e 4 * e -e], -1:1, n, n);
U = spdiags([-2 * e 4 * e -e], -1:1, n, n);
b = rand(n, 1);
for type = {'double', 'single'}
  as_single = strcmp(type{1}, 'single');
  tol = 100 * eps(type{1});
  hb = MexMatrix(gpu, cast(b, type{1}));
  for kind = 1 : 3
    for precondition = {'none', 'jacobi'}
      for method = {'MexCG', 'MexBiCGStab', 'MexGMRES'}
        A = U;
        if strcmp(method{1}, 'MexCG')
          A = S;
        end
        switch kind
          case 1
            h = MexSparseMatrix(gpu, A, as_single);
          case 2
            h = MexBandMatrix(gpu, A, 1, 1, as_single);
          otherwise
            h = MexMatrix(gpu, cast(full(A), type{1}));
        end
        if strcmp(method{1}, 'MexGMRES')
          [x, flag, relres, iter, resvec, reason] = MexGMRES(gpu, h, hb, 30, tol, 10, precondition{1});
          check(isequal(size(iter), [1 2]));
        else
          [x, flag, relres, iter, resvec, reason] = feval(method{1}, gpu, h, hb, tol, 300, precondition{1});
          check(numel(resvec) == iter + 1);
        end
        x = double(MexHandleMatrix(gpu, x));
        check(flag == 0 && strcmp(reason, 'converged'), '%s %s: %s', method{1}, precondition{1}, reason);
        check(relres <= tol && norm(double(cast(b, type{1})) - A * x) <= 4 * tol * norm(b));
        check(abs(resvec(1) - norm(b)) <= 1e-6 * norm(b) || strcmp(precondition{1}, 'jacobi'));
      end
    end
  end
  MexReleaseOpenCL(gpu);
  gpu = MexInitOpenCL();
end
end

function iterations_are_those_of_the_host()
gpu = MexInitOpenCL();
A = gallery('poisson', 15);
b = A * ones(225, 1);
h = MexSparseMatrix(gpu, A);
hb = MexMatrix(gpu, b);
[~, ~, ~, iter, resvec] = MexCG(gpu, h, hb, 1e-8, 200);
[~, ~, ~, host_iter, host_resvec] = pcg(A, b, 1e-8, 200);
check(iter == host_iter);
check_close(resvec, host_resvec(:, 1), 1e-8);
[~, ~, ~, iter] = MexGMRES(gpu, h, hb, 10, 1e-8, 20);
[~, ~, ~, host_iter] = gmres(A, b, 10, 1e-8, 20);
check(isequal(iter, host_iter), '%d %d, %d %d', iter, host_iter);
end

function a_start_is_used()
gpu = MexInitOpenCL();
A = gallery('poisson', 10);
b = ones(100, 1);
x = MexMatrix(gpu, A \ b);
[y, flag, ~, iter] = MexCG(gpu, MexSparseMatrix(gpu, A), MexMatrix(gpu, b), 1e-10, 50, [], x);
check(y == x && flag == 0 && iter == 0);
end

function ends()
gpu = MexInitOpenCL();
b = MexMatrix(gpu, [1; 2; 3]);
indefinite = MexMatrix(gpu, diag([1 -1 2]));
[~, flag, ~, ~, ~, reason] = MexCG(gpu, indefinite, b);
check(flag == 4 && ~isempty(strfind(reason, 'not positive definite')), reason); %#ok<STREMP>
A = MexSparseMatrix(gpu, gallery('poisson', 20));
f = MexMatrix(gpu, 1 + sin(1 : 400).');
[~, flag, relres, iter, resvec] = MexCG(gpu, A, f, 1e-10, 3);
[~, ~, ~, expected] = pcg(gallery('poisson', 20), 1 + sin(1 : 400).', 1e-10, 3);
check(flag == 1 && iter == expected && numel(resvec) == 4 && relres > 1e-10, 'the iterate with the smallest residual');
[~, flag, ~, ~, resvec] = MexCG(gpu, A, f);
check(flag == 1 && numel(resvec) == 21);
[~, flag] = MexBiCGStab(gpu, MexMatrix(gpu, NaN(3)), b);
check(flag == 4);
[~, flag, relres] = MexCG(gpu, A, f, 1e-25, 1000);
check(flag == 3 && relres < 1e-13);
end

function nothing_to_do()
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, speye(5));
[x, flag, relres, iter, resvec] = MexCG(gpu, A, MexZeros(gpu, 5, 1));
check(flag == 0 && relres == 0 && iter == 0 && all(resvec == 0) && all(MexHandleMatrix(gpu, x) == 0));
[x, flag] = MexCG(gpu, MexSparseMatrix(gpu, sparse(0, 0)), MexZeros(gpu, 0, 1));
check(flag == 0 && isempty(MexHandleMatrix(gpu, x)));
end

function bad_systems()
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, speye(5));
R = MexSparseMatrix(gpu, speye(5, 6));
b = MexZeros(gpu, 5, 1);
before = MexMemory(gpu);
check_error('clinalg:argument:shape', '`b` is 4 x 1, expected 5 rows, as A', @() MexCG(gpu, A, MexZeros(gpu, 4, 1)));
check_error('clinalg:argument:shape', '`A`', @() MexCG(gpu, R, b));
check_error('clinalg:argument:precision', '`b`', @() MexCG(gpu, A, MexZeros(gpu, 5, 1, 1)));
check_error('clinalg:argument:value', '`tol`', @() MexCG(gpu, A, b, 0));
check_error('clinalg:argument:value', '`tol`', @() MexBiCGStab(gpu, A, b, NaN));
check_error('clinalg:argument:value', '`maxit`', @() MexCG(gpu, A, b, 1e-6, 2.5));
check_error('clinalg:argument:value', '`precond` is ''ilux''', @() MexCG(gpu, A, b, 1e-6, 5, 'ilux'));
check_error('clinalg:argument:value', '`restart`', @() MexGMRES(gpu, A, b, 0));
check_error('clinalg:argument:value', '`x`', @() MexCG(gpu, A, b, 1e-6, 5, [], b));
check_error('clinalg:argument:length', '`x`', @() MexCG(gpu, A, b, 1e-6, 5, [], MexZeros(gpu, 6, 1)));
check_error('clinalg:handle:kind', '`b`', @() MexCG(gpu, A, A));
check_error('clinalg:argument:value', 'diagonal', @() MexCG(gpu, MexMatrix(gpu, [0 1; 1 0]), MexZeros(gpu, 2, 1), [], [], 'jacobi'));
after = MexMemory(gpu);
check(after.objects == before.objects + 5);
end

function functions_are_given_arrays_like_any_other()
A = gallery('poisson', 4);
S = clinalg.matrix(A);
b = clinalg.vector(ones(16, 1));
[x, flag] = clinalg.pcg(@(v) by_products(S, v), b, 1e-10, 100, @(r) by_products(1, r));
check(flag == 0);
check_close(gather(x), A \ ones(16, 1), 1e-8);
[x, flag] = clinalg.gmres(@(v) by_products(S, v), b, 'Tolerance', 1e-10);
check(flag == 0);
check_close(gather(x), A \ ones(16, 1), 1e-8);
r = clinalg.precond(S, 'ilu') \ b;
check_close(gather(r * r'), gather(r) * gather(r)', 1e-14);
end

function y = by_products(S, v)
y = S * v + 0 * sum(v * v', 2);
end
