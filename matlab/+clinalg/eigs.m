function [V, D, flag] = eigs(A, varargin)
%clinalg.eigs  A few eigenvalues and eigenvectors of a symmetric matrix.
%   d = clinalg.eigs(A, k, sigma, options)
%   d = clinalg.eigs(A, B, k, sigma, options)
%   [V, D, flag] = clinalg.eigs(...)
%
%   A is a real symmetric or complex Hermitian matrix on the device or in MATLAB's memory; others are an error: use eigs.
%   The k eigenvalues (default 6) are those of A, or of A*x = lambda*B*x for a symmetric positive definite B. sigma is
%     'largestabs'    the largest in magnitude (default); both ends of the spectrum are computed
%     'largestreal'   the largest
%     'smallestreal'  the smallest
%     'smallestabs'   the smallest in magnitude, for a positive definite A
%   or MATLAB's older names for these: 'lm', 'la', 'sa', 'sm'. For eigenvalues near a number, use eigs.
%   options is a structure, or name-value pairs, with
%     Tolerance       relative residual norm(A*x - lambda*B*x) / (abs(lambda) * norm(B*x)) to reach; default 1e-8 in double
%                     precision, 1e-4 in single precision
%     MaxIterations   maximum number of iterations; default 1000
%     Preconditioner  for the smallest eigenvalues: a name or a clinalg.factor as for clinalg.pcg, such as clinalg.amg(A)
%   d and D are in MATLAB's memory, V is a clinalg.array if A is one, with x'*B*x = 1 for each column x. flag is 0 if all
%   eigenvalues converged; if it is not requested, a warning is issued instead.
%
%   The method is LOBPCG, which uses only products with A. Without a preconditioner, the smallest eigenvalues of matrices
%   from grids take hundreds of iterations.
%
%   Example:
%     A = clinalg.matrix(gallery('poisson', 30));
%     d = clinalg.eigs(A, 4, 'smallestreal', struct('Preconditioner', 'amg'))
%
%   See also clinalg.amg, clinalg.precond, clinalg.pcg, MexEigs, eigs.
if nargin < 1
  error('clinalg:argument:count', 'clinalg.eigs: too few arguments; the call is clinalg.eigs(A, k, sigma, options)');
end
if isa(A, 'function_handle') || ischar(A)
  error('clinalg:argument:class', 'clinalg.eigs: A is of class %s, expected a sparse or full matrix; for a function, use eigs', class(A));
end
B = [];
if ~isempty(varargin) && (isa(varargin{1}, 'clinalg.array') || isnumeric(varargin{1}) && numel(varargin{1}) > 1)
  B = varargin{1};
  varargin(1) = [];
end
o = clinalg.operands.arguments('clinalg.eigs', varargin, {'Count', 'Sigma*'}, {'Tolerance', 'MaxIterations', 'Preconditioner'});
k = o.count;
sigma = full_name(o.sigma);
given = {o.tolerance, o.maxiterations};
M = o.preconditioner;
if isa(M, 'clinalg.factor')
  M = M.inverse.h;
elseif ~(isequal(M, []) || ischar(M))
  error('clinalg:argument:class', ['clinalg.eigs: options.Preconditioner is of class %s, expected a name such as ''amg'', ' ...
    'a clinalg.factor or []'], class(M));
end
if ~isempty(M) && strncmp(sigma, 'largest', 7)
  error('clinalg:argument:value', ['clinalg.eigs: options.Preconditioner is given, expected [] with ''%s'': ' ...
    'only the smallest eigenvalues take one'], sigma);
end
on_device = isa(A, 'clinalg.array');
if ~on_device, A = clinalg.matrix(A); end
mass = {};
if ~isempty(B)
  if ~isa(B, 'clinalg.array'), B = clinalg.matrix(B, underlyingType(A)); end
  mass = {B.h};
end
n = size(A, 1);
if isempty(k), k = min(6, n); end
ends = {'smallest'};
count = k;
if strcmp(sigma, 'largestreal')
  ends = {'largest'};
elseif strcmp(sigma, 'largestabs') && 2 * k <= n
  ends = {'largest', 'smallest'};
elseif strcmp(sigma, 'largestabs') && n <= 171
  % If both ends overlapped, a pair would appear twice. So many are computed in one block.
  count = max(k, n);
elseif strcmp(sigma, 'largestabs')
  error('clinalg:argument:value', ['clinalg.eigs: k is %d, expected at most half of the %d rows with ''largestabs''; ' ...
    'use ''largestreal'' or ''smallestreal'', or eig of the full matrix'], k, n);
end
d = [];
V = [];
flag = 0;
for which = ends
  try
    [X, e, code, ~, ~, reason] = clinalg_mex('MexEigs', 0, A.h, count, which{1}, given{:}, M, mass{:});
  catch problem
    clinalg.operands.blame(problem, 'clinalg.eigs', {'tol', 'Tolerance', 'maxit', 'MaxIterations', 'precond', 'Preconditioner', 'mass', 'B'});
  end
  V = [V, gather(clinalg.array(X))];
  d = [d; e];
  if code > flag
    flag = code;
    why = reason;
  end
end
if strcmp(sigma, 'smallestabs') && any(d < 0) && k < n
  error('clinalg:eigs:indefinite', ['clinalg.eigs: A has the eigenvalue %g, expected a positive definite A with ' ...
    '''smallestabs''; use ''smallestreal'', or eigs'], d(1));
elseif strcmp(sigma, 'largestabs')
  [~, order] = sort(abs(d), 'descend');
elseif strcmp(sigma, 'smallestabs')
  [~, order] = sort(abs(d));
else
  order = 1 : k;
end
d = d(order(1 : k));
V = V(:, order(1 : k));
if nargout < 3 && flag ~= 0
  warning('clinalg:eigs:notConverged', 'clinalg.eigs: %s; raise MaxIterations or give a Preconditioner', why);
end
if nargout < 2
  V = d;
else
  D = diag(d);
  if on_device, V = clinalg.matrix(V); end
end
end

function sigma = full_name(sigma)
if isempty(sigma), sigma = 'largestabs'; end
if ~(ischar(sigma) || isa(sigma, 'string'))
  error('clinalg:argument:class', ['clinalg.eigs: sigma is of class %s, expected a name such as ''smallestreal''; ' ...
    'for eigenvalues near a number, use eigs'], class(sigma));
end
names = {'largestabs', 'lm', 'largestreal', 'la', 'smallestreal', 'sa', 'smallestabs', 'sm'};
at = find(strcmpi(char(sigma), names));
if isempty(at)
  error('clinalg:argument:value', 'clinalg.eigs: sigma is ''%s'', expected ''%s'', ''%s'', ''%s'' or ''%s''', ...
    char(sigma), names{1 : 2 : end});
end
sigma = names{2 * ceil(at / 2) - 1};
end
