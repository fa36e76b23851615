function c = MexConvert(gpu, a, single, complex)
%MexConvert  Copy an object in single or double precision.
%   c = MexConvert(gpu, a, single [, complex])
%
%   c is a new object of the kind and shape of a, in single precision for single = 1, in double for 0; complex
%   for complex = 1, else as a is. A complex object has no real copy: see MexRealPart.
%
%   Example:
%     gpu = MexInitOpenCL();
%     a = MexMatrix(gpu, [0.1; 0.2]);
%     c = MexConvert(gpu, a, 1);
%     class(MexHandleMatrix(gpu, c))
%
%   See also MexCopy.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, complex = []; end
try
  c = clinalg_mex('MexConvert', gpu, a, single, complex);
catch problem
  if nargin < 3, clinalg_mex('MexConvert'); end
  rethrow(problem);
end
end
