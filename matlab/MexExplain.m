function words = MexExplain(gpu, A)
%MexExplain  How products of a sparse matrix run; what an array waits for.
%   words = MexExplain(gpu, A)
%
%   A is a sparse matrix or an array of another kind. At upload of a sparse matrix the library looks for structure: a stencil
%   with constant coefficients, entries on few diagonals, rows of very different lengths. words is a sentence that describes it.
%   Of an array that MexLazy or MexLazy2 made it says the expression, and what the one kernel reads and writes.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, spdiags(ones(1000, 3), -1 : 1, 1000, 1000));
%     MexExplain(gpu, A)
%
%   See also MexSetFormat, MexSparseMatrixVector.

% Made from the table in crates/clinalg-mex; edit it there.
try
  words = clinalg_mex('MexExplain', gpu, A);
catch problem
  if nargin < 2, clinalg_mex('MexExplain'); end
  rethrow(problem);
end
end
