function [x, flag, relres, iter, resvec, reason] = krylov(name, A, b, given)
%clinalg.krylov  What clinalg.pcg, clinalg.bicgstab, clinalg.gmres and clinalg.minres have in common.
%   [x, flag, relres, iter, resvec, reason] = clinalg.krylov(name, A, b, given)
%
%   name is 'pcg', 'bicgstab', 'gmres' or 'minres', given a cell with the arguments after b. Products of functions of the caller are computed between
%   two calls of the library; all else in one call.
%
%   Example:
%     [x, flag] = clinalg.krylov('pcg', gallery('poisson', 8), ones(64, 1), {1e-8});
%
%   See also clinalg.pcg, clinalg.bicgstab, clinalg.gmres, clinalg.minres.
caller = ['clinalg.', name];
counted = {'Tolerance', 'MaxIterations'};
mex = struct('pcg', 'MexCG', 'bicgstab', 'MexBiCGStab', 'gmres', 'MexGMRES', 'minres', 'MexMINRES');
if strcmp(name, 'gmres'), counted = [{'Restart'}, counted]; end
o = clinalg.operands.arguments(caller, given, [counted, {'Preconditioner*', 'Preconditioner2*', 'InitialGuess'}], {});
if ischar(A) || isa(A, 'string')
  error('clinalg:argument:class', '%s: A is of class %s, expected a matrix or a function handle, such as @(x) S * x', caller, class(A));
end
on_device = isa(A, 'clinalg.array') || isa(b, 'clinalg.array');
[o.preconditioner, is_real] = real_preconditioner(A, o.preconditioner, o.preconditioner2);
if is_real && ~isreal(b) && size(b, 2) == 1
  % Real A and M: the real and the imaginary part are two right-hand sides.
  parts = [real(b), imag(b)];
  start = o.initialguess;
  if ~isempty(start), start = [real(start), imag(start)]; end
  restart = {};
  if strcmp(name, 'gmres'), restart = {o.restart}; end
  given = [restart, {o.tolerance, o.maxiterations, o.preconditioner, [], start}];
  [x, flag, relres, iter, resvec, reason] = clinalg.krylov(name, A, parts, given);
  x = complex(x(:, 1), x(:, 2));
  return
end
a = 'function';
if isa(A, 'function_handle')
  if ~isa(b, 'clinalg.array'), b = clinalg.matrix(full(b)); end
else
  if ~on_device, A = clinalg.matrix(A); end
  [A, b] = clinalg.operands.pair(A, b);
  a = A.h;
end
settle(b);
[M, applied] = preconditioner(caller, o.preconditioner, o.preconditioner2, b);
x = clinalg.operands.start(b, b, o.initialguess);
m = M;
if isa(M, 'clinalg.array'), m = M.h; end
if isempty(applied) && ~ischar(a)
  numbers = cellfun(@(field) {o.(lower(field))}, counted);
  try
    [~, flag, relres, iter, resvec, reason] = clinalg_mex(mex.(name), 0, a, b.h, numbers{:}, m, x.h);
  catch problem
    blame(problem, caller);
  end
else
  restart = [];
  if strcmp(name, 'gmres'), restart = o.restart; end
  if ~isempty(applied), m = 'function'; end
  try
    run = clinalg_mex('MexSolveBegin', 0, name, a, b.h, m, o.tolerance, o.maxiterations, x.h, restart);
  catch problem
    blame(problem, caller);
  end
  ended = onCleanup(@() finish(run));
  [wanted, r] = clinalg_mex('MexSolveNext', 0, run);
  while ~isempty(wanted)
    if strcmp(wanted, 'A')
      y = product(caller, 'A', A, clinalg.array(r), b);
    else
      y = product(caller, 'M', applied, clinalg.array(r), b);
    end
    [wanted, r] = clinalg_mex('MexSolveNext', 0, run, y.h);
  end
  try
    [~, flag, relres, iter, resvec, reason] = clinalg_mex('MexSolveEnd', 0, run);
  catch problem
    blame(problem, caller);
  end
end
if ~on_device
  x = gather(x);
end
end

function blame(problem, caller)
clinalg.operands.blame(problem, caller, {'a', 'A', 'tol', 'Tolerance', 'maxit', 'MaxIterations', 'restart', 'Restart', ...
  'precond', 'Preconditioner', 'preconditioner', 'Preconditioner', 'x', 'InitialGuess'});
end

