function c = MexReduce(gpu, name, a, dim)
%MexReduce  Sums, products or extrema of the columns or rows of an array.
%   c = MexReduce(gpu, name, a [, dim])
%
%   c = name(a, dim) for a full matrix or vector: a new object with one row (dim = 1) or one column (dim = 2), or a number where
%   that has one element. Without dim it is the first dimension that is longer than 1. name is 'sum' or 'prod', of real arrays
%   also 'max' or 'min', which pass over NaN. c is [] for other dimensions, extrema of complex numbers, and objects that are not
%   full, are empty, have one element and no dim, or that MexMark has marked. a may also be a clinalg.array.
%
%   Example:
%     gpu = MexInitOpenCL();
%     c = MexReduce(gpu, 'sum', MexMatrix(gpu, magic(3)), 1);
%     MexHandleMatrix(gpu, c)
%
%   See also MexSum, MexNormInf.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, dim = []; end
try
  c = clinalg_mex('MexReduce', gpu, name, a, dim);
catch problem
  if nargin < 3, clinalg_mex('MexReduce'); end
  rethrow(problem);
end
end
