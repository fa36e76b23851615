function d = MexPoissonDefect(gpu, u, f, d)
%MexPoissonDefect  Defect of the Poisson problem.
%   d = MexPoissonDefect(gpu, u, f [, d])
%
%   u, f and d are N x N grids of one precision, boundary points included, or vectors of N^2 values. Inside, d
%   is f + Laplace_h u with the 5-point stencil and h = 1 / (N - 1); on the boundary it is 0. The result goes
%   to d if it is given, else to a new grid.
%
%   Example:
%     gpu = MexInitOpenCL();
%     N = 33;
%     u = MexZeros(gpu, N, N);
%     f = MexMatrix(gpu, ones(N));
%     d = MexPoissonDefect(gpu, u, f);
%     MexNorm2(gpu, d)
%
%   See also MexJacobi, MexRBGS, MexFineToCoarse.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, d = []; end
try
  d = clinalg_mex('MexPoissonDefect', gpu, u, f, d);
catch problem
  if nargin < 3, clinalg_mex('MexPoissonDefect'); end
  rethrow(problem);
end
end
