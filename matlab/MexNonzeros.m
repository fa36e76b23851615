function v = MexNonzeros(gpu, A)
%MexNonzeros  The entries of a sparse matrix that are not zero.
%   v = MexNonzeros(gpu, A)
%
%   v is a new column with the entries of the sparse matrix A that are not zero, column by column.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, sparse([1 2; 0 4]));
%     MexHandleMatrix(gpu, MexNonzeros(gpu, A))
%
%   See also MexDropZeros, MexSum.

% Made from the table in crates/clinalg-mex; edit it there.
try
  v = clinalg_mex('MexNonzeros', gpu, A);
catch problem
  if nargin < 2, clinalg_mex('MexNonzeros'); end
  rethrow(problem);
end
end
