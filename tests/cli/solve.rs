//! `clinalg solve`: checkpoints, complex systems and saddle points.

use clinalg::Complex;

use super::*;

fn inside(folder: &Path, line: &str) -> Done {
    finish(program().current_dir(folder).args(line.split_whitespace()))
}

/// -Laplace u on n x n points, or on n points of a line.
pub(super) fn laplace(n: usize, plane: bool) -> String {
    let count = if plane { n * n } else { n };
    let mut lines = Vec::new();
    for k in 0..count {
        lines.push(format!("{0} {0} {1}", k + 1, if plane { 4 } else { 2 }));
        if k % n > 0 {
            lines.push(format!("{} {k} -1", k + 1));
        }
        if k >= n {
            lines.push(format!("{} {} -1", k + 1, k + 1 - n));
        }
    }
    format!("%%MatrixMarket matrix coordinate real symmetric\n{count} {count} {}\n{}\n", lines.len(), lines.join("\n"))
}

/// The names of a text are those of the options, whose values come first.
#[test]
fn a_solver_by_one_text_is_that_of_the_options() {
    if !device() {
        return;
    }
    let folder = folder();
    file(&folder, "a.mtx", &laplace(20, true));
    let solved = |line: &str| inside(folder.path(), &format!("solve a.mtx --json {line}")).json();
    let of = |report: &serde_json::Value| {
        let keys = ["method", "precond", "tolerance", "iterations", "restart", "residual_history"];
        keys.map(|key| report[key].clone())
    };
    for (text, options) in [
        ("cg,amg,tol=1e-6", "--method cg --precond amg --tol 1e-6"),
        ("max-iterations=3,gmres,none,restart=2", "--method gmres --precond none --restart 2 --max-iterations 3"),
        ("idrs,idr-dimension=2,auto", "--method idrs --idr-dimension 2"),
    ] {
        assert_eq!(of(&solved(&format!("--solver {text}"))), of(&solved(options)), "{text}");
    }
    let (text, option) = (solved("--solver cg,ic,tol=1e-3 --tol 1e-9"), solved("--method cg --precond ic --tol 1e-9"));
    assert_eq!(of(&text), of(&option));
    for (text, needle) in [
        ("cq", "cg, block-cg, fcg"),
        ("cg,tol=2", "above 0 and below 1"),
        ("cg,gmres", "one method"),
        ("cg,cg", "a text with a second method, `cg`, expected one method"),
    ] {
        let done = inside(folder.path(), &format!("solve a.mtx --solver {text}"));
        assert!(done.code == 2 && done.stderr.contains(needle), "{text}: {}", done.stderr);
    }
    // One parser has the names of the other.
    for (text, _) in clinalg::automatic::SolverText::METHODS {
        let done =
            inside(folder.path(), &format!("solve a.mtx --method {text} --max-iterations 1 --precond none --quiet"));
        assert!(!done.stderr.contains("invalid value"), "{text}: {}", done.stderr);
    }
    for (text, _) in clinalg::automatic::SolverText::PRECONDITIONERS {
        let done = inside(folder.path(), &format!("solve a.mtx --precond {text} --max-iterations 1 --quiet"));
        assert!(!done.stderr.contains("invalid value"), "{text}: {}", done.stderr);
    }
}

/// A matrix of 90 rows and 40 columns.
fn rectangle() -> String {
    let entry = |i: usize, j: usize, value: f64| format!("{} {} {value}\n", i + 1, j + 1);
    let lines = (0..90).map(|i| entry(i, i % 40, 2.0 + (i % 7) as f64) + &entry(i, (i * 7 + 3) % 40, 1.0));
    format!("%%MatrixMarket matrix coordinate real general\n90 40 180\n{}", lines.collect::<String>())
}

/// Ended twice, the second time in a run that went on, against a run that was not; for several right-hand sides and from an x0 too.
#[test]
fn a_solve_goes_on_from_its_checkpoint() {
    if !device() {
        return;
    }
    let folder = folder();
    file(&folder, "spd.mtx", &laplace(20, true));
    file(&folder, "upwind.mtx", &upwind(20, 30.0));
    file(&folder, "rectangle.mtx", &rectangle());
    // BiCGStab cannot begin: GMRES takes over.
    let skew: String = (1..60).map(|i| format!("{} {i} {}\n", i + 1, 1.0 + f64::from(i) / 7.0)).collect();
    file(&folder, "skew.mtx", &format!("%%MatrixMarket matrix coordinate real skew-symmetric\n60 60 59\n{skew}"));
    file(&folder, "turned.mtx", &turned(80));
    let numbers = |count: usize| (0..count).map(|k| format!("{}\n", (k as f64).sin())).collect::<String>();
    file(&folder, "b.mtx", &format!("%%MatrixMarket matrix array real general\n400 2\n{}", numbers(800)));
    file(&folder, "b60.mtx", &format!("%%MatrixMarket matrix array real general\n60 2\n{}", numbers(120)));
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("written");
    for (line, gives_up) in [
        ("spd.mtx --method cg --precond none", false),
        ("spd.mtx --method fcg --precond ssor", false),
        ("spd.mtx --method minres --precond jacobi --precision f32", false),
        ("spd.mtx --rhs b.mtx --x0 b.mtx --method cg --precond ic", false),
        ("upwind.mtx --method bicgstab --precond none --rhs random", false),
        ("upwind.mtx --method idrs --precond none", false),
        ("upwind.mtx --method gmres --restart 9 --precond none", false),
        ("rectangle.mtx --method lsqr", false),
        ("rectangle.mtx --method lsmr --precond jacobi", false),
        ("turned.mtx --method cg --precond none", false),
        ("turned.mtx --method bicgstab --precond jacobi --rhs random", false),
        ("skew.mtx --rhs b60.mtx --precond none", true),
    ] {
        let straight = inside(folder.path(), &format!("solve {line} --out straight.npy --json")).json();
        assert_eq!(
            (straight["failed_method"].is_null(), straight["checkpoint"].is_null()),
            (!gives_up, true),
            "{line}"
        );
        let limit = "--checkpoint c.npz --json --max-iterations";
        let some = inside(folder.path(), &format!("solve {line} {limit} 4"));
        assert_eq!((some.code, &some.json()["checkpoint"]), (1, &"c.npz".into()), "{line}: {}", some.stdout);
        let more = inside(folder.path(), "solve --resume c.npz --max-iterations 9 --checkpoint c.npz --json").json();
        assert_eq!(more["checkpoint"], "c.npz", "{line}: {more:#}");
        let all = "solve --resume c.npz --max-iterations 10000 --out resumed.npy --json";
        let resumed = inside(folder.path(), all).json();
        for key in ["method", "failed_method", "stop", "iterations", "residual_history", "columns"] {
            assert_eq!(resumed[key], straight[key], "{line}: {key}");
        }
        assert!(number(&straight, "iterations") > 9.0 && straight["converged"] == true, "{line}: {straight:#}");
        assert!(read("resumed.npy") == read("straight.npy"), "{line}");
    }
    for (other, needle) in [
        ("--rhs ones", "--rhs has other values"),
        ("--method gmres", "a run without --method, but is continued with --method gmres;"),
        ("--precond ilut", "a run with --precond none, but is continued with --precond ilut;"),
        ("--precision f32", "a run with --precision f64, but is continued with --precision f32;"),
    ] {
        let done = inside(folder.path(), &format!("solve --resume c.npz {other}"));
        assert!(done.code == 2 && done.stderr.contains(needle), "{other}: {}", done.stderr);
    }
    file(
        &folder,
        "skew.mtx",
        &format!("%%MatrixMarket matrix coordinate real skew-symmetric\n60 60 59\n{skew}")
            .replace("8 7 2\n", "8 7 3\n"),
    );
    let done = inside(folder.path(), "solve --resume c.npz");
    assert!(done.code == 2 && done.stderr.contains("the matrix has other values"), "{}", done.stderr);
}

#[cfg(unix)]
#[test]
fn an_interrupted_solve_leaves_a_checkpoint() {
    if !device() {
        return;
    }
    let folder = folder();
    file(&folder, "line.mtx", &laplace(100_000, false));
    let line = "solve line.mtx --method minres --precond none --max-iterations 1000000 --json";
    let interrupted = |millis: u64| {
        let mut command = program();
        command.current_dir(folder.path()).args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command.stdin(Stdio::null()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(millis));
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
        assert!(sent.success());
        let out = child.wait_with_output().expect("it ends");
        // 130 where set-up went on.
        assert!(matches!(out.status.code(), Some(1 | 130)), "{}", out.status);
        serde_json::from_slice::<Value>(&out.stdout).ok()
    };
    // Where set-up took longer, nothing was iterated and nothing kept.
    let reports = [1500, 4000, 12_000].into_iter().filter_map(interrupted);
    let report = reports.into_iter().find(|report| number(report, "iterations") > 0.0);
    let report = report.expect("one is ended in the middle");
    assert_eq!((&report["checkpoint"], &report["stop"]), (&"clinalg-solve-checkpoint.npz".into(), &"cancelled".into()));
    let limit = number(&report, "iterations") + 20.0;
    let rest = format!("--max-iterations {limit}");
    inside(folder.path(), &format!("solve --resume clinalg-solve-checkpoint.npz {rest} --out resumed.npy"));
    inside(folder.path(), &format!("{line} {rest} --out straight.npy").replace("--max-iterations 1000000", ""));
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).expect("written");
    assert!(bytes("resumed.npy") == bytes("straight.npy"));
}

