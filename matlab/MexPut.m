function MexPut(gpu, A, B, rows, cols)
%MexPut  Write rows and columns of a full matrix.
%   MexPut(gpu, A, B [, rows] [, cols])
%
%   A(rows, cols) = B, in place. rows and cols are positions from 1 on, each at most once; all where they are left out or [].
%   B has the values of the part, or one for all of them.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexZeros(gpu, 3, 4);
%     MexPut(gpu, A, MexMatrix(gpu, [1 2]), 2, [1 4]);
%     MexHandleMatrix(gpu, A)
%
%   See also MexPutLinear, MexTake, MexWriteSlice.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 5, cols = []; end
if nargin < 4, rows = []; end
try
  clinalg_mex('MexPut', gpu, A, B, rows, cols);
catch problem
  if nargin < 3, clinalg_mex('MexPut'); end
  rethrow(problem);
end
end
