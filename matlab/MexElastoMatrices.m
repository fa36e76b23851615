function [H, G] = MexElastoMatrices(gpu, problem, frequency)
%MexElastoMatrices  Assemble the matrices H and G of a problem of elastodynamics.
%   [H, G] = MexElastoMatrices(gpu, problem, frequency)
%
%   As MexElastoAssemble for a problem of MexElasto.
%
%   Example:
%     gpu = MexInitOpenCL();
%     nodes = [1 1 1; 1 -1 -1; -1 1 -1; -1 -1 1];
%     problem = MexElasto(gpu, nodes, [1 2 3; 1 4 2; 1 3 4; 2 4 3], [1 0.3 1], 'exterior');
%     [H, G] = MexElastoMatrices(gpu, problem, 0.5);
%     info = MexInfo(gpu, H);
%     info.rows
%
%   See also MexElasto, MexElastoAssemble, MexRelease.

% Made from the table in crates/clinalg-mex; edit it there.
try
  [H, G] = clinalg_mex('MexElastoMatrices', gpu, problem, frequency);
catch problem
  if nargin < 3, clinalg_mex('MexElastoMatrices'); end
  rethrow(problem);
end
end
