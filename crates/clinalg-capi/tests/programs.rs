//! C and C++ programs against the shared library.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use clinalg_testing::bindings::{Function, functions};

/// Random calls; `CLINALG_FUZZ` sets another number.
const CALLS: &str = "20000";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder with the shared library, which cargo has built beside the Rust library that this test depends on.
fn library() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let test = std::env::current_exe().expect("a test has a path");
        let built = test.parent().expect("tests lie in target/PROFILE/deps");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("library");
        std::fs::create_dir_all(&folder).unwrap();
        let soname = format!("libclinalg.so.{}.{}", env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
        for name in ["libclinalg.so", &soname] {
            std::fs::copy(built.join("libclinalg_capi.so"), folder.join(name)).unwrap();
        }
        folder
    })
}

/// Runs a program that must succeed and gives what it prints to standard output; drivers print to standard error as they like.
fn run(command: &mut Command) -> String {
    let line = format!("{command:?}");
    let output = command.output().unwrap_or_else(|e| panic!("{line}: {e}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {}\n{text}{errors}", output.status);
    text
}

/// Compiles `source` with every warning an error, and gives the program ready to run.
fn compile(compiler: [&str; 2], source: &str, options: &[&str]) -> Command {
    let [variable, default] = compiler;
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(source.replace(['/', '.'], "_"));
    let mut command = Command::new(std::env::var_os(variable).unwrap_or_else(|| default.into()));
    command.args(["-O1", "-g", "-Wall", "-Wextra", "-pedantic", "-Werror"]).args(options);
    command.arg("-I").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"));
    command.arg(root().join(source)).arg("-o").arg(&program);
    command.arg("-L").arg(library()).args(["-lclinalg", "-lm"]);
    command.arg(format!("-Wl,-rpath,{}", library().display()));
    run(&mut command);
    Command::new(program)
}

#[test]
fn objects_from_c99_with_sanitizers() {
    let sanitizers = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CC", "cc"], "tests/capi/objects.c", &sanitizers);
    // Drivers keep what they allocate until the process ends.
    let text = run(program.env("ASAN_OPTIONS", "detect_leaks=0"));
    assert_eq!(text, "passed\n");
}

#[test]
fn complex_numbers_from_c99_with_sanitizers() {
    let sanitizers = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CC", "cc"], "tests/capi/complex.c", &sanitizers);
    program.current_dir(env!("CARGO_TARGET_TMPDIR"));
    assert_eq!(run(program.env("ASAN_OPTIONS", "detect_leaks=0")), "passed\n");
}

#[test]
fn differential_equations_from_c99_with_sanitizers() {
    let sanitizers = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CC", "cc"], "tests/capi/ode.c", &sanitizers);
    assert_eq!(run(program.env("ASAN_OPTIONS", "detect_leaks=0")), "passed\n");
}

#[test]
fn heat_operators_from_c99_with_sanitizers() {
    let sanitizers = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CC", "cc"], "tests/capi/heat.c", &sanitizers);
    let text = run(program.env("ASAN_OPTIONS", "detect_leaks=0"));
    assert_eq!(text, "passed\n");
}

#[test]
fn problems_of_the_heat_equation_from_c99_with_sanitizers() {
    let sanitizers = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CC", "cc"], "tests/capi/heat_problem.c", &sanitizers);
    // The program writes a file.
    program.current_dir(env!("CARGO_TARGET_TMPDIR"));
    let text = run(program.env("ASAN_OPTIONS", "detect_leaks=0"));
    assert!(text.ends_with("passed\n"), "{text}");
}

#[test]
fn elastodynamics_from_c99_with_sanitizers() {
    let sanitizers = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CC", "cc"], "tests/capi/elastodynamics.c", &sanitizers);
    assert_eq!(run(program.env("ASAN_OPTIONS", "detect_leaks=0")), "passed\n");
}

#[test]
fn heat_operators_from_cpp() {
    let mut program = compile(["CXX", "c++"], "tests/capi/heat.cpp", &["-std=c++11"]);
    assert_eq!(run(&mut program), "passed\n");
}

#[test]
fn objects_and_callbacks_from_cpp() {
    let mut program = compile(["CXX", "c++"], "tests/capi/cpp.cpp", &["-std=c++11"]);
    assert_eq!(run(&mut program), "passed\n");
}

#[test]
fn arrays_solvers_and_grids_from_cpp_with_sanitizers() {
    let sanitizers = ["-std=c++11", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CXX", "c++"], "tests/capi/wrapper.cpp", &sanitizers);
    // The program writes a file.
    program.current_dir(env!("CARGO_TARGET_TMPDIR"));
    assert_eq!(run(program.env("ASAN_OPTIONS", "detect_leaks=0")), "passed\n");
}

#[test]
fn equations_and_boundary_elements_from_cpp_with_sanitizers() {
    // With std::span and [[nodiscard]].
    let sanitizers = ["-std=c++20", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CXX", "c++"], "tests/capi/problems.cpp", &sanitizers);
    assert_eq!(run(program.env("ASAN_OPTIONS", "detect_leaks=0")), "passed\n");
}

#[test]
fn choices_of_solvers_from_c99_with_sanitizers() {
    let sanitizers = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CC", "cc"], "tests/capi/choices.c", &sanitizers);
    assert_eq!(run(program.env("ASAN_OPTIONS", "detect_leaks=0")), "passed\n");
}

#[test]
fn limits_from_c99_with_sanitizers() {
    let sanitizers = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CC", "cc"], "tests/capi/limits.c", &sanitizers);
    // The program writes a file.
    program.current_dir(env!("CARGO_TARGET_TMPDIR"));
    assert_eq!(run(program.env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1")), "passed\n");
}

#[test]
fn a_forked_child_gets_errors_whatever_other_threads_hold() {
    assert_eq!(run(&mut compile(["CC", "cc"], "tests/capi/fork.c", &["-std=c99", "-pthread"])), "passed\n");
}

#[test]
fn exceptions_and_memory_end_where_their_owner_does_in_cpp() {
    let mut program = compile(["CXX", "c++"], "tests/capi/ownership.cpp", &["-std=c++11"]);
    assert_eq!(run(&mut program), "passed\n");
}

#[test]
fn callbacks_that_use_objects_of_their_call_do_not_hang() {
    assert_eq!(run(&mut compile(["CC", "cc"], "tests/capi/callbacks.c", &["-std=c99", "-pthread"])), "passed\n");
}

#[test]
fn multigrid_and_conversions_from_c99_with_sanitizers() {
    let sanitizers = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CC", "cc"], "tests/capi/multigrid.c", &sanitizers);
    assert_eq!(run(program.env("ASAN_OPTIONS", "detect_leaks=0")), "passed\n");
}

#[test]
fn poisson_on_boxes_from_c99_with_sanitizers() {
    let sanitizers = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CC", "cc"], "tests/capi/grid.c", &sanitizers);
    assert_eq!(run(program.env("ASAN_OPTIONS", "detect_leaks=0")), "passed\n");
}

#[test]
fn preconditioners_from_c99_with_sanitizers() {
    let sanitizers = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CC", "cc"], "tests/capi/preconditioners.c", &sanitizers);
    assert_eq!(run(program.env("ASAN_OPTIONS", "detect_leaks=0")), "passed\n");
}

#[test]
fn sparse_algebra_from_c99_with_sanitizers() {
    let sanitizers = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CC", "cc"], "tests/capi/sparse.c", &sanitizers);
    assert_eq!(run(program.env("ASAN_OPTIONS", "detect_leaks=0")), "passed\n");
}

#[test]
fn sparse_input_and_callbacks_from_c99_with_sanitizers() {
    let sanitizers = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CC", "cc"], "tests/capi/input.c", &sanitizers);
    program.current_dir(env!("CARGO_TARGET_TMPDIR"));
    assert_eq!(run(program.env("ASAN_OPTIONS", "detect_leaks=0")), "passed\n");
}

#[test]
fn teams_from_c99_with_sanitizers() {
    let sanitizers = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CC", "cc"], "tests/capi/team.c", &sanitizers);
    // PoCL makes two devices of one CPU.
    program.env("POCL_DEVICES", "pthread pthread").env("ASAN_OPTIONS", "detect_leaks=0");
    let text = run(&mut program);
    assert!(text.starts_with("passed on "), "{text}");
}

#[test]
fn random_calls_from_c99_with_sanitizers() {
    let sanitizers = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CC", "cc"], "tests/capi/fuzz.c", &sanitizers);
    program.arg(std::env::var("CLINALG_FUZZ").unwrap_or_else(|_| CALLS.into()));
    let text = run(program.env("ASAN_OPTIONS", "detect_leaks=0"));
    assert!(text.ends_with(" calls, 0 failures, 0 bytes left\n"), "{text}");
}

#[test]
fn threads_from_cpp() {
    let mut program = compile(["CXX", "c++"], "tests/capi/threads.cpp", &["-std=c++11", "-pthread"]);
    let text = run(program.args(["8", "200"]));
    assert!(text.ends_with(" 0 failures, 0 bytes left\n"), "{text}");
}

#[test]
fn first_program_from_c99() {
    let mut program = compile(["CC", "cc"], "examples/c/first.c", &["-std=c99"]);
    assert!(run(&mut program).starts_with("x = 1 2 3 after "));
}

#[test]
fn a_hermitian_system_from_c99() {
    let text = run(&mut compile(["CC", "cc"], "examples/c/complex.c", &["-std=c99"]));
    // The inverse is [3 -i; i 4] / 11.
    assert_eq!(text, "x = (0.1818 +0.5455 i, -0.1818 -0.2727 i), b^H A^-1 b = 1.5455\n");
}

#[test]
fn objects_from_c99() {
    let text = run(&mut compile(["CC", "cc"], "examples/c/objects.c", &["-std=c99"]));
    assert_eq!(text, "3 4 3 4\n4 4 5 4\n");
}

#[test]
fn factors_of_a_dense_matrix_from_c99() {
    let text = run(&mut compile(["CC", "cc"], "examples/c/dense.c", &["-std=c99"]));
    assert_eq!(text, "1 1 1\n1 1 1\ndeterminant 50\n");
}

#[test]
fn algebraic_multigrid_from_c99() {
    let text = run(&mut compile(["CC", "cc"], "examples/c/amg.c", &["-std=c99"]));
    let number = |word: &str| word.trim_end_matches(',').parse::<f64>().unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    // The solution of -Laplace u = 1 on the unit square is 0.0736713 in the middle (Timoshenko), in units of 1 / h^2.
    for (k, words) in lines.iter().enumerate() {
        let want = (k + 1) as f64 * 0.073_671_3 * 301.0 * 301.0;
        assert!(number(words[0]) < 30.0 && (number(words[3]) / want - 1.0).abs() < 1e-4, "{text}");
    }
    assert_eq!(lines.len(), 2);
}

#[test]
fn a_method_that_suits_the_matrix_from_c99() {
    let text = run(&mut compile(["CC", "cc"], "examples/c/automatic.c", &["-std=c99"]));
    let (how, rest) = text.split_once(": error ").unwrap();
    let (error, reason) = rest.split_once('\n').unwrap();
    assert_eq!(how, "BiCGStab with algebraic multigrid");
    assert!(reason.starts_with("not symmetric, nearly an M-matrix: a positive diagonal"), "{text}");
    assert!(error.parse::<f64>().unwrap() < 1e-5, "{text}");
}

#[test]
fn heat_in_time_steps_from_c99() {
    let text = run(&mut compile(["CC", "cc"], "examples/c/heat_steps.c", &["-std=c99"]));
    let words: Vec<&str> = text.split_whitespace().collect();
    // The square of the first zero of the Bessel function J0. Linear elements of size h raise it by h^2 lambda / 12, a thousandth; what is left
    // of the other modes lowers it by as much.
    let rate: f64 = words[7].trim_start_matches("exp(-").parse().unwrap();
    assert!((rate / 5.783_186 - 1.0).abs() < 2e-3, "{text}");
    // At most 20 for each of 20 steps.
    assert!(words[2].parse::<usize>().unwrap() < 400, "{text}");
}

#[test]
fn frequencies_of_a_square_from_c99() {
    let text = run(&mut compile(["CC", "cc"], "examples/c/eigen.c", &["-std=c99"]));
    // (2 sin(k pi h / 2) / h)^2 for each direction.
    let part = |k: f64| (122.0 * (k * std::f64::consts::PI / 122.0).sin()).powi(2);
    let wanted = [part(1.0) * 2.0, part(1.0) + part(2.0), part(1.0) + part(2.0), part(2.0) * 2.0];
    for (line, wanted) in text.lines().zip(wanted) {
        let found: f64 = line.split(',').next().unwrap().parse().unwrap();
        assert!((found / wanted - 1.0).abs() < 1e-7, "{text}");
    }
    assert_eq!(text.lines().count(), 4);
}

#[test]
fn a_rod_on_a_grid_from_c99() {
    let text = run(&mut compile(["CC", "cc"], "examples/c/rod.c", &["-std=c99"]));
    let rate = (200.0 * (std::f64::consts::PI / 200.0).sin()).powi(2);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), 6, "{text}");
    for words in &lines[..5] {
        let (t, u): (f64, f64) = (words[2].trim_end_matches(':').parse().unwrap(), words[3].parse().unwrap());
        assert!((u - (-rate * t).exp()).abs() < 1e-5, "{text}");
    }
}

#[test]
fn kernels_of_a_program_from_c99() {
    let options = ["-std=c99", "-Wl,--no-as-needed,-l:libOpenCL.so.1"];
    assert_eq!(run(&mut compile(["CC", "cc"], "examples/c/opencl.c", &options)), "1 4 9 16\n");
}

#[test]
fn torsion_on_a_box_from_c99() {
    let text = run(&mut compile(["CC", "cc"], "examples/c/box.c", &["-std=c99"]));
    let words: Vec<&str> = text.split_whitespace().collect();
    // b^2/8 (1 - 32/pi^3 sum (-1)^k / ((2 k + 1)^3 cosh((2 k + 1) pi a / 2 b))) for sides a = 2, b = 1 (Timoshenko).
    assert!(
        words[0].parse::<usize>().unwrap() < 12 && (words[4].parse::<f64>().unwrap() - 0.113_872).abs() < 1e-5,
        "{text}"
    );
}

#[test]
fn all_devices_from_c99() {
    let text = run(&mut compile(["CC", "cc"], "examples/c/team.c", &["-std=c99"]));
    let words: Vec<&str> = text.split_whitespace().collect();
    // As above; the middle is a point of the grid.
    assert!((words[5].parse::<f64>().unwrap() - 0.073_671_3).abs() < 2e-6, "{text}");
}

#[test]
fn heat_on_a_tetrahedron() {
    let text = run(&mut compile(["CC", "cc"], "examples/c/heat.c", &["-std=c99"]));
    let words: Vec<&str> = text.split_whitespace().collect();
    let (iterations, difference): (usize, f64) = (words[0].parse().unwrap(), words[2].parse().unwrap());
    // 32 unknowns; the default tolerance of solves is far below.
    assert!(iterations < 32 && difference < 1e-7, "{text}");
}

#[test]
fn a_ball_is_thrown() {
    let text = run(&mut compile(["CC", "cc"], "examples/c/ball.c", &["-std=c99"]));
    // 8 / 9.81 and (8 + sqrt(64 + 2 9.81)) / 9.81.
    assert!(text.contains("highest at 0.815494 s") && text.contains("down at 1.747645 s"), "{text}");
    assert!(text.contains("1.0 s  4.095 m"), "{text}");
}

#[test]
fn events_from_cpp() {
    let text = run(&mut compile(["CXX", "c++"], "tests/capi/events.cpp", &["-std=c++11"]));
    assert!(text.ends_with("passed\n"), "{text}");
}

#[test]
fn poisson_from_cpp() {
    let mut program = compile(["CXX", "c++"], "examples/cpp/poisson.cpp", &["-std=c++11"]);
    let text = run(program.arg("129"));
    // The stencil's own error is about pi^2 h^2 / 12.
    let error: f64 = text.trim().rsplit(' ').next().unwrap().parse().unwrap();
    let expected = std::f64::consts::PI.powi(2) / 12.0 / 128.0_f64.powi(2);
    assert!((error / expected - 1.0).abs() < 0.1, "{text}");
}

#[test]
fn a_boundary_layer_on_a_box_from_cpp() {
    let text = run(&mut compile(["CXX", "c++"], "examples/cpp/box.cpp", &["-std=c++11"]));
    let errors: Vec<f64> = text.lines().map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect();
    // Of second order: a quarter of the error with twice the intervals.
    assert!(errors.len() == 2 && errors[1] < 1e-3 && (errors[0] / errors[1] - 4.0).abs() < 0.3, "{text}");
}

#[test]
fn matrix_market_system_from_cpp() {
    let mut program = compile(["CXX", "c++"], "examples/cpp/system.cpp", &["-std=c++11"]);
    let text = run(program.arg(root().join("tests/data/heat_sink.mtx")));
    assert!(text.starts_with("26794 x 26794, 181746 entries"), "{text}");
}

#[test]
fn finite_elements_from_cpp() {
    let text = run(compile(["CXX", "c++"], "examples/cpp/fem.cpp", &["-std=c++11"]).arg("20"));
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), 3, "{text}");
    for (words, source) in lines.iter().zip([1.0, 2.0, 5.0]) {
        // Of second order: 8.0e-6 at 60 rings.
        assert!(words[8].parse::<f64>().unwrap() < source * 9e-5 && words[4].parse::<usize>().unwrap() < 25, "{text}");
    }
}

#[test]
fn frequencies_of_an_l_shape_from_cpp() {
    let text = run(compile(["CXX", "c++"], "examples/cpp/eigen.cpp", &["-std=c++11"]).arg("32"));
    let found: Vec<f64> = text.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(found.len(), 3, "{text}");
    // 9.639723844 (Trefethen and Betcke 2006); the corner makes the error of order 4/3. The third mode is smooth: (2 sin(pi h / 2) / h)^2 twice.
    let third = 2.0 * (64.0 * (std::f64::consts::PI / 64.0).sin()).powi(2);
    assert!((found[0] / 9.639_723_844 - 1.0).abs() < 0.02 && (found[2] / third - 1.0).abs() < 1e-7, "{text}");
}

#[test]
fn several_right_hand_sides_from_cpp() {
    let text = run(compile(["CXX", "c++"], "examples/cpp/columns.cpp", &["-std=c++11"]).args(["64", "4"]));
    let words: Vec<&str> = text.split_whitespace().collect();
    let count =
        |after: &str| words[words.iter().position(|word| *word == after).unwrap() + 1].parse::<usize>().unwrap();
    let (one, all) = (count("call:"), count("each:"));
    assert!(0 < one && one < all && all <= 8 * one, "{text}");
    assert!(words.last().unwrap().parse::<f64>().unwrap() < 1e-6, "{text}");
}

#[test]
fn an_equation_on_a_grid_from_cpp() {
    let text = run(&mut compile(["CXX", "c++"], "examples/cpp/equation.cpp", &["-std=c++11"]));
    let half: f64 = text.split_whitespace().nth(4).unwrap().parse().unwrap();
    // log(2) / (a k) with the discrete k = (2 sin(pi h / 2) / h)^2.
    let k = (200.0 * (std::f64::consts::PI / 200.0).sin()).powi(2);
    assert!((half - 2_f64.ln() / (0.5 * k)).abs() < 2e-6, "{text}");
}

#[test]
fn heat_on_a_tetrahedron_from_cpp() {
    let text = run(&mut compile(["CXX", "c++"], "examples/cpp/heat.cpp", &["-std=c++11"]));
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words[0].parse::<usize>().unwrap() < 32 && words[3].parse::<f64>().unwrap() < 1e-7, "{text}");
}

