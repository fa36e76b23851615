function u = MexWaveDisplacement(gpu, wave, u)
%MexWaveDisplacement  Displacement of a wave.
%   u = MexWaveDisplacement(gpu, wave [, u])
%
%   The result goes to u if it is given, with a value for each point in the precision of the wave, else to a new matrix:
%   nx x ny, in three dimensions nx x (ny nz).
%
%   Example:
%     gpu = MexInitOpenCL();
%     wave = MexWave(gpu, 33, 0.02);
%     MexWaveStart(gpu, wave, MexMatrix(gpu, ones(33)));
%     MexWaveStep(gpu, wave, 10);
%     u = MexWaveDisplacement(gpu, wave);
%     norm(MexHandleMatrix(gpu, u) - 1)
%
%   See also MexWave, MexWaveVelocity, MexHandleMatrix.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, u = []; end
try
  u = clinalg_mex('MexWaveDisplacement', gpu, wave, u);
catch problem
  if nargin < 2, clinalg_mex('MexWaveDisplacement'); end
  rethrow(problem);
end
end
