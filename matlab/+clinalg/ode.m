function [t, y, te, ye, ie, stats] = ode(rhs, tspan, y0, varargin)
%clinalg.ode  Solve differential equations on the device, called like ode45.
%   [t, y] = clinalg.ode(rhs, tspan, y0, options)
%   [t, y] = clinalg.ode(rhs, tspan, y0, 'RelTol', 1e-6, ...)
%   [t, y, te, ye, ie, stats] = clinalg.ode(...)
%   sol = clinalg.ode(...)
%
%   Solves y' = f(t, y) from tspan(1) to tspan(end), backwards in time where the times decrease, as in [1 0.5 0]. With two times
%   the solution is returned at the end of every step, with more than two at these times; row k of y is the solution at t(k). te are the times of events, the rows of
%   ye the solutions there and ie the numbers of the events, stats counts steps and evaluations. sol has the fields x, y (a column for each time),
%   stats, xe, ye and ie; with two times clinalg.deval evaluates it anywhere between.
%
%   rhs gives the derivatives as formulas, from which kernels are generated:
%     a struct    field names are those of the unknowns, values the formulas of their derivatives
%     a cell      lines such as "x' = v", or a text with these lines
%     a name      of a test problem such as 'bruss2d-hairer', with options.N points along each axis; y0 = []
%                 takes its initial values
%   On a grid, u[-1,0] is u at the neighbour, sum(f) adds f over all points; u' inside it is u at the point that is summed over.
%   Powers group as in MATLAB: '2^3^2' is 64 (in files of the program clinalg it is 512). .* ./ .^ ~= mean * / ^ !=.
%   docs/guide/ode/reference.md describes formulas in full. y0 has all points of the first unknown, then those of the next; t and y are in
%   MATLAB's memory, also where y0 is a clinalg.array.
%
%   options is a struct, as odeset makes it, or name-value pairs; case does not matter, [] counts as not given:
%     RelTol, AbsTol        tolerances of a step (defaults 1e-3 and 1e-6), compared with the root mean square;
%                           AbsTol may be a vector with a tolerance for each number of y0
%     InitialStep, MaxStep  first and largest step
%     FixedStep             steps of this size instead of adaptive steps
%     MaxSteps              maximum number of steps (default 100000)
%     Refine                with two times: times in every step that the solution is given at (default 1, its end)
%     Events                a formula whose zeros are looked for, or a cell with a row for each event: formula,
%                           1 if it ends the integration there, direction (1 rising, -1 falling, 0 both) and
%                           grid subscripts of the point; all but the formula may be left out. All changes of sign are
%                           found, also several in a step; a zero at tspan(1) is none. Directions are along the integration
%     OutputFcn             a function or its name, called as by ode45: see([t0 tend], y0, 'init') at the beginning,
%                           stop = see(t, y, []) after every step, with a row of times and a column of y for each (only
%                           those asked for where tspan has more than two), see([], [], 'done') at the end; the
%                           integration stops where it gives true
%     OutputSel             the components that OutputFcn is given (default all)
%     Method                'dopri54' (default, the pair of ode45), 'bs32', 'verner65', 'dopri87', 'rk4', ...; 'rkc', stabilised steps of
%                           order 2 for diffusion and other problems with real negative eigenvalues
%     Variant               how it becomes kernels, 'auto' (default), 'fused', 'basic', ...
%     Grid                  points along each axis; Origin and Spacing of the grid
%     Parameters            a struct of numbers that the formulas read by name
%     Data                  a struct of arrays with a number for each point
%     Define                a struct of formulas that others read by name
%     Boundary              'periodic', 'mirror', 'copy', 'value f; g', or a cell such as {'x low value 0', 'y copy'}
%     N                     points along each axis of a test problem (default 64)
%   If y0 is of class single, the computation is in single precision.
%
%   Example:
%     rhs.x = 'v';
%     rhs.v = 'mu*(1 - x^2)*v - x';
%     [t, y] = clinalg.ode(rhs, [0 20], [2; 0], struct('Parameters', struct('mu', 1)));
%     y(end, :)
%
%   See also MexOde, clinalg.deval, clinalg.waveform, clinalg.equations, clinalg.wave.
if nargin < 3
  error('clinalg:argument:count', 'clinalg.ode: too few arguments; the call is clinalg.ode(rhs, tspan, y0, options)');
end
y0 = clinalg.operands.on_host(y0);
o = clinalg.operands.arguments('clinalg.ode', varargin, {}, {'RelTol', 'AbsTol', 'InitialStep', 'MaxStep', 'FixedStep', ...
  'MaxSteps', 'Method', 'Variant', 'Grid', 'Origin', 'Spacing', 'Parameters', 'Data', 'Define', 'Boundary', 'N', 'Events', ...
  'Refine', 'OutputFcn', 'OutputSel'});
