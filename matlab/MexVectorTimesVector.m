function c = MexVectorTimesVector(gpu, a, b, c)
%MexVectorTimesVector  Product of two objects, element by element.
%   c = MexVectorTimesVector(gpu, a, b [, c])
%
%   c = a .* b; the arguments are those of MexVectorPlusVector.
%
%   Example:
%     gpu = MexInitOpenCL();
%     a = MexMatrix(gpu, [1; 2]);
%     b = MexMatrix(gpu, [3; 4]);
%     c = MexVectorTimesVector(gpu, a, b);
%     MexHandleMatrix(gpu, c)
%
%   See also MexVectorTimesConstant, MexDot.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, c = []; end
try
  c = clinalg_mex('MexVectorTimesVector', gpu, a, b, c);
catch problem
  if nargin < 3, clinalg_mex('MexVectorTimesVector'); end
  rethrow(problem);
end
end
