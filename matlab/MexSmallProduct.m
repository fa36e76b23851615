function c = MexSmallProduct(gpu, op, a, b)
%MexSmallProduct  Product of a matrix of any kind and a column or of small matrices, where the operands fit.
%   c = MexSmallProduct(gpu, op, a, b)
%
%   c = op(a) * b, a new object, or a number where it has one element; op is 'notransp', 'transp' or 'ctransp'. 'dot' gives the
%   dot product of two vectors, of which the first is conjugated. c is [] where the operands are of two classes or their sizes do
%   not agree, and of large operands also where b has several columns, or the result has one element and a is no transposed
%   column. a and b may also be of class clinalg.array.
%
%   Example:
%     gpu = MexInitOpenCL();
%     x = MexMatrix(gpu, [1; 2]);
%     MexSmallProduct(gpu, 'ctransp', x, x)
%
%   See also MexMultiply, MexMultiplyOp, MexDot.

% Made from the table in crates/clinalg-mex; edit it there.
try
  c = clinalg_mex('MexSmallProduct', gpu, op, a, b);
catch problem
  if nargin < 4, clinalg_mex('MexSmallProduct'); end
  rethrow(problem);
end
end
