function [u, flag, relres, iter, history, reason, imbalance] = MexGridPoissonSolve(gpu, S, f, u)
%MexGridPoissonSolve  Solve the Poisson problem on a box.
%   [u, flag, relres, iter, history, reason, imbalance] = MexGridPoissonSolve(gpu, S, f [, u])
%
%   S is a solver of MexGridPoisson. f has one value for each point, x fastest. The argument u is the initial guess
%   (default 0), the result u the solution, with the shape of f. On vertex-centred sides with u = g, u is g, and f is
%   read for order 4 only.
%   flag is 0 if the tolerance was met, 1 if the maximum number of cycles was reached, 3 if the residual stopped
%   falling (possibly at the rounding floor), 4 for data that are not finite, 5 if Ctrl-C stopped it. relres is
%   the relative residual, iter the number of cycles, history the relative residual before the first and after each
%   cycle, reason the meaning of flag as text.
%   With all sides 0 or NaN and c = 0, u is determined only up to a constant. Its mean is then 0, f and the values of
%   the sides must balance, and imbalance is their relative imbalance, which was removed. Otherwise imbalance is NaN.
%
%   Example:
%     gpu = MexInitOpenCL();
%     S = MexGridPoisson(gpu, [65 33 17], 1, 0.5, 0.25, [], 'vertex', [1 2 4]);
%     [u, flag, relres, iter] = MexGridPoissonSolve(gpu, S, ones(65, 33 * 17));
%     u = reshape(u, 65, 33, 17);
%     u(33, 17, 9)
%
%   See also MexGridPoisson, MexGridPoissonSide, MexPoisson.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, u = []; end
try
  [u, flag, relres, iter, history, reason, imbalance] = clinalg_mex('MexGridPoissonSolve', gpu, S, f, u);
catch problem
  if nargin < 3, clinalg_mex('MexGridPoissonSolve'); end
  rethrow(problem);
end
end
