function o = MexJacobi(gpu, u, f, o, sweeps, omega)
%MexJacobi  Jacobi sweeps for the Poisson problem.
%   o = MexJacobi(gpu, u, f [, o] [, sweeps] [, omega])
%
%   u, f and o are N x N grids of one precision, boundary points included, or vectors of N^2 values; the mesh
%   width is h = 1 / (N - 1). o is u after a number of sweeps (default 1) of weighted Jacobi for
%   -Laplace u = f: inside, each sweep is
%     u + omega h^2 / 4 (f + Laplace_h u)
%   with the 5-point stencil for Laplace_h and omega = 1 by default; the boundary of o is that of u. The result
%   goes to o if it is given, which may be u, else to a new grid.
%
%   Example:
%     gpu = MexInitOpenCL();
%     N = 33;
%     u = MexZeros(gpu, N, N);
%     f = MexMatrix(gpu, ones(N));
%     u = MexJacobi(gpu, u, f, u, 10);
%     MexNorm2(gpu, MexPoissonDefect(gpu, u, f))
%
%   See also MexRBGS, MexPoissonDefect, MexPoisson.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 6, omega = []; end
if nargin < 5, sweeps = []; end
if nargin < 4, o = []; end
try
  o = clinalg_mex('MexJacobi', gpu, u, f, o, sweeps, omega);
catch problem
  if nargin < 3, clinalg_mex('MexJacobi'); end
  rethrow(problem);
end
end
