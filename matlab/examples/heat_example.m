function err = heat_example(levels, steps)
%heat_example  The heat equation in the unit ball by boundary elements: the flux from the boundary values, and the temperature inside.
%   err = heat_example(levels, steps)
%
%   The boundary values are those of u, the temperature due to a point source outside of the ball at t = 0, which solves the equation. The ball is an octahedron
%   whose triangles are divided in four the given number of times (default 2); the time from 0 to 1 has so many steps (default 16). err is the
%   largest error at a point inside at t = 0.5 and later, relative to the largest value of u there.
%
%   See also clinalg.heat_operator, clinalg.heat_project, clinalg.heat_right_side, clinalg.heat_interior.
if nargin < 1, levels = 2; end
if nargin < 2, steps = 16; end
alpha = 0.5;
source = [2 0.5 0];
u = @(x, t) exp(-sum((x - source) .^ 2, 2) / (4 * alpha * t)) / (4 * pi * alpha * t) ^ 1.5;

nodes = [eye(3); -eye(3)];
triangles = [1 2 3; 2 4 3; 4 5 3; 5 1 3; 2 1 6; 4 2 6; 5 4 6; 1 5 6];
for k = 1 : levels
  sides = [triangles(:, [1 2]); triangles(:, [2 3]); triangles(:, [3 1])];
  [sides, ~, at] = unique(sort(sides, 2), 'rows');
  middle = nodes(sides(:, 1), :) + nodes(sides(:, 2), :);
  at = size(nodes, 1) + reshape(at, [], 3);
  nodes = [nodes; middle ./ sqrt(sum(middle .^ 2, 2))]; %#ok<AGROW>
  triangles = [triangles(:, 1), at(:, [1 3]); triangles(:, 2), at(:, [2 1]); triangles(:, 3), at(:, [3 2]); at];
end

V = clinalg.heat_operator('V', nodes, triangles, alpha, 1, steps);
K = clinalg.heat_operator('K', nodes, triangles, alpha, 1, steps);
g = clinalg.heat_project(K, @(x, n, t) u(x, t));
w = V \ clinalg.heat_right_side(K, g);
point = [0.3 0.2 -0.1];
found = gather(clinalg.heat_interior(V, w, g, point));
late = steps / 2 : steps;
exact = arrayfun(@(t) u(point, t), late / steps);
err = max(abs(found(late) - exact)) / max(exact);
fprintf('%d triangles, %d steps: relative error %.1e\n', size(triangles, 1), steps, err);
end
