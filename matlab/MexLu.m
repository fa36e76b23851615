function [L, U, rows] = MexLu(gpu, A)
%MexLu  LU factorisation of a full matrix.
%   [L, U, rows] = MexLu(gpu, A)
%
%   A(rows, :) = L U of a full m x n matrix by partial pivoting: L is m x min(m, n) with ones on its diagonal, U is
%   min(m, n) x n. A singular matrix has zeros on the diagonal of U and is not an error.
%
%   Example:
%     gpu = MexInitOpenCL();
%     [L, U, rows] = MexLu(gpu, MexMatrix(gpu, magic(3)));
%     MexHandleMatrix(gpu, L) * MexHandleMatrix(gpu, U)
%
%   See also MexCholesky, MexQr, MexSolveDense.

% Made from the table in crates/clinalg-mex; edit it there.
try
  [L, U, rows] = clinalg_mex('MexLu', gpu, A);
catch problem
  if nargin < 2, clinalg_mex('MexLu'); end
  rethrow(problem);
end
end
