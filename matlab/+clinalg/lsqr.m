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
%     Preconditioner  M1: 'none'; for a sparse A 'jacobi', which scales its columns to norm 1, or 'ic', 'ssor', 'spai0', 'fsai' or
%                     'amg', made from A'*A, which is computed; of several solutions x is the nearest in the norm of the preconditioner. Or,
%                     as for lsqr, a square matrix M1, or M1 and M2 with M = M1*M2, such as L and U: the method is applied to A/M and M*x.
%                     A function M(r, 'notransp') gives M\r, M(r, 'transp') M'\r
%     InitialGuess    x0
%   flag is 0 if either of the two quotients met the tolerance, else as for clinalg.pcg. relres is norm(b - A*x) / norm(b), which stays
%   large where no x solves the system. resvec has norm(b - A*x) at the start and after each iteration; it never rises. If b has
%   several columns, these belong to one that did not converge, if any, else to the one with the largest relres.
%
%   A may be a function: A(x, 'notransp') is the product with a column on the device, A(r, 'transp') that of A'.
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
M = o.preconditioner;
M2 = o.preconditioner2;
if isequal(M, [])
  M = M2;
  M2 = [];
end
if ischar(M) && ~isequal(M2, [])
  error('clinalg:argument:value', 'clinalg.lsqr: M1 is a name and M2 is given, expected a name alone, or two matrices or functions');
end
clinalg.operands.check_classes('clinalg.lsqr', b);
if isa(A, 'function_handle') || ~(ischar(M) || isequal(M, [])) || ~isequal(M2, [])
  [x, flag, relres, iter, resvec] = by_products(A, b, o, M, M2);
  if nargout < 2 && flag ~= 0
    warning('clinalg:solve:notConverged', 'lsqr: the tolerance was not met (relative residual %.1e)', relres);
  end
  return
end
clinalg.operands.check_classes('clinalg.lsqr', A);
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
try
  [h, flag, relres, iter, resvec, reason] = clinalg_mex('MexLSQR', 0, A.h, b.h, o.tolerance, o.maxiterations, M, start);
catch problem
  clinalg.operands.blame(problem, 'clinalg.lsqr', {'a', 'A', 'tol', 'Tolerance', 'maxit', 'MaxIterations', 'precond', 'Preconditioner', ...
    'preconditioner', 'Preconditioner', 'x', 'InitialGuess'});
end
if isempty(start), x = clinalg.array(h); end
if ~on_device, x = gather(x); end
if nargout < 2 && flag ~= 0
  warning('clinalg:solve:notConverged', 'lsqr: %s (relative residual %.1e)', reason, relres);
end
end

function [x, flag, relres, iter, resvec] = by_products(A, b, o, M1, M2)
% LSQR for functions of the caller and for preconditioners, column by column: Paige and Saunders, ACM Trans. Math. Software 8 (1982).
on_device = isa(A, 'clinalg.array') || isa(b, 'clinalg.array');
if isa(A, 'function_handle')
  if ~isa(b, 'clinalg.array'), b = clinalg.matrix(full(b)); end
  most = min(size(b, 1), 20);
  product = @(v) A(v, 'notransp');
  transposed = @(u) A(u, 'transp');
else
  clinalg.operands.check_classes('clinalg.lsqr', A);
  if ~isa(A, 'clinalg.array'), A = clinalg.matrix(A); end
  if issparse(b), b = full(b); end
  [A, b] = clinalg.operands.pair(A, b);
  if size(b, 1) ~= size(A, 1)
    error('clinalg:argument:shape', 'clinalg.lsqr: A is %s, b is %s; the numbers of rows must agree', clinalg.operands.by(size(A)), ...
      clinalg.operands.by(size(b)));
  end
  most = min([size(A), 20]);
  At = A';
  product = @(v) A * v;
  transposed = @(u) At * u;
