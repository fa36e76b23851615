function flag = MexWaveStart(gpu, wave, u, v)
%MexWaveStart  Set displacement and velocity of a wave at time 0.
%   flag = MexWaveStart(gpu, wave, u [, v])
%
%   u and v have a value for each point, x fastest, in the precision of the wave. The values of u on fixed sides
%   stay; those of v are not read. Without v the wave is at rest. flag is 0, or as for MexPoissonSolve if
%   the solver of the implicit scheme did not converge.
%
%   Example:
%     gpu = MexInitOpenCL();
%     wave = MexWave(gpu, 33, 0.02);
%     u = MexZeros(gpu, 33, 33);
%     v = MexMatrix(gpu, ones(33));
%     MexWaveStart(gpu, wave, u, v);
%
%   See also MexWave, MexWaveStep, MexWaveVelocity.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, v = []; end
try
  flag = clinalg_mex('MexWaveStart', gpu, wave, u, v);
catch problem
  if nargin < 3, clinalg_mex('MexWaveStart'); end
  rethrow(problem);
end
end
