function [x, rcond, rank, tolerance] = MexSolveDense(gpu, A, b, factorisation)
%MexSolveDense  Solve a system with a full matrix by factorisation.
%   [x, rcond, rank, tolerance] = MexSolveDense(gpu, A, b [, factorisation])
%
%   x = A \ b for a full matrix A and a full b of one or more columns, real or complex, all of the same precision; x
%   is a new object. factorisation is 'auto' (default), which solves by substitution where A is a triangle, by
%   Cholesky where it is Hermitian positive definite, else by LU, and by QR in the sense of least squares where it is not
%   square; or 'lu', 'cholesky', of which the lower triangle of A is read, or 'qr'. A singular square matrix
%   is an error, except with 'qr', which gives the minimum-norm least-squares solution. rcond is an estimate of the
%   reciprocal condition number of a square A with 'auto', otherwise NaN. rank is the numerical rank if QR was used, and
%   tolerance the threshold it was found with.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexMatrix(gpu, [4 1i; -1i 3]);
%     x = MexSolveDense(gpu, A, MexMatrix(gpu, [1i; 2]));
%     MexHandleMatrix(gpu, x)
%
%   See also MexLu, MexCholesky, MexQr, MexCG, MexGMRES.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, factorisation = []; end
try
  [x, rcond, rank, tolerance] = clinalg_mex('MexSolveDense', gpu, A, b, factorisation);
catch problem
  if nargin < 3, clinalg_mex('MexSolveDense'); end
  rethrow(problem);
end
end
