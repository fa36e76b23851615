function d = MexDiagonal(gpu, A)
%MexDiagonal  Copy the main diagonal of a matrix to a new vector.
%   d = MexDiagonal(gpu, A)
%
%   A is a full, sparse or band matrix; d is a column of min(rows, cols) values.
%
%   Example:
%     gpu = MexInitOpenCL();
%     d = MexDiagonal(gpu, MexSparseMatrix(gpu, sparse([4 1; 1 3])));
%     MexHandleMatrix(gpu, d)
%
%   See also MexTranspose.

% Made from the table in crates/clinalg-mex; edit it there.
try
  d = clinalg_mex('MexDiagonal', gpu, A);
catch problem
  if nargin < 2, clinalg_mex('MexDiagonal'); end
  rethrow(problem);
end
end
