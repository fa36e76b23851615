function [t, y] = MexOdeNext(gpu, run)
%MexOdeNext  What the next step adds to a solution.
%   [t, y] = MexOdeNext(gpu, run)
%
%   run is what MexOdeBegin gave. Row k of y is the solution at t(k): at the end of the step, at more times in it,
%   or at those asked for that lie in it, steps without one being passed over. At the end both are empty.
%
%   Example:
%     gpu = MexInitOpenCL();
%     run = MexOdeBegin(gpu, 'u'' = -u', [0 0.5 1], 1);
%     [t, y] = MexOdeNext(gpu, run)
%     MexOdeEnd(gpu, run);
%
%   See also MexOdeBegin, MexOdeEnd.

% Made from the table in crates/clinalg-mex; edit it there.
try
  [t, y] = clinalg_mex('MexOdeNext', gpu, run);
catch problem
  if nargin < 2, clinalg_mex('MexOdeNext'); end
  rethrow(problem);
end
end