for name = {'Grid', 'Origin', 'Spacing', 'Parameters', 'Data', 'Define', 'Boundary', 'N'}
  described.(name{1}) = o.(lower(name{1}));
end
[system, data, n] = clinalg.equations(rhs, described);
system = strjoin([{system}, event_lines(o.events)], char(10));
tol = [1e-3 1e-6];
if ~isempty(o.reltol), tol(1) = o.reltol; end
if ~isempty(o.abstol), tol = [tol(1), o.abstol(:).']; end
whole = nargout == 1 && numel(tspan) == 2;
if whole, o.refine = 4; end
steps = zeros(1, 5);
limits = {o.fixedstep, o.initialstep, o.maxstep, o.maxsteps, o.refine};
for k = 1 : 5
  if ~isempty(limits{k}), steps(k) = limits{k}; end
end
given = {system, double(tspan(:)), y0(:), tol, o.method, steps, o.variant, data, n, isa(y0, 'single')};
if isempty(o.outputfcn)
  [t, y, stats, te, ye, ie] = clinalg_mex('MexOde', 0, given{:});
else
  [t, y, stats, te, ye, ie] = watched(given, o);
end
if isa(y0, 'single')
  y = single(y);
  ye = single(ye);
end
if nargout == 1
  sol = struct('x', t.', 'y', y.', 'stats', stats, 'xe', te.', 'ye', ye.', 'ie', ie.', 'inside', []);
  if whole
    % Five points tell the polynomial of a step.
    sol.inside = sol.y;
    sol.x = sol.x(1 : 4 : end);
    sol.y = sol.y(:, 1 : 4 : end);
  end
  t = sol;
end
end

function [t, y, stats, te, ye, ie] = watched(given, o)
% Step by step, each shown to the output function.
see = o.outputfcn;
if ischar(see) || isa(see, 'string'), see = str2func(char(see)); end
if ~isa(see, 'function_handle')
  error('clinalg:argument:class', 'clinalg.ode: option `OutputFcn` is of class %s, expected a function', class(see));
end
[run, y0] = clinalg_mex('MexOdeBegin', 0, given{:});
kept = onCleanup(@() discard(run));
if isempty(o.outputsel)
  o.outputsel = 1 : numel(y0);
elseif ~isnumeric(o.outputsel) || ~all(ismember(o.outputsel(:), 1 : numel(y0)))
  error('clinalg:argument:value', 'clinalg.ode: option `OutputSel` is not a list of numbers from 1 to %d', numel(y0));
end
shown = @(y) y(:, o.outputsel).';
if given{end}, shown = @(y) single(y(:, o.outputsel)).'; end
% The first step tells what is wrong with the equations.
[t, y] = clinalg_mex('MexOdeNext', 0, run);
ended = isempty(t);
if ended
  [t, y, stats, te, ye, ie] = clinalg_mex('MexOdeEnd', 0, run);
end
see(given{2}([1 end]).', shown(y0.'), 'init');
if ~ended
  while ~isempty(t) && ~any(see(t.', shown(y), []))
    [t, y] = clinalg_mex('MexOdeNext', 0, run);
  end
  [t, y, stats, te, ye, ie] = clinalg_mex('MexOdeEnd', 0, run);
end
see([], [], 'done');
end

function discard(run)
try
  clinalg_mex('MexOdeEnd', 0, run);
catch
  % It has been ended.
end
end

function lines = event_lines(given)
lines = {};
if isempty(given), return; end
if isa(given, 'function_handle')
  error('clinalg:argument:value', ['clinalg.ode: option `Events` is a function handle, which runs on the CPU ' ...
    'only: give formulas, such as {''height'', 1, -1}']);
end
if ~iscell(given), given = {given}; end
if size(given, 2) > 4
  error('clinalg:argument:shape', 'clinalg.ode: option `Events` has %d columns, expected formula, terminal, direction, point', ...
    size(given, 2));
end
for k = 1 : size(given, 1)
  row = given(k, :);
  row(end + 1 : 4) = {[]};
  if ~(ischar(row{1}) || isa(row{1}, 'string'))
    error('clinalg:argument:class', 'clinalg.ode: option `Events` has a formula of class %s, expected text', class(row{1}));
  end
  line = 'event';
  if ~isempty(row{3}) && row{3} > 0, line = [line ' rising']; end
  if ~isempty(row{3}) && row{3} < 0, line = [line ' falling']; end
  if ~isempty(row{2}) && row{2} ~= 0, line = [line ' terminal']; end
  if ~isempty(row{4}), line = [line ' at' sprintf(' %d', row{4} - 1)]; end
  lines{end + 1} = [line ' = ' char(row{1})];
end
end
