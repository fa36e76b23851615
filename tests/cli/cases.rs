//! Small inputs from public reports about this and other libraries, with their solutions. Each stands for a kind of fault; those of
//! binary files and of surfaces are among the tests of readers.

use super::*;

/// A MatrixMarket file of coordinates.
fn coordinates(kind: &str, rows: usize, cols: usize, entries: &[&str]) -> String {
    format!("%%MatrixMarket matrix coordinate {kind}\n{rows} {cols} {}\n{}\n", entries.len(), entries.join("\n"))
}

fn column(values: &[f64]) -> String {
    let lines: Vec<String> = values.iter().map(ToString::to_string).collect();
    format!("%%MatrixMarket matrix array real general\n{} 1\n{}\n", values.len(), lines.join("\n"))
}

/// Solves with a.mtx and b.mtx of the folder; the exit code, the report and x.
fn solved(folder: &tempfile::TempDir, rest: &str) -> (Done, Vec<f64>) {
    let x = folder.path().join("x.npy");
    let _ = std::fs::remove_file(&x);
    let _ = std::fs::remove_file(folder.path().join("x.mtx"));
    let done = words_in(folder.path(), &format!("solve a.mtx --out x.mtx --json {rest}"));
    let path = folder.path().join("x.mtx");
    let x = if path.exists() { reals(&path) } else { Vec::new() };
    (done, x)
}

/// The numbers of a MatrixMarket array, real and imaginary parts one after the other.
fn reals(path: &Path) -> Vec<f64> {
    let text = std::fs::read_to_string(path).expect("a file");
    let lines = text.lines().filter(|line| !line.starts_with('%')).skip(1);
    lines
        .flat_map(|line| line.split_whitespace().map(|word| word.parse().expect("a number")).collect::<Vec<_>>())
        .collect()
}

fn is_near(x: &[f64], expected: &[f64], tolerance: f64) -> bool {
    x.len() == expected.len() && x.iter().zip(expected).all(|(x, e)| (x - e).abs() <= tolerance)
}

#[test]
fn matrix_market_files_of_other_writers_were_refused() {
    if !device() {
        return;
    }
    let folder = folder();
    let ones = column(&[1.0; 3]);
    let free = "%%MatrixMarket   MATRIX  Coordinate\tREAL   General\r\n%c\r\n\r\n   3   3     4\r\n\r\n 1 1   12.\r\n2\t2\t.5\r\n\r\n   \
                3  3 +4\r\n% between\r\n1   3      -2.5E0\r\n\r\n   \r\n";
    let complex = "%%MatrixMarket matrix array complex general\n2 1\n8 1\n1 7\n";
    let unsigned = ["1 1 2", "1 2 1", "2 1 1", "2 2 2", "2 3 1", "3 2 1", "3 3 2"];
    for (name, a, b, x) in [
        // scipy/scipy#8271: SciPy writes this word.
        ("unsigned", coordinates("unsigned-integer general", 3, 3, &unsigned), ones, vec![0.5, 0.0, 0.5]),
        // scipy/scipy#9627: blanks, tabs, CR LF, mixed case.
        ("free", free.into(), column(&[9.5, 1.0, 4.0]), vec![1.0, 2.0, 1.0]),
        // ginkgo-project/ginkgo#1272: a zero on the diagonal of a skew-symmetric matrix.
        (
            "skew",
            coordinates("real skew-symmetric", 2, 2, &["1 1 0", "2 1 3", "2 2 0"]),
            column(&[3.0, 6.0]),
            vec![2.0, -1.0],
        ),
        // scipy/scipy#16119.
        (
            "skew array",
            "%%MatrixMarket matrix array real skew-symmetric\n2 2\n3\n".into(),
            column(&[3.0, 6.0]),
            vec![2.0, -1.0],
        ),
        // ORNL/HeCBench#226: the upper triangle.
        (
            "upper",
            coordinates("real symmetric", 2, 2, &["1 1 4", "1 2 1", "2 2 3"]),
            column(&[5.0, 4.0]),
            vec![1.0, 1.0],
        ),
        // JuliaSparse/MatrixMarket.jl#32: x = (1, i).
        (
            "Hermitian",
            coordinates("complex hermitian", 2, 2, &["1 1 6 0", "2 1 1 2", "2 2 5 0"]),
            complex.into(),
            vec![1.0, 0.0, 0.0, 1.0],
        ),
    ] {
        file(&folder, "a.mtx", &a);
        file(&folder, "b.mtx", &b);
        let (done, found) = solved(&folder, "--rhs b.mtx");
        assert!(done.code == 0 && is_near(&found, &x, 1e-12), "{name}: {found:?}, expected {x:?}\n{}", done.stderr);
    }
}

