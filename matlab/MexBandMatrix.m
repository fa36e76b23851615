function h = MexBandMatrix(gpu, A, kl, ku, single)
%MexBandMatrix  Copy a band matrix to the device.
%   h = MexBandMatrix(gpu, A, kl, ku [, single])
%
%   A is a full or sparse matrix, real or complex, whose nonzeros lie on the diagonals -kl to ku, the main diagonal being
%   0; a nonzero elsewhere is an error. kl = 0 makes an upper band matrix. The device keeps kl + 1 + ku
%   diagonals, in the precision of A or, with single = 1, in single precision.
%
%   Example:
%     gpu = MexInitOpenCL();
%     e = ones(5, 1);
%     h = MexBandMatrix(gpu, spdiags([-e 2*e -e], -1:1, 5, 5), 1, 1);
%     x = MexMatrix(gpu, e);
%     y = MexBandMatrixVector(gpu, h, x);
%     MexHandleMatrix(gpu, y)
%     MexReleaseBandMatrix(gpu, h);
%
%   See also MexBandMatrixVector, MexHandleMatrix, MexReleaseBandMatrix, MexSparseMatrix.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 5, single = []; end
try
  h = clinalg_mex('MexBandMatrix', gpu, A, kl, ku, single);
catch problem
  if nargin < 4, clinalg_mex('MexBandMatrix'); end
  rethrow(problem);
end
end
