function h = MexSparseMatrix(gpu, S, single)
%MexSparseMatrix  Copy a sparse matrix to the device.
%   h = MexSparseMatrix(gpu, S [, single])
%
%   S is a sparse matrix, real or complex. The device keeps it in compressed rows, in double precision or, with
%   single = 1, in single precision. h is the handle of the copy.
%
%   Example:
%     gpu = MexInitOpenCL();
%     h = MexSparseMatrix(gpu, sparse([1 2 3], [1 2 3], [1 2 3]));
%     x = MexMatrix(gpu, ones(3, 1));
%     y = MexSparseMatrixVector(gpu, h, x);
%     MexHandleMatrix(gpu, y)
%     MexReleaseSparseMatrix(gpu, h);
%
%   See also MexSparseMatrixVector, MexHandleMatrix, MexReleaseSparseMatrix, MexBandMatrix.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, single = []; end
try
  h = clinalg_mex('MexSparseMatrix', gpu, S, single);
catch problem
  if nargin < 2, clinalg_mex('MexSparseMatrix'); end
  rethrow(problem);
end
end
