function MexReleaseMatrix(gpu, h)
%MexReleaseMatrix  Free a full matrix or vector.
%   MexReleaseMatrix(gpu, h)
%
%   h is stale afterwards; using or releasing it again is an error without side effects.
%
%   Example:
%     gpu = MexInitOpenCL();
%     h = MexMatrix(gpu, [1 2 3]);
%     MexReleaseMatrix(gpu, h);
%
%   See also MexMatrix, MexRelease, MexReleaseOpenCL.

% Made from the table in crates/clinalg-mex; edit it there.
try
  clinalg_mex('MexReleaseMatrix', gpu, h);
catch problem
  if nargin < 2, clinalg_mex('MexReleaseMatrix'); end
  rethrow(problem);
end
end