/// Of n points of a line, the entry of the row i and the column i - 1 turned by 0.6: D L D* with L = -u'' and D = diag(exp(0.6 i k)).
fn turned(n: usize) -> String {
    let (im, re) = 0.6_f64.sin_cos();
    let mut lines: Vec<String> = (1..=n).map(|k| format!("{k} {k} 2 0")).collect();
    lines.extend((2..=n).map(|k| format!("{k} {} {} {}", k - 1, -re, -im)));
    format!("%%MatrixMarket matrix coordinate complex hermitian\n{n} {n} {}\n{}\n", lines.len(), lines.join("\n"))
}

/// A vector as a MatrixMarket file.
fn vector(values: impl Iterator<Item = Complex<f64>>) -> String {
    let lines: Vec<String> = values.map(|v| format!("{:e} {:e}\n", v.re, v.im)).collect();
    format!("%%MatrixMarket matrix array complex general\n{} 1\n{}", lines.len(), lines.concat())
}

fn complex_array(path: &Path) -> Vec<Complex<f64>> {
    let text = std::fs::read_to_string(path).expect("written");
    let mut lines = text.lines().filter(|line| !line.starts_with('%'));
    assert!(text.starts_with("%%MatrixMarket matrix array complex general") && lines.next().is_some());
    let number = |word: Option<&str>| word.expect("two numbers").parse::<f64>().expect("a number");
    lines
        .map(|line| {
            let mut words = line.split_whitespace();
            Complex::new(number(words.next()), number(words.next()))
        })
        .collect()
}

fn largest_difference(a: &[Complex<f64>], b: impl Iterator<Item = Complex<f64>>) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// Closed forms: -u'' = 1 turned, and an eigenvector of -u'' + i sigma u.
#[test]
fn complex_systems_have_their_closed_forms() {
    if !device() {
        return;
    }
    let folder = folder();
    let n = 1200;
    file(&folder, "a.mtx", &turned(n));
    let unit = |k: usize| Complex::from_polar(1.0, 0.6 * k as f64);
    file(&folder, "b.mtx", &vector((1..=n).map(unit)));
    let x = || (1..=n).map(|k| unit(k) * (0.5 * k as f64 * (n + 1 - k) as f64));
    for (line, method, precond) in [
        ("", "cg", "ic"),
        ("--method minres --precond jacobi", "minres", "jacobi"),
        ("--method fcg --precond ssor", "fcg", "ssor"),
        ("--method gmres --precond ilu", "gmres", "ilu"),
        ("--method cg --precond amg", "cg", "amg"),
        ("--solver fcg,sa", "fcg", "sa"),
    ] {
        let line = format!("solve a.mtx --rhs b.mtx --out x.mtx --tol 1e-12 --json {line}");
        let report = inside(folder.path(), &line).json();
        assert_eq!((&report["method"], &report["precond"]), (&method.into(), &precond.into()), "{line}");
        assert!(report["symmetric"] == true && report["complex"] == true, "{report:#}");
        let (found, largest) = (complex_array(&folder.path().join("x.mtx")), 0.125 * (n * n) as f64);
        let error = largest_difference(&found, x()) / largest;
        assert!(found.len() == n && error < 1e-7, "{line}: {error:e}");
    }
    let n = 200;
    let lines: String = (1..=n)
        .map(|k| format!("{k} {k} 2 0.3\n") + &if k > 1 { format!("{k} {} -1 0\n", k - 1) } else { String::new() })
        .collect();
    let entries = 2 * n - 1;
    file(&folder, "s.mtx", &format!("%%MatrixMarket matrix coordinate complex symmetric\n{n} {n} {entries}\n{lines}"));
    let angle = 7.0 * std::f64::consts::PI / (n + 1) as f64;
    let sine = move |k: usize| Complex::new((angle * k as f64).sin(), 0.0);
    file(&folder, "v.mtx", &vector((1..=n).map(sine)));
    let eigenvalue = Complex::new(2.0 - 2.0 * angle.cos(), 0.3);
    for (rest, tolerance) in [
        ("", 1e-9),
        ("--method gmres --precond ilut", 1e-9),
        ("--method idrs --precond spai0", 1e-9),
        ("--precision f32", 1e-3),
    ] {
        let line = format!("solve s.mtx --rhs v.mtx --out x.mtx --json {rest}");
        let report = inside(folder.path(), &line).json();
        assert!(report["converged"] == true && report["symmetric"] == false, "{line}: {report:#}");
        let error =
            largest_difference(&complex_array(&folder.path().join("x.mtx")), (1..=n).map(|k| sine(k) / eigenvalue));
        assert!(error < tolerance, "{line}: {error:e}");
    }
    for (line, needle) in [
        ("solve a.mtx --precond classical", "use amg"),
        ("solve a.mtx --precond amg --smoother gauss-seidel", "spai0 for a complex matrix"),
        ("solve s.mtx --method minres", "Hermitian"),
        ("solve s.mtx --precond ic", "use ilu or ilut"),
    ] {
        let done = inside(folder.path(), line);
        assert!(done.code == 2 && done.stderr.contains(needle), "{line}: {}", done.stderr);
    }
    let done = inside(folder.path(), "solve s.mtx --method cg --max-iterations 1");
    assert!(done.stderr.contains("is not Hermitian"), "{}", done.stderr);
}

/// Complex files that SciPy and Octave wrote, with the solution that NumPy wrote in single precision; a real matrix with a complex b.
#[test]
fn complex_files_of_scipy_and_octave() {
    if !device() {
        return;
    }
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/formats");
    let path = |name: &str| data.join(name).display().to_string();
    let folder = folder();
    for (matrix, rhs, kind) in [
        ("complex.npz", "complex_b.npy", "mtx"),
        ("complex.mat", "complex.mat", "npy"),
        ("complex_octave.mat", "complex_octave.mat", "mat"),
        ("complex.npz", "complex_octave.mat", "npy"),
        ("csr.npz", "complex_b.npy", "npy"),
        ("complex.mat", "b.npy", "mat"),
        ("v73_complex.mat", "v73_complex.mat", "npy"),
        ("v73_complex.mat", "v73.mat", "mat"),
    ] {
        let line = format!("solve {} --rhs {} --json", path(matrix), path(rhs));
        let report = inside(folder.path(), &format!("{line} --out x.{kind} --tol 1e-12")).json();
        assert!(report["complex"] == true && report["converged"] == true, "{line}: {report:#}");
        assert_eq!((report["nnz"].as_u64(), report["columns"].as_array().map(Vec::len)), (Some(32), Some(2)), "{line}");
        let mut starts = vec![(format!("x.{kind}"), 1e-10)];
        if matrix.contains("complex") && rhs.contains("complex") {
            starts.push((path("complex_x.npy"), 1e-6));
        }
        for (start, most) in starts {
            let again = inside(folder.path(), &format!("{line} --x0 {start} --max-iterations 0")).json();
            assert!(number(&again, "relative_residual") < most, "{line} {start}: {again:#}");
        }
    }
}

/// The equations of Stokes between n x n cells of a square by markers and cells, enclosed; with `fixed` the last pressure has an entry of its own.
fn stokes(n: usize, fixed: bool) -> String {
    let half = n * (n - 1);
    let mut lines = Vec::new();
    let mut entry = |i: usize, j: usize, value: i32| lines.push(format!("{} {} {value}", i + 1, j + 1));
    for j in 0..n {
        for i in 0..n {
            // Of u along x and v along y: the number, the position along and across, neighbours, the cells.
            let (u, v, p) = (j * (n - 1) + i, half + j * n + i, 2 * half + j * n + i);
            for (at, along, across, steps, next) in [(u, i, j, [1, n - 1], p + 1), (v, j, i, [n, 1], p + n)] {
                if along + 1 == n {
                    continue;
                }
                entry(at, at, 4 + i32::from(across == 0) + i32::from(across + 1 == n));
                if along > 0 {
                    entry(at, at - steps[0], -1);
                }
                if across > 0 {
                    entry(at, at - steps[1], -1);
                }
                entry(p, at, 1);
                entry(next, at, -1);
            }
        }
    }
    let size = 2 * half + n * n;
    if fixed {
        entry(size - 1, size - 1, -1);
    }
    format!("%%MatrixMarket matrix coordinate real symmetric\n{size} {size} {}\n{}\n", lines.len(), lines.join("\n"))
}

