function y = MexMatrixVector(gpu, A, x, y)
%MexMatrixVector  Product of a full matrix and a vector.
%   y = MexMatrixVector(gpu, A, x [, y])
%
%   y = A x, with A a full m x n matrix, x a vector of n values and y one of m, all of the same precision. The
%   result goes to y if it is given, otherwise to a new column.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexMatrix(gpu, [1 2; 3 4]);
%     x = MexMatrix(gpu, [1; 1]);
%     y = MexMatrixVector(gpu, A, x);
%     MexHandleMatrix(gpu, y)
%
%   See also MexMatrixTransposeVector, MexMultiplyAdd, MexSparseMatrixVector, MexBandMatrixVector.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, y = []; end
try
  y = clinalg_mex('MexMatrixVector', gpu, A, x, y);
catch problem
  if nargin < 3, clinalg_mex('MexMatrixVector'); end
  rethrow(problem);
end
end
