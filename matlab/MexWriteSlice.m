function h = MexWriteSlice(gpu, h, first, v)
%MexWriteSlice  Replace a part of a full matrix or vector on the device.
%   h = MexWriteSlice(gpu, h, first, v)
%
%   Sets h(first : first + numel(v) - 1), counted column by column from 1 on, to all values of the full matrix
%   or vector v, another object of the same precision.
%
%   Example:
%     gpu = MexInitOpenCL();
%     h = MexZeros(gpu, 1, 5);
%     MexWriteSlice(gpu, h, 2, MexMatrix(gpu, [7; 8]));
%     MexHandleMatrix(gpu, h)
%
%   See also MexSlice, MexWriteMatrix.

% Made from the table in crates/clinalg-mex; edit it there.
try
  h = clinalg_mex('MexWriteSlice', gpu, h, first, v);
catch problem
  if nargin < 4, clinalg_mex('MexWriteSlice'); end
  rethrow(problem);
end
end
