function y = MexMultiply(gpu, A, x, y)
%MexMultiply  Product of a matrix of any kind and a vector.
%   y = MexMultiply(gpu, A, x [, y])
%
%   y = A x, with A a full, sparse or band m x n matrix, x a vector of n values and y one of m, all of one
%   precision. The result goes to y if it is given, otherwise to a new column.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexMatrix(gpu, [1 2; 3 4]);
%     x = MexMatrix(gpu, [1; 1]);
%     y = MexMultiply(gpu, A, x);
%     MexHandleMatrix(gpu, y)
%
%   See also MexMatrixVector, MexSparseMatrixVector, MexBandMatrixVector, MexMultiplyTranspose.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, y = []; end
try
  y = clinalg_mex('MexMultiply', gpu, A, x, y);
catch problem
  if nargin < 3, clinalg_mex('MexMultiply'); end
  rethrow(problem);
end
end
