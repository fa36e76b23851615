function [x, flag, relres, iter, resvec, reason] = MexCG(gpu, A, b, tol, maxit, precond, x)
%MexCG  Solve a symmetric positive definite system by conjugate gradients.
%   [x, flag, relres, iter, resvec, reason] = MexCG(gpu, A, b [, tol] [, maxit] [, precond] [, x])
%
%   Solves A x = b for a full, sparse or band matrix A and a vector b of one precision, with pcg's order of
%   arguments. x holds the initial guess and receives the result; without it the initial guess is zero and
%   the result is a new object. The columns of a full matrix b are solved for together; relres is then the largest
%   relative residual of a column, and resvec that times norm(b, 'fro').
%     tol      relative residual norm(b - A x) / norm(b) to reach (default 1e-6)
%     maxit    maximum number of iterations (default the smaller of numel(b) and 20)
%     precond  'none' (default), 'jacobi', the diagonal of A; for a sparse matrix 'ilu', 'ilut', 'ic', 'ssor', 'spai0',
%              'fsai', 'amg', 'saddle' or 'lu', made for this solve with the defaults of MexPreconditioner, MexAmg and
%              MexSaddle; or the handle of a matrix or operator whose product approximates the inverse of A, as these make
%   flag is 0 if tol was met, 1 if maxit was reached, 3 if the residual stopped falling, 4 if the method broke down or A
%   is not positive definite, 5 if Ctrl-C stopped it: x is the current iterate. With flags 1, 3 and 4, x is the iterate
%   with the smallest residual and iter its number; up to iter iterations are repeated to compute it again. relres is the
%   relative residual of x, resvec the norm of the residual at the start and after each iteration, reason the meaning of
%   flag as text.
%
%   Example:
%     gpu = MexInitOpenCL();
%     e = ones(100, 1);
%     A = MexSparseMatrix(gpu, spdiags([-e 4*e -e], -1:1, 100, 100));
%     b = MexMatrix(gpu, e);
%     [x, flag, relres, iter] = MexCG(gpu, A, b, 1e-10, 100);
%     flag
%
%   See also MexBiCGStab, MexGMRES, MexMINRES, MexSolveSparse, MexPreconditioner, MexAmg.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 7, x = []; end
if nargin < 6, precond = []; end
if nargin < 5, maxit = []; end
if nargin < 4, tol = []; end
try
  [x, flag, relres, iter, resvec, reason] = clinalg_mex('MexCG', gpu, A, b, tol, maxit, precond, x);
catch problem
  if nargin < 3, clinalg_mex('MexCG'); end
  rethrow(problem);
end
end
