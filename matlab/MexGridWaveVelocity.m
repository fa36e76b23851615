function v = MexGridWaveVelocity(gpu, wave, v)
%MexGridWaveVelocity  Velocity of a wave on a box.
%   v = MexGridWaveVelocity(gpu, wave [, v])
%
%   The result goes to v if it is given, as for MexGridWaveDisplacement. MexGridWaveStart with displacement and velocity
%   continues the motion.
%
%   Example:
%     gpu = MexInitOpenCL();
%     wave = MexGridWave(gpu, [33 17], 0.02);
%     MexGridWaveStart(gpu, wave, MexZeros(gpu, 33, 17), MexMatrix(gpu, ones(33, 17)));
%     v = reshape(MexHandleMatrix(gpu, MexGridWaveVelocity(gpu, wave)), 33, 17);
%     v(17, 9)
%
%   See also MexGridWave, MexGridWaveStart, MexGridWaveDisplacement.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, v = []; end
try
  v = clinalg_mex('MexGridWaveVelocity', gpu, wave, v);
catch problem
  if nargin < 2, clinalg_mex('MexGridWaveVelocity'); end
  rethrow(problem);
end
end
