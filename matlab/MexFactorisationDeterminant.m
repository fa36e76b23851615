function d = MexFactorisationDeterminant(gpu, F)
%MexFactorisationDeterminant  Determinant of a matrix, from its factors.
%   d = MexFactorisationDeterminant(gpu, F)
%
%   d is the determinant, from LU, Cholesky or LDL; infinite or zero where it leaves the range. A sparse matrix that is singular
%   to working precision is an error.
%
%   Example:
%     gpu = MexInitOpenCL();
%     F = MexFactorisation(gpu, MexSparseMatrix(gpu, gallery('tridiag', 10)));
%     d = MexFactorisationDeterminant(gpu, F)
%
%   See also MexFactorisation, MexFactorisationCondition, MexDeterminant.

% Made from the table in crates/clinalg-mex; edit it there.
try
  d = clinalg_mex('MexFactorisationDeterminant', gpu, F);
catch problem
  if nargin < 2, clinalg_mex('MexFactorisationDeterminant'); end
  rethrow(problem);
end
end
