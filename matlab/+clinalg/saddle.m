function M = saddle(K, varargin)
%clinalg.saddle  Block preconditioner for a saddle point.
%   M = clinalg.saddle(K, options)
%   M = clinalg.saddle(K, 'Shape', 'triangular', ...)
%
%   K = [A B'; B -C] is a real sparse matrix, on the device or in MATLAB's memory: Stokes flow, mixed elements, constraints. S stands for
%   the Schur complement B * inv(A) * B' + C. options is a structure, or name-value pairs, all optional:
%     Shape    'diagonal' (default) for [A 0; 0 S], for clinalg.minres where K is symmetric, or 'triangular' for [A B'; 0 -S], for
%              clinalg.gmres and clinalg.bicgstab in about half the iterations
%     Schur    what S is: 'product', 'diagonal' or 'auto' (default), as MexSaddle says
%     First    preconditioner of A: 'amg', 'ic', 'ilu', 'jacobi' or 'auto' (default)
%     Second   preconditioner of the 'product' S, as First
%     Rows     number of rows of A, which come first; without it the second block is that of the rows whose diagonal entry is zero or negative
%     Block    or the numbers of the rows of the second block, ascending
%     Mass     positive diagonal of the mass matrix of the second block (for Stokes divided by the viscosity), in place of S
%   M is a clinalg.factor: M \ r applies it, info(M) says what it is made of. It does not refer to K afterwards. By name, clinalg.minres(K, b,
%   'Preconditioner', 'saddle') makes one with the defaults for one solve.
%
%   Example:
%     B = sparse([1 : 20, 1 : 20], [1 : 20, 2 : 21], [ones(1, 20), -ones(1, 20)], 20, 40);
%     K = clinalg.matrix([4 * speye(40), B'; B, sparse(20, 20)]);
%     M = clinalg.saddle(K, 'Shape', 'triangular');
%     [x, flag, relres, iter] = clinalg.gmres(K, ones(60, 1), 60, 1e-8, 1, M);
%     info(M)
%
%   See also clinalg.minres, clinalg.gmres, clinalg.precond, clinalg.factor, MexSaddle.
if nargin < 1
  error('clinalg:argument:count', 'clinalg.saddle: too few arguments; the call is clinalg.saddle(K, options)');
end
o = clinalg.operands.arguments('clinalg.saddle', varargin, {}, {'Shape', 'Schur', 'First', 'Second', 'Rows', 'Block', 'Mass'});
h = clinalg.operands.sparse_handle(K);
M = clinalg.factor(clinalg_mex('MexSaddle', 0, h.h, o.shape, o.schur, o.first, o.second, o.rows, ...
  clinalg.operands.column(o.block), clinalg.operands.column(o.mass)), 'block preconditioner for a saddle point');
end
