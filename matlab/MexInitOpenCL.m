function gpu = MexInitOpenCL()
%MexInitOpenCL  Start a session and get its handle.
%   gpu = MexInitOpenCL()
%
%   gpu is the handle of the session, which the other functions take as their first argument. A session that
%   runs already gives the same handle. It is an error, with advice, if this machine has no OpenCL device.
%
%   Instead of gpu each function also takes the number 0, for the session that runs or, where none does, a
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
