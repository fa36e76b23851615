classdef factorisations
%clinalg.factorisations  Factorisations of clinalg.array, and solutions of large sparse systems.
%   lu, chol, qr, inv, det and A \ b of arrays call these; they copy nothing to MATLAB's memory but results of one element.
%
%   Example:
%     [L, U, P] = clinalg.factorisations.lu(clinalg.matrix(magic(3)));
%     norm(L * U - P * magic(3), 'fro')
%
%   See also clinalg.operations, clinalg.array, clinalg.solve.

  methods (Static)
    function results = factorised(name, count, given)
    % Results of a factorisation: of a full matrix on the device, of other matrices in MATLAB's memory, but the determinant of a large sparse one.
      if strcmp(name, 'det') && count == 1 && clinalg.factorisations.is_large(given{1})
        try
          results = {det(clinalg.decomposition(given{1}))};
          return
        catch problem
          % What is singular to working precision, or has no factors, has a determinant in MATLAB's memory.
          if ~any(strcmp(problem.identifier, {'clinalg:argument:value', 'clinalg:device:memory'})), rethrow(problem), end
        end
      end
      if issparse(given{1}) || ~isa(given{1}, 'clinalg.array')
        results = clinalg.hosted.call(name, count, 'D', given);
      else
        results = cell(1, count);
        [results{:}] = clinalg.factorisations.(name)(given{:});
      end
    end

    function results = condition(count, given)
    % Results of condest.
      if count == 1 && numel(given) == 1 && clinalg.factorisations.is_large(given{1})
        results = {1 / rcond(clinalg.decomposition(given{1}))};
      else
        results = clinalg.hosted.call('condest', count, 'D', given);
      end
    end

    function t = warn_if_ill_conditioned(name, reciprocal, type)
    % MATLAB's warning where a reciprocal condition number is below eps; whether it was given.
      t = reciprocal < eps(type);
      if t
        warning('clinalg:matrix:nearlySingular', ['%s: the matrix is nearly singular (rcond = %g); the result may be inaccurate. ' ...
          'Rescale or regularise the system.'], name, reciprocal);
      end
    end

    function t = is_large(a)
    % Whether a is a square sparse matrix on the device with 1000 or more rows.
      t = isa(a, 'clinalg.array') && strcmp(kind_of(a), 'sparse') && size(a, 1) >= 1000 && size(a, 1) == size(a, 2);
    end

    function [L, U, P] = lu(a, varargin)
      a = clinalg.factorisations.dense_operand(a, 'lu');
      as_vector = nargin > 1 && strcmp(varargin{1}, 'vector');
      if nargin > 1 + as_vector || (as_vector && nargout < 3)
        error('clinalg:argument:value', 'lu: the calls are lu(A) and, with three outputs, lu(A, ''vector'')');
      end
      if isempty(a) || isscalar(a)
        [L, U, P] = lu(gather(a));
        if as_vector, P = 1 : size(a, 1); end
        return
      end
      [L, U, P] = clinalg_mex('MexLu', 0, a.h);
      L = clinalg.array(L);
      U = clinalg.array(U);
      if nargout < 2
        [m, n] = size(a);
        k = min(m, n);
        L = L - eye(m, k, 'like', a);
        if k < n, L = cat(2, L, zeros(m, n - k, 'like', a)); end
        if k < m, U = cat(1, U, zeros(m - k, n, 'like', a)); end
        L = L + U;
      elseif nargout == 2
        L = clinalg.array(clinalg_mex('MexTake', 0, L.h, inverse_order(P), []));
      elseif ~as_vector
        P = clinalg.matrix(sparse(1 : numel(P), P, 1, numel(P), numel(P)) + zeros(numel(P)));
      end
    end

    function [R, flag] = chol(a, varargin)
      a = clinalg.factorisations.dense_operand(a, 'chol');
      lower = nargin > 1 && strcmpi(varargin{1}, 'lower');
      if nargin > 2 || (nargin > 1 && ~lower && ~strcmpi(varargin{1}, 'upper'))
        error('clinalg:argument:value', 'chol: the calls are chol(A), chol(A, ''upper'') and chol(A, ''lower'')');
      elseif size(a, 1) ~= size(a, 2)
        error('clinalg:argument:shape', 'chol: A is %s, expected a square matrix', clinalg.operands.by(size(a)));
      end
      if isempty(a) || isscalar(a)
        [R, flag] = chol(gather(a));
      else
        of = a;
        if ~lower
          of = a';
          settle(of);
        end
        [R, flag] = clinalg_mex('MexCholesky', 0, of.h);
        if flag > 1
          part = 1 : flag - 1;
          leading = clinalg.array(clinalg_mex('MexTake', 0, of.h, part, part));
          R = clinalg_mex('MexCholesky', 0, leading.h);
        end
        if flag == 1
          R = zeros(0, 'like', a);
        else
          R = clinalg.array(R);
          if ~lower, R = R'; end
          if isscalar(R), R = gather(R); end
        end
      end
      if flag > 0 && nargout < 2
        error('clinalg:matrix:notPositiveDefinite', ['chol: the matrix is not positive definite: its leading minor of order %d is not ' ...
          'positive; use lu, or A \\ b, which falls back to LU'], flag);
      end
    end

    function [Q, R, E] = qr(a, varargin)
      if nargout > 2 || (nargin > 1 && ~isequal(varargin{1}, 0) && ~strcmp(varargin{1}, 'econ'))
        results = [clinalg.hosted.call('qr', nargout, 'D', [{a}, varargin]), {[], []}];
        [Q, R, E] = results{1 : 3};
        return
      end
      a = clinalg.factorisations.dense_operand(a, 'qr');
      if isempty(a) || isscalar(a)
        [Q, R] = qr(gather(a), varargin{:});
      else
        [Q, R] = clinalg_mex('MexQr', 0, a.h, nargin > 1);
        Q = clinalg.operands.made(Q);
        R = clinalg.operands.made(R);
      end
      if nargout < 2, Q = R; end
    end

    function [b, reciprocal] = inv(a)
      a = clinalg.factorisations.square_operand(a, 'inv');
      if isempty(a) || isscalar(a)
        [b, reciprocal] = inv(gather(a));
        return
      end
      try
        [b, reciprocal] = clinalg_mex('MexInverse', 0, a.h);
      catch problem
        if ~strcmp(problem.identifier, 'clinalg:matrix:singular'), rethrow(problem), end
        if nargout < 2, warning('clinalg:matrix:singular', 'inv: the matrix is singular; the result is infinite'); end
        reciprocal = zeros(1, underlyingType(a));
        b = copy(a);
        clinalg_mex('MexFill', 0, b.h, Inf);
        return
      end
      b = clinalg.array(b);
      if strcmp(underlyingType(a), 'single'), reciprocal = single(reciprocal); end
      if nargout < 2, clinalg.factorisations.warn_if_ill_conditioned('inv', reciprocal, underlyingType(a)); end
    end

    function [d, reciprocal] = det(a)
      a = clinalg.factorisations.square_operand(a, 'det');
      if isempty(a) || isscalar(a)
        d = det(gather(a));
      else
        d = clinalg.operands.narrowed(clinalg_mex('MexDeterminant', 0, a.h));
      end
      if nargout > 1, reciprocal = rcond(a); end
    end

    function a = dense_operand(a, name)
    % A full matrix whose handle is ready.
      if ndims(a) > 2
        error('clinalg:argument:shape', '%s: A is %s, expected two dimensions', name, clinalg.operands.by(size(a)));
      end
      settle(a);
    end

    function a = square_operand(a, name)
      a = clinalg.factorisations.dense_operand(a, name);
      if size(a, 1) ~= size(a, 2)
        error('clinalg:argument:shape', '%s: A is %s, expected a square matrix', name, clinalg.operands.by(size(a)));
      end
    end

    function x = left_divide(a, b)
    % a \ b of full arrays on the device, with the warnings of MATLAB.
      try
        [x, reciprocal, rank_, tolerance] = clinalg_mex('MexSolveDense', 0, hand(a), hand(b));
      catch problem
        if ~strcmp(problem.identifier, 'clinalg:matrix:singular'), rethrow(problem), end
        warning('clinalg:matrix:singular', '\\: the matrix is singular; the result is the minimum-norm least-squares solution');
        x = clinalg_mex('MexSolveDense', 0, a.h, b.h, 'qr');
        reciprocal = NaN;
        rank_ = size(a, 1);
      end
      x = clinalg.operands.made(x);
      if ~clinalg.factorisations.warn_if_ill_conditioned('\', reciprocal, underlyingType(a)) && rank_ < min(size(a))
        warning('clinalg:matrix:rankDeficient', '\\: the matrix is rank deficient: rank = %d, tol = %g; the result is the minimum-norm least-squares solution', ...
          rank_, tolerance);
      end
    end

    function x = of_large_sparse(a, b)
    % a \ b of a large sparse matrix: by substitution for a triangle, by a complete factorisation where it takes seconds, else by iteration.
      if ~isa(a, 'clinalg.array'), a = clinalg.matrix(a); end
      [a, b] = clinalg.operands.pair(a, b);
      [m, n] = size(a);
      lower = m == n && nnz(triu(a, 1)) == 0;
      if lower || (m == n && nnz(tril(a, -1)) == 0)
        % Without stored zeros on the other side.
        if lower
          part = tril(a);
        else
          part = triu(a);
        end
        try
          inverse = clinalg.array(clinalg_mex('MexTriangular', 0, part.h));
        catch problem
          if ~strcmp(problem.identifier, 'clinalg:matrix:singular')
            rethrow(problem)
          end
          x = clinalg.hosted.one('mldivide', {a, b});
          return
        end
        columns = cell(1, size(b, 2));
        for k = 1 : numel(columns)
          columns{k} = inverse * indexed(b, {':', k});
        end
        x = cat(2, columns{:});
        return
      end
      if m == n
        try
          [x, info] = clinalg_mex('MexSolveDirect', 0, a.h, b.h, true);
          x = clinalg.operands.made(x);
          clinalg.factorisations.warn_if_ill_conditioned('\', info.rcond, underlyingType(a));
          return
        catch problem
          % What takes too long, does not fit or is singular is left to the iterative solvers.
          if ~any(strcmp(problem.identifier, {'clinalg:argument:value', 'clinalg:device:memory'})), rethrow(problem), end
        end
      end
      tolerance = 1e-10;
      if strcmp(underlyingType(a), 'single'), tolerance = 1e-5; end
      [x, flag, relres, iter, info] = clinalg.solve(a, b, tolerance);
      how = info.method;
      if ~isempty(info.preconditioner), how = [how, ' with ', info.preconditioner]; end
      others = 'clinalg.solve takes another tolerance, warning(''off'', ''clinalg:solve:iterative'') silences this warning';
      if all(flag == 0 | (flag == 3 & relres <= 10 * tolerance))
        warning('clinalg:solve:iterative', '\\: the matrix is sparse and was solved by %s, %d iterations, to the tolerance %g; %s', how, ...
          max(iter), tolerance, others);
      elseif max(m, n) <= 10000 && ~any(flag == 5)
        x = clinalg.hosted.one('mldivide', {a, b});
        warning('clinalg:solve:direct', ['\\: %s did not converge (%s; relative residual %.1e, tolerance %g); the matrix was solved directly ' ...
          'in MATLAB''s memory'], how, info.reason, max(relres), tolerance);
      else
        warning('clinalg:solve:notConverged', ['\\: %s did not converge (%s; relative residual %.1e, tolerance %g); use clinalg.gmres, ' ...
          'clinalg.bicgstab or clinalg.pcg with a preconditioner of clinalg.precond, or gather(A) \\ b'], how, info.reason, max(relres), tolerance);
      end
    end
  end
end

function order = inverse_order(p)
order = zeros(1, numel(p));
order(p) = 1 : numel(p);
end
