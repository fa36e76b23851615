function MexReleaseSparseMatrix(gpu, h)
%MexReleaseSparseMatrix  Free a sparse matrix.
%   MexReleaseSparseMatrix(gpu, h)
%
%   h is stale afterwards; using or releasing it again is an error without side effects.
%
%   Example:
%     gpu = MexInitOpenCL();
%     h = MexSparseMatrix(gpu, speye(3));
%     MexReleaseSparseMatrix(gpu, h);
%
%   See also MexSparseMatrix, MexRelease, MexReleaseOpenCL.

% Made from the table in crates/clinalg-mex; edit it there.
try
  clinalg_mex('MexReleaseSparseMatrix', gpu, h);
catch problem
  if nargin < 2, clinalg_mex('MexReleaseSparseMatrix'); end
  rethrow(problem);
end
end
