function [u, flag, relres, iter, history, reason, imbalance] = MexPoissonSolve(gpu, S, f, u)
%MexPoissonSolve  Solve the Poisson problem by multigrid.
%   [u, flag, relres, iter, history, reason, imbalance] = MexPoissonSolve(gpu, S, f [, u])
%
%   S is a solver of MexPoisson. f has one value for each point, x fastest. u holds the initial guess and becomes the
%   solution; without it the guess is 0 and the result a new array like f. On vertex-centred sides with u = g, u is g, or keeps
%   its values where MexPoissonSide has set none, and f is read for order 4 only.
%   flag is 0 if the tolerance was met, 1 if the maximum number of cycles was reached, 3 if the residual stopped
%   falling (possibly at the rounding floor), 4 for data that are not finite, 5 if Ctrl-C stopped it. relres is
%   the relative residual, iter the number of cycles, history the relative residual before the first and after each
%   cycle, reason the meaning of flag as text.
%   With all sides 0 or NaN and c = 0, u is determined only up to a constant. Its mean is then 0, f and the values of
%   the sides must balance, and imbalance is their relative imbalance, which was removed. Otherwise imbalance is NaN.
%
%   Example:
%     gpu = MexInitOpenCL();
%     N = 129;
%     [x, y] = ndgrid(linspace(0, 1, N));
%     f = MexMatrix(gpu, 2 * pi^2 * sin(pi * x) .* sin(pi * y));
%     [u, flag, relres, iter] = MexPoissonSolve(gpu, MexPoisson(gpu, [N N]), f);
%     max(max(abs(MexHandleMatrix(gpu, u) - sin(pi * x) .* sin(pi * y))))
%
%   See also MexPoisson, MexPoissonSide, MexRBGS, MexPoissonDefect.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, u = []; end
try
  [u, flag, relres, iter, history, reason, imbalance] = clinalg_mex('MexPoissonSolve', gpu, S, f, u);
catch problem
  if nargin < 3, clinalg_mex('MexPoissonSolve'); end
  rethrow(problem);
end
end
