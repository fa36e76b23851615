function tests = test_ode()
tests = {@like_ode45, @steps_and_times, @single_precision, @heat_on_a_grid, @all_on_all, @test_problems, @events_like_ode45, ...
  @events_on_a_grid, @all_events_of_a_step, @backwards_in_time, @formulas_like_octave, @output_functions, ...
  @between_steps, @tolerances_by_component, @waveform_relaxation, @waveform_options, @waveform_errors, @arrays_on_the_device, @bad_equations};
end

function all_events_of_a_step()
% The solution is (t + 6) (t + 2) (t - 2), on which the method has no error: it steps across two zeros.
rhs.y = '3*t^2 + 12*t - 4';
run = @(event) clinalg.ode(rhs, [-8 4], -120, struct('RelTol', 1e-6, 'Events', {event}));
[~, ~, te, ye, ie] = run({'y', 0, 0});
check_close(te, [-6; -2; 2], 1e-9);
check(isequal(ie, [1; 1; 1]) && max(abs(ye)) < 1e-7);
[t, ~, te] = run({'y', 1, 1});
check_close(te, -6, 1e-9);
check(t(end) == te);
[~, ~, te] = run({'y', 0, -1});
check_close(te, -2, 1e-9);
% A stop in the text: f jumps there.
[~, y] = MexOde(MexInitOpenCL(), sprintf('y'' = if(t > 5, 1, 0)\nstop 5'), [0 10], 0, [], 'rk4', 1);
check_close(y(end), 5, 1e-14);
end

