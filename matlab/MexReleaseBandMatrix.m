function MexReleaseBandMatrix(gpu, h)
%MexReleaseBandMatrix  Free a band matrix.
%   MexReleaseBandMatrix(gpu, h)
%
%   h is stale afterwards; using or releasing it again is an error without side effects.
%
%   Example:
%     gpu = MexInitOpenCL();
%     h = MexBandMatrix(gpu, eye(3), 0, 0);
%     MexReleaseBandMatrix(gpu, h);
%
%   See also MexBandMatrix, MexRelease, MexReleaseOpenCL.

% Made from the table in crates/clinalg-mex; edit it there.
try
  clinalg_mex('MexReleaseBandMatrix', gpu, h);
catch problem
  if nargin < 2, clinalg_mex('MexReleaseBandMatrix'); end
  rethrow(problem);
end
end
