function C = MexSparsePart(gpu, A, rows, cols)
%MexSparsePart  Rows and columns of a sparse matrix.
%   C = MexSparsePart(gpu, A [, rows] [, cols])
%
%   C = A(rows, cols) for a sparse matrix A: a new sparse matrix. rows and cols are positions from 1 on, which may occur several
%   times; [] stands for all.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, sparse(magic(4)));
%     MexHandleMatrix(gpu, MexSparsePart(gpu, A, 2:3, [4 1]))
%
%   See also MexSparseBand, MexTake.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, cols = []; end
if nargin < 3, rows = []; end
try
  C = clinalg_mex('MexSparsePart', gpu, A, rows, cols);
catch problem
  if nargin < 2, clinalg_mex('MexSparsePart'); end
  rethrow(problem);
end
end
