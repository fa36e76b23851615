function c = MexReduce(gpu, name, a, dim)
%MexReduce  Sums, products or extrema of the columns or rows of an array.
%   c = MexReduce(gpu, name, a, dim)
%
%   c = name(a, dim) for a full matrix or vector: a new object with one row (dim = 1) or one column (dim = 2). name is 'sum' or
%   'prod', of real arrays also 'max' or 'min', which pass over NaN.
%
%   Example:
%     gpu = MexInitOpenCL();
%     c = MexReduce(gpu, 'sum', MexMatrix(gpu, magic(3)), 1);
%     MexHandleMatrix(gpu, c)
%
%   See also MexSum, MexNormInf.

% Made from the table in crates/clinalg-mex; edit it there.
try
  c = clinalg_mex('MexReduce', gpu, name, a, dim);
catch problem
  if nargin < 4, clinalg_mex('MexReduce'); end
  rethrow(problem);
end
end
