function [x, iterations] = object_example()
%object_example  A linear system with objects: operators, and two ways to solve it.
%   [x, iterations] = object_example()
%
%   x is the solution, iterations those of the host's pcg and of clinalg.pcg.
n = 50;
A = clinalg.matrix(gallery('poisson', n));
b = clinalg.vector(ones(n ^ 2, 1));

% Operators work as on matrices of the host; the memory goes when the variables do.
r = b - A * (b / 4);
fprintf('norm of the residual of b / 4: %g\n', norm(r));
fprintf('r'' * r: %g\n', r' * r);

% The host's own pcg takes vectors on the device.
[~, flag, ~, iterations] = pcg(@(x) A * x, b, 1e-8, 200);
fprintf('pcg: flag %d after %d iterations\n', flag, iterations);

% The whole loop on the device.
[x, flag, relres, iterations(2)] = clinalg.pcg(A, b, 1e-8, 200);
fprintf('clinalg.pcg: flag %d after %d iterations, relative residual %.1e\n', flag, iterations(2), relres);
x = gather(x);
end
