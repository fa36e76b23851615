function info = MexAmgInfo(gpu, M)
%MexAmgInfo  Levels, sizes and complexities of algebraic multigrid.
%   info = MexAmgInfo(gpu, M)
%
%   M is one of MexAmg. info is a structure with the fields
%     levels               a structure array, the finest level first: rows, entries, prolongator, the entries of the
%                          prolongator to it, and format, how its products are computed
%     operator_complexity  entries of all levels over those of the finest
%     grid_complexity      rows of all levels over those of the finest
%     bytes                of matrices and vectors on the device
%     direct               whether the coarsest level is solved by a dense inverse
%     null_vectors         near-null vectors that the matrix maps to zero: 0 unless it is singular
%     seconds              of the set-up or the last MexAmgRefill
%     coarsening           'aggregation' or 'classical'
%     convergence_factor   what MexAmgFactor found; NaN before
%
%   Example:
%     gpu = MexInitOpenCL();
%     info = MexAmgInfo(gpu, MexAmg(gpu, MexSparseMatrix(gpu, gallery('poisson', 60))));
%     [info.levels.rows]
%
%   See also MexAmg, MexAmgFactor, MexPreconditionerInfo.

% Made from the table in crates/clinalg-mex; edit it there.
try
  info = clinalg_mex('MexAmgInfo', gpu, M);
catch problem
  if nargin < 2, clinalg_mex('MexAmgInfo'); end
  rethrow(problem);
end
end
