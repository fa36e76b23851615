function difference = smoothers(N, sweeps)
%smoothers  Jacobi and red-black Gauss-Seidel three times: MATLAB, linear algebra on the device, special kernels.
%   difference = smoothers(N, sweeps)
%
%   For -Laplace u = f on N x N points (default 65), the mesh width being h = 1 / (N - 1), with a random start and
%   right-hand side. difference is the largest of the differences to MATLAB's result after the sweeps (default 10).
if nargin < 1, N = 65; end
if nargin < 2, sweeps = 10; end
h = 1 / (N - 1);
U = rand(N);
F = rand(N);
F([1 end], :) = 0;
F(:, [1 end]) = 0;
in = 2 : N - 1;

gpu = MexInitOpenCL();
[neighbours, inside, red, black] = smoother_matrices(N);
f = MexMatrix(gpu, F(:));
F2 = MexMatrix(gpu, F);

%% Jacobi: each interior point becomes the mean of its neighbours plus h^2 f / 4.

% MATLAB.
u = U;
for k = 1 : sweeps
  v = u;
  v(in, in) = (u(in - 1, in) + u(in + 1, in) + u(in, in - 1) + u(in, in + 1) + h ^ 2 * F(in, in)) / 4;
  u = v;
end
jacobi = u;

% Linear algebra on the device: v = J u + h^2 / 4 f, with J the mean of the neighbours inside and the identity on the
% boundary.
J = MexSparseMatrix(gpu, neighbours / 4 + spdiags(1 - inside, 0, N ^ 2, N ^ 2));
u = MexMatrix(gpu, U(:));
v = MexZeros(gpu, N ^ 2, 1);
for k = 1 : sweeps
  MexVectorTimesConstant(gpu, f, h ^ 2 / 4, v);
  MexMultiplyAdd(gpu, 1, J, u, 1, v);
  [u, v] = deal(v, u);
end
difference = max(abs(MexHandleMatrix(gpu, u) - jacobi(:)));

% Special kernels.
u = MexMatrix(gpu, U);
MexJacobi(gpu, u, F2, u, sweeps);
difference(end + 1) = max(max(abs(MexHandleMatrix(gpu, u) - jacobi)));

%% Red-black Gauss-Seidel: the same for the red points first, then for the black ones.

% MATLAB.
u = U;
for k = 1 : sweeps
  for colour = {red, black}
    v = u;
    v(in, in) = (u(in - 1, in) + u(in + 1, in) + u(in, in - 1) + u(in, in + 1) + h ^ 2 * F(in, in)) / 4;
    here = reshape(colour{1}, N, N) == 1;
    u(here) = v(here);
  end
end
redblack = u;

% Linear algebra on the device: for each colour v = G u + h^2 / 4 (colour .* f), with G the mean of the neighbours at
% the points of the colour and the identity elsewhere.
colours = {red, black};
for c = 1 : 2
  here = spdiags(colours{c}, 0, N ^ 2, N ^ 2);
  G(c) = MexSparseMatrix(gpu, here * neighbours / 4 + speye(N ^ 2) - here); %#ok<AGROW>
  g(c) = MexMatrix(gpu, h ^ 2 / 4 * colours{c} .* F(:)); %#ok<AGROW>
end
u = MexMatrix(gpu, U(:));
v = MexZeros(gpu, N ^ 2, 1);
for k = 1 : sweeps
  for c = 1 : 2
    MexCopy(gpu, g(c), v);
    MexMultiplyAdd(gpu, 1, G(c), u, 1, v);
    [u, v] = deal(v, u);
  end
end
difference(end + 1) = max(abs(MexHandleMatrix(gpu, u) - redblack(:)));

% Special kernels.
u = MexMatrix(gpu, U);
MexRBGS(gpu, u, F2, u, sweeps);
difference(end + 1) = max(max(abs(MexHandleMatrix(gpu, u) - redblack)));

MexReleaseOpenCL(gpu);
fprintf('Jacobi:     linear algebra differs by %.1e, special kernels by %.1e\n', difference(1:2));
fprintf('red-black:  linear algebra differs by %.1e, special kernels by %.1e\n', difference(3:4));
difference = max(difference);
end

function [neighbours, inside, red, black] = smoother_matrices(N)
% The sum of the four neighbours at interior points, and which points are interior, red and black.
one = ones(N, 1);
[i, j] = ndgrid(1:N, 1:N);
inside = double(i > 1 & i < N & j > 1 & j < N);
red = inside .* (mod(i + j, 2) == 0);
black = inside .* (mod(i + j, 2) == 1);
[inside, red, black] = deal(inside(:), red(:), black(:));
chain = spdiags([one one], [-1 1], N, N);
neighbours = spdiags(inside, 0, N ^ 2, N ^ 2) * (kron(speye(N), chain) + kron(chain, speye(N)));
end
