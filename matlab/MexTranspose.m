function T = MexTranspose(gpu, A)
%MexTranspose  Transpose a full or sparse matrix.
%   T = MexTranspose(gpu, A)
%
%   A is a full matrix or vector, or a sparse matrix; T is A.', a new object of the same kind and precision. A
%   product with the transpose needs no T: see MexMatrixTransposeVector.
%
%   Example:
%     gpu = MexInitOpenCL();
%     T = MexTranspose(gpu, MexSparseMatrix(gpu, sparse([0 1; 0 0])));
%     MexHandleMatrix(gpu, T)
%
%   See also MexConjTranspose, MexMatrixTransposeVector, MexSparseMatrixTransposeVector.

% Made from the table in crates/clinalg-mex; edit it there.
try
  T = clinalg_mex('MexTranspose', gpu, A);
catch problem
  if nargin < 2, clinalg_mex('MexTranspose'); end
  rethrow(problem);
end
end
