function C = MexSparseBand(gpu, A, low, high)
%MexSparseBand  Some diagonals of a sparse matrix.
%   C = MexSparseBand(gpu, A, low, high)
%
%   C has the entries A(i, j) with low <= j - i <= high: tril(A) for -Inf and 0, triu(A) for 0 and Inf, the diagonal as a matrix
%   for 0 and 0. C is a new sparse matrix.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, sparse(magic(4)));
%     MexHandleMatrix(gpu, MexSparseBand(gpu, A, -Inf, 0))
%
%   See also MexSparsePart, MexDiagonal.

% Made from the table in crates/clinalg-mex; edit it there.
try
  C = clinalg_mex('MexSparseBand', gpu, A, low, high);
catch problem
  if nargin < 4, clinalg_mex('MexSparseBand'); end
  rethrow(problem);
end
end
