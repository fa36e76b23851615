function A = MexHandleMatrix(gpu, h)
%MexHandleMatrix  Copy an object from the device.
%   A = MexHandleMatrix(gpu, h)
%
%   A is a full array in the precision of the object, or for a sparse or band matrix a sparse matrix, which is
%   always of class double; of a complex object a complex one. The call waits for the device.
%
%   Example:
%     gpu = MexInitOpenCL();
%     h = MexMatrix(gpu, [1 2 3]);
%     A = MexHandleMatrix(gpu, h)
%
%   See also MexMatrix, MexSlice.

% Made from the table in crates/clinalg-mex; edit it there.
try
  A = clinalg_mex('MexHandleMatrix', gpu, h);
catch problem
  if nargin < 2, clinalg_mex('MexHandleMatrix'); end
  rethrow(problem);
end
end
