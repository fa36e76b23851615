function c = MexVectorMinusVector(gpu, a, b, c)
%MexVectorMinusVector  Difference of two objects.
%   c = MexVectorMinusVector(gpu, a, b [, c])
%
%   c = a - b; the arguments are those of MexVectorPlusVector.
%
%   Example:
%     gpu = MexInitOpenCL();
%     a = MexMatrix(gpu, [1; 2]);
%     b = MexMatrix(gpu, [3; 4]);
%     c = MexVectorMinusVector(gpu, a, b);
%     MexHandleMatrix(gpu, c)
%
%   See also MexVectorPlusVector, MexVectorMinusVectorConstant, MexAxpby.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, c = []; end
try
  c = clinalg_mex('MexVectorMinusVector', gpu, a, b, c);
catch problem
  if nargin < 3, clinalg_mex('MexVectorMinusVector'); end
  rethrow(problem);
end
end
