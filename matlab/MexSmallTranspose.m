function c = MexSmallTranspose(gpu, a, conjugate)
%MexSmallTranspose  The transpose of a small full matrix.
%   c = MexSmallTranspose(gpu, a, conjugate)
%
%   c is a new object, the transpose of a, conjugated if conjugate is true. c is 0 for large, sparse and band matrices, those of
%   one element and arrays that MexMark has marked. a may also be a clinalg.array.
%
%   Example:
%     gpu = MexInitOpenCL();
%     MexHandleMatrix(gpu, MexSmallTranspose(gpu, MexMatrix(gpu, [1; 2i]), true))
%
%   See also MexTranspose, MexConjTranspose.

% Made from the table in crates/clinalg-mex; edit it there.
try
  c = clinalg_mex('MexSmallTranspose', gpu, a, conjugate);
catch problem
  if nargin < 3, clinalg_mex('MexSmallTranspose'); end
  rethrow(problem);
end
end
