//! Convergence histories beside those of SciPy's solvers, which `data/krylov_histories.py` has written down.

use clinalg::runtime::{Shape, devices};
use clinalg::solve::{BiCgStab, Cg, Gmres, Params, Stop};
use clinalg::{Context, ContextOptions, Csr, Vector};
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
        let params = Params { tolerance, ..Params::default() };
        let title = format!("{} {n} {} {}, {:?}", text("kind"), case["wind"], text("solver"), context.shape());
        // BiCGStab answers to rounding errors with other numbers of iterations.
        let (report, spread) = match text("solver") {
            "cg" => (Cg::new(context, size).unwrap().solve(&a, None, &db, &mut x, &params), 0.01),
            "bicgstab" => (BiCgStab::new(context, size).unwrap().solve(&a, None, &db, &mut x, &params), 0.1),
            "gmres" => (Gmres::new(context, size, 20).unwrap().solve(&a, None, &db, &mut x, &params), 0.01),
            other => panic!("no solver {other}"),
        };
        let report = report.unwrap();
        assert_eq!(report.stop, Stop::Converged, "{title}: {report}");

        // SciPy's iterates make their first steps with the same residuals.
        let start: Vec<f64> = case["start"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        for (k, (got, want)) in report.history.iter().zip(&start).enumerate() {
            assert!((got - want).abs() <= 1e-6 * want, "{title}: residual {k} is {got}, expected {want}");
        }
        let want = case["iterations"].as_u64().unwrap() as f64;
        let difference = (report.iterations as f64 - want).abs();
        assert!(difference <= 2.0_f64.max(spread * want), "{title}: {} iterations, SciPy {want}", report.iterations);

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

fn on_every_device(shape: Shape) {
    for device in devices().unwrap_or_default() {
        let context =
            Context::new(&device, &ContextOptions { shape: Some(shape), ..ContextOptions::default() }).unwrap();
        if context.require::<f64>().is_ok() {
            compare(&context);
        }
    }
}

#[test]
fn gpu_kernels_converge_as_scipy_does() {
    on_every_device(Shape::Gpu);
}

#[test]
fn processor_kernels_converge_as_scipy_does() {
    on_every_device(Shape::Cpu);
}
