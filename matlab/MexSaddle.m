function M = MexSaddle(gpu, K, shape, schur, first, second, rows, block, mass)
%MexSaddle  Make a block preconditioner for a saddle point.
%   M = MexSaddle(gpu, K [, shape] [, schur] [, first] [, second] [, rows] [, block] [, mass])
%
%   K = [A B'; B -C] is a real sparse matrix (Stokes, mixed elements, constraints). M is the argument precond of MexMINRES and
%   MexGMRES; z = MexMultiply(gpu, M, r) applies its inverse. S stands for the Schur complement B * inv(A) * B' + C.
%     shape   'diagonal' (default) for [A 0; 0 S], which MexMINRES takes where K is symmetric, or 'triangular' for
%             [A B'; 0 -S], for MexGMRES and MexBiCGStab in about half the iterations
%     schur   S: 'product' for B * inv(diag(diag(A))) * B' + C, where A is close to its diagonal; 'diagonal' for the diagonal
%             of that, as for Stokes; 'auto' (default) tries which
%     first   of A: 'amg', 'ic', 'ilu', 'jacobi' or 'auto' (default), what suits it
%     second  of the product, as first
%     rows    number of rows of A, if they come first; else the second block is that of the rows whose diagonal entry is zero or
%             negative
%     block   or the numbers of the rows of the second block, from 1 on, ascending
%     mass    positive diagonal of the mass matrix of the second block (for Stokes divided by the viscosity), in place of S
%   MexRelease frees M; it does not refer to K afterwards.
%
%   Example:
%     gpu = MexInitOpenCL();
%     K = [4 * speye(60), sparse(1:30, 1:30, 1, 30, 60)'; sparse(1:30, 1:30, 1, 30, 60), sparse(30, 30)];
%     A = MexSparseMatrix(gpu, K);
%     [x, flag, relres, iter] = MexMINRES(gpu, A, MexMatrix(gpu, ones(90, 1)), 1e-8, 50, MexSaddle(gpu, A));
%     iter
%
%   See also MexSaddleInfo, MexMINRES, MexGMRES, MexPreconditioner, MexRelease.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 9, mass = []; end
if nargin < 8, block = []; end
if nargin < 7, rows = []; end
if nargin < 6, second = []; end
if nargin < 5, first = []; end
if nargin < 4, schur = []; end
if nargin < 3, shape = []; end
try
  M = clinalg_mex('MexSaddle', gpu, K, shape, schur, first, second, rows, block, mass);
catch problem
  if nargin < 2, clinalg_mex('MexSaddle'); end
  rethrow(problem);
end
end
