function L = MexIncompleteCholesky(gpu, A, shift)
%MexIncompleteCholesky  Incomplete Cholesky factor of a sparse matrix.
%   L = MexIncompleteCholesky(gpu, A [, shift])
%
%   A is a Hermitian positive definite sparse matrix, whose lower triangle is read. L is a new sparse matrix, IC(0): it has
%   entries where the lower triangle of A has, and L * L' is A + shift * diag(diag(A)) there. shift is 0 by default. A pivot
%   that is not positive is an error that names its row; a larger shift, such as 1e-3, avoids it.
%
%   Example:
%     gpu = MexInitOpenCL();
%     L = MexIncompleteCholesky(gpu, MexSparseMatrix(gpu, gallery('poisson', 4)));
%     nnz(MexHandleMatrix(gpu, L))
%
%   See also MexTriangular, MexIncompleteLU, MexPreconditioner.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, shift = []; end
try
  L = clinalg_mex('MexIncompleteCholesky', gpu, A, shift);
catch problem
  if nargin < 2, clinalg_mex('MexIncompleteCholesky'); end
  rethrow(problem);
end
end
