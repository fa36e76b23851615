function MexShutdown()
%MexShutdown  Free everything and unlock the library.
%   MexShutdown()
%
%   Ends the running session, if any, and unlocks the library, so that the next 'clear functions' (Octave)
%   or 'clear mex' (MATLAB) unloads it. A later call of any function starts a new session.
%
%   Example:
%     MexShutdown()
%     clear functions
%
%   See also MexReleaseOpenCL.

% Made from the table in crates/clinalg-mex; edit it there.
clinalg_mex('MexShutdown');
end
