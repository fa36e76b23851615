function c = MexWithPart(gpu, a, value, i)
%MexWithPart  A copy of a full array with other elements, by a subscript.
%   c = MexWithPart(gpu, a, value, i)
%
%   c is a new object with the values of a and c(i) = value. value is a full object or a clinalg.array of the type of a, or a full
%   array of the host, with a value for each position or one for all. c is 0 where MexPart gives [], where a position occurs
%   twice, where value has another shape, and where its class does not go into that of a (complex beside real elements, single
%   beside double).
%
%   Example:
%     gpu = MexInitOpenCL();
%     c = MexWithPart(gpu, MexMatrix(gpu, magic(3)), [10 20], [1 9]);
%     MexHandleMatrix(gpu, c)
%
%   See also MexWithBlock, MexPart, MexPutLinear, MexWithElement.

% Made from the table in crates/clinalg-mex; edit it there.
try
  c = clinalg_mex('MexWithPart', gpu, a, value, i);
catch problem
  if nargin < 4, clinalg_mex('MexWithPart'); end
  rethrow(problem);
end
end
