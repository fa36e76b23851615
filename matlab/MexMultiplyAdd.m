function y = MexMultiplyAdd(gpu, alpha, A, x, beta, y)
%MexMultiplyAdd  alpha A x + beta y for a matrix of any kind.
%   y = MexMultiplyAdd(gpu, alpha, A, x, beta, y)
%
%   y becomes alpha A x + beta y, with A a full, sparse or band m x n matrix, x a vector of n values and y one
%   of m, another object than x. With beta = 0 the former values of y are not read.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexMatrix(gpu, [1 2; 3 4]);
%     x = MexMatrix(gpu, [1; 1]);
%     y = MexMatrix(gpu, [10; 20]);
%     MexMultiplyAdd(gpu, -1, A, x, 1, y);
%     MexHandleMatrix(gpu, y)
%
%   See also MexMatrixVector, MexSparseMatrixVector, MexBandMatrixVector, MexAxpby.

% Made from the table in crates/clinalg-mex; edit it there.
try
  y = clinalg_mex('MexMultiplyAdd', gpu, alpha, A, x, beta, y);
catch problem
  if nargin < 6, clinalg_mex('MexMultiplyAdd'); end
  rethrow(problem);
end
end
