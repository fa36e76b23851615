function v = MexWaveVelocity(gpu, wave, v)
%MexWaveVelocity  Velocity of a wave.
%   v = MexWaveVelocity(gpu, wave [, v])
%
%   The result goes to v if it is given, as for MexWaveDisplacement. MexWaveStart with displacement and velocity continues
%   the integration.
%
%   Example:
%     gpu = MexInitOpenCL();
%     wave = MexWave(gpu, 33, 0.02);
%     MexWaveStart(gpu, wave, MexZeros(gpu, 33, 33), MexMatrix(gpu, ones(33)));
%     v = MexHandleMatrix(gpu, MexWaveVelocity(gpu, wave));
%     v(17, 17)
%
%   See also MexWave, MexWaveStart, MexWaveDisplacement.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, v = []; end
try
  v = clinalg_mex('MexWaveVelocity', gpu, wave, v);
catch problem
  if nargin < 2, clinalg_mex('MexWaveVelocity'); end
  rethrow(problem);
end
end
