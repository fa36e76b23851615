function MexGridWaveStart(gpu, wave, u, v)
%MexGridWaveStart  Set displacement and velocity of a wave on a box at time 0.
%   MexGridWaveStart(gpu, wave, u [, v])
%
%   u and v have a value for each point, x fastest, in the precision of the wave. The values of v on fixed sides are not read.
%   Without v the wave is at rest.
%
%   Example:
%     gpu = MexInitOpenCL();
%     wave = MexGridWave(gpu, [33 17], 0.02);
%     MexGridWaveStart(gpu, wave, MexZeros(gpu, 33, 17), MexMatrix(gpu, ones(33, 17)));
%
%   See also MexGridWave, MexGridWaveStep, MexGridWaveVelocity.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, v = []; end
try
  clinalg_mex('MexGridWaveStart', gpu, wave, u, v);
catch problem
  if nargin < 3, clinalg_mex('MexGridWaveStart'); end
  rethrow(problem);
end
end
