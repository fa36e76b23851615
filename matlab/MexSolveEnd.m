function [x, flag, relres, iter, resvec, reason] = MexSolveEnd(gpu, run)
%MexSolveEnd  End a Krylov method begun by MexSolveBegin.
%   [x, flag, relres, iter, resvec, reason] = MexSolveEnd(gpu, run)
%
%   run is the result of MexSolveBegin, and is not valid afterwards. The results are those of MexCG. A method that waits for a
%   product ends with the error clinalg:solve:cancelled. End every method that was begun; MexReleaseOpenCL ends them all.
%
%   Example:
%     gpu = MexInitOpenCL();
%     run = MexSolveBegin(gpu, 'pcg', 'function', MexMatrix(gpu, [1; 2]));
%     try
%       MexSolveEnd(gpu, run);
%     catch problem
%       disp(problem.identifier)
%     end
%
%   See also MexSolveBegin, MexSolveNext.

% Made from the table in crates/clinalg-mex; edit it there.
try
  [x, flag, relres, iter, resvec, reason] = clinalg_mex('MexSolveEnd', gpu, run);
catch problem
  if nargin < 2, clinalg_mex('MexSolveEnd'); end
  rethrow(problem);
end
end
