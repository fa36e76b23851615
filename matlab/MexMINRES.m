function [x, flag, relres, iter, resvec, reason] = MexMINRES(gpu, A, b, tol, maxit, precond, x)
%MexMINRES  Solve a symmetric system by minimal residuals.
%   [x, flag, relres, iter, resvec, reason] = MexMINRES(gpu, A, b [, tol] [, maxit] [, precond] [, x])
%
%   Solves A x = b for any symmetric (complex: Hermitian) full, sparse or band matrix A, definite or not; the arguments and
%   results are those of MexCG. The preconditioner must be symmetric positive definite; 'saddle' is one for symmetric saddle
%   points.
%
%   Example:
%     gpu = MexInitOpenCL();
%     e = ones(100, 1);
%     A = MexSparseMatrix(gpu, spdiags([-e 1*e -e], -1:1, 100, 100));
%     [x, flag, relres, iter] = MexMINRES(gpu, A, MexMatrix(gpu, e), 1e-8, 200);
%     flag
%
%   See also MexCG, MexGMRES, MexSaddle.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 7, x = []; end
if nargin < 6, precond = []; end
if nargin < 5, maxit = []; end
if nargin < 4, tol = []; end
try
  [x, flag, relres, iter, resvec, reason] = clinalg_mex('MexMINRES', gpu, A, b, tol, maxit, precond, x);
catch problem
  if nargin < 3, clinalg_mex('MexMINRES'); end
  rethrow(problem);
end
end
