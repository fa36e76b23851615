function problem = MexElasto(gpu, nodes, elements, material, domain, boundary, rule, single)
%MexElasto  Make a problem of elastodynamics: a surface with a material on one side.
%   problem = MexElasto(gpu, nodes, elements, material [, domain] [, boundary] [, rule] [, single])
%
%   For (lambda + mu) grad div u + mu Laplace u + rho w^2 u = 0 with the time factor exp(i w t), by collocated
%   boundary elements: displacements u and tractions t are constant on each of m elements. nodes is n x 3,
%   elements m x 4 with the numbers of nodes from 1 on, anticlockwise seen from outside; a triangle names its
%   last node twice, and m x 3 are triangles. The surface is closed. material is [shear modulus, Poisson's ratio,
%   density] or, with hysteretic damping D that makes the modulus G (1 + 2 i D), [G, nu, rho, D].
%     domain    'interior' (default): the material is inside; 'exterior': outside, up to infinity
%     boundary  number of elements with unknowns; those after them enclose an open patch (default: all)
%     rule      Gauss points per direction, an even number from 2 to 16, or 0 for fewer points far away (default 8)
%     single    1 computes in single precision (default 0)
%   MexRelease frees it.
%
%   Example:
%     gpu = MexInitOpenCL();
%     nodes = [-1 -1 -1; 1 -1 -1; 1 1 -1; -1 1 -1; -1 -1 1; 1 -1 1; 1 1 1; -1 1 1];
%     elements = [1 4 3 2; 5 6 7 8; 1 2 6 5; 2 3 7 6; 3 4 8 7; 4 1 5 8];
%     problem = MexElasto(gpu, nodes, elements, [1 0.3 1 0.01]);
%     [centres, normals] = MexElastoSurface(gpu, problem);
%     [u, t] = MexElastoSolve(gpu, problem, 1, zeros(18, 1), reshape(normals.', [], 1));
%     size(u)
%
%   See also MexElastoSurface, MexElastoMatrices, MexElastoSolve, MexElastoEvaluate, MexRelease.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 8, single = []; end
if nargin < 7, rule = []; end
if nargin < 6, boundary = []; end
if nargin < 5, domain = []; end
try
  problem = clinalg_mex('MexElasto', gpu, nodes, elements, material, domain, boundary, rule, single);
catch problem
  if nargin < 4, clinalg_mex('MexElasto'); end
  rethrow(problem);
end
end
