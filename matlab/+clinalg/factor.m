classdef factor < handle
%clinalg.factor  Factorisation or inverse operator: a matrix M given by products with its inverse.
%   clinalg.precond, clinalg.amg, clinalg.saddle, clinalg.heat_forward and clinalg.heat_operator_preconditioner make one. It frees the device memory when its last
%   reference is cleared.
%
%   M \ b             the inverse of M, exact or approximate, times the columns of b
%   info(M)           of clinalg.precond, clinalg.amg and clinalg.saddle: the structure of MexPreconditionerInfo, MexAmgInfo or
%                     MexSaddleInfo
%   refill(M, A)      of clinalg.amg(A, 'Reusable', true): new values at the positions of its matrix
%   size, underlyingType, disp
%   clinalg.gmres(A, b, restart, tol, maxit, M)    with M as preconditioner
%
%   Example:
%     A = clinalg.heat_operator('V', [0 0 0; 1 0 0; 0 1 0; 0 0 1], [1 3 2; 1 2 4; 1 4 3; 2 3 4], 0.5, 1, 4);
%     M = clinalg.heat_forward(A);
%     b = ones(size(M, 1), 1);
%     norm(A * (M \ b) - b)
%
%   See also clinalg.precond, clinalg.amg, clinalg.heat_forward, clinalg.heat_operator_preconditioner, clinalg.array.

  properties (SetAccess = private)
    inverse % the inverse as a clinalg.array
    words   % what it is
  end

  methods
    function o = factor(h, words)
    %factor  From the handle of the inverse; the object frees it.
      o.inverse = clinalg.array(h);
      o.words = words;
    end

    function x = mldivide(o, b)
    %\  The inverse times the columns of b: real or complex, single or double, full or sparse.
      if ~isa(o, 'clinalg.factor')
        error('clinalg:call:unsupported', '\\: M \\ b takes a clinalg.factor on its left side only');
      end
      [b, as_single] = clinalg.operands.right_sides('M', size(o), b, underlyingType(o), isreal(o));
      x = columns(o, b{1});
      if numel(b) > 1, x = complex(x, columns(o, b{2})); end
      if as_single, x = single(x); end
    end

    function s = info(o)
    %info  Kind, entries and levels of a preconditioner; of algebraic multigrid its levels and complexities; of a saddle point its blocks.
      if strncmp(o.words, 'block preconditioner', 20)
        s = clinalg_mex('MexSaddleInfo', 0, o.inverse.h);
        return
      end
      s = clinalg_mex('MexPreconditionerInfo', 0, o.inverse.h);
      if strcmp(s.kind, 'amg')
        s = clinalg_mex('MexAmgInfo', 0, o.inverse.h);
      end
    end

    function refill(o, A)
    %refill  New values at the positions of the matrix of clinalg.amg(A, 'Reusable', true). After an error M keeps its former values.
      if ~isa(A, 'clinalg.array')
        A = clinalg.matrix(sparse(A), underlyingType(o));
      end
      A = clinalg.operands.sparse_handle(A);
      try
        clinalg_mex('MexAmgRefill', 0, o.inverse.h, A.h);
      catch problem
        clinalg.operands.blame(problem, 'refill', {'reusable', 'Reusable', 'single', 'SinglePrecision'});
      end
    end

    function varargout = size(o, varargin)
    %size  Number of rows and columns.
      [varargout{1 : max(nargout, 1)}] = size(o.inverse, varargin{:});
    end

    function name = underlyingType(o)
    %underlyingType  'double' or 'single'.
      name = underlyingType(o.inverse);
    end

    function t = isreal(o)
    %isreal  Whether its numbers are real.
      t = ~iscomplex(o.inverse);
    end

    function disp(o)
    %disp  What it is, its shape and class.
      s = size(o);
      fprintf('  %s, %d x %d of class %s on the device\n', o.words, s(1), s(2), underlyingType(o));
    end
  end

  methods (Access = private)
    function x = columns(o, b)
    % The inverse times the columns of an array, one after the other.
      settle(b);
      if size(b, 2) == 1
        x = clinalg.operands.made(clinalg_mex('MexMultiply', 0, o.inverse.h, b.h));
        return
      end
      x = {zeros(size(b, 1), 0, 'like', b)};
      for k = 1 : size(b, 2)
        column = b(:, k);
        if ~isa(column, 'clinalg.array'), column = clinalg.operands.like(column, b); end
        settle(column);
        x{k} = clinalg.array(clinalg_mex('MexMultiply', 0, o.inverse.h, column.h));
      end
      if size(b, 2) > 0
        x = cat(2, x{:});
      else
        x = x{1};
      end
    end
  end
end
