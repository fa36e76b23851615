function y = MexMultiplyOp(gpu, op, A, x, y)
%MexMultiplyOp  Product of a matrix, its transpose or its conjugate transpose and a vector.
%   y = MexMultiplyOp(gpu, op, A, x [, y])
%
%   op is 'notransp' for y = A x, 'transp' for y = A.' x and 'ctransp' for y = A' x, the latter two with a full
%   or sparse matrix A. The result goes to y if it is given, otherwise to a new column.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexMatrix(gpu, [1 2i; 3 4]);
%     x = MexMatrix(gpu, [1i; 1]);
%     y = MexMultiplyOp(gpu, 'transp', A, x);
%     MexHandleMatrix(gpu, y)
%
%   See also MexMultiply, MexMultiplyTranspose, MexTranspose.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 5, y = []; end
try
  y = clinalg_mex('MexMultiplyOp', gpu, op, A, x, y);
catch problem
  if nargin < 4, clinalg_mex('MexMultiplyOp'); end
  rethrow(problem);
end
end
