function [x, flag, relres, iter, resvec] = minres(A, b, varargin)
%clinalg.minres  Minimal residuals for symmetric matrices on the device.
%   [x, flag, relres, iter, resvec] = clinalg.minres(A, b, tol, maxit, M1, M2, x0)
%   [...] = clinalg.minres(A, b, 'Tolerance', 1e-8, ...)
%
%   The arguments and results are those of minres: it solves A x = b for a symmetric (complex: Hermitian) matrix A, definite or
%   not. The preconditioner must be symmetric positive definite; 'saddle' makes one for a symmetric saddle point [A B'; B -C]. The rest is
%   as for clinalg.pcg.
%
%   Arguments after b may be name-value pairs, or a structure: Tolerance, MaxIterations,
%   Preconditioner, Preconditioner2, InitialGuess.
%
%   Example:
%     B = sparse([1 : 20, 1 : 20], [1 : 20, 2 : 21], [ones(1, 20), -ones(1, 20)], 20, 40);
%     K = clinalg.matrix([4 * speye(40), B'; B, sparse(20, 20)]);
%     [x, flag] = clinalg.minres(K, ones(60, 1), 'Tolerance', 1e-8, 'MaxIterations', 60, 'Preconditioner', 'saddle');
%     flag
%
%   See also clinalg.pcg, clinalg.gmres, clinalg.saddle, MexMINRES.
if nargin < 2
  error('clinalg:argument:count', 'clinalg.minres: too few arguments; the call is clinalg.minres(A, b, ...)');
end
[x, flag, relres, iter, resvec, reason] = clinalg.krylov('minres', A, b, varargin);
if nargout < 2 && flag ~= 0
  warning('clinalg:solve:notConverged', 'minres: %s (relative residual %.1e)', reason, relres);
end
end
