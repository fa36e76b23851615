function [x, flag, relres, iter, method, precond, why, reason] = MexSolveSparse(gpu, A, b, tol, maxit, solver)
%MexSolveSparse  Solve a sparse system by a method and a preconditioner that suit the matrix.
%   [x, flag, relres, iter, method, precond, why, reason] = MexSolveSparse(gpu, A, b [, tol] [, maxit] [, solver])
%
%   Solves A x = b for a sparse matrix A and one or more columns b, as the command `clinalg solve` does: by conjugate gradients
%   with algebraic multigrid, MINRES with blocks, BiCGStab with incomplete factors or the like, with GMRES where one of them
%   fails, and by LSMR in the least-squares sense where A is not square. x is a new matrix.
%     tol    relative residual norm(b - A x) / norm(b) to reach (default 1e-10 in double, 1e-5 in single precision)
%     maxit  maximum number of iterations for each column and method (default 10000); where it is given, the solve ends there,
%            otherwise another method takes over
%     solver a method, a preconditioner and limits by name, in the place of the choice: 'cg,amg', 'gmres,ilut,restart=50',
%            'minres,tol=1e-8,max-iterations=200'; tol and maxit above come first
%   flag, relres and iter are rows with a number for each column, as of MexCG; they end with a column that Ctrl-C
%   stopped. method and precond name what was used, why says why it was chosen, and reason what flag means.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, gallery('poisson', 40));
%     [x, flag, relres, iter, method, precond] = MexSolveSparse(gpu, A, MexMatrix(gpu, ones(1600, 2)));
%     method, precond
%
%   See also MexCG, MexMINRES, MexBiCGStab, MexGMRES, MexSolveDense.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 6, solver = []; end
if nargin < 5, maxit = []; end
if nargin < 4, tol = []; end
try
  [x, flag, relres, iter, method, precond, why, reason] = clinalg_mex('MexSolveSparse', gpu, A, b, tol, maxit, solver);
catch problem
  if nargin < 3, clinalg_mex('MexSolveSparse'); end
  rethrow(problem);
end
end
