function [x, flag, relres, iter, resvec] = pcg(A, b, varargin)
%clinalg.pcg  Conjugate gradients on the device.
%   [x, flag, relres, iter, resvec] = clinalg.pcg(A, b, tol, maxit, M, [], x0)
%   [...] = clinalg.pcg(A, b, 'Tolerance', 1e-8, ...)
%
%   The arguments and results are those of pcg: it solves A x = b for a symmetric (complex: Hermitian)
%   positive definite matrix A. A and b are clinalg.arrays or in MATLAB's memory; x is a clinalg.array if one of them is. M is
%   'jacobi' for the diagonal of A; for a sparse A 'amg' or a kind of clinalg.precond, made for this solve; a clinalg.factor, made
%   for several; or []. All but A and b may be left out or []. flag 3 tells as well that the residual is as small as
%   rounding allows.
%
%   Arguments after b may be pairs of a name and a value, or a structure: Tolerance, MaxIterations,
%   Preconditioner, InitialGuess.
%
%   Example:
%     A = clinalg.matrix(gallery('poisson', 30));
%     b = clinalg.vector(ones(900, 1));
%     [x, flag, relres, iter] = clinalg.pcg(A, b, 1e-8, 200);
%
%   See also clinalg.bicgstab, clinalg.gmres, clinalg.precond, clinalg.amg, clinalg.poisson, pcg.
if nargin < 2
  error('clinalg:argument:count', 'clinalg.pcg: too few arguments; the call is clinalg.pcg(A, b, ...)');
end
[x, flag, relres, iter, resvec, reason] = clinalg.operands.solve('pcg', 'MexCG', A, b, varargin, {'Tolerance', 'MaxIterations'});
if nargout < 2 && flag ~= 0
  warning('clinalg:solve:notConverged', 'pcg: %s (relative residual %.1e)', reason, relres);
end
end
