function g = MexHeatProject(gpu, A, values)
%MexHeatProject  Project boundary values onto the vectors of an operator.
%   g = MexHeatProject(gpu, A, values)
%
%   A is an operator of MexHeatOperator, values has a row for each point and a column for each time of MexHeatSamples. g, a new
%   column, is the L2 projection onto the vectors that A multiplies: for 'V' and 'Ks' constants on triangles, for 'K' and 'D'
%   hats at nodes, constant in each time step.
%
%   Example:
%     gpu = MexInitOpenCL();
%     nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
%     K = MexHeatOperator(gpu, 'K', nodes, [1 3 2; 1 2 4; 1 4 3; 2 3 4], 0.5, 1, 4);
%     [x, n, t] = MexHeatSamples(gpu, K);
%     g = MexHeatProject(gpu, K, x(:, 1) * t);
%     MexSize(gpu, g)
%
%   See also MexHeatSamples, MexHeatRightSide.

% Made from the table in crates/clinalg-mex; edit it there.
try
  g = clinalg_mex('MexHeatProject', gpu, A, values);
catch problem
  if nargin < 3, clinalg_mex('MexHeatProject'); end
  rethrow(problem);
end
end
