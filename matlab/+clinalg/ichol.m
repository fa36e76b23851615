function L = ichol(A, varargin)
%clinalg.ichol  Incomplete Cholesky factor of a sparse matrix.
%   L = clinalg.ichol(A)
%   L = clinalg.ichol(A, options)
%
%   A is a Hermitian positive definite sparse matrix, on the device or in MATLAB's memory, whose lower triangle is read. L is a sparse array on
%   the device, IC(0): it has entries where the lower triangle of A has, and L * L' is A there. options is a structure as for ichol:
%     diagcomp  the factor is that of A + diagcomp * diag(diag(A)) (default 0)
%     shape     'lower' (default); 'upper' reads the upper triangle and gives R = L', with R' * R in place of L * L'
%   and type, which must be 'nofill'. A pivot that is not positive is an error; a larger diagcomp, such as 1e-3, avoids it. Pass both factors to a
%   solver: clinalg.pcg(A, b, tol, maxit, L, L').
%
%   Example:
%     A = clinalg.matrix(gallery('poisson', 30));
%     L = clinalg.ichol(A);
%     [x, flag, relres, iter] = clinalg.pcg(A, ones(900, 1), 1e-8, 100, L, L');
%
%   See also clinalg.ilu, clinalg.precond, clinalg.amg, clinalg.pcg, MexIncompleteCholesky, ichol.
if nargin < 1
  error('clinalg:argument:count', 'clinalg.ichol: too few arguments; the call is clinalg.ichol(A, options)');
end
o = clinalg.operands.only('clinalg.ichol', varargin, {'type', 'nofill'; 'droptol', 0; 'michol', 'off'; 'diagcomp', []; 'shape', []}, ...
  'clinalg.precond(A, ''fsai'') or clinalg.amg(A)');
if isempty(o.shape), o.shape = 'lower'; end
if ~any(strcmp(o.shape, {'lower', 'upper'}))
  error('clinalg:argument:value', 'clinalg.ichol: options.shape is ''%s'', expected ''lower'' or ''upper''', o.shape);
end
A = clinalg.operands.sparse_handle(A);
if strcmp(o.shape, 'upper')
  % The lower triangle is the one that is read.
  A = A';
  settle(A);
end
L = clinalg.array(clinalg_mex('MexIncompleteCholesky', 0, A.h, o.diagcomp));
if strcmp(o.shape, 'upper')
  L = L';
end
end
