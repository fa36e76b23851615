function MexAmgRefill(gpu, M, A)
%MexAmgRefill  Fill an algebraic multigrid hierarchy with new values.
%   MexAmgRefill(gpu, M, A)
%
%   M is one of MexAmg with reusable = 1, A a matrix with its entries at the same positions as the one that M was made
%   from. Aggregates and positions are kept, which takes less time than another MexAmg.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = gallery('poisson', 30);
%     M = MexAmg(gpu, MexSparseMatrix(gpu, A), [], [], [], [], [], [], [], 1);
%     MexAmgRefill(gpu, M, MexSparseMatrix(gpu, 2 * A));
%
%   See also MexAmg.

% Made from the table in crates/clinalg-mex; edit it there.
try
  clinalg_mex('MexAmgRefill', gpu, M, A);
catch problem
  if nargin < 3, clinalg_mex('MexAmgRefill'); end
  rethrow(problem);
end
end
