function [E, kinetic, potential] = MexWaveEnergy(gpu, wave)
%MexWaveEnergy  Energy of a wave.
%   [E, kinetic, potential] = MexWaveEnergy(gpu, wave)
%
%   E = kinetic + potential is the discrete energy half a step before the time reached, of unit density where the speed is
%   largest. Without absorbing sides both schemes conserve it up to rounding, the implicit one also up to its tolerance;
%   absorbing sides can only decrease it.
%
%   Example:
%     gpu = MexInitOpenCL();
%     wave = MexWave(gpu, 33, 0.02);
%     MexWaveStart(gpu, wave, MexMatrix(gpu, rand(33)));
%     E = MexWaveEnergy(gpu, wave);
%     MexWaveStep(gpu, wave, 1000);
%     MexWaveEnergy(gpu, wave) / E - 1
%
%   See also MexWave, MexWaveStep.

% Made from the table in crates/clinalg-mex; edit it there.
try
  [E, kinetic, potential] = clinalg_mex('MexWaveEnergy', gpu, wave);
catch problem
  if nargin < 2, clinalg_mex('MexWaveEnergy'); end
  rethrow(problem);
end
end
