function list = devices()
%clinalg.devices  List the OpenCL devices.
%   list = clinalg.devices()
%
%   Without an output it prints a line per device, with one it returns the structures of MexPrintGPU.
%
%   Example:
%     clinalg.devices
%
%   See also clinalg.device, MexPrintGPU.
if nargout == 0
  clinalg_mex('MexPrintGPU', 0);
else
  list = clinalg_mex('MexPrintGPU', 0);
end
end
