function r = MexAbs(gpu, a)
%MexAbs  The magnitudes of the values of an object.
%   r = MexAbs(gpu, a)
%
%   r = abs(a) for a full matrix or vector a: a new real object of the same shape and precision. The squares
%   of large and small values neither overflow nor underflow on the way.
%
%   Example:
%     gpu = MexInitOpenCL();
%     r = MexAbs(gpu, MexMatrix(gpu, [3+4i; -1]));
%     MexHandleMatrix(gpu, r)
%
%   See also MexRealPart, MexNorm2.

% Made from the table in crates/clinalg-mex; edit it there.
try
  r = clinalg_mex('MexAbs', gpu, a);
catch problem
  if nargin < 2, clinalg_mex('MexAbs'); end
  rethrow(problem);
end
end
