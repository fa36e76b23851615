function tests = test_ode()
tests = {@like_ode45, @steps_and_times, @single_precision, @heat_on_a_grid, @all_on_all, @test_problems, @bad_equations};
end

function like_ode45()
% Octave's own solver on the same equations; both within the tolerance of an exact solution.
rhs = struct('x', 'v', 'v', 'mu*(1 - x^2)*v - x');
o = struct('RelTol', 1e-8, 'AbsTol', 1e-10, 'Parameters', struct('mu', 1.5));
times = linspace(0, 10, 21);
[t, y, stats] = clinalg.ode(rhs, times, [2; 0], o);
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

function bad_equations()
decay = struct('u', '-u');
check_error('clinalg:ode:formula', 'column 5', @() clinalg.ode(struct('u', '1 + q'), [0 1], 1));
check_error('clinalg:argument:value', 'offset', @() clinalg.ode(struct('u', 'u[9]'), [0 1], [1 1], struct('Grid', 2)));
check_error('clinalg:argument:value', 'line 1', @() clinalg.ode({'hello', 'u'' = 1'}, [0 1], 1));
check_error('clinalg:argument:value', 'increase', @() clinalg.ode(decay, [1 0], 1));
check_error('clinalg:argument:value', 'increase', @() clinalg.ode(decay, 1, 1));
check_error('clinalg:argument:value', 'argument 4 `y0` holds NaN', @() clinalg.ode(decay, [0 1], NaN));
check_error('clinalg:argument:value', 'y0', @() clinalg.ode(decay, [0 1], [1 2]));
check_error('clinalg:argument:value', 'absolute', @() clinalg.ode(decay, [0 1], 1, struct('RelTol', 0, 'AbsTol', 0)));
check_error('clinalg:argument:value', 'method', @() clinalg.ode(decay, [0 1], 1, struct('Method', 'ode15s')));
check_error('clinalg:argument:value', 'Events', @() clinalg.ode(decay, [0 1], 1, struct('Events', @sin)));
check_error('clinalg:argument:class', 'function handle', @() clinalg.ode(@(t, y) -y, [0 1], 1));
check_error('clinalg:argument:class', 'options', @() clinalg.ode(decay, [0 1], 1, 3));
check_error('clinalg:argument:count', 'too few', @() clinalg.ode(decay, [0 1]));
check_error('clinalg:ode:stepLimit', 'steps', @() clinalg.ode(decay, [0 1], 1, struct('MaxSteps', 1)));
check_error('clinalg:ode:notFinite', 'finite', @() clinalg.ode(struct('u', 'log(-u)'), [0 2], 1));
check_error('clinalg:ode:stepTooSmall', 'too small', @() clinalg.ode(struct('u', 'u^2'), [0 2], 1));
check_error('clinalg:ode:unstable', 'stab', ...
  @() clinalg.ode(struct('u', '-1000*u'), [0 1], 1, struct('FixedStep', 0.1, 'Method', 'rk4')));
check_error('clinalg:argument:value', 'each of 2 points', @() clinalg.ode(struct('u', 'w'), [0 1], [1 1], ...
  struct('Grid', 2, 'Data', struct('w', [1 2 3]))));
end
