function MexMark(gpu, a)
%MexMark  Note that the caller keeps the dimensions of an array.
%   MexMark(gpu, a)
%
%   a has more than two dimensions, which the caller keeps: MexLazy and MexLazy2 give 0 for it, so that no result lacks them.
%
%   Example:
%     gpu = MexInitOpenCL();
%     a = MexMatrix(gpu, ones(2, 6));
%     MexMark(gpu, a);
%     MexLazy(gpu, 'exp', a)
%
%   See also MexLazy, MexLazy2.

% Made from the table in crates/clinalg-mex; edit it there.
try
  clinalg_mex('MexMark', gpu, a);
catch problem
  if nargin < 2, clinalg_mex('MexMark'); end
  rethrow(problem);
end
end
