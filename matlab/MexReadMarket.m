function h = MexReadMarket(gpu, file, single)
%MexReadMarket  Read a MatrixMarket file to the device.
%   h = MexReadMarket(gpu, file [, single])
%
%   A coordinate file makes a sparse matrix, an array file a full one; symmetric and Hermitian files are
%   expanded, files of complex numbers make complex objects. The values are kept in double precision or, with
%   single = 1, in single precision.
%
%   Example:
%     gpu = MexInitOpenCL();
%     h = MexSparseMatrix(gpu, speye(3));
%     file = [tempname() '.mtx'];
%     MexWriteMarket(gpu, h, file);
%     MexHandleMatrix(gpu, MexReadMarket(gpu, file))
%     delete(file)
%
%   See also MexWriteMarket, MexSparseMatrix.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, single = []; end
try
  h = clinalg_mex('MexReadMarket', gpu, file, single);
catch problem
  if nargin < 2, clinalg_mex('MexReadMarket'); end
  rethrow(problem);
end
end
