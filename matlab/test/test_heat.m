function tests = test_heat()
tests = {@known_entries, @forms_agree, @the_object, @published_problem, @flux_given, @surfaces_from_files, @inverses, @bad_surfaces, ...
  @bad_inverses, @bad_boundary_values};
end

function [nodes, triangles] = body()
% The first triangle is the first one of the cube of 24 triangles, refined once.
nodes = [1 -1 -1; 1 0 -1; 1 -0.5 -0.5; 0 -0.5 -0.7];
triangles = [1 2 3; 2 1 4; 3 2 4; 1 3 4];
end

function known_entries()
gpu = MexInitOpenCL();
[nodes, triangles] = body();
V = MexHeatOperator(gpu, 'V', nodes, triangles, 0.5, 1, 4);
info = MexInfo(gpu, V);
check(strcmp(info.kind, 'operator') && info.rows == 16 && info.cols == 16);
y = MexHandleMatrix(gpu, MexMultiply(gpu, V, MexMatrix(gpu, [1; zeros(15, 1)])));
check_close(y([1 5]), [8.522019593658992e-3; 2.455648861659851e-3], 1e-9);
K = MexInfo(gpu, MexHeatOperator(gpu, 'K', nodes(:, :), single(triangles), 0.5, 1, 3));
check(K.rows == 12 && K.cols == 12);
check(MexRelease(gpu, V) && ~MexRelease(gpu, V));
end

function forms_agree()
gpu = MexInitOpenCL();
[nodes, triangles] = body();
x = MexMatrix(gpu, rand(24, 1));
for kind = {'V', 'K', 'Ks', 'D'}
  stored = MexHeatOperator(gpu, kind{1}, nodes, triangles, 0.5, 1, 6, 'assembled');
  fly = MexHeatOperator(gpu, kind{1}, nodes, triangles, 0.5, 1, 6, 'otf');
  want = MexHandleMatrix(gpu, MexMultiply(gpu, stored, x));
  check_close(MexHandleMatrix(gpu, MexMultiply(gpu, fly, x)), want, 1e-10, kind{1});
end
end

