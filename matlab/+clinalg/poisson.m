function [u, flag, relres, iter, history] = poisson(f, varargin)
%clinalg.poisson  Solve the Poisson problem by multigrid on the device.
%   [u, flag, relres, iter, history] = clinalg.poisson(f, tol, maxit, u0, cycle, smoother, backend, d, s, mixed)
%
%   Solves -Laplace u + s u = f on the unit square. f is an N x N grid with N = 2^k + 1, boundary points
%   included, as a clinalg.array or a MATLAB array; u is of the same kind. With d = 3 the problem is on the unit cube, and f has N^3
%   values. u0 contains the boundary values and an initial guess; without it both are zero. The other arguments and the results are those of MexPoisson; all arguments except f
%   may be omitted or [].
%
%   Arguments after f may be name-value pairs, or a structure: Tolerance, MaxCycles, InitialGuess, Cycle, Smoother, Backend,
%   Dimensions, Shift, MixedPrecision.
%
%   Example:
%     N = 129;
%     [x, y] = meshgrid(linspace(0, 1, N));
%     u = clinalg.poisson(2 * pi^2 * sin(pi * x) .* sin(pi * y), 1e-9);
%     max(max(abs(u - sin(pi * x) .* sin(pi * y))))
%
%   See also MexPoisson, clinalg.pcg.
if nargin < 1
  error('clinalg:argument:count', 'clinalg.poisson: too few arguments; the call is clinalg.poisson(f, ...)');
end
o = clinalg.operands.arguments('clinalg.poisson', varargin, ...
  {'Tolerance', 'MaxCycles', 'InitialGuess', 'Cycle*', 'Smoother*', 'Backend*', 'Dimensions', 'Shift', 'MixedPrecision'}, {});
on_device = isa(f, 'clinalg.array');
if ~on_device
  f = clinalg.matrix(f);
end
u = clinalg.operands.start(f, f, o.initialguess);
[~, flag, relres, iter, history, reason] = clinalg_mex('MexPoisson', 0, f.h, o.tolerance, o.maxcycles, u.h, o.cycle, ...
  o.smoother, o.backend, o.dimensions, o.shift, o.mixedprecision);
if nargout < 2 && flag ~= 0
  warning('clinalg:solve:notConverged', 'poisson: %s (relative residual %.1e)', reason, relres);
end
if ~on_device
  u = gather(u);
end
end
