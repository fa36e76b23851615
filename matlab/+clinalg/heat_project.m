function g = heat_project(A, f)
%clinalg.heat_project  Project boundary values onto the vectors of an operator of the heat equation.
%   g = clinalg.heat_project(A, f)
%
%   A is an operator of clinalg.heat_operator. f(x, n, t) gives the values of a function at points of the surface, the rows of x, with the
%   outward normals, the rows of n, at a time t: a column with a number for each point, or one number for all. g is the L2 projection onto the
%   vectors that A multiplies, a column on the device: for 'V' and 'Ks' constants on triangles, for 'K' and 'D' hats at nodes, constant
%   in each time step.
%
%   Example:
%     nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
%     triangles = [1 3 2; 1 2 4; 1 4 3; 2 3 4];
%     K = clinalg.heat_operator('K', nodes, triangles, 0.5, 1, 4);
%     g = clinalg.heat_project(K, @(x, n, t) t * x(:, 1));
%     size(g)
%
%   See also clinalg.heat_operator, clinalg.heat_right_side, clinalg.heat_interior, MexHeatProject.
if nargin < 2 || ~isa(A, 'clinalg.array') || ~isa(f, 'function_handle')
  error('clinalg:argument:class', ['clinalg.heat_project: the call is clinalg.heat_project(A, f) with an operator of clinalg.heat_operator ' ...
    'and a function f(x, n, t)']);
end
[x, n, times] = clinalg_mex('MexHeatSamples', 0, A.h);
values = zeros(size(x, 1), numel(times));
for k = 1 : numel(times)
  at = clinalg.operands.on_host(f(x, n, times(k)));
  if numel(at) ~= 1 && ~isequal(size(at), [size(x, 1), 1])
    error('clinalg:argument:shape', 'clinalg.heat_project: f gave %s values, expected %d x 1, one for each row of x', ...
      clinalg.operands.by(size(at)), size(x, 1));
  end
  values(:, k) = at;
end
g = clinalg.operands.column_of(clinalg_mex('MexHeatProject', 0, A.h, values));
end
