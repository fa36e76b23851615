function [t, y, stats] = ode(rhs, tspan, y0, options)
%clinalg.ode  Solve differential equations on the device, in the manner of ode45.
%   [t, y, stats] = clinalg.ode(rhs, tspan, y0, options)
%   sol = clinalg.ode(...)
%
%   Solves y' = f(t, y) from tspan(1) to tspan(end). With two times the solution is given at the end of every
%   step, with more at these times; row k of y is the solution at t(k). sol has the fields x, y (a column for
%   each time) and stats.
%
%   rhs says what the derivatives are by formulas, which become kernels of the device:
%     a struct    field names are those of the unknowns, values the formulas of their derivatives
%     a cell      lines such as "x' = v", or a text with these lines
%     a name      of a test problem such as 'bruss2d-hairer', with options.N points along each axis; y0 = []
%                 takes its initial values
%   On a grid, u[-1,0] is u at the neighbour, sum(f) adds f over all points, u' in it is u at the point added.
%   docs/guide/ode.md has all of it. y0 has all points of the first unknown, then those of the next.
%
%   options is a struct, as odeset makes it; upper and lower case are the same, [] is as good as nothing:
%     RelTol, AbsTol        tolerances of a step (defaults 1e-3 and 1e-6), compared with the root mean square
%     InitialStep, MaxStep  first and largest step
%     FixedStep             steps of this size instead of such that follow the error
%     MaxSteps              most steps (default 100000)
%     Method                'dopri54' (default, the pair of ode45), 'bs32', 'verner65', 'dopri87', 'rk4', ...
%     Variant               how it becomes kernels, 'auto' (default), 'fused', 'basic', ...
%     Grid                  points along each axis; Origin and Spacing of the grid
%     Parameters            a struct of numbers that the formulas read by name
%     Data                  a struct of arrays with a number for each point
%     Define                a struct of formulas that others read by name
%     Boundary              'periodic', 'mirror', 'copy', 'value f; g', or a cell such as {'x low value 0', 'y copy'}
%     N                     points along each axis of a test problem (default 64)
%   A y0 of class single is computed with in single precision.
%
%   Example:
%     rhs.x = 'v';
%     rhs.v = 'mu*(1 - x^2)*v - x';
%     [t, y] = clinalg.ode(rhs, [0 20], [2; 0], struct('Parameters', struct('mu', 1)));
%     y(end, :)
%
%   See also MexOde, clinalg.wave.
if nargin < 3
  error('clinalg:argument:count', 'clinalg.ode: too few arguments; the call is clinalg.ode(rhs, tspan, y0, options)');
end
if nargin < 4, options = struct(); end
o = read_options(options);
lines = {};
if ~isempty(o.grid)
  lines{end + 1} = ['grid' sprintf(' %d', o.grid)];
end
lines = [lines, numbers('origin', o.origin), numbers('spacing', o.spacing)];
for name = names(o.parameters)
  lines{end + 1} = sprintf('parameter %s = %.17g', name{1}, o.parameters.(name{1}));
end
data = [];
for name = names(o.data)
  lines{end + 1} = ['data ' name{1}];
  data = [data, double(o.data.(name{1})(:))];
end
for name = names(o.define)
  lines{end + 1} = ['define ' name{1} ' = ' char(o.define.(name{1}))];
end
if isstruct(rhs)
  for name = names(rhs)
    lines{end + 1} = [name{1} ''' = ' char(rhs.(name{1}))];
  end
elseif iscell(rhs)
  for k = 1 : numel(rhs)
    lines{end + 1} = char(rhs{k});
  end
elseif isa(rhs, 'function_handle')
  error('clinalg:argument:class', ['clinalg.ode: argument 1 `rhs` is a function handle, which runs on the ' ...
    'processor only: give formulas, such as struct(''x'', ''-x'')']);
else
  lines{end + 1} = char(rhs);
end
boundary = o.boundary;
if ~iscell(boundary)
  boundary = {boundary};
end
for k = 1 : numel(boundary)
  if ~isempty(boundary{k})
    lines{end + 1} = ['boundary ' char(boundary{k})];
  end
end
n = [];
system = strjoin(lines, char(10));
if ~any(system == '=')
  n = o.n;
  if isempty(n), n = 64; end
end
tol = [1e-3 1e-6];
if ~isempty(o.reltol), tol(1) = o.reltol; end
if ~isempty(o.abstol), tol(2) = o.abstol; end
steps = zeros(1, 4);
limits = {o.fixedstep, o.initialstep, o.maxstep, o.maxsteps};
for k = 1 : 4
  if ~isempty(limits{k}), steps(k) = limits{k}; end
end
[t, y, stats] = clinalg_mex('MexOde', 0, system, double(tspan(:)), y0(:), tol, text(o.method), steps, ...
  text(o.variant), data, n, isa(y0, 'single'));
if isa(y0, 'single')
  y = single(y);
end
if nargout == 1
  t = struct('x', t.', 'y', y.', 'stats', stats);
end
end

function o = read_options(given)
known = {'RelTol', 'AbsTol', 'InitialStep', 'MaxStep', 'FixedStep', 'MaxSteps', 'Method', 'Variant', 'Grid', ...
  'Origin', 'Spacing', 'Parameters', 'Data', 'Define', 'Boundary', 'N'};
for k = 1 : numel(known)
  o.(lower(known{k})) = [];
end
if isempty(given), given = struct(); end
if ~isstruct(given)
  error('clinalg:argument:class', 'clinalg.ode: argument 4 `options` is of class %s, expected a struct', class(given));
end
for name = names(given)
  value = given.(name{1});
  if isempty(value)
    continue
  end
  if ~isfield(o, lower(name{1}))
    error('clinalg:argument:value', 'clinalg.ode: option `%s` is not known, expected one of %s', name{1}, ...
      strjoin(known, ', '));
  end
  o.(lower(name{1})) = value;
end
end

function all = names(s)
all = {};
if isstruct(s), all = fieldnames(s).'; end
end

function line = numbers(word, values)
line = {};
if ~isempty(values), line = {[word sprintf(' %.17g', values)]}; end
end

function value = text(value)
if isa(value, 'string'), value = char(value); end
end
