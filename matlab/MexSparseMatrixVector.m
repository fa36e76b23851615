function y = MexSparseMatrixVector(gpu, A, x, y)
%MexSparseMatrixVector  Product of a sparse matrix and a vector.
%   y = MexSparseMatrixVector(gpu, A, x [, y])
%
%   y = A x, with A a sparse m x n matrix, x a vector of n values and y one of m, all of the same precision. The
%   result goes to y if it is given, otherwise to a new column.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, sparse([1 2; 0 4]));
%     x = MexMatrix(gpu, [1; 1]);
%     y = MexSparseMatrixVector(gpu, A, x);
%     MexHandleMatrix(gpu, y)
%
%   See also MexSparseMatrixTransposeVector, MexMultiplyAdd, MexMatrixVector, MexBandMatrixVector.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, y = []; end
try
  y = clinalg_mex('MexSparseMatrixVector', gpu, A, x, y);
catch problem
  if nargin < 3, clinalg_mex('MexSparseMatrixVector'); end
  rethrow(problem);
end
end
