function [u, flag, relres, iter, history, reason] = MexTeamPoisson(gpu, team, f, tol, maxit, u, cycle, smoother, d, s)
%MexTeamPoisson  Solve the Poisson problem by multigrid on a team.
%   [u, flag, relres, iter, history, reason] = ...
%       MexTeamPoisson(gpu, team, f [, tol] [, maxit] [, u] [, cycle] [, smoother] [, d] [, s])
%
%   Solves -Laplace u + s u = f on strips of the square, or slabs of the cube, one for each device. The other arguments
%   and the results are those of MexPoisson. The solution after each cycle has the bits of one device.
%
%   Example:
%     gpu = MexInitOpenCL();
%     N = 65;
%     f = MexMatrix(gpu, ones(N));
%     [u, flag, relres, iter] = MexTeamPoisson(gpu, MexTeam(gpu, 0), f, 1e-9);
%     iter
%
%   See also MexTeam, MexPoisson.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 10, s = []; end
if nargin < 9, d = []; end
if nargin < 8, smoother = []; end
if nargin < 7, cycle = []; end
if nargin < 6, u = []; end
if nargin < 5, maxit = []; end
if nargin < 4, tol = []; end
try
  [u, flag, relres, iter, history, reason] = clinalg_mex('MexTeamPoisson', gpu, team, f, tol, maxit, u, cycle, smoother, d, s);
catch problem
  if nargin < 3, clinalg_mex('MexTeamPoisson'); end
  rethrow(problem);
end
end
