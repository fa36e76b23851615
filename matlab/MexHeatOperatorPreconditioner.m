function h = MexHeatOperatorPreconditioner(gpu, A, form)
%MexHeatOperatorPreconditioner  Make a preconditioner for an operator of the heat equation.
%   h = MexHeatOperatorPreconditioner(gpu, A [, form])
%
%   A is an operator V or D of MexHeatOperator. h is an approximate inverse of A by operator (Calderon-type)
%   preconditioning, D for V and V for D, on the same surface and time steps: the argument precond of MexGMRES.
%   form is as for MexHeatOperator and applies to the preconditioning operator. MexRelease frees h; A may be
%   released before it.
%
%   Example:
%     gpu = MexInitOpenCL();
%     nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
%     triangles = [1 3 2; 1 2 4; 1 4 3; 2 3 4];
%     D = MexHeatOperator(gpu, 'D', nodes, triangles, 0.5, 1, 4);
%     b = MexMatrix(gpu, ones(16, 1));
%     [u, flag] = MexGMRES(gpu, D, b, 16, 1e-8, 1, MexHeatOperatorPreconditioner(gpu, D));
%     flag
%
%   See also MexHeatOperator, MexHeatForward, MexGMRES, MexRelease.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, form = []; end
try
  h = clinalg_mex('MexHeatOperatorPreconditioner', gpu, A, form);
catch problem
  if nargin < 2, clinalg_mex('MexHeatOperatorPreconditioner'); end
  rethrow(problem);
end
end
