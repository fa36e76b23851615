function [x, flag, relres, iter, info] = solve(A, b, varargin)
%clinalg.solve  Solve a sparse system by the method and the preconditioner that suit the matrix.
%   [x, flag, relres, iter, info] = clinalg.solve(A, b, tol, maxit)
%   [...] = clinalg.solve(A, b, 'Tolerance', 1e-8, ...)
%
%   A x = b for a sparse matrix A, real or complex, and one or more columns b; each is a clinalg.array or in MATLAB's memory, and x is a
%   clinalg.array if one of them is. The choice is that of the command `clinalg solve`: conjugate gradients with algebraic multigrid for
%   symmetric matrices with a positive diagonal, MINRES with blocks for symmetric saddle points, else BiCGStab with incomplete factors, and
%   GMRES where one of them fails. If A is not square, the system is solved in the least-squares sense by LSMR; of several solutions x is the one
%   of smallest norm.
%     Tolerance      relative residual norm(b - A * x) / norm(b) to reach (default 1e-10 in double, 1e-5 in single precision)
%     MaxIterations  maximum number of iterations for each column and method (default 10000)
%     Solver         a method, a preconditioner and limits in place of the choice: 'cg,amg', 'gmres,ilut,restart=50',
%                    'minres,tol=1e-8,max-iterations=200'. Unknown names are an error that lists the known ones; Tolerance and
%                    MaxIterations come before its limits
%   flag, relres and iter have a number for each column; flag is 0 where the tolerance was met, else as for clinalg.pcg. info is a structure
%   with the fields method, preconditioner (empty for none), why, the reason for them, and reason, the meaning of flag as text.
%
%   A \ b does the same for large sparse arrays, with a warning that says so.
%
%   Example:
%     A = clinalg.matrix(gallery('poisson', 40));
%     [x, flag, relres, iter, info] = clinalg.solve(A, ones(1600, 1));
%     info.method, info.preconditioner, iter
%
%   See also clinalg.pcg, clinalg.minres, clinalg.bicgstab, clinalg.gmres, clinalg.operations, MexSolveSparse.
if nargin < 2
  error('clinalg:argument:count', 'clinalg.solve: too few arguments; the call is clinalg.solve(A, b, ...)');
end
o = clinalg.operands.arguments('clinalg.solve', varargin, {'Tolerance', 'MaxIterations'}, {'Solver'});
clinalg.operands.check_classes('clinalg.solve', A, b);
on_device = isa(A, 'clinalg.array') || isa(b, 'clinalg.array');
if ~issparse(A)
  error('clinalg:argument:class', 'clinalg.solve: A is a full matrix, expected a sparse one; use A \\ b, or sparse(A)');
elseif size(b, 1) ~= size(A, 1)
  error('clinalg:argument:shape', 'clinalg.solve: A is %s, b is %s; the numbers of rows must agree', clinalg.operands.by(size(A)), ...
    clinalg.operands.by(size(b)));
end
type = 'double';
if isa(b, 'single'), type = 'single'; end
if ~isa(A, 'clinalg.array')
  if isa(b, 'clinalg.array'), type = underlyingType(b); end
  A = clinalg.matrix(A, type);
elseif strcmp(kind_of(A), 'band')
  A = clinalg.matrix(gather(A), underlyingType(A));
end
if issparse(b), b = full(b); end
[A, b] = clinalg.operands.pair(A, b);
[h, flag, relres, iter, method, preconditioner, why, reason] = clinalg_mex('MexSolveSparse', 0, A.h, b.h, o.tolerance, o.maxiterations, o.solver);
x = clinalg.operands.made(h);
info = struct('method', method, 'preconditioner', preconditioner, 'why', why, 'reason', reason);
if ~on_device
  x = clinalg.operands.on_host(x);
end
if nargout < 2 && any(flag ~= 0)
  warning('clinalg:solve:notConverged', 'solve: %s: %s (relative residual %.1e)', method, reason, max(relres));
end
end
