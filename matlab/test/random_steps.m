function result = random_steps(count, seed)
%random_steps  Random steps with arrays of the device: indexing, assignment, deletion, joins, expressions, sums.
%   result = random_steps(count, seed)
%
%   Each step is done with MATLAB's own arrays as well; what is read is compared to the last bit, all arrays at the end. An error where a
%   value differs, where objects or device memory are left, or where the memory of the process grows with the number of steps. result has
%   the fields steps, seconds, and before and after, the objects and bytes on the device and the resident memory of the process in bytes
%   (NaN where the system has no /proc).
%
%   Example, for a million steps:
%     random_steps(1e6)
if nargin < 2, seed = 1; end
rand('state', seed); %#ok<RAND>
% What is built and kept once is not counted.
some(ceil(count / 100) + 200);
result.steps = count;
result.before = state_now();
start = tic();
some(count);
result.seconds = toc(start);
result.after = state_now();
check(result.after.objects == result.before.objects && result.after.device == result.before.device, '%d objects and %d bytes are left', ...
  result.after.objects - result.before.objects, result.after.device - result.before.device);
% In a million steps a leak of 16 bytes a step shows; short runs find coarse leaks only.
grown = result.after.resident - result.before.resident;
check(isnan(grown) || grown <= 8e6 + 8 * count, 'the process has grown by %g bytes in %d steps', grown, count);
if nargout == 0
  fprintf('%d steps in %.0f s, %.0f us each\n', count, result.seconds, result.seconds / count * 1e6);
  fprintf('objects %d -> %d, device %d -> %d bytes, process %.1f -> %.1f MB\n', result.before.objects, result.after.objects, ...
    result.before.device, result.after.device, result.before.resident / 1e6, result.after.resident / 1e6);
  clear result
end
end

function s = state_now()
memory = clinalg.memory();
s = struct('objects', double(memory.objects), 'device', double(memory.live_bytes), 'resident', NaN);
if exist('/proc/self/statm', 'file')
  pages = sscanf(fileread('/proc/self/statm'), '%f');
  s.resident = pages(2) * 4096;
end
end

function some(count)
arrays = 6;
classes = {@double, @single};
own = cell(1, arrays);
device = cell(1, arrays);
for k = 1 : arrays
  [own{k}, device{k}] = fresh(classes{1 + mod(k, 2)});
end
for k = 1 : count
  i = ceil(arrays * rand());
  % Both of one class.
  j = 1 + mod(i + 2 * ceil(3 * rand()) - 1, arrays);
  [m, n] = size(own{i});
  at = ceil(m * n * rand());
  [r, c] = deal(ceil(m * rand()), ceil(n * rand()));
  value = ceil(10 * rand());
  switch ceil(16 * rand())
    case 1
      same(own{i}(at), device{i}(at), k);
    case 2
      same(own{i}(r, c), device{i}(r, c), k);
    case 3
      same(own{i}(r, :), device{i}(r, :), k);
    case 4
      same(own{i}(:, c), device{i}(:, c), k);
    case 5
      same(own{i}(end : -1 : r, [c 1]), device{i}(end : -1 : r, [c 1]), k);
    case 6
      mask = rand(m, n) > 0.5;
      same(own{i}(mask), device{i}(mask), k);
    case 7
      own{i}(at) = value;
      device{i}(at) = value;
    case 8
      own{i}(r, c) = value;
      device{i}(r, c) = value;
    case 9
      own{i}(:, c) = own{i}(:, 1);
      device{i}(:, c) = device{i}(:, 1);
    case 10
      own{i}(r, :) = 1 : n;
      device{i}(r, :) = 1 : n;
    case 11
      own{i}(1 : at) = value;
      device{i}(1 : at) = value;
    case 12
      if m * n > 30
        own{i}(:, c) = [];
        device{i}(:, c) = [];
      else
        own{i} = [own{i}, own{i}(:, c)];
        device{i} = [device{i}, device{i}(:, c)];
      end
    case 13
      if isequal(size(own{i}), size(own{j}))
        own{i} = abs(own{i} - 0.5 .* own{j});
        device{i} = abs(device{i} - 0.5 .* device{j});
      else
        own{i} = own{i} .* 2 - own{i}(:, 1);
        device{i} = device{i} .* 2 - device{i}(:, 1);
      end
    case 14
      own{j} = own{i};
      device{j} = device{i};
    case 15
      same(max(own{i}, [], 1), max(device{i}, [], 1), k);
    otherwise
      same(own{i}, gather(device{i}), k);
  end
  if numel(own{i}) < 8 || numel(own{i}) > 60 || ~all(abs(own{i}(:)) < 1e5)
    [own{i}, device{i}] = fresh(classes{1 + mod(i, 2)});
  end
end
for k = 1 : arrays
  same(own{k}, device{k}, count);
end
end

function [own, device] = fresh(as)
own = as(ceil(10 * rand(6, 5)));
device = clinalg.matrix(own);
end

function same(expected, got, step)
if isa(got, 'clinalg.array'), got = gather(got); end
check(isequal(got, expected) && isequal(size(got), size(expected)) && isa(got, class(expected)), 'step %d', step);
end
