function info = device(which)
%clinalg.device  Query or choose the current device.
%   info = clinalg.device()
%   info = clinalg.device(which)
%
%   which is an index from clinalg.devices, counted from 0, or a part of a name. Existing arrays stay on
%   their device and cannot be combined with new ones. info is the structure of MexDeviceInfo.
%
%   Example:
%     info = clinalg.device();
%     info.name
%
%   See also clinalg.devices, MexSetGPU.
if nargin > 0
  if isa(which, 'string')
    which = char(which);
  end
  clinalg_mex('MexSetGPU', 0, which);
end
info = clinalg_mex('MexDeviceInfo', 0);
end
