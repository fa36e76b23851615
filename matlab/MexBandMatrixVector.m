function y = MexBandMatrixVector(gpu, A, x, y)
%MexBandMatrixVector  Product of a band matrix and a vector.
%   y = MexBandMatrixVector(gpu, A, x [, y])
%
%   y = A x, with A an m x n band matrix, x a vector of n values and y one of m, all of the same precision. The
%   result goes to y if it is given, otherwise to a new column.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexBandMatrix(gpu, [2 1 0; 0 2 1; 0 0 2], 0, 1);
%     x = MexMatrix(gpu, [1; 1; 1]);
%     y = MexBandMatrixVector(gpu, A, x);
%     MexHandleMatrix(gpu, y)
%
%   See also MexMultiplyAdd, MexMatrixVector, MexSparseMatrixVector.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, y = []; end
try
  y = clinalg_mex('MexBandMatrixVector', gpu, A, x, y);
catch problem
  if nargin < 3, clinalg_mex('MexBandMatrixVector'); end
  rethrow(problem);
end
end
