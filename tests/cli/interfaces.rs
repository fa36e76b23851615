//! The automatic solve from Rust, C, MATLAB's functions and the program: one choice, one end and one solution, to the last bit.

use std::ffi::CString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;

use clinalg::automatic::{Automatic, AutomaticParams};
use clinalg::solve::Stop;
use clinalg::{Context, Csr, CsrParts, Vector, io::matrix_market};
use clinalg_capi as c;

use super::*;

/// How a system was solved: method, preconditioner, stop, iterations and the bits of x.
type Found = (String, String, String, usize, Vec<u64>);

type Entries = Vec<(usize, usize, f64)>;

/// The names of the program's JSON document, as the library says them.
const NAMES: [(&str, &str); 13] = [
    ("cg", "conjugate gradients"),
    ("minres", "MINRES"),
    ("bicgstab", "BiCGStab"),
    ("gmres", "GMRES"),
    ("lsmr", "LSMR"),
    ("none", ""),
    ("jacobi", "Jacobi"),
    ("amg", "algebraic multigrid"),
    ("ssor", "SSOR"),
    ("ilu", "ILU(0)"),
    ("ilut", "ILUT"),
    ("lu", "complete factorisation"),
    ("saddle", "saddle-point block preconditioner"),
];

/// Numbers in [-1, 1) that look random.
fn noise(k: usize) -> f64 {
    ((k as f64 + 1.0) * 0.618_033_988_749_895).fract() * 2.0 - 1.0
}

/// -div(a grad u) + w . grad u + c u by finite differences on `side` x `side` points, with a coefficient for each direction.
fn grid(side: usize, [east, north]: [f64; 2], wind: f64, shift: f64) -> Entries {
    let mut entries = Entries::new();
    for k in 0..side * side {
        let (i, j) = (k % side, k / side);
        let neighbours = [(i > 0, k.wrapping_sub(1), -east - wind), (i + 1 < side, k + 1, -east + wind)];
        let others = [(j > 0, k.wrapping_sub(side), -north - wind), (j + 1 < side, k + side, -north + wind)];
        entries.push((k, k, 2.0 * (east + north) + shift));
        let inside = neighbours.into_iter().chain(others).filter(|neighbour| neighbour.0);
        entries.extend(inside.map(|(_, other, value)| (k, other, value)));
    }
    entries
}

/// A chain of `n` points without conditions at the ends.
fn chain(n: usize, first: usize, shift: f64) -> Entries {
    let mut entries = Entries::new();
    for k in 0..n {
        let own = f64::from(u8::from(k > 0)) + f64::from(u8::from(k + 1 < n)) + shift;
        entries.push((first + k, first + k, own));
        if k + 1 < n {
            entries.extend([(first + k, first + k + 1, -1.0), (first + k + 1, first + k, -1.0)]);
        }
    }
    entries
}

/// [A B'; B -C] with A from a grid and a constraint for each `every`-th unknown.
fn saddle(side: usize, every: usize, corner: f64) -> (usize, Entries) {
    let (n, mut entries) = (side * side, grid(side, [1.0, 1.0], 0.0, 0.1));
    let constraints = n / every;
    for k in 0..constraints {
        for other in [every * k, (every * k + 1) % n] {
            let value = 1.0 + 0.1 * noise(other);
            entries.extend([(n + k, other, value), (other, n + k, value)]);
        }
        if corner > 0.0 {
            entries.push((n + k, n + k, -corner));
        }
    }
    (n + constraints, entries)
}

/// `per_row` entries at scattered places of each row, and a diagonal.
fn scattered(n: usize, per_row: usize, diagonal: impl Fn(usize) -> f64) -> Entries {
    let mut entries = Entries::new();
    for i in 0..n {
        entries.push((i, i, diagonal(i)));
        entries
            .extend((1..=per_row).map(|k| (i, (i + 1 + (i * 31 + k * k * 97) % (n - 1)) % n, noise(i * per_row + k))));
    }
    entries
}

/// The same with each entry's mirror image.
fn symmetrised(entries: Entries) -> Entries {
    let mirrored: Entries = entries.iter().filter(|e| e.0 != e.1).map(|&(i, j, value)| (j, i, value)).collect();
    entries.into_iter().chain(mirrored).collect()
}

fn scaled(entries: Entries, size: impl Fn(usize) -> f64) -> Entries {
    entries.into_iter().map(|(i, j, value)| (i, j, value * size(i) * size(j))).collect()
}

