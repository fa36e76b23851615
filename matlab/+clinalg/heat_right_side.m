function b = heat_right_side(K, g)
%clinalg.heat_right_side  Right-hand side of a boundary value problem of the heat equation.
%   b = clinalg.heat_right_side(K, g)
%
%   du/dt - alpha Laplace u = 0 inside a closed surface, u = 0 at the start, w = alpha du/dn. g are the boundary values that are given:
%     u (Dirichlet)   K is the operator 'K', g is clinalg.heat_project(K, u); w solves V * w = b with the operator V of kind 'V'
%     w (Neumann)     K is the operator 'Ks', g is clinalg.heat_project(K, w); u solves D * u = b with the operator D of kind 'D'
%   V \ b and D \ b solve directly, clinalg.gmres with clinalg.heat_operator_preconditioner iteratively; clinalg.heat_interior gives u inside. b is a column on
%   the device.
%
%   Example:
%     nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
%     triangles = [1 3 2; 1 2 4; 1 4 3; 2 3 4];
%     K = clinalg.heat_operator('K', nodes, triangles, 0.5, 1, 4);
%     V = clinalg.heat_operator('V', nodes, triangles, 0.5, 1, 4);
%     u = clinalg.heat_project(K, @(x, n, t) t * x(:, 1));
%     w = V \ clinalg.heat_right_side(K, u);
%     clinalg.heat_interior(V, w, u, [0.2 0.2 0.2])
%
%   See also clinalg.heat_operator, clinalg.heat_project, clinalg.heat_interior, MexHeatRightSide.
if nargin < 2 || ~isa(K, 'clinalg.array')
  error('clinalg:argument:class', ['clinalg.heat_right_side: the call is clinalg.heat_right_side(K, g) with an operator of ' ...
    'clinalg.heat_operator']);
end
g = clinalg.operands.boundary_values(K, g);
b = clinalg.operands.column_of(clinalg_mex('MexHeatRightSide', 0, K.h, g.h));
end
