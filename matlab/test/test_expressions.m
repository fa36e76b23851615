function tests = test_expressions()
% Expressions on arrays of the device against the same ones on MATLAB's own: expressions.txt says which.
tests = {@in_double, @in_complex};
if ~isempty(getenv('CLINALG_TEST_THOROUGH')) || ~isempty(getenv('CLINALG_TEST_LONG'))
  tests = [tests, {@in_single, @in_complex_single}];
end
end

function in_double()
compare(@double, 0);
end

function in_single()
compare(@single, 0);
end

function in_complex()
compare(@double, 1);
end

function in_complex_single()
compare(@single, 1);
end

function compare(as, is_complex)
[own, device] = variables(as, is_complex);
lines = strsplit(fileread(fullfile(fileparts(mfilename('fullpath')), 'expressions.txt')), char(10), 'CollapseDelimiters', false);
wrong = {};
state = warning();
restored = onCleanup(@() warning(state));
warning('off', 'all');
for k = 1 : numel(lines)
  line = strtrim(lines{k});
  if isempty(line) || line(1) == '%'
    continue
  end
  [line, exact, real_only, double_only, stays_complex, id] = marks(line);
  if (real_only && is_complex) || (double_only && isa(own.x, 'single'))
    continue
  end
  words = difference(line, own, device, exact, stays_complex && is_complex, id, eps(as(1)));
  if ~isempty(words)
    wrong{end + 1} = sprintf('line %d: %s: %s', k, line, words);
  end
end
% No expression has changed an array.
for name = fieldnames(own).'
  check(isempty(unlike(device.(name{1}), own.(name{1}), true, 0, false)), 'an expression changed %s', name{1});
end
if ~isempty(wrong)
  fprintf('%s\n', wrong{:});
  error('clinalg:test:check', '%d expressions differ', numel(wrong));
end
end

function [line, exact, real_only, double_only, stays_complex, id] = marks(line)
% What stands before the expression: ~ for a rounding error, 'real:', 'double:', ^ for a result that stays complex, and '!id' for the error of the
% device.
exact = true;
real_only = false;
double_only = false;
stays_complex = false;
id = '';
while true
  if line(1) == '~' && line(2) == ' '
    exact = false;
    line = strtrim(line(2 : end));
  elseif line(1) == '^' && line(2) == ' '
    stays_complex = true;
    line = strtrim(line(2 : end));
  elseif strncmp(line, 'real: ', 6)
    real_only = true;
    line = strtrim(line(6 : end));
  elseif strncmp(line, 'double: ', 8)
    double_only = true;
    line = strtrim(line(8 : end));
  elseif strncmp(line, '!clinalg:', 9) || strncmp(line, '!error ', 7)
    [id, line] = strtok(line(2 : end));
    line = strtrim(line);
  else
    return
  end
end
end

function words = difference(line, own, device, exact, stays_complex, id, precision)
% What is wrong, or nothing.
words = '';
[expected, host_problem] = value_of(line, own);
[got, problem] = value_of(line, device);
if ~isempty(id)
  if isempty(problem)
    words = ['no error, expected ', id];
  elseif ~strcmp(problem.identifier, id) && ~strcmp(id, 'error')
    words = sprintf('[%s] %s, expected %s', problem.identifier, problem.message, id);
  end
elseif ~isempty(host_problem)
  if isempty(problem)
    words = ['no error, MATLAB has: ', host_problem.message];
  end
elseif ~isempty(problem)
  words = sprintf('error [%s] %s', problem.identifier, problem.message);
else
  words = unlike(got, expected, exact, precision, stays_complex);
end
end

function [result, problem] = value_of(line, v)
% The last expression of a line, after '->' where statements stand before.
problem = [];
result = [];
for name = fieldnames(v).'
  eval([name{1}, ' = v.(name{1});']);
end
statements = '';
at = strfind(line, '->');
if ~isempty(at)
  statements = line(1 : at(1) - 1);
  line = line(at(1) + 2 : end);
end
try
  eval(statements);
  result = eval(line);
catch problem
end
end

