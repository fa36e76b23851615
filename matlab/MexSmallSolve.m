function x = MexSmallSolve(gpu, A, b)
%MexSmallSolve  Solve a small system with a full matrix.
%   x = MexSmallSolve(gpu, A, b)
%
%   x = A \ b, a new object, for a small square A. x is 0 where that is left to MexSolveDense: of large, rectangular, singular or
%   nearly singular A, of operands of two classes and where sizes do not agree. A and b may also be of class clinalg.array.
%
%   Example:
%     gpu = MexInitOpenCL();
%     x = MexSmallSolve(gpu, MexMatrix(gpu, [4 1; 1 3]), MexMatrix(gpu, [1; 2]));
%     MexHandleMatrix(gpu, x)
%
%   See also MexSolveDense.

% Made from the table in crates/clinalg-mex; edit it there.
try
  x = clinalg_mex('MexSmallSolve', gpu, A, b);
catch problem
  if nargin < 3, clinalg_mex('MexSmallSolve'); end
  rethrow(problem);
end
end
