function u = MexPoissonPoints(gpu, S, x, u)
%MexPoissonPoints  Values at all points, from the unknowns.
%   u = MexPoissonPoints(gpu, S, x [, u])
%
%   S is a solver of MexPoisson, x a solution with MexPoissonOperator. u, a new column or the one that is given, has
%   the values at all points, x fastest, on sides with u = g those of MexPoissonSide.
%
%   Example:
%     gpu = MexInitOpenCL();
%     S = MexPoisson(gpu, [60 40]);
%     MexPoissonSide(gpu, S, 1, 0, ones(40, 1));
%     b = MexPoissonRightSide(gpu, S, MexZeros(gpu, 60, 40));
%     u = MexHandleMatrix(gpu, MexPoissonPoints(gpu, S, b));
%     u(1)
%
%   See also MexPoissonOperator, MexPoissonRightSide.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, u = []; end
try
  u = clinalg_mex('MexPoissonPoints', gpu, S, x, u);
catch problem
  if nargin < 3, clinalg_mex('MexPoissonPoints'); end
  rethrow(problem);
end
end
