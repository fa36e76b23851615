function MexFinish(gpu)
%MexFinish  Wait until the device has done its work.
%   MexFinish(gpu)
%
%   Most functions return while the device still works; the next transfer to the host waits for it. Call
%   this before reading a clock.
%
%   Example:
%     gpu = MexInitOpenCL();
%     a = MexZeros(gpu, 1000, 1000);
%     x = MexZeros(gpu, 1000, 1);
%     tic, y = MexMatrixVector(gpu, a, x); MexFinish(gpu), toc
%
%   See also MexHandleMatrix.

% Made from the table in crates/clinalg-mex; edit it there.
try
  clinalg_mex('MexFinish', gpu);
catch problem
  if nargin < 1, clinalg_mex('MexFinish'); end
  rethrow(problem);
end
end
