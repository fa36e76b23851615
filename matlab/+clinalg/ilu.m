function [L, U] = ilu(A, varargin)
%clinalg.ilu  Incomplete LU factors of a sparse matrix.
%   [L, U] = clinalg.ilu(A)
%   W = clinalg.ilu(A)
%
%   A is a square sparse matrix, real or complex, on the device or in MATLAB's memory. L and U are sparse arrays on the device, ILU(0): they
%   have entries where A has, L has ones on its diagonal, and L * U is A there. W is L + U - speye(size(A)). Pass both factors to a solver:
%   clinalg.bicgstab(A, b, tol, maxit, L, U).
%
%   options as for ilu, clinalg.ilu(A, options), may only contain type = 'nofill'. clinalg.precond(A, 'ilut') drops small entries, allows fill-in,
%   and permutes rows where that is needed; it is applied as M \ r, as clinalg.precond(A, 'ilu') is, without matrices L and U.
%
%   Example:
%     A = clinalg.matrix(gallery('tridiag', 100, -2, 4, -1));
%     [L, U] = clinalg.ilu(A);
%     [x, flag, relres, iter] = clinalg.bicgstab(A, ones(100, 1), 1e-10, 20, L, U);
%
%   See also clinalg.ichol, clinalg.precond, clinalg.bicgstab, clinalg.gmres, MexIncompleteLU, ilu.
if nargin < 1
  error('clinalg:argument:count', 'clinalg.ilu: too few arguments; the call is clinalg.ilu(A)');
end
clinalg.operands.only('clinalg.ilu', varargin, {'type', 'nofill'; 'droptol', 0; 'milu', 'off'; 'udiag', 0; 'thresh', 1}, ...
  'clinalg.precond(A, ''ilut'')');
A = clinalg.operands.sparse_handle(A);
[L, U] = clinalg_mex('MexIncompleteLU', 0, A.h);
L = clinalg.array(L);
U = clinalg.array(U);
if nargout < 2
  L = tril(L, -1) + U;
end
end