/// JuliaSparse/MatrixMarket.jl#37: headers of networkrepository.com.
#[test]
fn headers_that_are_no_matrix_market_name_their_line() {
    let folder = folder();
    for (text, needle) in [
        ("%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n2 1\n3 3\n", "a.mtx:1: no MatrixMarket file"),
        ("%%MatrixMarket matrix coordinate pattern symmetric\n3 3\n2 1\n", "a.mtx:2: the size line has 2 fields"),
    ] {
        file(&folder, "a.mtx", text);
        let done = words_in(folder.path(), "solve a.mtx");
        assert!(done.code == 5 && done.stderr.contains(needle), "{}: {}", done.code, done.stderr);
    }
}

#[test]
fn an_initial_guess_that_is_the_solution_was_lost() {
    if !device() {
        return;
    }
    let folder = folder();
    let entries = ["1 1 4", "1 2 1", "2 1 2", "2 2 5", "2 3 1", "3 2 1", "3 3 3"];
    file(&folder, "a.mtx", &coordinates("real general", 3, 3, &entries));
    let exact = [1.0, -2.0, 3.0];
    for (name, values) in [("b", [2.0, -5.0, 7.0]), ("x0", exact), ("far", [0.3; 3]), ("zero", [0.0; 3])] {
        file(&folder, &format!("{name}.mtx"), &column(&values));
    }
    for method in ["bicgstab", "gmres", "idrs", "lsmr", "lsqr", "richardson"] {
        let method = match method {
            "richardson" => "--method richardson --precond ilut".to_owned(),
            method => format!("--method {method} --precond none"),
        };
        // ginkgo-project/ginkgo#1025.
        let (done, x) = solved(&folder, &format!("--rhs b.mtx --x0 x0.mtx {method}"));
        let report = done.json();
        assert!(x == exact && number(&report, "iterations") == 0.0, "{method}: {x:?}");
        assert!(report["converged"] == true && number(&report, "relative_residual") == 0.0, "{method}: {report:#}");
        let (done, x) = solved(&folder, &format!("--rhs b.mtx --x0 far.mtx {method}"));
        assert!(done.code == 0 && is_near(&x, &exact, 1e-9), "{method}: {x:?}");
        // JuliaLinearAlgebra/IterativeSolvers.jl#202: b = 0 gave NaN; torchsparsegradutils#100: a tolerance of 0.
        for rest in ["", "--tol 0"] {
            let (done, x) = solved(&folder, &format!("--rhs zero.mtx --x0 x0.mtx {method} {rest}"));
            let report = done.json();
            assert!(x == [0.0; 3] && number(&report, "relative_residual") == 0.0, "{method} {rest}: {x:?}");
            assert!(done.code == 0 && report["converged"] == true, "{method} {rest}: {report:#}");
        }
    }
    // As far as rounding allows.
    let (done, x) = solved(&folder, "--rhs b.mtx --method gmres --tol 0");
    assert!(done.code == 0 && is_near(&x, &exact, 1e-14), "{x:?}: {}", done.stdout);
}

#[test]
fn least_squares_solutions_counted_as_solutions_of_the_system() {
    if !device() {
        return;
    }
    let folder = folder();
    file(&folder, "a.mtx", &coordinates("real general", 3, 2, &["1 1 1", "1 2 1", "2 1 1", "2 2 1", "3 1 1", "3 2 1"]));
    file(&folder, "b.mtx", &column(&[1.0, 2.0, 3.0]));
    file(&folder, "zero.mtx", &coordinates("real general", 5, 5, &[]));
    for method in ["lsmr", "lsqr"] {
        // The smallest of all x with x1 + x2 = 2; the residual is (-1, 0, 1).
        let (done, x) = solved(&folder, &format!("--rhs b.mtx --method {method}"));
        let residual = number(&done.json(), "relative_residual");
        assert!(
            is_near(&x, &[1.0, 1.0], 1e-12) && (residual - (2.0_f64 / 14.0).sqrt()).abs() < 1e-12,
            "{method}: {x:?}"
        );
        let text = words_in(folder.path(), &format!("solve a.mtx --rhs b.mtx --method {method}")).fine();
        assert!(text.contains("converged to a least-squares solution"), "{text}");
        let text = words_in(folder.path(), &format!("solve zero.mtx --rhs ones --method {method} --out z.mtx")).fine();
        assert!(
            text.contains("converged to a least-squares solution") && text.contains("residual       1, "),
            "{text}"
        );
        assert_eq!(reals(&folder.path().join("z.mtx")), [0.0; 5]);
    }
    let done = words_in(folder.path(), "solve zero.mtx --method cg");
    assert!(done.code == 2 && done.stderr.contains("row 1 (counted from 1) has only zeros"), "{}", done.stderr);
}

