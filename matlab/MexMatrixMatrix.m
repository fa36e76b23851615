function C = MexMatrixMatrix(gpu, A, B, op_a, op_b)
%MexMatrixMatrix  Product of two full matrices, their transposes or conjugate transposes.
%   C = MexMatrixMatrix(gpu, A, B [, op_a] [, op_b])
%
%   C = op_a(A) op_b(B) for full matrices of one precision, both real or both complex: a new object. op_a and op_b are 'notransp'
%   (default), 'transp' or 'ctransp'.
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexMatrix(gpu, magic(3));
%     C = MexMatrixMatrix(gpu, A, A, 'transp');
%     MexHandleMatrix(gpu, C)
%
%   See also MexMultiply, MexMultiplyOp.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 5, op_b = []; end
if nargin < 4, op_a = []; end
try
  C = clinalg_mex('MexMatrixMatrix', gpu, A, B, op_a, op_b);
catch problem
  if nargin < 3, clinalg_mex('MexMatrixMatrix'); end
  rethrow(problem);
end
end