function the_object()
[nodes, triangles] = body();
for class_ = {'double', 'single'}
  V = clinalg.heat_operator('V', nodes, triangles, 0.5, 1, 4, [], class_{1});
  check(isequal(size(V), [16 16]) && strcmp(underlyingType(V), class_{1}));
  w = cast((1 : 16)' / 16, class_{1});
  tolerance = 1e-10;
  if strcmp(class_{1}, 'single'), tolerance = 1e-5; end
  [x, flag] = clinalg.gmres(V, V * w, 16, tolerance, 2);
  check(flag == 0);
  check_close(gather(x), w, 1e3 * tolerance);
end
end

function [nodes, triangles] = cube()
% The cube (-1, 1)^3 of 24 triangles, each split in four: 96 triangles, 50 nodes.
[nodes, triangles] = deal(zeros(0, 3));
axes_ = [2 3 1; 3 1 2; 1 2 3];
for d = 1 : 3
  for s = [-1 1]
    face = zeros(5, 3);
    face(1 : 4, axes_(d, 1)) = s * [-1 1 1 -1];
    face(1 : 4, axes_(d, 2)) = [-1 -1 1 1];
    face(:, axes_(d, 3)) = s;
    triangles = [triangles; size(nodes, 1) + [1 2 5; 2 3 5; 3 4 5; 4 1 5]]; %#ok<AGROW>
    nodes = [nodes; face]; %#ok<AGROW>
  end
end
middles = @(a, b) (nodes(triangles(:, a), :) + nodes(triangles(:, b), :)) / 2;
m = size(triangles, 1);
new = size(nodes, 1) + reshape(1 : 3 * m, m, 3);
nodes = [nodes; middles(1, 2); middles(2, 3); middles(3, 1)];
triangles = [triangles(:, 1) new(:, [1 3]); new(:, 1) triangles(:, 2) new(:, 2); ...
  new(:, [3 2]) triangles(:, 3); new];
[nodes, ~, place] = unique(nodes, 'rows');
triangles = reshape(place(triangles), [], 3);
end

function published_problem()
% The Dirichlet problem of the published ladder at 96 triangles and 4 steps, u the heat of a source at (0, 0, 1.5): 19
% iterations to 1e-8 from the start x = b, an error of 6.774e-1 in L2.
[nodes, triangles] = cube();
check(isequal(size(nodes), [50 3]) && isequal(size(triangles), [96 3]));
[alpha, steps] = deal(0.5, 4);
h = 1 / steps;
[p1, p2, p3] = deal(nodes(triangles(:, 1), :), nodes(triangles(:, 2), :), nodes(triangles(:, 3), :));
twice = cross(p2 - p1, p3 - p1);
area = sqrt(sum(twice .^ 2, 2)) / 2;
normal = twice ./ (2 * area);
% Radon's rule of 7 points on a triangle, that of Gauss with 4 points in time.
[a, b] = deal((6 - sqrt(15)) / 21, (6 + sqrt(15)) / 21);
rule = [1 1 1] / 3;
rule = [rule; 1 - 2 * a, a, a; a, 1 - 2 * a, a; a, a, 1 - 2 * a; 1 - 2 * b, b, b; b, 1 - 2 * b, b; b, b, 1 - 2 * b];
weight = [9 / 40; repmat((155 - sqrt(15)) / 1200, 3, 1); repmat((155 + sqrt(15)) / 1200, 3, 1)];
x = sqrt(3 / 7 + [-2 2] / 7 * sqrt(6 / 5));
times = (1 + [-x(2) -x(1) x(1) x(2)]) / 2;
parts = [18 - sqrt(30), 18 + sqrt(30), 18 + sqrt(30), 18 - sqrt(30)] / 72;
mass = sparse(triangles(:, [1 2 3 1 2 3 1 2 3]), triangles(:, [1 1 1 2 2 2 3 3 3]), area * [2 1 1 1 2 1 1 1 2] / 12);
to_triangles = sparse(repmat((1 : 96)', 1, 3), triangles, repmat(area / 3, 1, 3), 96, 50);
load_ = zeros(50, steps);
exact = zeros(96, numel(weight) * numel(times), steps);
scale = zeros(96, numel(weight) * numel(times));
for s = 1 : steps
  column = 0;
  for k = 1 : numel(weight)
    d = rule(k, 1) * p1 + rule(k, 2) * p2 + rule(k, 3) * p3 - repmat([0 0 1.5], 96, 1);
    for j = 1 : numel(times)
      t = (s - 1 + times(j)) * h;
      u = (4 * pi * alpha * t) ^ -1.5 * exp(-sum(d .^ 2, 2) / (4 * alpha * t));
      column = column + 1;
      scale(:, column) = weight(k) * parts(j) * area;
      exact(:, column, s) = -sum(d .* normal, 2) / (2 * t) .* u;
      for c = 1 : 3
        load_(:, s) = load_(:, s) + accumarray(triangles(:, c), rule(k, c) * scale(:, column) .* u, [50 1]);
      end
    end
  end
end
given = mass \ load_;
K = clinalg.heat_operator('K', nodes, triangles, alpha, 1, steps);
V = clinalg.heat_operator('V', nodes, triangles, alpha, 1, steps);
right = gather(K * given(:)) + reshape(h / 2 * to_triangles * given, [], 1);
boundary_values(K, V, alpha, given, right);
start = norm(gather(V * right) - right) / norm(right);
[w, flag, ~, iter] = clinalg.gmres(V, clinalg.vector(right), 384, 1e-8 * start, 1, [], [], right);
check(flag == 0 && abs(iter(2) - 19) <= 1, 'flag %d, iterations %d %d', flag, iter);
check_close(l2_error(w, exact, scale), 6.774e-1, 1e-4, 'error');
% Forward elimination and preconditioned GMRES find the same.
direct = V \ right;
check_close(gather(direct), gather(w), 1e-6, 'forward elimination');
check_close(l2_error(direct, exact, scale), 6.774e-1, 1e-4, 'error of forward elimination');
[w, flag, ~, iter] = clinalg.gmres(V, right, 384, 1e-9, 1, clinalg.heat_operator_preconditioner(V));
check(flag == 0 && iter(2) < 19, 'flag %d, iterations %d %d', flag, iter);
check_close(gather(w), gather(direct), 1e-6, 'preconditioned');
end

function boundary_values(K, V, alpha, given, right)
% The same projection and right-hand side by the library, and u inside.
heat = @(x, t) (4 * pi * alpha * t) ^ -1.5 * exp(-(sum(x(:, 1 : 2) .^ 2, 2) + (x(:, 3) - 1.5) .^ 2) / (4 * alpha * t));
g = clinalg.heat_project(K, @(x, n, t) heat(x, t));
check_close(gather(g), given(:), 1e-11, 'projection');
b = clinalg.heat_right_side(K, g);
check_close(gather(b), right, 1e-11, 'right-hand side');
inside = [0 0 0; 0.2 -0.1 0.3];
u = clinalg.heat_interior(V, V \ b, g, inside);
times = ((1 : 4) - 0.5) / 4;
exact = [arrayfun(@(t) heat(inside(1, :), t), times); arrayfun(@(t) heat(inside(2, :), t), times)];
% The flux has an error of 0.68, which this formula smooths.
check_close(u, exact, 0.1, 'inside');
end

function e = l2_error(w, exact, scale)
w = reshape(gather(w), 96, 1, []);
squares = @(f) sum(sum(sum(bsxfun(@times, scale, f .^ 2))));
e = sqrt(squares(bsxfun(@minus, exact, w)) / squares(exact));
end

function flux_given()
% The Neumann problem with the flux w = t: linear in w, and the heat inside is what has come in.
[nodes, triangles] = cube();
D = clinalg.heat_operator('D', nodes, triangles, 0.5, 1, 3);
Ks = clinalg.heat_operator('Ks', nodes, triangles, 0.5, 1, 3);
w = clinalg.heat_project(Ks, @(x, n, t) t * sum(x .* n, 2));
check(isequal(size(w), [288 1]));
% x . n is 1 on the cube.
check_close(gather(w), kron(((1 : 3)' - 0.5) / 3, ones(96, 1)), 1e-12);
b = clinalg.heat_right_side(Ks, w);
u = gather(D \ b);
twice = gather(D \ clinalg.heat_right_side(Ks, 2 * gather(w)));
check_close(twice, 2 * u, 1e-10);
% At a time t the mean inside is 24 t^2 / 2 by the volume 8; the surface is warmer.
t = 2.5 / 3;
[x, y, z] = ndgrid([-0.4 0 0.4]);
points = [x(:), y(:), z(:)];
inside = clinalg.heat_interior(D, w, u, points);
surface = mean(u(101 : 150));
check(all(inside(:, 3) < surface) && max(inside(:, 3)) < 1.5 * t ^ 2 && surface > 1.5 * t ^ 2, '%g', surface);
end

function surfaces_from_files()
file = [tempname(), '.off'];
f = fopen(file, 'w');
fprintf(f, '%s\n', 'OFF', '4 4 0', '0 0 0', '1 0 0', '0 1 0', '0 0 1', '3 0 2 1', '3 0 1 3', '3 0 3 2', '3 1 2 3');
fclose(f);
removed = onCleanup(@() delete(file));
[nodes, triangles] = clinalg.heat_mesh(file);
check(isequal(nodes, [0 0 0; 1 0 0; 0 1 0; 0 0 1]) && isequal(triangles, [1 3 2; 1 2 4; 1 4 3; 2 3 4]));
check(isequal(size(clinalg.heat_operator('V', nodes, triangles, 0.5, 1, 2)), [8 8]));
check_error('clinalg:file:io', 'missing', @() clinalg.heat_mesh('missing.off'));
check_error('clinalg:argument:value', '', @() clinalg.heat_mesh('surface.xyz'));
end

function bad_boundary_values()
[nodes, triangles] = body();
V = clinalg.heat_operator('V', nodes, triangles, 0.5, 1, 2);
K = clinalg.heat_operator('K', nodes, triangles, 0.5, 1, 2);
check_error('clinalg:argument:class', 'heat_project', @() clinalg.heat_project(K, 1));
check_error('clinalg:argument:shape', 'f gave 3 x 1', @() clinalg.heat_project(K, @(x, n, t) [1; 2; 3]));
check_error('clinalg:argument:value', 'finite', @() clinalg.heat_project(K, @(x, n, t) NaN));
check_error('clinalg:argument:shape', '`values`', @() MexHeatProject(0, K.h, ones(3)));
check_error('clinalg:argument:value', '`K`', @() clinalg.heat_right_side(V, ones(8, 1)));
check_error('clinalg:argument:length', '', @() clinalg.heat_right_side(K, ones(3, 1)));
check_error('clinalg:argument:precision', '`g`', @() clinalg.heat_right_side(K, clinalg.vector(single(ones(8, 1)))));
check_error('clinalg:argument:length', '`w`', @() clinalg.heat_interior(V, ones(3, 1), ones(8, 1), [0 0 0]));
check_error('clinalg:argument:shape', 'three columns', @() clinalg.heat_interior(V, ones(8, 1), ones(8, 1), [0 0]));
check_error('clinalg:handle:kind', '', @() clinalg.heat_project(clinalg.matrix(eye(2)), @(x, n, t) 1));
end

function inverses()
gpu = MexInitOpenCL();
[nodes, triangles] = body();
for class_ = {'double', 'single'}
  tolerance = 1e-10;
  if strcmp(class_{1}, 'single'), tolerance = 1e-4; end
  for kind = {'V', 'D'}
    A = clinalg.heat_operator(kind{1}, nodes, triangles, 0.5, 1, 4, 'otf', class_{1});
    b = cast((1 : 16)' / 16, class_{1});
    F = clinalg.heat_forward(A);
    M = clinalg.heat_operator_preconditioner(A, 'otf');
    check(isequal(size(F), [16 16]) && strcmp(underlyingType(M), class_{1}));
    check(~isempty(strfind(evalc('disp(F)'), 'forward elimination'))); %#ok<STREMP>
    check_close(gather(A * (F \ b)), b, tolerance, kind{1});
    [x, flag] = clinalg.gmres(A, b, 16, tolerance, 4, M);
    check(flag == 0, kind{1});
    check_close(gather(x), gather(A \ b), 1e3 * tolerance, kind{1});
    [~, flag, ~, iter] = clinalg.gmres(A, b, 16, tolerance, 4, F);
    check(flag == 0 && iter(2) <= 2, kind{1});
    clear A
    check(all(isfinite(gather(F \ b))));
  end
end
V = MexHeatOperator(gpu, 'V', nodes, triangles, 0.5, 1, 4);
b = MexMatrix(gpu, ones(16, 1));
inverse = MexHeatForward(gpu, V);
info = MexInfo(gpu, inverse);
check(strcmp(info.kind, 'operator') && info.rows == 16);
w = MexMultiply(gpu, inverse, b);
check_close(MexHandleMatrix(gpu, MexMultiply(gpu, V, w)), ones(16, 1), 1e-10);
[x, flag] = MexGMRES(gpu, V, b, 16, 1e-10, 1, MexHeatOperatorPreconditioner(gpu, V, 'assembled'));
check(flag == 0);
check_close(MexHandleMatrix(gpu, x), MexHandleMatrix(gpu, w), 1e-6);
% A matrix stands for an approximate inverse, too.
A = MexMatrix(gpu, [4 1; 1 3]);
b = MexMatrix(gpu, [1; 2]);
[x, flag, ~, iter] = MexCG(gpu, A, b, 1e-12, 10, MexMatrix(gpu, inv([4 1; 1 3])));
check(flag == 0 && iter <= 2);
check_close(MexHandleMatrix(gpu, x), [4 1; 1 3] \ [1; 2], 1e-12);
end

function bad_inverses()
gpu = MexInitOpenCL();
[nodes, triangles] = body();
V = MexHeatOperator(gpu, 'V', nodes, triangles, 0.5, 1, 2);
K = MexHeatOperator(gpu, 'K', nodes, triangles, 0.5, 1, 2);
full_ = MexMatrix(gpu, eye(8));
for make = {@MexHeatForward, @MexHeatOperatorPreconditioner}
  check_error('clinalg:argument:shape', 'V or D', @() make{1}(gpu, K));
  check_error('clinalg:handle:kind', 'another kind', @() make{1}(gpu, full_));
end
check_error('clinalg:argument:shape', 'heat equation', @() MexHeatForward(gpu, MexHeatForward(gpu, V)));
check_error('clinalg:argument:value', 'otf', @() MexHeatOperatorPreconditioner(gpu, V, 'fast'));
b = MexMatrix(gpu, ones(8, 1));
check_error('clinalg:argument:shape', '8 x 8', @() MexGMRES(gpu, V, b, 8, 1e-6, 1, MexMatrix(gpu, eye(7))));
check_error('clinalg:argument:precision', 'precond', ...
  @() MexGMRES(gpu, V, b, 8, 1e-6, 1, MexMatrix(gpu, single(eye(8)))));
check_error('clinalg:argument:value', 'precond', @() MexGMRES(gpu, V, b, 8, 1e-6, 1, 'diagonal'));
check_error('clinalg:argument:shape', 'sparse', @() MexGMRES(gpu, V, b, 8, 1e-6, 1, 'ilu'));
A = clinalg.array(full_);
check_error('clinalg:argument:class', 'heat_operator', @() clinalg.heat_forward(eye(3)));
check_error('clinalg:argument:class', 'heat_operator', @() clinalg.heat_operator_preconditioner(eye(3)));
check_error('clinalg:argument:class', 'clinalg.factor', @() clinalg.gmres(A, ones(8, 1), 8, 1e-6, 1, {eye(8)}));
check_error('clinalg:call:unsupported', 'left side', @() ones(8, 1) \ clinalg.heat_forward(clinalg.array(V)));
end

function bad_surfaces()
gpu = MexInitOpenCL();
[nodes, triangles] = body();
make = @(nodes, triangles) MexHeatOperator(gpu, 'V', nodes, triangles, 0.5, 1, 4);
check_error('clinalg:argument:value', 'edge', @() make(nodes, triangles(1 : 3, :)));
check_error('clinalg:argument:value', 'outward', @() make(nodes, triangles(:, [2 1 3])));
check_error('clinalg:argument:value', 'from 1 to 4', @() make(nodes, triangles - 1));
check_error('clinalg:argument:value', 'from 1 to 4', @() make(nodes, triangles + 0.5));
check_error('clinalg:argument:shape', 'three columns', @() make(nodes', triangles));
check_error('clinalg:argument:value', 'finite', @() make(nodes * NaN, triangles));
check_error('clinalg:argument:value', '''V'', ''K'', ''Ks'' or ''D''', ...
  @() MexHeatOperator(gpu, 'X', nodes, triangles, 0.5, 1, 4));
check_error('clinalg:argument:value', 'steps', @() MexHeatOperator(gpu, 'V', nodes, triangles, 0.5, 1, 0));
check_error('clinalg:argument:value', 'alpha', @() MexHeatOperator(gpu, 'V', nodes, triangles, -1, 1, 2));
V = MexHeatOperator(gpu, 'V', nodes, triangles, 0.5, 1, 1);
b = MexMatrix(gpu, ones(4, 1));
check_error('clinalg:argument:value', 'diagonal is not known', @() MexGMRES(gpu, V, b, 4, 1e-6, 1, 'jacobi'));
check_error('clinalg:handle:kind', 'another kind', @() MexMatrixTransposeVector(gpu, V, b));
check_error('clinalg:argument:length', 'x', @() MexMultiply(gpu, V, MexMatrix(gpu, ones(5, 1))));
end