#[test]
fn saddle_points_are_solved_by_default() {
    if !device() {
        return;
    }
    let folder = folder();
    let n = 32;
    let size = 2 * n * (n - 1) + n * n;
    file(&folder, "fixed.mtx", &stokes(n, true));
    file(&folder, "free.mtx", &stokes(n, false));
    for (line, method) in [
        ("fixed.mtx", "minres"),
        ("free.mtx", "minres"),
        ("free.mtx --rhs random", "minres"),
        ("fixed.mtx --method gmres --restart 60", "gmres"),
    ] {
        let done = inside(folder.path(), &format!("solve {line} --json"));
        let report = done.json();
        assert_eq!((&report["method"], &report["precond"]), (&method.into(), &"saddle".into()), "{line}");
        assert!(report["converged"] == true && number(&report, "iterations") < 110.0, "{line}: {report:#}");
        assert_eq!(report["null_part_removed"], line.starts_with("free"), "{line}");
        assert_eq!(done.stderr.contains("removed the component"), line.starts_with("free"), "{line}: {}", done.stderr);
    }
    // b = K x for a chosen x has a solution, another b none.
    let column = |values: Vec<f64>| {
        let text: String = values.iter().map(|v| format!("{v:e}\n")).collect();
        format!("%%MatrixMarket matrix array real general\n{size} 1\n{text}")
    };
    let text = stokes(n, false);
    let chosen: Vec<f64> = (0..size).map(|k| (k as f64 * 0.37).sin()).collect();
    let mut b = vec![0.0; size];
    for line in text.lines().skip(2) {
        let words: Vec<f64> = line.split(' ').map(|word| word.parse().expect("a number")).collect();
        let (i, j) = (words[0] as usize - 1, words[1] as usize - 1);
        b[i] += words[2] * chosen[j];
        if i != j {
            b[j] += words[2] * chosen[i];
        }
    }
    file(&folder, "b.mtx", &column(b.clone()));
    inside(folder.path(), "solve free.mtx --rhs b.mtx --out x.mtx --tol 1e-11").fine();
    let x = array(&folder.path().join("x.mtx"));
    let velocities = 2 * n * (n - 1);
    let mean = (velocities..size).map(|k| x[k] - chosen[k]).sum::<f64>() / (n * n) as f64;
    let shift = |k: usize| if k < velocities { 0.0 } else { mean };
    let error = (0..size).map(|k| (x[k] - chosen[k] - shift(k)).abs()).fold(0.0, f64::max);
    assert!(error < 1e-6, "{error:e}");
    b[size - 1] += 1.0;
    file(&folder, "c.mtx", &column(b));
    for (line, needle) in [
        ("solve free.mtx --rhs c.mtx", "subtract its mean"),
        ("solve fixed.mtx --method cg --precond saddle", "use minres, or gmres"),
    ] {
        let done = inside(folder.path(), line);
        assert!(done.code == 2 && done.stderr.contains(needle), "{line}: {}", done.stderr);
    }
    let line = file(&folder, "line.mtx", &laplace(10, false));
    let done = words(&format!("solve {line} --precond saddle"));
    assert!(done.code == 2 && done.stderr.contains("needs a saddle point"), "{}", done.stderr);
}

/// A chain of `n` nodes whose k-th is row 7 k mod n, with 2 on the diagonal; without conditions at its ends where `free`.
fn chain(n: usize, free: bool) -> String {
    let row = |k: usize| 7 * k % n + 1;
    let own = |k: usize| if free && (k == 0 || k + 1 == n) { 1 } else { 2 };
    let mut lines: Vec<_> = (0..n).map(|k| format!("{0} {0} {1}", row(k), own(k))).collect();
    lines.extend((1..n).map(|k| format!("{} {} -1", row(k).max(row(k - 1)), row(k).min(row(k - 1)))));
    format!("%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {}\n{}\n", lines.len(), lines.join("\n"))
}

#[test]
fn another_numbering_is_undone_in_the_solution() {
    if !device() {
        return;
    }
    let folder = folder();
    let n = 1201;
    file(&folder, "a.mtx", &chain(n, false));
    let solve = |rest: &str| {
        let report = inside(folder.path(), &format!("solve a.mtx --tol 1e-10 --json {rest}")).json();
        assert_eq!(report["converged"], true, "{rest}: {report:#}");
        report
    };
    let report = solve("--reorder rcm --precond ic --out x.mtx");
    assert_eq!(report["reorder"], "rcm");
    let about = report["reorder_description"].as_str().unwrap();
    assert!(about.ends_with("before, 1 now"), "{about}");
    // In the order of a chain, IC(0) is exact.
    assert!(number(&report, "iterations") <= 2.0, "{report:#}");
    // 2 x_k - x_(k-1) - x_(k+1) = 1 has x_k = (k + 1) (n - k) / 2.
    let x = array(&folder.path().join("x.mtx"));
    for k in 0..n {
        let exact = (k + 1) as f64 * (n - k) as f64 / 2.0;
        assert!((x[7 * k % n] - exact).abs() < 1e-8 * exact, "{k}: {} instead of {exact}", x[7 * k % n]);
    }
    let done = inside(folder.path(), "solve a.mtx --reorder rcm --block 1");
    assert!(done.code == 2 && done.stderr.contains("--block needs those of a node together"), "{}", done.stderr);
}

#[test]
fn systems_without_a_solution_are_reported() {
    if !device() {
        return;
    }
    let folder = folder();
    file(&folder, "free.mtx", &chain(1201, true));
    let report = inside(folder.path(), "solve free.mtx --rhs random --tol 1e-8 --json").json();
    let keys = ["null_vectors", "null_part_removed", "converged"].map(|key| report[key].clone());
    assert_eq!(keys, [Value::from(1), true.into(), true.into()], "{report:#}");
    let done = inside(folder.path(), "solve free.mtx");
    assert!(done.code == 2 && done.stderr.contains("constants (no Dirichlet condition)"), "{}", done.stderr);
    assert!(done.stderr.contains("1 null vector)"), "{}", done.stderr);
    let general = "%%MatrixMarket matrix coordinate real general";
    // Rows (1 1) and (2 2); b = (1, 1) has a component of 1 / sqrt 10 of its norm along (2, -1).
    file(&folder, "singular.mtx", &format!("{general}\n2 2 4\n1 1 1\n1 2 1\n2 1 2\n2 2 2\n"));
    let done = inside(folder.path(), "solve singular.mtx --method gmres --json");
    let report = done.json();
    let singularity = report["singularity"].as_str().unwrap_or_default();
    assert!(
        done.code == 1 && singularity.contains("0.32 of its norm") && singularity.contains("--method lsmr"),
        "{report:#}"
    );
    // Null vectors that are not constant, and of an unsymmetric matrix alone; b has a part along those of A'.
    let scaled = |i: usize, j: usize| (1.0 + (i % 5) as f64) * (1.0 + (j % 5) as f64);
    let plain = |_: usize, _: usize| 1.0;
    for (name, west, size) in
        [("scaled.mtx", 1.0, &scaled as &dyn Fn(usize, usize) -> f64), ("drifts.mtx", 1.5, &plain as _)]
    {
        let n = 100_usize;
        let mut lines = Vec::new();
        for i in 0..n {
            let beside = [(i > 0, i.wrapping_sub(1), west), (i + 1 < n, i + 1, 1.0)];
            let sum: f64 = beside.iter().filter(|e| e.0).map(|e| e.2).sum();
            lines.push(format!("{0} {0} {1}", i + 1, sum * size(i, i)));
            let entries = beside.iter().filter(|e| e.0);
            lines.extend(entries.map(|e| format!("{} {} {}", i + 1, e.1 + 1, -e.2 * size(i, e.1))));
        }
        file(&folder, name, &format!("{general}\n{n} {n} {}\n{}\n", lines.len(), lines.join("\n")));
        let done = inside(folder.path(), &format!("solve {name} --json"));
        let report = done.json();
        let singularity = report["singularity"].as_str().unwrap_or_default();
        assert!(done.code == 1 && singularity.contains("A is singular to "), "{name}: {report:#}");
        assert!(number(&report, "relative_residual") <= 1.0, "{name}: {report:#}");
    }
    // Rows 1 to 3 have entries in columns 1 and 2 alone: w is along (-1, 0, 1, 0), and b has a component of 2 / (sqrt 2 sqrt 10) along it.
    file(&folder, "rows.mtx", &format!("{general}\n4 4 7\n1 1 1\n2 2 1\n3 1 1\n4 1 2\n4 2 3\n4 3 1\n4 4 1\n"));
    file(&folder, "b.mtx", "%%MatrixMarket matrix array real general\n4 1\n1\n2\n3\n1\n");
    // The smallest singular value of a triangle of ones below -1 of n rows is about 2^-n.
    let triangle =
        (0..45).flat_map(|i| (0..=i).map(move |j| format!("{} {} {}", i + 1, j + 1, if i == j { 1 } else { -1 })));
    let triangle: Vec<_> = triangle.collect();
    file(&folder, "near.mtx", &format!("{general}\n45 45 {}\n{}\n", triangle.len(), triangle.join("\n")));
    for (line, needles) in [
        (
            "rows.mtx --rhs b.mtx",
            ["A is structurally singular (rows, one of them row", "a component of 0.37 of its norm"],
        ),
        ("near.mtx --method idrs", ["A is nearly singular: its condition number is at least", "check units"]),
    ] {
        let done = inside(folder.path(), &format!("solve {line} --json"));
        let report = done.json();
        let singularity = report["singularity"].as_str().unwrap_or_default();
        assert!(done.code == 1 && needles.iter().all(|needle| singularity.contains(needle)), "{line}: {report:#}");
    }
    file(&folder, "row.mtx", &format!("{general}\n2 2 2\n1 1 1\n1 2 1\n"));
    file(&folder, "nan.mtx", &format!("{general}\n2 2 2\n1 1 1\n2 2 nan\n"));
    file(&folder, "column.mtx", &format!("{general}\n2 2 2\n1 1 1\n2 1 1\n"));
    for (line, needle) in [
        ("row.mtx", "row 2 (counted from 1) has only zeros"),
        ("row.mtx", "or solve the least-squares problem (--method lsmr)"),
        ("nan.mtx", "row 2 and column 2"),
        ("column.mtx", "singular: unknown 2 (counted from 1) appears in no equation"),
    ] {
        let done = inside(folder.path(), &format!("solve {line}"));
        assert!(done.code == 2 && done.stderr.contains(needle), "{line}: {}", done.stderr);
    }
}

