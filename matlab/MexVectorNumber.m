function value = MexVectorNumber(gpu, name, a)
%MexVectorNumber  Sum or norm of a vector.
%   value = MexVectorNumber(gpu, name, a)
%
%   name is 'sum', 'norm1', 'norm2' or 'normInf'. value is [] unless a is a full object with one row or one column that is not
%   empty and that MexMark did not name. a may also be a clinalg.array.
%
%   Example:
%     gpu = MexInitOpenCL();
%     MexVectorNumber(gpu, 'norm2', MexMatrix(gpu, [3; 4]))
%
%   See also MexSum, MexNorm1, MexNorm2, MexNormInf.

% Made from the table in crates/clinalg-mex; edit it there.
try
  value = clinalg_mex('MexVectorNumber', gpu, name, a);
catch problem
  if nargin < 3, clinalg_mex('MexVectorNumber'); end
  rethrow(problem);
end
end
