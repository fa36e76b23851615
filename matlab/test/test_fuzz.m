function tests = test_fuzz()
tests = {@handles_at_random, @arrays_at_random, @expressions_at_random, @parts_at_random, @steps_without_a_leak};
end

function n = steps()
% CLINALG_FUZZ sets the number of calls.
n = str2double(getenv('CLINALG_FUZZ'));
if isnan(n)
  n = 5000;
end
end

function handles_at_random()
% Creation, use, release and use after release over all kinds; a list says what must come of each.
rand('state', 20120913); %#ok<RAND>
gpu = MexInitOpenCL();
MexReleaseOpenCL(gpu);
gpu = MexInitOpenCL();
makers = {@() MexMatrix(gpu, [1; 2]), @() MexMatrix(gpu, single([1; 2])), @() MexSparseMatrix(gpu, speye(2)), ...
  @() MexSparseMatrix(gpu, speye(2), 1), @() MexBandMatrix(gpu, eye(2), 0, 0)};
releasers = {'MexReleaseMatrix', 'MexReleaseMatrix', 'MexReleaseSparseMatrix', 'MexReleaseSparseMatrix', ...
  'MexReleaseBandMatrix'};
handles = zeros(1, 0, 'uint64');
kinds = [];
live = logical([]);
for k = 1 : steps()
  if numel(handles) < 3 || (numel(handles) < 100 && rand() < 0.2)
    kind = ceil(5 * rand());
    handles(end + 1) = makers{kind}(); %#ok<AGROW>
    kinds(end + 1) = kind; %#ok<AGROW>
    live(end + 1) = true; %#ok<AGROW>
    continue
  end
  at = ceil(numel(handles) * rand());
  h = handles(at);
  try
    switch ceil(6 * rand())
      case 1
        MexNorm2(gpu, h);
        ok = live(at);
      case 2
        ok = false;
        feval(releasers{ceil(5 * rand())}, gpu, h);
        ok = live(at);
        live(at) = false;
      case 3
        other = ceil(numel(handles) * rand());
        y = MexMultiply(gpu, h, handles(other));
        ok = live(at) && live(other) && kinds(at) > 2 && kinds(other) <= 2;
        MexReleaseMatrix(gpu, y);
      case 4
        y = MexCopy(gpu, h);
        ok = live(at);
        MexRelease(gpu, y);
      case 5
        MexVectorTimesConstant(gpu, h, -1, h);
        ok = live(at);
      otherwise
        % From a released handle this may make that of a later object in its place.
        forged = bitxor(h, bitshift(uint64(1), 24 + floor(38 * rand())));
        MexHandleMatrix(gpu, forged);
        ok = any(handles(live) == forged);
    end
    check(ok, 'step %d should have been an error', k);
  catch problem
    check(strncmp(problem.identifier, 'clinalg:handle', 14) || strncmp(problem.identifier, 'clinalg:argument', 16), ...
      '[%s] %s', problem.identifier, problem.message);
  end
  if ~live(at) && rand() < 0.3
    handles(at) = [];
    kinds(at) = [];
    live(at) = [];
  end
end
arrayfun(@(h) MexRelease(gpu, h), handles);
memory = MexMemory(gpu);
check(memory.objects == 0 && memory.live_bytes == 0, '%d objects, %d bytes', memory.objects, memory.live_bytes);
end

function arrays_at_random()
rand('state', 1); %#ok<RAND>
before = clinalg.memory();
arrays = {clinalg.vector(rand(5, 1)), clinalg.matrix(rand(5)), clinalg.matrix(speye(5))};
for k = 1 : ceil(steps() / 10)
  a = arrays{ceil(numel(arrays) * rand())};
  b = arrays{ceil(numel(arrays) * rand())};
  try
    switch ceil(6 * rand())
      case 1
        c = a * b;
      case 2
        c = a + b;
      case 3
        c = a' * b;
      case 4
        c = 0.5 * a;
      case 5
        c = copy(b);
      otherwise
        c = single(a);
    end
    if isa(c, 'clinalg.array')
      arrays{min(20, numel(arrays) + 1)} = c;
    end
  catch problem
    check(strncmp(problem.identifier, 'clinalg:', 8), '[%s] %s', problem.identifier, problem.message);
  end
end
clear arrays a b c
after = clinalg.memory();
check(after.objects == before.objects && after.live_bytes == before.live_bytes);
end

