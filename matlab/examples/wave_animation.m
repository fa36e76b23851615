function files = wave_animation(folder, N, frames)
%wave_animation  A wave on a membrane, saved as pictures.
%   files = wave_animation(folder, N, frames)
%
%   Solves u_tt = Laplace u on the unit square with fixed edges by leapfrog on N x N points (default 129), from a bump
%   at rest, with one sparse product and one vector operation a step. Writes frames (default 20) pictures wave_01.png,
%   ... to folder (default: a new one) and returns their names.
if nargin < 1, folder = tempname(); end
if nargin < 2, N = 129; end
if nargin < 3, frames = 20; end
if ~exist(folder, 'dir')
  mkdir(folder);
end

h = 1 / (N - 1);
dt = 0.7 * h;
one = ones(N, 1);
[x, y] = meshgrid(linspace(0, 1, N));
inside = zeros(N);
inside(2:end-1, 2:end-1) = 1;
start = inside .* exp(-200 * ((x - 0.3) .^ 2 + (y - 0.4) .^ 2));
second = spdiags([one -2*one one], -1:1, N, N);
L = spdiags(inside(:), 0, N ^ 2, N ^ 2) * (kron(speye(N), second) + kron(second, speye(N))) / h ^ 2;

gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, L);
u = MexMatrix(gpu, start(:));
% At rest: u(-dt) = u(dt), so the first step is half a step of acceleration.
before = MexMatrix(gpu, start(:) + dt ^ 2 / 2 * (L * start(:)));

files = cell(1, frames);
steps = round(1.5 / dt / frames);
for frame = 1 : frames
  for step = 1 : steps
    % u(t + dt) = 2 u(t) - u(t - dt) + dt^2 L u(t)
    MexAxpby(gpu, 2, u, -1, before, before);
    MexMultiplyAdd(gpu, dt ^ 2, A, u, 1, before);
    [u, before] = deal(before, u);
  end
  files{frame} = fullfile(folder, sprintf('wave_%02d.png', frame));
  save_picture(reshape(MexHandleMatrix(gpu, u), N, N), files{frame});
end
MexReleaseOpenCL(gpu);
fprintf('%d pictures in %s\n', frames, folder);
end

function save_picture(u, file)
% Blue below, white at and red above 0.
v = min(max(2 * u, -1), 1);
red = 1 + min(v, 0);
blue = 1 - max(v, 0);
green = min(red, blue);
imwrite(uint8(255 * cat(3, red, green, blue)), file);
end
