function [L, minor] = MexCholesky(gpu, A)
%MexCholesky  Cholesky factorisation of a full matrix.
%   [L, minor] = MexCholesky(gpu, A)
%
%   A = L L' of a Hermitian positive definite full matrix, of which the lower triangle is read. minor is 0, or the order
%   of the first leading minor that is not positive where there is no factorisation; L is 0 then.
%
%   Example:
%     gpu = MexInitOpenCL();
%     L = MexCholesky(gpu, MexMatrix(gpu, [4 2; 2 5]));
%     MexHandleMatrix(gpu, L)
%
%   See also MexLu, MexQr, MexSolveDense.

% Made from the table in crates/clinalg-mex; edit it there.
try
  [L, minor] = clinalg_mex('MexCholesky', gpu, A);
catch problem
  if nargin < 2, clinalg_mex('MexCholesky'); end
  rethrow(problem);
end
end
