function tests = test_callbacks()
% Functions that run in a call and touch its objects. A call that waits for ever is ended by whoever runs the suite.
tests = {@a_product_reads_what_its_solve_uses, @a_preconditioner_solves_and_reads, ...
  @what_a_solve_uses_is_not_written, @an_operator_that_solves_with_itself_is_an_error, ...
  @released_objects_of_the_call_are_an_error, @an_output_function_computes_and_integrates, ...
  @an_end_of_the_library_in_a_function_ends_the_call};
end

function [S, A, b] = problem()
S = gallery('poisson', 6);
A = clinalg.matrix(S);
b = clinalg.vector(ones(36, 1));
end

function a_product_reads_what_its_solve_uses()
[S, A, b] = problem();
x0 = clinalg.vector(zeros(36, 1));
for solver = {@clinalg.pcg, @clinalg.bicgstab, @clinalg.gmres, @clinalg.minres}
  [x, flag] = solver{1}(@(v) reads(v, A, b, x0), b, 'Tolerance', 1e-10, 'MaxIterations', 100, 'InitialGuess', x0);
  check(flag == 0 && norm(x0) == 0);
  check_close(gather(x), S \ ones(36, 1), 1e-8);
end
[x, flag] = clinalg.lsqr(@(v, part) reads(v, A, b, x0), b, 1e-10, 100);
check(flag == 0);
check_close(gather(x), S \ ones(36, 1), 1e-7);
end

function y = reads(v, A, b, x0)
% A v; also reads A, b, the first guess and v.
check(norm(b) == 6 && sum(A * b) == 24 && norm(x0) == 0 && isequal(size(v), [36 1]) && norm(v) >= 0);
y = A * v;
end

function a_preconditioner_solves_and_reads()
[S, A, b] = problem();
[x, flag, ~, iter] = clinalg.pcg(A, b, 1e-10, 100, @(r) clinalg.pcg(A, r, 1e-12, 100));
check(flag == 0 && iter <= 2);
check_close(gather(x), S \ ones(36, 1), 1e-8);
[x, flag] = clinalg.pcg(A, b, 1e-10, 100, @(r) refused(r, @() MexFill(0, b.h, 0)));
check(flag == 0);
check_close(gather(x), S \ ones(36, 1), 1e-8);
check(norm(b) == 6);
end

function y = refused(r, call)
y = 0.25 * r;
check_error('clinalg:argument:value', 'the call that runs this callback reads it', call);
end

function what_a_solve_uses_is_not_written()
gpu = MexInitOpenCL();
[a, b, x] = deal(MexSparseMatrix(gpu, gallery('poisson', 6)), MexMatrix(gpu, ones(36, 1)), MexZeros(gpu, 36, 1));
for given = {a, 'function'}
  run = MexSolveBegin(gpu, 'pcg', given{1}, b, 'function', 1e-10, 100, x, []);
  MexSolveNext(gpu, run);
  check(MexNorm2(gpu, b) == 6 && MexSize(gpu, x) == 36);
  check(MexSum(gpu, MexMultiply(gpu, a, b)) == 24);
  check_error('clinalg:argument:value', 'reads it', @() MexFill(gpu, b, 0));
  check_error('clinalg:argument:value', 'writes it', @() MexNorm2(gpu, x));
  check_error('clinalg:argument:value', 'writes it', @() MexCG(gpu, a, b, 1e-8, 100, [], x));
  check_error('clinalg:solve:cancelled', '', @() MexSolveEnd(gpu, run));
  check(MexNorm2(gpu, x) == 0);
end
end

function an_operator_that_solves_with_itself_is_an_error()
[~, ~, b] = problem();
try
  itself(b);
  check(false, 'an operator that solves with itself has solved');
catch e
  % The host's own limit of calls in calls.
  check(~isempty(regexp(e.message, 'recursion', 'once')), '%s', e.message);
end
[~, A, b] = problem();
[x, flag] = clinalg.pcg(A, b, 1e-10, 100);
check(flag == 0 && norm(A * x - b) < 1e-8);
end

function y = itself(v)
y = clinalg.pcg(@itself, v, 1e-8, 10);
end

function released_objects_of_the_call_are_an_error()
[S, ~, ~] = problem();
gpu = MexInitOpenCL();
a = MexSparseMatrix(gpu, S);
b = MexMatrix(gpu, ones(36, 1));
run = MexSolveBegin(gpu, 'pcg', a, b, 'function', 1e-10, 100, [], []);
[wanted, r] = MexSolveNext(gpu, run);
MexReleaseSparseMatrix(gpu, a);
MexReleaseMatrix(gpu, b);
while ~isempty(wanted)
  y = MexCopy(gpu, r);
  [wanted, r] = MexSolveNext(gpu, run, y);
end
check_error('clinalg:handle:stale', '`a`', @() MexSolveEnd(gpu, run));
check_error('clinalg:handle:stale', 'run', @() MexSolveNext(gpu, run, y));
end

function an_output_function_computes_and_integrates()
global clinalg_seen
clinalg_seen = 0;
v = clinalg.vector([3; 4]);
[t, y] = clinalg.ode(struct('u', '-u'), [0 1], 1, struct('OutputFcn', @(t, y, flag) integrates(v, flag)));
check_close(y(end), exp(-1), 1e-3);
check(clinalg_seen == numel(t) - 1);
clear -global clinalg_seen
end

function stop = integrates(v, flag)
global clinalg_seen
[~, y] = clinalg.ode(struct('u', '-u'), [0 1], 1);
check(norm(v) == 5 && abs(y(end) - exp(-1)) < 1e-3);
clinalg_seen = clinalg_seen + isempty(flag);
stop = false;
end

function an_end_of_the_library_in_a_function_ends_the_call()
S = gallery('poisson', 6);
for ends = {@() clinalg.shutdown(), @() MexReleaseOpenCL(0)}
  check_error('clinalg:handle:stale', 'was released', ...
    @() clinalg.pcg(@(v) after(S * gather(v), ends{1}), ones(36, 1), 1e-8, 5));
  check_error('clinalg:handle:stale', 'was released', ...
    @() clinalg.pcg(S, clinalg.vector(ones(36, 1)), 1e-8, 5, @(r) after(gather(r), ends{1})));
  check_error('clinalg:handle:stale', 'was released', ...
    @() clinalg.ode(struct('u', '-u'), [0 1], 1, struct('OutputFcn', @(t, y, flag) after(false, ends{1}))));
end
[x, flag] = clinalg.pcg(S, ones(36, 1), 1e-10, 100);
check(flag == 0 && norm(S * x - ones(36, 1)) < 1e-8);
end

function y = after(y, call)
call();
end
