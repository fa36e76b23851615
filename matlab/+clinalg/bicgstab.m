function [x, flag, relres, iter, resvec] = bicgstab(A, b, varargin)
%clinalg.bicgstab  Stabilised biconjugate gradients on the device.
%   [x, flag, relres, iter, resvec] = clinalg.bicgstab(A, b, tol, maxit, M1, M2, x0)
%   [...] = clinalg.bicgstab(A, b, 'Tolerance', 1e-8, ...)
%
%   The arguments and results are those of bicgstab: it solves A x = b for a nonsingular
%   matrix A. resvec has one entry for each iteration, which takes two products. Otherwise as
%   clinalg.pcg.
%
%   Arguments after b may be name-value pairs, or a structure: Tolerance, MaxIterations,
%   Preconditioner, Preconditioner2, InitialGuess.
%
%   Example:
%     A = gallery('tridiag', 100, -2, 4, -1);
%     [x, flag] = clinalg.bicgstab(A, ones(100, 1), 1e-8, 100);
%
%   See also clinalg.pcg, clinalg.gmres, bicgstab.
if nargin < 2
  error('clinalg:argument:count', 'clinalg.bicgstab: too few arguments; the call is clinalg.bicgstab(A, b, ...)');
end
[x, flag, relres, iter, resvec, reason] = clinalg.krylov('bicgstab', A, b, varargin);
if nargout < 2 && flag ~= 0
  warning('clinalg:solve:notConverged', 'bicgstab: %s (relative residual %.1e)', reason, relres);
end
end
