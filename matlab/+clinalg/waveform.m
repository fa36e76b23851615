function [y, stats] = waveform(rhs, tspan, y0, varargin)
%clinalg.waveform  Solve differential equations by waveform relaxation on the device.
%   [y, stats] = clinalg.waveform(rhs, tspan, y0, 'Name', value, ...)
%   [y, stats] = clinalg.waveform(rhs, tspan, y0, options)
%
%   Solves y' = f(t, y) from tspan(1) to tspan(end) by equal steps of a Runge-Kutta method. Blocks of components are integrated over a window of
%   steps, with the values of other blocks from the previous iteration, until the iterates agree: with Eps = 0 the result is that
%   of the method itself. It pays off only where kernel launches cost more than the computation; otherwise clinalg.ode is faster.
%
%   rhs and y0 are those of clinalg.ode: a struct of formulas, lines or the name of a test problem, and the numbers at the beginning, all
%   points of the first unknown, then those of the next ([] for those of a test problem).
%
%   y is the solution at tspan(end), in the shape of y0 (a column where y0 is []). stats is a struct:
%     iterations, steps     columns with the iterations and steps of each window
%     difference            of the last two iterates: the largest 2-norm over the steps of the last window
%     memory_bytes          of the waveforms
%     words                 moved for each number, step and iteration
%     t                     the time of y, tspan(end) unless Ctrl-C stopped it
%   Ctrl-C stops it after the current iteration. y is then the solution at the end of the last complete window, or y0 if there
%   is none; if stats is not requested, there is a warning.
%
%   Options are name-value pairs or a struct; case does not matter, [] counts as not given:
%     Steps                 number of steps (default 100)
%     Windows               number of windows, a divisor of the steps (default 1)
%     Eps                   difference of two iterates at which a window ends (default 0)
%     Iterations            iterations of each window, in place of Eps
%     Adaptive              iterations that a window should take; the length of windows follows
%     Method                'euler' (default), 'heun2', 'rk4', 'dopri54', ...: Runge-Kutta methods of clinalg.ode
%     Variant               the blocks: 'component' (default), 'point', 'block', 'block-boundary', 'device', 'copy-all'
%                           or 'copy-access-distance'
%     Block                 points of a block along each axis, for 'block' and 'block-boundary'
%     Guess                 of a window: 'previous' (default), 'constant' or 'linear'
%     Grid, Origin, Spacing, Parameters, Data, Define, Boundary, N
%                           as for clinalg.ode
%   If y0 is of class single, the computation is in single precision.
%
%   Example:
%     o = struct('Grid', [32 32], 'Boundary', 'mirror', 'Steps', 20, 'Variant', 'block', 'Block', [8 8]);
%     [y, stats] = clinalg.waveform(struct('u', 'u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u'), [0 1], rand(32), o);
%     stats.iterations
%
%   See also clinalg.ode, clinalg.equations, MexWaveform.
if nargin < 3
  error('clinalg:argument:count', ['clinalg.waveform: too few arguments; the call is ' ...
    'clinalg.waveform(rhs, tspan, y0, ''Name'', value, ...)']);
end
own = {'Steps', 'Windows', 'Eps', 'Iterations', 'Adaptive', 'Method', 'Variant', 'Block', 'Guess'};
shared = {'Grid', 'Origin', 'Spacing', 'Parameters', 'Data', 'Define', 'Boundary', 'N'};
y0 = clinalg.operands.on_host(y0);
o = clinalg.operands.arguments('clinalg.waveform', varargin, {}, [own, shared]);
for name = shared
  described.(name{1}) = o.(lower(name{1}));
end
[system, data, n] = clinalg.equations(rhs, described);
if ~isempty(o.iterations) && ~isempty(o.eps)
  error('clinalg:argument:value', 'clinalg.waveform: the options `Iterations` and `Eps` exclude each other');
end
steps = [100 1 0 0 0];
numbers = {o.steps, o.windows, o.eps, o.iterations, o.adaptive};
label = {'Steps', 'Windows', 'Eps', 'Iterations', 'Adaptive'};
for k = 1 : 5
  value = numbers{k};
  if isempty(value), continue; end
  if ~(isnumeric(value) && isscalar(value) && isreal(value) && (k == 3 || (value >= 1 && value == fix(value))))
    error('clinalg:argument:value', 'clinalg.waveform: option `%s` is not %s', label{k}, expected(k));
  end
  if k == 3 && ~(value >= 0)
    error('clinalg:argument:value', 'clinalg.waveform: option `Eps` is not %s', expected(k));
  end
  steps(k) = double(value);
end
if numel(tspan) < 2
  error('clinalg:argument:shape', 'clinalg.waveform: argument 2 `tspan` has %d times, expected first and last', ...
    numel(tspan));
end
times = double([tspan(1), tspan(end)]);
[y, stats] = clinalg_mex('MexWaveform', 0, system, times, y0(:), steps, o.variant, o.block, o.guess, data, ...
  n, isa(y0, 'single'), o.method);
if nargout < 2 && sum(stats.steps) < steps(1)
  warning('clinalg:solve:notConverged', 'clinalg.waveform: Ctrl-C stopped it; y is the solution at t = %g', stats.t);
end
if ~isempty(y0), y = reshape(y, size(y0)); end
if isa(y0, 'single'), y = single(y); end
end

function words = expected(k)
words = 'a whole number from 1 on';
if k == 3, words = 'a number from 0 on'; end
end
