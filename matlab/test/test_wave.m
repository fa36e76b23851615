function tests = test_wave()
tests = {@standing_waves, @velocities_and_energy, @the_limit, @forms_agree, @the_object, @bad_waves};
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

function the_limit()
gpu = MexInitOpenCL();
check_error('clinalg:argument:value', 'stability limit', @() MexWave(gpu, 101, 0.00708));
check_error('clinalg:argument:value', '7.071068e-3', @() MexWave(gpu, 101, 0.00708));
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
