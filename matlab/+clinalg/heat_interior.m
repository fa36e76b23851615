function values = heat_interior(A, w, u, points)
%clinalg.heat_interior  Temperature inside, from the boundary values.
%   values = clinalg.heat_interior(A, w, u, points)
%
%   A is an operator of clinalg.heat_operator, whose surface and time steps w and u belong to: w = alpha du/dn on triangles and u at nodes,
%   one time step after the other, such as clinalg.heat_right_side describes. points has a row of three coordinates for each point inside,
%   which keeps a distance of about the size of a triangle from the surface. values has a row for each point and a column for the middle of
%   each time step.
%
%   Example:
%     nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
%     triangles = [1 3 2; 1 2 4; 1 4 3; 2 3 4];
%     V = clinalg.heat_operator('V', nodes, triangles, 0.5, 1, 4);
%     clinalg.heat_interior(V, zeros(16, 1), ones(16, 1), [0.2 0.2 0.2; 0.25 0.2 0.15])
%
%   See also clinalg.heat_right_side, clinalg.heat_project, clinalg.heat_operator, MexHeatInterior.
if nargin < 4 || ~isa(A, 'clinalg.array')
  error('clinalg:argument:class', ['clinalg.heat_interior: the call is clinalg.heat_interior(A, w, u, points) with an operator of ' ...
    'clinalg.heat_operator']);
end
w = clinalg.operands.boundary_values(A, w);
u = clinalg.operands.boundary_values(A, u);
values = clinalg_mex('MexHeatInterior', 0, A.h, w.h, u.h, clinalg.operands.on_host(points));
end
