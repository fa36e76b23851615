function info = MexPreconditionerInfo(gpu, M)
%MexPreconditionerInfo  Kind, entries and levels of a preconditioner.
%   info = MexPreconditionerInfo(gpu, M)
%
%   M is one of MexPreconditioner or MexAmg. info is a structure with the fields
%     kind     as MexPreconditioner takes it, or 'amg'
%     rows     rows and columns
%     entries  stored entries: of the factors, of the factor of 'fsai', of the diagonal of 'spai0' and 'jacobi', of the matrices
%              of all levels for 'amg'; 0 for 'ssor'
%     levels   steps of the lower and the upper triangular system; 0 without one
%     matched  whether rows were permuted
%     shift    of 'ic', the one that was used
%
%   Example:
%     gpu = MexInitOpenCL();
%     A = MexSparseMatrix(gpu, gallery('poisson', 20));
%     info = MexPreconditionerInfo(gpu, MexPreconditioner(gpu, A, 'ilu', 'multicolour'));
%     info.levels
%
%   See also MexPreconditioner, MexAmgInfo.

% Made from the table in crates/clinalg-mex; edit it there.
try
  info = clinalg_mex('MexPreconditionerInfo', gpu, M);
catch problem
  if nargin < 2, clinalg_mex('MexPreconditionerInfo'); end
  rethrow(problem);
end
end
