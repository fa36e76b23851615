function c = MexWithBlock(gpu, a, value, i, j)
%MexWithBlock  A copy of a full array with other rows and columns, by two subscripts.
%   c = MexWithBlock(gpu, a, value, i, j)
%
%   c is a new object with the values of a and c(i, j) = value, as MexWithPart has it for one subscript.
%
%   Example:
%     gpu = MexInitOpenCL();
%     c = MexWithBlock(gpu, MexMatrix(gpu, magic(3)), 0, 2, ':');
%     MexHandleMatrix(gpu, c)
%
%   See also MexWithPart, MexBlock, MexPut.

% Made from the table in crates/clinalg-mex; edit it there.
try
  c = clinalg_mex('MexWithBlock', gpu, a, value, i, j);
catch problem
  if nargin < 5, clinalg_mex('MexWithBlock'); end
  rethrow(problem);
end
end
