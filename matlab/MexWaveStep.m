function [t, flag, cycles] = MexWaveStep(gpu, wave, steps)
%MexWaveStep  Make time steps.
%   [t, flag, cycles] = MexWaveStep(gpu, wave [, steps])
%
%   Makes a number of steps (default 1) and returns the time reached. The kernels for squares compute up to 8 explicit
%   steps per pass over memory, so one call with many steps is faster than many calls. flag is 0 if all
%   steps were made, 5 if Ctrl-C ended the call, and as for MexPoissonSolve if the solver of an implicit step did not
%   converge, which also ends it. cycles is the number of multigrid cycles of all steps together.
%
%   Example:
%     gpu = MexInitOpenCL();
%     wave = MexWave(gpu, 33, 0.1, 1, 'implicit');
%     MexWaveStart(gpu, wave, MexZeros(gpu, 33, 33), MexMatrix(gpu, ones(33)));
%     [t, flag, cycles] = MexWaveStep(gpu, wave, 5)
%
%   See also MexWave, MexWaveDisplacement.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, steps = []; end
try
  [t, flag, cycles] = clinalg_mex('MexWaveStep', gpu, wave, steps);
catch problem
  if nargin < 2, clinalg_mex('MexWaveStep'); end
  rethrow(problem);
end
end
