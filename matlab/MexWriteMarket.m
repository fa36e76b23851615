function MexWriteMarket(gpu, h, file)
%MexWriteMarket  Write an object to a MatrixMarket file.
%   MexWriteMarket(gpu, h, file)
%
%   A sparse or band matrix makes a coordinate file, a full matrix or vector an array file. An existing file
%   is replaced.
%
%   Example:
%     gpu = MexInitOpenCL();
%     h = MexMatrix(gpu, [1 2; 3 4]);
%     file = [tempname() '.mtx'];
%     MexWriteMarket(gpu, h, file);
%     type(file)
%     delete(file)
%
%   See also MexReadMarket.

% Made from the table in crates/clinalg-mex; edit it there.
try
  clinalg_mex('MexWriteMarket', gpu, h, file);
catch problem
  if nargin < 3, clinalg_mex('MexWriteMarket'); end
  rethrow(problem);
end
end
