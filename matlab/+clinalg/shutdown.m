function shutdown()
%clinalg.shutdown  Free all memory on the device and let the library be cleared.
%   clinalg.shutdown()
%
%   Arrays that are left are stale; to use one is an error.
%
%   Example:
%     clinalg.shutdown()
%
%   See also MexShutdown.
clinalg_mex('MexShutdown');
end
