function [X, d, flag, residuals, iter, reason] = MexEigs(gpu, A, k, which, tol, maxit, precond, mass)
%MexEigs  Find a few eigenvalues and eigenvectors of a symmetric matrix.
%   [X, d, flag, residuals, iter, reason] = MexEigs(gpu, A [, k] [, which] [, tol] [, maxit] [, precond] [, mass])
%
%   Finds k eigenvalues of A x = lambda x at one end of the spectrum by LOBPCG, a block method that needs products with A
%   only. A is a real symmetric or complex Hermitian matrix or operator; any other is an error.
%     k        number of eigenvalues (default the smaller of 6 and the rows of A)
%     which    'smallest' (default): the smallest eigenvalues in ascending order; 'largest': the largest in descending order
%     tol      relative residual norm(A x - lambda B x) / (abs(lambda) norm(B x)) to reach (default 1e-8 in double,
%              1e-4 in single precision)
%     maxit    maximum number of iterations (default 1000)
%     precond  as for MexCG, symmetric positive definite; for the smallest eigenvalues only
%     mass     the handle of a symmetric (complex: Hermitian) positive definite matrix B: the problem is A x = lambda B x
%   X is a full matrix of the eigenvectors, x' B x = 1 for each column x; d has the eigenvalues. flag is 0 if all met tol, 1 if
%   maxit was reached, 3 if the residual stopped falling, 4 otherwise; reason is its meaning as text. residuals has the
%   relative residual of each pair.
%
%   Example:
%     gpu = MexInitOpenCL();
%     e = ones(100, 1);
%     A = MexSparseMatrix(gpu, spdiags([-e 2*e -e], -1:1, 100, 100));
%     [X, d, flag] = MexEigs(gpu, A, 3);
%     d - 4*sin((1:3)'*pi/202).^2
%
%   See also MexCG, MexPreconditioner, MexAmg.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 8, mass = []; end
if nargin < 7, precond = []; end
if nargin < 6, maxit = []; end
if nargin < 5, tol = []; end
if nargin < 4, which = []; end
if nargin < 3, k = []; end
try
  [X, d, flag, residuals, iter, reason] = clinalg_mex('MexEigs', gpu, A, k, which, tol, maxit, precond, mass);
catch problem
  if nargin < 2, clinalg_mex('MexEigs'); end
  rethrow(problem);
end
end
