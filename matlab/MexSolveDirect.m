function [x, info] = MexSolveDirect(gpu, A, b, limited)
%MexSolveDirect  Solve a system with a sparse matrix by a complete factorisation.
%   [x, info] = MexSolveDirect(gpu, A, b [, limited])
%
%   x = A \ b for a square sparse matrix A and a full b of one or more columns, real or complex, all of the same precision;
%   x is a new object. There is no tolerance: Cholesky factors where A is Hermitian positive definite, LDL where it is
%   Hermitian or complex symmetric, else those of LU, and iterative refinement. A matrix that is singular to working
%   precision is an error unless b lies in its range.
%     limited   whether a factorisation that takes longer than seconds is an error (default false)
%   info is a structure with the fields
%     kind             'cholesky', 'ldl' or 'lu'
%     backwardError    the largest abs(b - A*x) ./ (abs(A)*abs(x) + abs(b))
%     refinements      steps of iterative refinement
%     entries          stored numbers of the factors
%     operations       multiplications and additions of the factorisation
%     replacedPivots   pivots that were too small and were replaced
%     matched          whether rows were permuted for a large diagonal
%     rcond            an estimate of the reciprocal condition number in the 1-norm where the pivots suggest that A is nearly
%                      singular, else NaN
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, gallery('poisson', 20));
%     [x, info] = MexSolveDirect(gpu, A, MexMatrix(gpu, ones(400, 1)));
%     info.kind
%
%   See also MexSolveSparse, MexPreconditioner, MexSolveDense.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, limited = []; end
try
  [x, info] = clinalg_mex('MexSolveDirect', gpu, A, b, limited);
catch problem
  if nargin < 3, clinalg_mex('MexSolveDirect'); end
  rethrow(problem);
end
end
