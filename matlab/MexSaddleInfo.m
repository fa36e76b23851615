function info = MexSaddleInfo(gpu, M)
%MexSaddleInfo  Blocks and parts of a preconditioner for a saddle point.
%   info = MexSaddleInfo(gpu, M)
%
%   M is one of MexSaddle. info is a structure with the fields
%     shape          as MexSaddle takes it
%     schur          'product', 'diagonal' or 'mass'
%     first, second  the preconditioners of A and of the product; second is empty without one
%     rows           rows of A and of C
%     null_constant  whether K takes the constants of the second block to zero, as the pressure of an enclosed flow: there are
%                    solutions where the values of b in that block add up to 0, up to such a constant
%
%   Example:
%     gpu = MexInitOpenCL();
%     K = [4 * speye(60), sparse(1:30, 1:30, 1, 30, 60)'; sparse(1:30, 1:30, 1, 30, 60), sparse(30, 30)];
%     info = MexSaddleInfo(gpu, MexSaddle(gpu, MexSparseMatrix(gpu, K)));
%     info.rows
%
%   See also MexSaddle, MexPreconditionerInfo.

% Made from the table in crates/clinalg-mex; edit it there.
try
  info = clinalg_mex('MexSaddleInfo', gpu, M);
catch problem
  if nargin < 2, clinalg_mex('MexSaddleInfo'); end
  rethrow(problem);
end
end
