function tests = test_examples()
tests = {@the_first_example, @the_smoothers, @multigrid_by_linear_algebra, @the_wave, @the_membrane, @the_objects, @the_blocks, ...
  @finite_elements, @the_eigenvalues, @heat_in_a_ball, @several_right_hand_sides, @the_front};
end

function the_first_example()
evalc('[A, C] = first_example();');
check(isequal(A, [1; 4; 9]) && isequal(C, single([1; 4; 9])) && isa(C, 'single'));
end

function the_smoothers()
evalc('difference = smoothers(33, 5);');
check(difference < 1e-15 * 20, '%g', difference);
end

function multigrid_by_linear_algebra()
evalc('[relres, cycles, err] = poisson_multigrid(513);');
check(relres <= 1e-9 && cycles <= 12, 'relative residual %g after %d cycles', relres, cycles);
check(abs(err / (pi ^ 2 / 12 / 512 ^ 2) - 1) < 0.1, 'error %g', err);
end

function the_blocks()
evalc('[iterations, difference] = waveform_example(20, 6);');
% Larger blocks take fewer iterations, and none takes more than finite termination allows.
check(difference < 1e-14 && all(diff(iterations) <= 0) && iterations(1) <= 7, '%d ', iterations);
end

function the_wave()
folder = tempname();
evalc('files = wave_animation(folder, 65, 3);');
check(numel(files) == 3);
first = imread(files{1});
last = imread(files{3});
check(isequal(size(first), [65 65 3]) && any(first(:) ~= last(:)));
cellfun(@delete, files);
rmdir(folder);
end

function the_membrane()
folder = tempname();
evalc('[files, drift] = wave_pictures(folder, 65, 3);');
check(numel(files) == 3 && abs(drift) < 1e-12, 'the energy drifted by %g', drift);
first = imread(files{1});
last = imread(files{3});
check(isequal(size(first), [65 65 3]) && any(first(:) ~= last(:)));
cellfun(@delete, files);
rmdir(folder);
end

function the_objects()
evalc('[x, iterations] = object_example();');
check(iterations(1) == iterations(2));
A = gallery('poisson', 50);
check(norm(A * x - 1) <= 1e-8 * 50 * 1.01);
end

function finite_elements()
evalc('[iterations, err] = fem_example(20);');
% Of second order: 1.6e-5 on 40 rings.
check(iterations < 25 && err < 8e-5, '%d iterations, error %g', iterations, err);
end

function the_eigenvalues()
evalc('d = eigen_example(32);');
% The corner makes the error of the first of order 4/3; the third is that of the stencil.
check(abs(d(1) / 9.639723844 - 1) < 0.02 && abs(d(3) / (2 * (64 * sin(pi / 64)) ^ 2) - 1) < 1e-7, '%g %g', d(1), d(3));
end

function heat_in_a_ball()
evalc('err = [heat_example(1, 8), heat_example(1, 16)];');
% Of first order in the steps.
check(err(1) < 0.2 && abs(err(1) / err(2) - 2) < 0.3, '%g ', err);
end

function several_right_hand_sides()
evalc('[iterations, difference] = columns_example(40, 3);');
check(all(iterations < 25) && difference < 1e-8, '%d iterations, difference %g', max(iterations), difference);
end

function the_front()
evalc('[stats, err] = front_example(301);');
check(stats.rejected < stats.accepted && err < 1e-3, 'error %g', err);
end
