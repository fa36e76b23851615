function o = MexRBGS(gpu, u, f, o, sweeps)
%MexRBGS  Red-black Gauss-Seidel sweeps for the Poisson problem.
%   o = MexRBGS(gpu, u, f [, o] [, sweeps])
%
%   u, f and o are N x N grids of one precision, boundary points included, or vectors of N^2 values; the mesh
%   width is h = 1 / (N - 1). o is u after a number of sweeps (default 1) of Gauss-Seidel for -Laplace u = f,
%   first at the points (i, j) with even i + j, then at the others; the boundary of o is that of u. The result
%   goes to o if it is given, which may be u, else to a new grid.
%
%   Example:
%     gpu = MexInitOpenCL();
%     N = 33;
%     u = MexZeros(gpu, N, N);
%     f = MexMatrix(gpu, ones(N));
%     u = MexRBGS(gpu, u, f, u, 10);
%     MexNorm2(gpu, MexPoissonDefect(gpu, u, f))
%
%   See also MexJacobi, MexPoissonDefect, MexPoisson.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 5, sweeps = []; end
if nargin < 4, o = []; end
try
  o = clinalg_mex('MexRBGS', gpu, u, f, o, sweeps);
catch problem
  if nargin < 3, clinalg_mex('MexRBGS'); end
  rethrow(problem);
end
end
