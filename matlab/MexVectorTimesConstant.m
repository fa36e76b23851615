function c = MexVectorTimesConstant(gpu, a, k, c)
%MexVectorTimesConstant  An object times a number.
%   c = MexVectorTimesConstant(gpu, a, k [, c])
%
%   c = k a with a number k, real unless a is complex, for an object a of any kind. The result goes to c if it is given, an object
%   of the same kind, shape and precision, which may be a, else to a new object.
%
%   Example:
%     gpu = MexInitOpenCL();
%     a = MexMatrix(gpu, [1; 2]);
%     c = MexVectorTimesConstant(gpu, a, 10);
%     MexHandleMatrix(gpu, c)
%
%   See also MexAxpby, MexVectorTimesVector.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, c = []; end
try
  c = clinalg_mex('MexVectorTimesConstant', gpu, a, k, c);
catch problem
  if nargin < 3, clinalg_mex('MexVectorTimesConstant'); end
  rethrow(problem);
end
end
