function tests = test_errors()
tests = {@every_function_is_listed, @wrong_counts, @wrong_arguments_one_by_one, @released_handles, ...
  @unknown_functions, @the_session_goes_on};
end

function [calls, gpu] = good_calls()
% For each function with arguments: its name and a list of them that works. Each handle is used by one call only.
gpu = MexInitOpenCL();
full_ = @() MexMatrix(gpu, [1 2; 3 4]);
sparse_ = @() MexSparseMatrix(gpu, sparse([1 2; 3 4]));
band_ = @() MexBandMatrix(gpu, [1 2; 3 4], 1, 1);
x = @() MexMatrix(gpu, [1; 1]);
grid_ = @() MexMatrix(gpu, rand(5));
spd = @() MexMatrix(gpu, [4 1; 1 3]);
tri = @() MexSparseMatrix(gpu, sparse([2 -1 0 0; -1 2 -1 0; 0 -1 2 -1; 0 0 -1 2]));
team = @() MexTeam(gpu, 0);
shared = @() MexTeamMatrix(gpu, team(), tri());
ilu_ = @() MexPreconditioner(gpu, tri());
amg = @() MexAmg(gpu, tri(), [], [], [], [], [], [], [], 1);
wave = @() MexWave(gpu, 5, 0.1);
layer = @() MexHeatOperator(gpu, 'V', [0 0 0; 1 0 0; 0 1 0; 0 0 1], [1 3 2; 1 2 4; 1 4 3; 2 3 4], 0.5, 1, 2);
run = @() MexOdeBegin(gpu, 'u'' = -u', [0 1], 1);
product = @() MexSolveBegin(gpu, 'pcg', 'function', x());
corners = [-1 -1 -1; 1 -1 -1; 1 1 -1; -1 1 -1; -1 -1 1; 1 -1 1; 1 1 1; -1 1 1];
faces = [1 4 3 2; 5 6 7 8; 1 2 6 5; 2 3 7 6; 3 4 8 7; 4 1 5 8];
cube = @() MexElasto(gpu, corners, faces, [1 0.25 1], 'exterior');
box = @() MexPoisson(gpu, [5 4]);
box_values = @() MexMatrix(gpu, ones(5, 4));
inner = @() MexMatrix(gpu, ones(6, 1));
saddle = @() MexSparseMatrix(gpu, sparse([4 1; 1 0]));
double_layer = @() MexHeatOperator(gpu, 'K', [0 0 0; 1 0 0; 0 1 0; 0 0 1], [1 3 2; 1 2 4; 1 4 3; 2 3 4], 0.5, 1, 2);
boundary = @() MexMatrix(gpu, ones(8, 1));
[samples, ~, times] = MexHeatSamples(gpu, layer());
calls = {
  'MexPrintGPU', {gpu}
  'MexSetGPU', {gpu, 0, 0}
  'MexDeviceInfo', {gpu}
  'MexMemory', {gpu}
  'MexFinish', {gpu}
  'MexMatrix', {gpu, [1 2 3]}
  'MexSparseMatrix', {gpu, speye(3), 0}
  'MexBandMatrix', {gpu, eye(3), 1, 1, 0}
  'MexZeros', {gpu, 2, 3, 0, 1}
  'MexHandleMatrix', {gpu, full_()}
  'MexWriteMatrix', {gpu, full_(), ones(2)}
  'MexCopy', {gpu, full_(), full_()}
  'MexConvert', {gpu, full_(), 1, 0}
  'MexFill', {gpu, full_(), 2}
  'MexSlice', {gpu, full_(), 1, 2}
  'MexWriteSlice', {gpu, full_(), 1, x()}
  'MexSize', {gpu, full_()}
  'MexInfo', {gpu, full_()}
  'MexExplain', {gpu, sparse_()}
  'MexSetFormat', {gpu, sparse_(), 'csr'}
  'MexTranspose', {gpu, full_()}
  'MexDiagonal', {gpu, full_()}
  'MexReleaseMatrix', {gpu, full_()}
  'MexReleaseSparseMatrix', {gpu, sparse_()}
  'MexReleaseBandMatrix', {gpu, band_()}
  'MexRelease', {gpu, full_()}
  'MexMatrixVector', {gpu, full_(), x(), x()}
  'MexSparseMatrixVector', {gpu, sparse_(), x(), x()}
  'MexBandMatrixVector', {gpu, band_(), x(), x()}
  'MexMatrixTransposeVector', {gpu, full_(), x(), x()}
  'MexSparseMatrixTransposeVector', {gpu, sparse_(), x(), x()}
  'MexMultiply', {gpu, band_(), x(), x()}
  'MexMultiplyTranspose', {gpu, full_(), x(), x()}
  'MexMultiplyAdd', {gpu, 1, full_(), x(), 1, x()}
  'MexVectorPlusVector', {gpu, x(), x(), x()}
  'MexVectorMinusVector', {gpu, x(), x(), x()}
  'MexVectorMinusVectorConstant', {gpu, x(), x(), 2, x()}
  'MexVectorTimesConstant', {gpu, x(), 2, x()}
  'MexVectorTimesVector', {gpu, x(), x(), x()}
  'MexAxpby', {gpu, 1, x(), 1, x(), x()}
  'MexSum', {gpu, x()}
  'MexDot', {gpu, x(), x()}
  'MexTake', {gpu, full_(), 1, 2}
  'MexTakeLinear', {gpu, full_(), [1 2], 2, 1}
  'MexPut', {gpu, full_(), MexMatrix(gpu, 1), 1, 2}
  'MexPutLinear', {gpu, full_(), MexMatrix(gpu, 1), 1}
  'MexMap', {gpu, 'exp', x()}
  'MexMap2', {gpu, 'plus', x(), x()}
  'MexLazy', {gpu, 'exp', x()}
  'MexLazy2', {gpu, 'plus', x(), x()}
  'MexMark', {gpu, x()}
  'MexElement', {gpu, full_(), 1, 2}
  'MexWithElement', {gpu, full_(), 5, 1, 2}
  'MexPart', {gpu, full_(), 1}
  'MexBlock', {gpu, full_(), 1, 2}
  'MexWithPart', {gpu, full_(), 5, 1}
  'MexWithBlock', {gpu, full_(), 5, 1, 2}
  'MexVectorNumber', {gpu, 'sum', x()}
  'MexSmallProduct', {gpu, 'notransp', full_(), x()}
  'MexSmallTranspose', {gpu, full_(), true}
  'MexSmallSolve', {gpu, spd(), x()}
  'MexJoin', {gpu, 1, 2, full_(), full_()}
  'MexReduce', {gpu, 'sum', full_(), 1}
  'MexMatrixMatrix', {gpu, spd(), spd(), 'transp', 'notransp'}
  'MexMultiplyColumns', {gpu, sparse_(), full_()}
  'MexSparseMultiply', {gpu, sparse_(), sparse_()}
  'MexSparseAdd', {gpu, 1, sparse_(), -1, sparse_()}
  'MexSparsePart', {gpu, sparse_(), 1, [2 1]}
  'MexSparseBand', {gpu, sparse_(), -1, Inf}
  'MexDropZeros', {gpu, sparse_()}
  'MexNonzeros', {gpu, sparse_()}
  'MexComplex', {gpu, x(), x()}
  'MexRealPart', {gpu, x()}
  'MexImagPart', {gpu, x()}
  'MexAbs', {gpu, x()}
  'MexConj', {gpu, x(), x()}
  'MexConjTranspose', {gpu, full_()}
  'MexDotu', {gpu, x(), x()}
  'MexMultiplyOp', {gpu, 'transp', full_(), x(), x()}
  'MexSolveDense', {gpu, spd(), x(), 'lu'}
  'MexLu', {gpu, full_()}
  'MexCholesky', {gpu, spd()}
  'MexQr', {gpu, full_(), 1}
  'MexInverse', {gpu, full_()}
  'MexDeterminant', {gpu, full_()}
  'MexFactorisation', {gpu, spd(), 'lu'}
  'MexFactorisationSolve', {gpu, MexFactorisation(gpu, spd()), x(), 'transpose'}
  'MexFactorisationRefill', {gpu, MexFactorisation(gpu, tri()), tri()}
  'MexFactorisationReport', {gpu, MexFactorisation(gpu, tri())}
  'MexFactorisationCondition', {gpu, MexFactorisation(gpu, tri())}
  'MexFactorisationDeterminant', {gpu, MexFactorisation(gpu, tri())}
  'MexNorm1', {gpu, x()}
  'MexNorm2', {gpu, x()}
  'MexNormInf', {gpu, x()}
  'MexCG', {gpu, spd(), x(), 1e-6, 10, 'none', x()}
  'MexBiCGStab', {gpu, spd(), x(), 1e-6, 10, 'none', x()}
  'MexGMRES', {gpu, spd(), x(), 2, 1e-6, 10, 'none', x()}
  'MexMINRES', {gpu, spd(), x(), 1e-6, 10, 'none', x()}
  'MexLSQR', {gpu, spd(), x(), 1e-6, 10, 'none', x()}
  'MexSolveSparse', {gpu, tri(), MexMatrix(gpu, ones(4, 1)), 1e-6, 10}
  'MexSolveDirect', {gpu, tri(), MexMatrix(gpu, ones(4, 1)), true}
  'MexSaddle', {gpu, saddle(), 'diagonal', 'diagonal', 'jacobi', 'auto', [], 2, 1}
  'MexSaddleInfo', {gpu, MexSaddle(gpu, saddle())}
  'MexSolveBegin', {gpu, 'gmres', spd(), x(), 'none', 1e-6, 10, x(), 2}
  'MexSolveNext', {gpu, product()}
  'MexSolveEnd', {gpu, MexSolveBegin(gpu, 'pcg', spd(), x())}
  'MexIncompleteLU', {gpu, sparse_()}
  'MexIncompleteCholesky', {gpu, tri(), 0.1}
  'MexTriangular', {gpu, MexSparseMatrix(gpu, speye(3)), MexSparseMatrix(gpu, speye(3))}
  'MexPreconditioner', {gpu, sparse_(), 'ilut', 'natural', 1e-3, 5, [], [], 'never'}
  'MexPreconditionerInfo', {gpu, ilu_()}
  'MexAmg', {gpu, tri(), 0.1, 'chebyshev', 2, 'v', 50, 1, 0, 1, MexMatrix(gpu, ones(4, 1)), 'auto'}
  'MexAmgInfo', {gpu, amg()}
  'MexAmgRefill', {gpu, amg(), tri()}
  'MexAmgFactor', {gpu, amg(), tri()}
  'MexEigs', {gpu, spd(), 1, 'smallest', 1e-6, 10, 'none', spd()}
  'MexTeam', {gpu, 0}
  'MexTeamInfo', {gpu, team()}
  'MexTeamMatrix', {gpu, team(), tri()}
  'MexTeamAmg', {gpu, shared(), tri(), 0.1, 'chebyshev', 2, 'v', 50, 1, 'auto', 0}
  'MexTeamPoisson', {gpu, team(), grid_(), 1e-6, 20, grid_(), 'v', 'rbgs', 2, 0}
  'MexTeamWave', {gpu, team(), 5, 1e-4, 1, 0}
  'MexJacobi', {gpu, grid_(), grid_(), grid_(), 2, 0.8}
  'MexRBGS', {gpu, grid_(), grid_(), grid_(), 2}
  'MexPoissonDefect', {gpu, grid_(), grid_(), grid_()}
  'MexCoarseToFine', {gpu, MexMatrix(gpu, rand(3)), grid_()}
  'MexFineToCoarse', {gpu, grid_(), MexMatrix(gpu, rand(3))}
  'MexPoisson', {gpu, [5 4 3], 1, linspace(0, 2, 4), 1, Inf(2, 3), 'vertex', [1 2 3], ones(4 * 3 * 2, 1), 'cells', 0, 2, 1e-8, 50, 'v', 0, 'rbgs', 'kernels', 0}
  'MexPoissonSide', {gpu, box(), 2, 1, ones(5, 1)}
  'MexPoissonSolve', {gpu, box(), box_values(), box_values()}
  'MexPoissonOperator', {gpu, box()}
  'MexPoissonPreconditioner', {gpu, box()}
  'MexPoissonRightSide', {gpu, box(), box_values(), inner()}
  'MexPoissonPoints', {gpu, box(), inner(), box_values()}
  'MexWave', {gpu, [5 4], 0.01, 1, 'explicit', 0, 'kernels', 1e-8, [1 1], [Inf 1; 0 Inf], 0.7}
  'MexWaveLimit', {gpu, [5 4], 1, [1 1], Inf(2)}
  'MexWaveStart', {gpu, wave(), grid_(), grid_()}
  'MexWaveStep', {gpu, wave(), 2}
  'MexWaveDisplacement', {gpu, wave(), grid_()}
  'MexWaveVelocity', {gpu, wave(), grid_()}
  'MexWaveEnergy', {gpu, wave()}
  'MexOde', {gpu, 'u'' = -u', [0 1], 1, [1e-3 1e-6], 'dopri54', 0, 'fused', [], 4, 0}
  'MexOdeBegin', {gpu, 'u'' = -u', [0 1], 1, [1e-3 1e-6], 'dopri54', 0, 'fused', [], 4, 0}
  'MexOdeNext', {gpu, run()}
  'MexOdeEnd', {gpu, run()}
  'MexHeatOperator', {gpu, 'V', [0 0 0; 1 0 0; 0 1 0; 0 0 1], [1 3 2; 1 2 4; 1 4 3; 2 3 4], 0.5, 1, 2, 'auto', 0}
  'MexHeatForward', {gpu, layer()}
  'MexHeatOperatorPreconditioner', {gpu, layer(), 'otf'}
  'MexHeatSamples', {gpu, layer()}
  'MexHeatProject', {gpu, layer(), ones(size(samples, 1), numel(times))}
  'MexHeatRightSide', {gpu, double_layer(), boundary()}
  'MexHeatInterior', {gpu, layer(), boundary(), boundary(), [0.2 0.2 0.2]}
  'MexElasto', {gpu, corners, faces, [1 0.25 1], 'exterior'}
  'MexElastoAssemble', {gpu, corners, faces, [1 0.25 1], 1, 'exterior'}
  'MexElastoSurface', {gpu, cube()}
  'MexElastoMatrices', {gpu, cube(), 1}
  'MexElastoSolve', {gpu, cube(), 1, zeros(18, 1), ones(18, 1)}
  'MexElastoEvaluate', {gpu, cube(), 1, ones(18, 1), ones(18, 1), [0 0 3]}
  'MexWaveform', {gpu, 'u'' = -u', [0 1], 1, 8}
  };