/// The adjacency matrix of a graph: indefinite, zeros on the diagonal, and incomplete factors without pivots.
#[test]
fn indefinite_matrices_are_solved_with_complete_factors() {
    if !device() {
        return;
    }
    let folder = folder();
    let n = 1000_usize;
    let mut state = 2_u64;
    let mut random = || {
        state = (state * 1_103_515_245 + 12_345) % (1 << 31);
        (state >> 8) as usize % n
    };
    let mut edges: std::collections::BTreeSet<(usize, usize)> = (1..n).map(|i| (i, i - 1)).collect();
    for _ in 0..4 * n {
        let (i, j) = (random(), random());
        if i != j {
            edges.insert((i.max(j), i.min(j)));
        }
    }
    let lines: String = edges.iter().map(|(i, j)| format!("{} {} 1\n", i + 1, j + 1)).collect();
    let header = "%%MatrixMarket matrix coordinate real symmetric";
    file(&folder, "graph.mtx", &format!("{header}\n{n} {n} {}\n{lines}", edges.len()));
    let report = inside(folder.path(), "solve graph.mtx --out x.mtx --json").json();
    assert!(report["converged"] == true && number(&report, "iterations") <= 20.0, "{report:#}");
    assert!(report["precond"] == "lu" || report["failed_method"].is_null(), "{report:#}");
    let x = array(&folder.path().join("x.mtx"));
    let mut r = vec![1.0; n];
    for &(i, j) in &edges {
        r[i] -= x[j];
        r[j] -= x[i];
    }
    let residual = (r.iter().map(|r| r * r).sum::<f64>() / n as f64).sqrt();
    assert!(residual <= 1.01e-10, "{residual}");
}

/// The tridiagonal matrix (-1, 2.1, -1) with three right-hand sides, one of them zero.
#[test]
fn block_cg_solves_for_all_right_hand_sides_at_once() {
    if !device() {
        return;
    }
    let folder = folder();
    let n = 400_usize;
    let entry = |i: usize, j: usize| if i == j { 2.1 } else { -1.0 };
    let near = |i: usize| i.saturating_sub(1)..(i + 2).min(n);
    let lines: String =
        (0..n).flat_map(|i| near(i).map(move |j| format!("{} {} {}\n", i + 1, j + 1, entry(i, j)))).collect();
    file(&folder, "a.mtx", &format!("%%MatrixMarket matrix coordinate real general\n{n} {n} {}\n{lines}", 3 * n - 2));
    let x: Vec<f64> = (0..3 * n).map(|k| if k / n == 1 { 0.0 } else { (k * k % 17) as f64 - 8.0 }).collect();
    let product = |k: usize| near(k % n).map(|j| entry(k % n, j) * x[k / n * n + j]).sum::<f64>();
    let b: String = (0..3 * n).map(|k| format!("{:e}\n", product(k))).collect();
    file(&folder, "b.mtx", &format!("%%MatrixMarket matrix array real general\n{n} 3\n{b}"));
    let line = "solve a.mtx --rhs b.mtx --out x.mtx --json --tol 1e-12";
    let solve = |options: &str| inside(folder.path(), &format!("{line} {options}")).json();
    let one = solve("--method cg --precond none");
    let all = solve("--method block-cg --precond none");
    assert!(all["converged"] == true && all["method"] == "block-cg", "{all:#}");
    assert!(number(&all, "iterations") < number(&one, "iterations"), "{all:#}");
    let columns = all["columns"].as_array().unwrap();
    assert_eq!(columns.iter().map(|column| &column["stop"]).collect::<Vec<_>>(), ["converged"; 3], "{all:#}");
    assert!(columns[1]["relative_residual"] == 0.0, "{all:#}");
    let found = array(&folder.path().join("x.mtx"));
    assert_eq!(found.len(), x.len());
    assert!(found.iter().zip(&x).all(|(found, x)| (found - x).abs() < 1e-9));
    // With a preconditioner, and from the solution.
    let line = "solve a.mtx --rhs b.mtx --json --method block-cg";
    let again = inside(folder.path(), &format!("{line} --precond ic --x0 x.mtx")).json();
    assert!(again["converged"] == true && number(&again, "iterations") == 0.0, "{again:#}");
    // Ended before: the residuals are those of the x that is written.
    let ended = inside(folder.path(), &format!("{line} --precond jacobi --max-iterations 3")).json();
    assert_eq!(
        (&ended["stop"], &ended["columns"][1]["stop"]),
        (&"iteration-limit".into(), &"converged".into()),
        "{ended:#}"
    );
    for (option, needle) in [
        ("--checkpoint c.npz", "--method cg"),
        ("--precond ilu", "use --precond ic"),
        ("--devices 0", "--devices works with"),
    ] {
        let done = inside(folder.path(), &format!("{line} {option}"));
        assert!(done.code == 2 && done.stderr.contains(needle), "{option}: {}", done.stderr);
    }
}

/// A zero on the diagonal of a matrix that is not symmetric calls for ILUT, which two equal rows leave without a pivot.
#[test]
fn replaced_pivots_and_complete_factors_are_reported() {
    if !device() {
        return;
    }
    let folder = folder();
    let n = 1002;
    let beginning = [(1, 2), (2, 1), (3, 3), (3, 4), (4, 3), (4, 4), (5, 6)];
    let entries = beginning.into_iter().chain((5..=n).map(|i| (i, i)));
    let lines: Vec<String> = entries.map(|(i, j)| format!("{i} {j} 1\n")).collect();
    let general = "%%MatrixMarket matrix coordinate real general";
    file(&folder, "a.mtx", &format!("{general}\n{n} {n} {}\n{}", lines.len(), lines.concat()));
    let done = inside(folder.path(), "solve a.mtx --json --explain");
    let report = done.json();
    assert!(report["converged"] == true && report["precond"] == "lu", "{report:#}");
    let words = |key: &str| report[key].as_str().unwrap().to_owned();
    assert!(words("precond_description").contains("1 small pivot replaced"), "{report:#}");
    assert!(words("explanation").contains("complete factorisation: ILUT cannot be computed"), "{report:#}");
}

/// A shifted Laplacian of the line, with eigenvalues 2 - 2 cos(pi k / (n + 1)) less the shift.
#[test]
fn direct_solves_report_inertia_and_determinant() {
    if !device() {
        return;
    }
    let folder = folder();
    let n = 60;
    for (name, diagonal) in [("a.mtx", 1.3), ("negative.mtx", -1.3)] {
        let lines: String = (1..=n)
            .map(|i| {
                format!("{i} {i} {diagonal}\n") + &if i > 1 { format!("{i} {} -1\n", i - 1) } else { String::new() }
            })
            .collect();
        let header = "%%MatrixMarket matrix coordinate real symmetric";
        file(&folder, name, &format!("{header}\n{n} {n} {}\n{lines}", 2 * n - 1));
        let eigenvalue = |k: usize| diagonal - 2.0 * (std::f64::consts::PI * k as f64 / (n + 1) as f64).cos();
        let spectrum: Vec<f64> = (1..=n).map(eigenvalue).collect();
        let negative = spectrum.iter().filter(|&&value| value < 0.0).count();
        let line = format!("solve {name} --method direct --inertia --determinant");
        let report = inside(folder.path(), &format!("{line} --json")).json();
        let counts = ["positive", "negative", "zero"].map(|key| report["inertia"][key].as_u64().unwrap() as usize);
        assert_eq!(counts, [n - negative, negative, 0], "{report:#}");
        assert!(report["precond_description"].as_str().unwrap().starts_with("LDL factors"), "{report:#}");
        let ln_modulus: f64 = spectrum.iter().map(|value| value.abs().ln()).sum();
        assert!((number(&report["determinant"], "ln_modulus") - ln_modulus).abs() < 1e-9, "{report:#}");
        let sign = if negative % 2 == 0 { 1.0 } else { -1.0 };
        assert_eq!(number(&report["determinant"], "sign"), sign, "{report:#}");
        let text = inside(folder.path(), &line).stdout;
        assert!(text.contains(&format!("{} positive, {negative} negative, 0 zero", n - negative)), "{text}");
    }
    let unsymmetric = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 2 1\n2 2 1\n";
    file(&folder, "u.mtx", unsymmetric);
    let done = inside(folder.path(), "solve u.mtx --method direct --inertia");
    assert!(done.code != 0 && done.stderr.contains("only a Hermitian matrix has one"), "{}", done.stderr);
    let done = inside(folder.path(), "solve a.mtx --inertia --method minres");
    assert!(done.code == 2 && done.stderr.contains("--method direct"), "{}", done.stderr);
}

