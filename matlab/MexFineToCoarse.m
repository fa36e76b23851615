function R = MexFineToCoarse(gpu, d, R)
%MexFineToCoarse  Restrict a grid to the next coarser one.
%   R = MexFineToCoarse(gpu, d [, R])
%
%   d is an N x N grid, boundary points included, or a vector of N^2 values, with N odd; R has (N + 1) / 2
%   points per side. Inside it is the full weighting with the stencil 1/16 [1 2 1; 2 4 2; 1 2 1], on the
%   boundary 0. The result goes to R if it is given, else to a new grid.
%
%   Example:
%     gpu = MexInitOpenCL();
%     R = MexFineToCoarse(gpu, MexMatrix(gpu, ones(5)));
%     MexHandleMatrix(gpu, R)
%
%   See also MexCoarseToFine, MexPoissonDefect.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, R = []; end
try
  R = clinalg_mex('MexFineToCoarse', gpu, d, R);
catch problem
  if nargin < 2, clinalg_mex('MexFineToCoarse'); end
  rethrow(problem);
end
end