#[test]
fn opencl_of_a_program_from_c99_with_sanitizers() {
    // The loader without the name that packages for development add.
    let options = [
        "-std=c99",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        "-Wl,--no-as-needed,-l:libOpenCL.so.1",
    ];
    let mut program = compile(["CC", "cc"], "tests/capi/opencl.c", &options);
    assert_eq!(run(program.env("ASAN_OPTIONS", "detect_leaks=0")), "passed\n");
}

#[test]
fn opencl_of_a_program_from_cpp() {
    let options = ["-std=c++17", "-Wl,--no-as-needed,-l:libOpenCL.so.1"];
    let mut program = compile(["CXX", "c++"], "tests/capi/opencl.cpp", &options);
    assert_eq!(run(&mut program), "passed\n");
}

#[test]
fn solvers_made_once_and_saddle_points_from_c99_with_sanitizers() {
    let sanitizers = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CC", "cc"], "tests/capi/solvers.c", &sanitizers);
    assert_eq!(run(program.env("ASAN_OPTIONS", "detect_leaks=0")), "passed\n");
}

#[test]
fn waves_from_c99_with_sanitizers() {
    let sanitizers = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CC", "cc"], "tests/capi/wave.c", &sanitizers);
    assert_eq!(run(program.env("ASAN_OPTIONS", "detect_leaks=0")), "passed\n");
}

