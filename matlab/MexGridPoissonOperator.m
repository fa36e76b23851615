function A = MexGridPoissonOperator(gpu, S)
%MexGridPoissonOperator  Matrix of the Poisson problem on a box, as an operator.
%   A = MexGridPoissonOperator(gpu, S)
%
%   S is a solver of MexGridPoisson. A stands for the symmetric matrix that it inverts, with a row for each unknown, in
%   MexMultiply, MexCG and the like: the unknowns are the values where u is not given by a side. MexRelease frees it; S may be
%   released before.
%
%   Example:
%     gpu = MexInitOpenCL();
%     S = MexGridPoisson(gpu, [60 40]);
%     A = MexGridPoissonOperator(gpu, S);
%     b = MexGridPoissonRightSide(gpu, S, MexMatrix(gpu, ones(60, 40)));
%     [x, flag, relres, iter] = MexCG(gpu, A, b, 1e-8, 50, MexGridPoissonPreconditioner(gpu, S));
%     u = reshape(MexHandleMatrix(gpu, MexGridPoissonPoints(gpu, S, x)), 60, 40);
%
%   See also MexGridPoissonPreconditioner, MexGridPoissonRightSide, MexGridPoissonPoints, MexGridPoisson, MexCG.

% Made from the table in crates/clinalg-mex; edit it there.
try
  A = clinalg_mex('MexGridPoissonOperator', gpu, S);
catch problem
  if nargin < 2, clinalg_mex('MexGridPoissonOperator'); end
  rethrow(problem);
end
end
