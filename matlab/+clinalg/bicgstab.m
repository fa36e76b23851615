function [x, flag, relres, iter, resvec] = bicgstab(A, b, tol, maxit, M, M2, x0)
%clinalg.bicgstab  Stabilised biconjugate gradients on the device.
%   [x, flag, relres, iter, resvec] = clinalg.bicgstab(A, b, tol, maxit, M, [], x0)
%
%   The arguments and results are those of bicgstab: it solves A x = b for a matrix A that is not
%   singular. resvec has one entry for each iteration, which takes two products. The rest is as for
%   clinalg.pcg.
%
%   Example:
%     A = gallery('tridiag', 100, -2, 4, -1);
%     [x, flag] = clinalg.bicgstab(A, ones(100, 1), 1e-8, 100);
%
%   See also clinalg.pcg, clinalg.gmres, bicgstab.
if nargin < 2
  error('clinalg:argument:count', 'clinalg.bicgstab: too few arguments; the call is clinalg.bicgstab(A, b, ...)');
end
if nargin < 3, tol = []; end
if nargin < 4, maxit = []; end
if nargin < 5, M = []; end
if nargin < 6, M2 = []; end
if nargin < 7, x0 = []; end
[x, flag, relres, iter, resvec, reason] = ...
  clinalg.operands.solve('bicgstab', 'MexBiCGStab', A, b, {tol, maxit}, M, M2, x0);
if nargout < 2 && flag ~= 0
  warning('clinalg:solve:notConverged', 'bicgstab: %s (relative residual %.1e)', reason, relres);
end
end
