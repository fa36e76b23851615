function tests = test_heat()
tests = {@known_entries, @forms_agree, @the_object, @bad_surfaces};
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
check_error('clinalg:argument:value', '''V'' or ''K''', ...
  @() MexHeatOperator(gpu, 'X', nodes, triangles, 0.5, 1, 4));
check_error('clinalg:argument:value', 'steps', @() MexHeatOperator(gpu, 'V', nodes, triangles, 0.5, 1, 0));
check_error('clinalg:argument:value', 'alpha', @() MexHeatOperator(gpu, 'V', nodes, triangles, -1, 1, 2));
V = MexHeatOperator(gpu, 'V', nodes, triangles, 0.5, 1, 1);
b = MexMatrix(gpu, ones(4, 1));
check_error('clinalg:argument:value', 'preconditioner', @() MexGMRES(gpu, V, b, 4, 1e-6, 1, 'jacobi'));
check_error('clinalg:handle:kind', 'another kind', @() MexMatrixTransposeVector(gpu, V, b));
check_error('clinalg:argument:length', 'x', @() MexMultiply(gpu, V, MexMatrix(gpu, ones(5, 1))));
end
