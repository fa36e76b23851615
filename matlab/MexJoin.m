function j = MexJoin(gpu, dim, count, a, b, c, d, e, f)
%MexJoin  Full arrays side by side or one below the other.
%   j = MexJoin(gpu, dim, count [, a] [, b] [, c] [, d] [, e] [, f])
%
%   j = cat(dim, a, b, ...), a new object, of count arrays, 6 at most: handles, arrays of class clinalg.array and full arrays of
%   the host, one at least of the first two. dim is 1 or 2. j is 0 where they are of two classes, sparse or empty, their sizes do
%   not agree, or MexMark has marked one.
%
%   Example:
%     gpu = MexInitOpenCL();
%     j = MexJoin(gpu, 1, 2, MexMatrix(gpu, [1 2]), [3 4; 5 6]);
%     MexHandleMatrix(gpu, j)
%
%   See also MexPut, MexTake.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 9, f = []; end
if nargin < 8, e = []; end
if nargin < 7, d = []; end
if nargin < 6, c = []; end
if nargin < 5, b = []; end
if nargin < 4, a = []; end
try
  j = clinalg_mex('MexJoin', gpu, dim, count, a, b, c, d, e, f);
catch problem
  if nargin < 3, clinalg_mex('MexJoin'); end
  rethrow(problem);
end
end
