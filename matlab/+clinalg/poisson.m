classdef poisson < handle
%clinalg.poisson  Multigrid solver of the Poisson problem on a square, a cube or another box.
%   S = clinalg.poisson(points, options)
%   S = clinalg.poisson(points, 'Lengths', [2 1], ...)
%
%   -div(k D grad u) + c u = f on a box of d = 2 or 3 dimensions; points is [nx ny] or [nx ny nz]. Arrays have one
%   value for each point: element (i, j, k) is at x(i), y(j), z(k), as with ndgrid. options is a structure, or name-value
%   pairs, all optional:
%     Lengths           lengths of the directions, d numbers; coordinates start at 0 (default 1)
%     Coordinates       a cell array {x, y} or {x, y, z} of ascending coordinates, [] for equal spacing: those of the
%                       points, or, on a cell-centred grid and in a periodic direction, those of the ends of the
%                       intervals (one more than points)
%     Sides             2 x d numbers, the low and the high side of each direction: Inf (default) for u = g, 0 for
%                       k D du/dn = g with the outward normal n, alpha > 0 for alpha u + k D du/dn = g, NaN for
%                       periodic
%     Centring          'vertex' (default): the first and the last point lie on the sides; 'cell': points at the
%                       centres of cells
%     Diffusion         D: a number, the diagonal, or a symmetric positive definite d x d matrix (default 1); or, if D varies, a
%                       cell array {dxx, dyy, dxy}, in three dimensions {dxx, dyy, dzz, dxy, dxz, dyz}, each a number or an
%                       array with a value for each cell between the points (on a cell-centred grid, for each cell)
%     Coefficient       k: an array of positive values at the points or in the cells between them (default 1)
%     CoefficientAt     where k is given: 'points' (default) or 'cells'; a D that is not diagonal needs 'cells'
%     Shift             c, at least 0 (default 0)
%     Order             of the discretisation: 2 (default) or 4; order 4 needs a diagonal D, no coefficient, equal
%                       spacing, a vertex-centred grid, and sides with u = g or periodic ones
%     Tolerance         relative residual to reach (default 1e-10 in double, 1e-5 in single precision)
%     MaxCycles         maximum number of cycles (default 100)
%     Cycle             'v' (default), 'w' or 'fmg' for full multigrid
%     Class             'double' (default) or 'single'
%   The unit square or cube with 2^k + 1 equally spaced points per direction, u = g on all sides, D = 1 and, on the cube, k = 1 has
%   the fastest kernels, and more choices:
%     Smoother          'rbgs' for red-black Gauss-Seidel (default) or 'jacobi'
%     Backend           'kernels' for kernels made for this problem (default), 'matrix' for sparse matrices, or
%                       'reference' for sequential code on the host
%     MixedPrecision    true keeps u in double precision and computes its corrections in single precision: for devices with
%                       slow double precision, with the backend 'kernels' and without k (default false)
%
%   [u, flag, relres, iter, history, reason, imbalance] = solve(S, f, g, u0)
%     f       a number, or an array with the shape of the grid: a MATLAB array or a clinalg.array
%     g       the values of the sides: 2 x d numbers, or a 2 x d cell array whose elements are numbers, arrays with
%             one value for each point of the side, or [] for none. Without values g is 0, but on vertex-centred sides with u = g u
%             keeps the values of u0. Where sides with u = g meet, the values of the last direction hold
%     u0      the initial guess, a number or like f (default 0)
%   A = operator(S), b = right_side(S, f, g), M = preconditioner(S), u = values(S, x)
%     for Krylov methods: [x, flag] = clinalg.pcg(A, b, 1e-8, 50, M). A is the symmetric matrix of the unknowns, the values where u is not
%     given by a side, b its right-hand side for f and g, M a cycle, and u the values at all points
%   u is a clinalg.array if f is one, else a MATLAB array with the shape of the grid; MexPoissonSolve describes the other results. S.x, S.y and S.z are
%   the coordinates of the points.
%
%   Example:
%     S = clinalg.poisson([60 40], 'Lengths', [2 1], 'Sides', [0 NaN; Inf NaN], 'Shift', 1);
%     [x, y] = ndgrid(S.x, S.y);
%     [u, flag] = solve(S, cos(2 * pi * y), [0 0; 1 0]);
%     u(1, 1)
%     f = clinalg.matrix(rand(129));
%     v = solve(clinalg.poisson(size(f)), f);
%
%   See also MexPoisson, MexPoissonSolve, clinalg.pcg.

  properties (SetAccess = private)
    h      % the handle of the solver for the Mex functions
    points % numbers of points
    x      % coordinates of the points
    y
    z
  end

  properties (Access = private)
    class_ = 'double'
  end

  methods
    function o = poisson(points, varargin)
    %poisson  A solver for one grid, conditions and coefficients.
      if nargin < 1
        error('clinalg:argument:count', ['clinalg.poisson: too few arguments; the call is ' ...
                                         'clinalg.poisson(points, options)']);
      end
      name = 'clinalg.poisson';
      given = clinalg.operands.arguments(name, varargin, {}, {'Lengths', 'Coordinates', 'Sides', 'Centring', 'Diffusion', ...
        'Coefficient', 'CoefficientAt', 'Shift', 'Order', 'Tolerance', 'MaxCycles', 'Cycle', 'Class', ...
        'Smoother', 'Backend', 'MixedPrecision'});
      d = numel(points);
      ends = repmat({[]}, 1, max(d, 3));
      if ~isempty(given.lengths)
        if numel(given.lengths) ~= d
          error('clinalg:argument:length', '%s: Lengths has %d numbers, expected %d, one per direction', name, numel(given.lengths), d);
        end
        ends(1 : d) = num2cell(given.lengths);
      end
      if ~isempty(given.coordinates)
        if ~iscell(given.coordinates) || numel(given.coordinates) ~= d
          error('clinalg:argument:class', '%s: Coordinates is of class %s with %d elements, expected a cell array with one element per direction', ...
            name, class(given.coordinates), numel(given.coordinates));
        end
        used = ~cellfun(@isempty, given.coordinates(:).');
        ends(used) = given.coordinates(used);
      end
      if ~isempty(given.class) && ~any(strcmp(given.class, {'double', 'single'}))
        error('clinalg:argument:value', '%s: Class is ''%s'', expected ''double'' or ''single''', name, char(given.class));
      end
      k = clinalg.operands.column(given.coefficient);
      diffusion = given.diffusion;
      if iscell(diffusion)
        diffusion = clinalg.poisson.tensor(diffusion, double(points(:).') - ~strcmpi(given.centring, 'cell') * ~periodic(given.sides, d));
      end
      o.h = clinalg_mex('MexPoisson', 0, points(:), ends{1 : 3}, given.sides, given.centring, diffusion, k, ...
        given.coefficientat, given.shift, given.order, given.tolerance, given.maxcycles, given.cycle, strcmp(given.class, 'single'), given.smoother, ...
        given.backend, given.mixedprecision);
      o.points = double(points(:).');
      if ~isempty(given.class), o.class_ = given.class; end
      sides = given.sides;
      if isempty(sides), sides = Inf(2, d); end
      names = 'xyz';
      for a = 1 : d
        o.(names(a)) = clinalg.poisson.coordinates(o.points(a), ends{a}, isnan(sides(1, a)), strcmpi(given.centring, 'cell'));
      end
    end

    function [u, flag, relres, iter, history, reason, imbalance] = solve(o, f, g, u0)
    %solve  The solution for a source and values of the sides.
      if nargin < 2
        error('clinalg:argument:count', 'clinalg.poisson: too few arguments; the call is solve(S, f, g, u0)');
      end
      if nargin < 3, g = []; end
      if nargin < 4, u0 = []; end
      on_device = isa(f, 'clinalg.array');
      f = o.on_device(f, 'f');
      if ~isempty(u0)
        u0 = o.on_device(u0, 'u0');
      end
      u = clinalg.operands.start(f, f, u0);
      o.set_sides(g);
      [~, flag, relres, iter, history, reason, imbalance] = clinalg_mex('MexPoissonSolve', 0, o.h, f.h, u.h);
      if ~on_device
        u = reshape(gather(u), o.points);
      end
      if nargout < 2 && flag ~= 0
        warning('clinalg:solve:notConverged', 'poisson: %s (relative residual %.1e)', reason, relres);
      end
    end

    function A = operator(o)
    %operator  The matrix that the solver inverts, as a clinalg.array of the kind operator.
      A = clinalg.array(clinalg_mex('MexPoissonOperator', 0, o.h));
    end

    function M = preconditioner(o)
    %preconditioner  A cycle as the approximate inverse of that matrix.
      M = clinalg.factor(clinalg_mex('MexPoissonPreconditioner', 0, o.h), 'multigrid cycle on a box');
    end

    function b = right_side(o, f, g)
    %right_side  The right-hand side for that matrix, for a source and values of the sides.
      if nargin < 3, g = []; end
      o.set_sides(g);
      f = o.on_device(f, 'f');
      b = clinalg.operands.column_of(clinalg_mex('MexPoissonRightSide', 0, o.h, f.h));
    end

    function u = values(o, x)
    %values  The values at all points, of those of the unknowns and of the sides that were last set.
      if ~isa(x, 'clinalg.array'), x = clinalg.matrix(x, o.class_); end
      settle(x);
      u = reshape(gather(clinalg.array(clinalg_mex('MexPoissonPoints', 0, o.h, x.h))), o.points);
    end

    function delete(o)
    %delete  Free the device memory. Quiet and harmless a second time.
      try
        clinalg_mex('MexRelease', 0, o.h);
      catch
      end
    end
  end

  methods (Access = private)
    function set_sides(o, g)
    % The values of all sides.
      d = numel(o.points);
      if isempty(g)
        g = cell(2, d);
      end
      if isnumeric(g)
        g = num2cell(g);
      end
      if ~iscell(g) || ~isequal(size(g), [2 d])
        error('clinalg:argument:shape', 'clinalg.poisson: g is %s of class %s, expected 2 x %d numbers or a cell array of this size', ...
          mat2str(size(g)), class(g), d);
      end
      for a = 1 : d
        count = prod(o.points) / o.points(a);
        for high = 0 : 1
          values = clinalg.operands.on_host(g{1 + high, a});
          if isempty(values)
            clinalg_mex('MexPoissonSide', 0, o.h, a, high);
            continue
          end
          if isscalar(values)
            values = repmat(values, count, 1);
          elseif numel(values) ~= count
            error('clinalg:argument:length', ['clinalg.poisson: g{%d, %d} has %d values, expected 1 or %d, one for each point of ' ...
              'the other directions'], 1 + high, a, numel(values), count);
          end
          clinalg_mex('MexPoissonSide', 0, o.h, a, high, values(:));
        end
      end
    end

    function a = on_device(o, values, name)
    % The values at all points on the device, of a number or of an array of the grid's shape or as a column.
      shape = o.points(1 : max([2, find(o.points ~= 1, 1, 'last')])); % MATLAB drops dimensions of 1 at the end
      if isscalar(values)
        values = repmat(clinalg.operands.on_host(values), shape);
      end
      fits = isequal(size(values), shape) || isequal(size(values), [prod(o.points), 1]);
      if ~fits
        error('clinalg:argument:shape', 'clinalg.poisson: %s is %s, expected the shape of the grid, %s', name, ...
          mat2str(size(values)), mat2str(o.points));
      end
      if isa(values, 'clinalg.array')
        settle(values);
        a = values;
      else
        a = clinalg.matrix(cast(values(:), o.class_));
      end
    end
  end

  methods (Static, Access = private)
    function rows = tensor(entries, cells)
    % The entries of a tensor in each cell, in columns.
      d = numel(cells);
      if numel(entries) ~= d * (d + 1) / 2
        error('clinalg:argument:length', 'clinalg.poisson: Diffusion has %d arrays, expected %d, the diagonal and then dxy, dxz, dyz', ...
          numel(entries), d * (d + 1) / 2);
      end
      rows = zeros(prod(cells), numel(entries));
      for k = 1 : numel(entries)
        values = clinalg.operands.on_host(entries{k});
        if ~isscalar(values) && ~isequal(size(values), cells) && ~isequal(size(values), [prod(cells), 1])
          error('clinalg:argument:shape', 'clinalg.poisson: Diffusion{%d} is %s, expected a number or a value for each cell, %s', k, ...
            mat2str(size(values)), mat2str(cells));
        end
        rows(:, k) = values(:);
      end
    end

    function at = coordinates(n, ends, is_periodic, in_cells)
    % The coordinates of the points of a direction.
      if isempty(ends), ends = 1; end
      if isscalar(ends)
        ends = ends * (0 : n - ~(is_periodic || in_cells)).' / (n - ~(is_periodic || in_cells));
      end
      at = double(ends(:));
      if in_cells
        at = (at(1 : end - 1) + at(2 : end)) / 2;
      else
        at = at(1 : n);
      end
    end
  end
end

function t = periodic(sides, d)
% Which directions are periodic.
t = false(1, d);
if ~isempty(sides), t = isnan(sides(1, :)); end
end
