function u = MexGridWaveDisplacement(gpu, wave, u)
%MexGridWaveDisplacement  Displacement of a wave on a box.
%   u = MexGridWaveDisplacement(gpu, wave [, u])
%
%   The result goes to u if it is given, with a value for each point in the precision of the wave, otherwise to a new column; x is
%   fastest.
%
%   Example:
%     gpu = MexInitOpenCL();
%     wave = MexGridWave(gpu, [33 17], 0.02);
%     MexGridWaveStart(gpu, wave, MexMatrix(gpu, ones(33, 17)));
%     u = reshape(MexHandleMatrix(gpu, MexGridWaveDisplacement(gpu, wave)), 33, 17);
%
%   See also MexGridWave, MexGridWaveVelocity, MexHandleMatrix.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, u = []; end
try
  u = clinalg_mex('MexGridWaveDisplacement', gpu, wave, u);
catch problem
  if nargin < 2, clinalg_mex('MexGridWaveDisplacement'); end
  rethrow(problem);
end
end
