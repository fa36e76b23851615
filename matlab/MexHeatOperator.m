function h = MexHeatOperator(gpu, kind, nodes, triangles, alpha, end_time, steps, form, single)
%MexHeatOperator  Make a boundary integral operator of the heat equation.
%   h = MexHeatOperator(gpu, kind, nodes, triangles, alpha, end_time, steps [, form] [, single])
%
%   For du/dt - alpha Laplace u = 0 inside a closed surface for 0 < t < end_time, u = 0 at the start, by
%   space-time Galerkin boundary elements: u linear on the triangles and continuous, the flux
%   w = alpha du/dn constant on them, both constant on each of the time steps. nodes is n x 3, triangles
%   m x 3 with the numbers of nodes from 1 on, anticlockwise seen from outside. kind is
%     'V'   single layer, for w, tested on triangles
%     'K'   double layer, for u, tested on triangles
%     'Ks'  adjoint double layer, for w, tested at nodes
%     'D'   hypersingular, for u, tested at nodes
%   Vectors store one time step after the other: V is m*steps x m*steps, K m*steps x n*steps. h stands for a
%   matrix in MexMultiply, MexCG, MexBiCGStab and MexGMRES (without 'jacobi').
%     form    'auto' (default) stores the blocks if they fit, 'assembled' always stores them, 'otf' computes
%             them on the fly in every product
%     single  1 computes in single precision (default 0)
%   MexRelease frees it.
%
%   Example:
%     gpu = MexInitOpenCL();
%     nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
%     triangles = [1 3 2; 1 2 4; 1 4 3; 2 3 4];
%     V = MexHeatOperator(gpu, 'V', nodes, triangles, 0.5, 1, 4);
%     b = MexMultiply(gpu, V, MexMatrix(gpu, ones(16, 1)));
%     [w, flag] = MexGMRES(gpu, V, b, 16, 1e-8, 1);
%     flag
%
%   See also MexHeatForward, MexHeatOperatorPreconditioner, MexHeatRightSide, MexHeatMesh, MexGMRES, MexRelease.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 9, single = []; end
if nargin < 8, form = []; end
try
  h = clinalg_mex('MexHeatOperator', gpu, kind, nodes, triangles, alpha, end_time, steps, form, single);
catch problem
  if nargin < 7, clinalg_mex('MexHeatOperator'); end
  rethrow(problem);
end
end
