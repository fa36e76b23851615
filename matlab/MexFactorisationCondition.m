function rcond = MexFactorisationCondition(gpu, F)
%MexFactorisationCondition  Reciprocal condition number of a matrix, from its factors.
%   rcond = MexFactorisationCondition(gpu, F)
%
%   rcond is an estimate of the reciprocal condition number in the 1-norm, from LU or the factors of a sparse matrix: near
%   0 for a matrix that is singular to working precision.
%
%   Example:
%     gpu = MexInitOpenCL();
%     F = MexFactorisation(gpu, MexSparseMatrix(gpu, gallery('poisson', 20)));
%     condition = 1 / MexFactorisationCondition(gpu, F)
%
%   See also MexFactorisation, MexFactorisationDeterminant.

% Made from the table in crates/clinalg-mex; edit it there.
try
  rcond = clinalg_mex('MexFactorisationCondition', gpu, F);
catch problem
  if nargin < 2, clinalg_mex('MexFactorisationCondition'); end
  rethrow(problem);
end
end