#[test]
fn conjugate_gradients_believed_their_recurrence() {
    if !device() {
        return;
    }
    let folder = folder();
    // cupy/cupy#7512: the condition number is 4e5, more than single precision has digits for.
    let n = 1000_usize;
    let entries: Vec<String> =
        (1..=n).flat_map(|i| [format!("{i} {i} 2"), format!("{} {i} -1", i + 1)]).take(2 * n - 1).collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    file(&folder, "a.mtx", &coordinates("real symmetric", n, n, &entries));
    let (done, x) = solved(&folder, "--precision f32 --method cg --precond none --tol 1e-5");
    let report = done.json();
    let at = |i: usize| x.get(i).copied().unwrap_or(0.0);
    let residual = |i: usize| 1.0 - 2.0 * x[i] + if i == 0 { 0.0 } else { at(i - 1) } + at(i + 1);
    let found = (0..n).map(|i| residual(i).powi(2)).sum::<f64>().sqrt() / (n as f64).sqrt();
    let said = number(&report, "relative_residual");
    assert!(said / found < 2.0 && found / said < 2.0, "{said} for {found}");
    assert!((report["converged"] == true) == (found <= 1e-5), "{report:#}");
    // A is not singular.
    let words = report["singularity"].as_str().unwrap_or_default();
    assert!(words.is_empty() || words.contains("f64 tells whether A is singular"), "{words}");
    // By formula x_i = i (1001 - i) / 2 in double precision.
    let (_, x) = solved(&folder, "--method cg --precond none");
    let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    assert!((length / 2_893_973.64 - 1.0).abs() < 1e-8, "{length}");
}

#[test]
fn multigrid_of_a_diagonal_matrix_had_no_aggregates() {
    if !device() {
        return;
    }
    let folder = folder();
    // ddemidov/amgcl#93.
    let entries: Vec<String> = (0..5000).map(|i| format!("{0} {0} {1}", i + 1, 1 + (i + 1) % 7)).collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    file(&folder, "a.mtx", &coordinates("real symmetric", 5000, 5000, &entries));
    let exact: Vec<f64> = (0..5000).map(|i| 1.0 / f64::from(1 + (i + 1) % 7)).collect();
    for precond in ["amg", "sa", "classical"] {
        for method in ["", "--method richardson"] {
            let (done, x) = solved(&folder, &format!("--precond {precond} {method}"));
            assert!(done.code == 0 && number(&done.json(), "iterations") <= 2.0, "{precond} {method}");
            assert!(is_near(&x, &exact, 1e-9), "{precond} {method}");
        }
    }
}

#[test]
fn a_negative_definite_matrix_was_taken_for_an_indefinite_one() {
    if !device() {
        return;
    }
    let folder = folder();
    // ddemidov/amgcl#31: the Laplacian of 60 x 60 points with the other sign, and with the usual one.
    let solve_with = |sign: f64, rest: &str| {
        let mut entries = Vec::new();
        for k in 0..3600_usize {
            entries.push(format!("{0} {0} {1}", k + 1, 4.0 * sign));
            if k % 60 != 59 {
                entries.push(format!("{} {} {}", k + 2, k + 1, -sign));
            }
            if k + 60 < 3600 {
                entries.push(format!("{} {} {}", k + 61, k + 1, -sign));
            }
        }
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        file(&folder, "a.mtx", &coordinates("real symmetric", 3600, 3600, &entries));
        let (done, x) = solved(&folder, rest);
        assert_eq!(done.code, 0, "{sign} {rest}: {}", done.stderr);
        (done.json(), x)
    };
    for rest in ["", "--method cg --precond ic", "--method block-cg --precond amg", "--method minres --precond jacobi"]
    {
        let (of_negative, x) = solve_with(-1.0, rest);
        let (report, positive) = solve_with(1.0, rest);
        assert_eq!([&of_negative["method"], &of_negative["precond"]], [&report["method"], &report["precond"]]);
        assert_eq!(number(&of_negative, "iterations"), number(&report, "iterations"), "{rest}");
        assert!(x.iter().zip(&positive).all(|(x, y)| *x == -y), "{rest}");
        let [least, most] = [f64::min, f64::max].map(|f: fn(f64, f64) -> f64| x.iter().copied().reduce(f).unwrap());
        // By SciPy.
        assert!((least + 273.948_113).abs() < 1e-5 && (most + 2.435_016).abs() < 1e-5, "{rest}: {least} to {most}");
    }
}

