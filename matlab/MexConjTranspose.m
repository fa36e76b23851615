function T = MexConjTranspose(gpu, A)
%MexConjTranspose  Conjugate transpose of a full or sparse matrix.
%   T = MexConjTranspose(gpu, A)
%
%   A is a full matrix or vector, or a sparse matrix; T is A', a new object of the same kind and precision. A
%   product with A' needs no T: see MexMultiplyTranspose.
%
%   Example:
%     gpu = MexInitOpenCL();
%     T = MexConjTranspose(gpu, MexMatrix(gpu, [1 2i]));
%     MexHandleMatrix(gpu, T)
%
%   See also MexTranspose, MexConj, MexMultiplyTranspose.

% Made from the table in crates/clinalg-mex; edit it there.
try
  T = clinalg_mex('MexConjTranspose', gpu, A);
catch problem
  if nargin < 2, clinalg_mex('MexConjTranspose'); end
  rethrow(problem);
end
end
