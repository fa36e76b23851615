function b = MexHeatRightSide(gpu, K, g)
%MexHeatRightSide  Right-hand side of a boundary value problem of the heat equation.
%   b = MexHeatRightSide(gpu, K, g)
%
%   K is an operator 'K' or 'Ks' of MexHeatOperator, g the boundary values that are given, as of MexHeatProject with K. b is a new
%   column, with the mass matrix M: for u given (Dirichlet) b = M g / 2 + K g, and w solves V w = b; for w = alpha du/dn given
%   (Neumann) b = M' g / 2 - Ks g, and u solves D u = b. MexMultiply with MexHeatForward of V or D solves.
%
%   Example:
%     gpu = MexInitOpenCL();
%     nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
%     triangles = [1 3 2; 1 2 4; 1 4 3; 2 3 4];
%     K = MexHeatOperator(gpu, 'K', nodes, triangles, 0.5, 1, 4);
%     V = MexHeatOperator(gpu, 'V', nodes, triangles, 0.5, 1, 4);
%     g = MexMatrix(gpu, kron((1:4)', ones(4, 1)));
%     w = MexMultiply(gpu, MexHeatForward(gpu, V), MexHeatRightSide(gpu, K, g));
%     u = MexHeatInterior(gpu, V, w, g, [0.2 0.2 0.2])
%
%   See also MexHeatProject, MexHeatInterior, MexHeatForward, MexHeatOperator.

% Made from the table in crates/clinalg-mex; edit it there.
try
  b = clinalg_mex('MexHeatRightSide', gpu, K, g);
catch problem
  if nargin < 3, clinalg_mex('MexHeatRightSide'); end
  rethrow(problem);
end
end