#[test]
fn complex_symmetric_and_indefinite_matrices_were_solved_as_definite_ones() {
    if !device() {
        return;
    }
    let folder = folder();
    // scipy/scipy#16979: x = (1, 1).
    file(&folder, "a.mtx", &coordinates("complex symmetric", 2, 2, &["1 1 2 1", "2 1 0 1", "2 2 3 0"]));
    file(&folder, "b.mtx", "%%MatrixMarket matrix array complex general\n2 1\n2 2\n3 1\n");
    let (done, x) = solved(&folder, "--rhs b.mtx");
    assert!(done.code == 0 && is_near(&x, &[1.0, 0.0, 1.0, 0.0], 1e-12), "{x:?}");
    for method in ["cg", "minres"] {
        let (done, x) = solved(&folder, &format!("--rhs b.mtx --method {method}"));
        assert!(done.code != 0 || is_near(&x, &[1.0, 0.0, 1.0, 0.0], 1e-8), "{method}: {x:?}");
    }
    // cupy/cupy#6938: b' A b = -2 in the first step; x = (-1, 1).
    file(&folder, "a.mtx", &coordinates("real symmetric", 2, 2, &["1 1 1", "2 1 2", "2 2 1"]));
    file(&folder, "b.mtx", &column(&[1.0, -1.0]));
    let (done, x) = solved(&folder, "--rhs b.mtx");
    assert!(done.code == 0 && is_near(&x, &[-1.0, 1.0], 1e-12), "{x:?}");
    assert_eq!(done.json()["failed_method"], "cg");
    let (done, _) = solved(&folder, "--rhs b.mtx --method cg");
    assert_eq!((done.code, &done.json()["stop"]), (1, &"indefinite".into()));
}

#[test]
fn rows_without_a_diagonal_were_read_wrongly() {
    if !device() {
        return;
    }
    let folder = folder();
    // ddemidov/amgcl#193.
    file(&folder, "a.mtx", &coordinates("real general", 3, 3, &["1 2 2", "2 1 3", "3 3 5"]));
    file(&folder, "b.mtx", &column(&[2.0, 3.0, 5.0]));
    let preconditioners = ["none", "jacobi", "ilu", "ilut", "ssor", "spai0", "amg", "sa", "classical"];
    for precond in preconditioners {
        let (done, x) = solved(&folder, &format!("--rhs b.mtx --precond {precond}"));
        match done.code {
            0 => assert!(is_near(&x, &[1.0; 3], 1e-9), "{precond}: {x:?}"),
            code => assert!(code < 3, "{precond}: {}", done.stderr),
        }
        if ["jacobi", "ssor", "amg"].contains(&precond) {
            assert!(done.stderr.contains("row 1"), "{precond}: {}", done.stderr);
        }
    }
    file(&folder, "a.mtx", &coordinates("real general", 1, 1, &["1 1 -3"]));
    file(&folder, "b.mtx", &column(&[6.0]));
    for method in ["cg", "fcg", "minres", "bicgstab", "gmres", "idrs", "lsqr", "lsmr"] {
        for precond in ["none", "jacobi", "ilut", "amg", "fsai"] {
            let (done, x) = solved(&folder, &format!("--rhs b.mtx --method {method} --precond {precond}"));
            match done.code {
                0 => assert!(is_near(&x, &[-2.0], 1e-9), "{method}, {precond}: {x:?}"),
                code => assert!(code == 2 && !done.stderr.is_empty(), "{method}, {precond}: {code} {}", done.stderr),
            }
        }
    }
}

