function wave = MexGridWave(gpu, points, dt, lengths, sides, c, single, sponge)
%MexGridWave  Make a wave on a box.
%   wave = MexGridWave(gpu, points, dt [, lengths] [, sides] [, c] [, single] [, sponge])
%
%   For u_tt = c^2 Laplace u on a box of d = 2 or 3 dimensions by leapfrog, of order 2 in space and time, with the time step
%   dt, at most what MexGridWaveLimit gives. points is [nx ny] or [nx ny nz], at least 3 each, those on the sides included. u is
%   0 and at rest until MexGridWaveStart.
%     lengths  d lengths of the box: n - 1 equal intervals in each direction, n in a periodic one (default 1)
%     sides    2 x d numbers, the low and the high side of each direction: Inf (default) for fixed values of u, 0 for
%              du/dn = 0, 1 for u_t + c du/dn = 0, which absorbs waves (Engquist and Majda 1977), NaN for periodic
%     c        speed of the waves, a number or one for each point, x fastest (default 1)
%     single   1 computes in single precision (default 0)
%     sponge   width of the damping layers along absorbing sides, in the unit of the lengths (Israeli and Orszag 1981);
%              layers of three wavelengths reflect much less than the sides alone (default 0, none)
%   MexRelease frees it.
%
%   Example:
%     gpu = MexInitOpenCL();
%     wave = MexGridWave(gpu, [201 101], 0.004, [2 1], [1 0; 1 0]);
%     [x, y] = ndgrid(linspace(0, 2, 201), linspace(0, 1, 101));
%     MexGridWaveStart(gpu, wave, MexMatrix(gpu, exp(-100 * (x - 1) .^ 2)));
%     MexGridWaveStep(gpu, wave, 400);
%     MexGridWaveEnergy(gpu, wave)
%
%   See also MexGridWaveLimit, MexGridWaveStart, MexGridWaveStep, MexGridWaveDisplacement, MexWave, MexRelease.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 8, sponge = []; end
if nargin < 7, single = []; end
if nargin < 6, c = []; end
if nargin < 5, sides = []; end
if nargin < 4, lengths = []; end
try
  wave = clinalg_mex('MexGridWave', gpu, points, dt, lengths, sides, c, single, sponge);
catch problem
  if nargin < 3, clinalg_mex('MexGridWave'); end
  rethrow(problem);
end
end