end
[first, first_t] = inverse(M1);
[second, second_t] = inverse(M2);
solve = @(v) second(first(v));
solve_t = @(v) first_t(second_t(v));
tolerance = o.tolerance;
if isempty(tolerance), tolerance = 1e-6; end
if ~isempty(o.maxiterations), most = o.maxiterations; end
found = {-1};
xs = cell(1, size(b, 2));
for k = 1 : size(b, 2)
  start = [];
  if ~isempty(o.initialguess), start = clinalg.operands.like(clinalg.operands.on_host(o.initialguess(:, k)), b); end
  column = b;
  if size(b, 2) > 1, column = b(:, k); end
  [xs{k}, report] = iterate(product, transposed, solve, solve_t, column, start, tolerance, most);
  % Report a column that did not converge, if any, else the one with the largest residual.
  if isequal(found, {-1}) || (report{1} > 0) > (found{1} > 0) || ((report{1} > 0) == (found{1} > 0) && report{2} > found{2})
    found = report;
  end
end
x = cat(2, xs{:});
[flag, relres, iter, resvec] = found{:};
if ~on_device, x = gather(x); end
end

function [x, report] = iterate(product, transposed, solve, solve_t, b, x, tolerance, most)
r = b;
if ~isempty(x), r = b - product(x); end
size_b = norm(b);
if size_b == 0, size_b = 1; end
beta = norm(r);
resvec = beta;
y = [];
flag = double(beta > tolerance * size_b);
iter = 0;
if flag
  u = r / beta;
  v = solve_t(transposed(u));
  alpha = norm(v);
  square = alpha ^ 2;
  if alpha == 0, flag = 0; end
end
if flag
  v = v / alpha;
  w = v;
  y = 0 * v;
  phi = beta;
  rho = alpha;
end
while flag && iter < most
  iter = iter + 1;
  u = product(solve(v)) - alpha * u;
  beta = norm(u);
  if beta > 0, u = u / beta; end
  next = solve_t(transposed(u)) - beta * v;
  alpha = norm(next);
  if alpha > 0, v = next / alpha; end
  length = hypot(rho, beta);
  c = rho / length;
  s = beta / length;
  y = y + (c * phi / length) * w;
  w = v - (s * alpha / length) * w;
  rho = -c * alpha;
  phi = s * phi;
  square = square + alpha ^ 2 + beta ^ 2;
  resvec(end + 1, 1) = phi;
  if ~isfinite(phi)
    flag = 4;
    break
  elseif phi <= tolerance * size_b || alpha * abs(c) <= tolerance * sqrt(square)
    flag = 0;
  end
end
if ~isempty(y)
  step = solve(y);
  if isempty(x), x = step; else, x = x + step; end
  r = b - product(x);
elseif isempty(x)
  x = 0 * transposed(r);
end
report = {flag, norm(r) / size_b, iter, resvec};
end

function [f, t] = inverse(M)
% What applies the inverses of M and of M'.
f = @(v) v;
t = f;
if isa(M, 'function_handle')
  f = @(v) M(v, 'notransp');
  t = @(v) M(v, 'transp');
elseif isa(M, 'clinalg.array') || isfloat(M)
  if isequal(M, []), return, end
  if ~isa(M, 'clinalg.array'), M = clinalg.matrix(M); end
  if size(M, 1) ~= size(M, 2)
    error('clinalg:argument:shape', 'clinalg.lsqr: a preconditioner is %s, expected a square matrix', clinalg.operands.by(size(M)));
  end
  if issparse(M) && (nnz(tril(M, -1)) == 0 || nnz(triu(M, 1)) == 0)
    [f, t] = deal(substitution(M), substitution(M'));
  else
    Mt = M';
    f = @(v) M \ v;
    t = @(v) Mt \ v;
  end
else
  error('clinalg:argument:class', ['clinalg.lsqr: M is of class %s, expected a name such as ''jacobi'' or ''ic'', a square matrix, a ' ...
    'function M(r, flag) or []'], class(M));
end
end

function f = substitution(M)
settle(M);
inverse = clinalg.array(clinalg_mex('MexTriangular', 0, M.h));
f = @(v) inverse * v;
end
