function tests = test_team()
% With two devices, such as POCL_DEVICES="pthread pthread" makes of a CPU, teams of both; else teams of one.
tests = {@systems, @the_poisson_problem, @waves, @several_indices_choose, @errors};
end

function list = both()
list = 0 : min(numel(clinalg.devices()), 2) - 1;
end

function systems()
t = clinalg.team(both());
check(isequal(t.devices, both()));
A = gallery('poisson', 15) + spdiags((1 : 225).' / 50, 0, 225, 225);
b = sin(1 : 225).';
for as = {@double, @single}
  tol = 1e3 * eps(class(as{1}(1)));
  D = clinalg.matrix(A, class(as{1}(1)));
  for M = {[], 'jacobi'}
    [x, flag, relres, iter] = pcg(t, D, as{1}(b), tol, 200, M{1});
    [y, ~, ~, alone] = clinalg.pcg(D, as{1}(b), tol, 200, M{1});
    check(flag == 0 && relres <= tol && abs(iter - alone) <= 2, 'pcg %d %d', iter, alone);
    check(norm(double(gather(x - y))) <= 20 * tol * norm(b));
  end
end
U = A + spdiags(ones(225, 1), 1, 225, 225);
[x, flag] = bicgstab(t, U, b, 1e-10, 200, 'jacobi');
check(flag == 0 && ~isa(x, 'clinalg.array') && norm(U * x - b) <= 2e-10 * norm(b));
[x, flag, ~, iter] = gmres(t, U, b, 30, 1e-10, 10);
check(flag == 0 && isequal(size(iter), [1 2]) && norm(U * x - b) <= 2e-10 * norm(b));
[x, flag, ~, iter] = pcg(t, A, b, 1e-8, 10, [], A \ b);
check(flag == 0 && iter == 0);
for M = {'amg', 'sa', 'classical'}
  [x, flag, ~, iter] = pcg(t, A, b, 1e-8, 100, M{1});
  [~, ~, ~, alone] = clinalg.pcg(A, b, 1e-8, 100, M{1});
  check(flag == 0 && abs(iter - alone) <= 1 && norm(A * x - b) <= 2e-8 * norm(b), '%s: %d %d', M{1}, iter, alone);
end
end

function the_poisson_problem()
N = 65;
f = sin((1 : N).' * (1 : N));
t = clinalg.team(both());
[u, flag, ~, iter, history] = poisson(t, f, 1e-9);
[v, ~, ~, alone] = solve(clinalg.poisson([N N], 'Tolerance', 1e-9), f);
check(flag == 0 && iter == alone && numel(history) == iter + 1);
check(isequal(u, v), 'the bits of one device');
end

function waves()
n = 40;
u = sin((1 : n).' * (1 : n));
w = clinalg.wave(u, 0.01);
t = clinalg.team(both());
s = clinalg.wave(u, 0.01, [], [], [], [], t);
clear t
step(w, 37);
check(step(s, 37) == 0.37 && isequal(displacement(s), displacement(w)) && isequal(velocity(s), velocity(w)));
check(abs(energy(s) / energy(w) - 1) < 1e-12);
check_error('clinalg:argument:value', 'explicit', @() clinalg.wave(u, 0.01, [], 'implicit', [], [], clinalg.team(0)));
end

function several_indices_choose()
gpu = MexInitOpenCL();
team = MexSetGPU(gpu, both());
info = MexTeamInfo(gpu, team);
check(isequal(info.devices, both()) && ~isempty(info.names));
device = MexDeviceInfo(gpu);
check(device.index == 0);
check_error('clinalg:argument:value', 'output', @() MexSetGPU(gpu, [0 0]));
end

function errors()
gpu = MexInitOpenCL();
check_error('clinalg:argument:value', 'twice', @() clinalg.team([0 0]));
check_error('clinalg:argument:value', '`devices` is 99', @() clinalg.team([0 99]));
check_error('clinalg:argument:value', '`devices`', @() clinalg.team([]));
check_error('clinalg:argument:value', '`devices` is -1', @() clinalg.team(-1));
team = MexTeam(gpu, both());
T = MexTeamMatrix(gpu, team, MexSparseMatrix(gpu, speye(4)));
check_error('clinalg:argument:precision', '`b`', @() MexCG(gpu, T, MexZeros(gpu, 4, 1, 1)));
check_error('clinalg:argument:length', '`b`', @() MexCG(gpu, T, MexZeros(gpu, 5, 1)));
check_error('clinalg:argument:value', '`precond`', @() MexCG(gpu, T, MexZeros(gpu, 4, 1), 1e-6, 5, 'ilu'));
check_error('clinalg:handle:kind', '`A`', @() MexMultiply(gpu, T, MexZeros(gpu, 4, 1)));
check_error('clinalg:argument:shape', '`A`', @() MexTeamMatrix(gpu, team, MexSparseMatrix(gpu, sparse(3, 4))));
check_error('clinalg:argument:value', 'real', @() MexTeamMatrix(gpu, team, MexSparseMatrix(gpu, 1i * speye(3))));
if numel(both()) == 2
  check_error('clinalg:argument:value', 'each has a row', @() MexTeamMatrix(gpu, team, MexSparseMatrix(gpu, sparse(5))));
end
end
