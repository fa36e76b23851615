function tests = test_wave()
tests = {@standing_waves, @standing_waves_on_boxes, @absorbing_sides, @velocities_and_energy, @speeds_and_restart, ...
  @the_limit, @forms_agree, @squares_move_as_boxes, @the_object, @boxes_as_objects, @bad_waves, @bad_boxes};
end

function u = mode(n, k, l)
[x, y] = meshgrid(linspace(0, 1, n));
u = sin(k * pi * y) .* sin(l * pi * x);
u([1 end], :) = 0;
u(:, [1 end]) = 0;
end

function standing_waves()
% sin(w dt / 2) = r sqrt(sin^2 + sin^2) for the explicit scheme, tan for the implicit one.
gpu = MexInitOpenCL();
n = 65;
h = 1 / (n - 1);
for type = {'double', 'single'}
  single_ = strcmp(type{1}, 'single');
  for scheme = {'explicit', 'implicit'}
    wave = MexWave(gpu, n, 0.6 * h, [], scheme{1}, single_);
    flag = MexWaveStart(gpu, wave, MexMatrix(gpu, cast(mode(n, 2, 1), type{1})));
    [t, stepped, cycles] = MexWaveStep(gpu, wave, 40);
    check(flag == 0 && stepped == 0 && abs(t - 24 * h) < 1e-12 && (cycles > 0) == strcmp(scheme{1}, 'implicit'));
    root = 0.6 * sqrt(sin(pi * h) ^ 2 + sin(pi * h / 2) ^ 2);
    if strcmp(scheme{1}, 'explicit'), angle = 2 * asin(root); else, angle = 2 * atan(root); end
    u = MexHandleMatrix(gpu, MexWaveDisplacement(gpu, wave));
    check(isa(u, type{1}));
    tolerance = 1e-8;
    if single_, tolerance = 1e-3; end
    check_close(u, cast(mode(n, 2, 1) * cos(40 * angle), type{1}), tolerance);
    check(MexRelease(gpu, wave) && ~MexRelease(gpu, wave));
  end
end
end

function standing_waves_on_boxes()
% Leapfrog takes the mode cos(k pi x / L) cos(l pi y) of free sides through cos(step * angle) with
% sin(angle / 2) = c dt sqrt(sum of sin^2(.) / h^2).
gpu = MexInitOpenCL();
n = [41 25];
[x, y] = ndgrid(linspace(0, 2, n(1)), linspace(0, 1, n(2)));
u = cos(2 * pi * x / 2) .* cos(pi * y);
h = [2, 1] ./ (n - 1);
c = 1.5;
dt = 0.7 * MexWaveLimit(gpu, n, c, [2 1], zeros(2));
check(abs(dt / (0.7 / (c * sqrt(sum(h .^ -2)))) - 1) < 1e-14);
angle = 2 * asin(c * dt * sqrt((sin(pi * h(1) / 2) / h(1)) ^ 2 + (sin(pi * h(2) / 2) / h(2)) ^ 2));
types = {'double'};
if ~isempty(getenv('CLINALG_TEST_THOROUGH')), types = {'double', 'single'}; end
for type = types
  wave = MexWave(gpu, n, dt, c, [], strcmp(type{1}, 'single'), [], [], [2 1], zeros(2));
  MexWaveStart(gpu, wave, MexMatrix(gpu, cast(u, type{1})));
  [t, flag] = MexWaveStep(gpu, wave, 50);
  check(flag == 0 && abs(t - 50 * dt) < 1e-12);
  got = MexHandleMatrix(gpu, MexWaveDisplacement(gpu, wave));
  check(isa(got, type{1}));
  tolerance = 1e-10;
  if strcmp(type{1}, 'single'), tolerance = 1e-3; end
  check_close(double(got), u * cos(50 * angle), tolerance);
  check(MexRelease(gpu, wave) && ~MexRelease(gpu, wave));
