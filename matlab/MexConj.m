function c = MexConj(gpu, a, c)
%MexConj  The conjugate of an object, element by element.
%   c = MexConj(gpu, a [, c])
%
%   c = conj(a) for an object a of any kind. The result goes to c if it is given, an object of the same kind,
%   shape and precision, which may be a, else to a new object.
%
%   Example:
%     gpu = MexInitOpenCL();
%     c = MexConj(gpu, MexMatrix(gpu, [1+2i; 3-4i]));
%     MexHandleMatrix(gpu, c)
%
%   See also MexConjTranspose, MexImagPart.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, c = []; end
try
  c = clinalg_mex('MexConj', gpu, a, c);
catch problem
  if nargin < 2, clinalg_mex('MexConj'); end
  rethrow(problem);
end
end
