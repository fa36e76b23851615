function B = MexTakeLinear(gpu, A, at, m, n)
%MexTakeLinear  Elements of a full matrix or vector by their number.
%   B = MexTakeLinear(gpu, A, at, m, n)
%
%   B = reshape(A(at), m, n), a new object. at holds the numbers of the elements, which count from 1 column by column; [] for all,
%   which makes B = reshape(A, m, n).
%
%   Example:
%     gpu = MexInitOpenCL();
%     B = MexTakeLinear(gpu, MexMatrix(gpu, magic(4)), 1:2:16, 2, 4);
%     MexHandleMatrix(gpu, B)
%
%   See also MexTake, MexPutLinear, MexSlice.

% Made from the table in crates/clinalg-mex; edit it there.
try
  B = clinalg_mex('MexTakeLinear', gpu, A, at, m, n);
catch problem
  if nargin < 5, clinalg_mex('MexTakeLinear'); end
  rethrow(problem);
end
end