function words = unlike(got, expected, exact, precision, stays_complex)
words = '';
is_complex = isnumeric(got) && iscomplex(got);
if isa(got, 'clinalg.array')
  if ~strcmp(underlyingType(got), class(expected)) && ~issparse(got)
    words = sprintf('is of class %s, expected %s', underlyingType(got), class(expected));
    return
  end
  got = gather(got);
end
if iscell(expected)
  if ~iscell(got) || numel(got) ~= numel(expected)
    words = 'is another cell';
    return
  end
  for k = 1 : numel(expected)
    words = unlike(got{k}, expected{k}, exact, precision, stays_complex);
    if ~isempty(words), return, end
  end
elseif ~strcmp(class(got), class(expected))
  words = sprintf('is of class %s, expected %s', class(got), class(expected));
elseif ~isequal(size(got), size(expected))
  words = sprintf('is %s, expected %s', mat2str(size(got)), mat2str(size(expected)));
elseif isnumeric(expected) && issparse(got) ~= issparse(expected)
  words = 'is sparse, or should be';
elseif isnumeric(expected) && is_complex ~= (iscomplex(expected) || stays_complex) && (exact || ~rounded(got, expected, precision))
  words = sprintf('is complex: %d, expected %d', is_complex, iscomplex(expected) || stays_complex);
elseif stays_complex && iscomplex(expected)
  words = 'need not be marked ^';
elseif ~isnumeric(expected)
  if ~isequal(got, expected), words = 'differs'; end
else
  got = full(got(:));
  expected = full(expected(:));
  same = (got == expected) | (isnan(got) & isnan(expected));
  scale = max([abs(expected(isfinite(expected))); 0]);
  if exact && ~all(same)
    words = sprintf('%s, expected %s', mat2str(got(find(~same, 1))), mat2str(expected(find(~same, 1))));
  elseif ~exact && ~all(abs(got(~same) - expected(~same)) <= 200 * precision * scale)
    words = sprintf('differs by %g relative to %g', max(abs(got(~same) - expected(~same))), scale);
  end
end
end

function t = rounded(got, expected, precision)
% Whether all imaginary parts are rounding errors.
numbers = [double(full(got(:))); double(full(expected(:)))];
t = all(abs(imag(numbers)) <= 200 * precision * max([abs(numbers(isfinite(numbers))); 0]));
end

function [own, device] = variables(as, is_complex)
z = is_complex * 1i;
own.x = as([3; -1; 4; 1; -5] + z * [1; 2; 0; -1; 3]);
own.y = as([2; 7; -1; 8; 2.5] + z * [0; 1; -2; 3; 1]);
own.r = as([1 -2 3 -4] + z * [2 1 0 -1]);
own.A = as([4 1 -2 0.5; 1 5 0 -1; -2 0 6 2; 0.5 -1 2 7] + z * [0 1 -2 3; -1 0 4 1; 2 -4 0 2; -3 -1 -2 0]);
own.B = as([1 2 3; 4 5 6; 7 8 10; -1 0 2] + z * [1 0 2; 0 -1 1; 3 2 1; 0 0 1]);
own.C = as([0 1 1; 2 0 0; 0 0 3] + z * [0 1 0; 2 0 0; 0 0 -1]);
own.D = reshape(as(1 : 24), 2, 3, 4) + as(z);
own.E = zeros(0, 3, class(as(1)));
own.k = as(2.5);
own.q = as([0.5; 0.25; -0.75; 0.125; 1]);
own.m = as([5 NaN 2 Inf -Inf 0]);
own.w = as([-0 0 1 -1]);
own.u = as(2);
for name = fieldnames(own).'
  value = own.(name{1});
  if ndims(value) > 2
    device.(name{1}) = reshape(clinalg.matrix(reshape(value, size(value, 1), [])), size(value));
  elseif strcmp(name{1}, 'k')
    device.k = value;
  else
    device.(name{1}) = clinalg.matrix(value);
  end
end
own.S = sparse([1 2 3 4 2 1], [1 2 3 4 1 4], [4 5 6 7 -1 2] + z * [0 1 2 0 1 1], 4, 4);
own.T = sparse([1 2 4 3], [1 3 2 4], [1 2 3 4] - z, 4, 4);
device.S = clinalg.matrix(own.S);
device.T = clinalg.matrix(own.T);
end
