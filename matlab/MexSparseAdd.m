function C = MexSparseAdd(gpu, alpha, A, beta, B)
%MexSparseAdd  alpha A + beta B of sparse matrices.
%   C = MexSparseAdd(gpu, alpha, A, beta, B)
%
%   C = alpha A + beta B for sparse matrices of one shape and precision, both real or both complex, with entries at any
%   positions: a new sparse matrix without stored zeros. MexAxpby is faster where the positions are the same.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, speye(2));
%     B = MexSparseMatrix(gpu, sparse([0 1; 1 0]));
%     MexHandleMatrix(gpu, MexSparseAdd(gpu, 2, A, -1, B))
%
%   See also MexSparseMultiply, MexAxpby, MexDropZeros.

% Made from the table in crates/clinalg-mex; edit it there.
try
  C = clinalg_mex('MexSparseAdd', gpu, alpha, A, beta, B);
catch problem
  if nargin < 5, clinalg_mex('MexSparseAdd'); end
  rethrow(problem);
end
end