end

function names = others()
% Functions that the list leaves out: they take no arguments, files, or end the session.
names = {'MexInitOpenCL', 'MexReleaseOpenCL', 'MexShutdown', 'MexVersion', 'MexReadMarket', 'MexWriteMarket', 'MexHeatMesh'};
end

function every_function_is_listed()
calls = good_calls();
files = dir(fullfile(fileparts(which('MexSum')), 'Mex*.m'));
names = strrep({files.name}, '.m', '');
check(isequal(sort(names(:)), sort([calls(:, 1); others()'])), 'the list is that of the functions');
for k = 1 : size(calls, 1)
  evalc('feval(calls{k, 1}, calls{k, 2}{:});');
end
end

function wrong_counts()
calls = good_calls();
many = repmat({1}, 1, 9);
for k = 1 : size(calls, 1)
  [name, given] = calls{k, :};
  check_error('clinalg:argument:count', [name, ': too few arguments'], @() feval(name));
  check_error('clinalg:argument:count', [name, ': too many arguments'], ...
    @() clinalg_mex(name, given{:}, many{:}));
end
end

function call_of(name, given)
if ~strcmp(name, 'MexSolveBegin')
  feval(name, given{:});
else
  begun = feval(name, given{:});
  % Its thread writes x until it is ended, with an error where the tolerance was wrong.
  try
    MexSolveEnd(given{1}, begun);
  catch
  end
end
end

function wrong_arguments_one_by_one()
% Each argument in turn is something that no function takes there: the error names function, position and argument.
[calls, gpu] = good_calls();
bad = {{1}, struct(), @sin, 1i, int8([1 2]), rand(2, 2, 2), NaN, '', ['ab'; 'cd'], uint64(77)};
for k = 1 : size(calls, 1)
  [name, given] = calls{k, :};
  inputs = argument_names(name);
  for a = 1 : numel(given)
    refused = 0;
    for b = 1 : numel(bad)
      changed = given;
      changed{a} = bad{b};
      try
        evalc('call_of(name, changed);');
      catch problem
        refused = refused + 1;
        check(strncmp(problem.identifier, 'clinalg:', 8) && ~strncmp(problem.identifier, 'clinalg:internal', 16), ...
          '%s argument %d: [%s] %s', name, a, problem.identifier, problem.message);
        check(~isempty(strfind(problem.message, [name, ':'])), '%s: %s', name, problem.message); %#ok<STREMP>
        if isempty(strfind(problem.identifier, 'device')) %#ok<STREMP>
          where = sprintf('argument %d `%s`', a, inputs{a});
          check(~isempty(strfind(problem.message, where)), 'no %s in: %s', where, problem.message); %#ok<STREMP>
        end
      end
    end
    % These functions give 0 or [] for what is neither a handle nor a number, or no subscript.
    least = 5 - 4 * (strncmp(name, 'MexLazy', 7) && a > 2) - 5 * (strcmp(name, 'MexWithElement') && a == 3) ...
      - 5 * (strcmp(name, 'MexJoin') && a > 3) ...
      - 5 * (any(strcmp(name, {'MexPart', 'MexBlock', 'MexWithPart', 'MexWithBlock'})) && a > 2);
    check(refused >= least, '%s argument %d: only %d of the values are refused', name, a, refused);
  end
end
check(MexSum(gpu, MexMatrix(gpu, [1 2])) == 3);
end

function names = argument_names(name)
% From the declaration, which may continue in the second line of the file.
text = regexprep(fileread(which(name)), '\s*\.\.\.\s*', ' ');
list = regexp(text, '^function [^(]*\(([^)]*)\)', 'tokens', 'once');
names = strsplit(list{1}, ', ');
end

function released_handles()
% Each handle in turn is one that was released, and one of another process.
[calls, gpu] = good_calls();
quiet = {'MexRelease'};
for k = 1 : size(calls, 1)
  [name, given] = calls{k, :};
  if any(strcmp(name, quiet))
    continue
  end
  for a = 2 : numel(given)
    if isa(given{a}, 'uint64')
      changed = given;
      changed{a} = MexMatrix(gpu, 1);
      MexReleaseMatrix(gpu, changed{a});
      where = sprintf('%s: argument %d', name, a);
      check_error('clinalg:handle:stale', where, @() feval(name, changed{:}));
      changed{a} = bitxor(given{a}, bitshift(uint64(1), 40));
      check_error('clinalg:handle:foreign', where, @() feval(name, changed{:}));
    end
  end
end
end

function unknown_functions()
check_error('clinalg:call:function', 'MexNothing', @() clinalg_mex('MexNothing'));
check_error('clinalg:call:function', 'name', @() clinalg_mex());
check_error('clinalg:call:function', 'number 0', @() clinalg_mex(0));
check_error('clinalg:call:function', 'first argument', @() clinalg_mex({}));
check_error('clinalg:call:function', 'first argument', @() clinalg_mex(repmat('x', 1, 1000)));
end

function the_session_goes_on()
gpu = MexInitOpenCL();
x = MexMatrix(gpu, ones(1e5, 1));
before = MexMemory(gpu);
for k = 1 : 200
  try
    MexMatrixVector(gpu, x, x);
  catch
  end
  try
    MexVectorPlusVector(gpu, x, MexInitOpenCL());
  catch
  end
end
after = MexMemory(gpu);
check(isequal(before.live_bytes, after.live_bytes) && before.objects == after.objects);
check(MexSum(gpu, x) == 1e5);
end