function backwards_in_time()
rhs.y = 'y';
o = struct('RelTol', 1e-9, 'AbsTol', 1e-12, 'Events', {{'y - 2', 0, 0}});
t = [1 0.75 0.5 0.25 0];
[got, y, te, ye] = clinalg.ode(rhs, t, exp(1), o);
check(isequal(got, t.'));
check_close(y, exp(t.'), 1e-8);
check_close([te, ye], [log(2), 2], 1e-8);
[got, y, te] = clinalg.ode(rhs, [1 0], exp(1), o);
check(got(1) == 1 && got(end) == 0 && all(diff(got) < 0));
check_close([y(end), te], [1, log(2)], 1e-8);
sol = clinalg.ode(rhs, [1 0], exp(1), o);
check_close(clinalg.deval(sol, [0 0.3 0.7 1]), exp([0 0.3 0.7 1]), 1e-7);
end

function formulas_like_octave()
% Each as Octave has it, at y = 2.5: the derivative, integrated over a time of one.
formulas = {'2^3^2', '2^-1^2', '-2^2 + 2^-1 + (-1)^0', 'mod(-1, 3)', 'rem(-1, 3)', 'floor(-1.5)', 'sign(-2)', ...
  'log10(1000)', 'atan2(1, -1)', '2.*3.^2./4', 'round(2.5)', 'fix(-2.5)', '(1 ~= 2) + 0'};
for k = 1 : numel(formulas)
  [~, y] = clinalg.ode(struct('y', formulas{k}), [0 1], 0, 'Method', 'rk4', 'FixedStep', 1);
  check_close(y(end), eval(formulas{k}), 1e-12, formulas{k});
end
check_error('clinalg:ode:formula', 'known are', @() clinalg.ode(struct('y', 'gamma(t)'), [0 1], 0));
end

function waveform_relaxation()
% Euler's steps in Octave.
gpu = MexInitOpenCL();
heat = sprintf('grid 7 5\nu'' = u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u\nboundary periodic');
u = reshape(mod(0:34, 6), 7, 5);
y0 = u(:);
for k = 1:8
  u = u + 0.125 * (circshift(u, 1, 1) + circshift(u, -1, 1) + circshift(u, 1, 2) + circshift(u, -1, 2) - 4 * u);
end
[y, stats] = MexWaveform(gpu, heat, [0 1], y0, [8 2], 'block-boundary', [3 2], 'linear');
check_close(y, u(:), 1e-14);
check(sum(stats.steps) == 8 && numel(stats.iterations) == 2 && all(stats.iterations <= 5));
check_error('clinalg:argument:value', 'divisor', @() MexWaveform(gpu, heat, [0 1], y0, [8 3]));
check_error('clinalg:argument:value', 'block-boundary', @() MexWaveform(gpu, heat, [0 1], y0, 8, 'nope'));
check_error('clinalg:argument:value', '7 points along axis 0', @() MexWaveform(gpu, heat, [0 1], y0, 8, 'block', [8 5]));
check_error('clinalg:argument:value', '35 components', @() MexWaveform(gpu, heat, [0 1], y0(2:end), 8));
check_error('clinalg:ode:memory', 'waveform relaxation, component: ', @() MexWaveform(gpu, heat, [0 1], y0, 1e12));
check_error('clinalg:ode:unstable', 'stability limit of `euler`', @() MexWaveform(gpu, heat, [0 100], y0, 8));
grows = sprintf('grid 12\nu'' = u*u + min(u[1], 0)');
check_error('clinalg:ode:waveform', 'component 8', @() MexWaveform(gpu, grows, [0 16], (1:12).' == 8, [32 4]));
end

function arrays_on_the_device()
y0 = single([1; 2; 3]);
[t, y] = clinalg.ode(struct('u', '-u'), [0 1], clinalg.vector(y0), 'Grid', 3);
[t_host, y_host] = clinalg.ode(struct('u', '-u'), [0 1], y0, 'Grid', 3);
check(isequal(t, t_host) && isequal(y, y_host) && isa(y, 'single'));
z = clinalg.waveform(struct('u', '-u'), [0 1], clinalg.vector(y0), 'Grid', 3, 'Steps', 4);
check(isequal(z, clinalg.waveform(struct('u', '-u'), [0 1], y0, 'Grid', 3, 'Steps', 4)));
end

function waveform_options()
% The steps of Euler's and of Heun's method in Octave; pairs and structs, single precision, two fields with data and parameters.
gpu = MexInitOpenCL();
w = reshape(linspace(0.5, 1, 12), 4, 3);
rhs = struct('u', 'a*w*(v[1,0] - u)', 'v', 'u[0,-1] - v');
o = struct('Grid', [4 3], 'Boundary', 'periodic', 'Parameters', struct('a', 2), 'Data', struct('w', w), 'Steps', 6);
f = @(u, v) deal(2 * w .* (circshift(v, -1, 1) - u), circshift(u, 1, 2) - v);
[u, v] = deal(reshape(1:12, 4, 3) / 7, reshape(cos(1:12), 4, 3));
y0 = [u(:), v(:)];
euler = {u, v};
heun = {u, v};
h = 0.5 / 6;
for k = 1:6
  [a, b] = f(euler{:});
  euler = {euler{1} + h * a, euler{2} + h * b};
  [a, b] = f(heun{:});
  [c, d] = f(heun{1} + h * a, heun{2} + h * b);
  heun = {heun{1} + h / 2 * (a + c), heun{2} + h / 2 * (b + d)};
end
[y, stats] = clinalg.waveform(rhs, [0 0.5], y0, o);
check(isequal(size(y), [12 2]) && stats.iterations <= 7 && stats.steps == 6 && stats.difference == 0);
check_close(y, [euler{1}(:), euler{2}(:)], 1e-14);
pairs = [fieldnames(o), struct2cell(o)].';
[z, stats] = clinalg.waveform(rhs, [0 0.2 0.5], y0, pairs{:}, 'variant', 'block', 'BLOCK', [2 3], 'Method', 'heun2', 'Windows', 2);
check(numel(stats.iterations) == 2 && all(stats.iterations <= 7));
check_close(z, [heun{1}(:), heun{2}(:)], 1e-14);
% What MexOde gives for the same text.
[text, data] = clinalg.equations(rhs, struct('Grid', [4 3], 'Boundary', 'periodic', 'Parameters', struct('a', 2), 'Data', struct('w', w)));
[~, x] = MexOde(gpu, text, [0 0.5], y0(:), [], 'euler', h, [], data);
check_close(x(end, :).', y(:), 1e-13);
s = clinalg.waveform(struct('u', '-u'), [0 1], single(1), 'Steps', 4, 'Eps', 1e-3, 'Guess', 'constant');
check(isa(s, 'single') && s == single(0.75 ^ 4));
% The largest of the iterations that a window should take is met by shorter windows; a device as a block; initial values of a problem.
[~, stats] = clinalg.waveform('bruss2d-mix', [0 16e-4], [], 'N', 8, 'Steps', 16, 'Windows', 2, 'Adaptive', 3);
check(sum(stats.steps) == 16 && numel(stats.steps) > 2);
[y, stats] = clinalg.waveform('bruss2d-mix', [0 16e-4], [], struct('N', 8, 'Steps', 16, 'Variant', 'device', 'Method', 'rk4'));
check(stats.iterations == 1 && iscolumn(y) && numel(y) == 128);
[~, z] = clinalg.ode('bruss2d-mix', [0 16e-4], [], struct('N', 8, 'Method', 'rk4', 'FixedStep', 1e-4));
check_close(y, z(end, :).', 1e-13);
end

function waveform_errors()
decay = struct('u', '-u');
run = @(varargin) clinalg.waveform(decay, [0 1], 1, varargin{:});
check_error('clinalg:argument:count', 'too few', @() clinalg.waveform(decay, [0 1]));
check_error('clinalg:argument:count', 'pairs', @() run('Steps'));
check_error('clinalg:argument:class', 'of class double, expected', @() run(3, 4));
check_error('clinalg:argument:value', 'RelTol', @() run('RelTol', 1));
check_error('clinalg:argument:value', 'Steps', @() run('Steps', 1.5));
check_error('clinalg:argument:value', 'Eps', @() run('Eps', -1));
check_error('clinalg:argument:value', 'exclude', @() run('Eps', 1, 'Iterations', 2));
check_error('clinalg:argument:value', 'divisor of the 100 steps', @() run('Windows', 3));
check_error('clinalg:argument:value', 'block-boundary', @() run('Variant', 'nope'));
check_error('clinalg:argument:value', 'guess', @() run('Guess', 'nope'));
check_error('clinalg:argument:value', 'Runge-Kutta', @() run('Method', 'ab3'));
check_error('clinalg:argument:value', 'grid''s 1 points', @() run('Variant', 'block', 'Block', 2));
check_error('clinalg:argument:shape', 'tspan', @() clinalg.waveform(decay, 1, 1));
check_error('clinalg:argument:value', 'increase', @() clinalg.waveform(decay, [1 0], 1));
check_error('clinalg:argument:class', 'function handle', @() clinalg.waveform(@(t, y) -y, [0 1], 1));
check_error('clinalg:ode:unstable', 'stability limit of `euler`', ...
  @() clinalg.waveform(struct('u', '-1000*u'), [0 1], 1, 'Steps', 10));
check_error('clinalg:ode:waveform', 'window 1, iteration', @() clinalg.waveform(struct('u', 'u^2'), [0 20], 1, 'Steps', 40));
check_error('clinalg:ode:memory', 'waveform relaxation, component: ', @() run('Steps', 1e13));
check_error('clinalg:argument:count', 'too few', @() clinalg.equations());
check_error('clinalg:argument:class', 'struct', @() clinalg.equations(decay, 3));
check_error('clinalg:argument:value', 'Mesh', @() clinalg.equations(decay, struct('Mesh', 3)));
end

function like_ode45()
% Octave's own solver on the same equations; both within the tolerance of an exact solution.
rhs = struct('x', 'v', 'v', 'mu*(1 - x^2)*v - x');
o = struct('RelTol', 1e-8, 'AbsTol', 1e-10, 'Parameters', struct('mu', 1.5));
times = linspace(0, 10, 21);
[t, y, ~, ~, ~, stats] = clinalg.ode(rhs, times, [2; 0], o);
[s, z] = ode45(@(t, y) [y(2); 1.5 * (1 - y(1) ^ 2) * y(2) - y(1)], times, [2; 0], ...
  odeset('RelTol', 1e-10, 'AbsTol', 1e-12));
check(isequal(t, times.') && isequal(size(y), [21 2]) && isequal(s(:), t));
check_close(y, z, 1e-5);
check(stats.accepted > 20 && stats.rhs_evaluations >= 6 * stats.accepted);
% The options that odeset makes, with its empty fields; the same by lines and by a text.
[~, w] = clinalg.ode({'parameter mu = 1.5', 'x'' = v', 'v'' = mu*(1 - x^2)*v - x'}, times, [2 0], ...
  odeset('RelTol', 1e-8, 'AbsTol', 1e-10));
check(isequal(w, y));
[~, w] = clinalg.ode(sprintf('parameter mu = 1.5\nx'' = v\nv'' = mu*(1 - x^2)*v - x'), times, [2 0], o_without(o));
check(isequal(w, y));
end

function o = o_without(o)
o.Parameters = [];
end

function steps_and_times()
rhs = struct('u', '-u + t');
exact = @(t) t - 1 + 2 * exp(-t);
[t, y] = clinalg.ode(rhs, [0 3], 1);
check(t(1) == 0 && t(end) == 3 && all(diff(t) > 0) && numel(t) > 4);
check_close(y, exact(t), 2e-3);
sol = clinalg.ode(rhs, [0 3], 1, struct('reltol', 1e-9, 'ABSTOL', 1e-9, 'Method', 'dopri87'));
check(isequal(size(sol.x), size(sol.y)) && sol.stats.accepted == numel(sol.x) - 1);
check_close(sol.y, exact(sol.x), 1e-7);
[t, y] = clinalg.ode(rhs, [0 3], 1, struct('FixedStep', 0.1, 'Method', 'rk4', 'Variant', 'basic'));
check(numel(t) == 31);
check_close(y, exact(t), 1e-6);
[t, ~] = clinalg.ode(rhs, [0 3], 1, struct('MaxStep', 0.01, 'InitialStep', 1e-3));
check(numel(t) > 300 && abs(t(2) - 1e-3) < 1e-12);
end

function single_precision()
[~, y] = clinalg.ode(struct('x', 'v', 'v', '-x'), [0 pi / 2 pi], single([0 1]), struct('RelTol', 1e-5, 'AbsTol', 1e-6));
check(isa(y, 'single'));
check_close(double(y), [0 1; 1 0; 0 -1], 1e-3);
end

function heat_on_a_grid()
% A mode of the five-point differences between walls at zero decays by a factor that is known.
n = [15 9];
h = 1 ./ (n + 1);
[x, y] = ndgrid((1 : n(1)) * h(1), (1 : n(2)) * h(2));
start = sin(pi * x) .* sin(2 * pi * y);
rhs.u = 'a*(u[-1,0] - 2*u + u[1,0])/hx^2 + a*(u[0,-1] - 2*u + u[0,1])/hy^2';
o = struct('Grid', n, 'Boundary', 'value 0', 'RelTol', 1e-8, 'AbsTol', 1e-10);
o.Parameters = struct('a', 0.5, 'hx', h(1), 'hy', h(2));
[~, u] = clinalg.ode(rhs, [0 0.02 0.05], start, o);
rate = -0.5 * (4 / h(1) ^ 2 * sin(pi * h(1) / 2) ^ 2 + 4 / h(2) ^ 2 * sin(pi * h(2)) ^ 2);
check_close(reshape(u(3, :), n), start * exp(0.05 * rate), 1e-6);
end

function all_on_all()
% Two unknowns on three points; the sum is over all of them.
rhs = struct('p', 'v', 'v', 'sum(m''*(p'' - p))');
m = [1; 2; 3];
start = [0; 1; 4; 0.5; 0; -1];
o = struct('Grid', 3, 'Data', struct('m', m), 'RelTol', 1e-9, 'AbsTol', 1e-10);
[~, y] = clinalg.ode(rhs, [0 1 2], start, o);
f = @(t, y) [y(4:6); sum(m .* y(1:3)) - sum(m) * y(1:3)];
[~, z] = ode45(f, [0 1 2], start, odeset('RelTol', 1e-10, 'AbsTol', 1e-11));
check_close(y, z, 1e-6);
check_close(y(:, 4:6) * m, repmat(m' * start(4:6), 3, 1), 1e-8);
end

function test_problems()
[t, y] = clinalg.ode('lotka-volterra', [0 5 10], [], struct('N', 12, 'RelTol', 1e-8, 'AbsTol', 1e-9));
prey = y(:, 1 : 12);
predator = y(:, 13 : 24);
kept = prey - 3 * log(prey) + predator - 1.5 * log(predator);
check(isequal(t, [0; 5; 10]));
check_close(kept(3, :), kept(1, :), 1e-4);
check_close(prey(1, :), 1 + 2 * linspace(0, 1, 12), 1e-12);
gpu = MexInitOpenCL();
check_error('clinalg:argument:value', 'points', @() MexOde(gpu, 'cusp', [0 1], []));
check_error('clinalg:argument:shape', 'tol', @() MexOde(gpu, 'x''=1', [0 1], 1, 1e-3));
MexReleaseOpenCL(gpu);
end

function events_like_ode45()
% A ball that passes a height twice and falls to the ground: the same events as those of Octave's own solver, which finds their
% times by a straight line between its steps, and the times of the exact solution.
rhs = struct('h', 'v', 'v', '-9.81 - 0.1*v');
o = struct('RelTol', 1e-9, 'AbsTol', 1e-10, 'Events', {{'h', 1, -1; 'h - 2', 0, 0; 'v', [], -1}});
[t, y, te, ye, ie, stats] = clinalg.ode(rhs, [0 10], [1; 8], o);
happens = @(t, y) deal([y(1); y(1) - 2; y(2)], [1; 0; 0], [-1; 0; -1]);
state = warning('off', 'all');  % It warns of an end before tspan(2).
[s, ~, se, ze, je] = ode45(@(t, y) [y(2); -9.81 - 0.1 * y(2)], [0 10], [1; 8], ...
  odeset('RelTol', 1e-10, 'AbsTol', 1e-11, 'Events', happens, 'MaxStep', 0.05));
warning(state);
check(isequal(ie, [2; 3; 2; 1]) && isequal(ie, je(:)));
check_close(te, se(:), 1e-3);
check_close(ye, ze, 1e-2);
height = @(t) 1 - 98.1 * t + 1061 * (1 - exp(-0.1 * t));
speed = @(t) -98.1 + 106.1 * exp(-0.1 * t);
exact = [fzero(@(t) height(t) - 2, [0 0.5]); fzero(speed, [0 3]); fzero(@(t) height(t) - 2, [0.7 3]); fzero(height, [0.7 3])];
check_close(te, exact, 1e-7);
check_close(ye, [height(exact), speed(exact)], 1e-6);
check(t(end) == te(end) && isequal(y(end, :), ye(end, :)) && abs(y(end, 1)) < 1e-8);
check_close(t(end), s(end), 1e-3);
check(stats.accepted == numel(t) - 1);
% With times: those before the event, and the event.
[t, y] = clinalg.ode(rhs, [0 0.5 1 9 10], [1; 8], o);
check(isequal(t(1 : 3), [0; 0.5; 1]) && numel(t) == 4 && size(y, 1) == 4 && abs(t(4) - te(4)) < 1e-9);
% A single formula; nothing happens.
[~, ~, te, ye, ie] = clinalg.ode(rhs, [0 0.1], [1; 8], struct('Events', 'h + 5'));
check(isempty(te) && isempty(ye) && isempty(ie));
end

function events_on_a_grid()
% The point with the subscripts [3 2] cools below a level; a test problem has events as well.
o = struct('Grid', [4 3], 'RelTol', 1e-10, 'AbsTol', 1e-12);
o.Parameters = struct('level', 0.5);
o.Events = {'u - level', 1, -1, [3 2]; 'u + i - 5', 0, 0, []};
start = zeros(4, 3);
start(3, 2) = 2;
start(1, 1) = 9;
sol = clinalg.ode(struct('u', '-u'), [0 5], start, o);
check(isequal(sol.ie, [2 1]));
check_close(sol.xe, [log(9 / 5), log(4)], 1e-9);
check_close(sol.ye(7, 2), 0.5, 1e-9);
check(sol.x(end) == sol.xe(2));
[~, ~, te] = clinalg.ode('lotka-volterra', [0 10], [], struct('N', 4, 'Events', {{'prey - 2', 0, 1, 2}}));
check(~isempty(te));
end

function between_steps()
sol = clinalg.ode(struct('x', 'v', 'v', '-x'), [0 10], [0; 1], struct('RelTol', 1e-8, 'AbsTol', 1e-10));
t = linspace(0, 10, 333);
check_close(clinalg.deval(sol, t), [sin(t); cos(t)], 1e-6);
check_close(clinalg.deval(t, sol, 2), cos(t), 1e-6);
check_close(clinalg.deval(sol, sol.x), sol.y, 1e-14);
check(numel(sol.x) == sol.stats.accepted + 1);
[t, y] = clinalg.ode(struct('x', 'v', 'v', '-x'), [0 10], [0; 1], struct('RelTol', 1e-8, 'AbsTol', 1e-10, 'Refine', 3));
check(numel(t) == 3 * sol.stats.accepted + 1 && all(diff(t) > 0));
check_close(t(4 : 3 : end).', sol.x(2 : end), 1e-15);
check_close(y, [sin(t), cos(t)], 1e-6);
% A method with the cubic that every method has.
sol = clinalg.ode(struct('x', 'v', 'v', '-x'), [0 10], [0; 1], ...
  struct('RelTol', 1e-8, 'AbsTol', 1e-10, 'Method', 'bs32'));
t = [3.3, 0, 10, 7.1];
check_close(clinalg.deval(sol, t), [sin(t); cos(t)], 1e-5);
check_error('clinalg:argument:value', 'outside', @() clinalg.deval(sol, 11));
check_error('clinalg:argument:value', 'expected what', @() clinalg.deval(struct('x', 1), 11));
check_error('clinalg:argument:count', 'too few', @() clinalg.deval(sol));
end

function tolerances_by_component()
% The second unknown is a thousand times as large, and as fine.
rhs = struct('a', '-a + cos(t)', 'b', '-b + 1000*cos(t)');
few = clinalg.ode(rhs, [0 10], [0; 0], struct('RelTol', 0, 'AbsTol', 1e-3));
many = clinalg.ode(rhs, [0 10], [0; 0], struct('RelTol', 0, 'AbsTol', [1e-6 1e-3]));
same = clinalg.ode(rhs, [0 10], [0; 0], struct('RelTol', 0, 'AbsTol', [1e-3; 1e-3]));
check(isequal(few.y, same.y) && many.stats.accepted > few.stats.accepted * 0.9);
exact = @(t) 0.5 * (cos(t) + sin(t) - exp(-t));
check_close(many.y(1, :), exact(many.x), 2e-5);
check_error('clinalg:argument:shape', 'tol', @() clinalg.ode(rhs, [0 1], [0; 0], struct('AbsTol', [1 1 1])));
end

function stop = record(t, y, flag)
% Keeps what an output function is given; stops after the time `clinalg_until`.
global clinalg_calls clinalg_until
clinalg_calls{end + 1} = {t, y, flag};
stop = ~isempty(t) && t(end) > clinalg_until;
end

function output_functions()
global clinalg_calls clinalg_until
rhs = struct('x', 'v', 'v', '-x');
tol = {'RelTol', 1e-6, 'AbsTol', 1e-8, 'OutputFcn', @record};
% Octave's own solver makes the same calls, with other steps.
clinalg_calls = {};
clinalg_until = Inf;
ode45(@(t, y) [y(2); -y(1)], [0 0.5 2], [0; 1], odeset(tol{:}));
own = clinalg_calls;
clinalg_calls = {};
[t, y, ~, ~, ~, stats] = clinalg.ode(rhs, [0 0.5 2], [0; 1], odeset(tol{:}));
check(isequal(own{1}{3}, 'init') && isequal(clinalg_calls{1}, {[0 2], [0; 1], 'init'}));
check(isequal(own{end}{3}, 'done') && isequal(clinalg_calls{end}, {[], [], 'done'}));
check(isequal(size(own{1}{2}), size(clinalg_calls{1}{2})) && stats.accepted > 3);
middle = clinalg_calls(2 : end - 1);
joined = @(calls, k) cell2mat(cellfun(@(call) call{k}, calls, 'UniformOutput', false)).';
check(isequal(joined(middle, 1), t(2 : end)) && isequal(joined(middle, 2), y(2 : end, :)) && isequal(t, [0; 0.5; 2]));
[s, z] = clinalg.ode(rhs, [0 0.5 2], [0; 1], odeset('RelTol', 1e-6, 'AbsTol', 1e-8));
check(isequal(s, t));
check_close(y, z, 1e-9);
% Every step and three times in each, some components; the same solution as without.
clinalg_calls = {};
o = odeset(tol{:}, 'Refine', 3, 'OutputSel', 2);
[t, y, ~, ~, ~, stats] = clinalg.ode(rhs, [0 2], [0; 1], o);
middle = clinalg_calls(2 : end - 1);
check(numel(middle) == stats.accepted && all(cellfun(@(call) isequal(size(call{1}), size(call{2}), [1 3]), middle)));
check(isequal(joined(middle, 1), t(2 : end)) && isequal(joined(middle, 2), y(2 : end, 2)));
o.OutputFcn = [];
[s, z] = clinalg.ode(rhs, [0 2], [0; 1], o);
check(isequal(t, s) && isequal(y, z));
% It stops where the function says so, and what came before stays.
clinalg_calls = {};
clinalg_until = 1;
[t, y, ~, ~, ~, stats] = clinalg.ode(rhs, [0 2], single([0; 1]), struct('OutputFcn', @record, 'FixedStep', 0.125));
check(t(end) == 1.125 && numel(t) == 10 && stats.accepted == 9 && isa(y, 'single'));
check(isequal(clinalg_calls{end}{3}, 'done') && isa(clinalg_calls{2}{2}, 'single'));
% With events, a function that uses the device itself, and the initial values of a test problem.
clinalg_until = Inf;
clinalg_calls = {};
[~, ~, te] = clinalg.ode(rhs, [0 3 9], [0; 1], struct('Events', {{'x', 1, -1}}, 'OutputFcn', @on_the_device));
check_close(te, pi, 1e-3);
clinalg.ode('lotka-volterra', [0 1], [], struct('N', 3, 'OutputFcn', @record));
check(numel(clinalg_calls{1}{2}) == 6);
% Errors: of the function, of the equations before it is called, of the options; nothing is left.
gpu = MexInitOpenCL();
before = MexMemory(gpu);
before = before.live_bytes;
check_error('test:output', 'no more', @() clinalg.ode(rhs, [0 2], [0; 1], struct('OutputFcn', @refuses)));
after = MexMemory(gpu);
check(before == after.live_bytes);
clinalg_calls = {};
check_error('clinalg:argument:value', 'y0', @() clinalg.ode(rhs, [0 2], 1, struct('OutputFcn', @record)));
check(isempty(clinalg_calls));
check_error('clinalg:argument:class', 'OutputFcn', @() clinalg.ode(rhs, [0 2], [0; 1], struct('OutputFcn', 7)));
check_error('clinalg:argument:value', 'OutputSel', ...
  @() clinalg.ode(rhs, [0 2], [0; 1], struct('OutputFcn', @record, 'OutputSel', 3)));
run = MexOdeBegin(gpu, 'u'' = -u', [0 1], 1);
MexOdeEnd(gpu, run);
check_error('clinalg:handle:stale', 'run', @() MexOdeNext(gpu, run));
check_error('clinalg:handle:foreign', 'run', @() MexOdeEnd(gpu, uint64(3)));
clear -global clinalg_calls clinalg_until
end

function stop = on_the_device(t, y, flag)
stop = isempty(flag) && ~isempty(y) && any(gather(clinalg.vector(y(:))) ~= y(:));
end

function stop = refuses(t, y, flag)
stop = false;
if isempty(flag), error('test:output', 'no more'); end
end

function bad_equations()
decay = struct('u', '-u');
check_error('clinalg:ode:formula', 'column 5', @() clinalg.ode(struct('u', '1 + q'), [0 1], 1));
check_error('clinalg:argument:value', 'offset', @() clinalg.ode(struct('u', 'u[9]'), [0 1], [1 1], struct('Grid', 2)));
check_error('clinalg:argument:value', 'line 1', @() clinalg.ode({'hello', 'u'' = 1'}, [0 1], 1));
check_error('clinalg:argument:value', 'each before it', @() clinalg.ode(decay, [1 0 1], 1));
check_error('clinalg:argument:value', 'at least two', @() clinalg.ode(decay, 1, 1));
check_error('clinalg:argument:value', 'argument 4 `y0` holds NaN', @() clinalg.ode(decay, [0 1], NaN));
check_error('clinalg:argument:value', 'y0', @() clinalg.ode(decay, [0 1], [1 2]));
check_error('clinalg:argument:value', 'absolute', @() clinalg.ode(decay, [0 1], 1, struct('RelTol', 0, 'AbsTol', 0)));
check_error('clinalg:argument:value', 'method', @() clinalg.ode(decay, [0 1], 1, struct('Method', 'ode15s')));
check_error('clinalg:argument:value', 'Mass', @() clinalg.ode(decay, [0 1], 1, struct('Mass', 2)));
check_error('clinalg:argument:value', 'Events', @() clinalg.ode(decay, [0 1], 1, struct('Events', @sin)));
check_error('clinalg:argument:class', 'Events', @() clinalg.ode(decay, [0 1], 1, struct('Events', 3)));
check_error('clinalg:argument:shape', 'Events', @() clinalg.ode(decay, [0 1], 1, struct('Events', {{'u', 0, 0, 1, 1}})));
check_error('clinalg:ode:formula', 'column 5', @() clinalg.ode(decay, [0 1], 1, struct('Events', 'u + q')));
check_error('clinalg:argument:value', 'at 3', @() clinalg.ode(decay, [0 1], 1, struct('Events', {{'u', 0, 0, 4}})));
check_error('clinalg:argument:value', 'refine', @() clinalg.ode(decay, [0 1], 1, struct('Refine', -1)));
check_error('clinalg:argument:class', 'function handle', @() clinalg.ode(@(t, y) -y, [0 1], 1));
check_error('clinalg:argument:class', 'options', @() clinalg.ode(decay, [0 1], 1, 3));
check_error('clinalg:argument:count', 'too few', @() clinalg.ode(decay, [0 1]));
check_error('clinalg:ode:stepLimit', 'steps', @() clinalg.ode(decay, [0 1], 1, struct('MaxSteps', 1)));
check_error('clinalg:ode:stepLimit', '`u` jumps back and forth', ...
  @() clinalg.ode(struct('u', 'if(u < 0.5, 1, -1)'), [0 1000], 0, struct('RelTol', 1e-6, 'AbsTol', 1e-9)));
check_error('clinalg:ode:notFinite', '`u` is NaN at t = 0', @() clinalg.ode(struct('u', 'log(-u)'), [0 2], 1));
check_error('clinalg:ode:stepTooSmall', 'blows up', @() clinalg.ode(struct('u', 'u^2'), [0 2], 1));
check_error('clinalg:ode:unstable', 'stab', ...
  @() clinalg.ode(struct('u', '-1000*u'), [0 1], 1, struct('FixedStep', 0.1, 'Method', 'rk4')));
check_error('clinalg:argument:value', 'each of 2 points', @() clinalg.ode(struct('u', 'w'), [0 1], [1 1], ...
  struct('Grid', 2, 'Data', struct('w', [1 2 3]))));
end
