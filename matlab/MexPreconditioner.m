function M = MexPreconditioner(gpu, A, kind, order, drop, fill, shift, omega, matching)
%MexPreconditioner  Make a preconditioner of a sparse matrix.
%   M = MexPreconditioner(gpu, A [, kind] [, order] [, drop] [, fill] [, shift] [, omega] [, matching])
%
%   A is a square sparse matrix, real or complex. M is the argument precond of MexCG, MexBiCGStab and MexGMRES;
%   z = MexMultiply(gpu, M, r) applies its inverse to a vector. It does not refer to A afterwards. MexRelease frees it.
%     kind      'ilu' for ILU(0) (default), 'ilut', 'ic' for IC(0), 'ssor', 'spai0', 'fsai', 'jacobi' for the diagonal or
%               'lu' for a complete factorisation, whose products solve with A itself; 'ic' and 'fsai' need a Hermitian
%               positive definite matrix: one that is not Hermitian is an error
%     order     of elimination: 'default', by colours for 'ssor' and that of A for the others, 'natural', 'multicolour'
%               or 'cuthill-mckee'
%     drop      of 'ilut': entries below this fraction of the mean magnitude of their row are dropped (default 1e-4)
%     fill      of 'ilut': the factors may have about this many times the entries of A (default 10); each row of
%               L and of U keeps its ceil(fill*nnz(A)/(2*n)) largest off-diagonal entries
%     shift     of 'ic': the factors are those of A + shift * diag(diag(A)) (default 0, or the least of 1e-3,
%               2e-3, 4e-3, ... that gives factors)
%     omega     of 'ssor': relaxation factor between 0 and 2 (default 1)
%     matching  of 'ilu' and 'ilut': 'needed' (default) permutes rows where a diagonal entry is missing or small,
%               'never', or 'always'
%   A pivot that is zero is an error that names its row.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, gallery('poisson', 20));
%     M = MexPreconditioner(gpu, A, 'ic');
%     [x, flag, relres, iter] = MexCG(gpu, A, MexMatrix(gpu, ones(400, 1)), 1e-8, 100, M);
%     iter
%
%   See also MexAmg, MexPreconditionerInfo, MexCG, MexRelease.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 9, matching = []; end
if nargin < 8, omega = []; end
if nargin < 7, shift = []; end
if nargin < 6, fill = []; end
if nargin < 5, drop = []; end
if nargin < 4, order = []; end
if nargin < 3, kind = []; end
try
  M = clinalg_mex('MexPreconditioner', gpu, A, kind, order, drop, fill, shift, omega, matching);
catch problem
  if nargin < 2, clinalg_mex('MexPreconditioner'); end
  rethrow(problem);
end
end
