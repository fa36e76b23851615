function [relres, cycles, err] = poisson_multigrid(N, tol)
%poisson_multigrid  A multigrid solver for the Poisson problem, written with the linear-algebra functions only.
%   [relres, cycles, err] = poisson_multigrid(N, tol)
%
%   Solves -Laplace u = f on N x N points (default 513, 2^k + 1) with u = sin(pi x) sin(pi y) by V(2,1)-cycles with
%   red-black Gauss-Seidel until the relative residual is at most tol (default 1e-9). err is the largest error.
if nargin < 1, N = 513; end
if nargin < 2, tol = 1e-9; end

gpu = MexInitOpenCL();
levels = {};
for n = 2 .^ (round(log2(N - 1)) : -1 : 1) + 1
  levels{end + 1} = new_level(gpu, n, n > 3); %#ok<AGROW>
end

[x, y] = meshgrid(linspace(0, 1, N));
exact = sin(pi * x) .* sin(pi * y);
right = 2 * pi ^ 2 * exact(:) .* interior(N);
MexWriteMatrix(gpu, levels{1}.f, right);

relres = 1;
cycles = 0;
while relres > tol && cycles < 30
  levels = cycle(gpu, levels, 1);
  defect(gpu, levels{1});
  relres = MexNorm2(gpu, levels{1}.d) / norm(right);
  cycles = cycles + 1;
  fprintf('cycle %d: relative residual %.2e\n', cycles, relres);
end
err = max(abs(MexHandleMatrix(gpu, levels{1}.u) - exact(:)));
fprintf('largest error %.2e; the discretisation alone makes about %.2e\n', err, pi ^ 2 / 12 / (N - 1) ^ 2);
MexReleaseOpenCL(gpu);
end

function levels = cycle(gpu, levels, l)
% A V(2,1)-cycle from level l down.
if l == numel(levels)
  % One interior point.
  MexVectorTimesVector(gpu, levels{l}.D, levels{l}.f, levels{l}.u);
  return
end
levels{l} = smooth(gpu, levels{l}, 2);
defect(gpu, levels{l});
MexSparseMatrixVector(gpu, levels{l}.R, levels{l}.d, levels{l + 1}.f);
MexFill(gpu, levels{l + 1}.u, 0);
levels = cycle(gpu, levels, l + 1);
MexMultiplyAdd(gpu, 1, levels{l}.P, levels{l + 1}.u, 1, levels{l}.u);
levels{l} = smooth(gpu, levels{l}, 1);
end

function level = smooth(gpu, level, sweeps)
% Red-black Gauss-Seidel: u = G u + g f for each colour.
for k = 1 : sweeps
  for c = 1 : 2
    MexVectorTimesVector(gpu, level.g(c), level.f, level.v);
    MexMultiplyAdd(gpu, 1, level.G(c), level.u, 1, level.v);
    [level.u, level.v] = deal(level.v, level.u);
  end
end
end

function defect(gpu, level)
% d = f - A u
MexCopy(gpu, level.f, level.d);
MexMultiplyAdd(gpu, -1, level.A, level.u, 1, level.d);
end

function t = interior(n)
% 1 at the interior points of n x n, 0 on the boundary.
t = zeros(n);
t(2:end-1, 2:end-1) = 1;
t = t(:);
end

function level = new_level(gpu, n, transfers)
% The matrices and vectors of n x n points.
h = 1 / (n - 1);
one = ones(n, 1);
inside = interior(n);
points = @(mask) spdiags(mask, 0, n ^ 2, n ^ 2);
chain = spdiags([one one], [-1 1], n, n);
neighbours = kron(speye(n), chain) + kron(chain, speye(n));
level.A = MexSparseMatrix(gpu, points(inside) * (4 * speye(n ^ 2) - neighbours) / h ^ 2);
[i, j] = ndgrid(1:n, 1:n);
for c = 1 : 2
  colour = inside .* (mod(i(:) + j(:), 2) == c - 1);
  level.G(c) = MexSparseMatrix(gpu, points(colour) * neighbours / 4 + points(1 - colour));
  level.g(c) = MexMatrix(gpu, h ^ 2 / 4 * colour);
end
level.D = MexMatrix(gpu, h ^ 2 / 4 * inside);
for name = 'ufvd'
  level.(name) = MexZeros(gpu, n ^ 2, 1);
end
if transfers
  % Bilinear interpolation of the correction, and full weighting.
  m = (n + 1) / 2;
  line = sparse([1:2:n, 2:2:n-1, 2:2:n-1], [1:m, 1:m-1, 2:m], [ones(1, m), ones(1, 2 * (m - 1)) / 2], n, m);
  P = kron(line, line);
  level.P = MexSparseMatrix(gpu, points(inside) * P);
  level.R = MexSparseMatrix(gpu, spdiags(interior(m), 0, m ^ 2, m ^ 2) * P' / 4);
end
end
