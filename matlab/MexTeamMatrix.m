function T = MexTeamMatrix(gpu, team, A)
%MexTeamMatrix  Share the rows of a sparse matrix out among the devices of a team.
%   T = MexTeamMatrix(gpu, team, A)
%
%   A is a real square sparse matrix. T stands for A in MexCG, MexBiCGStab and MexGMRES, with precond 'none', 'jacobi' or one of
%   MexTeamAmg; b and x are ordinary vectors. Each device gets about as many entries. T does not refer to A afterwards.
%   MexRelease frees it.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, gallery('poisson', 20));
%     T = MexTeamMatrix(gpu, MexTeam(gpu, 0), A);
%     [x, flag] = MexCG(gpu, T, MexMatrix(gpu, ones(400, 1)), 1e-8, 200, 'jacobi');
%     flag
%
%   See also MexTeam, MexTeamAmg, MexCG.

% Made from the table in crates/clinalg-mex; edit it there.
try
  T = clinalg_mex('MexTeamMatrix', gpu, team, A);
catch problem
  if nargin < 3, clinalg_mex('MexTeamMatrix'); end
  rethrow(problem);
end
end
