function y = MexMatrixTransposeVector(gpu, A, x, y)
%MexMatrixTransposeVector  Product of the transpose of a full matrix and a vector.
%   y = MexMatrixTransposeVector(gpu, A, x [, y])
%
%   y = A' x with the conjugate transpose of a full m x n matrix A, x a vector of m values and y one of n, all
%   of one precision. The result goes to y if it is given, otherwise to a new column.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexMatrix(gpu, [1 2; 3 4]);
%     x = MexMatrix(gpu, [1; 1]);
%     y = MexMatrixTransposeVector(gpu, A, x);
%     MexHandleMatrix(gpu, y)
%
%   See also MexMatrixVector, MexTranspose.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, y = []; end
try
  y = clinalg_mex('MexMatrixTransposeVector', gpu, A, x, y);
catch problem
  if nargin < 3, clinalg_mex('MexMatrixTransposeVector'); end
  rethrow(problem);
end
end
