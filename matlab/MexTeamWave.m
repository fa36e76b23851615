function wave = MexTeamWave(gpu, team, n, dt, c, single)
%MexTeamWave  Make a wave on a team.
%   wave = MexTeamWave(gpu, team, n, dt [, c] [, single])
%
%   As MexWave with the explicit scheme on the unit square of n x n points with fixed sides, on strips, one for each device.
%   MexWaveStart, MexWaveStep, MexWaveDisplacement, MexWaveVelocity and MexWaveEnergy take it. Displacement and velocity have
%   the bits of one device.
%
%   Example:
%     gpu = MexInitOpenCL();
%     wave = MexTeamWave(gpu, MexTeam(gpu, 0), 65, 0.01);
%     MexWaveStart(gpu, wave, MexMatrix(gpu, rand(65)));
%     t = MexWaveStep(gpu, wave, 100)
%
%   See also MexTeam, MexWave, MexWaveStep.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 6, single = []; end
if nargin < 5, c = []; end
try
  wave = clinalg_mex('MexTeamWave', gpu, team, n, dt, c, single);
catch problem
  if nargin < 4, clinalg_mex('MexTeamWave'); end
  rethrow(problem);
end
end
