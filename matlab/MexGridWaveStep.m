function [t, flag] = MexGridWaveStep(gpu, wave, steps)
%MexGridWaveStep  Make time steps of a wave on a box.
%   [t, flag] = MexGridWaveStep(gpu, wave [, steps])
%
%   Makes a number of steps (default 1) and returns the time reached. flag is 0 if all steps were made, 5 if Ctrl-C ended
%   the call.
%
%   Example:
%     gpu = MexInitOpenCL();
%     wave = MexGridWave(gpu, [33 33 33], 0.015);
%     MexGridWaveStart(gpu, wave, MexMatrix(gpu, rand(33, 33 * 33)));
%     t = MexGridWaveStep(gpu, wave, 10)
%
%   See also MexGridWave, MexGridWaveDisplacement.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, steps = []; end
try
  [t, flag] = clinalg_mex('MexGridWaveStep', gpu, wave, steps);
catch problem
  if nargin < 2, clinalg_mex('MexGridWaveStep'); end
  rethrow(problem);
end
end
