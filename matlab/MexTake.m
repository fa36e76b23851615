function B = MexTake(gpu, A, rows, cols)
%MexTake  Rows and columns of a full matrix.
%   B = MexTake(gpu, A [, rows] [, cols])
%
%   B = A(rows, cols), a new object. rows and cols are positions from 1 on, in any order; all where they are left out or [].
%   Equally spaced positions are read without a list.
%
%   Example:
%     gpu = MexInitOpenCL();
%     B = MexTake(gpu, MexMatrix(gpu, magic(4)), [4 3], [1 2 4]);
%     MexHandleMatrix(gpu, B)
%
%   See also MexTakeLinear, MexPut, MexSlice.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, cols = []; end
if nargin < 3, rows = []; end
try
  B = clinalg_mex('MexTake', gpu, A, rows, cols);
catch problem
  if nargin < 2, clinalg_mex('MexTake'); end
  rethrow(problem);
end
end
