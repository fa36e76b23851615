function MexPoissonSide(gpu, S, direction, high, g)
%MexPoissonSide  Set the values of a side of a box.
%   MexPoissonSide(gpu, S, direction, high [, g])
%
%   S is a solver of MexPoisson. direction is 1 for x, 2 for y, 3 for z; high is 0 for the side where the coordinate
%   is smallest, 1 where it is largest. g has one value for each point of the side, the lower of the other
%   directions fastest; without g, the values of the side are cleared. Where sides with u = g meet, the values of the
%   last direction hold.
%
%   Example:
%     gpu = MexInitOpenCL();
%     S = MexPoisson(gpu, [60 40]);
%     MexPoissonSide(gpu, S, 2, 1, ones(60, 1));
%     u = MexHandleMatrix(gpu, MexPoissonSolve(gpu, S, MexZeros(gpu, 60, 40)));
%     u(30, 20)
%
%   See also MexPoisson, MexPoissonSolve.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 5, g = []; end
try
  clinalg_mex('MexPoissonSide', gpu, S, direction, high, g);
catch problem
  if nargin < 4, clinalg_mex('MexPoissonSide'); end
  rethrow(problem);
end
end
