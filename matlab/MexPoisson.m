function S = MexPoisson(gpu, points, x, y, z, sides, centring, D, k, at, c, order, tol, maxit, cycle, single, smoother, ...
  backend, mixed)
%MexPoisson  Make a solver of the Poisson problem on a square, a cube or another box.
%   S = ...
%       MexPoisson(gpu, points [, x] [, y] [, z] [, sides] [, centring] [, D] [, k] [, at] [, c] [, order] [, tol] ...
%         [, maxit] [, cycle] [, single] [, smoother] [, backend] [, mixed])
%
%   Multigrid for -div(k D grad u) + c u = f on a box of d = 2 or 3 dimensions, made once for many right-hand sides.
%   points is [nx ny] or [nx ny nz].
%     x, y, z   length of the direction (default 1), or its ascending coordinates: those of the points, or, on a
%               cell-centred grid and in a periodic direction, those of the ends of the intervals (one more than points)
%     sides     2 x d numbers, the low and the high side of each direction: Inf (default) for u = g, 0 for
%               k D du/dn = g with the outward normal n, alpha > 0 for alpha u + k D du/dn = g, NaN for periodic
%     centring  'vertex' (default): the first and the last point lie on the sides; 'cell': points at the centres of cells
%     D         a number, the diagonal, or a symmetric positive definite d x d matrix (default 1); or, where it varies, a row for
%               each cell between the points (on a cell-centred grid, each cell), x fastest, with the columns dxx, dyy, dxy, in
%               three dimensions dxx, dyy, dzz, dxy, dxz, dyz, and without k
%     k         positive values at the points or in the cells, x fastest (default 1)
%     at        where k is given: 'points' (default) or 'cells'; a D that is not diagonal needs 'cells'
%     c         the shift, at least 0 (default 0)
%     order     of the discretisation: 2 (default) or 4; order 4 needs a diagonal D, no k, equal spacing, a vertex-centred
%               grid, and sides with u = g or periodic ones
%     tol       relative residual to reach (default 1e-10 in double, 1e-5 in single precision)
%     maxit     maximum number of cycles (default 100)
%     cycle     'v' (default), 'w' or 'fmg' for full multigrid
%     single    1 for single precision (default 0)
%   The unit square or cube with 2^k + 1 equally spaced points per direction, u = g on all sides, D = 1 and, on the cube, k = 1
%   has the fastest kernels, and more choices:
%     smoother  'rbgs' for red-black Gauss-Seidel (default) or 'jacobi'
%     backend   'kernels' for kernels made for this problem (default), 'matrix' for sparse matrices, or 'reference' for
%               sequential code on the host
%     mixed     1 keeps u in double precision and computes its corrections in single precision: for devices with slow
%               double precision, with the backend 'kernels' and without k (default 0)
%   Until MexPoissonSide sets the values g of the sides, u keeps the values that it has on vertex-centred sides with u = g, and g
%   is 0 on others. MexRelease frees S.
%
%   Example:
%     gpu = MexInitOpenCL();
%     S = MexPoisson(gpu, [60 40], 2, 1, [], [0 Inf; Inf Inf]);
%     [u, flag, relres, iter] = MexPoissonSolve(gpu, S, MexMatrix(gpu, ones(60, 40)));
%     MexNormInf(gpu, u)
%
%   See also MexPoissonSide, MexPoissonSolve, MexRelease.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 19, mixed = []; end
if nargin < 18, backend = []; end
if nargin < 17, smoother = []; end
if nargin < 16, single = []; end
if nargin < 15, cycle = []; end
if nargin < 14, maxit = []; end
if nargin < 13, tol = []; end
if nargin < 12, order = []; end
if nargin < 11, c = []; end
if nargin < 10, at = []; end
if nargin < 9, k = []; end
if nargin < 8, D = []; end
if nargin < 7, centring = []; end
if nargin < 6, sides = []; end
if nargin < 5, z = []; end
if nargin < 4, y = []; end
if nargin < 3, x = []; end
try
  S = clinalg_mex('MexPoisson', gpu, points, x, y, z, sides, centring, D, k, at, c, order, tol, maxit, cycle, single, ...
  smoother, backend, mixed);
catch problem
  if nargin < 2, clinalg_mex('MexPoisson'); end
  rethrow(problem);
end
end
