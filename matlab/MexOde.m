function [t, y, stats, te, ye, ie] = MexOde(gpu, system, times, y0, tol, method, steps, variant, data, n, single)
%MexOde  Solve an initial value problem of ordinary differential equations.
%   [t, y, stats, te, ye, ie] = MexOde(gpu, system, times, y0 [, tol] [, method] [, steps] [, variant] [, data] [, n] [, single])
%
%   system is a description of y' = f(t, y), one statement per line, such as
%     grid 64 32                       points along each axis; one point without this line
%     parameter a = 0.25
%     u' = a*(u[-1,0] - 2*u + u[1,0])  the derivative of a field by a formula
%     boundary periodic                or mirror, copy, value and a formula for each field
%     event falling terminal = u       zeros of a formula; rising, falling, terminal, and 'at 3 0' with grid indices
%                                      from 0 on, are optional
%   (docs/guide/ode/reference.md lists them all), or the name of a test problem, with n points along each axis; lines with events
%   may follow. Powers group as in MATLAB: 2^3^2 is 64 (512 in files of the program). y0 has all points of the first field,
%   then those of the next; [] takes the values of a test problem.
%
%   times has the first and the last time; the solution is then returned at the end of every step. With more than two
%   times it is returned at these. Decreasing times integrate backwards. Row k of y is the solution at t(k). te are the
%   times of events, the rows of ye the solutions there, ie the numbers of the events, in the order of their lines from 1
%   on; the last row of y is that of a terminal event.
%     tol      [relative absolute] tolerance of a step (default [1e-3 1e-6]); [relative absolute_1 ...] with
%              an absolute tolerance for each number of y0
%     method   'dopri54' (default), 'bs32', 'verner65', 'dopri87', 'rk4', ...; 'rkc', stabilised steps for diffusion
%     steps    [fixed first largest limit refine]: steps of a fixed size, the first and the largest step, the
%              maximum number of steps; with two times, the number of output times per step in place of
%              its end alone; 0 for the default
%     variant  how a step is divided into kernels, 'auto' (default), 'fused', 'basic', ...
%     data     a column for each line 'data name' of the system, with a number for each point
%     n        points along each axis of a test problem
%     single   1 computes in single precision (default 0)
%   stats counts steps and evaluations.
%
%   Example:
%     gpu = MexInitOpenCL();
%     [t, y] = MexOde(gpu, sprintf('x'' = v\nv'' = -x'), [0 pi], [0 1], [1e-8 1e-10]);
%     [y(end, 1), y(end, 2)]
%
%   See also MexInitOpenCL, MexOdeBegin, MexWave.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 11, single = []; end
if nargin < 10, n = []; end
if nargin < 9, data = []; end
if nargin < 8, variant = []; end
if nargin < 7, steps = []; end
if nargin < 6, method = []; end
if nargin < 5, tol = []; end
try
  [t, y, stats, te, ye, ie] = clinalg_mex('MexOde', gpu, system, times, y0, tol, method, steps, variant, data, n, single);
catch problem
  if nargin < 4, clinalg_mex('MexOde'); end
  rethrow(problem);
end
end
