function c = MexVectorPlusVector(gpu, a, b, c)
%MexVectorPlusVector  Sum of two objects.
%   c = MexVectorPlusVector(gpu, a, b [, c])
%
%   c = a + b, for two vectors or two matrices of the same kind, shape and precision; sparse matrices must
%   have their entries at the same positions. The result goes to c if it is given, which may be a or b, else
%   to a new object.
%
%   Example:
%     gpu = MexInitOpenCL();
%     a = MexMatrix(gpu, [1; 2]);
%     b = MexMatrix(gpu, [3; 4]);
%     c = MexVectorPlusVector(gpu, a, b);
%     MexHandleMatrix(gpu, c)
%
%   See also MexVectorMinusVector, MexVectorMinusVectorConstant, MexAxpby.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, c = []; end
try
  c = clinalg_mex('MexVectorPlusVector', gpu, a, b, c);
catch problem
  if nargin < 3, clinalg_mex('MexVectorPlusVector'); end
  rethrow(problem);
end
end
