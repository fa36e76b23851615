function version = MexVersion()
%MexVersion  Version of the library.
%   version = MexVersion()
%
%   version is a text such as '0.1.0'.
%
%   Example:
%     MexVersion()
%
%   See also MexDeviceInfo.

% Made from the table in crates/clinalg-mex; edit it there.
version = clinalg_mex('MexVersion');
end
