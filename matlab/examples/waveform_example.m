function [iterations, difference] = waveform_example(N, steps)
%waveform_example  The Brusselator by waveform relaxation, with blocks of several sizes.
%   [iterations, difference] = waveform_example(N, steps)
%
%   Integrates the Brusselator with diffusion on N x N points (default 40) over a window of so many Euler steps of 1e-4 (default 20) with
%   blocks of one point, of 4 x 4 and of 16 x 16 points. Returns the iterations of each, and the largest difference of the last one
%   from the steps of clinalg.ode: none but for the rounding of times, as the iterates end at the method's own solution.
%
%   See also clinalg.waveform, clinalg.ode.
if nargin < 1, N = 40; end
if nargin < 2, steps = 20; end
h = 1e-4;
sides = [1 4 16];
iterations = zeros(size(sides));
for k = 1 : numel(sides)
  [y, stats] = clinalg.waveform('bruss2d-mix', [0 steps * h], [], 'N', N, 'Steps', steps, ...
    'Variant', 'block', 'Block', [sides(k) sides(k)]);
  iterations(k) = stats.iterations;
  fprintf('blocks of %2d x %2d points: %d iterations\n', sides(k), sides(k), iterations(k));
end
[~, z] = clinalg.ode('bruss2d-mix', [0 steps * h], [], struct('N', N, 'Method', 'euler', 'FixedStep', h));
difference = max(abs(y - z(end, :).'));
fprintf('difference from Euler''s method: %g\n', difference);
end
