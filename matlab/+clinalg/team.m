classdef team < handle
%clinalg.team  Several devices that share the work of a problem.
%   t = clinalg.team(devices)
%
%   devices are distinct indices from clinalg.devices, counted from 0, such as [0 1]. Which results are bitwise those of one device, and which agree
%   to rounding, is in the guide, "How to use several devices".
%
%   pcg(t, A, b, tol, maxit, M, x0)           as clinalg.pcg for a real sparse A, whose rows are distributed; M is 'jacobi', []
%                                             or 'amg', set up for this solve, with 'sa' or 'classical' for its coarsening
%   bicgstab(t, A, b, tol, maxit, M, x0)      as clinalg.bicgstab
%   gmres(t, A, b, restart, tol, maxit, M, x0)  as clinalg.gmres
%   poisson(t, f, tol, maxit, u0, cycle, smoother, d, s)  as clinalg.poisson, on strips of the grid
%   clinalg.wave(u, dt, c, [], v, [], t)      a membrane on strips of the grid
%   t.devices                                 the indices
%   Arguments may be name-value pairs as for these functions.
%
%   Example:
%     t = clinalg.team(0);
%     [x, flag] = pcg(t, gallery('poisson', 20), ones(400, 1), 1e-8, 200, 'jacobi');
%
%   See also MexTeam, clinalg.devices, clinalg.pcg, clinalg.poisson, clinalg.wave.

  properties (SetAccess = private)
    h       % the handle of the team for the Mex functions
    devices % indices of its devices
  end

  methods
    function o = team(devices)
    %team  A team of these devices.
      if nargin < 1
        error('clinalg:argument:count', 'clinalg.team: too few arguments; the call is clinalg.team(devices)');
      end
      o.h = clinalg_mex('MexTeam', 0, devices);
      o.devices = double(devices(:).');
    end

    function delete(o)
    %delete  Free what the team holds. Quiet and harmless a second time.
      try
        clinalg_mex('MexRelease', 0, o.h);
      catch
      end
    end

    function disp(o)
    %disp  Its devices.
      info = clinalg_mex('MexTeamInfo', 0, o.h);
      fprintf('  team of %d: %s\n', numel(o.devices), info.names);
    end

    function [x, flag, relres, iter, resvec] = pcg(o, A, b, varargin)
    %pcg  Conjugate gradients on the team.
      [x, flag, relres, iter, resvec] = krylov(o, 'pcg', 'MexCG', A, b, {'Tolerance', 'MaxIterations'}, varargin, nargout);
    end

    function [x, flag, relres, iter, resvec] = bicgstab(o, A, b, varargin)
    %bicgstab  Stabilised biconjugate gradients on the team.
      [x, flag, relres, iter, resvec] = krylov(o, 'bicgstab', 'MexBiCGStab', A, b, {'Tolerance', 'MaxIterations'}, varargin, nargout);
    end

    function [x, flag, relres, iter, resvec] = gmres(o, A, b, varargin)
    %gmres  Generalised minimal residuals on the team.
      [x, flag, relres, iter, resvec] = krylov(o, 'gmres', 'MexGMRES', A, b, {'Restart', 'Tolerance', 'MaxIterations'}, varargin, nargout);
    end

    function [u, flag, relres, iter, history] = poisson(o, f, varargin)
    %poisson  The Poisson problem by multigrid on the team.
      given = clinalg.operands.arguments('clinalg.team: poisson', varargin, ...
        {'Tolerance', 'MaxCycles', 'InitialGuess', 'Cycle*', 'Smoother*', 'Dimensions', 'Shift'}, {});
      on_device = isa(f, 'clinalg.array');
      if ~on_device
        f = clinalg.matrix(f);
      end
      u = clinalg.operands.start(f, f, given.initialguess);
      [~, flag, relres, iter, history, reason] = ...
        clinalg_mex('MexTeamPoisson', 0, o.h, f.h, given.tolerance, given.maxcycles, u.h, given.cycle, given.smoother, ...
        given.dimensions, given.shift);
      clinalg.team.complain('poisson', nargout, flag, reason, relres);
      if ~on_device
        u = gather(u);
      end
    end
  end

  methods (Access = private)
    function [x, flag, relres, iter, resvec] = krylov(o, name, mex, A, b, counted, given, outputs)
    % Runs a Krylov method with the rows of A shared out; `counted` names what comes before M and the start.
      given = clinalg.operands.arguments(['clinalg.team: ', name], given, [counted, {'Preconditioner*', 'InitialGuess'}], {});
      start = given.initialguess;
      kind = given.preconditioner;
      given = struct2cell(rmfield(given, 'initialguess')).';
      on_device = isa(A, 'clinalg.array') || isa(b, 'clinalg.array');
      if ~isa(A, 'clinalg.array')
        A = clinalg.matrix(sparse(A));
      end
      [A, b] = clinalg.operands.pair(A, b);
      shared = clinalg_mex('MexTeamMatrix', 0, o.h, A.h);
      released = onCleanup(@() clinalg_mex('MexRelease', 0, shared));
      if ischar(kind) && any(strcmp(kind, {'amg', 'sa', 'classical'}))
        coarsening = [];
        if ~strcmp(kind, 'amg'), coarsening = kind; end
        hierarchy = clinalg_mex('MexTeamAmg', 0, shared, A.h, [], [], [], [], [], [], coarsening);
        freed = onCleanup(@() clinalg_mex('MexRelease', 0, hierarchy));
        given{end} = hierarchy;
      elseif ~isempty(kind) && ~isa(kind, 'uint64') && ~(ischar(kind) && any(strcmp(kind, {'jacobi', 'none'})))
        words = ['of class ', class(kind)];
        if ischar(kind), words = ['''', kind, '''']; end
        error('clinalg:argument:value', ['clinalg.team: %s: M is %s, expected ''jacobi'', ''amg'', ''sa'', ''classical'' or []: the other ' ...
          'preconditioners are for matrices on one device'], name, words);
      end
      x = clinalg.operands.start(b, A, start);
      [~, flag, relres, iter, resvec, reason] = clinalg_mex(mex, 0, shared, b.h, given{:}, x.h);
      clinalg.team.complain(name, outputs, flag, reason, relres);
      if ~on_device
        x = gather(x);
      end
    end
  end

  methods (Static, Access = private)
    function complain(name, outputs, flag, reason, relres)
      if outputs < 2 && flag ~= 0
        warning('clinalg:solve:notConverged', '%s: %s (relative residual %.1e)', name, reason, relres);
      end
    end
  end
end
