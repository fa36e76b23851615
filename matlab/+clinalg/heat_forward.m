function F = heat_forward(A)
%clinalg.heat_forward  Direct solver for an operator of the heat equation.
%   F = clinalg.heat_forward(A)
%
%   A is an operator V or D of clinalg.heat_operator. Its diagonal block is inverted once, when F is created; F \ b then solves
%   A x = b up to rounding by block forward elimination, one pass through time. A \ b does both for one right-hand side.
%
%   Example:
%     nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
%     triangles = [1 3 2; 1 2 4; 1 4 3; 2 3 4];
%     V = clinalg.heat_operator('V', nodes, triangles, 0.5, 1, 4);
%     F = clinalg.heat_forward(V);
%     w = F \ ones(16, 1);
%     norm(V * w - 1)
%
%   See also MexHeatForward, clinalg.heat_operator, clinalg.heat_operator_preconditioner.
if nargin < 1 || ~isa(A, 'clinalg.array')
  error('clinalg:argument:class', 'clinalg.heat_forward: argument 1 `A` must be an operator V or D of clinalg.heat_operator');
end
F = clinalg.factor(clinalg_mex('MexHeatForward', 0, A.h), 'block forward elimination');
end
