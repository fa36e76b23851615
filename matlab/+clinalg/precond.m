function M = precond(A, varargin)
%clinalg.precond  Preconditioner of a sparse matrix.
%   M = clinalg.precond(A, kind, options)
%   M = clinalg.precond(A, kind, 'DropTolerance', 1e-3, ...)
%
%   A is a square sparse matrix, real or complex, on the device or in MATLAB's memory. kind is
%     'ilu'    ILU(0), an incomplete LU factorisation with the entries of A (default)
%     'ilut'   an incomplete LU factorisation that keeps large entries
%     'ic'     IC(0), incomplete Cholesky, for Hermitian positive definite A
%     'ssor'   symmetric successive over-relaxation
%     'spai0'  the diagonal matrix that is closest to the inverse
%     'fsai'   a factorised sparse approximate inverse, for Hermitian positive definite A
%     'amg'    algebraic multigrid: clinalg.amg(A, options)
%     'saddle' blocks for a saddle point: clinalg.saddle(A, options)
%   options is a structure, or pairs of names and values, all optional, as MexPreconditioner says: Order, DropTolerance and Fill of 'ilut',
%   Shift of 'ic', Omega of 'ssor', Matching.
%   M is a clinalg.factor: M \ r applies it, clinalg.pcg, clinalg.bicgstab and clinalg.gmres accept it. It does not refer to A afterwards.
%
%   Example:
%     A = clinalg.matrix(gallery('poisson', 30));
%     M = clinalg.precond(A, 'ilut', struct('DropTolerance', 1e-3));
%     [x, flag, relres, iter] = clinalg.bicgstab(A, ones(900, 1), 1e-8, 100, M);
%
%   See also clinalg.ilu, clinalg.ichol, clinalg.amg, clinalg.saddle, clinalg.factor, clinalg.pcg, MexPreconditioner.
if nargin < 1
  error('clinalg:argument:count', 'clinalg.precond: too few arguments; the call is clinalg.precond(A, kind, options)');
end
if ~isempty(varargin) && ~isstruct(varargin{1}) && strcmp(char(varargin{1}), 'amg')
  M = clinalg.amg(A, varargin{2 : end});
  return
elseif ~isempty(varargin) && ~isstruct(varargin{1}) && strcmp(char(varargin{1}), 'saddle')
  M = clinalg.saddle(A, varargin{2 : end});
  return
end
o = clinalg.operands.arguments('clinalg.precond', varargin, {'Kind*'}, {'Order', 'DropTolerance|drop', 'Fill', 'Shift', 'Omega', ...
  'Matching'});
given = struct2cell(o).';
kind = o.kind;
if isempty(kind), kind = 'ilu'; end
h = clinalg.operands.sparse_handle(A);
M = clinalg.factor(clinalg_mex('MexPreconditioner', 0, h.h, kind, given{2 : end}), ['preconditioner ''', kind, '''']);
end
