function d = MexDeterminant(gpu, A)
%MexDeterminant  Determinant of a full matrix.
%   d = MexDeterminant(gpu, A)
%
%   d is the determinant of a square full matrix, of the class of A; infinite or zero where it leaves the range.
%
%   Example:
%     gpu = MexInitOpenCL();
%     d = MexDeterminant(gpu, MexMatrix(gpu, [1 2; 3 4]))
%
%   See also MexLu, MexInverse.

% Made from the table in crates/clinalg-mex; edit it there.
try
  d = clinalg_mex('MexDeterminant', gpu, A);
catch problem
  if nargin < 2, clinalg_mex('MexDeterminant'); end
  rethrow(problem);
end
end
