function [iterations, err] = fem_example(rings)
%fem_example  Finite elements on triangles of any shape: assembled by MATLAB, solved on the device with algebraic multigrid.
%   [iterations, err] = fem_example(rings)
%
%   -Laplace u = 1 in the unit disc, u = 0 on its boundary, with linear elements on the given number of rings of nodes (default 40). The solution is
%   (1 - x^2 - y^2) / 4; err is the largest error at a node.
%
%   See also clinalg.pcg, clinalg.amg.
if nargin < 1, rings = 40; end

% 6 r nodes on ring r; the last ring is the boundary.
nodes = [0 0];
for r = 1 : rings
  angle = 2 * pi * (1 : 6 * r).' / (6 * r);
  nodes = [nodes; r / rings * [cos(angle), sin(angle)]]; %#ok<AGROW>
end
triangles = delaunay(nodes(:, 1), nodes(:, 2));
n = size(nodes, 1);

% Edges opposite to the corners; the integrals of two gradients on a triangle follow from them.
edge = @(p, q) nodes(triangles(:, q), :) - nodes(triangles(:, p), :);
edges = {edge(2, 3), edge(3, 1), edge(1, 2)};
area = abs(edges{1}(:, 1) .* edges{2}(:, 2) - edges{1}(:, 2) .* edges{2}(:, 1)) / 2;
A = sparse(n, n);
b = zeros(n, 1);
for i = 1 : 3
  for j = 1 : 3
    A = A + sparse(triangles(:, i), triangles(:, j), sum(edges{i} .* edges{j}, 2) ./ (4 * area), n, n);
  end
  b = b + accumarray(triangles(:, i), area / 3, [n, 1]);
end

inner = 1 : n - 6 * rings;
[u, flag, relres, iterations] = clinalg.pcg(clinalg.matrix(A(inner, inner)), clinalg.vector(b(inner)), 1e-10, 100, 'amg');
err = max(abs(gather(u) - (1 - sum(nodes(inner, :) .^ 2, 2)) / 4));
fprintf('%d unknowns: flag %d after %d iterations, relative residual %.1e, largest error %.1e\n', numel(inner), flag, iterations, relres, err);
end
