function s = MexNorm1(gpu, a)
%MexNorm1  Sum of magnitudes.
%   s = MexNorm1(gpu, a)
%
%   s = sum(abs(a(:))), of the precision of a, an object of any kind.
%
%   Example:
%     gpu = MexInitOpenCL();
%     a = MexMatrix(gpu, [-3; 4]);
%     s = MexNorm1(gpu, a)
%
%   See also MexNorm2, MexNormInf, MexSum.

% Made from the table in crates/clinalg-mex; edit it there.
try
  s = clinalg_mex('MexNorm1', gpu, a);
catch problem
  if nargin < 2, clinalg_mex('MexNorm1'); end
  rethrow(problem);
end
end
