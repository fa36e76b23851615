function tests = test_elastodynamics()
tests = {@matrices, @pressure, @the_object, @bad_input};
end

function [nodes, elements] = cube()
nodes = [-1 -1 -1; 1 -1 -1; 1 1 -1; -1 1 -1; -1 -1 1; 1 -1 1; 1 1 1; -1 1 1];
elements = [1 4 3 2; 5 6 7 8; 1 2 6 5; 2 3 7 6; 3 4 8 7; 4 1 5 8];
end

function matrices()
gpu = MexInitOpenCL();
[nodes, elements] = cube();
[H, G] = MexElastoAssemble(gpu, nodes, elements, [2 0.3 1], 0);
h = MexHandleMatrix(gpu, H);
g = MexHandleMatrix(gpu, G);
check(isequal(size(h), [18 18]) && isequal(size(g), [18 18]));
% Rigid motions at frequency 0; the known integral of Kelvin's solution over a square of side 2 from its centre.
for k = 1 : 3
  check(max(abs(sum(h(:, k : 3 : end), 2))) < 1e-12);
end
check_close(real(g(6, 6)), 8 * asinh(1) * (3 - 4 * 0.3) / (16 * pi * 2 * (1 - 0.3)), 1e-10);
problem = MexElasto(gpu, nodes, elements, [2 0.3 1 0], 'interior', 6, 8, 1);
check(strcmp(MexInfo(gpu, problem).kind, 'elastodynamics'));
single_ = MexHandleMatrix(gpu, MexElastoMatrices(gpu, problem, 0));
check(isa(single_, 'single'));
check_close(double(single_), h, 1e-5);
check(MexRelease(gpu, problem) && ~MexRelease(gpu, problem));
end

function pressure()
gpu = MexInitOpenCL();
[nodes, elements] = cube();
problem = MexElasto(gpu, nodes, elements, [1 0.25 1], 'exterior');
[centres, normals] = MexElastoSurface(gpu, problem);
check(isequal(centres(2, :), [0 0 1]) && max(max(abs(normals + centres))) < 1e-14);
given = reshape(-normals.', [], 1);
[u, t] = MexElastoSolve(gpu, problem, 1, zeros(18, 1), [given, 2i * given]);
check(isequal(size(u), [18 2]) && isequal(t(:, 1), given));
check_close(u(:, 2), 2i * u(:, 1), 1e-12);
check_close(MexElastoSolve(gpu, problem, 1, zeros(18, 1), given, 'otf'), u(:, 1), 1e-7);
[field, stress] = MexElastoEvaluate(gpu, problem, 1, u(:, 1), t(:, 1), [0 0 3; 3 0 0]);
check_close(field(3, 1), field(1, 2), 1e-10);
check_close(stress(9, 1), stress(1, 2), 1e-10);
% The system by hand, from the matrices of the other function.
[H, G] = MexElastoAssemble(gpu, nodes, elements, [1 0.25 1], 1, 'exterior');
check_close(MexHandleMatrix(gpu, H) \ (MexHandleMatrix(gpu, G) * given), u(:, 1), 1e-10);
end

function the_object()
[nodes, elements] = cube();
p = clinalg.elastodynamics(nodes, elements, [1 0.3 1 0.05], 'exterior', [], 0, 'single');
[u, t] = solve(p, 0.5, ones(3, 6), reshape(p.normals.', [], 1));
f = evaluate(p, 0.5, u, t, [0 4 0]);
check(abs(f(2)) > 0.01 && abs(f(1)) < 1e-5);
[H, G] = assemble(p, 0.5);
check(strcmp(underlyingType(H), 'single') && isequal(size(G), [18 18]));
check_close(gather(H) * u, gather(G) * t, 1e-4);
delete(p);
delete(p);
end

function bad_input()
gpu = MexInitOpenCL();
[nodes, elements] = cube();
material = [1 0.3 1];
check_error('clinalg:argument:value', 'open at the edge', @() MexElasto(gpu, nodes, elements(1 : 5, :), material));
check_error('clinalg:argument:value', 'inward', @() MexElasto(gpu, nodes, elements(:, [4 3 2 1]), material));
check_error('clinalg:argument:value', 'whole numbers from 1 to 8', @() MexElasto(gpu, nodes, elements + 1, material));
check_error('clinalg:argument:value', 'below 0.5', @() MexElasto(gpu, nodes, elements, [1 0.5 1]));
check_error('clinalg:argument:value', 'positive', @() MexElasto(gpu, nodes, elements, [1 0.3 0]));
check_error('clinalg:argument:shape', 'G nu rho', @() MexElasto(gpu, nodes, elements, 1));
check_error('clinalg:argument:value', 'interior', @() MexElasto(gpu, nodes, elements, material, 'outside'));
check_error('clinalg:argument:value', 'at least 0', @() MexElastoAssemble(gpu, nodes, elements, material, -1));
problem = MexElasto(gpu, nodes, elements, material);
check_error('clinalg:argument:length', '18', @() MexElastoSolve(gpu, problem, 1, ones(3, 1), ones(18, 1)));
check_error('clinalg:argument:value', 'displacement', @() MexElastoSolve(gpu, problem, 1, 2 * ones(18, 1), ones(18, 1)));
check_error('clinalg:argument:shape', '18 numbers each in u and t', @() MexElastoEvaluate(gpu, problem, 1, ones(17, 1), ones(18, 1), [0 0 0]));
check_error('clinalg:argument:shape', '18 in u and 3 in t', @() MexElastoEvaluate(gpu, problem, 1, ones(18, 1), ones(3, 1), [0 0 0]));
check_error('clinalg:argument:value', 'material', @() MexElastoEvaluate(gpu, problem, 1, ones(18, 1), ones(18, 1), [2 0 0]));
end
