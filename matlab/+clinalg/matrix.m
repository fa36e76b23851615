function a = matrix(A, varargin)
%clinalg.matrix  Copy a matrix or vector to the device.
%   a = clinalg.matrix(A)
%   a = clinalg.matrix(A, kl, ku)
%   a = clinalg.matrix(..., class)
%
%   A is a matrix, full or sparse, real or complex; the copy is stored in the same way, or as a band matrix with kl sub- and
%   ku superdiagonals, outside which A must be zero. class is 'double' or 'single'; without it a full
%   matrix keeps its class (logical becomes double) and a sparse one becomes double. a is a clinalg.array.
%
%   Example:
%     A = clinalg.matrix(sparse([2 -1; -1 2]), 'single');
%     y = gather(A * [1; 1])
%
%   See also clinalg.vector, clinalg.allocate, clinalg.array.
if nargin < 1
  clinalg_mex('MexMatrix', 0);
end
as_single = [];
if nargin > 1 && (ischar(varargin{end}) || isa(varargin{end}, 'string'))
  as_single = clinalg.operands.names_single('clinalg.matrix', varargin{end});
  varargin(end) = [];
end
if numel(varargin) == 2
  a = clinalg.array(clinalg_mex('MexBandMatrix', 0, A, varargin{:}, as_single));
elseif ~isempty(varargin)
  error('clinalg:argument:count', 'clinalg.matrix: the call is clinalg.matrix(A [, kl, ku] [, class])');
elseif issparse(A)
  a = clinalg.array(clinalg_mex('MexSparseMatrix', 0, A, as_single));
else
  if isequal(as_single, true) && (isa(A, 'double') || islogical(A))
    A = single(A);
  elseif isequal(as_single, false) && isa(A, 'single')
    A = double(A);
  end
  a = clinalg.array(clinalg_mex('MexMatrix', 0, A));
end
end
