function [x, flag, relres, iter, resvec] = lsqr(A, b, varargin)
%clinalg.lsqr  Least squares on the device by LSQR.
%   [x, flag, relres, iter, resvec] = clinalg.lsqr(A, b, tol, maxit, M1, M2, x0)
%   [...] = clinalg.lsqr(A, b, 'Tolerance', 1e-8, ...)
%
%   The arguments and results are those of lsqr, without lsvec: x minimises norm(b - A*x) for a full, sparse or band matrix A
%   of any shape, real or complex. Of several solutions it is the one nearest to x0, or to zero. A and b are clinalg.arrays or MATLAB
%   arrays; x is a clinalg.array if one of them is. All arguments except A and b may be omitted or [].
%     Tolerance       norm(b - A*x) / norm(b) or, where no x solves the system, norm(A'*r) / (norm(A, 'fro') * norm(r)) for
%                     r = b - A*x to reach (default 1e-6)
%     MaxIterations   maximum number of iterations for each column of b (default the smallest of size(A) and 20)
%     Preconditioner  M1: 'jacobi' scales the columns of a sparse A to a norm of 1, and x is the nearest in the scaled norm; or
%                     'none'. M2 has to be []
%     InitialGuess    x0
%   flag is 0 if either of the two quotients met the tolerance, else as for clinalg.pcg. relres is norm(b - A*x) / norm(b), which stays
%   large where no x solves the system. resvec has norm(b - A*x) at the start and after each iteration; it never rises. If b has
%   several columns, these belong to one that did not converge, if any, else to the one with the largest relres.
%
%   The number of iterations grows with the condition number of A. For small or ill-conditioned A, A \ b is better.
%
%   Example:
%     A = clinalg.matrix(sparse([1 0; 1 1; 1 2]));
%     [x, flag] = clinalg.lsqr(A, [1; 2; 4], 1e-10);
%     gather(x) - [5/6; 3/2]
%
%   See also clinalg.solve, clinalg.pcg, clinalg.minres, clinalg.operations, MexLSQR.
if nargin < 2
  error('clinalg:argument:count', 'clinalg.lsqr: too few arguments; the call is clinalg.lsqr(A, b, ...)');
end
o = clinalg.operands.arguments('clinalg.lsqr', varargin, ...
  {'Tolerance', 'MaxIterations', 'Preconditioner*', 'Preconditioner2*', 'InitialGuess'}, {});
clinalg.operands.check_classes('clinalg.lsqr', A, b);
M = o.preconditioner;
if ~isempty(o.preconditioner2)
  error('clinalg:argument:value', 'clinalg.lsqr: M2 is given, expected []; the preconditioners are ''none'' and ''jacobi''');
elseif ~(ischar(M) || isequal(M, []))
  error('clinalg:argument:class', 'clinalg.lsqr: M is of class %s, expected ''none'', ''jacobi'' or []', class(M));
end
on_device = isa(A, 'clinalg.array') || isa(b, 'clinalg.array');
if issparse(b), b = full(b); end
if ~on_device, A = clinalg.matrix(A); end
[A, b] = clinalg.operands.pair(A, b);
x = [];
start = [];
if ~isempty(o.initialguess)
  x = clinalg.operands.start(b, b, o.initialguess);
  start = x.h;
end
[h, flag, relres, iter, resvec, reason] = clinalg_mex('MexLSQR', 0, A.h, b.h, o.tolerance, o.maxiterations, M, start);
if isempty(start), x = clinalg.array(h); end
if ~on_device, x = gather(x); end
if nargout < 2 && flag ~= 0
  warning('clinalg:solve:notConverged', 'lsqr: %s (relative residual %.1e)', reason, relres);
end
end