/// A matrix for which no incomplete factors are close: random entries without a pattern.
#[test]
fn a_direct_solver_needs_no_tolerance() {
    if !device() {
        return;
    }
    let folder = folder();
    let n = 300_usize;
    let mut state = 5_u64;
    let mut random = || {
        state = (state * 1_103_515_245 + 12_345) % (1 << 31);
        (state >> 8) as usize
    };
    let mut entries = std::collections::BTreeMap::new();
    for i in 0..n {
        for j in [(i + 1) % n, random() % n, random() % n] {
            entries.insert((i, j), (random() % 2001) as f64 / 1000.0 - 1.0005);
        }
    }
    let lines: String = entries.iter().map(|((i, j), a)| format!("{} {} {a:e}\n", i + 1, j + 1)).collect();
    file(
        &folder,
        "a.mtx",
        &format!("%%MatrixMarket matrix coordinate real general\n{n} {n} {}\n{lines}", entries.len()),
    );
    for line in ["--method direct", "--solver direct", "--method gmres --precond lu"] {
        let report = inside(folder.path(), &format!("solve a.mtx {line} --tol 1e-14 --out x.mtx --json")).json();
        assert!(report["converged"] == true && number(&report, "iterations") <= 3.0, "{line}: {report:#}");
        assert_eq!((&report["method"], &report["precond"]), (&"gmres".into(), &"lu".into()), "{line}");
        let description = report["precond_description"].as_str().unwrap();
        assert!(
            description.starts_with("LU factors, ") && description.contains("times those of the matrix"),
            "{description}"
        );
        let x = array(&folder.path().join("x.mtx"));
        let (mut r, mut size) = (vec![1.0; n], vec![1.0; n]);
        for (&(i, j), a) in &entries {
            r[i] -= a * x[j];
            size[i] += (a * x[j]).abs();
        }
        let error = r.iter().zip(&size).map(|(r, size)| r.abs() / size).fold(0.0, f64::max);
        assert!(error <= 1e-14, "{line}: {error}");
    }
    let done = inside(folder.path(), "solve a.mtx --method direct --precond amg");
    assert!(done.code == 2 && done.stderr.contains("--precond amg does not go with it"), "{}", done.stderr);
}

/// A column of b without a solution, for which every method fails, and one that the first method solves.
#[test]
fn a_column_that_failed_leaves_the_next_one_to_the_first_method() {
    if !device() {
        return;
    }
    let folder = folder();
    let (n, size) = (100_usize, |i: usize| 1.0 + (i % 5) as f64);
    let entry = |i: usize, j: usize| {
        let neighbours = f64::from(u8::from(i > 0)) + f64::from(u8::from(i + 1 < n));
        if i == j { neighbours * size(i) * size(i) } else { -size(i) * size(j) }
    };
    let near = |i: usize| i.saturating_sub(1)..(i + 2).min(n);
    let lines: Vec<String> = (0..n)
        .flat_map(|i| near(i).map(move |j| (i, j)))
        .map(|(i, j)| format!("{} {} {}\n", i + 1, j + 1, entry(i, j)))
        .collect();
    let general = "%%MatrixMarket matrix coordinate real general";
    file(&folder, "scaled.mtx", &format!("{general}\n{n} {n} {}\n{}", lines.len(), lines.concat()));
    let product = |i: usize| near(i).map(|j| entry(i, j) * (j as f64).sin()).sum::<f64>();
    let b: String = (0..2 * n).map(|k| format!("{:e}\n", if k < n { 1.0 } else { product(k - n) })).collect();
    file(&folder, "b.mtx", &format!("%%MatrixMarket matrix array real general\n{n} 2\n{b}"));
    let done = inside(folder.path(), "solve scaled.mtx --precond jacobi --json");
    let report = done.json();
    assert_eq!((&report["method"], &report["failed_method"]), (&"minres".into(), &"cg".into()), "{report:#}");
    assert!(done.stderr.contains("without the preconditioner given by --precond jacobi"), "{}", done.stderr);
    for precond in ["jacobi", "auto"] {
        let report = inside(folder.path(), &format!("solve scaled.mtx --rhs b.mtx --precond {precond} --json")).json();
        let columns = ["method", "failed_method"].map(|key| report[key].clone());
        assert_eq!(columns, ["cg".into(), Value::Null], "{precond}: {report:#}");
        assert_eq!(report["columns"][1]["stop"], "converged", "{precond}: {report:#}");
    }
}

#[test]
fn vectors_for_the_hierarchy_have_a_row_per_unknown_and_finite_numbers() {
    if !device() {
        return;
    }
    let folder = folder();
    file(&folder, "a.mtx", &laplace(6, true));
    let array = |name: &str, rows: usize, cols: usize, wrong: Option<usize>| {
        let value = |k: usize| if wrong == Some(k) { "nan\n".to_owned() } else { format!("{}\n", 1 + k % 7) };
        let values: String = (0..rows * cols).map(value).collect();
        file(&folder, name, &format!("%%MatrixMarket matrix array real general\n{rows} {cols}\n{values}"));
    };
    array("good.mtx", 36, 3, None);
    array("lying.mtx", 3, 36, None);
    array("nan.mtx", 36, 3, Some(40));
    array("nodes.mtx", 18, 2, Some(20));
    let header = "%%MatrixMarket matrix array real general";
    file(&folder, "zero.mtx", &format!("{header}\n36 2\n{}{}", "1\n".repeat(36), "0\n".repeat(36)));
    file(&folder, "same.mtx", &format!("{header}\n18 2\n{}", "3\n".repeat(36)));
    let report = inside(folder.path(), "solve a.mtx --nullspace good.mtx --json").json();
    assert_eq!(report["converged"], true, "{report:#}");
    for (line, needles) in [
        ("--nullspace lying.mtx", ["36 rows", "3 x 36 (lying.mtx)"]),
        ("--nullspace nan.mtx", ["row 5 and column 2", "nan.mtx"]),
        ("--coordinates nodes.mtx", ["row 3 and column 2", "nodes.mtx"]),
        ("--nullspace zero.mtx", ["argument `nullspace`: column 2", "zero.mtx has only zeros"]),
        ("--coordinates same.mtx", ["argument `coordinates`", "same.mtx are at the same point"]),
    ] {
        let done = inside(folder.path(), &format!("solve a.mtx {line}"));
        assert_eq!(done.code, 2, "{line}: {}", done.stderr);
        assert!(needles.iter().all(|needle| done.stderr.contains(needle)), "{line}: {}", done.stderr);
    }
}

#[test]
fn patterns_are_drawn_in_the_numbering_of_the_solve() {
    if !device() {
        return;
    }
    let folder = folder();
    file(&folder, "a.mtx", &chain(1201, false));
    file(&folder, "rectangle.mtx", &rectangle());
    let draw = |line: &str, names: &[&str]| {
        let report = inside(folder.path(), &format!("solve {line} --json")).json();
        assert_eq!(report["pictures"], serde_json::json!(names), "{line}");
    };
    draw("a.mtx --plot-pattern before.png", &["before.png"]);
    draw("a.mtx --plot-pattern before.svg", &["before.svg"]);
    draw("a.mtx --reorder rcm --plot-pattern after.svg --plot r.svg", &["after.svg", "r.svg"]);
    draw("rectangle.mtx --plot-pattern rectangle.svg", &["rectangle.svg"]);
    assert!(png_size(&folder.path().join("before.png")) > (800, 800));
    let [before, after, rectangle] =
        ["before", "after", "rectangle"].map(|name| svg(&folder.path().join(format!("{name}.svg"))));
    for (text, needles) in [
        (&before, ["a.mtx: 1201 × 1201, 3601 entries", "in the order of the file", ">density</text>"]),
        (&after, ["a.mtx: 1201 × 1201, 3601 entries", "before, 1 now", ">column</text>"]),
        (&rectangle, ["rectangle.mtx: 90 × 40, 180 entries", ">row</text>", ">80</text>"]),
    ] {
        assert!(needles.iter().all(|needle| text.contains(needle)), "{needles:?}");
    }
    for (line, needle) in [
        ("--plot-pattern p.gif", "--plot-pattern p.gif: the name must end in .png or .svg"),
        ("--plot p.png --plot-pattern p.png", "the same file"),
    ] {
        let done = inside(folder.path(), &format!("solve a.mtx {line}"));
        assert!(done.code == 2 && done.stderr.contains(needle), "{line}: {}", done.stderr);
    }
}

