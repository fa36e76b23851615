function [t, y] = MexOdeNext(gpu, run)
%MexOdeNext  The next step of a solution.
%   [t, y] = MexOdeNext(gpu, run)
%
%   run is the result of MexOdeBegin. Row k of y is the solution at t(k): at the end of the step, at more times in it,
%   or at the given times in it (steps without such a time are skipped). After the last step both are empty.
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
