function y = MexMultiplyTranspose(gpu, A, x, y)
%MexMultiplyTranspose  Product of the transpose of a full or sparse matrix and a vector.
%   y = MexMultiplyTranspose(gpu, A, x [, y])
%
%   y = A' x with the conjugate transpose of a full or sparse m x n matrix A, x a vector of m values and y one
%   of n, all of the same precision. The result goes to y if it is given, otherwise to a new column.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexMatrix(gpu, [1 2; 3 4]);
%     x = MexMatrix(gpu, [1; 1]);
%     y = MexMultiplyTranspose(gpu, A, x);
%     MexHandleMatrix(gpu, y)
%
%   See also MexMultiplyOp, MexMatrixTransposeVector, MexSparseMatrixTransposeVector, MexMultiply.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, y = []; end
try
  y = clinalg_mex('MexMultiplyTranspose', gpu, A, x, y);
catch problem
  if nargin < 3, clinalg_mex('MexMultiplyTranspose'); end
  rethrow(problem);
end
end
