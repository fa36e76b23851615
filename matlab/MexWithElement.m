function c = MexWithElement(gpu, a, value, i, j)
%MexWithElement  A copy of a full matrix or vector with another element.
%   c = MexWithElement(gpu, a, value, i [, j])
%
%   c is a new object with value as element i, column by column, or as c(i, j), and the other elements of a. c is 0 where there
%   is no such element, where value is no number or one of another class (complex beside real elements, single beside double),
%   of sparse matrices, and of arrays that MexMark named.
%
%   Example:
%     gpu = MexInitOpenCL();
%     c = MexWithElement(gpu, MexMatrix(gpu, magic(3)), 10, 2, 3);
%     MexHandleMatrix(gpu, c)
%
%   See also MexElement, MexPut, MexPutLinear.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 5, j = []; end
try
  c = clinalg_mex('MexWithElement', gpu, a, value, i, j);
catch problem
  if nargin < 4, clinalg_mex('MexWithElement'); end
  rethrow(problem);
end
end
