function value = MexElement(gpu, a, i, j)
%MexElement  An element of a full matrix or vector.
%   value = MexElement(gpu, a, i [, j])
%
%   value is element i of a, column by column, or a(i, j). It is [] where there is no such element, for sparse matrices, and,
%   with j, for arrays that MexMark has marked. It is real where its imaginary part is zero.
%
%   Example:
%     gpu = MexInitOpenCL();
%     MexElement(gpu, MexMatrix(gpu, magic(3)), 2, 3)
%
%   See also MexWithElement, MexTake, MexTakeLinear.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, j = []; end
try
  value = clinalg_mex('MexElement', gpu, a, i, j);
catch problem
  if nargin < 3, clinalg_mex('MexElement'); end
  rethrow(problem);
end
end
