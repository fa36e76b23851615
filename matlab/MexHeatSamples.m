function [points, normals, times] = MexHeatSamples(gpu, A)
%MexHeatSamples  Points and times where boundary values are projected.
%   [points, normals, times] = MexHeatSamples(gpu, A)
%
%   A is an operator of MexHeatOperator. MexHeatProject takes the values of a function at these points, with the outward normal
%   of each, and at these times: points and normals have a row for each point, times is a row.
%
%   Example:
%     gpu = MexInitOpenCL();
%     nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
%     V = MexHeatOperator(gpu, 'V', nodes, [1 3 2; 1 2 4; 1 4 3; 2 3 4], 0.5, 1, 4);
%     [x, n, t] = MexHeatSamples(gpu, V);
%     size(x), size(t)
%
%   See also MexHeatProject, MexHeatOperator.

% Made from the table in crates/clinalg-mex; edit it there.
try
  [points, normals, times] = clinalg_mex('MexHeatSamples', gpu, A);
catch problem
  if nargin < 2, clinalg_mex('MexHeatSamples'); end
  rethrow(problem);
end
end
