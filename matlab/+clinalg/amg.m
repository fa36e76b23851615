function M = amg(A, varargin)
%clinalg.amg  Algebraic multigrid preconditioner of a sparse matrix.
%   M = clinalg.amg(A, options)
%   M = clinalg.amg(A, 'Coarsening', 'classical', ...)
%
%   A is a real, square sparse matrix, on the device or in MATLAB's memory. M is a hierarchy of coarser problems: with it, the number of
%   iterations of conjugate gradients hardly grows with the number of unknowns. options is a structure, or name-value pairs, all optional:
%     Theta            threshold of strong connections (default 0.08, with classical coarsening 0.25)
%     Smoother         'chebyshev' (default), 'l1-jacobi', 'spai0', or 'gauss-seidel' by colours
%     Steps            degree or sweeps of the smoother (default 2)
%     Cycle            'v' (default), 'w', or 'k' for a symmetric positive definite A: fewer iterations of clinalg.pcg, which then uses flexible
%                      conjugate gradients; not for clinalg.bicgstab and clinalg.gmres
%     CoarseSize       rows of the level that a dense inverse solves (default 400)
%     Block            unknowns per node: 2 or 3 for elasticity (default 1)
%     SinglePrecision  true keeps the hierarchy in single precision
%     Reusable         true allows refill(M, B), which takes other values at the positions of A
%     NearNull         columns that A nearly maps to zero; without them, constants are used
%     Coarsening       'aggregation' (or 'sa'), 'classical', or 'auto' (default), which chooses from A
%     Coordinates      of the nodes, for elasticity: a row per node, with 2 or 3 columns; NearNull is then the rigid body modes
%     Aggressive       true coarsens the finest level aggressively, with 'classical' only: less memory and time for a cycle, more iterations
%   M is a clinalg.factor: M \ r is a cycle, clinalg.pcg, clinalg.bicgstab and clinalg.gmres take it, info(M) has the levels. To use multigrid
%   as a solver of its own, repeat x = x + M \ (b - A * x).
%
%   Example:
%     A = clinalg.matrix(gallery('poisson', 60));
%     M = clinalg.amg(A);
%     [x, flag, relres, iter] = clinalg.pcg(A, ones(3600, 1), 1e-8, 100, M);
%     s = info(M);
%     [s.levels.rows]
%
%   See also clinalg.precond, clinalg.factor, clinalg.pcg, MexAmg.
if nargin < 1
  error('clinalg:argument:count', 'clinalg.amg: too few arguments; the call is clinalg.amg(A, options)');
end
o = clinalg.operands.arguments('clinalg.amg', varargin, {}, {'Theta', 'Smoother', 'Steps', 'Cycle', 'CoarseSize', 'Block', ...
  'SinglePrecision', 'Reusable', 'NearNull', 'Coarsening', 'Coordinates', 'Aggressive'});
A = clinalg.operands.sparse_handle(A);
Z = o.nearnull;
if ~isempty(Z)
  if ~isa(Z, 'clinalg.array')
    Z = clinalg.matrix(full(Z), underlyingType(A));
  end
  o.nearnull = Z.h;
end
given = struct2cell(o).';
try
  h = clinalg_mex('MexAmg', 0, A.h, given{:});
catch problem
  clinalg.operands.blame(problem, 'clinalg.amg', {'theta', 'Theta', 'smoother', 'Smoother', 'steps', 'Steps', 'cycle', 'Cycle', ...
    'coarse', 'CoarseSize', 'block', 'Block', 'single', 'SinglePrecision', 'reusable', 'Reusable', 'near_null', 'NearNull', ...
    'coarsening', 'Coarsening', 'coordinates', 'Coordinates', 'aggressive', 'Aggressive'});
end
M = clinalg.factor(h, 'algebraic multigrid');
end
