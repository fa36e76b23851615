function M = heat_operator_preconditioner(A, form)
%clinalg.heat_operator_preconditioner  Preconditioner for an operator of the heat equation.
%   M = clinalg.heat_operator_preconditioner(A, form)
%
%   A is an operator V or D of clinalg.heat_operator. M \ r approximates A \ r by operator (Calderon-type)
%   preconditioning: D preconditions V and V preconditions D, on the same surface and time steps. form is as for
%   clinalg.heat_operator and applies to the preconditioning operator. clinalg.gmres accepts M.
%
%   Example:
%     nodes = [0 0 0; 1 0 0; 0 1 0; 0 0 1];
%     triangles = [1 3 2; 1 2 4; 1 4 3; 2 3 4];
%     D = clinalg.heat_operator('D', nodes, triangles, 0.5, 1, 4);
%     [u, flag] = clinalg.gmres(D, ones(16, 1), 16, 1e-8, 1, clinalg.heat_operator_preconditioner(D));
%
%   See also MexHeatOperatorPreconditioner, clinalg.heat_operator, clinalg.heat_forward, clinalg.gmres.
if nargin < 1 || ~isa(A, 'clinalg.array')
  error('clinalg:argument:class', 'clinalg.heat_operator_preconditioner: argument 1 `A` must be an operator V or D of clinalg.heat_operator');
end
if nargin < 2, form = []; end
if isa(form, 'string'), form = char(form); end
M = clinalg.factor(clinalg_mex('MexHeatOperatorPreconditioner', 0, A.h, form), 'operator preconditioner');
end
