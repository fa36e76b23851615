function c = MexVectorMinusVectorConstant(gpu, a, b, k, c)
%MexVectorMinusVectorConstant  a - k b.
%   c = MexVectorMinusVectorConstant(gpu, a, b, k [, c])
%
%   c = a - k b with a number k, real unless a is complex; the other arguments are those of MexVectorPlusVector.
%
%   Example:
%     gpu = MexInitOpenCL();
%     a = MexMatrix(gpu, [1; 2]);
%     b = MexMatrix(gpu, [3; 4]);
%     c = MexVectorMinusVectorConstant(gpu, a, b, 0.5);
%     MexHandleMatrix(gpu, c)
%
%   See also MexVectorMinusVector, MexAxpby.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 5, c = []; end
try
  c = clinalg_mex('MexVectorMinusVectorConstant', gpu, a, b, k, c);
catch problem
  if nargin < 4, clinalg_mex('MexVectorMinusVectorConstant'); end
  rethrow(problem);
end
end