/// Central differences at a cell Peclet number of 20: the factors of ILU(0) grow from row to row.
#[test]
fn unstable_factors_are_replaced() {
    if !device() {
        return;
    }
    let folder = folder();
    let side = 120_usize;
    let mut lines = Vec::new();
    for k in 0..side * side {
        let (i, j) = (k % side, k / side);
        let beside = [(i > 0, k.wrapping_sub(1), -1.0 - 10.0), (i + 1 < side, k + 1, -1.0 + 10.0)];
        let above = [(j > 0, k.wrapping_sub(side), -1.0 - 8.0), (j + 1 < side, k + side, -1.0 + 8.0)];
        lines.push(format!("{0} {0} 4", k + 1));
        lines.extend(beside.iter().chain(&above).filter(|e| e.0).map(|e| format!("{} {} {}", k + 1, e.1 + 1, e.2)));
    }
    let n = side * side;
    let header = format!("%%MatrixMarket matrix coordinate real general\n{n} {n} {}", lines.len());
    file(&folder, "flow.mtx", &format!("{header}\n{}\n", lines.join("\n")));
    let done = inside(folder.path(), "solve flow.mtx --tol 1e-8 --json");
    let report = done.json();
    assert!(done.stderr.contains("ILU(0) is unstable"), "{}", done.stderr);
    assert!(report["precond"] == "ilut" && report["converged"] == true, "{report:#}");
}

#[test]
fn small_files_do_not_exhaust_the_memory() {
    if !device() {
        return;
    }
    let folder = folder();
    file(&folder, "a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n");
    for size in ["3000000000 3000000000", "1000000000000 1000000000000", "500000000 500000000"] {
        file(&folder, "huge.mtx", &format!("%%MatrixMarket matrix coordinate real general\n{size} 1\n1 1 1\n"));
        for line in ["solve huge.mtx", "solve a.mtx --rhs huge.mtx"] {
            let done = inside(folder.path(), line);
            assert_eq!(done.code, 5, "{line}: {}", done.stderr);
            assert!(done.stderr.contains("huge.mtx:2: the size line says"), "{line}: {}", done.stderr);
        }
    }
    file(&folder, "wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 16000000000000000 1\n1 1 1\n");
    file(&folder, "b.mtx", "%%MatrixMarket matrix coordinate real general\n16000000 1000 1\n1 1 1\n");
    for (line, needle) in
        [("solve wide.mtx", "wide.mtx:2"), ("solve a.mtx --rhs b.mtx", "b.mtx: 16000000 x 1000 values")]
    {
        let done = inside(folder.path(), line);
        assert!(done.code == 5 && done.stderr.contains(needle), "{line}: {}", done.stderr);
    }
}

#[test]
fn damaged_files_are_named() {
    if !device() {
        return;
    }
    let folder = folder();
    let bytes = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).expect("a file");
    bytes("empty.npy", b"");
    bytes("empty.npz", b"");
    bytes("cut.npz", b"PK\x03\x04 and nothing else");
    bytes("text.mat", b"this is no matrix");
    bytes("text.mtx.gz", b"this is no matrix");
    let mut damaged = std::fs::read(data("formats/plain.mat")).expect("a file");
    // The name of the first array, which is in the tag of its element.
    let at = damaged.windows(8).position(|word| word == b"\x01\0\x01\0A\0\0\0").expect("the name");
    damaged[at + 4] = 0x1b;
    bytes("name.mat", &damaged);
    for (name, needle) in [
        ("empty.npy", "empty.npy: the file is empty, expected an array written by numpy.save"),
        ("empty.npz", "empty.npz: the file is empty, expected an archive of arrays"),
        ("cut.npz", "cut.npz: the file is not an archive of arrays (.npz), or its end is missing; copy it again"),
        ("text.mat", "text.mat: the file is no MATLAB file, expected one that"),
        ("text.mtx.gz", "text.mtx.gz: the file is no gzip file or is damaged"),
    ] {
        let done = inside(folder.path(), &format!("solve {name}"));
        assert!(done.code == 5 && done.stderr.contains(needle), "{name}: {}", done.stderr);
    }
    let done = inside(folder.path(), "solve name.mat");
    assert!(!done.stderr.trim_end().contains(char::is_control), "{:?}", done.stderr);
}

