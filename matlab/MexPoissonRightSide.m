function b = MexPoissonRightSide(gpu, S, f, b)
%MexPoissonRightSide  Right-hand side for the operator of the Poisson problem.
%   b = MexPoissonRightSide(gpu, S, f [, b])
%
%   S is a solver of MexPoisson, f has one value for each point. b, a new column or the one that is given, is the right-hand
%   side of MexPoissonOperator for f and the values that MexPoissonSide has set: f integrated over the surroundings of
%   each unknown.
%
%   Example:
%     gpu = MexInitOpenCL();
%     S = MexPoisson(gpu, [60 40]);
%     b = MexPoissonRightSide(gpu, S, MexMatrix(gpu, ones(60, 40)));
%     MexSize(gpu, b)
%
%   See also MexPoissonOperator, MexPoissonPoints.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, b = []; end
try
  b = clinalg_mex('MexPoissonRightSide', gpu, S, f, b);
catch problem
  if nargin < 3, clinalg_mex('MexPoissonRightSide'); end
  rethrow(problem);
end
end
