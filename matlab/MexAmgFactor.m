function factor = MexAmgFactor(gpu, M, A)
%MexAmgFactor  How much a cycle of algebraic multigrid reduces the error.
%   factor = MexAmgFactor(gpu, M, A)
%
%   M is one of MexAmg, A its matrix. factor is approximately the fraction of the error that a single cycle leaves: below
%   0.2 is good; near 1 the hierarchy does not suit the matrix.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, gallery('poisson', 30));
%     MexAmgFactor(gpu, MexAmg(gpu, A), A)
%
%   See also MexAmg, MexAmgInfo.

% Made from the table in crates/clinalg-mex; edit it there.
try
  factor = clinalg_mex('MexAmgFactor', gpu, M, A);
catch problem
  if nargin < 3, clinalg_mex('MexAmgFactor'); end
  rethrow(problem);
end
end
