function [system, data, n] = equations(rhs, options)
%clinalg.equations  The text of differential equations, for MexOde and MexWaveform.
%   [system, data, n] = clinalg.equations(rhs, options)
%
%   system, data and n are the arguments with these names of MexOde and MexWaveform for the right-hand side rhs, as
%   clinalg.ode and clinalg.waveform accept it: a struct of formulas, a cell of lines, a text, or the name of a test problem.
%   options is a struct with any of these fields, in upper or lower case; [] counts as not given:
%     Grid                  points along each axis; Origin and Spacing of the grid
%     Parameters            a struct of numbers that the formulas read by name
%     Data                  a struct of arrays with a number for each point
%     Define                a struct of formulas that others read by name
%     Boundary              'periodic', 'mirror', 'copy', 'value f; g', or a cell such as {'x low value 0', 'y copy'}
%     N                     points along each axis of a test problem (default 64)
%
%   Example:
%     system = clinalg.equations(struct('u', '-k*u'), struct('Parameters', struct('k', 2)));
%     [t, y] = MexOde(MexInitOpenCL(), system, [0 1], 1);
%     y(end)
%
%   See also clinalg.ode, clinalg.waveform, MexOde, MexWaveform.
if nargin < 1
  error('clinalg:argument:count', ['clinalg.equations: too few arguments; the call is ' ...
    'clinalg.equations(rhs, options)']);
end
if nargin < 2 || isempty(options), options = struct(); end
if ~isstruct(options)
  error('clinalg:argument:class', 'clinalg.equations: argument 2 `options` is of class %s, expected a struct', ...
    class(options));
end
known = {'Grid', 'Origin', 'Spacing', 'Parameters', 'Data', 'Define', 'Boundary', 'N'};
for k = 1 : numel(known)
  o.(lower(known{k})) = [];
end
for name = names(options)
  if ~isfield(o, lower(name{1}))
    error('clinalg:argument:value', 'clinalg.equations: option `%s` is not known, expected one of %s', name{1}, ...
      strjoin(known, ', '));
  end
  o.(lower(name{1})) = options.(name{1});
end
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
  error('clinalg:argument:class', ['clinalg: argument 1 `rhs` is a function handle, which runs on the ' ...
    'CPU only: give formulas, such as struct(''x'', ''-x'')']);
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
end

function all = names(s)
all = {};
if isstruct(s), all = fieldnames(s).'; end
end

function line = numbers(word, values)
line = {};
if ~isempty(values), line = {[word sprintf(' %.17g', values)]}; end
end
