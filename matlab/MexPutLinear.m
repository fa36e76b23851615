function MexPutLinear(gpu, A, B, at)
%MexPutLinear  Write elements of a full matrix or vector by their number.
%   MexPutLinear(gpu, A, B [, at])
%
%   A(at) = B, in place. at holds the numbers of the elements, which count from 1 column by column, each at most once; all where
%   it is left out or []. B has as many values, or one for all of them.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexZeros(gpu, 3, 3);
%     MexPutLinear(gpu, A, MexMatrix(gpu, 7), [1 5 9]);
%     MexHandleMatrix(gpu, A)
%
%   See also MexPut, MexTakeLinear, MexWriteSlice.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, at = []; end
try
  clinalg_mex('MexPutLinear', gpu, A, B, at);
catch problem
  if nargin < 3, clinalg_mex('MexPutLinear'); end
  rethrow(problem);
end
end
