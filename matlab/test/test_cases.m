function tests = test_cases()
% Small inputs from public reports about other libraries: what plain arrays give, and values by hand.
tests = {@reductions_of_empty_and_not_finite_arrays, @elements_at_the_edge, @indices, @find_in_millions, ...
  @rest_of_a_least_squares_problem_without_right_hand_side};
end

function same(got, want, name)
% The same size and values, NaN counting as equal.
if isa(got, 'clinalg.array')
  got = gather(got);
end
check(isequal(size(got), size(want)) && isequaln(double(got), double(want)), [name ': ' mat2str(got)]);
end

function reductions_of_empty_and_not_finite_arrays()
% arrayfire/arrayfire#1006
g = @(v) clinalg.gpuArray(v);
same(max(g([NaN 3 1])), 3, 'max');
[m, i] = max(g([NaN 3 1]));
same(m, 3, 'max');
same(i, 2, 'its place');
same(min(g([NaN NaN])), NaN, 'min');
same(sum(g(zeros(0, 3))), [0 0 0], 'sum');
same(prod(g(zeros(0, 3))), [1 1 1], 'prod');
same(size(max(g(zeros(0, 3)))), size(max(zeros(0, 3))), 'size of max');
same(sum(g([])), 0, 'sum of []');
same(norm(g([])), 0, 'norm of []');
same(size(sum(g(zeros(3, 0)))), [1 0], 'size of sum');
same(sum(g([Inf -Inf])), NaN, 'sum of infinities');
same(norm(g([1 NaN]), Inf), NaN, 'norm of NaN');
same(norm(g([Inf 1])), Inf, 'norm of Inf');
check_close(double(norm(g([1e200 1e200]))), sqrt(2) * 1e200, 1e-15);
check_close(double(norm(g([3e-200 4e-200]))) * 1e200, 5, 1e-15);
check_close(double(norm(g(single([3e30 4e30])))) / 1e30, 5, 1e-6);
same(cumsum(g([1 NaN 2])), [1 NaN NaN], 'cumsum');
same(sort(g([3 NaN 1])), [1 3 NaN], 'sort');
same(1 ./ gather(sort(g([0 -0]))), [Inf -Inf], 'sort of zeros');
[~, p] = sort(g([2 1 2 1]));
same(p, [2 4 1 3], 'places of sort');
% NaN is no value: Octave and MATLAB ignore it in any.
same(double(any(g([0 NaN]))), 0, 'any of NaN');
same(double(any(g([NaN NaN; 0 2]))), [0 1], 'any of columns with NaN');
check(any([0 NaN]) == 0, 'any of Octave');
same(mean(g(zeros(0, 1))), NaN, 'mean');
end

function elements_at_the_edge()
% Stack Overflow 53091818, arrayfire/arrayfire#236
g = @(v) clinalg.gpuArray(v);
same(sign(g([NaN -2])), [NaN -1], 'sign');
same(round(g([0.49999999999999994 2.5])), [0 3], 'round');
same(round(g([-0.5 -2.5])), [-1 -3], 'round');
same(mod(g([-1 5]), 3), [2 2], 'mod');
same(mod(g([5 -5]), 0), [5 -5], 'mod by 0');
same(rem(g([5 -5]), 0), [NaN NaN], 'rem by 0');
same(g([NaN 0]) .^ 0, [1 1], 'power 0');
tiny = gather(2 .^ g([-1074 -1022]));
check(tiny(2) == 2 ^ -1022 && any(tiny(1) == [0, 2 ^ -1074]), mat2str(tiny));
check_close(gather(10 .^ g([22 -308])) ./ [1e22 1e-308], [1 1], 16 * eps);
check_close(gather(g([-8 8]) .^ (1 / 3)), [1 + 1i * sqrt(3), 2], 1e-15);
check_close(gather(sqrt(g([-4 4]))), [2i 2], 1e-15);
same(sqrt(g([NaN 4])), [NaN 2], 'sqrt');
logarithms = gather(log(g([0 -1])));
check(real(logarithms(1)) == -Inf && abs(logarithms(2) - 1i * pi) < 1e-15, mat2str(logarithms));
same(hypot(g([Inf 3]), [NaN 4]), [Inf 5], 'hypot');
check_close(gather(atan2(g([0 -0]), [-1 -1])), [pi -pi], 1e-15);
same(max(g([NaN 1]), [0 NaN]), [0 1], 'max of two');
same(single(g([1e300 1])), single([Inf 1]), 'single');
same(g([Inf 1]) * 0, [NaN 0], 'times 0');
end

function indices()
% MATLAB Answers 230344, 272084
g = @(v) clinalg.gpuArray(v);
A = g(magic(4));
v = g([1 3]);
same(A(A > 10), [16 11 14 15 13 12].', 'mask');
same(A(5), 2, 'A(5)');
same(A(end), 1, 'A(end)');
same(A(end - 1, end), 12, 'A(end - 1, end)');
same(A(v(end), end), 12, 'A(v(end), end)');
same(A(min(end, 3), 1), 9, 'A(min(end, 3), 1)');
same(size(A([], :)), [0 4], 'no rows');
same(size(A(:, [])), [4 0], 'no columns');
same(A(logical([1 0 1 0]), 1).', [16 9], 'logical rows');
same(A(:).' * ones(16, 1), 136, 'A(:)');
same(size(A(:, :, 1)), [4 4], 'A(:, :, 1)');
B = A;
B(:, 2) = [];
same(size(B), [4 3], 'without a column');
B = A;
B(logical(eye(4))) = 0;
same(trace(gather(B)), 0, 'zero diagonal');
same(trace(gather(A)), 34, 'A as it was');
B = A;
B([1 1], 1) = [5; 6];
same(B(1), 6, 'the last of two');
for bad = [17 0 1.5]
  failed = false;
  try
    A(bad);
  catch problem
    failed = ~isempty(problem.message);
  end
  check(failed, sprintf('A(%g)', bad));
end
S = clinalg.matrix(sparse([0 2; 3 0]));
same(S(2, 1), 3, 'S(2, 1)');
same(full(gather(S(:).')), [0 3 2 0], 'S(:)');
same(full(gather(S(S > 2))), 3, 'S(S > 2)');
S(1, 1) = 7;
same(nnz(S), 3, 'nnz');
T = S;
T(:, 1) = [];
same(full(gather(T)), [2; 0], 'without a column');
same(full(gather(S(end, :))), [3 0], 'the last row');
end

function find_in_millions()
% arrayfire/arrayfire#3414
k = clinalg.vector(floor((0 : 2803220).' / 19881));
same(numel(find(k == 0)), 19881, 'find');
same(nnz(k), 2783340, 'nnz');
[m, i] = max(k);
same(m, 140, 'max');
same(i, 2783341, 'its first place');
end

function rest_of_a_least_squares_problem_without_right_hand_side()
% JuliaLinearAlgebra/IterativeSolvers.jl#202
[x, f, r] = clinalg.lsqr(clinalg.matrix(speye(10)), zeros(10, 1));
same(x, zeros(10, 1), 'x');
check(f == 0 && r == 0, mat2str([f r]));
end
