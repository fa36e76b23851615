function info = MexFactorisationReport(gpu, F)
%MexFactorisationReport  What the factors of a sparse matrix are.
%   info = MexFactorisationReport(gpu, F)
%
%   info is a structure with the fields
%     kind             'cholesky', 'ldl' or 'lu'
%     entries          stored numbers of the factors
%     operations       multiplications and additions of the factorisation
%     fronts           dense matrices in which pivots are eliminated
%     largestFront     rows of the largest of them
%     bytes            memory of the factors on the device
%     replacedPivots   pivots that were too small and were replaced
%     matched          whether rows were permuted for a large diagonal, or with LDL pairs of rows kept together
%     inertia          positive, negative and zero eigenvalues, a row; empty where the factors do not show them, as LU
%     backwardError    of the last solve: the largest abs(b - A*x) ./ (abs(A)*abs(x) + abs(b)); NaN before the first
%     refinements      of the last solve: steps of iterative refinement
%
%   Example:
%     gpu = MexInitOpenCL();
%     F = MexFactorisation(gpu, MexSparseMatrix(gpu, gallery('poisson', 20)));
%     info = MexFactorisationReport(gpu, F);
%     info.kind
%
%   See also MexFactorisation, MexFactorisationCondition.

% Made from the table in crates/clinalg-mex; edit it there.
try
  info = clinalg_mex('MexFactorisationReport', gpu, F);
catch problem
  if nargin < 2, clinalg_mex('MexFactorisationReport'); end
  rethrow(problem);
end
end
