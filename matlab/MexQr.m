function [Q, R] = MexQr(gpu, A, economy)
%MexQr  QR factorisation of a full matrix.
%   [Q, R] = MexQr(gpu, A [, economy])
%
%   A = Q R of a full m x n matrix by Householder reflections: Q is m x m with orthonormal columns and R m x n, zero below
%   its diagonal; with economy 1, Q has min(m, n) columns and R as many rows.
%
%   Example:
%     gpu = MexInitOpenCL();
%     [Q, R] = MexQr(gpu, MexMatrix(gpu, [1 2; 3 4; 5 6]), 1);
%     MexHandleMatrix(gpu, R)
%
%   See also MexLu, MexCholesky, MexSolveDense.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, economy = []; end
try
  [Q, R] = clinalg_mex('MexQr', gpu, A, economy);
catch problem
  if nargin < 2, clinalg_mex('MexQr'); end
  rethrow(problem);
end
end
