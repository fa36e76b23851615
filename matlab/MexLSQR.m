function [x, flag, relres, iter, resvec, reason] = MexLSQR(gpu, A, b, tol, maxit, precond, x)
%MexLSQR  Solve a least-squares problem by LSQR.
%   [x, flag, relres, iter, resvec, reason] = MexLSQR(gpu, A, b [, tol] [, maxit] [, precond] [, x])
%
%   Finds the x that makes norm(b - A x) smallest, for a full, sparse or band matrix A of any shape and one or more columns b,
%   with lsqr's order of arguments. Of several solutions it is the one nearest to the initial guess, which x holds and which is
%   zero without it.
%     tol      norm(b - A x) / norm(b) or norm(A' r) / (norm(A, 'fro') norm(r)) for r = b - A x to reach (default 1e-6)
%     maxit    maximum number of iterations for each column (default the smallest of the rows and columns of A and 20)
%     precond  'none' (default) or, for a sparse A, 'jacobi', which scales its columns to norm 1, or 'ic', 'ssor',
%              'spai0', 'fsai' or 'amg', made from A' A, which is computed; of several solutions x is the nearest in the norm
%              of the preconditioner
%   The results are those of MexCG; flag is 0 where either of the two quotients met tol. relres is norm(b - A x) / norm(b), which
%   stays large where no x solves the system. Of several columns relres, iter and resvec are those of one that did not converge,
%   else of the one with the largest relres.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, sparse([1 0; 1 1; 1 2]));
%     [x, flag] = MexLSQR(gpu, A, MexMatrix(gpu, [1; 2; 4]), 1e-12);
%     MexHandleMatrix(gpu, x) - [5/6; 3/2]
%
%   See also MexSolveSparse, MexCG, MexQr.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 7, x = []; end
if nargin < 6, precond = []; end
if nargin < 5, maxit = []; end
if nargin < 4, tol = []; end
try
  [x, flag, relres, iter, resvec, reason] = clinalg_mex('MexLSQR', gpu, A, b, tol, maxit, precond, x);
catch problem
  if nargin < 3, clinalg_mex('MexLSQR'); end
  rethrow(problem);
end
end
