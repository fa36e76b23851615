function [t, y, stats, te, ye, ie] = MexOdeEnd(gpu, run)
%MexOdeEnd  End a solution that MexOdeBegin began.
%   [t, y, stats, te, ye, ie] = MexOdeEnd(gpu, run)
%
%   run is what MexOdeBegin gave, and is not valid afterwards. The results are those of MexOde, up to what MexOdeNext
%   gave last. Every solution that was begun is to be ended; MexReleaseOpenCL ends them all.
%
%   Example:
%     gpu = MexInitOpenCL();
%     run = MexOdeBegin(gpu, 'u'' = -u', [0 10], 1);
%     MexOdeNext(gpu, run);
%     [t, y] = MexOdeEnd(gpu, run)
%
%   See also MexOdeBegin, MexOdeNext.

% Made from the table in crates/clinalg-mex; edit it there.
try
  [t, y, stats, te, ye, ie] = clinalg_mex('MexOdeEnd', gpu, run);
catch problem
  if nargin < 2, clinalg_mex('MexOdeEnd'); end
  rethrow(problem);
end
end
