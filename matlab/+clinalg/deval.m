function y = deval(sol, t, components)
%clinalg.deval  The solution of clinalg.ode between its steps.
%   y = clinalg.deval(sol, t)
%   y = clinalg.deval(t, sol)
%   y = clinalg.deval(sol, t, components)
%
%   sol is the result of clinalg.ode with one output and two times. Column k of y is the solution at t(k), from the
%   interpolant of the step that contains t(k), for all components or for those with the given indices.
%
%   Example:
%     sol = clinalg.ode(struct('x', 'v', 'v', '-x'), [0 10], [0; 1], struct('RelTol', 1e-8));
%     max(abs(clinalg.deval(sol, 0 : 0.01 : 10, 1) - sin(0 : 0.01 : 10)))
%
%   See also clinalg.ode.
if nargin < 2
  error('clinalg:argument:count', 'clinalg.deval: too few arguments; the call is clinalg.deval(sol, t, components)');
end
if isstruct(t)
  [sol, t] = deal(t, sol);
end
if ~isstruct(sol) || ~isfield(sol, 'inside') || isempty(sol.inside)
  error('clinalg:argument:value', 'clinalg.deval: expected what `sol = clinalg.ode(rhs, [t0 t_end], y0)` gives');
end
t = double(t(:).');
forward = sign(sol.x(end) - sol.x(1));
if ~all(forward * t >= forward * sol.x(1) & forward * t <= forward * sol.x(end))
  error('clinalg:argument:value', 'clinalg.deval: argument `t` has a time outside of %g to %g', sol.x(1), sol.x(end));
end
if nargin < 3, components = 1 : size(sol.y, 1); end
% The step of each time.
steps = numel(sol.x) - 1;
[~, order] = sort(forward * [sol.x(1 : end - 1), t]);
place(order) = cumsum(order <= steps);
step = place(steps + 1 : end);
s = 4 * (t - sol.x(step)) ./ (sol.x(step + 1) - sol.x(step));
y = zeros(numel(components), numel(t), class(sol.y));
for j = 0 : 4
  others = [0 : j - 1, j + 1 : 4];
  weight = ones(1, numel(t));
  for k = others
    weight = weight .* (s - k) / (j - k);
  end
  y = y + bsxfun(@times, sol.inside(components, 4 * (step - 1) + 1 + j), weight);
end
end
