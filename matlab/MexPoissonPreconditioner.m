function M = MexPoissonPreconditioner(gpu, S)
%MexPoissonPreconditioner  Multigrid cycle as a preconditioner.
%   M = MexPoissonPreconditioner(gpu, S)
%
%   S is a solver of MexPoisson. M is a symmetric positive definite approximate inverse of MexPoissonOperator, a cycle
%   with the parameters of S: the argument precond of MexCG, also for a matrix close to that one. MexRelease frees it.
%
%   Example:
%     gpu = MexInitOpenCL();
%     S = MexPoisson(gpu, [60 40], [], [], [], [0 NaN; Inf NaN]);
%     M = MexPoissonPreconditioner(gpu, S);
%     info = MexInfo(gpu, M);
%     info.rows
%
%   See also MexPoissonOperator, MexPoisson, MexCG.

% Made from the table in crates/clinalg-mex; edit it there.
try
  M = clinalg_mex('MexPoissonPreconditioner', gpu, S);
catch problem
  if nargin < 2, clinalg_mex('MexPoissonPreconditioner'); end
  rethrow(problem);
end
end
