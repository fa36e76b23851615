function m = memory()
%clinalg.memory  Memory that arrays take on the device.
%   m = clinalg.memory()
%
%   m is the structure of MexMemory.
%
%   Example:
%     m = clinalg.memory();
%     m.live_bytes
%
%   See also MexMemory.
m = clinalg_mex('MexMemory', 0);
end
