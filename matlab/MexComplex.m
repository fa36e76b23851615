function c = MexComplex(gpu, re, im)
%MexComplex  A complex object from its parts.
%   c = MexComplex(gpu, re, im)
%
%   c = complex(re, im) for two full real matrices or vectors of the same shape and precision; a new object.
%
%   Example:
%     gpu = MexInitOpenCL();
%     c = MexComplex(gpu, MexMatrix(gpu, [1 2]), MexMatrix(gpu, [3 4]));
%     MexHandleMatrix(gpu, c)
%
%   See also MexRealPart, MexImagPart, MexConvert.

% Made from the table in crates/clinalg-mex; edit it there.
try
  c = clinalg_mex('MexComplex', gpu, re, im);
catch problem
  if nargin < 3, clinalg_mex('MexComplex'); end
  rethrow(problem);
end
end
