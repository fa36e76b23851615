function c = MexCopy(gpu, a, c)
%MexCopy  Copy an object on the device.
%   c = MexCopy(gpu, a [, c])
%
%   a is an object of any kind. The copy goes to c, an object of the same kind, shape and precision, or to a
%   new one.
%
%   Example:
%     gpu = MexInitOpenCL();
%     a = MexMatrix(gpu, [1; 2]);
%     c = MexCopy(gpu, a);
%     MexHandleMatrix(gpu, c)
%
%   See also MexVectorTimesConstant, MexConvert.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, c = []; end
try
  c = clinalg_mex('MexCopy', gpu, a, c);
catch problem
  if nargin < 2, clinalg_mex('MexCopy'); end
  rethrow(problem);
end
end
