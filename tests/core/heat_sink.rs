//! A finite-element matrix of tens of thousands of rows, against what a direct solver gives (tests/data/README.md).

use std::path::PathBuf;

use clinalg::io::matrix_market;
use clinalg::precond::Jacobi;
use clinalg::runtime::devices;
use clinalg::solve::{BiCgStab, Cg, Report, Solver, Stop, Stopping};
use clinalg::{Context, ContextOptions, Csr, Vector};

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

fn column(name: &str) -> Vec<f64> {
    matrix_market::read(data(name)).unwrap().to_column_major().unwrap()
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|v| v * v).sum::<f64>().sqrt()
}

fn assert_solved(what: &str, report: &Report, parts_sum: impl Fn(&[f64]) -> f64, x: &[f64], expected: &[f64]) {
    assert_eq!(report.stop, Stop::Converged, "{what}");
    assert!(report.relative_residual <= 1e-10, "{what}: {:e}", report.relative_residual);
    // The direct solution has 11 digits; SciPy's own conjugate gradients come to 2.4e-11 at this tolerance.
    let difference = norm(x.iter().zip(expected).map(|(a, b)| a - b)) / norm(expected.iter().copied());
    assert!(difference <= 1e-9, "{what}: {difference:e} from the direct solution");
    // What flows in flows out: the rows of A sum to the heat that the air takes, 4000 W per metre of depth.
    let heat = parts_sum(x);
    assert!((heat - 4000.0).abs() <= 1e-4, "{what}: {heat} W/m to the air");
}

#[test]
fn krylov_methods_give_the_direct_solution() {
    let Some(devices) = clinalg_testing::found(devices()) else { return };
    let parts = matrix_market::read(data("heat_sink.mtx")).unwrap().to_csr_parts::<f64>().unwrap();
    assert_eq!((parts.rows, parts.cols, parts.values.len()), (26_794, 26_794, 181_746));
    let (b, expected) = (column("heat_sink_b.mtx"), column("heat_sink_x.mtx"));
    let to_air: Vec<f64> = (0..parts.rows).map(|i| parts.row(i).map(|(_, value)| value).sum()).collect();
    let heat = |x: &[f64]| x.iter().zip(&to_air).map(|(x, a)| x * a).sum();

    for device in &devices {
        let context = Context::new(device, &ContextOptions::default()).unwrap();
        if let Err(error) = context.require::<f64>() {
            println!("not on {}: {error}", device.info().name);
            continue;
        }
        let a = Csr::from_parts(&context, &parts).unwrap();
        let rhs = Vector::from_slice(&context, &b).unwrap();
        let stopping = Stopping::default().tolerance(1e-10).max_iterations(10_000);
        let mut jacobi = Jacobi::new(&a.diagonal().unwrap()).unwrap();

        let mut x = Vector::zeros(&context, parts.rows).unwrap();
        let report = Cg::new(&context, parts.rows, stopping.clone().into())
            .unwrap()
            .solve(&a, Some(&mut jacobi), &rhs, &mut x)
            .unwrap();
        assert_solved("conjugate gradients", &report, heat, &x.to_vec().unwrap(), &expected);

        let mut x = Vector::zeros(&context, parts.rows).unwrap();
        let report = BiCgStab::new(&context, parts.rows, stopping.into())
            .unwrap()
            .solve(&a, Some(&mut jacobi), &rhs, &mut x)
            .unwrap();
        assert_solved("BiCGStab", &report, heat, &x.to_vec().unwrap(), &expected);
    }
}
