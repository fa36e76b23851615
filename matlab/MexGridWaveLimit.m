function dt = MexGridWaveLimit(gpu, points, lengths, sides, c)
%MexGridWaveLimit  Largest stable time step of a wave on a box.
%   dt = MexGridWaveLimit(gpu, points [, lengths] [, sides] [, c])
%
%   dt = 1 / (c * sqrt(1 / hx^2 + 1 / hy^2 + ...)) with the largest speed c and the distances h of the points; the arguments are
%   those of MexGridWave.
%
%   Example:
%     gpu = MexInitOpenCL();
%     dt = MexGridWaveLimit(gpu, [201 101], [2 1])
%
%   See also MexGridWave.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 5, c = []; end
if nargin < 4, sides = []; end
if nargin < 3, lengths = []; end
try
  dt = clinalg_mex('MexGridWaveLimit', gpu, points, lengths, sides, c);
catch problem
  if nargin < 2, clinalg_mex('MexGridWaveLimit'); end
  rethrow(problem);
end
end
