classdef wave < handle
%clinalg.wave  Waves on squares and boxes of two or three dimensions on an OpenCL device.
%   w = clinalg.wave(u, dt, c, scheme, v, tol, team)
%   w = clinalg.wave(u, dt, 'Speed', 2, 'Sides', 'absorbing', ...)
%
%   u_tt = c^2 Laplace u, of order 2 in space and time. u is the displacement at time 0, a clinalg.array or an array in MATLAB's
%   memory, with one value for each point, those on the sides included: element (i, j, k) is at x(i), y(j), z(k), as with ndgrid. dt is
%   the time step, [] for 0.9 of the largest stable one of the explicit scheme. The precision is that of u. The other arguments may be
%   omitted or []; they may also be name-value pairs, or a structure:
%     Speed      c, a number or an array of the grid's shape (default 1)
%     Scheme     'explicit' (default), or 'implicit', for any dt, on squares of 2^k + 1 points per side
%     Velocity   v, at time 0 (default 0)
%     Tolerance  of the implicit scheme, relative residual of each step
%     Team       a clinalg.team, for the explicit scheme on squares: each device has a strip of the grid
%   By name only:
%     Lengths    of the directions; coordinates start at 0 (default 1)
%     Sides      one of the names 'fixed' (default), 'free' for du/dn = 0, 'absorbing' for u_t + c du/dn = 0 and 'periodic' for all sides,
%                or a 2 x d cell array of names, the low and the high side of each direction
%     Sponge     width of the damping layers along absorbing sides, in the unit of Lengths (default 0, none)
%   Squares have two directions with equally many points, equal lengths and fixed sides.
%
%   step(w, k)       makes k steps (default 1) and returns the time reached
%   start(w, u, v)   sets displacement and velocity at time 0
%   displacement(w)  in MATLAB's memory, with the shape of the grid, and velocity(w)
%   energy(w)        the discrete energy, conserved without absorbing sides
%   w.t, w.dt        time since the start, time step
%   w.x, w.y, w.z    coordinates of the points
%
%   Example:
%     [x, y] = ndgrid(linspace(0, 1, 65));
%     w = clinalg.wave(exp(-200 * ((x - 0.3) .^ 2 + (y - 0.4) .^ 2)), 0.01);
%     step(w, 50);
%     u = displacement(w);
%     u(33, 33)
%     [x, y] = ndgrid(linspace(0, 2, 201), linspace(0, 1, 101));
%     w = clinalg.wave(exp(-100 * (x - 1) .^ 2), [], 'Lengths', [2 1], 'Sides', {'absorbing', 'free'; 'absorbing', 'free'});
%     E = energy(w);
%     step(w, 400);
%     energy(w) / E
%
%   See also MexWave, MexWaveStep, clinalg.poisson.

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
    function o = wave(u, dt, varargin)
    %wave  A wave with a displacement and a velocity at time 0.
      if nargin < 2
        error('clinalg:argument:count', 'clinalg.wave: too few arguments; the call is clinalg.wave(u, dt, ...)');
      end
      given = clinalg.operands.arguments('clinalg.wave', varargin, {'Speed', 'Scheme*', 'Velocity', 'Tolerance', 'Team'}, ...
        {'Lengths', 'Sides', 'Sponge'});
      [c, scheme, team, lengths] = deal(given.speed, given.scheme, given.team, given.lengths);
      o.points = size(u);
      d = numel(o.points);
      o.class_ = 'double';
      single_ = isa(u, 'single') || (isa(u, 'clinalg.array') && strcmp(underlyingType(u), 'single'));
      if single_, o.class_ = 'single'; end
      sides = clinalg.wave.numbers(given.sides, d);
      c = clinalg.operands.column(c);
      if isempty(dt)
        dt = 0.9 * clinalg_mex('MexWaveLimit', 0, o.points, c, lengths, sides);
      end
      if isempty(team)
        o.h = clinalg_mex('MexWave', 0, o.points, dt, c, scheme, single_, [], given.tolerance, lengths, sides, given.sponge);
      elseif ~isempty(scheme) && ~strcmpi(scheme, 'explicit')
        error('clinalg:argument:value', 'clinalg.wave: the scheme is ''%s'', expected ''explicit'' on a team', char(scheme));
      elseif d > 2 || o.points(1) ~= o.points(2) || ~all(isinf(sides(:))) || ~all(lengths(:) == 1) || ~isempty(given.sponge)
        error('clinalg:argument:value', 'clinalg.wave: the grid is a box or has other sides, expected the unit square with fixed sides on a team');
      else
        o.h = clinalg_mex('MexTeamWave', 0, team.h, o.points(1), dt, c, single_);
      end
      o.dt = double(dt);
      if isempty(lengths), lengths = ones(1, d); end
      names = 'xyz';
      for a = 1 : d
        n = o.points(a);
        o.(names(a)) = double(lengths(a)) * (0 : n - 1).' / (n - ~isnan(sides(1, a)));
      end
      start(o, u, given.velocity);
    end

    function start(o, u, v)
    %start  Displacement and velocity at time 0; without a velocity at rest.
      if nargin < 3, v = []; end
      u = o.whole(u, 'the displacement');
      o.t = 0;
      if isempty(v)
        flag = clinalg_mex('MexWaveStart', 0, o.h, u.h);
      else
        v = o.whole(v, 'the velocity');
        flag = clinalg_mex('MexWaveStart', 0, o.h, u.h, v.h);
      end
      clinalg.wave.complain(flag);
    end

    function delete(o)
    %delete  Free the device memory. Quiet and harmless a second time.
      try
        clinalg_mex('MexRelease', 0, o.h);
      catch
      end
    end

    function t = step(o, steps)
    %step  Make time steps.
      if nargin < 2, steps = 1; end
      [t, flag] = clinalg_mex('MexWaveStep', 0, o.h, steps);
      o.t = t;
      clinalg.wave.complain(flag);
    end

    function u = displacement(o)
    %displacement  The displacement in MATLAB's memory.
      u = reshape(gather(clinalg.array(clinalg_mex('MexWaveDisplacement', 0, o.h))), o.points);
    end

    function v = velocity(o)
    %velocity  The velocity in MATLAB's memory.
      v = reshape(gather(clinalg.array(clinalg_mex('MexWaveVelocity', 0, o.h))), o.points);
    end

    function [E, kinetic, potential] = energy(o)
    %energy  The discrete energy half a step before the time reached.
      [E, kinetic, potential] = clinalg_mex('MexWaveEnergy', 0, o.h);
    end
  end

  methods (Access = private)
    function values = whole(o, values, name)
    % Values at all points on the device.
      if ~isequal(size(values), o.points) && ~isequal(size(values), [prod(o.points), 1])
        error('clinalg:argument:shape', 'clinalg.wave: %s is %s, expected the shape of the grid, %s', name, mat2str(size(values)), ...
          mat2str(o.points));
      end
      if ~isa(values, 'clinalg.array')
        values = clinalg.matrix(values(:), o.class_);
      end
    end
  end

  methods (Static, Access = private)
    function sides = numbers(names, d)
    % The conditions as MexWave takes them.
      if isempty(names), names = 'fixed'; end
      if ~iscell(names), names = repmat({char(names)}, 2, d); end
      if ~isequal(size(names), [2 d])
        error('clinalg:argument:shape', 'clinalg.wave: Sides is %s, expected a name or a 2 x %d cell array of names', ...
          mat2str(size(names)), d);
      end
      known = {'fixed', 'free', 'absorbing', 'periodic'};
      codes = [Inf, 0, 1, NaN];
      sides = zeros(2, d);
      for k = 1 : 2 * d
        at = find(strcmpi(char(names{k}), known));
        if isempty(at)
          error('clinalg:argument:value', 'clinalg.wave: a side is ''%s'', expected one of %s', char(names{k}), strjoin(known, ', '));
        end
        sides(k) = codes(at);
      end
    end

    function complain(flag)
      if flag == 5
        warning('clinalg:solve:notConverged', 'wave: Ctrl-C ended the steps; t is the time reached');
      elseif flag ~= 0
        warning('clinalg:solve:notConverged', 'wave: an implicit step found no solution; no further step was made');
      end
    end
  end
end
