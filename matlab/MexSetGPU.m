function team = MexSetGPU(gpu, device, doubles)
%MexSetGPU  Choose the device.
%   team = MexSetGPU(gpu, device [, doubles])
%
%   device is an index from MexPrintGPU, from 0 on, or a part of the name of a device or platform. With
%   doubles = 1 it is an error if the device does not support double precision.
%
%   Without this call the device is the one that the environment variable CLINALG_DEVICE names, else the
%   first GPU, else the first device. Existing objects stay on their device and cannot be combined with new
%   ones.
%
%   Several indices, such as [0 1], choose the first of these devices and make a team of all, which the output
%   takes: as MexTeam does.
%
%   Example:
%     gpu = MexInitOpenCL();
%     MexSetGPU(gpu, 0, 1);
%
%   See also MexPrintGPU, MexDeviceInfo.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, doubles = []; end
try
  if nargout == 0
    clinalg_mex('MexSetGPU', gpu, device, doubles);
  else
    team = clinalg_mex('MexSetGPU', gpu, device, doubles);
  end
catch problem
  if nargin < 2, clinalg_mex('MexSetGPU'); end
  rethrow(problem);
end
end
