function s = MexNorm2(gpu, a)
%MexNorm2  Euclidean norm.
%   s = MexNorm2(gpu, a)
%
%   s = sqrt(sum(abs(a(:)) .^ 2)), of the precision of a, an object of any kind; of a matrix it is the Frobenius
%   norm. Large and small values neither overflow nor underflow in between.
%
%   Example:
%     gpu = MexInitOpenCL();
%     a = MexMatrix(gpu, [-3; 4]);
%     s = MexNorm2(gpu, a)
%
%   See also MexNorm1, MexNormInf, MexDot.

% Made from the table in crates/clinalg-mex; edit it there.
try
  s = clinalg_mex('MexNorm2', gpu, a);
catch problem
  if nargin < 2, clinalg_mex('MexNorm2'); end
  rethrow(problem);
end
end