/// Systems with their numbers of rows and columns.
fn systems() -> Vec<(String, usize, usize, Entries)> {
    let mut all = Vec::new();
    let mut add = |name: &str, n: usize, entries: Entries| all.push((name.to_owned(), n, n, entries));
    for side in [1, 12, 31, 33, 48] {
        add(&format!("poisson {side}"), side * side, grid(side, [1.0, 1.0], 0.0, 0.0));
    }
    add("anisotropic", 1600, grid(40, [1.0, 100.0], 0.0, 0.0));
    for shift in [0.5, 30.0] {
        add(&format!("shifted by {shift}"), 1600, grid(40, [1.0, 1.0], 0.0, shift));
    }
    for shift in [-0.3, -5.0, -9.0] {
        add(&format!("indefinite, shifted by {shift}"), 1156, grid(34, [1.0, 1.0], 0.0, shift));
    }
    for wind in [0.1, 0.5, 4.0, 30.0] {
        add(&format!("wind {wind}"), 1600, grid(40, [1.0, 1.0], wind, 0.0));
    }
    let size = |i: usize| 10.0_f64.powi((i % 5) as i32 - 2);
    add("scaled", 900, scaled(grid(30, [1.0, 1.0], 0.0, 0.0), size));
    add("scaled, with wind", 1600, scaled(grid(40, [1.0, 1.0], 0.3, 0.0), size));
    for (every, corner) in [(4, 0.0), (3, 0.5), (7, 0.0)] {
        let (n, entries) = saddle(34, every, corner);
        add(&format!("saddle point {every} {corner}"), n, entries);
    }
    let (n, mut entries) = saddle(34, 5, 0.0);
    entries[1].2 *= 1.5;
    add("unsymmetric saddle point", n, entries);
    add("dominant", 1500, scattered(1500, 4, |_| 9.0));
    add("dominant, symmetric", 1500, symmetrised(scattered(1500, 3, |_| 20.0)));
    add("dominant, both signs", 1500, symmetrised(scattered(1500, 3, |i| if i % 3 == 0 { -20.0 } else { 20.0 })));
    add(
        "negative definite",
        1600,
        scaled(grid(40, [1.0, 1.0], 0.0, 0.0), |_| 1.0).iter().map(|e| (e.0, e.1, -e.2)).collect(),
    );
    add("scattered", 1200, scattered(1200, 5, |_| 2.0));
    add("scattered, small diagonal", 1200, scattered(1200, 5, |_| 0.1));
    add("circuit", 1200, scattered(1200, 4, |i| if i % 7 == 0 { 0.0 } else { 3.0 }));
    add("small and scattered", 200, scattered(200, 5, |_| 1.0));
    add("large spread", 300, scattered(300, 2, |i| if i == 0 { 1e5 } else { 5.0 }));
    add("permutation", 1100, (0..1100).map(|i| (i, (i + 1) % 1100, 1.0 + noise(i).abs())).collect());
    add("diagonal", 1100, (0..1100).map(|i| (i, i, 1.0 + noise(i).abs())).collect());
    add("triangle", 1100, (0..1100).flat_map(|i| [(i, i, 1.0), (i, i / 2, 0.5)]).collect());
    // b is in the range of these singular matrices.
    add("chain", 1300, chain(1300, 0, 0.0));
    add("two chains", 1300, [chain(700, 0, 0.0), chain(600, 700, 0.0)].concat());
    add("nearly singular chain", 1300, chain(1300, 0, 1e-7));
    add("unused unknown", 1200, scattered(1200, 3, |_| 4.0).into_iter().filter(|e| e.0 != 7 && e.1 != 7).collect());
    let nodes = |entries: Entries| -> Entries {
        let block = |(i, j, value): (usize, usize, f64)| {
            let [own, mixed] = if i == j { [value, 0.1] } else { [value, 0.05 * value] };
            [(2 * i, 2 * j, own), (2 * i, 2 * j + 1, mixed), (2 * i + 1, 2 * j, mixed), (2 * i + 1, 2 * j + 1, own)]
        };
        entries.into_iter().flat_map(block).collect()
    };
    add("two unknowns per node", 1800, nodes(grid(30, [1.0, 1.0], 0.0, 0.5)));
    let tall = (0..1500).flat_map(|i| [(i, i % 700, 2.0 + noise(i)), (i, (i * 7 + 1) % 700, noise(i + 9))]).collect();
    all.push(("tall".into(), 1500, 700, tall));
    let wide = (0..400).flat_map(|i| [(i, i, 2.0), (i, 400 + i, noise(i)), (i, (i + 3) % 400, 0.3)]).collect();
    all.push(("wide".into(), 400, 800, wide));
    all
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|value| value.to_bits()).collect()
}

