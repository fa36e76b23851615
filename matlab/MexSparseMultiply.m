function C = MexSparseMultiply(gpu, A, B)
%MexSparseMultiply  Product of two sparse matrices.
%   C = MexSparseMultiply(gpu, A, B)
%
%   C = A B for sparse matrices of one precision, both real or both complex: a new sparse matrix without stored zeros.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, sparse([1 2; 0 4]));
%     MexHandleMatrix(gpu, MexSparseMultiply(gpu, A, A))
%
%   See also MexSparseAdd, MexMultiply, MexTranspose.

% Made from the table in crates/clinalg-mex; edit it there.
try
  C = clinalg_mex('MexSparseMultiply', gpu, A, B);
catch problem
  if nargin < 3, clinalg_mex('MexSparseMultiply'); end
  rethrow(problem);
end
end
