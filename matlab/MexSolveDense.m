function x = MexSolveDense(gpu, A, b, factorisation)
%MexSolveDense  Solve a system with a full matrix by factorisation.
%   x = MexSolveDense(gpu, A, b [, factorisation])
%
%   x = A \ b for a full matrix A and a full b of one or more columns, real or complex, all of one precision; x
%   is a new object. factorisation is 'lu' (default for square A), 'cholesky' for a Hermitian positive definite
%   A, of which the lower triangle is read, or 'qr' (default otherwise) for least squares with at least as many
%   rows as columns. A singular matrix is an error.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexMatrix(gpu, [4 1i; -1i 3]);
%     x = MexSolveDense(gpu, A, MexMatrix(gpu, [1i; 2]));
%     MexHandleMatrix(gpu, x)
%
%   See also MexCG, MexGMRES.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, factorisation = []; end
try
  x = clinalg_mex('MexSolveDense', gpu, A, b, factorisation);
catch problem
  if nargin < 3, clinalg_mex('MexSolveDense'); end
  rethrow(problem);
end
end
