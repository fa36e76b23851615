function [x, flag, relres, iter, resvec, reason] = MexGMRES(gpu, A, b, restart, tol, maxit, precond, x)
%MexGMRES  Solve a system by generalised minimal residuals.
%   [x, flag, relres, iter, resvec, reason] = MexGMRES(gpu, A, b [, restart] [, tol] [, maxit] [, precond] [, x])
%
%   Solves A x = b for any full, sparse or band matrix A that is not singular, with gmres's order of arguments:
%   the method restarts after restart iterations, at most maxit times (default the smaller of
%   numel(b) / restart and 10); without restart it runs for at most maxit iterations (default the smaller
%   of numel(b) and 10). iter is [outer inner]. The rest is as for MexCG; the preconditioner acts from the
%   left, and with a preconditioner resvec holds the norms of the preconditioned residual.
%
%   Example:
%     gpu = MexInitOpenCL();
%     e = ones(100, 1);
%     A = MexSparseMatrix(gpu, spdiags([-2*e 4*e -e], -1:1, 100, 100));
%     b = MexMatrix(gpu, e);
%     [x, flag, relres, iter] = MexGMRES(gpu, A, b, 20, 1e-10, 5);
%     flag
%
%   See also MexCG, MexBiCGStab.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 8, x = []; end
if nargin < 7, precond = []; end
if nargin < 6, maxit = []; end
if nargin < 5, tol = []; end
if nargin < 4, restart = []; end
try
  [x, flag, relres, iter, resvec, reason] = clinalg_mex('MexGMRES', gpu, A, b, restart, tol, maxit, precond, x);
catch problem
  if nargin < 3, clinalg_mex('MexGMRES'); end
  rethrow(problem);
end
end
