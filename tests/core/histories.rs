//! Convergence histories beside those of SciPy's solvers, which `data/krylov_histories.py` has written down.

use clinalg::runtime::{KernelFamily, devices};
use clinalg::solve::{BiCgStab, Cg, Gmres, GmresParams, Solver, Stop, Stopping};
use clinalg::{Complex, Context, ContextOptions, Csr, Vector};
use serde_json::Value;

/// As in the script: row-wise neighbours on a grid, with different weights and a wind.
fn entries(n: usize, kind: &str, wind: f64) -> Vec<(usize, usize, f64)> {
    let coefficient = |i: usize, j: usize| 1.0 + ((i * 7 + j * 3) % 11) as f64;
    let mut all = Vec::new();
    for i in 0..n * n {
        let (x, y) = ((i % n) as i64, (i / n) as i64);
        let mut diagonal = 0.0;
        for (dx, dy, blow) in [(-1, 0, -wind), (1, 0, wind), (0, -1, -wind / 2.0), (0, 1, wind / 2.0)] {
            let inside = [x + dx, y + dy].iter().all(|place| (0..n as i64).contains(place));
            let j = (i as i64 + dx + n as i64 * dy) as usize;
            let a = if kind == "variable" && inside { coefficient(i.min(j), i.max(j)) } else { 1.0 };
            diagonal += a;
            if inside {
                all.push((i, j, blow - a));
            }
        }
        all.push((i, i, diagonal));
    }
    all
}

