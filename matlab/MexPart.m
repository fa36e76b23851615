function c = MexPart(gpu, a, i)
%MexPart  Elements of a full array by a subscript.
%   c = MexPart(gpu, a, i)
%
%   c = a(i), a new object, or a number where that is one element. i is ':', an array of positions from 1 on, or a logical array
%   of the size of a. c is [] where a is no full object or i does not fit, and, of several elements, for arrays that MexMark has
%   marked.
%
%   Example:
%     gpu = MexInitOpenCL();
%     a = MexMatrix(gpu, magic(3));
%     MexPart(gpu, a, 4)
%     MexHandleMatrix(gpu, MexPart(gpu, a, [1 5 9]))
%
%   See also MexBlock, MexWithPart, MexTakeLinear, MexElement.

% Made from the table in crates/clinalg-mex; edit it there.
try
  c = clinalg_mex('MexPart', gpu, a, i);
catch problem
  if nargin < 3, clinalg_mex('MexPart'); end
  rethrow(problem);
end
end
