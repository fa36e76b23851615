function [field, stress] = MexElastoEvaluate(gpu, problem, frequency, u, t, points)
%MexElastoEvaluate  Displacements and stresses of elastodynamics at points in the material.
%   [field, stress] = MexElastoEvaluate(gpu, problem, frequency, u, t, points)
%
%   u and t are 3 m displacements and tractions of MexElastoSolve, points p x 3. field is 3 x p, stress 9 x p: xx, xy, xz,
%   yx, ... of each point. Near the surface, within a third of an element, both lose accuracy.
%
%   Example:
%     gpu = MexInitOpenCL();
%     nodes = [-1 -1 -1; 1 -1 -1; 1 1 -1; -1 1 -1; -1 -1 1; 1 -1 1; 1 1 1; -1 1 1];
%     elements = [1 4 3 2; 5 6 7 8; 1 2 6 5; 2 3 7 6; 3 4 8 7; 4 1 5 8];
%     problem = MexElasto(gpu, nodes, elements, [1 0.3 1], 'exterior');
%     [centres, normals] = MexElastoSurface(gpu, problem);
%     [u, t] = MexElastoSolve(gpu, problem, 1, zeros(18, 1), reshape(-normals.', [], 1));
%     [field, stress] = MexElastoEvaluate(gpu, problem, 1, u, t, [0 0 3; 4 0 0]);
%     size(stress)
%
%   See also MexElasto, MexElastoSolve.

% Made from the table in crates/clinalg-mex; edit it there.
try
  [field, stress] = clinalg_mex('MexElastoEvaluate', gpu, problem, frequency, u, t, points);
catch problem
  if nargin < 6, clinalg_mex('MexElastoEvaluate'); end
  rethrow(problem);
end
end
