function h = MexFill(gpu, h, value)
%MexFill  Set every stored value of an object.
%   h = MexFill(gpu, h, value)
%
%   For a sparse matrix this sets the stored entries, for a band matrix the entries of its diagonals. A
%   complex value needs a complex object.
%
%   Example:
%     gpu = MexInitOpenCL();
%     h = MexZeros(gpu, 2, 2);
%     MexFill(gpu, h, pi);
%     MexHandleMatrix(gpu, h)
%
%   See also MexZeros, MexWriteMatrix.

% Made from the table in crates/clinalg-mex; edit it there.
try
  h = clinalg_mex('MexFill', gpu, h, value);
catch problem
  if nargin < 3, clinalg_mex('MexFill'); end
  rethrow(problem);
end
end