function expressions_at_random()
% Operations element by element, which wait, between assignments and reads: as with MATLAB's own arrays, to the last bit.
rand('state', 7); %#ok<RAND>
before = clinalg.memory();
two = {@plus, @minus, @times, @max, @min, @(a, b) a + 0.5 .* b, @(a, b) abs(a) - b, @(a, b) floor(a) + sign(b), @(a, b) sqrt(a .* a) - b};
class_of = {@double, @single};
for kind = 1 : 2
  own = arrayfun(@(k) {class_of{kind}(ceil(10 * rand(12, 3)))}, 1 : 6);
  device = cellfun(@(a) {clinalg.matrix(a)}, own);
  for k = 1 : ceil(steps() / 10)
    i = ceil(6 * rand());
    j = ceil(6 * rand());
    to = ceil(6 * rand());
    switch ceil(8 * rand())
      case {1, 2, 3, 4}
        f = two{ceil(numel(two) * rand())};
        own{to} = f(own{i}, own{j});
        device{to} = f(device{i}, device{j});
      case 5
        own{to} = own{i} + own{j}(:, 2);
        device{to} = device{i} + device{j}(:, 2);
      case 6
        at = ceil(36 * rand());
        own{i}(at) = k;
        device{i}(at) = k;
      case 7
        own{to} = own{i};
        device{to} = device{i};
      otherwise
        check(isequal(gather(device{i}), own{i}), 'step %d', k);
    end
    if ~all(isfinite(own{to}(:))) || max(abs(own{to}(:))) > 1e6
      own{to} = class_of{kind}(ceil(10 * rand(12, 3)));
      device{to} = clinalg.matrix(own{to});
    end
  end
  for i = 1 : 6
    check(isequal(gather(device{i}), own{i}), 'array %d at the end', i);
  end
end
clear own device
after = clinalg.memory();
check(after.objects == before.objects && after.live_bytes == before.live_bytes, '%d objects are left', after.objects - before.objects);
end

function parts_at_random()
% Parts, assignments, deletion and joins by subscripts of all kinds between operations that wait: as with MATLAB's own arrays, to the last bit, and
% an error where those have one.
rand('state', 11); %#ok<RAND>
before = clinalg.memory();
count = 5;
own = arrayfun(@(k) {ceil(10 * rand(4, 5))}, 1 : count);
device = cellfun(@(a) {clinalg.matrix(a)}, own);
for k = 1 : ceil(steps() / 10)
  i = ceil(count * rand());
  to = ceil(count * rand());
  [m, n] = size(own{i});
  one = {subscript(m * n)};
  two = {subscript(m), subscript(n)};
  subs = one;
  if rand() < 0.6, subs = two; end
  value = ceil(10 * rand());
  switch ceil(8 * rand())
    case {1, 2}
      f = @(a) a(subs{:});
    case 3
      f = @(a) put(a, subs, value);
    case 4
      part = [];
      try, part = own{i}(subs{:}); catch, end
      % An empty variable deletes on the device: Octave does not tell a class that it is not [] as written.
      if isempty(part), part = 0; end
      f = @(a) put(a, subs, part + value);
    case 5
      f = @(a) removed(a, subs);
    case 6
      f = @(a) [a, a(:, 1)];
    case 7
      f = @(a) [a; a(1, :)];
    otherwise
      f = @(a) a .* 2 - a(1);
  end
  [expected, problem] = tried(f, own{i});
  [got, fault] = tried(f, device{i});
  check(isempty(problem) == isempty(fault), 'step %d: own: %s; device: %s', k, problem, fault);
  if ~isempty(problem) || ~isempty(fault), continue, end
  check(isequal(gather(got), expected) && isequal(size(got), size(expected)), 'step %d', k);
  if isa(got, 'clinalg.array') && all(size(expected) > 1) && numel(expected) < 100 && max(abs(expected(:))) < 1e6
    own{to} = expected;
    device{to} = got;
  elseif rand() < 0.1
    own{to} = ceil(10 * rand(4, 5));
    device{to} = clinalg.matrix(own{to});
  end
end
clear device got f
after = clinalg.memory();
check(after.objects == before.objects && after.live_bytes == before.live_bytes, '%d objects are left', after.objects - before.objects);
end

function steps_without_a_leak()
% CLINALG_FUZZ sets the number; random_steps(1e6) is the long run.
count = steps() / 10;
if ~isempty(getenv('CLINALG_TEST_THOROUGH'))
  count = 4 * count;
end
result = random_steps(ceil(count)); %#ok<NASGU>
end

function [result, problem] = tried(f, a)
result = [];
problem = '';
try
  result = f(a);
catch e
  problem = e.message;
  if isempty(problem), problem = 'an error'; end
end
end

function a = put(a, subs, value)
a(subs{:}) = value;
end

function a = removed(a, subs)
a(subs{:}) = [];
end

function s = subscript(length)
% A subscript of one of all kinds, now and then beyond the end.
switch ceil(7 * rand())
  case 1
    s = ':';
  case 2
    s = ceil(length * rand());
  case 3
    s = 1 : ceil(length * rand());
  case 4
    s = length : -1 : max(1, length - 2);
  case 5
    s = rand(1, length) > 0.5;
  case 6
    s = ceil(length * rand(1, ceil(3 * rand())));
  otherwise
    s = ceil((length + 0.3) * rand(2, 1));
end
end