/// The residual of conjugate gradients for b = (1, ..., 1) rises from the start on.
#[test]
fn the_best_iterate_is_returned_with_its_number() {
    if !device() {
        return;
    }
    let folder = folder();
    file(&folder, "a.mtx", &laplace(40, true));
    for (method, exact) in [("cg", false), ("fcg", true), ("idrs", true), ("bicgstab", false), ("gmres", true)] {
        for limit in [1, 5, 9] {
            let line =
                format!("solve a.mtx --precond none --method {method} --max-iterations {limit} --out x.mtx --json");
            let report = inside(folder.path(), &line).json();
            let history: Vec<f64> =
                report["residual_history"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
            let (residual, iterate) = (number(&report, "relative_residual"), number(&report, "iterate") as usize);
            assert!(residual <= history[0], "{line}: {report:#}");
            assert!((history[iterate] - residual).abs() <= 1e-6 * residual, "{line}: {report:#}");
            let smallest = history.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(!exact || residual <= (1.0 + 1e-6) * smallest, "{line}: {report:#}");
            let again = inside(folder.path(), "solve a.mtx --x0 x.mtx --max-iterations 0 --json").json();
            assert!((number(&again, "relative_residual") - residual).abs() <= 1e-12, "{line}: {again:#}");
        }
    }
    let done = inside(folder.path(), "solve a.mtx --precond none --method cg --max-iterations 5");
    assert!(done.stdout.contains("residual       1 of iterate 0, the best one"), "{}", done.stdout);
}

#[test]
fn the_hierarchy_is_shaped_by_options() {
    if !device() {
        return;
    }
    let folder = folder();
    file(&folder, "a.mtx", &laplace(40, true));
    let solve = |rest: &str| inside(folder.path(), &format!("solve a.mtx --tol 1e-8 --json {rest}")).json();
    let plain = number(&solve("--precond amg"), "iterations");
    for (rest, method) in [
        ("--smoother l1-jacobi --steps 1", "cg"),
        ("--smoother gauss-seidel", "cg"),
        ("--smoother spai0", "cg"),
        ("--steps 4", "cg"),
        ("--cycle w --coarse-size 20", "cg"),
        ("--cycle k --coarse-size 20", "fcg"),
        ("--theta 0.3", "cg"),
        ("--aggressive", "cg"),
    ] {
        let report = solve(rest);
        let names = (report["precond"].as_str(), report["method"].as_str());
        assert_eq!(names, (Some("amg"), Some(method)), "{rest}: {report:#}");
        assert_eq!(report["converged"], true, "{rest}: {report:#}");
        assert!(number(&report, "iterations") < 60.0, "{rest}: {report:#}");
    }
    let text = inside(folder.path(), "solve a.mtx --tol 1e-8 --cycle k").fine();
    assert!(text.contains("flexible CG, algebraic multigrid, f64 (chosen: the preconditioner varies"), "{text}");
    assert!(number(&solve("--steps 4"), "iterations") < plain);
    assert!(solve("--aggressive")["precond_description"].as_str().unwrap().contains("aggressive"));
    assert!(solve("--coarse-size 20")["precond_description"].as_str().unwrap().contains("3 levels"));
    let iterations = |rest: &str| number(&solve(rest), "iterations");
    // By colours, over-relaxation does not pay.
    let natural = "--precond ssor --order natural";
    assert!(iterations(&format!("{natural} --omega 1.6")) < iterations(natural));
    let report = solve("--method idrs --precond none --idr-dimension 2");
    assert_eq!((&report["idr_dimension"], &report["converged"]), (&2.into(), &true.into()), "{report:#}");
    for (rest, needle) in [
        ("--precond jacobi --smoother spai0", "--smoother is for --precond amg, not for jacobi"),
        ("--precond ic --omega 1.2", "--omega is for --precond ssor, not for ic"),
        ("--precond sa --aggressive", "--aggressive is for classical coarsening"),
        ("--method cg --cycle k", "--cycle k varies from one iteration to the next"),
        ("--method gmres --idr-dimension 8", "--idr-dimension is for --method idrs, not for gmres"),
        ("--omega 2", "above 0 and below 2"),
        ("--theta 1", "below 1"),
        ("--coarse-size 5000", "1 to 4096"),
        ("--precond ic --sweeps 101", "from 1 to 100"),
        ("--seed 3", "--seed is for --rhs random, not for --rhs ones"),
    ] {
        let done = inside(folder.path(), &format!("solve a.mtx {rest}"));
        assert!(done.code == 2 && done.stderr.contains(needle), "{rest}: {}", done.stderr);
    }
    let done = inside(folder.path(), "solve a.mtx --precond amg --report");
    assert!(done.stderr.contains("of device memory while it is set up"), "{}", done.stderr);
}

/// The Laplacian on n x n points for two displacements in each, which are coupled by 2 x 2 blocks.
fn coupled(n: usize) -> String {
    let (scalar, mut lines) = (laplace(n, true), Vec::new());
    for line in scalar.lines().skip(2) {
        let numbers: Vec<f64> = line.split(' ').map(|word| word.parse().expect("a number")).collect();
        let (i, j, value) = (2.0 * numbers[0], 2.0 * numbers[1], numbers[2]);
        lines.push(format!("{} {} {value}", i - 1.0, j - 1.0));
        lines.push(format!("{i} {j} {value}"));
        lines.push(format!("{i} {} {}", j - 1.0, 0.4 * value));
        lines.extend((i != j).then(|| format!("{} {j} {}", i - 1.0, 0.4 * value)));
    }
    let rows = 2 * n * n;
    format!("%%MatrixMarket matrix coordinate real symmetric\n{rows} {rows} {}\n{}\n", lines.len(), lines.join("\n"))
}

#[test]
fn several_unknowns_of_a_node_are_found() {
    if !device() {
        return;
    }
    let folder = folder();
    file(&folder, "a.mtx", &coupled(30));
    file(&folder, "b.mtx", &laplace(40, true));
    let solve = |rest: &str| inside(folder.path(), &format!("solve {rest} --tol 1e-8 --json")).json();
    let (found, given) = (solve("a.mtx"), solve("a.mtx --block 2"));
    assert!(found["explanation"].as_str().unwrap().contains("2 unknowns per node"), "{found:#}");
    assert_eq!(found["residual_history"], given["residual_history"]);
    assert!(!solve("b.mtx")["explanation"].as_str().unwrap().contains("per node"));
}

/// Two unknowns per node of a line without conditions at its ends. They are equal in the last node only, so the constants of one unknown are no null
/// vectors, and those of both are. All pivots are exact.
#[test]
fn amg_falls_back_to_one_unknown_per_node() {
    if !device() {
        return;
    }
    let folder = folder();
    let (nodes, mut lines) = (40, Vec::new());
    for node in 0..nodes {
        let neighbours = if node == 0 || node + 1 == nodes { 1.0 } else { 2.0 };
        let last = if node + 1 == nodes { 1.0 } else { 0.0 };
        let (i, j) = (2 * node + 1, 2 * node + 2);
        lines.push(format!("{i} {i} {}", neighbours + last));
        lines.push(format!("{j} {i} {}", 0.5 * neighbours - last));
        lines.push(format!("{j} {j} {}", 1.25 * neighbours + last));
        if node > 0 {
            lines.extend([format!("{i} {} -1", i - 2), format!("{i} {} -0.5", i - 1)]);
            lines.extend([format!("{j} {} -0.5", i - 2), format!("{j} {} -1.25", i - 1)]);
        }
    }
    let (rows, count) = (2 * nodes, lines.len());
    let head = format!("%%MatrixMarket matrix coordinate real symmetric\n{rows} {rows} {count}");
    file(&folder, "a.mtx", &format!("{head}\n{}\n", lines.join("\n")));
    let line = "solve a.mtx --rhs random --precond amg";
    let given = inside(folder.path(), &format!("{line} --block 2"));
    assert!(given.code == 2 && given.stderr.contains("singular"), "{}{}", given.stdout, given.stderr);
    let found = inside(folder.path(), &format!("{line} --json"));
    let report = found.json();
    assert!(found.stderr.contains("continuing with one unknown per node"), "{}", found.stderr);
    let about = report["precond_description"].as_str().unwrap();
    assert!(about.contains("one unknown per node, as the hierarchy with 2 could not be set up"), "{report:#}");
    assert!(report["converged"] == true && report["failed_method"].is_null(), "{report:#}");
}

/// A singular system without a solution, whose null vector is not constant.
#[test]
fn what_takes_over_is_explained() {
    if !device() {
        return;
    }
    let folder = folder();
    let (n, scale) = (1200_usize, |i: usize| 1.0 + (i % 5) as f64);
    let own = |i: usize| if i == 0 || i + 1 == n { 1.0 } else { 2.0 };
    let mut lines: Vec<_> = (0..n).map(|i| format!("{0} {0} {1}", i + 1, own(i) * scale(i) * scale(i))).collect();
    lines.extend((1..n).map(|i| format!("{} {i} {}", i + 1, -scale(i) * scale(i - 1))));
    let header = "%%MatrixMarket matrix coordinate real symmetric";
    file(&folder, "a.mtx", &format!("{header}\n{n} {n} {}\n{}\n", lines.len(), lines.join("\n")));
    let done = inside(folder.path(), "solve a.mtx --rhs random --explain --max-iterations 300");
    let explained: Vec<_> = done.stdout.lines().filter(|line| line.starts_with("explanation")).collect();
    assert!(done.stdout.contains("CG, which failed"), "{}", done.stdout);
    assert!(explained.len() > 1 && explained[0].contains("algebraic multigrid"), "{explained:?}");
    assert!(explained[1].contains("then GMRES with"), "{explained:?}");
}

#[test]
fn a_checkpoint_and_its_matrix_may_both_be_named() {
    if !device() {
        return;
    }
    let folder = folder();
    file(&folder, "a.mtx", &laplace(20, true));
    file(&folder, "other.mtx", &laplace(10, true));
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).expect("a folder");
    inside(folder.path(), "solve a.mtx --precond none --max-iterations 5 --checkpoint c.npz");
    let done = inside(&inner, "solve --resume ../c.npz ../a.mtx --max-iterations 1000 --json");
    assert_eq!(done.json()["converged"], true, "{}", done.stderr);
    let done = inside(&inner, "solve --resume ../c.npz ../other.mtx");
    assert!(done.code == 2 && done.stderr.contains("the size of the matrix"), "{}", done.stderr);
    let done = inside(folder.path(), "solve a.mtx other.mtx");
    assert!(done.code == 2 && done.stderr.contains("a solve takes one matrix"), "{}", done.stderr);
}

/// A file that is read, or another one that is written, is never overwritten, whatever its name.
#[test]
fn files_keep_their_content() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    for name in ["a.npz", "b.npz", "z.npz", "n.npy", "u.npy", "c.npz"] {
        file(&folder, name, "content");
    }
    std::fs::create_dir(at("inside")).expect("a folder");
    std::fs::hard_link(at("a.npz"), at("hard.npz")).expect("a link");
    #[cfg(unix)]
    std::os::unix::fs::symlink("n.npy", at("soft.npy")).expect("a link");
    let mut cases = vec![
        ("solve a.npz --checkpoint a.npz", "--checkpoint a.npz is the matrix, which would be overwritten"),
        ("solve a.npz --checkpoint hard.npz", "--checkpoint hard.npz is the matrix"),
        ("solve a.npz --rhs b.npz --checkpoint ./b.npz", "is the file of --rhs"),
        ("solve a.npz --x0 z.npz --checkpoint inside/../z.npz", "is the file of --x0"),
        ("solve a.npz --nullspace n.npy --out n.npy", "is the file of --nullspace"),
        ("solve a.npz --coordinates n.npy --out ./n.npy", "is the file of --coordinates"),
        ("solve a.npz --plot same.png --plot-pattern ./same.png", "--plot-pattern ./same.png name the same file"),
        ("wave --initial u.npy --out u.npy", "is the file of --initial"),
        ("wave --out new.npy --series inside/../new.npy", "name the same file"),
        ("poisson --f u.npy --out ./u.npy", "is the file of --f"),
        ("ode --problem heat2d --initial u.npy --series u.npy", "is the file of --initial"),
        ("heat-bem --points u.npy --out u.npy", "is the file of --points"),
    ];
    if cfg!(unix) {
        cases.push(("solve a.npz --nullspace n.npy --out soft.npy", "is the file of --nullspace"));
    }
    for (line, needle) in cases {
        let done = inside(folder.path(), line);
        assert!(done.code == 2 && done.stderr.contains(needle), "{line}: {}", done.stderr);
    }
    for name in ["a.npz", "b.npz", "z.npz", "n.npy", "u.npy", "c.npz"] {
        assert_eq!(std::fs::read_to_string(at(name)).expect("still there"), "content", "{name}");
    }
}

#[test]
fn the_file_of_a_resumed_run_is_kept_from_other_outputs() {
    if !device() {
        return;
    }
    let folder = folder();
    file(&folder, "a.mtx", &laplace(20, true));
    inside(folder.path(), "solve a.mtx --precond none --max-iterations 5 --checkpoint c.npz");
    let bytes = || std::fs::read(folder.path().join("c.npz")).expect("a checkpoint");
    let before = bytes();
    // Its next checkpoint may replace it, no matrix may.
    let done = inside(folder.path(), "solve --resume c.npz c.npz --max-iterations 9 --checkpoint c.npz");
    assert!(done.code == 2 && done.stderr.contains("--checkpoint c.npz is the matrix"), "{}", done.stderr);
    assert!(bytes() == before);
    let report = inside(folder.path(), "solve --resume c.npz --max-iterations 9 --checkpoint c.npz --json").json();
    assert!(report["checkpoint"] == "c.npz" && bytes() != before, "{report:#}");
}

