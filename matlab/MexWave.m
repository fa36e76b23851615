function wave = MexWave(gpu, n, dt, c, scheme, single, backend, tolerance)
%MexWave  Make a membrane for the wave equation.
%   wave = MexWave(gpu, n, dt [, c] [, scheme] [, single] [, backend] [, tolerance])
%
%   For u_tt = c^2 Laplace u on the unit square, the values on the boundary fixed, on n x n points, boundary
%   points included, with the mesh width h = 1 / (n - 1) and the time step dt. The initial displacement and
%   velocity are 0.
%     c          wave speed (default 1)
%     scheme     'explicit' for leapfrog (default), which needs c dt / h <= 1 / sqrt(2), or 'implicit' for Newmark's
%                with beta = 1/4, which takes any dt, n = 2^k + 1, and solves its equations by multigrid
%     single     1 computes in single precision (default 0)
%     backend    'kernels' for kernels made for this problem (default), 'matrix' for sparse matrices, or
%                'reference' for sequential code on the host
%     tolerance  of the implicit scheme, relative residual of each step (default 1e-10, in single precision 1e-5)
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
%
%   See also MexWaveStart, MexWaveStep, MexWaveDisplacement, MexWaveEnergy, MexRelease.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 8, tolerance = []; end
if nargin < 7, backend = []; end
if nargin < 6, single = []; end
if nargin < 5, scheme = []; end
if nargin < 4, c = []; end
try
  wave = clinalg_mex('MexWave', gpu, n, dt, c, scheme, single, backend, tolerance);
catch problem
  if nargin < 3, clinalg_mex('MexWave'); end
  rethrow(problem);
end
end
