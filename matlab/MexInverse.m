function [B, rcond] = MexInverse(gpu, A)
%MexInverse  Inverse of a full matrix.
%   [B, rcond] = MexInverse(gpu, A)
%
%   B is the inverse of a square full matrix, rcond an estimate of its reciprocal condition number in the 1-norm. A
%   singular matrix is an error. To solve a system, MexSolveDense is faster and more accurate.
%
%   Example:
%     gpu = MexInitOpenCL();
%     [B, rcond] = MexInverse(gpu, MexMatrix(gpu, [2 1; 1 1]));
%     MexHandleMatrix(gpu, B)
%
%   See also MexSolveDense, MexLu, MexDeterminant.

% Made from the table in crates/clinalg-mex; edit it there.
try
  [B, rcond] = clinalg_mex('MexInverse', gpu, A);
catch problem
  if nargin < 2, clinalg_mex('MexInverse'); end
  rethrow(problem);
end
end