end
% Three dimensions, periodic: an exact mode of the grid.
n = [12 9 7];
[x, ~, z] = ndgrid((0 : n(1) - 1) / n(1), (0 : n(2) - 1) / n(2), (0 : n(3) - 1) / n(3));
u = cos(2 * pi * (x + z));
wave = MexWave(gpu, n, 0.05, [], [], [], [], [], [], NaN(2, 3));
MexWaveStart(gpu, wave, MexMatrix(gpu, u(:)));
MexWaveStep(gpu, wave, 20);
angle = 2 * asin(0.05 * sqrt((sin(pi / n(1)) * n(1)) ^ 2 + (sin(pi / n(3)) * n(3)) ^ 2));
check_close(MexHandleMatrix(gpu, MexWaveDisplacement(gpu, wave)), reshape(u, n(1), []) * cos(20 * angle), 1e-10);
info = MexInfo(gpu, wave);
check(info.rows == n(1) && info.cols == n(2) * n(3));
MexReleaseOpenCL(gpu);
end

function absorbing_sides()
[x, ~] = ndgrid(linspace(0, 2, 201), linspace(0, 1, 11));
u = exp(-100 * (x - 1) .^ 2);
open = clinalg.wave(u, 0.006, 'Lengths', [2 1], 'Sides', {'absorbing', 'free'; 'absorbing', 'free'});
closed = clinalg.wave(u, 0.006, struct('lengths', [2 1], 'sides', 'free'));
E = energy(open);
step(open, 400);
step(closed, 400);
check(energy(open) < 1e-5 * E && abs(energy(closed) / E - 1) < 1e-10);
% Two pulses of opposite signs, so that the mean is 0, in a layer of the full length.
u = u .* (x - 1);
lined = clinalg.wave(u, 0.006, 'Lengths', [2 1], 'Sides', {'absorbing', 'free'; 'absorbing', 'free'}, 'Sponge', 1);
bare = clinalg.wave(u, 0.006, 'Lengths', [2 1], 'Sides', {'absorbing', 'free'; 'absorbing', 'free'});
step(lined, 80);
step(bare, 80);
check(energy(lined) < 0.9 * energy(bare));
check_error('clinalg:argument:value', 'sponge', @() clinalg.wave(zeros(9), 0.01, 'Sponge', -1, 'Sides', 'absorbing'));
end

function velocities_and_energy()
gpu = MexInitOpenCL();
n = 50;
wave = MexWave(gpu, n, 0.5 / (n - 1), 2 ^ -0.5);
[u, v] = deal(MexMatrix(gpu, rand(n)), MexMatrix(gpu, rand(n)));
MexWaveStart(gpu, wave, u, v);
[E, kinetic, potential] = MexWaveEnergy(gpu, wave);
check(E == kinetic + potential && kinetic > 0);
t = MexWaveStep(gpu, wave, 30);
check(abs(MexWaveEnergy(gpu, wave) / E - 1) < 1e-12);
[x, y] = deal(MexWaveDisplacement(gpu, wave), MexWaveVelocity(gpu, wave));
MexWaveStep(gpu, wave, 17);
later = MexHandleMatrix(gpu, MexWaveDisplacement(gpu, wave));
MexWaveStart(gpu, wave, x, y);
MexWaveStep(gpu, wave, 17);
check(MexWaveDisplacement(gpu, wave, x) == x);
check_close(MexHandleMatrix(gpu, x), later, 1e-11);
info = MexInfo(gpu, wave);
check(strcmp(info.kind, 'wave') && strcmp(info.class, 'double') && info.rows == n && t > 0);
MexReleaseOpenCL(gpu);
end

function speeds_and_restart()
gpu = MexInitOpenCL();
rand('state', 2); %#ok<RAND>
n = [9 8 7];
c = 1 + rand(n);
dt = MexWaveLimit(gpu, n, c(:));
check(abs(dt * max(c(:)) * sqrt(sum((n - 1) .^ 2)) - 1) < 1e-14);
wave = MexWave(gpu, n, dt / 2, c(:), [], [], [], [], [], [0 Inf NaN; 1 0 NaN]);
[u, v] = deal(MexMatrix(gpu, rand(prod(n), 1)), MexMatrix(gpu, rand(prod(n), 1)));
MexWaveStart(gpu, wave, u, v);
[E, kinetic, potential] = MexWaveEnergy(gpu, wave);
check(E == kinetic + potential && kinetic > 0 && potential > 0);
MexWaveStep(gpu, wave, 10);
[x, y] = deal(MexWaveDisplacement(gpu, wave), MexWaveVelocity(gpu, wave));
MexWaveStep(gpu, wave, 7);
later = MexHandleMatrix(gpu, MexWaveDisplacement(gpu, wave));
MexWaveStart(gpu, wave, x, y);
MexWaveStep(gpu, wave, 7);
check(MexWaveDisplacement(gpu, wave, x) == x);
check_close(reshape(MexHandleMatrix(gpu, x), size(later)), later, 1e-10);
MexReleaseOpenCL(gpu);
end

