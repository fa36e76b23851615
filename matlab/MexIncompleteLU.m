function [L, U] = MexIncompleteLU(gpu, A)
%MexIncompleteLU  Incomplete LU factors of a sparse matrix.
%   [L, U] = MexIncompleteLU(gpu, A)
%
%   A is a square sparse matrix, real or complex. L and U are new sparse matrices, ILU(0): L, with ones on its diagonal, and U
%   have entries where A has, and L * U is A there. Rows keep their order; a pivot that is zero is an error that names its row.
%   MexPreconditioner permutes rows where that is needed.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = gallery('poisson', 4);
%     [L, U] = MexIncompleteLU(gpu, MexSparseMatrix(gpu, A));
%     norm((MexHandleMatrix(gpu, L) * MexHandleMatrix(gpu, U) - A) .* spones(A), 1)
%
%   See also MexTriangular, MexIncompleteCholesky, MexPreconditioner.

% Made from the table in crates/clinalg-mex; edit it there.
try
  [L, U] = clinalg_mex('MexIncompleteLU', gpu, A);
catch problem
  if nargin < 2, clinalg_mex('MexIncompleteLU'); end
  rethrow(problem);
end
end
