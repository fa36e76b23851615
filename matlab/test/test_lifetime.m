function tests = test_lifetime()
tests = {@clearing_keeps_objects, @clear_all_frees_arrays, @errors_in_the_middle, @arrays_anywhere, ...
  @deleting_twice, @arrays_of_an_ended_session, @exits};
end

function clearing_keeps_objects()
gpu = MexInitOpenCL();
h = MexMatrix(gpu, [1 2 3]);
evalin('base', 'clear functions');
evalin('base', 'clear mex');
check(MexSum(gpu, h) == 6);
MexReleaseMatrix(gpu, h);
end

function clear_all_frees_arrays()
clinalg.shutdown();
evalin('base', 'kept_by_test = clinalg.vector(ones(1e5, 1));');
memory = clinalg.memory();
check(memory.objects == 1 && memory.live_bytes == 8e5);
evalin('base', 'clear kept_by_test');
memory = clinalg.memory();
check(memory.objects == 0 && memory.live_bytes == 0);
evalin('base', 'kept_by_test = clinalg.vector(ones(1e5, 1));');
evalin('base', 'clear all');
memory = clinalg.memory();
check(memory.objects == 0);
end

function errors_in_the_middle()
before = clinalg.memory();
for k = 1 : 20
  try
    a = clinalg.vector(ones(10, 1));
    b = a + 2 * a;
    error('clinalg:test:stop', 'in the middle of %d', numel(b));
  catch problem
    check(strcmp(problem.identifier, 'clinalg:test:stop'), problem.message);
  end
  clear a b
end
try
  fails_with_arrays();
catch
end
after = clinalg.memory();
check(after.objects == before.objects && after.live_bytes == before.live_bytes);
end

function fails_with_arrays()
a = clinalg.vector(ones(10, 1));
b = a * 2;
c = b + clinalg.vector(ones(11, 1)); %#ok<NASGU>
end

function arrays_anywhere()
before = clinalg.memory();
a = clinalg.vector([1; 2]);
s.field = a;
c = {a, a + a};
f = @() norm(a);
b = a;
clear a
check(abs(f() - sqrt(5)) < 1e-15 && norm(s.field) == f() && norm(c{2}) == 2 * f() && b.h == s.field.h);
for k = 1 : 100
  b = 2 * b - b;
end
b = b + b + b + b; %#ok<NASGU>
clear b c f s
after = clinalg.memory();
check(after.objects == before.objects, '%d objects, %d before', after.objects, before.objects);
end

function deleting_twice()
a = clinalg.vector([1; 2]);
h = a.h;
delete(a);
check_error('clinalg:handle:stale', '', @() norm(a));
delete(a);
clear a
check(~MexRelease(0, h));
end

function arrays_of_an_ended_session()
a = clinalg.vector([1; 2]);
MexReleaseOpenCL(0);
check_error('clinalg:handle:stale', '', @() norm(a));
check_error('clinalg:handle:stale', '', @() a + a);
b = clinalg.vector([3; 4]);
clear a
check(norm(b) == 5);
end

function exits()
% A session of its own ends in each way that has crashed drivers: work in flight, arrays anywhere, objects left.
if ~exist('OCTAVE_VERSION', 'builtin')
  return
end
work = ['A = clinalg.matrix(rand(1500)); x = clinalg.vector(ones(1500, 1));', ...
  'for k = 1 : 30, x = A * x / 1500; end;'];
endings = {'exit', '', 'clear all', 'clear functions; exit', 'global g; g = A; exit', ...
  'h = MexMatrix(0, rand(1000)); MexVectorTimesConstant(0, h, 2); exit', 'keep(A); exit', ...
  'MexReleaseOpenCL(0); exit', 'clinalg.shutdown(); clear all', 'munlock clinalg_mex; clear functions', ...
  'munlock clinalg_mex; clear functions; y = clinalg.vector([1 2]); exit', 'error(''an error of the user'')', ...
  'x + clinalg.vector([1; 2])', 's.a = A; c = {A, x}; f = @() A * x; exit(0)'};
folders = sprintf('addpath(''%s''); ', fileparts(which('MexSum')), fileparts(which('clinalg_mex')), ...
  fileparts(mfilename('fullpath')));
octave = fullfile(OCTAVE_HOME(), 'bin', 'octave-cli');
for k = 1 : numel(endings)
  command = sprintf('%s -qf --no-history --eval "%s%s%s" 2>&1', octave, folders, work, endings{k});
  [status, words] = system(command);
  fails = ~isempty(strfind(endings{k}, 'error(')) || strncmp(endings{k}, 'x +', 3); %#ok<STREMP>
  check(status == fails, '%s: status %d: %s', endings{k}, status, words);
  if ~fails
    check(isempty(words), '%s: %s', endings{k}, words);
  end
end
end
