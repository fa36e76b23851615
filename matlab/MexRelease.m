function freed = MexRelease(gpu, h)
%MexRelease  Free an object of any kind, if it is still there.
%   freed = MexRelease(gpu, h)
%
%   freed is false if h no longer names an object, which is not an error: for clean-up code.
%
%   Example:
%     gpu = MexInitOpenCL();
%     h = MexMatrix(gpu, [1 2 3]);
%     freed = MexRelease(gpu, h)
%     freed = MexRelease(gpu, h)
%
%   See also MexReleaseMatrix, MexReleaseOpenCL.

% Made from the table in crates/clinalg-mex; edit it there.
try
  freed = clinalg_mex('MexRelease', gpu, h);
catch problem
  if nargin < 2, clinalg_mex('MexRelease'); end
  rethrow(problem);
end
end
