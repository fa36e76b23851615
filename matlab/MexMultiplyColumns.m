function Y = MexMultiplyColumns(gpu, A, X)
%MexMultiplyColumns  Product of a matrix of any kind with the columns of a full one.
%   Y = MexMultiplyColumns(gpu, A, X)
%
%   Y = A X for a full, sparse or band matrix A and a full matrix X of one class; Y is a new full matrix.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, speye(3));
%     Y = MexMultiplyColumns(gpu, A, MexMatrix(gpu, magic(3)));
%     MexHandleMatrix(gpu, Y)
%
%   See also MexMultiply, MexMatrixMatrix, MexSparseMultiply.

% Made from the table in crates/clinalg-mex; edit it there.
try
  Y = clinalg_mex('MexMultiplyColumns', gpu, A, X);
catch problem
  if nargin < 3, clinalg_mex('MexMultiplyColumns'); end
  rethrow(problem);
end
end