function [M, t] = real_preconditioner(A, M, M2)
% The preconditioner, where it names a kind of coarsening the hierarchy, and whether it takes real numbers only and A is real.
t = false;
if isa(A, 'function_handle') || ~isequal(M2, []), return, end
if ischar(M) || isa(M, 'string')
  M = char(M);
  if any(strcmp(M, {'sa', 'classical'})), M = clinalg.precond(A, M); end
end
if ischar(M)
  t = any(strcmp(M, {'amg', 'saddle'}));
elseif isa(M, 'clinalg.factor')
  t = isreal(M);
end
t = t && isreal(A);
end

function finish(run)
% Ends a solve that an error or Ctrl-C of the user has left; one that has ended is none.
try
  clinalg_mex('MexSolveEnd', 0, run);
catch
end
end

function [M, applied] = preconditioner(caller, M1, M2, b)
% A name, the array of an inverse or [], and a function that applies the inverse in their place.
applied = [];
if isequal(M1, [])
  M1 = M2;
  M2 = [];
end
is_name = @(M) ischar(M) || isa(M, 'string');
if is_name(M1) && isequal(M2, [])
  M = char(M1);
  if isempty(M), M = []; end
elseif is_name(M1) || is_name(M2)
  error('clinalg:argument:value', '%s: M1 and M2 are given, and one is a name, expected a name alone, or two factors', caller);
elseif isequal(M1, [])
  M = [];
elseif isa(M1, 'clinalg.factor') && isequal(M2, [])
  M = M1.inverse;
elseif is_triangular(M1) && (isequal(M2, []) || is_triangular(M2))
  first = factor(M1, b);
  second = [];
  if isequal(M2, [])
    M = clinalg_mex('MexTriangular', 0, first.h);
  else
    second = factor(M2, b);
    M = clinalg_mex('MexTriangular', 0, first.h, second.h);
  end
  M = clinalg.array(M);
else
  M = [];
  first = inverse(caller, M1, b);
  if isequal(M2, [])
    applied = first;
  else
    second = inverse(caller, M2, b);
    applied = @(r) second(first(r));
  end
end
end

function t = is_matrix(M)
t = isa(M, 'clinalg.array') || isfloat(M) || islogical(M);
end

function t = is_triangular(M)
% Whether it is a sparse triangular matrix.
t = is_matrix(M) && issparse(M) && size(M, 1) == size(M, 2);
if t && isa(M, 'clinalg.array')
  t = nnz(tril(M, -1)) == 0 || nnz(triu(M, 1)) == 0;
elseif t
  t = istril(M) || istriu(M);
end
end

function F = factor(M, b)
% A triangular matrix on the device, in the type of b.
if ~isa(M, 'clinalg.array')
  M = clinalg.matrix(sparse(M), underlyingType(b));
end
F = clinalg.operands.sparse_handle(M);
if ~strcmp(underlyingType(F), underlyingType(b)), F = cast(F, underlyingType(b)); end
if iscomplex(b), F = clinalg.operands.promoted(F); end
end

function f = inverse(caller, M, b)
% A function that applies the inverse of M.
if isa(M, 'function_handle')
  f = M;
elseif isa(M, 'clinalg.factor') || is_matrix(M)
  n = size(b, 1);
  if ~isequal(size(M), [n n])
    error('clinalg:argument:shape', '%s: a preconditioner is %s, expected %d x %d', caller, clinalg.operands.by(size(M)), n, n);
  end
  f = @(r) M \ r;
else
  error('clinalg:argument:class', ['%s: M is of class %s, expected a name such as ''jacobi'', ''ilu'' or ''amg'', a matrix, a function ' ...
    'handle, a clinalg.factor or []'], caller, class(M));
end
end

function y = product(caller, what, f, r, b)
% f(r) as an array like b.
y = f(r);
if ~isequal(size(y), size(r))
  error('clinalg:argument:shape', '%s: the function %s gave %s, expected %s', caller, what, clinalg.operands.by(size(y)), ...
    clinalg.operands.by(size(r)));
elseif ~isreal(y) && isreal(b)
  error('clinalg:argument:complex', '%s: the function %s gave complex numbers, and b is real; use complex(b)', caller, what);
end
if ~isa(y, 'clinalg.array') || ~strcmp(underlyingType(y), underlyingType(b)) || issparse(y)
  y = clinalg.operands.like(full(gather(y)), b);
end
if iscomplex(b), y = clinalg.operands.promoted(y); end
settle(y);
end
