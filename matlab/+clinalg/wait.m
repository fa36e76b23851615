function wait()
%clinalg.wait  Wait until the device has done its work.
%   clinalg.wait()
%
%   Example:
%     x = clinalg.allocate(1000, 1);
%     tic, y = x + x; clinalg.wait(), toc
%
%   See also MexFinish.
clinalg_mex('MexFinish', 0);
end
