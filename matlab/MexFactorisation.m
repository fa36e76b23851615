function F = MexFactorisation(gpu, A, kind)
%MexFactorisation  Factors of a matrix for many right-hand sides.
%   F = MexFactorisation(gpu, A [, kind])
%
%   A is a full or square sparse matrix, real or complex. Later changes of A do not reach F. kind is 'auto' (default):
%   Cholesky for a sparse Hermitian positive definite matrix, LDL for one that is Hermitian or complex symmetric, QR for a
%   full one that is not square, else LU; or 'lu', 'cholesky', for a sparse matrix 'ldl' or for a full one 'qr'. MexRelease
%   frees F.
%
%   Example:
%     gpu = MexInitOpenCL();
%     F = MexFactorisation(gpu, MexSparseMatrix(gpu, gallery('poisson', 20)));
%     x = MexFactorisationSolve(gpu, F, MexMatrix(gpu, ones(400, 1)));
%     MexFactorisationReport(gpu, F)
%
%   See also MexFactorisationSolve, MexFactorisationRefill, MexSolveDirect, MexSolveDense.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, kind = []; end
try
  F = clinalg_mex('MexFactorisation', gpu, A, kind);
catch problem
  if nargin < 2, clinalg_mex('MexFactorisation'); end
  rethrow(problem);
end
end
