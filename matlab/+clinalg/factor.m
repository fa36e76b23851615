classdef factor < handle
%clinalg.factor  Factorisation or inverse operator: a matrix M given by products with its inverse.
%   clinalg.precond, clinalg.amg, clinalg.heat_forward and clinalg.heat_opposite create one. It frees the device memory when its last
%   reference is cleared.
%
%   M \ b             the inverse of M, exact or approximate, times a column
%   info(M)           of clinalg.precond and clinalg.amg: the structure of MexPreconditionerInfo or MexAmgInfo
%   refill(M, A)      of clinalg.amg with options.reusable: new values at the positions of its matrix
%   size, underlyingType, disp
%   clinalg.gmres(A, b, restart, tol, maxit, M)    with M as preconditioner
%
%   Example:
%     A = clinalg.heat_operator('V', [0 0 0; 1 0 0; 0 1 0; 0 0 1], [1 3 2; 1 2 4; 1 4 3; 2 3 4], 0.5, 1, 4);
%     M = clinalg.heat_forward(A);
%     b = ones(size(M, 1), 1);
%     norm(A * (M \ b) - b)
%
%   See also clinalg.precond, clinalg.amg, clinalg.heat_forward, clinalg.heat_opposite, clinalg.array.

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
    %\  The inverse times a column.
      if ~isa(o, 'clinalg.factor')
        error('clinalg:call:unsupported', '\\: M \\ b takes a column b');
      end
      x = o.inverse * b;
    end

    function s = info(o)
    %info  Kind, entries and levels of a preconditioner; of algebraic multigrid its levels and complexities.
      s = clinalg_mex('MexPreconditionerInfo', 0, o.inverse.h);
      if strcmp(s.kind, 'amg')
        s = clinalg_mex('MexAmgInfo', 0, o.inverse.h);
      end
    end

    function refill(o, A)
    %refill  New values at the positions of the matrix of clinalg.amg.
      if ~isa(A, 'clinalg.array')
        A = clinalg.matrix(sparse(A), underlyingType(o));
      end
      A = clinalg.operands.sparse_handle(A);
      clinalg_mex('MexAmgRefill', 0, o.inverse.h, A.h);
    end

    function varargout = size(o, varargin)
    %size  Number of rows and columns.
      [varargout{1 : max(nargout, 1)}] = size(o.inverse, varargin{:});
    end

    function name = underlyingType(o)
    %underlyingType  'double' or 'single'.
      name = underlyingType(o.inverse);
    end

    function disp(o)
    %disp  What it is, its shape and class.
      s = size(o);
      fprintf('  %s, %d x %d of class %s on the device\n', o.words, s(1), s(2), underlyingType(o));
    end
  end
end
