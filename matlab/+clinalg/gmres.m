function [x, flag, relres, iter, resvec] = gmres(A, b, varargin)
%clinalg.gmres  Generalised minimal residuals on the device.
%   [x, flag, relres, iter, resvec] = clinalg.gmres(A, b, restart, tol, maxit, M1, M2, x0)
%   [...] = clinalg.gmres(A, b, 'Tolerance', 1e-8, ...)
%
%   The arguments and results are those of gmres: it solves A x = b for a nonsingular matrix A,
%   restarting after restart iterations, at most maxit times; iter is [outer inner]. The preconditioner acts from the left.
%   Otherwise as clinalg.pcg, except that if it does not converge, x is the best of the initial guess and the iterates at the ends of
%   cycles, and iter counts all iterations.
%
%   Arguments after b may be name-value pairs, or a structure: Restart, Tolerance, MaxIterations,
%   Preconditioner, Preconditioner2, InitialGuess.
%
%   Example:
%     A = gallery('tridiag', 100, -2, 4, -1);
%     [x, flag] = clinalg.gmres(A, ones(100, 1), 20, 1e-8, 5);
%
%   See also clinalg.pcg, clinalg.bicgstab, clinalg.heat_operator_preconditioner, gmres.
if nargin < 2
  error('clinalg:argument:count', 'clinalg.gmres: too few arguments; the call is clinalg.gmres(A, b, ...)');
end
[x, flag, relres, iter, resvec, reason] = clinalg.krylov('gmres', A, b, varargin);
if nargout < 2 && flag ~= 0
  warning('clinalg:solve:notConverged', 'gmres: %s (relative residual %.1e)', reason, relres);
end
end
