function A = MexPoissonOperator(gpu, S)
%MexPoissonOperator  Matrix of the Poisson problem, as an operator.
%   A = MexPoissonOperator(gpu, S)
%
%   S is a solver of MexPoisson. A stands for the symmetric matrix that it inverts, with a row for each unknown, in
%   MexMultiply, MexCG and the like: the unknowns are the values where u is not given by a side. MexRelease frees it; S may be
%   released before.
%
%   Example:
%     gpu = MexInitOpenCL();
%     S = MexPoisson(gpu, [60 40]);
%     A = MexPoissonOperator(gpu, S);
%     b = MexPoissonRightSide(gpu, S, MexMatrix(gpu, ones(60, 40)));
%     [x, flag, relres, iter] = MexCG(gpu, A, b, 1e-8, 50, MexPoissonPreconditioner(gpu, S));
%     u = reshape(MexHandleMatrix(gpu, MexPoissonPoints(gpu, S, x)), 60, 40);
%
%   See also MexPoissonPreconditioner, MexPoissonRightSide, MexPoissonPoints, MexPoisson, MexCG.

% Made from the table in crates/clinalg-mex; edit it there.
try
  A = clinalg_mex('MexPoissonOperator', gpu, S);
catch problem
  if nargin < 2, clinalg_mex('MexPoissonOperator'); end
  rethrow(problem);
end
end
