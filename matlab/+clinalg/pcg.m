function [x, flag, relres, iter, resvec] = pcg(A, b, varargin)
%clinalg.pcg  Conjugate gradients on the device.
%   [x, flag, relres, iter, resvec] = clinalg.pcg(A, b, tol, maxit, M1, M2, x0)
%   [...] = clinalg.pcg(A, b, 'Tolerance', 1e-8, ...)
%
%   The arguments and results are those of pcg: it solves A x = b for a symmetric (complex: Hermitian)
%   positive definite matrix A. A and b are clinalg.arrays or MATLAB arrays; x is a clinalg.array if one of them is. All arguments except A and b
%   may be omitted or []. flag 3 can also mean that the residual is as small as rounding allows. If flag is 1, 3 or 4, x is the iterate
%   with the smallest residual and iter its number.
%
%   A may be a function handle: A(x) is the product with a column on the device. The preconditioner is M1 * M2, or M1 alone:
%     'jacobi' for the diagonal of A; for a sparse A 'amg', 'saddle' or a kind of clinalg.precond, made for this solve
%     a clinalg.factor, made for several solves, such as clinalg.amg(A)
%     matrices, such as L and L' of clinalg.ichol, L and U of clinalg.ilu: sparse triangular ones are solved on the device
%     function handles: M1(r) is M1 \ r
%
%   Arguments after b may be name-value pairs, or a structure: Tolerance, MaxIterations,
%   Preconditioner, Preconditioner2, InitialGuess.
%
%   Example:
%     A = clinalg.matrix(gallery('poisson', 30));
%     b = clinalg.vector(ones(900, 1));
%     [x, flag, relres, iter] = clinalg.pcg(A, b, 1e-8, 200);
%     [x, flag, relres, iter] = clinalg.pcg(A, b, 1e-8, 200, 'amg');
%
%   See also clinalg.bicgstab, clinalg.gmres, clinalg.minres, clinalg.solve, clinalg.precond, clinalg.amg, clinalg.ichol, clinalg.poisson, pcg.
if nargin < 2
  error('clinalg:argument:count', 'clinalg.pcg: too few arguments; the call is clinalg.pcg(A, b, ...)');
end
[x, flag, relres, iter, resvec, reason] = clinalg.krylov('pcg', A, b, varargin);
if nargout < 2 && flag ~= 0
  warning('clinalg:solve:notConverged', 'pcg: %s (relative residual %.1e)', reason, relres);
end
end