/// What the library does.
fn in_rust(a: &Path, b: &Path) -> Found {
    let context = Context::global().unwrap();
    let parts: CsrParts<f64> = matrix_market::read(a).unwrap().to_csr_parts().unwrap();
    let b = matrix_market::read(b).unwrap().to_column_major::<f64>().unwrap();
    let (a, b) = (Csr::from_parts(&context, &parts).unwrap(), Vector::from_slice(&context, &b).unwrap());
    let mut x = Vector::zeros(&context, parts.cols).unwrap();
    let mut system = Automatic::new(&a, AutomaticParams::default()).unwrap();
    let report = system.solve(&b, &mut x).unwrap();
    let names = (system.method().name().to_owned(), system.preconditioner().name().to_owned());
    (names.0, names.1, name_of(report.stop), report.iterations, bits(&x.to_vec().unwrap()))
}

fn name_of(stop: Stop) -> String {
    serde_json::to_value(stop).unwrap().as_str().unwrap().to_owned()
}

/// What the C interface does.
fn in_c(a: &Path, b: &Path, cols: usize) -> Found {
    let read = |path: &Path| {
        let path = CString::new(path.as_os_str().as_bytes()).unwrap();
        let mut handle = 0;
        // SAFETY: the path ends in zero, the handle is valid for a write.
        assert_eq!(unsafe { c::clinalg_matrix_market_read(path.as_ptr(), 1, &raw mut handle) }, c::ClinalgStatus::Ok);
        handle
    };
    let (a, b) = (read(a), read(b));
    let mut x = 0;
    let mut values = vec![0.0_f64; cols];
    let mut report = std::mem::MaybeUninit::<c::ClinalgReport>::uninit();
    let mut how = std::mem::MaybeUninit::<c::ClinalgSystemReport>::uninit();
    let mut options = std::mem::MaybeUninit::<c::ClinalgSystemOptions>::uninit();
    // SAFETY: all are valid for writes of their size, and are written where the calls succeed.
    let (report, how) = unsafe {
        let status = c::clinalg_system_options_default(options.as_mut_ptr(), size_of::<c::ClinalgSystemOptions>());
        assert_eq!(status, c::ClinalgStatus::Ok);
        let (at, of) = (report.as_mut_ptr(), how.as_mut_ptr());
        let status = c::clinalg_system_solve_automatic(options.as_ptr(), a, b, &raw mut x, at, 1, of);
        assert_eq!(status, c::ClinalgStatus::Ok);
        assert_eq!(c::clinalg_array_read(x, 1, 0, cols, values.as_mut_ptr().cast()), c::ClinalgStatus::Ok);
        for handle in [a, b, x] {
            assert_eq!(c::clinalg_object_release(handle), c::ClinalgStatus::Ok);
        }
        (report.assume_init(), how.assume_init())
    };
    let text = |text: &[std::ffi::c_char]| -> String {
        text.iter().take_while(|byte| **byte != 0).map(|&byte| char::from(byte as u8)).collect()
    };
    let stop = format!("{:?}", report.stop);
    (text(&how.method), text(&how.preconditioner), stop, report.iterations, bits(&values))
}

/// What the program does, in the environment of this process.
fn in_the_program(a: &Path, b: &Path, x: &Path) -> Found {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clinalg"));
    let report = finish(command.arg("solve").arg(a).arg("--rhs").arg(b).arg("--out").arg(x).arg("--json")).json();
    let name = |key: &str| -> String {
        let own = report[key].as_str().unwrap_or_else(|| panic!("{report:#}"));
        NAMES.iter().find(|names| names.0 == own).unwrap_or_else(|| panic!("{own}")).1.to_owned()
    };
    let x = matrix_market::read(x).unwrap().to_column_major::<f64>().unwrap();
    let stop = report["stop"].as_str().unwrap().to_owned();
    (name("method"), name("precond"), stop, report["iterations"].as_u64().unwrap() as usize, bits(&x))
}

