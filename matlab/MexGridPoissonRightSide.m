function b = MexGridPoissonRightSide(gpu, S, f, b)
%MexGridPoissonRightSide  Right-hand side for the operator on a box.
%   b = MexGridPoissonRightSide(gpu, S, f [, b])
%
%   S is a solver of MexGridPoisson, f has one value for each point. b, a new column or the one that is given, is the right-hand
%   side of MexGridPoissonOperator for f and the values that MexGridPoissonSide has set: f integrated over the surroundings of
%   each unknown.
%
%   Example:
%     gpu = MexInitOpenCL();
%     S = MexGridPoisson(gpu, [60 40]);
%     b = MexGridPoissonRightSide(gpu, S, MexMatrix(gpu, ones(60, 40)));
%     MexSize(gpu, b)
%
%   See also MexGridPoissonOperator, MexGridPoissonPoints.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, b = []; end
try
  b = clinalg_mex('MexGridPoissonRightSide', gpu, S, f, b);
catch problem
  if nargin < 3, clinalg_mex('MexGridPoissonRightSide'); end
  rethrow(problem);
end
end
