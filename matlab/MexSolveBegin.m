function run = MexSolveBegin(gpu, method, A, b, precond, tol, maxit, x, restart)
%MexSolveBegin  Begin a Krylov method whose products the caller computes.
%   run = MexSolveBegin(gpu, method, A, b [, precond] [, tol] [, maxit] [, x] [, restart])
%
%   method is 'pcg', 'bicgstab', 'gmres' or 'minres'. A or precond, or both, are 'function': the caller computes their products,
%   which MexSolveNext requests. Otherwise A is a matrix, and precond, with [] for none, what MexCG takes. b, tol, maxit and x
%   are those of MexCG and MexGMRES, restart, for 'gmres' only, that of MexGMRES. run is the argument of MexSolveNext and
%   MexSolveEnd. Until MexSolveEnd, A, b and precond may be read but not written, and x must not be used: such a call would
%   never return.
%
%   Example:
%     gpu = MexInitOpenCL();
%     d = MexMatrix(gpu, [4; 5; 6]);
%     run = MexSolveBegin(gpu, 'pcg', 'function', MexMatrix(gpu, [4; 10; 18]), [], 1e-10);
%     [wanted, r] = MexSolveNext(gpu, run);
%     while ~isempty(wanted)
%       [wanted, r] = MexSolveNext(gpu, run, MexVectorTimesVector(gpu, d, r));
%     end
%     [x, flag] = MexSolveEnd(gpu, run);
%     MexHandleMatrix(gpu, x)
%
%   See also MexSolveNext, MexSolveEnd, MexCG, MexGMRES.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 9, restart = []; end
if nargin < 8, x = []; end
if nargin < 7, maxit = []; end
if nargin < 6, tol = []; end
if nargin < 5, precond = []; end
try
  run = clinalg_mex('MexSolveBegin', gpu, method, A, b, precond, tol, maxit, x, restart);
catch problem
  if nargin < 4, clinalg_mex('MexSolveBegin'); end
  rethrow(problem);
end
end
