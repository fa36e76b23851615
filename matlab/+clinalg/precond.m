function M = precond(A, varargin)
%clinalg.precond  Preconditioner of a sparse matrix.
%   M = clinalg.precond(A, kind, options)
%   M = clinalg.precond(A, kind, 'DropTolerance', 1e-3, ...)
%
%   A is a square sparse matrix, real or complex, on the device or in MATLAB's memory. kind is
%     'ilu'    ILU(0), an incomplete LU factorisation with the entries of A (default)
%     'ilut'   an incomplete LU factorisation that keeps large entries
%     'ic'     IC(0), incomplete Cholesky, for Hermitian positive definite A; an A that is not Hermitian is an error, also for 'fsai'
%     'ssor'   symmetric successive over-relaxation
%     'spai0'  the diagonal matrix that is closest to the inverse
%     'fsai'   a factorised sparse approximate inverse, for Hermitian positive definite A
%     'jacobi' the diagonal of A
%     'lu'     a complete factorisation, Cholesky or LU: M \ b solves A x = b, as often as you like
%     'amg'    algebraic multigrid: clinalg.amg(A, options)
%     'sa', 'classical'  the same with this kind of coarsening, smoothed aggregation or classical
%     'saddle' blocks for a saddle point: clinalg.saddle(A, options)
%   options is a structure, or name-value pairs, all optional, as MexPreconditioner says: Order, DropTolerance and Fill of 'ilut',
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
kind = '';
if ~isempty(varargin) && (ischar(varargin{1}) || isa(varargin{1}, 'string')), kind = char(varargin{1}); end
switch kind
  case 'amg'
    M = clinalg.amg(A, varargin{2 : end});
    return
  case {'sa', 'classical'}
    options = varargin(2 : end);
    if numel(options) == 1 && isstruct(options{1})
      options = [fieldnames(options{1}), struct2cell(options{1})].';
      options = options(:).';
    end
    M = clinalg.amg(A, 'Coarsening', kind, options{:});
    return
  case 'saddle'
    M = clinalg.saddle(A, varargin{2 : end});
    return
end
o = clinalg.operands.arguments('clinalg.precond', varargin, {'Kind*'}, {'Order', 'DropTolerance', 'Fill', 'Shift', 'Omega', ...
  'Matching'});
given = struct2cell(o).';
kind = o.kind;
if isempty(kind), kind = 'ilu'; end
h = clinalg.operands.sparse_handle(A);
try
  h = clinalg_mex('MexPreconditioner', 0, h.h, kind, given{2 : end});
catch problem
  clinalg.operands.blame(problem, 'clinalg.precond', {'order', 'Order', 'drop', 'DropTolerance', 'fill', 'Fill', 'shift', 'Shift', ...
    'omega', 'Omega', 'matching', 'Matching'});
end
M = clinalg.factor(h, ['preconditioner ''', kind, '''']);
end