fn compare(context: &Context) {
    let stored: Value = serde_json::from_str(include_str!("data/krylov_histories.json")).unwrap();
    let tolerance = stored["tolerance"].as_f64().unwrap();
    for case in stored["cases"].as_array().unwrap() {
        let text = |key: &str| case[key].as_str().unwrap();
        let n = case["n"].as_u64().unwrap() as usize;
        let size = n * n;
        let entries = entries(n, text("kind"), case["wind"].as_f64().unwrap());
        let a = Csr::from_triplets(context, size, size, &entries).unwrap();
        let b: Vec<f64> = (0..size).map(|i| ((i * 37 + i * i % 101) % 64) as f64 - 31.0).collect();
        let (db, mut x) = (Vector::from_slice(context, &b).unwrap(), Vector::zeros(context, size).unwrap());
        let stopping = Stopping::default().tolerance(tolerance);
        let title = format!("{} {n} {} {}, {:?}", text("kind"), case["wind"], text("solver"), context.family());
        let report = match text("solver") {
            "cg" => Cg::new(context, size, stopping.into()).unwrap().solve(&a, None, &db, &mut x),
            "bicgstab" => BiCgStab::new(context, size, stopping.into()).unwrap().solve(&a, None, &db, &mut x),
            "gmres" => {
                let params = GmresParams::from(stopping).restart(20);
                Gmres::new(context, size, params).unwrap().solve(&a, None, &db, &mut x)
            }
            other => panic!("no solver {other}"),
        };
        let report = report.unwrap();
        assert_eq!(report.stop, Stop::Converged, "{title}: {report}");

        // SciPy's iterates make their first steps with the same residuals.
        let start: Vec<f64> = case["start"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        for (k, (got, want)) in report.history.iter().zip(&start).enumerate() {
            assert!((got - want).abs() <= 1e-6 * want, "{title}: residual {k} is {got}, expected {want}");
        }
        // For BiCGStab the range of SciPy's numbers over changes of rounding.
        let of_scipy = |key: &str| case.get(key).unwrap_or(&case["iterations"]).as_u64().unwrap() as usize;
        let slack = 2.max(of_scipy("iterations") / 100);
        let expected = of_scipy("fewest") - slack..=of_scipy("most") + slack;
        assert!(expected.contains(&report.iterations), "{title}: {} iterations, SciPy {expected:?}", report.iterations);

        // The true residual, from the entries.
        let (x, mut r) = (x.to_vec().unwrap(), b.clone());
        entries.iter().for_each(|&(i, j, v)| r[i] -= v * x[j]);
        let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let residual = norm(&r) / norm(&b);
        assert!(residual <= tolerance * (1.0 + 1e-6), "{title}: true residual {residual:e}");
        assert!((report.relative_residual - residual).abs() <= 1e-6 * residual, "{title}: {report}");
        assert_eq!(report.history.last(), Some(&report.relative_residual));
    }
}

/// As in `data/complex_histories.py`.
fn complex_entries(n: usize, shift: Complex<f64>, phase: f64) -> Vec<(usize, usize, Complex<f64>)> {
    let one = Complex::new(1.0, 0.0);
    let right = Complex::from_polar(1.0, phase);
    let mut all = Vec::new();
    for i in 0..n * n {
        let (x, y) = ((i % n) as i64, (i / n) as i64);
        for (dx, dy, weight) in [(-1, 0, right.conj()), (1, 0, right), (0, -1, one), (0, 1, one)] {
            if [x + dx, y + dy].iter().all(|place| (0..n as i64).contains(place)) {
                all.push((i, (i as i64 + dx + n as i64 * dy) as usize, -weight));
            }
        }
        all.push((i, i, shift + 4.0));
    }
    all
}

fn compare_complex(context: &Context) {
    let stored: Value = serde_json::from_str(include_str!("data/complex_histories.json")).unwrap();
    let tolerance = stored["tolerance"].as_f64().unwrap();
    let number = |pair: &Value| Complex::new(pair[0].as_f64().unwrap(), pair[1].as_f64().unwrap());
    for case in stored["cases"].as_array().unwrap() {
        let n = case["n"].as_u64().unwrap() as usize;
        let (size, solver) = (n * n, case["solver"].as_str().unwrap());
        let title = format!("{n}, {}, {solver}, {:?}", case["shift"], context.family());
        let entries = complex_entries(n, number(&case["shift"]), case["phase"].as_f64().unwrap());
        let a = Csr::from_triplets(context, size, size, &entries).unwrap();
        let part = |i: usize, factor: usize, modulus: usize| ((i * factor + i * i % modulus) % 64) as f64 - 31.0;
        let b: Vec<_> = (0..size).map(|i| Complex::new(part(i, 37, 101), part(i, 29, 83))).collect();
        let (db, mut x) = (Vector::from_slice(context, &b).unwrap(), Vector::zeros(context, size).unwrap());
        let stopping = Stopping::default().tolerance(tolerance);
        let (report, spread) = match solver {
            "cg" => (Cg::new(context, size, stopping.into()).unwrap().solve(&a, None, &db, &mut x), 0.01),
            "bicgstab" => (BiCgStab::new(context, size, stopping.into()).unwrap().solve(&a, None, &db, &mut x), 0.1),
            "gmres" => {
                let params = GmresParams::from(stopping).restart(20);
                (Gmres::new(context, size, params).unwrap().solve(&a, None, &db, &mut x), 0.01)
            }
            other => panic!("no solver {other}"),
        };
        let report = report.unwrap();
        assert_eq!(report.stop, Stop::Converged, "{title}: {report}");
        let start: Vec<f64> = case["start"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        for (k, (got, want)) in report.history.iter().zip(&start).enumerate() {
            assert!((got - want).abs() <= 1e-6 * want, "{title}: residual {k} is {got}, expected {want}");
        }
        let want = case["iterations"].as_u64().unwrap() as f64;
        let difference = (report.iterations as f64 - want).abs();
        assert!(difference <= 2.0_f64.max(spread * want), "{title}: {} iterations, SciPy {want}", report.iterations);
        let x = x.to_vec().unwrap();
        let norm = |v: &[Complex<f64>]| v.iter().map(|v| v.norm_sqr()).sum::<f64>().sqrt();
        let mut r = b.clone();
        entries.iter().for_each(|&(i, j, v)| r[i] -= v * x[j]);
        let residual = norm(&r) / norm(&b);
        assert!(residual <= tolerance * (1.0 + 1e-6), "{title}: true residual {residual:e}");
        // The smallest eigenvalue of these matrices is above 0.02 in modulus, and |A^-1 r| at most 50 |r|.
        for (k, want) in case["solution"].as_array().unwrap().iter().map(number).enumerate() {
            let error = (x[k] - want).norm();
            assert!(error <= 50.0 * tolerance * norm(&b), "{title}: x[{k}] is {}, expected {want}", x[k]);
        }
    }
}

fn on_every_device(family: KernelFamily) {
    for device in clinalg_testing::found(devices()).unwrap_or_default() {
        let context =
            Context::new(&device, &ContextOptions { family: Some(family), ..ContextOptions::default() }).unwrap();
        if context.require::<f64>().is_ok() {
            compare(&context);
            compare_complex(&context);
        }
    }
}

#[test]
fn gpu_kernels_converge_as_scipy_does() {
    on_every_device(KernelFamily::Gpu);
}

#[test]
fn processor_kernels_converge_as_scipy_does() {
    on_every_device(KernelFamily::Cpu);
}
