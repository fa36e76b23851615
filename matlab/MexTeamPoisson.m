function [u, flag, relres, iter, history, reason] = MexTeamPoisson(gpu, team, f, tol, maxit, u, cycle, smoother, d, s)
%MexTeamPoisson  Solve the Poisson problem by multigrid on a team.
%   [u, flag, relres, iter, history, reason] = ...
%       MexTeamPoisson(gpu, team, f [, tol] [, maxit] [, u] [, cycle] [, smoother] [, d] [, s])
%
%   Solves -Laplace u + s u = f on strips of the unit square, or slabs of the unit cube, one for each device. f and u have N
%   points per direction, N = 2^k + 1, those on the boundary included: N^2 values, or N^3 on the cube. u holds the values
%   on the boundary and an initial guess; without it both are zero and the result is a new array like f.
%     tol       relative residual to reach (default 1e-10 in double, 1e-5 in single precision)
%     maxit     maximum number of cycles (default 100)
%     cycle     'v' (default), 'w' or 'fmg' for full multigrid
%     smoother  'rbgs' for red-black Gauss-Seidel (default) or 'jacobi'
%     d         dimensions: 2 for the square (default), 3 for the cube
%     s         a number of at least 0 (default 0)
%   The results are those of MexPoissonSolve. The solution after each cycle has the bits of one device.
%
%   Example:
%     gpu = MexInitOpenCL();
%     N = 65;
%     f = MexMatrix(gpu, ones(N));
%     [u, flag, relres, iter] = MexTeamPoisson(gpu, MexTeam(gpu, 0), f, 1e-9);
%     iter
%
%   See also MexTeam, MexPoisson, MexPoissonSolve.

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
