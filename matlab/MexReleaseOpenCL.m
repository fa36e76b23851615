function MexReleaseOpenCL(gpu)
%MexReleaseOpenCL  End a session and free all its objects.
%   MexReleaseOpenCL(gpu)
%
%   All handles, gpu included, are stale afterwards. MexInitOpenCL starts a new session.
%
%   Example:
%     gpu = MexInitOpenCL();
%     MexReleaseOpenCL(gpu);
%
%   See also MexInitOpenCL, MexShutdown.

% Made from the table in crates/clinalg-mex; edit it there.
try
  clinalg_mex('MexReleaseOpenCL', gpu);
catch problem
  if nargin < 1, clinalg_mex('MexReleaseOpenCL'); end
  rethrow(problem);
end
end
