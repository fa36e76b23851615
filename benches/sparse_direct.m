function sparse_direct(sets)
%sparse_direct  Times A \ b of sparse matrices: the direct solver of clinalg on the device beside Octave's own (UMFPACK, CHOLMOD).
%   sparse_direct()           all systems
%   sparse_direct({'poisson2'})  some of them
%   Prints a line of JSON per system and solver: the first solve with compiled kernels, and the better of two more. Needs clinalg on the path.
if nargin < 1
  sets = {'poisson2', 'poisson3', 'flow2', 'flow3', 'elasticity2', 'helmholtz2', 'random'};
end
for k = 1 : numel(sets)
  for n = sizes(sets{k})
    A = system_of(sets{k}, n);
    b = A * (1 + sin((1 : rows(A))'));
    of(sets{k}, A, A, b, 'octave');
    of(sets{k}, A, clinalg.matrix(A), clinalg.vector(b), 'clinalg');
  end
end
end

function of(name, A, a, b, solver)
% Kernels are compiled in a small solve before.
if strcmp(solver, 'clinalg')
  warm = system_of(name, 40);
  gather(clinalg.matrix(warm) \ clinalg.vector(full(warm * ones(rows(warm), 1))));
end
seconds = zeros(1, 3);
for k = 1 : 3
  tic;
  x = a \ b;
  if isa(x, 'clinalg.array'), x = gather(x); end
  seconds(k) = toc;
end
if isa(b, 'clinalg.array'), b = gather(b); end
backward = max(abs(b - A * x) ./ (abs(A) * abs(x) + abs(b)));
printf('{"system": "%s", "rows": %d, "nnz": %d, "solver": "%s", "seconds_first": %.3f, "seconds": %.3f, "backward_error": %.1e}\n', ...
  name, rows(A), nnz(A), solver, seconds(1), min(seconds), backward);
end

function n = sizes(name)
switch name
  case {'poisson2', 'flow2', 'helmholtz2'}, n = [300 1000];
  case 'elasticity2', n = [200 500];
  case 'random', n = 30000;
  otherwise, n = [25 40];
end
if strcmp(name, 'helmholtz2'), n = [300 700]; end
end

function A = system_of(name, n)
e = ones(n, 1);
T = spdiags([-e, 2 * e, -e], -1 : 1, n, n);
C = spdiags([-e, 0 * e, e], -1 : 1, n, n);
I = speye(n);
switch name
  case 'poisson2'
    A = kron(I, T) + kron(T, I);
  case 'poisson3'
    m = min(n, 40);
    I = speye(m); T = T(1 : m, 1 : m);
    A = kron(I, kron(I, T) + kron(T, I)) + kron(T, kron(I, I));
  case 'flow2'
    A = kron(I, T + 0.4 * C) + kron(T - 0.3 * C, I);
  case 'flow3'
    m = min(n, 40);
    I = speye(m); T = T(1 : m, 1 : m); C = C(1 : m, 1 : m);
    A = kron(I, kron(I, T + 0.4 * C) + kron(T, I)) + kron(T - 0.3 * C, kron(I, I));
  case 'elasticity2'
    % Finite differences of plane strain with a Poisson ratio of 0.3.
    mixed = kron(C, C) / 4 * 0.8;
    A = [kron(I, 2.8 * T) + kron(T, I), -mixed; -mixed, kron(I, T) + kron(2.8 * T, I)] + 0.01 * speye(2 * n * n);
  case 'helmholtz2'
    h = 1 / (n + 1);
    A = kron(I, T) + kron(T, I) - (40 * h) ^ 2 * (1 - 0.05i) * speye(n * n);
  case 'random'
    rand('state', 7); %#ok<RAND>
    A = sprand(n, n, 3 / n) + spdiags(2 + rand(n, 1), 0, n, n);
end
end