function the_limit()
gpu = MexInitOpenCL();
check_error('clinalg:argument:value', 'stability limit', @() MexWave(gpu, 101, 0.00708));
check_error('clinalg:argument:value', '0.007071068', @() MexWave(gpu, 101, 0.00708));
MexWave(gpu, 101, 0.00707);
MexWave(gpu, 129, 1, 1, 'implicit');
check_error('clinalg:argument:value', '2^k + 1', @() MexWave(gpu, 101, 0.1, 1, 'implicit'));
MexReleaseOpenCL(gpu);
end

function forms_agree()
gpu = MexInitOpenCL();
n = 33;
start = rand(n);
for scheme = {'explicit', 'implicit'}
  results = cell(1, 3);
  forms = {'kernels', 'matrix', 'reference'};
  for k = 1 : 3
    wave = MexWave(gpu, n, 0.6 / (n - 1), 1, scheme{1}, 0, forms{k}, 1e-12);
    MexWaveStart(gpu, wave, MexMatrix(gpu, start));
    MexWaveStep(gpu, wave, 20);
    results{k} = MexHandleMatrix(gpu, MexWaveDisplacement(gpu, wave));
  end
  check_close(results{1}, results{3}, 1e-9);
  check_close(results{2}, results{3}, 1e-9);
end
MexReleaseOpenCL(gpu);
end

function squares_move_as_boxes()
% Lengths that differ in the last bit take the kernels for boxes.
gpu = MexInitOpenCL();
n = 33;
[u, v] = deal(MexMatrix(gpu, rand(n)), MexMatrix(gpu, rand(n)));
results = cell(2, 2);
for k = 1 : 2
  wave = MexWave(gpu, [n n], 0.01, 2, [], [], [], [], [1, 1 + (k - 1) * eps]);
  MexWaveStart(gpu, wave, u, v);
  MexWaveStep(gpu, wave, 30);
  results{1, k} = MexHandleMatrix(gpu, MexWaveDisplacement(gpu, wave));
  results{2, k} = MexWaveEnergy(gpu, wave);
end
check(isequal(size(results{1, 2}), [n n]) && abs(results{2, 1} / results{2, 2} - 1) < 1e-10);
check_close(results{1, 1}, results{1, 2}, 1e-11);
check(~isequal(results{1, :}));
MexReleaseOpenCL(gpu);
end

function the_object()
n = 65;
u = mode(n, 1, 1);
for type = {'double', 'single'}
  w = clinalg.wave(cast(u, type{1}), 0.5 / (n - 1));
  E = energy(w);
  check(w.t == 0 && E > 0);
  t = step(w, 64);
  check(t == w.t && abs(t - 0.5) < 1e-12);
  check(isa(displacement(w), type{1}));
  check_close(displacement(w), cast(u * cos(sqrt(2) * pi * 0.5), type{1}), 2e-3);
  check_close(velocity(w), cast(-sqrt(2) * pi * u * sin(sqrt(2) * pi * 0.5), type{1}), 1e-2);
  check(abs(energy(w) / E - 1) < 1e4 * eps(type{1}));
end
w = clinalg.wave(zeros(n), 0.1, [], 'implicit', u);
step(w);
check(max(max(displacement(w))) > 0);
check_error('clinalg:argument:count', 'clinalg.wave', @() clinalg.wave(u));
check_error('clinalg:argument:value', 'stability limit', @() clinalg.wave(u, 1));
end

