function shutdown()
%clinalg.shutdown  Free all memory on the device and let the library be cleared.
%   clinalg.shutdown()
%
%   Remaining arrays are stale; using one is an error.
%
%   Example:
%     clinalg.shutdown()
%
%   See also MexShutdown.
clinalg_mex('MexShutdown');
end
