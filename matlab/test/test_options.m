function tests = test_options()
% Arguments by name in place of positions: the same results, and errors that list the names.
tests = {@krylov_methods, @other_solvers, @differential_equations, @unknown_names};
end

function krylov_methods()
A = gallery('poisson', 12);
b = A * (1 : 144)';
[x, ~, ~, iter] = clinalg.pcg(A, b, 1e-9, 100, 'jacobi', [], b);
[y, ~, ~, got] = clinalg.pcg(A, b, 'Tolerance', 1e-9, 'MaxIterations', 100, 'preconditioner', 'jacobi', 'InitialGuess', b);
check(isequal(x, y) && iter == got);
y = clinalg.pcg(A, b, struct('Tolerance', 1e-9, 'MaxIterations', 100, 'Preconditioner', 'jacobi', 'InitialGuess', b));
check(isequal(x, y));
y = clinalg.pcg(A, b, 1e-9, 100, 'jacobi', 'InitialGuess', b);
check(isequal(x, y), 'positions first, names after');
check(isequal(clinalg.bicgstab(A, b, 1e-9, 100), clinalg.bicgstab(A, b, 'MaxIterations', 100, 'Tolerance', 1e-9)));
check(isequal(clinalg.gmres(A, b, 20, 1e-9, 9, 'ilu'), ...
  clinalg.gmres(A, b, 'Restart', 20, 'Tolerance', 1e-9, 'MaxIterations', 9, 'Preconditioner', 'ilu')));
end

function other_solvers()
A = gallery('poisson', 20);
f = rand(17);
S = @(varargin) clinalg.poisson([17 17], varargin{:});
check(isequal(solve(S(struct('Tolerance', 1e-6, 'Cycle', 'w', 'Smoother', 'jacobi')), f), ...
  solve(S('Tolerance', 1e-6, 'Cycle', 'w', 'Smoother', 'jacobi'), f)));
check(~isequal(solve(S('Backend', 'matrix'), f), solve(S('Smoother', 'jacobi'), f)));
[one, flag] = solve(S('MixedPrecision', true), f);
two = solve(S(), f);
check(flag == 0 && max(abs(one(:) - two(:))) < 1e-9 && ~isequal(one, two), 'corrections in single precision');
check_error('clinalg:argument:value', '`mixed`', @() S('MixedPrecision', true, 'Class', 'single'));
check(isequal(clinalg.eigs(A, 3, 'smallestreal', struct('Tolerance', 1e-6)), ...
  clinalg.eigs(A, 'Count', 3, 'Sigma', 'smallestreal', 'Tolerance', 1e-6)));
one = info(clinalg.amg(A, struct('coarsesize', 20)));
two = info(clinalg.amg(A, 'CoarseSize', 20));
check(isequal(one.levels, two.levels) && numel(one.levels) > 1);
b = ones(400, 1);
check(isequal(clinalg.precond(A, 'ilut', struct('DropTolerance', 1e-2)) \ b, clinalg.precond(A, 'ilut', 'DropTolerance', 1e-2) \ b));
u = zeros(9);
u(5, 5) = 1;
[one, two] = deal(clinalg.wave(u, 0.01, 2, 'explicit', u), clinalg.wave(u, 0.01, 'Velocity', u, 'Speed', 2));
step(one, 3);
step(two, 3);
check(isequal(displacement(one), displacement(two)));
end

function differential_equations()
rhs = struct('x', '-k*x');
[t, y] = clinalg.ode(rhs, [0 1], 1, struct('RelTol', 1e-6, 'Parameters', struct('k', 2)));
[s, z] = clinalg.ode(rhs, [0 1], 1, 'reltol', 1e-6, 'Parameters', struct('k', 2));
check(isequal(t, s) && isequal(y, z) && abs(y(end) - exp(-2)) < 1e-5);
end

function unknown_names()
A = speye(4);
b = ones(4, 1);
known = 'Tolerance, MaxIterations, Preconditioner';
check_error('clinalg:argument:value', known, @() clinalg.pcg(A, b, 'Tolerence', 1e-8));
check_error('clinalg:argument:value', known, @() clinalg.pcg(A, b, struct('tol', 1e-8)));
check_error('clinalg:argument:count', 'Tolerance', @() clinalg.pcg(A, b, 'Tolerance'));
check_error('clinalg:argument:value', 'given twice', @() clinalg.pcg(A, b, 1e-8, 'Tolerance', 1e-6));
check_error('clinalg:argument:class', 'of class double, expected text', @() clinalg.pcg(A, b, 'Tolerance', 1e-6, 3, 4));
check_error('clinalg:argument:count', 'too many', @() clinalg.pcg(A, b, 1e-8, 5, [], [], [], 9));
check_error('clinalg:argument:value', 'Restart', @() clinalg.gmres(A, b, 'restarts', 2));
check_error('clinalg:argument:value', 'MaxCycles', @() clinalg.poisson([9 9], 'MaxIterations', 3));
check_error('clinalg:argument:value', 'Theta', @() clinalg.amg(A, 'thetas', 3));
check_error('clinalg:argument:value', 'DropTolerance', @() clinalg.precond(A, 'ilu', 'dropp', 3));
check_error('clinalg:argument:value', 'Preconditioner', @() clinalg.eigs(A, 2, 'sa', 'Tol', 3));
check_error('clinalg:argument:value', 'RelTol', @() clinalg.ode(struct('x', '-x'), [0 1], 1, 'Reltoll', 1e-3));
check_error('clinalg:argument:value', 'Speed', @() clinalg.wave(zeros(9), 0.01, 'Spead', 1));
check_error('clinalg:argument:value', 'Domain', @() clinalg.elastodynamics(eye(3), [1 2 3], [1 0.3 1], 'exterior', 'Rules', 4));
end
