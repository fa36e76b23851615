function r = MexRealPart(gpu, a)
%MexRealPart  The real parts of an object.
%   r = MexRealPart(gpu, a)
%
%   r = real(a) for a full matrix or vector a: a new real object of the same shape and precision.
%
%   Example:
%     gpu = MexInitOpenCL();
%     r = MexRealPart(gpu, MexMatrix(gpu, [1+2i; 3-4i]));
%     MexHandleMatrix(gpu, r)
%
%   See also MexImagPart, MexComplex.

% Made from the table in crates/clinalg-mex; edit it there.
try
  r = clinalg_mex('MexRealPart', gpu, a);
catch problem
  if nargin < 2, clinalg_mex('MexRealPart'); end
  rethrow(problem);
end
end
