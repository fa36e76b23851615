function h = MexZeros(gpu, rows, cols, single, complex)
%MexZeros  Make a full matrix of zeros on the device.
%   h = MexZeros(gpu, rows, cols [, single] [, complex])
%
%   h is the handle of a rows x cols matrix in double precision or, with single = 1, in single precision; with
%   complex = 1 of complex numbers.
%
%   Example:
%     gpu = MexInitOpenCL();
%     h = MexZeros(gpu, 3, 1);
%     MexHandleMatrix(gpu, h)
%
%   See also MexMatrix, MexFill.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 5, complex = []; end
if nargin < 4, single = []; end
try
  h = clinalg_mex('MexZeros', gpu, rows, cols, single, complex);
catch problem
  if nargin < 3, clinalg_mex('MexZeros'); end
  rethrow(problem);
end
end
