function v = MexSlice(gpu, h, first, count)
%MexSlice  Copy a part of a full matrix or vector to a new vector.
%   v = MexSlice(gpu, h, first, count)
%
%   v is a column with the values h(first : first + count - 1), counted column by column from 1 on.
%
%   Example:
%     gpu = MexInitOpenCL();
%     h = MexMatrix(gpu, 10:10:50);
%     v = MexSlice(gpu, h, 2, 3);
%     MexHandleMatrix(gpu, v)
%
%   See also MexWriteSlice, MexCopy.

% Made from the table in crates/clinalg-mex; edit it there.
try
  v = clinalg_mex('MexSlice', gpu, h, first, count);
catch problem
  if nargin < 4, clinalg_mex('MexSlice'); end
  rethrow(problem);
end
end
