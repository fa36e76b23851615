function results = measure(sources)
%measure  Cost of a call and of uploads, beside what they cost at least.
%   results = measure(sources)
%
%   sources is the folder tests/mex of clinalg's sources, whose MEX functions that do nothing or copy only are
%   compiled with c++. What is compared takes turns. Calls are in microseconds, the least of 41 rounds of 5000, as other
%   programs only add; uploads are medians in milliseconds, beside copies to fresh memory and to memory used before.
%   For Octave on Linux.
folder = tempname();
mkdir(folder);
for name = {'nothing', 'copying'}
  command = sprintf('c++ -O2 -shared -fPIC -o %s %s', fullfile(folder, [name{1}, '.mex']), ...
    fullfile(sources, [name{1}, '.cpp']));
  [status, words] = system(command);
  check(status == 0, '%s: %s', command, words);
end
addpath(folder);

%% Calls without work on the device.
gpu = MexInitOpenCL();
h = MexMatrix(gpu, [1; 2]);
r = MexMatrix(gpu, 1);
MexReleaseMatrix(gpu, r);
N = 5000;
rounds = 41;
t = zeros(rounds, 8);
for k = 1 : rounds
  tic; for i = 1 : N, end, empty = toc;
  tic; for i = 1 : N, x = nothing(); end, t(k, 1) = toc - empty;
  tic; for i = 1 : N, x = MexInitOpenCL(); end, t(k, 2) = toc - empty;
  tic; for i = 1 : N, x = nothing(gpu, r); end, t(k, 3) = toc - empty;
  tic; for i = 1 : N, x = MexRelease(gpu, r); end, t(k, 4) = toc - empty;
  tic; for i = 1 : N, [x, y] = nothing(gpu, h); end, t(k, 5) = toc - empty;
  tic; for i = 1 : N, [x, y] = MexSize(gpu, h); end, t(k, 6) = toc - empty;
  tic; for i = 1 : N, x = nothing('MexRelease', gpu, r); end, t(k, 7) = toc - empty;
  tic; for i = 1 : N, x = clinalg_mex('MexRelease', gpu, r); end, t(k, 8) = toc - empty;
end
us = min(t) / N * 1e6;
fprintf('%-28s %8s %8s %6s\n', 'us per call', 'function', 'nothing', 'ratio');
names = {'MexInitOpenCL()', 'MexRelease(gpu, h)', '[m, n] = MexSize(gpu, h)', 'gateway itself'};
for k = 1 : 4
  fprintf('%-28s %8.2f %8.2f %6.2f\n', names{k}, us(2 * k), us(2 * k - 1), us(2 * k) / us(2 * k - 1));
end
results.calls = us;

%% Uploads.
x = rand(1e7, 1);
s = gallery('poisson', 1025);
u = sprand(1e6, 1e6, 5e-6);
arrays = {x, s, u};
names = {'full, 80 MB', '5-point matrix, 1025^2', 'random, 1e6 x 5 per row'};
fprintf('%-28s %8s %8s %6s %8s %6s\n', 'ms an upload', 'function', 'copy', 'ratio', 'to used', 'ratio');
for a = 1 : 3
  t = zeros(15, 3);
  for k = 1 : size(t, 1)
    tic; check(copying(arrays{a})); t(k, 1) = toc;
    tic; check(copying(arrays{a}, 1)); t(k, 2) = toc;
    tic; h = upload(gpu, arrays{a}); MexFinish(gpu); t(k, 3) = toc;
    MexRelease(gpu, h);
  end
  % The first copy finds no used memory.
  ms = median(t(2:end, :)) * 1e3;
  fprintf('%-28s %8.1f %8.1f %6.2f %8.1f %6.2f\n', names{a}, ms(3), ms(1), ms(3) / ms(1), ms(2), ms(3) / ms(2));
  results.uploads(a, :) = ms;
end
MexReleaseOpenCL(gpu);
rmpath(folder);
end
