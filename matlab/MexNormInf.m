function s = MexNormInf(gpu, a)
%MexNormInf  Largest magnitude.
%   s = MexNormInf(gpu, a)
%
%   s = max(abs(a(:))), of the precision of a, an object of any kind; 0 if it is empty, NaN if a value is NaN.
%
%   Example:
%     gpu = MexInitOpenCL();
%     a = MexMatrix(gpu, [-3; 4]);
%     s = MexNormInf(gpu, a)
%
%   See also MexNorm1, MexNorm2.

% Made from the table in crates/clinalg-mex; edit it there.
try
  s = clinalg_mex('MexNormInf', gpu, a);
catch problem
  if nargin < 2, clinalg_mex('MexNormInf'); end
  rethrow(problem);
end
end
