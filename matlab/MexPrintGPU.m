function devices = MexPrintGPU(gpu)
%MexPrintGPU  List the OpenCL devices.
%   devices = MexPrintGPU(gpu)
%
%   Without an output it prints a line per device; an asterisk marks the one in use. With an output it
%   returns a column of structures with the fields
%     index          number of the device, from 0 on, as MexSetGPU takes it
%     name, vendor, platform, version, driver
%                    names and versions reported by the driver
%     kind           'cpu', 'gpu', 'accelerator' or 'other'
%     fp64           whether it supports double precision
%     compute_units  number of compute units
%     global_mem, max_alloc, local_mem
%                    bytes of memory, of the largest object, of memory that a work-group shares
%     selected       whether it is the device in use
%
%   Example:
%     gpu = MexInitOpenCL();
%     MexPrintGPU(gpu)
%     devices = MexPrintGPU(gpu);
%     devices(1).name
%
%   See also MexSetGPU, MexDeviceInfo.

% Made from the table in crates/clinalg-mex; edit it there.
try
  if nargout == 0
    clinalg_mex('MexPrintGPU', gpu);
  else
    devices = clinalg_mex('MexPrintGPU', gpu);
  end
catch problem
  if nargin < 1, clinalg_mex('MexPrintGPU'); end
  rethrow(problem);
end
end
