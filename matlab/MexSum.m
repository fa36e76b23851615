function s = MexSum(gpu, a)
%MexSum  Sum of all values.
%   s = MexSum(gpu, a)
%
%   s is a number of the precision of a, an object of any kind; of a sparse matrix the stored entries are
%   summed. The same call on the same device gives the same bits.
%
%   Example:
%     gpu = MexInitOpenCL();
%     a = MexMatrix(gpu, 1:100);
%     s = MexSum(gpu, a)
%
%   See also MexDot, MexNorm1.

% Made from the table in crates/clinalg-mex; edit it there.
try
  s = clinalg_mex('MexSum', gpu, a);
catch problem
  if nargin < 2, clinalg_mex('MexSum'); end
  rethrow(problem);
end
end
