function s = MexDot(gpu, a, b)
%MexDot  Dot product.
%   s = MexDot(gpu, a, b)
%
%   s = sum(conj(a) .* b) for two objects of the same kind, shape and precision. The same call on the same
%   device gives the same bits.
%
%   Example:
%     gpu = MexInitOpenCL();
%     a = MexMatrix(gpu, [1; 2]);
%     b = MexMatrix(gpu, [3; 4]);
%     s = MexDot(gpu, a, b)
%
%   See also MexDotu, MexSum, MexNorm2, MexVectorTimesVector.

% Made from the table in crates/clinalg-mex; edit it there.
try
  s = clinalg_mex('MexDot', gpu, a, b);
catch problem
  if nargin < 3, clinalg_mex('MexDot'); end
  rethrow(problem);
end
end
