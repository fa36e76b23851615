function [x, flag, relres, iter, resvec, reason] = MexBiCGStab(gpu, A, b, tol, maxit, precond, x)
%MexBiCGStab  Solve a system by stabilised biconjugate gradients.
%   [x, flag, relres, iter, resvec, reason] = MexBiCGStab(gpu, A, b [, tol] [, maxit] [, precond] [, x])
%
%   Solves A x = b for any full, sparse or band matrix A that is not singular; the arguments and results are
%   those of MexCG. An iteration takes two products; resvec has one entry per iteration.
%
%   Example:
%     gpu = MexInitOpenCL();
%     e = ones(100, 1);
%     A = MexSparseMatrix(gpu, spdiags([-2*e 4*e -e], -1:1, 100, 100));
%     b = MexMatrix(gpu, e);
%     [x, flag, relres, iter] = MexBiCGStab(gpu, A, b, 1e-10, 100, 'jacobi');
%     flag
%
%   See also MexCG, MexGMRES.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 7, x = []; end
if nargin < 6, precond = []; end
if nargin < 5, maxit = []; end
if nargin < 4, tol = []; end
try
  [x, flag, relres, iter, resvec, reason] = clinalg_mex('MexBiCGStab', gpu, A, b, tol, maxit, precond, x);
catch problem
  if nargin < 3, clinalg_mex('MexBiCGStab'); end
  rethrow(problem);
end
end
