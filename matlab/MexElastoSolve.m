function [u, t] = MexElastoSolve(gpu, problem, frequency, known, given, method)
%MexElastoSolve  Solve a problem of elastodynamics for given boundary values.
%   [u, t] = MexElastoSolve(gpu, problem, frequency, known, given [, method])
%
%   known has 3 m numbers, x, y and z of each element in turn: 1 where the displacement is known, 0 where the
%   traction is. Each column of given has the 3 m known values, which may be complex; u and t are all
%   displacements and tractions, in columns as given.
%     method  'lu' (default) factorises the stored matrix once for all columns; 'otf' iterates by GMRES, computes the
%             products from the Gauss points each time and stores no matrix
%   Ctrl-C stops it after the current iteration of GMRES, with 'lu' after the assembly or the factorisation, with an
%   error that says how far it got.
%
%   Example:
%     gpu = MexInitOpenCL();
%     nodes = [-1 -1 -1; 1 -1 -1; 1 1 -1; -1 1 -1; -1 -1 1; 1 -1 1; 1 1 1; -1 1 1];
%     elements = [1 4 3 2; 5 6 7 8; 1 2 6 5; 2 3 7 6; 3 4 8 7; 4 1 5 8];
%     problem = MexElasto(gpu, nodes, elements, [1 0.3 1], 'exterior');
%     [centres, normals] = MexElastoSurface(gpu, problem);
%     [u, t] = MexElastoSolve(gpu, problem, 1, zeros(18, 1), reshape(-normals.', [], 1), 'lu');
%     abs(u(6)) > 0
%
%   See also MexElasto, MexElastoSurface, MexElastoEvaluate.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 6, method = []; end
try
  [u, t] = clinalg_mex('MexElastoSolve', gpu, problem, frequency, known, given, method);
catch problem
  if nargin < 5, clinalg_mex('MexElastoSolve'); end
  rethrow(problem);
end
end
