function wave = MexWave(gpu, points, dt, c, scheme, single, backend, tolerance, lengths, sides, sponge)
%MexWave  Make a wave on a box of two or three dimensions.
%   wave = MexWave(gpu, points, dt [, c] [, scheme] [, single] [, backend] [, tolerance] [, lengths] [, sides] [, sponge])
%
%   For u_tt = c^2 Laplace u, of order 2 in space and time, with the time step dt. points is [nx ny] or [nx ny nz], at least
%   3 each, those on the sides included, or n for [n n]. u is 0 and at rest until MexWaveStart. A square has equally many
%   points in two directions, equal lengths and fixed sides; other grids take the explicit scheme and the kernels only.
%     c          speed of the waves, a number or one for each point, x fastest, for the explicit scheme (default 1)
%     scheme     'explicit' for leapfrog (default), whose dt is at most what MexWaveLimit gives, on squares
%                c dt / h <= 1 / sqrt(2), or 'implicit' for Newmark's with beta = 1/4 on squares, which takes any dt,
%                n = 2^k + 1, and solves its equations by multigrid
%     single     1 computes in single precision (default 0)
%     backend    'kernels' for kernels made for this problem (default), 'matrix' for sparse matrices, or
%                'reference' for sequential code on the host
%     tolerance  of the implicit scheme, relative residual of each step (default 1e-10, in single precision 1e-5)
%     lengths    of the box, 2 or 3: n - 1 equal intervals in each direction, n in a periodic one (default 1)
%     sides      2 x d numbers, the low and the high side of each of d directions: Inf (default) for fixed values of u, 0 for
%                du/dn = 0, 1 for u_t + c du/dn = 0, which absorbs waves (Engquist and Majda 1977), NaN for periodic
%     sponge     width of the damping layers along absorbing sides, in the unit of the lengths (Israeli and Orszag 1981);
%                layers of three wavelengths reflect much less than the sides alone (default 0, none)
%   MexRelease frees it.
%
%   Example:
%     gpu = MexInitOpenCL();
%     n = 65;
%     [x, y] = meshgrid(linspace(0, 1, n));
%     wave = MexWave(gpu, n, 0.7 / (n - 1));
%     MexWaveStart(gpu, wave, MexMatrix(gpu, sin(pi * x) .* sin(pi * y)));
%     t = MexWaveStep(gpu, wave, 100);
%     u = MexHandleMatrix(gpu, MexWaveDisplacement(gpu, wave));
%     u(33, 33) - cos(sqrt(2) * pi * t)
%     channel = MexWave(gpu, [201 101], 0.004, [], [], [], [], [], [2 1], [1 0; 1 0]);
%     [x, y] = ndgrid(linspace(0, 2, 201), linspace(0, 1, 101));
%     MexWaveStart(gpu, channel, MexMatrix(gpu, exp(-100 * (x - 1) .^ 2)));
%     MexWaveStep(gpu, channel, 400);
%     MexWaveEnergy(gpu, channel)
%
%   See also MexWaveLimit, MexWaveStart, MexWaveStep, MexWaveDisplacement, MexWaveEnergy, MexRelease.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 11, sponge = []; end
if nargin < 10, sides = []; end
if nargin < 9, lengths = []; end
if nargin < 8, tolerance = []; end
if nargin < 7, backend = []; end
if nargin < 6, single = []; end
if nargin < 5, scheme = []; end
if nargin < 4, c = []; end
try
  wave = clinalg_mex('MexWave', gpu, points, dt, c, scheme, single, backend, tolerance, lengths, sides, sponge);
catch problem
  if nargin < 3, clinalg_mex('MexWave'); end
  rethrow(problem);
end
end
