function [stats, err] = front_example(N)
%front_example  A differential equation on a grid: a front of Fisher's equation that moves from left to right.
%   [stats, err] = front_example(N)
%
%   u' = u_xx + u (1 - u) on N points of the interval from 0 to 60 (default 601), from its exact solution with the speed 5 / sqrt(6) (Ablowitz and
%   Zeppetella 1979). err is the largest error at the times 0, 2, ..., 10, stats what clinalg.ode counts.
%
%   See also clinalg.ode, clinalg.waveform.
if nargin < 1, N = 601; end
x = linspace(0, 60, N).';
exact = @(t) 1 ./ (1 + exp((x - 15 - 5 / sqrt(6) * t) / sqrt(6))) .^ 2;

% u[-1] is u at the neighbour on the left. Kernels for the device are made from the formula.
h = x(2) - x(1);
rhs = struct('u', 'd*(u[-1] - 2*u + u[1]) + u*(1 - u)');
options = struct('Grid', N, 'Parameters', struct('d', 1 / h ^ 2), 'Boundary', 'mirror', 'RelTol', 1e-6, 'AbsTol', 1e-8);
times = 0 : 2 : 10;
[t, u, ~, ~, ~, stats] = clinalg.ode(rhs, times, exact(0), options);

% Row k of u is the solution at t(k).
err = 0;
for k = 1 : numel(t)
  err = max(err, max(abs(u(k, :).' - exact(t(k)))));
  fprintf('t = %4.1f: the front is at x = %.2f\n', t(k), interp1(u(k, :), x, 0.5));
end
fprintf('%d accepted steps, largest error %.1e\n', stats.accepted, err);
end
