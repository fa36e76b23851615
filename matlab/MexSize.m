function [rows, cols] = MexSize(gpu, h)
%MexSize  Number of rows and columns of an object.
%   [rows, cols] = MexSize(gpu, h)
%
%   h is an object of any kind.
%
%   Example:
%     gpu = MexInitOpenCL();
%     [rows, cols] = MexSize(gpu, MexZeros(gpu, 2, 3))
%
%   See also MexInfo.

% Made from the table in crates/clinalg-mex; edit it there.
try
  [rows, cols] = clinalg_mex('MexSize', gpu, h);
catch problem
  if nargin < 2, clinalg_mex('MexSize'); end
  rethrow(problem);
end
end
