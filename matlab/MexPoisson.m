function [u, flag, relres, iter, history, reason] = MexPoisson(gpu, f, tol, maxit, u, cycle, smoother, backend, d, s, mixed)
%MexPoisson  Solve the Poisson problem by multigrid.
%   [u, flag, relres, iter, history, reason] = ...
%       MexPoisson(gpu, f [, tol] [, maxit] [, u] [, cycle] [, smoother] [, backend] [, d] [, s] [, mixed])
%
%   Solves -Laplace u + s u = f on the unit square, or on the unit cube. f and u are N x N grids with
%   N = 2^k + 1, boundary points included, or vectors of N^2 values (N^3 on the cube). u holds the boundary
%   values and an initial guess; without it both are zero and the result is a new grid.
%     tol       relative residual to reach (default 1e-10 in double, 1e-5 in single precision)
%     maxit     maximum number of cycles (default 100)
%     cycle     'v' (default, the fastest to a small residual), 'w' or 'fmg' for full multigrid
%     smoother  'rbgs' for red-black Gauss-Seidel (default) or 'jacobi'
%     backend   'kernels' for kernels made for this problem (default), 'matrix' for sparse matrices, or
%               'reference' for sequential code on the host
%     d         dimensions: 2 for the square (default), 3 for the cube
%     s         a number of at least 0 (default 0)
%     mixed     1 keeps u in double precision and computes its corrections in single precision: for devices with slow
%               double precision, with the backend 'kernels' (default 0)
%   flag is 0 if tol was met, 1 if maxit was reached, 3 if the residual stopped falling (for smooth data
%   possibly at the rounding floor), 4 for data that are not finite, 5 if Ctrl-C stopped it. relres is the relative
%   residual, iter the number of cycles, history the relative residual before the first and after each cycle, reason the meaning
%   of flag as text.
%
%   Example:
%     gpu = MexInitOpenCL();
%     N = 129;
%     [x, y] = meshgrid(linspace(0, 1, N));
%     f = MexMatrix(gpu, 2 * pi^2 * sin(pi * x) .* sin(pi * y));
%     [u, flag, relres, iter] = MexPoisson(gpu, f, 1e-9);
%     max(max(abs(MexHandleMatrix(gpu, u) - sin(pi * x) .* sin(pi * y))))
%
%   See also MexCG, MexRBGS, MexJacobi, MexPoissonDefect.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 11, mixed = []; end
if nargin < 10, s = []; end
if nargin < 9, d = []; end
if nargin < 8, backend = []; end
if nargin < 7, smoother = []; end
if nargin < 6, cycle = []; end
if nargin < 5, u = []; end
if nargin < 4, maxit = []; end
if nargin < 3, tol = []; end
try
  [u, flag, relres, iter, history, reason] = clinalg_mex('MexPoisson', gpu, f, tol, maxit, u, cycle, smoother, backend, d, s, ...
  mixed);
catch problem
  if nargin < 2, clinalg_mex('MexPoisson'); end
  rethrow(problem);
end
end
