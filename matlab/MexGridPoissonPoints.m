function u = MexGridPoissonPoints(gpu, S, x, u)
%MexGridPoissonPoints  Values at all points of a box, from the unknowns.
%   u = MexGridPoissonPoints(gpu, S, x [, u])
%
%   S is a solver of MexGridPoisson, x a solution with MexGridPoissonOperator. u, a new column or the one that is given, has
%   the values at all points, x fastest, on sides with u = g those of MexGridPoissonSide.
%
%   Example:
%     gpu = MexInitOpenCL();
%     S = MexGridPoisson(gpu, [60 40]);
%     MexGridPoissonSide(gpu, S, 1, 0, ones(40, 1));
%     b = MexGridPoissonRightSide(gpu, S, MexZeros(gpu, 60, 40));
%     u = MexHandleMatrix(gpu, MexGridPoissonPoints(gpu, S, b));
%     u(1)
%
%   See also MexGridPoissonOperator, MexGridPoissonRightSide.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, u = []; end
try
  u = clinalg_mex('MexGridPoissonPoints', gpu, S, x, u);
catch problem
  if nargin < 3, clinalg_mex('MexGridPoissonPoints'); end
  rethrow(problem);
end
end
