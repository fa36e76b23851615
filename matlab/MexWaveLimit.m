function dt = MexWaveLimit(gpu, points, c, lengths, sides)
%MexWaveLimit  Largest stable time step of the explicit scheme.
%   dt = MexWaveLimit(gpu, points [, c] [, lengths] [, sides])
%
%   dt = 1 / (c * sqrt(1 / hx^2 + 1 / hy^2 + ...)) with the largest speed c and the distances h of the points; the arguments are
%   those of MexWave.
%
%   Example:
%     gpu = MexInitOpenCL();
%     dt = MexWaveLimit(gpu, [201 101], [], [2 1])
%
%   See also MexWave.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 5, sides = []; end
if nargin < 4, lengths = []; end
if nargin < 3, c = []; end
try
  dt = clinalg_mex('MexWaveLimit', gpu, points, c, lengths, sides);
catch problem
  if nargin < 2, clinalg_mex('MexWaveLimit'); end
  rethrow(problem);
end
end
