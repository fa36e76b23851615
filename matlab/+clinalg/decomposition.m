classdef decomposition < handle
%clinalg.decomposition  Factors of a matrix for many right-hand sides.
%   dA = decomposition(A [, type]) of a clinalg.array, or clinalg.decomposition(A [, type]) of any matrix
%
%   type is 'auto' (default), 'lu', 'chol', for a sparse matrix 'ldl' or for a full one 'qr'. 'auto' is Cholesky for a sparse Hermitian positive
%   definite matrix, LDL for one that is Hermitian or complex symmetric, QR for a full one that is not square, else LU. A sparse matrix
%   is factorised once, by the sparse direct solver; solutions are refined.
%
%   dA \ b, b / dA        solutions, as with A; dA' and dA.' stand for those of A' and A.'
%   rcond(dA)             an estimate of the reciprocal condition number in the 1-norm, of LU and sparse matrices
%   isIllConditioned(dA)  whether that is below eps
%   det(dA)               the determinant, of LU, LDL and Cholesky
%   refill(dA, A)         new values at the positions of a sparse A, faster than a new decomposition
%   info(dA)              of a sparse matrix: kind and entries of the factors, inertia (not of LU), backward error of the last solution
%   dA.CheckCondition     whether the first solution warns where A is ill-conditioned (default true, for LU and sparse matrices)
%
%   Example:
%     A = clinalg.matrix(gallery('poisson', 40));
%     dA = decomposition(A);
%     b = ones(1600, 1);
%     norm(A * (dA \ b) - b)
%
%   See also clinalg.factor, clinalg.array, clinalg.factorisations, MexFactorisation.

  properties
    CheckCondition = true % whether the first solution warns where A is ill-conditioned
  end

  properties (SetAccess = private)
    Type          % 'lu', 'ldl', 'chol' or 'qr'
    MatrixSize    % rows and columns of A
    IsReal        % whether A is real
    IsSparse      % whether A is sparse
    Datatype      % 'double' or 'single'
    kept          % the factors
    transposed = false % whether it stands for the transpose
    conjugated = false % whether it stands for the conjugate
  end

  methods
    function o = decomposition(A, type, varargin)
    %decomposition  The factors of a matrix.
      if nargin == 1 && isa(A, 'clinalg.decomposition')
        copied = {'CheckCondition', 'Type', 'MatrixSize', 'IsReal', 'IsSparse', 'Datatype', 'kept', 'transposed', 'conjugated'};
        for k = 1 : numel(copied), o.(copied{k}) = A.(copied{k}); end
        return
      end
      if nargin < 1
        error('clinalg:argument:count', 'clinalg.decomposition: too few arguments; the call is clinalg.decomposition(A, type)');
      elseif nargin < 2
        type = 'auto';
      end
      if nargin > 2
        given = clinalg.operands.arguments('clinalg.decomposition', varargin, {}, {'CheckCondition'});
        if ~isempty(given.checkcondition), o.CheckCondition = given.checkcondition; end
      end
      kinds = struct('auto', 'auto', 'lu', 'lu', 'ldl', 'ldl', 'chol', 'cholesky', 'qr', 'qr');
      if ~ischar(type) || ~isfield(kinds, lower(type))
        error('clinalg:argument:value', ['clinalg.decomposition: type is ''auto'', ''lu'', ''ldl'', ''chol'' or ''qr''; for a triangle ' ...
          'use A \\ b']);
      end
      if ~isa(A, 'clinalg.array'), A = clinalg.matrix(A); end
      if ndims(A) > 2
        error('clinalg:argument:shape', 'clinalg.decomposition: A is %s, expected two dimensions', clinalg.operands.by(size(A)));
      end
      if strcmp(kind_of(A), 'band'), A = clinalg.matrix(gather(A), underlyingType(A)); end
      settle(A);
      o.MatrixSize = size(A);
      o.IsReal = ~iscomplex(A);
      o.IsSparse = issparse(A);
      o.Datatype = underlyingType(A);
      o.kept = clinalg.array(clinalg_mex('MexFactorisation', 0, A.h, kinds.(lower(type))));
      names = struct('cholesky', 'chol', 'ldl', 'ldl', 'lu', 'lu');
      if o.IsSparse
        s = info(o);
        o.Type = names.(s.kind);
      elseif ~strcmpi(type, 'auto')
        o.Type = lower(type);
      elseif o.MatrixSize(1) == o.MatrixSize(2)
        o.Type = 'lu';
      else
        o.Type = 'qr';
      end
    end

    function x = mldivide(o, b)
    %\  Solution of A x = b for the columns of b: real or complex, single or double, full or sparse.
      if ~isa(o, 'clinalg.decomposition')
        error('clinalg:call:unsupported', '\\: dA \\ b takes a clinalg.decomposition on its left side only');
      end
      warn_once(o);
      [b, as_single] = clinalg.operands.right_sides('dA', size(o), b, o.Datatype, o.IsReal);
      x = solution(o, b{1});
      if numel(b) > 1, x = complex(x, solution(o, b{2})); end
      if as_single, x = single(x); end
    end

    function x = mrdivide(b, o)
    %/  Solution of x A = b for the rows of b.
      if ~isa(o, 'clinalg.decomposition')
        error('clinalg:call:unsupported', '/: b / dA takes a clinalg.decomposition on its right side only');
      end
      clinalg.operands.check_classes('/', b);
      x = (o.' \ b.').';
    end

    function t = ctranspose(o)
    %'  The decomposition for A'.
      t = o.';
      t.conjugated = ~o.conjugated;
    end

    function t = transpose(o)
    %.'  The decomposition for A.'.
      t = clinalg.decomposition(o);
      t.transposed = ~o.transposed;
    end

    function r = rcond(o)
    %rcond  An estimate of the reciprocal condition number in the 1-norm.
      r = clinalg_mex('MexFactorisationCondition', 0, o.kept.h);
    end

    function t = isIllConditioned(o)
    %isIllConditioned  Whether the reciprocal condition number is below eps.
      t = rcond(o) < eps(o.Datatype);
    end

    function d = det(o)
    %det  The determinant.
      d = clinalg.operands.narrowed(clinalg_mex('MexFactorisationDeterminant', 0, o.kept.h));
      if o.conjugated, d = conj(d); end
    end

    function refill(o, A)
    %refill  New values at the positions of a sparse matrix. After an error during the elimination the decomposition is of no matrix.
      if ~isa(A, 'clinalg.array'), A = clinalg.matrix(sparse(A), o.Datatype); end
      settle(A);
      clinalg_mex('MexFactorisationRefill', 0, o.kept.h, A.h);
    end

    function s = info(o)
    %info  The structure of MexFactorisationReport, of a sparse matrix.
      s = clinalg_mex('MexFactorisationReport', 0, o.kept.h);
    end

    function varargout = size(o, varargin)
    %size  Rows and columns of A, or of its transpose.
      shape = zeros(o.MatrixSize);
      if o.transposed, shape = shape.'; end
      [varargout{1 : max(nargout, 1)}] = size(shape, varargin{:});
    end

    function disp(o)
    %disp  What it is, its shape and class.
      s = size(o);
      fprintf('  decomposition (%s), %d x %d of class %s on the device\n', o.Type, s(1), s(2), o.Datatype);
    end
  end

  methods (Access = private)
    function x = solution(o, b)
    % Of the columns of an array in the precision of A.
      ops = {'none', 'conjugate'};
      as_conjugates = ~o.IsReal && o.conjugated ~= o.transposed;
      if as_conjugates, b = conj(b); end
      settle(b);
      x = clinalg.operands.made(clinalg_mex('MexFactorisationSolve', 0, o.kept.h, b.h, ops{1 + o.transposed}));
      if as_conjugates, x = conj(x); end
    end

    function warn_once(o)
    % The warning of an ill-conditioned matrix, before the first solution.
      if ~o.CheckCondition, return, end
      o.CheckCondition = false;
      if o.IsSparse || strcmp(o.Type, 'lu')
        clinalg.factorisations.warn_if_ill_conditioned('\', rcond(o), o.Datatype);
      end
    end
  end
end
