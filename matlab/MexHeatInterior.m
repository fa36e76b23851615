function values = MexHeatInterior(gpu, A, w, u, points)
%MexHeatInterior  Temperature inside, from the boundary values.
%   values = MexHeatInterior(gpu, A, w, u, points)
%
%   A is an operator of MexHeatOperator, for whose surface and time steps w on triangles and u at nodes are columns on the
%   device. points has a row of three coordinates for each point inside, which keeps a distance of about the size of a triangle
%   from the surface. values has a row for each point and a column for the middle of each time step.
%
%   Example:
%     gpu = MexInitOpenCL();
%     nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
%     V = MexHeatOperator(gpu, 'V', nodes, [1 3 2; 1 2 4; 1 4 3; 2 3 4], 0.5, 1, 4);
%     u = MexHeatInterior(gpu, V, MexMatrix(gpu, zeros(16, 1)), MexMatrix(gpu, ones(16, 1)), [0.2 0.2 0.2])
%
%   See also MexHeatRightSide, MexHeatOperator.

% Made from the table in crates/clinalg-mex; edit it there.
try
  values = clinalg_mex('MexHeatInterior', gpu, A, w, u, points);
catch problem
  if nargin < 5, clinalg_mex('MexHeatInterior'); end
  rethrow(problem);
end
end
