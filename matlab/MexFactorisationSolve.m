function x = MexFactorisationSolve(gpu, F, b, op)
%MexFactorisationSolve  Solve a system with factors.
%   x = MexFactorisationSolve(gpu, F, b [, op])
%
%   x = op(A) \ b for a full b of one or more columns, of the precision of A; x is a new object. op is 'none'
%   (default), 'transpose' or 'conjugate' for the conjugate transpose. QR solves in the sense of least squares; with a
%   sparse matrix x is refined, and one that is singular to working precision is an error.
%
%   Example:
%     gpu = MexInitOpenCL();
%     F = MexFactorisation(gpu, MexMatrix(gpu, [2 1; 0 1]));
%     x = MexFactorisationSolve(gpu, F, MexMatrix(gpu, [3; 1]), 'transpose');
%     MexHandleMatrix(gpu, x)
%
%   See also MexFactorisation, MexFactorisationReport.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 4, op = []; end
try
  x = clinalg_mex('MexFactorisationSolve', gpu, F, b, op);
catch problem
  if nargin < 3, clinalg_mex('MexFactorisationSolve'); end
  rethrow(problem);
end
end