#[test]
fn a_box_without_boundary_values_drifted() {
    if !device() {
        return;
    }
    let folder = folder();
    let out = folder.path().join("u.csv");
    // hypre-space/hypre#177: the scheme divides by (2 sin(pi h / 2) / h)^2.
    let h = 1.0 / 8.0_f64;
    let amplitude = h * h / (4.0 * (std::f64::consts::PI * h / 2.0).sin().powi(2));
    let done = run_in(
        folder.path(),
        &["poisson", "--points", "9x9", "--sides", "all=neumann", "--f", "cos(pi*x)", "--out", "u.csv", "--json"],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(number(&done.json(), "imbalance").abs() < 1e-14);
    for line in std::fs::read_to_string(&out).expect("a table").lines().skip(1) {
        let values: Vec<f64> = line.split(',').map(|word| word.parse().expect("a number")).collect();
        let expected = amplitude * (std::f64::consts::PI * values[0]).cos();
        assert!((values[2] - expected).abs() < 1e-10, "{line}: {expected}");
    }
    let done = words_in(folder.path(), "poisson --points 9x9 --sides all=neumann --f 1");
    assert!(done.code == 2 && done.stderr.contains("out of balance by 1 of the sum"), "{}", done.stderr);
}

#[test]
fn systems_of_equations_at_the_edge_of_their_domain_failed() {
    if !device() {
        return;
    }
    let folder = folder();
    let solve = |text: &str, rest: &str| {
        file(&folder, "s.ode", text);
        let done = words_in(folder.path(), &format!("ode s.ode --out y.mtx --json {rest}"));
        assert_eq!(done.code, 0, "{text} {rest}: {}", done.stderr);
        (done.json(), reals(&folder.path().join("y.mtx")))
    };
    // scipy/scipy#9228: three zeros of a cubic that a method of order 5 solves exactly.
    let (report, _) = solve("event = y\ny' = 3*t^2 + 12*t - 4\ninitial y = -120\ntime -8 4", "");
    let times: Vec<f64> = report["events"].as_array().expect("events").iter().map(|e| number(e, "t")).collect();
    assert!(is_near(&times, &[-6.0, -2.0, 2.0], 1e-9), "{times:?}");
    // patrick-kidger/diffrax#563: nothing is evaluated at t = 0.
    let (_, y) = solve("y' = y/t\ninitial y = 1\ntime 1 3", "--rtol 1e-8");
    assert!(is_near(&y, &[3.0], 1e-7), "{y:?}");
    // quokka-astro/quokka#2065: 0 / 0 where a component and the absolute tolerance are 0.
    let zeros = "y' = 1\nz' = 0\ninitial y = 0\ninitial z = 0\ntime 0 1";
    for rest in ["", "--atol 0", "--norm max", "--norm max --atol 0"] {
        let (report, y) = solve(zeros, rest);
        assert!(is_near(&y, &[1.0, 0.0], 1e-12) && number(&report, "steps") < 50.0, "{rest}: {y:?}");
    }
    // patrick-kidger/diffrax#488.
    let (report, y) = solve(zeros, "--t-end 0 --series s.csv");
    assert!(y == [0.0, 0.0] && number(&report, "t") == 0.0, "{report:#}");
    // One millisecond is below the spacing of floats times a million.
    let (_, y) = solve("y' = 1\ninitial y = 0\ntime 1.7e12 1700000000010", "");
    assert!(is_near(&y, &[10.0], 1e-9), "{y:?}");
}

/// PoCL added the sums of rows that several items share once per item where a loop with barriers did not end with one: residuals of all
/// solves were wrong with the kernels for GPUs.
#[test]
fn sums_behind_the_last_barrier_of_a_loop_were_added_several_times() {
    if !device() {
        return;
    }
    let folder = folder();
    // Few rows of any length; a row that spans several work-groups; rows of one length that several items share.
    let few = ["1 1 4", "1 2 1", "2 1 1", "2 2 5", "2 3 1", "3 2 1", "3 3 3"].map(str::to_owned).to_vec();
    let arrow = (1..=4000).map(|i| format!("{i} {i} {}", if i == 1 { 5000 } else { 2 }));
    let arrow = arrow.chain((2..=4000).map(|i| format!("{i} 1 1"))).collect();
    let dense = (1..=90).flat_map(|i| (1..=i).map(move |j| format!("{i} {j} {}", if i == j { 100.0 } else { 0.5 })));
    for (kind, n, entries) in
        [("general", 3, few), ("symmetric", 4000, arrow), ("symmetric", 90, dense.collect::<Vec<String>>())]
    {
        let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
        file(&folder, "a.mtx", &coordinates(&format!("real {kind}"), n, n, &entries));
        let mut command = program();
        command.current_dir(folder.path()).args(["solve", "a.mtx", "--method", "cg", "--precond", "none", "--json"]);
        command.env("CLINALG_KERNEL_FAMILY", "gpu").env("POCL_WORK_GROUP_METHOD", "loops");
        let done = finish(&mut command);
        let report = done.json();
        let first = report["residual_history"][0].as_f64().expect("a history");
        assert!(done.code == 0 && (first - 1.0).abs() < 1e-12, "{n}: {first}\n{}", done.stderr);
    }
}
