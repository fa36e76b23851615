classdef wave < handle
%clinalg.wave  A membrane in motion on an OpenCL device.
%   w = clinalg.wave(u, dt, c, scheme, v, tol, team)
%
%   u_tt = c^2 Laplace u on the unit square, with fixed boundary values. u is the displacement at time 0 on
%   n x n points, boundary points included, as a clinalg.array or in MATLAB's memory; dt is the time step. The
%   precision is that of u. The other arguments may be omitted or []:
%     c       speed of the waves (default 1)
%     scheme  'explicit' (default), for which c * dt * (n - 1) <= 1 / sqrt(2), or 'implicit' with n = 2^k + 1
%     v       velocity at time 0 (default 0)
%     tol     of the implicit scheme, relative residual of each step
%     team    a clinalg.team, for the explicit scheme: each device has a strip of the grid
%
%   They may also be name-value pairs, or a structure: Speed, Scheme, Velocity, Tolerance, Team.
%
%   step(w, k)       makes k steps (default 1) and returns the time reached
%   displacement(w)  in MATLAB's memory, and velocity(w)
%   energy(w)        the discrete energy, which the schemes conserve
%   w.t              time since the start
%
%   Example:
%     [x, y] = meshgrid(linspace(0, 1, 65));
%     w = clinalg.wave(exp(-200 * ((x - 0.3) .^ 2 + (y - 0.4) .^ 2)), 0.01);
%     step(w, 50);
%     u = displacement(w);
%     u(33, 33)
%
%   See also MexWave, MexWaveStep, clinalg.poisson.

  properties (SetAccess = private)
    h     % the handle of the membrane for the Mex functions
    t = 0 % time since the start
  end

  methods
    function o = wave(u, dt, varargin)
    %wave  A membrane with a displacement and a velocity at time 0.
      if nargin < 2
        error('clinalg:argument:count', 'clinalg.wave: too few arguments; the call is clinalg.wave(u, dt, ...)');
      end
      given = clinalg.operands.arguments('clinalg.wave', varargin, {'Speed', 'Scheme*', 'Velocity', 'Tolerance', 'Team'}, {});
      [c, scheme, v, tol, team] = deal(given.speed, given.scheme, given.velocity, given.tolerance, given.team);
      if ~isa(u, 'clinalg.array')
        u = clinalg.matrix(u);
      end
      single_ = strcmp(underlyingType(u), 'single');
      n = size(u, 1);
      if isempty(team)
        o.h = clinalg_mex('MexWave', 0, n, dt, c, scheme, single_, [], tol);
      elseif isempty(scheme) || strcmpi(scheme, 'explicit')
        o.h = clinalg_mex('MexTeamWave', 0, team.h, n, dt, c, single_);
      else
        error('clinalg:argument:value', 'clinalg.wave: the scheme is ''%s'', expected ''explicit'' on a team', char(scheme));
      end
      if isempty(v)
        flag = clinalg_mex('MexWaveStart', 0, o.h, u.h);
      else
        if ~isa(v, 'clinalg.array')
          v = clinalg.matrix(v, underlyingType(u));
        end
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
      u = gather(clinalg.array(clinalg_mex('MexWaveDisplacement', 0, o.h)));
    end

    function v = velocity(o)
    %velocity  The velocity in MATLAB's memory.
      v = gather(clinalg.array(clinalg_mex('MexWaveVelocity', 0, o.h)));
    end

    function [E, kinetic, potential] = energy(o)
    %energy  The discrete energy, which the schemes keep.
      [E, kinetic, potential] = clinalg_mex('MexWaveEnergy', 0, o.h);
    end
  end

  methods (Static, Access = private)
    function complain(flag)
      if flag == 5
        warning('clinalg:solve:notConverged', 'wave: Ctrl-C ended the steps; t is the time reached');
      elseif flag ~= 0
        warning('clinalg:solve:notConverged', 'wave: an implicit step found no solution; no further step was made');
      end
    end
  end
end
