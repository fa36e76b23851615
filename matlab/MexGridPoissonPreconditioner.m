function M = MexGridPoissonPreconditioner(gpu, S)
%MexGridPoissonPreconditioner  Multigrid cycle on a box as a preconditioner.
%   M = MexGridPoissonPreconditioner(gpu, S)
%
%   S is a solver of MexGridPoisson. M is a symmetric positive definite approximate inverse of MexGridPoissonOperator, a cycle
%   with the parameters of S: the argument precond of MexCG, also for a matrix close to that one. MexRelease frees it.
%
%   Example:
%     gpu = MexInitOpenCL();
%     S = MexGridPoisson(gpu, [60 40], [], [], [], [0 NaN; Inf NaN]);
%     M = MexGridPoissonPreconditioner(gpu, S);
%     info = MexInfo(gpu, M);
%     info.rows
%
%   See also MexGridPoissonOperator, MexGridPoisson, MexCG.

% Made from the table in crates/clinalg-mex; edit it there.
try
  M = clinalg_mex('MexGridPoissonPreconditioner', gpu, S);
catch problem
  if nargin < 2, clinalg_mex('MexGridPoissonPreconditioner'); end
  rethrow(problem);
end
end
