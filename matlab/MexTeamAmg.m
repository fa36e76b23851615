function M = MexTeamAmg(gpu, T, A, theta, smoother, steps, cycle, coarse, block, coarsening, aggressive)
%MexTeamAmg  Make an algebraic multigrid preconditioner on a team.
%   M = MexTeamAmg(gpu, T, A [, theta] [, smoother] [, steps] [, cycle] [, coarse] [, block] [, coarsening] [, aggressive])
%
%   T is the result of MexTeamMatrix for the sparse matrix A. M is the argument precond of MexCG, MexBiCGStab and MexGMRES
%   with T. The options are those of MexAmg. The hierarchy is set up on the first device, whose memory has to hold it; then
%   its finer levels are shared out. It does not refer to A afterwards. MexAmgInfo takes M; MexRelease frees it.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, gallery('poisson', 40));
%     T = MexTeamMatrix(gpu, MexTeam(gpu, 0), A);
%     M = MexTeamAmg(gpu, T, A);
%     [x, flag, relres, iter] = MexCG(gpu, T, MexMatrix(gpu, ones(1600, 1)), 1e-8, 100, M);
%     iter
%
%   See also MexTeamMatrix, MexAmg, MexAmgInfo.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 11, aggressive = []; end
if nargin < 10, coarsening = []; end
if nargin < 9, block = []; end
if nargin < 8, coarse = []; end
if nargin < 7, cycle = []; end
if nargin < 6, steps = []; end
if nargin < 5, smoother = []; end
if nargin < 4, theta = []; end
try
  M = clinalg_mex('MexTeamAmg', gpu, T, A, theta, smoother, steps, cycle, coarse, block, coarsening, aggressive);
catch problem
  if nargin < 3, clinalg_mex('MexTeamAmg'); end
  rethrow(problem);
end
end