function boxes_as_objects()
n = [17 13];
w = clinalg.wave(single(rand(n)), [], 'Sides', 'periodic', 'Velocity', ones(n));
check(isa(displacement(w), 'single') && isequal(size(velocity(w)), n) && w.t == 0);
check_close(w.x, (0 : 16)' / 17, 1e-15);
t = step(w, 3);
check(t == w.t && abs(t - 3 * w.dt) < 1e-12);
u = displacement(w);
start(w, u);
check(w.t == 0 && isequal(displacement(w), u));
w = clinalg.wave(zeros(5, 6, 7), 0.01, 'Lengths', [1 2 3]);
check(all(all(all(displacement(w) == 0))) && isequal(size(displacement(w)), [5 6 7]));
check_close(w.z, (0 : 6)' / 2, 1e-15);
end

function bad_waves()
gpu = MexInitOpenCL();
wave = MexWave(gpu, 9, 0.05);
check_error('clinalg:argument:value', '`scheme` is ''x''', @() MexWave(gpu, 9, 0.05, 1, 'x'));
check_error('clinalg:argument:value', '`dt`', @() MexWave(gpu, 9, -1));
check_error('clinalg:argument:length', '`u`', @() MexWaveStart(gpu, wave, MexMatrix(gpu, rand(8))));
check_error('clinalg:argument:precision', '`u`', @() MexWaveStart(gpu, wave, MexMatrix(gpu, single(rand(9)))));
check_error('clinalg:handle:kind', '`wave`', @() MexWaveStep(gpu, MexMatrix(gpu, 1)));
check_error('clinalg:handle:kind', '', @() MexNorm2(gpu, wave));
check_error('clinalg:handle:kind', '', @() MexHandleMatrix(gpu, wave));
MexReleaseOpenCL(gpu);
end

function bad_boxes()
gpu = MexInitOpenCL();
check_error('clinalg:argument:value', 'stability limit', @() MexWave(gpu, [11 12], 0.08));
check_error('clinalg:argument:value', '`points`', @() MexWave(gpu, [11 2], 0.01));
check_error('clinalg:argument:value', '`points`', @() MexWave(gpu, [5 5 5 5], 0.01));
check_error('clinalg:argument:shape', '`sides`', @() MexWave(gpu, [11 11], 0.01, [], [], [], [], [], [], [0 0]));
check_error('clinalg:argument:value', 'absorbing', @() MexWave(gpu, [11 11], 0.01, [], [], [], [], [], [], 2 * ones(2)));
check_error('clinalg:argument:value', 'periodic', @() MexWave(gpu, [11 11], 0.01, [], [], [], [], [], [], [NaN 0; 0 0]));
check_error('clinalg:argument:length', '`lengths`', @() MexWave(gpu, [11 11], 0.01, [], [], [], [], [], 1));
check_error('clinalg:argument:value', '`lengths`', @() MexWave(gpu, [11 11], 0.01, [], [], [], [], [], [1 -1]));
check_error('clinalg:argument:length', '`c`', @() MexWave(gpu, [11 11], 0.01, ones(3, 1)));
check_error('clinalg:argument:value', '`c`', @() MexWaveLimit(gpu, [11 11], -1));
check_error('clinalg:argument:value', '`c`', @() MexWave(gpu, 11, 0.01, -1));
check_error('clinalg:argument:length', '`c`', @() MexWaveLimit(gpu, [11 11], ones(3, 1)));
check_error('clinalg:argument:value', 'fixed sides', @() MexWave(gpu, [17 9], 0.01, 1, 'implicit'));
check_error('clinalg:argument:value', '`backend`', @() MexWave(gpu, [17 17 17], 0.01, 1, 'explicit', 0, 'reference'));
wave = MexWave(gpu, [11 12], 0.01);
check_error('clinalg:argument:length', '`u`', @() MexWaveStart(gpu, wave, MexMatrix(gpu, rand(8))));
check_error('clinalg:argument:precision', '`u`', @() MexWaveStart(gpu, wave, MexMatrix(gpu, single(rand(11, 12)))));
MexReleaseOpenCL(gpu);
check_error('clinalg:argument:value', 'open', @() clinalg.wave(zeros(9), 0.01, 'Sides', 'open'));
check_error('clinalg:argument:shape', 'Sides', @() clinalg.wave(zeros(9), 0.01, 'Sides', {'free', 'free'}));
check_error('clinalg:argument:shape', 'displacement', @() start(clinalg.wave(zeros(9), 0.01), ones(8)));
check_error('clinalg:argument:shape', 'velocity', @() clinalg.wave(zeros(9), 0.01, 'Velocity', ones(8)));
check_error('clinalg:argument:value', 'team', @() clinalg.wave(zeros(9), 0.01, 'Sides', 'free', 'Team', clinalg.team(0)));
check_error('clinalg:argument:count', 'too few', @() clinalg.wave(zeros(9)));
end
