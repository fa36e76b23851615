function h = MexMatrix(gpu, A)
%MexMatrix  Copy a full matrix or vector to the device.
%   h = MexMatrix(gpu, A)
%
%   A is a full array of two dimensions, real or complex, of class double, single or logical (stored as
%   double). h is the handle of the copy, which has the shape and precision of A.
%
%   A matrix of one row or column is a vector for the functions that take one.
%
%   Example:
%     gpu = MexInitOpenCL();
%     h = MexMatrix(gpu, single([1 2; 3 4]));
%     MexHandleMatrix(gpu, h)
%     MexReleaseMatrix(gpu, h);
%
%   See also MexHandleMatrix, MexReleaseMatrix, MexWriteMatrix, MexZeros, MexSparseMatrix.

% Made from the table in crates/clinalg-mex; edit it there.
try
  h = clinalg_mex('MexMatrix', gpu, A);
catch problem
  if nargin < 2, clinalg_mex('MexMatrix'); end
  rethrow(problem);
end
end
