function d = eigen_example(n)
%eigen_example  The squares of the three lowest frequencies of an L-shaped membrane.
%   d = eigen_example(n)
%
%   The smallest eigenvalues of -Laplace with u = 0 on the boundary of three unit squares, by five-point differences with n intervals per unit
%   (default 64). The first is 9.63972 (Trefethen and Betcke 2006); the third is 2 pi^2, of the sine product of the squares.
%
%   See also clinalg.eigs.
if nargin < 1, n = 64; end

% The points inside a square of 2 x 2, of which the upper right quarter is left out.
one = ones(2 * n - 1, 1);
T = spdiags([-one, 2 * one, -one], -1 : 1, 2 * n - 1, 2 * n - 1);
A = n ^ 2 * (kron(T, speye(2 * n - 1)) + kron(speye(2 * n - 1), T));
[i, j] = ndgrid(1 : 2 * n - 1);
inside = find(i < n | j < n);
A = clinalg.matrix(A(inside, inside));

% Without a preconditioner it takes hundreds of iterations.
[V, D] = clinalg.eigs(A, 3, 'smallestreal', 'Preconditioner', 'amg');
d = diag(D);
residual = norm(A * V - V * clinalg.matrix(D), 'fro') / norm(d);
fprintf('%d unknowns: %.5f %.5f %.5f, relative residual %.1e\n', size(A, 1), d, residual);
end
