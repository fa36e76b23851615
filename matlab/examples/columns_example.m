function [iterations, difference] = columns_example(n, sources)
%columns_example  One matrix and several right-hand sides: the temperatures of a plate that is heated at one of several points.
%   [iterations, difference] = columns_example(n, sources)
%
%   -Laplace u = f on a square of n x n points inside (default 100), u = 0 on the boundary, for so many points of heating (default 6). clinalg.solve takes all
%   right-hand sides as columns; a preconditioner made once serves clinalg.pcg for each of them. iterations are those of clinalg.solve and of clinalg.pcg, difference that of their solutions.
%
%   See also clinalg.solve, clinalg.pcg, clinalg.amg, clinalg.operations.
if nargin < 1, n = 100; end
if nargin < 2, sources = 6; end
A = clinalg.matrix(gallery('poisson', n));
heated = round((1 : sources) * n / (sources + 1));
B = zeros(n ^ 2, sources);
B(sub2ind([n ^ 2, sources], heated + n * (heated - 1), 1 : sources)) = 1;

% All columns in one call: it chooses method and preconditioner once.
[X, flag, ~, iterations, info] = clinalg.solve(A, B, 'Tolerance', 1e-9);
fprintf('clinalg.solve: %s with %s, flags %s, iterations %s\n', info.method, info.preconditioner, mat2str(flag), mat2str(iterations));

% One after the other, such as where the next right-hand side depends on the last solution.
M = clinalg.amg(A);
iterations = [max(iterations), 0];
difference = 0;
for k = 1 : sources
  [x, flag, ~, count] = clinalg.pcg(A, B(:, k), 1e-9, 100, M);
  iterations(2) = max(iterations(2), count);
  difference = max(difference, norm(x - X(:, k)) / norm(x));
end
fprintf('clinalg.pcg: flag %d, at most %d iterations, largest difference %.1e\n', flag, iterations(2), difference);

% Of a full matrix: factorised once.
F = full(A(1 : 200, 1 : 200));
[L, U, P] = lu(F);
B = (1 : 200).' .^ (0 : 2);
fprintf('lu: relative residual %.1e\n', norm(F * (U \ (L \ (P * B))) - B, 'fro') / norm(B, 'fro'));
end
