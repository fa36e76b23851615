function M = MexAmg(gpu, A, theta, smoother, steps, cycle, coarse, block, single, reusable, near_null, coarsening, ...
  coordinates, aggressive)
%MexAmg  Make an algebraic multigrid preconditioner.
%   M = ...
%       MexAmg(gpu, A [, theta] [, smoother] [, steps] [, cycle] [, coarse] [, block] [, single] [, reusable] ...
%         [, near_null] [, coarsening] [, coordinates] [, aggressive])
%
%   A is a real, square sparse matrix. M is a hierarchy of coarser problems, for the argument precond of MexCG;
%   z = MexMultiply(gpu, M, r) is a cycle. MexRelease frees it.
%     theta     threshold of strong connections (default 0.08, with classical coarsening 0.25)
%     smoother  'chebyshev' (default), 'l1-jacobi' (scaled by absolute row sums), 'spai0', or 'gauss-seidel' by colours
%     steps     degree or sweeps of the smoother (default 2)
%     cycle     'v' (default), 'w', or 'k': two steps of conjugate gradients on each coarser level, for symmetric positive
%               definite A. MexCG then uses flexible conjugate gradients
%     coarse    rows of the level that a dense inverse solves (default 400)
%     block     unknowns per node: 2 or 3 for elasticity (default 1)
%     single    1 keeps the hierarchy in single precision (default 0)
%     reusable  1 allows MexAmgRefill (default 0)
%     near_null  columns that A nearly maps to zero; without it, constants are used
%     coarsening  'aggregation' or 'sa' (smoothed aggregation), 'classical' (PMIS and extended+i interpolation), or 'auto'
%               (default): classical where the entries of rows and columns differ much in size
%     coordinates  of the nodes, for elasticity: a row per node, with 2 or 3 columns. near_null is then the rigid body modes,
%               block the number of columns; the displacements of a node are numbered one after the other
%     aggressive  1 coarsens the finest level aggressively, with 'classical' only: less memory and time for a cycle, more
%               iterations (default 0)
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, gallery('poisson', 60));
%     M = MexAmg(gpu, A);
%     [x, flag, relres, iter] = MexCG(gpu, A, MexMatrix(gpu, ones(3600, 1)), 1e-8, 100, M);
%     iter
%
%   See also MexAmgInfo, MexAmgRefill, MexPreconditioner, MexCG.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 14, aggressive = []; end
if nargin < 13, coordinates = []; end
if nargin < 12, coarsening = []; end
if nargin < 11, near_null = []; end
if nargin < 10, reusable = []; end
if nargin < 9, single = []; end
if nargin < 8, block = []; end
if nargin < 7, coarse = []; end
if nargin < 6, cycle = []; end
if nargin < 5, steps = []; end
if nargin < 4, smoother = []; end
if nargin < 3, theta = []; end
try
  M = clinalg_mex('MexAmg', gpu, A, theta, smoother, steps, cycle, coarse, block, single, reusable, near_null, coarsening, ...
  coordinates, aggressive);
catch problem
  if nargin < 2, clinalg_mex('MexAmg'); end
  rethrow(problem);
end
end
