function gpu = MexInitOpenCL()
%MexInitOpenCL  Start a session and get its handle.
%   gpu = MexInitOpenCL()
%
%   gpu is the handle of the session, which the other functions take as their first argument. If a session is
%   running, its handle is returned. It is an error, with advice, if this machine has no OpenCL device.
%
%   In place of gpu each function also accepts 0, which means the running session or, if there is none, a
%   new one.
%
%   Example:
%     gpu = MexInitOpenCL();
%     x = MexMatrix(gpu, [3; 4]);
%     MexNorm2(gpu, x)
%     MexReleaseOpenCL(gpu);
%
%   See also MexPrintGPU, MexSetGPU, MexReleaseOpenCL.

% Made from the table in crates/clinalg-mex; edit it there.
gpu = clinalg_mex('MexInitOpenCL');
end
