function memory = MexMemory(gpu)
%MexMemory  Memory that objects take on the device.
%   memory = MexMemory(gpu)
%
%   memory is a structure with the fields
%     live_bytes    bytes in use now
%     peak_bytes    the largest number of bytes in use so far
%     live_buffers  number of buffers; an object has one or a few
%     objects       number of objects, on all devices
%
%   Example:
%     gpu = MexInitOpenCL();
%     x = MexZeros(gpu, 1000, 1);
%     memory = MexMemory(gpu);
%     memory.live_bytes
%
%   See also MexRelease, MexDeviceInfo.

% Made from the table in crates/clinalg-mex; edit it there.
try
  memory = clinalg_mex('MexMemory', gpu);
catch problem
  if nargin < 1, clinalg_mex('MexMemory'); end
  rethrow(problem);
end
end
