function z = MexAxpby(gpu, alpha, x, beta, y, z)
%MexAxpby  alpha x + beta y.
%   z = MexAxpby(gpu, alpha, x, beta, y [, z])
%
%   z = alpha x + beta y with numbers alpha and beta, real unless x is complex, for two objects of the same
%   kind, shape and precision. The result goes to z if it is given, which may be x or y, else to a new object.
%
%   Example:
%     gpu = MexInitOpenCL();
%     x = MexMatrix(gpu, [1; 2]);
%     y = MexMatrix(gpu, [3; 4]);
%     z = MexAxpby(gpu, 2, x, -1, y);
%     MexHandleMatrix(gpu, z)
%
%   See also MexVectorPlusVector, MexVectorMinusVectorConstant, MexMultiplyAdd.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 6, z = []; end
try
  z = clinalg_mex('MexAxpby', gpu, alpha, x, beta, y, z);
catch problem
  if nargin < 5, clinalg_mex('MexAxpby'); end
  rethrow(problem);
end
end
