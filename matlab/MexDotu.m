function s = MexDotu(gpu, a, b)
%MexDotu  Dot product without conjugation.
%   s = MexDotu(gpu, a, b)
%
%   s = sum(a .* b) for two objects of the same kind, shape and precision; MexDot conjugates a.
%
%   Example:
%     gpu = MexInitOpenCL();
%     a = MexMatrix(gpu, [1i; 2]);
%     s = MexDotu(gpu, a, a)
%
%   See also MexDot, MexSum.

% Made from the table in crates/clinalg-mex; edit it there.
try
  s = clinalg_mex('MexDotu', gpu, a, b);
catch problem
  if nargin < 3, clinalg_mex('MexDotu'); end
  rethrow(problem);
end
end
