function [E, kinetic, potential] = MexGridWaveEnergy(gpu, wave)
%MexGridWaveEnergy  Energy of a wave on a box.
%   [E, kinetic, potential] = MexGridWaveEnergy(gpu, wave)
%
%   E = kinetic + potential is the discrete energy half a step before the time reached, of unit density. Without absorbing
%   sides it is conserved up to rounding; absorbing sides never increase it.
%
%   Example:
%     gpu = MexInitOpenCL();
%     wave = MexGridWave(gpu, [33 17], 0.02, [], [0 NaN; 0 NaN]);
%     MexGridWaveStart(gpu, wave, MexMatrix(gpu, rand(33, 17)));
%     E = MexGridWaveEnergy(gpu, wave);
%     MexGridWaveStep(gpu, wave, 100);
%     MexGridWaveEnergy(gpu, wave) / E - 1
%
%   See also MexGridWave, MexGridWaveStep.

% Made from the table in crates/clinalg-mex; edit it there.
try
  [E, kinetic, potential] = clinalg_mex('MexGridWaveEnergy', gpu, wave);
catch problem
  if nargin < 2, clinalg_mex('MexGridWaveEnergy'); end
  rethrow(problem);
end
end