#[test]
fn vectors_without_columns_and_starts_that_are_not_finite_are_errors() {
    if !device() {
        return;
    }
    let folder = folder();
    file(&folder, "a.mtx", &laplace(20, true));
    let header = "%%MatrixMarket matrix array real general";
    file(&folder, "none.mtx", &format!("{header}\n400 0\n"));
    for wrong in ["nan", "inf"] {
        let values: String = (0..800).map(|k| if k == 402 { format!("{wrong}\n") } else { "1\n".into() }).collect();
        file(&folder, &format!("{wrong}.mtx"), &format!("{header}\n400 2\n{values}"));
    }
    file(&folder, "b.mtx", &format!("{header}\n400 2\n{}", "1\n".repeat(800)));
    for (line, needle) in [
        ("--rhs none.mtx", "`b` is 400 x 0 (none.mtx), expected 400 x 1"),
        ("--rhs b.mtx --x0 nan.mtx", "argument `x0`: the value in row 3 of column 2 (counted from 1) is NaN"),
        ("--rhs b.mtx --x0 inf.mtx", "row 3 of column 2 (counted from 1) is inf"),
    ] {
        let done = inside(folder.path(), &format!("solve a.mtx {line} --out x.mtx"));
        assert!(done.code == 2 && done.stderr.contains(needle), "{line}: {}", done.stderr);
        assert!(!folder.path().join("x.mtx").exists(), "{line}");
    }
}

/// The stiffness of springs between neighbours, along the axes and the diagonals, of nodes with these coordinates.
fn springs(nodes: &[[f64; 2]]) -> Vec<(usize, usize, f64)> {
    let mut entries = Vec::new();
    for a in 0..nodes.len() {
        for step in [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]] {
            let end = [nodes[a][0] + step[0], nodes[a][1] + step[1]];
            let Some(b) = nodes.iter().position(|node| *node == end) else { continue };
            let square = step[0] * step[0] + step[1] * step[1];
            for (i, j, sign) in [(a, a, 1.0), (b, b, 1.0), (a, b, -1.0), (b, a, -1.0)] {
                let entry = |k: usize| (2 * i + k / 2, 2 * j + k % 2, sign * step[k / 2] * step[k % 2] / square);
                entries.extend((0..4).map(entry));
            }
        }
    }
    entries
}

#[test]
fn rigid_motions_of_a_free_body_are_null_vectors() {
    if !device() {
        return;
    }
    let folder = folder();
    let nodes: Vec<[f64; 2]> = (0..144).map(|k| [f64::from(k % 12), f64::from(k / 12)]).collect();
    let entries = springs(&nodes);
    let n = 2 * nodes.len();
    let lines: String = entries.iter().map(|(i, j, v)| format!("{} {} {v}\n", i + 1, j + 1)).collect();
    file(
        &folder,
        "a.mtx",
        &format!("%%MatrixMarket matrix coordinate real general\n{n} {n} {}\n{lines}", entries.len()),
    );
    let array = |name: &str, rows: usize, cols: usize, values: &mut dyn Iterator<Item = f64>| {
        let values: String = values.map(|v| format!("{v}\n")).collect();
        file(&folder, name, &format!("%%MatrixMarket matrix array real general\n{rows} {cols}\n{values}"));
    };
    array("xy.mtx", n / 2, 2, &mut (0..2).flat_map(|d| nodes.iter().map(move |node| node[d])));
    array("turn.mtx", n, 1, &mut nodes.iter().flat_map(|[x, y]| [5.5 - y, x - 5.5]));
    let x: Vec<f64> = (0..n).map(|k| (k as f64).sin()).collect();
    let mut b = vec![0.0; n];
    entries.iter().for_each(|&(i, j, v)| b[i] += v * x[j]);
    array("b.mtx", n, 1, &mut b.iter().copied());
    // Orthogonal to the translations, not to the rotation.
    let turned = b.iter().zip(nodes.iter().flat_map(|[x, y]| [5.5 - y, x - 5.5])).map(|(b, z)| b + 0.1 * z);
    array("turned.mtx", n, 1, &mut turned.collect::<Vec<_>>().into_iter());
    let ones = inside(folder.path(), "solve a.mtx");
    assert!(ones.code == 2 && ones.stderr.contains("(1 null vector)"), "{}", ones.stderr);
    array("shifted.mtx", n, 1, &mut b.iter().map(|b| b + 1.0));
    let done = inside(folder.path(), "solve a.mtx --rhs shifted.mtx");
    assert!(
        done.code == 2 && done.stderr.contains("2 unknowns per node") && done.stderr.contains("--coordinates"),
        "{}",
        done.stderr
    );
    let done = inside(folder.path(), "solve a.mtx --rhs turned.mtx --coordinates xy.mtx");
    assert!(done.code == 2 && done.stderr.contains("(3 null vectors)"), "{}", done.stderr);
    assert!(done.stderr.contains("subtract its projection onto them"), "{}", done.stderr);
    let done = inside(folder.path(), "solve a.mtx --rhs turned.mtx --nullspace turn.mtx");
    assert!(done.code == 2 && done.stderr.contains("(2 null vectors)"), "{}", done.stderr);
    for (line, removed) in [("--rhs b.mtx", false), ("--rhs random", true)] {
        let report = inside(folder.path(), &format!("solve a.mtx {line} --coordinates xy.mtx --json")).json();
        let keys = ["null_vectors", "null_part_removed", "converged"].map(|key| report[key].clone());
        assert_eq!(keys, [Value::from(3), removed.into(), true.into()], "{line}: {report:#}");
    }
}

#[test]
fn multigrid_is_a_solver_of_its_own() {
    if !device() {
        return;
    }
    let folder = folder();
    file(&folder, "a.mtx", &laplace(40, true));
    file(&folder, "small.mtx", &laplace(10, true));
    file(&folder, "turned.mtx", &turned(30));
    file(&folder, "upwind.mtx", &upwind(20, 30.0));
    for (line, precond) in [
        ("a.mtx", "amg"),
        ("a.mtx --precond classical --rhs random", "classical"),
        ("a.mtx --cycle k --coarse-size 50", "amg"),
        ("a.mtx --precond ssor --tol 1e-4", "ssor"),
        ("small.mtx", "ilut"),
        ("upwind.mtx", "ilut"),
    ] {
        let report = inside(folder.path(), &format!("solve {line} --method richardson --json")).json();
        let names = (report["method"].as_str(), report["precond"].as_str());
        assert_eq!(names, (Some("richardson"), Some(precond)), "{line}: {report:#}");
        assert!(report["converged"] == true && report["failed_method"].is_null(), "{line}: {report:#}");
    }
    let done = inside(folder.path(), "solve a.mtx --method richardson");
    assert!(done.stdout.contains("Richardson iteration, algebraic multigrid, f64"), "{}", done.stdout);
    for (line, needle) in [
        ("a.mtx --checkpoint c.npz", "richardson does not support --checkpoint and --resume"),
        ("a.mtx --precond saddle", "richardson does not converge with --precond saddle"),
        ("turned.mtx", "richardson is for real systems"),
    ] {
        let done = inside(folder.path(), &format!("solve {line} --method richardson"));
        assert!(done.code == 2 && done.stderr.contains(needle), "{line}: {}", done.stderr);
    }
    // Without a preconditioner it diverges for eigenvalues above 2.
    let done = inside(folder.path(), "solve small.mtx --method richardson --precond none --json");
    let report = done.json();
    assert_eq!((done.code, &report["stop"]), (1, &"diverged".into()), "{report:#}");
    let advice = report["advice"].as_str().unwrap_or_default().to_owned();
    assert!(advice.contains("--method direct"), "{report:#}");
    let options = advice.split(" computes").next().unwrap_or_default();
    let report = inside(folder.path(), &format!("solve small.mtx {options} --json")).json();
    assert!(report["converged"] == true && number(&report, "iterations") <= 2.0, "{report:#}");
}

#[test]
fn errors_of_several_devices_name_their_options() {
    let Some(pair) = two_devices() else { return };
    let folder = folder();
    let a = file(&folder, "a.mtx", &laplace(6, true));
    let one = file(&folder, "one.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
    let rectangle = file(&folder, "rectangle.mtx", &rectangle());
    for (rest, needle) in [
        (one, "2 devices for a matrix with 1 row; use --device"),
        (rectangle, "least-squares methods run on one device: use --device instead of --devices"),
        (format!("{a} --method block-cg"), "one right-hand side at a time, not with --method block-cg"),
    ] {
        let done = pair(&format!("solve {rest} --devices 0,1"));
        assert!(done.code == 2 && done.stderr.contains(needle), "{rest}: {}", done.stderr);
    }
}
