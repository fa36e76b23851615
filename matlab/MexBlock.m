function c = MexBlock(gpu, a, i, j)
%MexBlock  Rows and columns of a full array by two subscripts.
%   c = MexBlock(gpu, a, i, j)
%
%   c = a(i, j), a new object, or a number where that is one element. i and j are ':', arrays of positions from 1 on, or logical
%   arrays with a value for each row or column. c is [] where a is no full object or a subscript does not fit, and for arrays
%   that MexMark has marked.
%
%   Example:
%     gpu = MexInitOpenCL();
%     a = MexMatrix(gpu, magic(3));
%     MexHandleMatrix(gpu, MexBlock(gpu, a, ':', [3 1]))
%
%   See also MexPart, MexWithBlock, MexTake.

% Made from the table in crates/clinalg-mex; edit it there.
try
  c = clinalg_mex('MexBlock', gpu, a, i, j);
catch problem
  if nargin < 4, clinalg_mex('MexBlock'); end
  rethrow(problem);
end
end
