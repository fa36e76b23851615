function [y, stats] = MexWaveform(gpu, system, times, y0, steps, variant, block, guess, data, n, single, method)
%MexWaveform  Solve an initial value problem by waveform relaxation.
%   [y, stats] = MexWaveform(gpu, system, times, y0, steps [, variant] [, block] [, guess] [, data] [, n] [, single] [, method])
%
%   Blocks of numbers are integrated over a window of steps with those of other blocks from the previous iteration, until the
%   iterates agree; with Euler's method its first w steps are reached after w iterations. It pays only where launches of
%   kernels cost more than arithmetic. system, data and n are those of MexOde; times has the first and the last time,
%   y0 all points of the first field, then those of the next, [] for those of a test problem. y is a column in this order.
%     steps    [steps windows eps iterations adaptive]: the number of steps; windows, a divisor (default 1); the
%              difference of two iterates at which a window ends (0, the method's solution); iterations of each window in
%              place of eps (0 for eps); iterations that a window should take, its length follows (0 for equal windows)
%     variant  'component' (default), 'point', 'block', 'block-boundary', 'device', 'copy-all' or 'copy-access-distance'
%     block    points of a block along each axis (default 32, or 8 in three dimensions, half of it for other methods than
%              Euler's; at most those of the grid)
%     guess    of a window: 'previous' (default), 'constant' or 'linear'
%     single   1 computes in single precision (default 0)
%     method   'euler' (default), 'heun2', 'rk4', 'dopri54', ...: the explicit Runge-Kutta methods of MexOde
%   stats has iterations and steps of each window, the difference of the last iterates, bytes of the waveforms, words
%   moved per number, step and iteration, and t, the time of y. Ctrl-C stops it after the current iteration.
%   y is then the solution at the end of the last complete window, or y0 if there is none, and t is less than times(2).
%
%   Example:
%     gpu = MexInitOpenCL();
%     heat = sprintf('grid 32 32\nu'' = u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u');
%     [y, stats] = MexWaveform(gpu, heat, [0 1], rand(1024, 1), [20 2], 'block', [8 8]);
%     stats.iterations
%
%   See also MexOde, MexInitOpenCL.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 12, method = []; end
if nargin < 11, single = []; end
if nargin < 10, n = []; end
if nargin < 9, data = []; end
if nargin < 8, guess = []; end
if nargin < 7, block = []; end
if nargin < 6, variant = []; end
try
  [y, stats] = clinalg_mex('MexWaveform', gpu, system, times, y0, steps, variant, block, guess, data, n, single, method);
catch problem
  if nargin < 5, clinalg_mex('MexWaveform'); end
  rethrow(problem);
end
end
