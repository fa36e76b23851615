function [wanted, r] = MexSolveNext(gpu, run, y)
%MexSolveNext  Give a product to a Krylov method, and ask for the next.
%   [wanted, r] = MexSolveNext(gpu, run [, y])
%
%   run is the result of MexSolveBegin. wanted is 'A' where A r is needed, 'precond' where the product of the inverse of the
%   preconditioner with r is, and empty at the end. r is a new vector; y is the product with the former r, of its size and type.
%   Ctrl-C ends the method after its current iteration.
%
%   Example:
%     gpu = MexInitOpenCL();
%     run = MexSolveBegin(gpu, 'pcg', 'function', MexMatrix(gpu, [1; 2]));
%     [wanted, r] = MexSolveNext(gpu, run);
%     while ~isempty(wanted)
%       [wanted, r] = MexSolveNext(gpu, run, r);
%     end
%     [x, flag] = MexSolveEnd(gpu, run)
%
%   See also MexSolveBegin, MexSolveEnd.

% Made from the table in crates/clinalg-mex; edit it there.
if nargin < 3, y = []; end
try
  [wanted, r] = clinalg_mex('MexSolveNext', gpu, run, y);
catch problem
  if nargin < 2, clinalg_mex('MexSolveNext'); end
  rethrow(problem);
end
end
