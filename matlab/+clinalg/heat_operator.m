function A = heat_operator(kind, nodes, triangles, alpha, end_time, steps, form, class_)
%clinalg.heat_operator  Boundary integral operator of the heat equation on the device.
%   A = clinalg.heat_operator(kind, nodes, triangles, alpha, end_time, steps, form, class)
%
%   du/dt - alpha Laplace u = 0 inside a closed surface for 0 < t < end_time, u = 0 at the start. nodes is n x 3,
%   triangles m x 3 with node numbers counted from 1, anticlockwise seen from outside; steps is the number of time
%   steps. kind is 'V', 'K', 'Ks' or 'D' as for MexHeatOperator. form and class may be omitted or []:
%     form   'auto' (default) stores the blocks if they fit, 'assembled' always, 'otf' computes them in every product
%     class  'double' (default) or 'single'
%
%   A is a clinalg.array: A * x multiplies, clinalg.gmres solves, and for V and D A \ b solves directly. Vectors store one time step after the other.
%
%   Example:
%     nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
%     triangles = [1 3 2; 1 2 4; 1 4 3; 2 3 4];
%     V = clinalg.heat_operator('V', nodes, triangles, 0.5, 1, 4);
%     [w, flag] = clinalg.gmres(V, V * ones(16, 1), 16, 1e-8, 1);
%     w = V \ ones(16, 1);
%
%   See also MexHeatOperator, clinalg.heat_mesh, clinalg.heat_right_side, clinalg.heat_forward, clinalg.heat_operator_preconditioner, clinalg.gmres, clinalg.array.
if nargin < 6
  error('clinalg:argument:count', ...
        'clinalg.heat_operator: too few arguments; the call is clinalg.heat_operator(kind, nodes, triangles, ...)');
end
if nargin < 7, form = []; end
if nargin < 8 || isempty(class_), class_ = 'double'; end
A = clinalg.array(clinalg_mex('MexHeatOperator', 0, char(kind), nodes, triangles, alpha, end_time, steps, ...
                              form, strcmp(class_, 'single')));
end
