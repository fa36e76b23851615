function MexFactorisationRefill(gpu, F, A)
%MexFactorisationRefill  New values for the factors of a sparse matrix.
%   MexFactorisationRefill(gpu, F, A)
%
%   A has its entries at the same positions as the matrix of F. The order of elimination is kept, which makes this
%   faster than new factors. After an error during the elimination F is of no matrix.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = gallery('poisson', 20);
%     F = MexFactorisation(gpu, MexSparseMatrix(gpu, A));
%     MexFactorisationRefill(gpu, F, MexSparseMatrix(gpu, A + speye(400)));
%
%   See also MexFactorisation.

% Made from the table in crates/clinalg-mex; edit it there.
try
  clinalg_mex('MexFactorisationRefill', gpu, F, A);
catch problem
  if nargin < 3, clinalg_mex('MexFactorisationRefill'); end
  rethrow(problem);
end
end
