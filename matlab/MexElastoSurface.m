function [centres, normals] = MexElastoSurface(gpu, problem)
%MexElastoSurface  Centres and normals of the boundary elements of a problem of elastodynamics.
%   [centres, normals] = MexElastoSurface(gpu, problem)
%
%   m x 3 each; the normals have length 1 and point out of the material, in an exterior problem into the cavity.
%
%   Example:
%     gpu = MexInitOpenCL();
%     nodes = [1 1 1; 1 -1 -1; -1 1 -1; -1 -1 1];
%     problem = MexElasto(gpu, nodes, [1 2 3; 1 4 2; 1 3 4; 2 4 3], [1 0.3 1]);
%     [centres, normals] = MexElastoSurface(gpu, problem);
%     sum(centres .* normals, 2)
%
%   See also MexElasto, MexElastoSolve.

% Made from the table in crates/clinalg-mex; edit it there.
try
  [centres, normals] = clinalg_mex('MexElastoSurface', gpu, problem);
catch problem
  if nargin < 2, clinalg_mex('MexElastoSurface'); end
  rethrow(problem);
end
end
