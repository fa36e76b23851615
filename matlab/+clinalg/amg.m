function M = amg(A, varargin)
%clinalg.amg  Algebraic multigrid preconditioner of a sparse matrix.
%   M = clinalg.amg(A, options)
%   M = clinalg.amg(A, 'theta', 0.1, ...)
%
%   A is a square sparse matrix, real, on the device or in MATLAB's memory. M is a hierarchy of coarser problems, from the
%   matrix alone, by smoothed aggregation or classical coarsening: with conjugate gradients, the iterations hardly grow with the number of unknowns. options is a
%   structure, or pairs of names and values, with theta, smoother, steps, cycle, coarse, block, single, reusable and Z of MexAmg, all optional.
%   M is a clinalg.factor: M \ r is a cycle, clinalg.pcg, clinalg.bicgstab and clinalg.gmres take it, info(M) has the
%   levels, and after options.reusable = true, refill(M, B) takes other values at the positions of A.
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
o = clinalg.operands.arguments('clinalg.amg', varargin, {}, ...
  {'theta', 'smoother', 'steps', 'cycle', 'coarse', 'block', 'single', 'reusable', 'Z'});
given = struct2cell(o).';
A = clinalg.operands.sparse_handle(A);
Z = given{end};
if ~isempty(Z)
  if ~isa(Z, 'clinalg.array')
    Z = clinalg.matrix(full(Z), underlyingType(A));
  end
  given{end} = Z.h;
end
M = clinalg.factor(clinalg_mex('MexAmg', 0, A.h, given{:}), 'algebraic multigrid');
end
