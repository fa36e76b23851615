function y = MexSparseMatrixTransposeVector(gpu, A, x, y)
%MexSparseMatrixTransposeVector  Product of the transpose of a sparse matrix and a vector.
%   y = MexSparseMatrixTransposeVector(gpu, A, x [, y])
%
%   y = A' x with the conjugate transpose of a sparse m x n matrix A, x a vector of m values and y one of n, all
%   of one precision. The result goes to y if it is given, otherwise to a new column. The first call converts A to its transpose,
%   which the device keeps.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, sparse([1 2; 0 4]));
%     x = MexMatrix(gpu, [1; 1]);
%     y = MexSparseMatrixTransposeVector(gpu, A, x);
%     MexHandleMatrix(gpu, y)
%
%   See also MexSparseMatrixVector, MexTranspose.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, y = []; end
try
  y = clinalg_mex('MexSparseMatrixTransposeVector', gpu, A, x, y);
catch problem
  if nargin < 3, clinalg_mex('MexSparseMatrixTransposeVector'); end
  rethrow(problem);
end
end
