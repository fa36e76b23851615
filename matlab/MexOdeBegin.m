function [run, y0] = MexOdeBegin(gpu, system, times, y0, tol, method, steps, variant, data, n, single)
%MexOdeBegin  Start an integration that is continued step by step.
%   [run, y0] = MexOdeBegin(gpu, system, times, y0 [, tol] [, method] [, steps] [, variant] [, data] [, n] [, single])
%
%   The arguments are those of MexOde. run is the argument of MexOdeNext and MexOdeEnd, y0 a column with the initial
%   values, also for a test problem. Errors in the equations are reported by MexOdeEnd.
%
%   Example:
%     gpu = MexInitOpenCL();
%     run = MexOdeBegin(gpu, 'u'' = -u', [0 10], 1);
%     [t, y] = MexOdeNext(gpu, run);
%     while ~isempty(t) && y > 0.5
%       [t, y] = MexOdeNext(gpu, run);
%     end
%     [t, y] = MexOdeEnd(gpu, run);
%     y(end)
%
%   See also MexOdeNext, MexOdeEnd, MexOde.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 11, single = []; end
if nargin < 10, n = []; end
if nargin < 9, data = []; end
if nargin < 8, variant = []; end
if nargin < 7, steps = []; end
if nargin < 6, method = []; end
if nargin < 5, tol = []; end
try
  [run, y0] = clinalg_mex('MexOdeBegin', gpu, system, times, y0, tol, method, steps, variant, data, n, single);
catch problem
  if nargin < 4, clinalg_mex('MexOdeBegin'); end
  rethrow(problem);
end
end
