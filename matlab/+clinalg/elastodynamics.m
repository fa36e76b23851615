classdef elastodynamics < handle
%clinalg.elastodynamics  Waves in an elastic material by boundary elements on the device.
%   p = clinalg.elastodynamics(nodes, elements, material, domain, boundary, rule, class)
%
%   (lambda + mu) grad div u + mu Laplace u + rho w^2 u = 0 inside or outside a closed surface, time factor
%   exp(i w t). nodes is n x 3, elements m x 4 (quadrilaterals; a triangle repeats its last node) or m x 3
%   (triangles) with node numbers counted from 1, anticlockwise seen from outside. material is [G nu rho] or
%   [G nu rho D] with the hysteretic damping ratio D. The other arguments may be omitted or []:
%     domain    'interior' (default) or 'exterior'
%     boundary  number of elements with unknowns; those after them enclose an open patch (default: all)
%     rule      Gauss points per direction, an even number from 2 to 16, or 0 for fewer far away (default 8)
%     class     'double' (default) or 'single'
%
%   They may also be name-value pairs, or a structure: Domain, Boundary, Rule, Class.
%
%   [H, G] = assemble(p, w)                  clinalg.array objects with H u = G t at the frequency w
%   [u, t] = solve(p, w, known, given, how)  known: 3 x m or 3 m numbers, 1 where the displacement is known, 0 where
%                                            the traction is; given: the known values, in columns several sets; how:
%                                            'lu' (default) or 'otf' for GMRES without stored matrices
%   [f, s] = evaluate(p, w, u, t, points)    displacements, 3 x k, and stresses, 9 x k, at points (k x 3)
%   p.centres, p.normals                     of the m elements, m x 3; normals point out of the material
%
%   Example:
%     nodes = [-1 -1 -1; 1 -1 -1; 1 1 -1; -1 1 -1; -1 -1 1; 1 -1 1; 1 1 1; -1 1 1];
%     elements = [1 4 3 2; 5 6 7 8; 1 2 6 5; 2 3 7 6; 3 4 8 7; 4 1 5 8];
%     p = clinalg.elastodynamics(nodes, elements, [1 0.3 1], 'exterior');
%     [u, t] = solve(p, 1, zeros(18, 1), reshape(-p.normals.', [], 1));
%     f = evaluate(p, 1, u, t, [0 0 3]);
%
%   See also MexElasto, MexElastoAssemble, MexElastoSolve, MexElastoEvaluate, clinalg.array.

  properties (SetAccess = private)
    h       % the handle of the problem for the Mex functions
    centres % of the elements
    normals % at the centres, out of the material
  end

  methods
    function o = elastodynamics(nodes, elements, material, varargin)
    %elastodynamics  A surface with a material on one side.
      if nargin < 3
        error('clinalg:argument:count', ['clinalg.elastodynamics: too few arguments; the call is ' ...
                                         'clinalg.elastodynamics(nodes, elements, material, ...)']);
      end
      given = clinalg.operands.arguments('clinalg.elastodynamics', varargin, {'Domain*', 'Boundary', 'Rule', 'Class*'}, {});
      o.h = clinalg_mex('MexElasto', 0, nodes, elements, material, given.domain, given.boundary, given.rule, ...
        strcmp(given.class, 'single'));
      [o.centres, o.normals] = clinalg_mex('MexElastoSurface', 0, o.h);
    end

    function [H, G] = assemble(o, w)
    %assemble  The matrices at the angular frequency w.
      [H, G] = clinalg_mex('MexElastoMatrices', 0, o.h, w);
      H = clinalg.array(H);
      G = clinalg.array(G);
    end

    function [u, t] = solve(o, w, known, given, how)
    %solve  Displacements and tractions for given boundary values.
      if nargin < 5, how = []; end
      if isa(how, 'string')
        how = char(how);
      end
      [u, t] = clinalg_mex('MexElastoSolve', 0, o.h, w, known, given, how);
    end

    function [f, s] = evaluate(o, w, u, t, points)
    %evaluate  Displacements and stresses at points in the material.
      if nargout > 1
        [f, s] = clinalg_mex('MexElastoEvaluate', 0, o.h, w, u, t, points);
      else
        f = clinalg_mex('MexElastoEvaluate', 0, o.h, w, u, t, points);
      end
    end

    function delete(o)
    %delete  Free the device memory. Quiet and harmless a second time.
      try
        clinalg_mex('MexRelease', 0, o.h);
      catch
      end
    end
  end
end
