function tests = test_grid_wave()
tests = {@standing_waves, @absorbing_sides, @speeds_and_restart, @the_object, @bad_waves};
end

function standing_waves()
% Leapfrog takes the mode cos(k pi x / L) cos(l pi y) of free sides through cos(step * angle), sin(angle / 2) = c dt sqrt(sum of sin^2(.) / h^2).
gpu = MexInitOpenCL();
n = [41 25];
[x, y] = ndgrid(linspace(0, 2, n(1)), linspace(0, 1, n(2)));
u = cos(2 * pi * x / 2) .* cos(pi * y);
h = [2, 1] ./ (n - 1);
c = 1.5;
dt = 0.7 * MexGridWaveLimit(gpu, n, [2 1], zeros(2), c);
check(abs(dt / (0.7 / (c * sqrt(sum(h .^ -2)))) - 1) < 1e-14);
angle = 2 * asin(c * dt * sqrt((sin(pi * h(1) / 2) / h(1)) ^ 2 + (sin(pi * h(2) / 2) / h(2)) ^ 2));
types = {'double'};
if ~isempty(getenv('CLINALG_TEST_THOROUGH')), types = {'double', 'single'}; end
for type = types
  wave = MexGridWave(gpu, n, dt, [2 1], zeros(2), c, strcmp(type{1}, 'single'));
  MexGridWaveStart(gpu, wave, MexMatrix(gpu, cast(u, type{1})));
  [t, flag] = MexGridWaveStep(gpu, wave, 50);
  check(flag == 0 && abs(t - 50 * dt) < 1e-12);
  got = MexHandleMatrix(gpu, MexGridWaveDisplacement(gpu, wave));
  check(isa(got, type{1}));
  tolerance = 1e-10;
  if strcmp(type{1}, 'single'), tolerance = 1e-3; end
  check_close(double(reshape(got, n)), u * cos(50 * angle), tolerance);
  check(MexRelease(gpu, wave) && ~MexRelease(gpu, wave));
end
% Three dimensions, periodic: an exact mode of the grid.
n = [12 9 7];
[x, ~, z] = ndgrid((0 : n(1) - 1) / n(1), (0 : n(2) - 1) / n(2), (0 : n(3) - 1) / n(3));
u = cos(2 * pi * (x + z));
wave = MexGridWave(gpu, n, 0.05, [], NaN(2, 3));
MexGridWaveStart(gpu, wave, MexMatrix(gpu, u(:)));
MexGridWaveStep(gpu, wave, 20);
angle = 2 * asin(0.05 * sqrt((sin(pi / n(1)) * n(1)) ^ 2 + (sin(pi / n(3)) * n(3)) ^ 2));
check_close(MexHandleMatrix(gpu, MexGridWaveDisplacement(gpu, wave)), u(:) * cos(20 * angle), 1e-10);
info = MexInfo(gpu, wave);
check(info.rows == prod(n));
MexReleaseOpenCL(gpu);
end

function absorbing_sides()
[x, ~] = ndgrid(linspace(0, 2, 201), linspace(0, 1, 11));
u = exp(-100 * (x - 1) .^ 2);
open = clinalg.grid_wave([201 11], 0.006, 'Lengths', [2 1], 'Sides', {'absorbing', 'free'; 'absorbing', 'free'}, 'Displacement', u);
closed = clinalg.grid_wave([201 11], 0.006, struct('lengths', [2 1], 'sides', 'free', 'displacement', u));
E = energy(open);
step(open, 400);
step(closed, 400);
check(energy(open) < 1e-5 * E && abs(energy(closed) / E - 1) < 1e-10);
% Two pulses of opposite signs, so that the mean is 0, in a layer of the full length.
u = u .* (x - 1);
lined = clinalg.grid_wave([201 11], 0.006, 'Lengths', [2 1], 'Sides', {'absorbing', 'free'; 'absorbing', 'free'}, 'Sponge', 1, 'Displacement', u);
bare = clinalg.grid_wave([201 11], 0.006, 'Lengths', [2 1], 'Sides', {'absorbing', 'free'; 'absorbing', 'free'}, 'Displacement', u);
step(lined, 80);
step(bare, 80);
check(energy(lined) < 0.9 * energy(bare));
check_error('clinalg:argument:value', 'sponge', @() clinalg.grid_wave([9 9], 0.01, 'Sponge', -1, 'Sides', 'absorbing'));
end

