classdef grid_wave < handle
%clinalg.grid_wave  Waves on a box of two or three dimensions on an OpenCL device.
%   w = clinalg.grid_wave(points, dt, options)
%   w = clinalg.grid_wave(points, dt, 'Lengths', [2 1], ...)
%
%   u_tt = c^2 Laplace u by leapfrog, of order 2 in space and time; points is [nx ny] or [nx ny nz], those on the sides included, dt the
%   time step, [] for 0.9 of the largest stable one. Arrays have one value for each point: element (i, j, k) is at x(i), y(j), z(k), as with
%   ndgrid. options is a structure, or pairs of names and values, all optional:
%     Lengths       lengths of the directions, d numbers; coordinates start at 0 (default 1)
%     Sides         one of the names 'fixed' (default), 'free' for du/dn = 0, 'absorbing' for u_t + c du/dn = 0 and 'periodic' for all sides, or a
%                   2 x d cell array of names, the low and the high side of each direction
%     Speed         c, a number or an array of the grid's shape (default 1)
%     Sponge        width of the damping layers along absorbing sides, in the unit of Lengths (default 0, none)
%     Displacement  at time 0, an array of the grid's shape (default 0)
%     Velocity      at time 0 (default 0)
%     Class         'double' or 'single' (default that of Displacement)
%
%   step(w, k)       makes k steps (default 1) and gives the time reached
%   start(w, u, v)   sets displacement and velocity at time 0
%   displacement(w)  in MATLAB's memory, with the shape of the grid, and velocity(w)
%   energy(w)        conserved without absorbing sides
%   w.t, w.dt        time since the start, time step
%   w.x, w.y, w.z    coordinates of the points
%
%   Example:
%     [x, y] = ndgrid(linspace(0, 2, 201), linspace(0, 1, 101));
%     w = clinalg.grid_wave([201 101], [], 'Lengths', [2 1], 'Sides', {'absorbing', 'free'; 'absorbing', 'free'}, ...
%       'Displacement', exp(-100 * (x - 1) .^ 2));
%     E = energy(w);
%     step(w, 400);
%     energy(w) / E
%
%   See also MexGridWave, MexGridWaveStep, clinalg.wave, clinalg.poisson.

  properties (SetAccess = private)
    h      % the handle of the wave for the Mex functions
    points % numbers of points
    dt     % time step
    t = 0  % time since the start
    x      % coordinates of the points
    y
    z
  end

  properties (Access = private)
    class_
  end

  methods
    function o = grid_wave(points, dt, varargin)
    %grid_wave  A wave with a displacement and a velocity at time 0.
      name = 'clinalg.grid_wave';
      if nargin < 2
        error('clinalg:argument:count', '%s: too few arguments; the call is clinalg.grid_wave(points, dt, options)', name);
      end
      given = clinalg.operands.arguments(name, varargin, {}, {'Lengths', 'Sides', 'Speed', 'Sponge', 'Displacement', 'Velocity', 'Class'});
      o.points = double(points(:).');
      d = numel(o.points);
      sides = clinalg.grid_wave.numbers(given.sides, d);
      speed = clinalg.operands.column(given.speed);
      [u, v] = deal(clinalg.operands.on_host(given.displacement), clinalg.operands.on_host(given.velocity));
      o.class_ = given.class;
      if isempty(o.class_)
        o.class_ = 'double';
        if isa(u, 'single'), o.class_ = 'single'; end
      end
      as_single = clinalg.operands.names_single(name, o.class_);
      if isempty(dt)
        dt = 0.9 * clinalg_mex('MexGridWaveLimit', 0, points(:), given.lengths, sides, speed);
      end
      o.h = clinalg_mex('MexGridWave', 0, points(:), dt, given.lengths, sides, speed, as_single, given.sponge);
      o.dt = double(dt);
      lengths = given.lengths;
      if isempty(lengths), lengths = ones(1, d); end
      names = 'xyz';
      for a = 1 : d
        n = o.points(a);
        o.(names(a)) = double(lengths(a)) * (0 : n - 1).' / (n - ~isnan(sides(1, a)));
      end
      if ~isempty(u) || ~isempty(v)
        start(o, u, v);
      end
    end

    function start(o, u, v)
    %start  Displacement and velocity at time 0; [] for zeros.
      if nargin < 2, u = []; end
      if nargin < 3, v = []; end
      u = o.whole(u, 'the displacement');
      if isempty(v)
        clinalg_mex('MexGridWaveStart', 0, o.h, u.h);
      else
        v = o.whole(v, 'the velocity');
        clinalg_mex('MexGridWaveStart', 0, o.h, u.h, v.h);
      end
      o.t = 0;
    end

    function t = step(o, steps)
    %step  Make time steps.
      if nargin < 2, steps = 1; end
      [t, flag] = clinalg_mex('MexGridWaveStep', 0, o.h, steps);
      o.t = t;
      if flag ~= 0
        warning('clinalg:solve:notConverged', 'grid_wave: Ctrl-C ended the steps; t is the time reached');
      end
    end

    function u = displacement(o)
    %displacement  The displacement in MATLAB's memory.
      u = o.read('MexGridWaveDisplacement');
    end

    function v = velocity(o)
    %velocity  The velocity in MATLAB's memory.
      v = o.read('MexGridWaveVelocity');
    end

    function [E, kinetic, potential] = energy(o)
    %energy  The discrete energy half a step before the time reached.
      [E, kinetic, potential] = clinalg_mex('MexGridWaveEnergy', 0, o.h);
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
    function values = read(o, mex)
    % An array of the grid's shape.
      values = reshape(gather(clinalg.array(clinalg_mex(mex, 0, o.h))), o.points);
    end

    function values = whole(o, values, name)
    % A column on the device of values at all points.
      values = clinalg.operands.on_host(values);
      if isempty(values)
        values = zeros(o.points);
      end
      shape = o.points(1 : max([2, find(o.points ~= 1, 1, 'last')])); % MATLAB drops dimensions of 1 at the end
      if ~isequal(size(values), shape) && ~isequal(size(values), [prod(o.points), 1])
        error('clinalg:argument:shape', 'clinalg.grid_wave: %s is %s, expected the shape of the grid, %s', name, mat2str(size(values)), ...
          mat2str(o.points));
      end
      values = clinalg.matrix(values(:), o.class_);
    end
  end

  methods (Static, Access = private)
    function sides = numbers(names, d)
    % The conditions as MexGridWave takes them.
      if isempty(names), names = 'fixed'; end
      if ~iscell(names), names = repmat({char(names)}, 2, d); end
      if ~isequal(size(names), [2 d])
        error('clinalg:argument:shape', 'clinalg.grid_wave: Sides is %s, expected a name or a 2 x %d cell array of names', ...
          mat2str(size(names)), d);
      end
      known = {'fixed', 'free', 'absorbing', 'periodic'};
      codes = [Inf, 0, 1, NaN];
      sides = zeros(2, d);
      for k = 1 : 2 * d
        at = find(strcmpi(char(names{k}), known));
        if isempty(at)
          error('clinalg:argument:value', 'clinalg.grid_wave: a side is ''%s'', expected one of %s', char(names{k}), strjoin(known, ', '));
        end
        sides(k) = codes(at);
      end
    end
  end
end
