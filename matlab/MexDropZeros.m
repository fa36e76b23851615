function entries = MexDropZeros(gpu, A)
%MexDropZeros  Remove the stored zeros of a sparse matrix.
%   entries = MexDropZeros(gpu, A)
%
%   A keeps its handle; entries is the number of entries that are left. MexFill(gpu, A, 1) afterwards makes A its own
%   sparsity pattern of ones.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, sparse([1 2; 0 4]));
%     MexFill(gpu, A, 0);
%     entries = MexDropZeros(gpu, A)
%
%   See also MexNonzeros, MexFill.

% Made from the table in crates/clinalg-mex; edit it there.
try
  entries = clinalg_mex('MexDropZeros', gpu, A);
catch problem
  if nargin < 2, clinalg_mex('MexDropZeros'); end
  rethrow(problem);
end
end