function speeds_and_restart()
gpu = MexInitOpenCL();
rand('state', 2); %#ok<RAND>
n = [9 8 7];
c = 1 + rand(n);
dt = MexGridWaveLimit(gpu, n, [], [], c(:));
check(abs(dt * max(c(:)) * sqrt(sum((n - 1) .^ 2)) - 1) < 1e-14);
wave = MexGridWave(gpu, n, dt / 2, [], [0 Inf NaN; 1 0 NaN], c(:));
[u, v] = deal(MexMatrix(gpu, rand(prod(n), 1)), MexMatrix(gpu, rand(prod(n), 1)));
MexGridWaveStart(gpu, wave, u, v);
[E, kinetic, potential] = MexGridWaveEnergy(gpu, wave);
check(E == kinetic + potential && kinetic > 0 && potential > 0);
MexGridWaveStep(gpu, wave, 10);
[x, y] = deal(MexGridWaveDisplacement(gpu, wave), MexGridWaveVelocity(gpu, wave));
MexGridWaveStep(gpu, wave, 7);
later = MexHandleMatrix(gpu, MexGridWaveDisplacement(gpu, wave));
MexGridWaveStart(gpu, wave, x, y);
MexGridWaveStep(gpu, wave, 7);
check(MexGridWaveDisplacement(gpu, wave, x) == x);
check_close(MexHandleMatrix(gpu, x), later, 1e-10);
MexReleaseOpenCL(gpu);
end

function the_object()
n = [17 13];
w = clinalg.grid_wave(n, [], 'Sides', 'periodic', 'Displacement', single(rand(n)), 'Velocity', ones(n));
check(isa(displacement(w), 'single') && isequal(size(velocity(w)), n) && w.t == 0);
check_close(w.x, (0 : 16)' / 17, 1e-15);
t = step(w, 3);
check(t == w.t && abs(t - 3 * w.dt) < 1e-12);
u = displacement(w);
start(w, u);
check(w.t == 0 && isequal(displacement(w), u));
w = clinalg.grid_wave([5 6 7], 0.01, 'Lengths', [1 2 3]);
check(all(all(all(displacement(w) == 0))) && isequal(size(displacement(w)), [5 6 7]));
check_close(w.z, (0 : 6)' / 2, 1e-15);
end

function bad_waves()
gpu = MexInitOpenCL();
check_error('clinalg:argument:value', 'stability limit', @() MexGridWave(gpu, [11 11], 0.08));
check_error('clinalg:argument:value', '`points`', @() MexGridWave(gpu, [11 2], 0.01));
check_error('clinalg:argument:value', '`points`', @() MexGridWave(gpu, 11, 0.01));
check_error('clinalg:argument:shape', '`sides`', @() MexGridWave(gpu, [11 11], 0.01, [], [0 0]));
check_error('clinalg:argument:value', 'absorbing', @() MexGridWave(gpu, [11 11], 0.01, [], 2 * ones(2)));
check_error('clinalg:argument:value', 'periodic', @() MexGridWave(gpu, [11 11], 0.01, [], [NaN 0; 0 0]));
check_error('clinalg:argument:length', '`lengths`', @() MexGridWave(gpu, [11 11], 0.01, 1));
check_error('clinalg:argument:value', '`lengths`', @() MexGridWave(gpu, [11 11], 0.01, [1 -1]));
check_error('clinalg:argument:length', '`c`', @() MexGridWave(gpu, [11 11], 0.01, [], [], ones(3, 1)));
check_error('clinalg:argument:value', '`c`', @() MexGridWaveLimit(gpu, [11 11], [], [], -1));
wave = MexGridWave(gpu, [11 11], 0.01);
check_error('clinalg:argument:length', '`u`', @() MexGridWaveStart(gpu, wave, MexMatrix(gpu, rand(8))));
check_error('clinalg:argument:precision', '`u`', @() MexGridWaveStart(gpu, wave, MexMatrix(gpu, single(rand(11)))));
check_error('clinalg:handle:kind', '`wave`', @() MexGridWaveStep(gpu, MexWave(gpu, 9, 0.05)));
check_error('clinalg:handle:kind', '', @() MexWaveStep(gpu, wave));
MexReleaseOpenCL(gpu);
check_error('clinalg:argument:value', 'open', @() clinalg.grid_wave([9 9], 0.01, 'Sides', 'open'));
check_error('clinalg:argument:shape', 'Sides', @() clinalg.grid_wave([9 9], 0.01, 'Sides', {'free', 'free'}));
check_error('clinalg:argument:shape', 'displacement', @() clinalg.grid_wave([9 9], 0.01, 'Displacement', ones(8)));
check_error('clinalg:argument:count', 'too few', @() clinalg.grid_wave([9 9]));
end