#[test]
fn solvers_made_once_and_waves_from_cpp_with_sanitizers() {
    let sanitizers = ["-std=c++17", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CXX", "c++"], "tests/capi/solvers.cpp", &sanitizers);
    // The program writes a file.
    program.current_dir(env!("CARGO_TARGET_TMPDIR"));
    assert_eq!(run(program.env("ASAN_OPTIONS", "detect_leaks=0")), "passed\n");
}

#[test]
fn factorisations_from_c99_with_sanitizers() {
    let sanitizers = ["-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let mut program = compile(["CC", "cc"], "tests/capi/factorisation.c", &sanitizers);
    assert_eq!(run(program.env("ASAN_OPTIONS", "detect_leaks=0")), "passed\n");
}

#[test]
fn the_functions_of_the_page_are_exported_and_no_other() {
    let names = run(Command::new("nm").args(["-D", "--defined-only"]).arg(library().join("libclinalg.so")));
    let exported: BTreeSet<_> = names.lines().filter_map(|line| line.split_whitespace().last()).collect();
    let functions = functions();
    let wanted: BTreeSet<_> = functions.iter().filter_map(Function::c_name).collect();
    assert!(wanted.contains("clinalg_matrix_mv"));
    let different: Vec<_> = exported.symmetric_difference(&wanted).collect();
    assert!(different.is_empty(), "{different:?}");
}
