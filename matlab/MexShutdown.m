function MexShutdown()
%MexShutdown  Free everything and let the library be cleared.
%   MexShutdown()
%
%   Ends the session that runs, if any, and unlocks the library, so that the next 'clear functions' (Octave)
%   or 'clear mex' (MATLAB) drops it. A later call of any function starts anew.
%
%   Example:
%     MexShutdown()
%     clear functions
%
%   See also MexReleaseOpenCL.

% Made from the table in crates/clinalg-mex; edit it there.
clinalg_mex('MexShutdown');
end
