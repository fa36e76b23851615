function info = MexTeamInfo(gpu, team)
%MexTeamInfo  The devices of a team.
%   info = MexTeamInfo(gpu, team)
%
%   info is a structure with the fields devices, a row of indices in the order of the ranks, and names, a text with their
%   names.
%
%   Example:
%     gpu = MexInitOpenCL();
%     info = MexTeamInfo(gpu, MexTeam(gpu, 0));
%     info.names
%
%   See also MexTeam, MexPrintGPU.

% Made from the table in crates/clinalg-mex; edit it there.
try
  info = clinalg_mex('MexTeamInfo', gpu, team);
catch problem
  if nargin < 2, clinalg_mex('MexTeamInfo'); end
  rethrow(problem);
end
end
