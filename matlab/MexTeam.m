function team = MexTeam(gpu, devices)
%MexTeam  Make a team of devices that share the work of a problem.
%   team = MexTeam(gpu, devices)
%
%   devices are indices from MexPrintGPU, from 0 on, each once. The team does the work of MexTeamPoisson, MexTeamWave and of
%   solves with a matrix of MexTeamMatrix. MexRelease frees it; what was made on it lives on.
%
%   Example:
%     gpu = MexInitOpenCL();
%     team = MexTeam(gpu, 0);
%     info = MexTeamInfo(gpu, team);
%     info.devices
%
%   See also MexTeamInfo, MexTeamMatrix, MexTeamPoisson, MexTeamWave, MexSetGPU.

% Made from the table in crates/clinalg-mex; edit it there.
try
  team = clinalg_mex('MexTeam', gpu, devices);
catch problem
  if nargin < 2, clinalg_mex('MexTeam'); end
  rethrow(problem);
end
end
