function h = MexWriteMatrix(gpu, h, A)
%MexWriteMatrix  Replace the values of a full matrix or vector on the device.
%   h = MexWriteMatrix(gpu, h, A)
%
%   A is a full array of the shape of the object with the handle h, converted to its precision; a complex one
%   takes a complex object, into which a real A goes as well. Nothing is allocated on the device.
%
%   Example:
%     gpu = MexInitOpenCL();
%     h = MexZeros(gpu, 1, 3);
%     MexWriteMatrix(gpu, h, [1 2 3]);
%     MexHandleMatrix(gpu, h)
%
%   See also MexMatrix, MexHandleMatrix, MexWriteSlice.

% Made from the table in crates/clinalg-mex; edit it there.
try
  h = clinalg_mex('MexWriteMatrix', gpu, h, A);
catch problem
  if nargin < 3, clinalg_mex('MexWriteMatrix'); end
  rethrow(problem);
end
end
