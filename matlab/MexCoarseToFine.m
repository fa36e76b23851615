function U = MexCoarseToFine(gpu, e, U)
%MexCoarseToFine  Interpolate a grid to the next finer one.
%   U = MexCoarseToFine(gpu, e [, U])
%
%   e is an M x M grid, boundary points included, or a vector of M^2 values; U has 2 M - 1 points per side. The
%   interpolation is bilinear, with the stencil 1/4 [1 2 1; 2 4 2; 1 2 1]. The result goes to U if it is
%   given, else to a new grid.
%
%   Example:
%     gpu = MexInitOpenCL();
%     U = MexCoarseToFine(gpu, MexMatrix(gpu, magic(3)));
%     MexHandleMatrix(gpu, U)
%
%   See also MexFineToCoarse.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, U = []; end
try
  U = clinalg_mex('MexCoarseToFine', gpu, e, U);
catch problem
  if nargin < 2, clinalg_mex('MexCoarseToFine'); end
  rethrow(problem);
end
end
