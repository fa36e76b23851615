function info = MexDeviceInfo(gpu)
%MexDeviceInfo  Properties of the current device.
%   info = MexDeviceInfo(gpu)
%
%   info is a structure with the fields that MexPrintGPU lists.
%
%   Example:
%     gpu = MexInitOpenCL();
%     info = MexDeviceInfo(gpu);
%     info.fp64
%
%   See also MexPrintGPU, MexSetGPU, MexMemory.

% Made from the table in crates/clinalg-mex; edit it there.
try
  info = clinalg_mex('MexDeviceInfo', gpu);
catch problem
  if nargin < 1, clinalg_mex('MexDeviceInfo'); end
  rethrow(problem);
end
end
