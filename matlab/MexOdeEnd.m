function [t, y, stats, te, ye, ie] = MexOdeEnd(gpu, run)
%MexOdeEnd  End a solution begun by MexOdeBegin.
%   [t, y, stats, te, ye, ie] = MexOdeEnd(gpu, run)
%
%   run is the result of MexOdeBegin, and is not valid afterwards. The results are those of MexOde, up to the last call
%   of MexOdeNext. End every solution that was begun; MexReleaseOpenCL ends them all.
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
