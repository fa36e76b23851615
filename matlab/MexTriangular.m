function M = MexTriangular(gpu, L, U)
%MexTriangular  Make a preconditioner of triangular factors.
%   M = MexTriangular(gpu, L [, U])
%
%   L and U are sparse triangular matrices, lower or upper. M is the preconditioner L * U, or L alone: the argument precond of
%   MexCG, MexBiCGStab and MexGMRES; z = MexMultiply(gpu, M, r) is U \ (L \ r). It does not refer to them. MexRelease frees it.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, gallery('poisson', 20));
%     L = MexIncompleteCholesky(gpu, A);
%     M = MexTriangular(gpu, L, MexTranspose(gpu, L));
%     [x, flag, relres, iter] = MexCG(gpu, A, MexMatrix(gpu, ones(400, 1)), 1e-8, 100, M);
%     iter
%
%   See also MexIncompleteCholesky, MexIncompleteLU, MexCG.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, U = []; end
try
  M = clinalg_mex('MexTriangular', gpu, L, U);
catch problem
  if nargin < 2, clinalg_mex('MexTriangular'); end
  rethrow(problem);
end
end