/// What MATLAB's functions do in Octave for all systems; `None` without Octave or the library that cargo builds for it.
fn in_octave(folder: &Path, count: usize) -> Option<Vec<Found>> {
    let library = Path::new(env!("CARGO_BIN_EXE_clinalg")).with_file_name("libclinalg_mex.so");
    let is_there = Command::new("octave-cli").arg("--version").output().is_ok();
    if !is_there || !library.is_file() {
        clinalg_testing::skip("octave-cli or libclinalg_mex.so is not there (cargo build -p clinalg-mex)");
        return None;
    }
    std::fs::copy(library, folder.join("clinalg_mex.mex")).unwrap();
    let functions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../matlab");
    let script = format!(
        "addpath('{}'); addpath('{}'); gpu = MexInitOpenCL();
for k = 1:{count}
  A = MexReadMarket(gpu, sprintf('%d.mtx', k - 1)); b = MexReadMarket(gpu, sprintf('%d_b.mtx', k - 1));
  [x, flag, relres, iter, method, precond] = MexSolveSparse(gpu, A, b);
  printf('%s|%s|%d|%d|%s\\n', method, precond, flag, iter, sprintf('%s', num2hex(MexHandleMatrix(gpu, x)).'));
end",
        functions.display(),
        folder.display()
    );
    let mut octave = Command::new("octave-cli");
    let done = finish(octave.current_dir(folder).args(["-qf", "--no-history", "--eval", &script]));
    assert_eq!(done.code, 0, "{}", done.stderr);
    let found = done.stdout.lines().map(|line| {
        let fields: Vec<&str> = line.split('|').collect();
        let [method, precond, flag, iterations, x] = fields[..] else { panic!("{line}") };
        let x = (0..x.len() / 16).map(|k| u64::from_str_radix(&x[16 * k..16 * k + 16], 16).unwrap()).collect();
        (method.into(), precond.into(), flag.into(), iterations.parse().unwrap(), x)
    });
    Some(found.collect())
}

#[test]
fn forty_systems_are_solved_alike_by_all_interfaces() {
    if !device() {
        return;
    }
    let folder = folder();
    let systems = systems();
    assert_eq!(systems.len(), 40);
    let mut found = Vec::new();
    for (k, (name, rows, cols, entries)) in systems.iter().enumerate() {
        let parts = CsrParts::from_triplets(*rows, *cols, entries).unwrap();
        let mut b = vec![0.0; *rows];
        parts.triplets().for_each(|(i, j, value)| b[i] += value * (1.0 + noise(j)));
        let mut text = format!("%%MatrixMarket matrix coordinate real general\n{rows} {cols} {}\n", parts.nnz());
        parts.triplets().for_each(|(i, j, value)| writeln!(text, "{} {} {value:e}", i + 1, j + 1).unwrap());
        let a = file(&folder, &format!("{k}.mtx"), &text);
        let mut text = format!("%%MatrixMarket matrix array real general\n{rows} 1\n");
        b.iter().for_each(|value| writeln!(text, "{value:e}").unwrap());
        let b = file(&folder, &format!("{k}_b.mtx"), &text);
        let (a, b) = (Path::new(&a), Path::new(&b));
        let own = in_rust(a, b);
        let of_c = in_c(a, b, *cols);
        let of_program = in_the_program(a, b, &folder.path().join("x.mtx"));
        assert_eq!(own, of_program, "{name}: Rust, then the program");
        assert_eq!(own.2.replace('-', ""), of_c.2.to_lowercase(), "{name}: stop in C");
        assert_eq!((&own.0, &own.1, own.3, &own.4), (&of_c.0, &of_c.1, of_c.3, &of_c.4), "{name}: Rust, then C");
        found.push(own);
    }
    // Each row of the policy that a real matrix on one device can get.
    for names in NAMES {
        assert!(found.iter().any(|own| own.0 == names.1 || own.1 == names.1), "{} was never taken", names.0);
    }
    let Some(in_octave) = in_octave(folder.path(), systems.len()) else { return };
    for ((name, ..), (own, there)) in systems.iter().zip(found.iter().zip(in_octave)) {
        assert_eq!((own.2 == "converged"), (there.2 == "0"), "{name}: flag in Octave");
        assert_eq!(
            (&own.0, &own.1, own.3, &own.4),
            (&there.0, &there.1, there.3, &there.4),
            "{name}: Rust, then Octave"
        );
    }
}
