function r = MexImagPart(gpu, a)
%MexImagPart  The imaginary parts of an object.
%   r = MexImagPart(gpu, a)
%
%   r = imag(a) for a full matrix or vector a: a new real object of the same shape and precision.
%
%   Example:
%     gpu = MexInitOpenCL();
%     r = MexImagPart(gpu, MexMatrix(gpu, [1+2i; 3-4i]));
%     MexHandleMatrix(gpu, r)
%
%   See also MexRealPart, MexComplex.

% Made from the table in crates/clinalg-mex; edit it there.
try
  r = clinalg_mex('MexImagPart', gpu, a);
catch problem
  if nargin < 2, clinalg_mex('MexImagPart'); end
  rethrow(problem);
end
end
