//! Poisson with corrections in single precision: the accuracy of double precision, on every device and in both kernel
//! shapes.

use std::f64::consts::PI;

use clinalg::multigrid::{Backend, Coefficient, Cycle, Grid, Poisson, PoissonParams, PoissonReport, Smoother};
use clinalg::solve::Stop;
use clinalg::{Context, Vector};
use clinalg_reference::{grid2, grid3};

use crate::common::{contexts, has, noise};

fn capable() -> impl Iterator<Item = &'static Context> {
    contexts().iter().filter(|context| has::<f64>(context))
}

fn mixed() -> PoissonParams {
    PoissonParams { mixed_precision: true, ..PoissonParams::default() }
}

/// The unit square or cube.
fn whole(n: usize, dim: usize) -> Grid {
    if dim == 3 { Grid::cube(n) } else { Grid::square(n) }
}

fn solve(context: &Context, grid: &Grid, params: &PoissonParams, f: &[f64], u: &[f64]) -> (Vec<f64>, PoissonReport) {
    let mut u = u.to_vec();
    let report = Poisson::<f64>::new(context, grid, params).unwrap().solve(f, &mut u).unwrap();
    assert_eq!(report.history.len(), report.cycles + 1);
    (u, report)
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// |b - A u| / |b| from the reference alone: b = f + Laplace_h of the boundary values.
fn true_residual(grid: &Grid, shift: f64, u: &[f64], f: &[f64]) -> f64 {
    let (n, dim) = (grid.points()[0], grid.dim());
    let defect = |u: &[f64]| {
        let mut d = vec![0.0; u.len()];
        match dim {
            2 => grid2::defect_shifted(n, shift, u, f, &mut d),
            _ => grid3::defect(n, shift, u, f, &mut d),
        }
        norm(&d)
    };
    let inside = |p: usize| (0..dim as u32).all(|k| (1..n - 1).contains(&(p / n.pow(k) % n)));
    let boundary: Vec<f64> = u.iter().enumerate().map(|(p, &v)| if inside(p) { 0.0 } else { v }).collect();
    defect(u) / defect(&boundary)
}

#[test]
fn the_accuracy_is_that_of_double_precision() {
    for context in capable() {
        for (n, dim, cycle, smoother, shift) in [
            (3_usize, 2, Cycle::V, Smoother::RedBlack, 0.0),
            (65, 2, Cycle::W, Smoother::RedBlack, 30.0),
            (129, 2, Cycle::V, Smoother::RedBlack, 0.0),
            (129, 2, Cycle::Full, Smoother::RedBlack, 0.0),
            (65, 2, Cycle::V, Smoother::Jacobi, 0.0),
            (3, 3, Cycle::V, Smoother::RedBlack, 0.0),
            (17, 3, Cycle::Full, Smoother::RedBlack, 5.0),
            (33, 3, Cycle::V, Smoother::RedBlack, 0.0),
        ] {
            let points = n.pow(dim as u32);
            let (f, u) = (noise::<f64>(points, 1), noise::<f64>(points, 2));
            let grid = whole(n, dim);
            // Far below 6e-8, where single precision ends.
            let params = PoissonParams { cycle, smoother, shift, tolerance: 1e-12, ..mixed() };
            let what = format!("n = {n}, {dim}-D, {cycle:?} {smoother:?} on {context:?}");
            let (u, report) = solve(context, &grid, &params, &f, &u);
            assert_eq!(report.stop, Stop::Converged, "{what}: {:?}", report.history);
            let residual = true_residual(&grid, shift, &u, &f);
            assert!(residual <= 1.01e-12, "{what}: {residual:e}");
            assert!((residual - report.relative_residual).abs() <= 1e-2 * residual + 1e-15, "{what}: {residual:e}");
            // It takes about as many cycles as in double precision alone.
            let (_, double) =
                solve(context, &grid, &PoissonParams { mixed_precision: false, ..params }, &f, &noise(points, 2));
            assert!(report.cycles <= double.cycles + 2, "{what}: {} and {}", report.cycles, double.cycles);
        }
    }
}

/// Smooth data are the hard case: the defect is a small difference of large numbers. Single precision alone stops at an
/// error of about 6e-8 |u| / h^2.
#[test]
fn smooth_solutions_have_the_error_of_the_stencil_alone() {
    for context in capable() {
        for (n, dim) in [(257_usize, 2), (33, 3)] {
            let points = n.pow(dim as u32);
            let h = 1.0 / (n - 1) as f64;
            let sines = |p: usize| (0..dim as u32).map(|k| (PI * (p / n.pow(k) % n) as f64 * h).sin()).product::<f64>();
            let scale = dim as f64 * PI * PI;
            let f: Vec<f64> = (0..points).map(|p| scale * sines(p)).collect();
            let params = PoissonParams { cycle: Cycle::Full, tolerance: 1e-11, ..mixed() };
            let (u, report) = solve(context, &whole(n, dim), &params, &f, &vec![0.0; points]);
            assert!(report.stop.is_success(), "{report:?}");
            // The discrete solution is the same sine, by the eigenvalue of the stencil.
            let eigenvalue = dim as f64 * 4.0 / (h * h) * (PI * h / 2.0).sin().powi(2);
            let error = (0..points).map(|p| (u[p] - scale / eigenvalue * sines(p)).abs()).fold(0.0, f64::max);
            assert!(error < 1e-10, "{dim}-D on {context:?}: {error:e}");
        }
    }
}

#[test]
fn data_beyond_the_range_of_single_precision_are_solved() {
    for context in capable() {
        for factor in [1e-200, 1e-60, 1e60, 1e200] {
            let n = 33;
            let f: Vec<f64> = noise::<f64>(n * n, 1).into_iter().map(|v| v * factor).collect();
            let params = PoissonParams { tolerance: 1e-11, ..mixed() };
            let (u, report) = solve(context, &Grid::square(n), &params, &f, &vec![0.0; n * n]);
            assert_eq!(report.stop, Stop::Converged, "{factor:e} on {context:?}: {:?}", report.history);
            let scaled = |values: &[f64]| values.iter().map(|v| v / factor).collect::<Vec<_>>();
            let residual = true_residual(&Grid::square(n), 0.0, &scaled(&u), &scaled(&f));
            assert!(residual <= 1.01e-11, "{factor:e}: {residual:e}");
        }
        let (u, report) = solve(context, &Grid::square(17), &mixed(), &vec![0.0; 17 * 17], &vec![0.0; 17 * 17]);
        assert!(report.stop == Stop::Converged && report.cycles == 0 && u.iter().all(|&v| v == 0.0));
        let (_, report) = solve(context, &Grid::square(17), &mixed(), &vec![f64::NAN; 17 * 17], &vec![0.0; 17 * 17]);
        assert_eq!(report.stop, Stop::NotFinite);
    }
}

#[test]
fn a_solver_is_used_again() {
    for context in capable() {
        let n = 33;
        let mut poisson = Poisson::<f64>::new(context, &Grid::square(n), &mixed()).unwrap();
        let results = [1, 2, 1].map(|seed| {
            let f = Vector::from_slice(context, &noise::<f64>(n * n, seed)).unwrap();
            let mut u = Vector::zeros(context, n * n).unwrap();
            assert_eq!(poisson.solve_device(&f, &mut u).unwrap().stop, Stop::Converged);
            u.to_vec().unwrap()
        });
        assert!(results[0] == results[2] && results[0] != results[1]);
    }
}

#[test]
fn what_has_no_mixed_precision_says_so() {
    let Some(context) = capable().next() else { return };
    let square = Grid::square(17);
    let id = |params: &PoissonParams| Poisson::<f64>::new(context, &square, params).unwrap_err().id();
    assert_eq!(Poisson::<f32>::new(context, &square, &mixed()).unwrap_err().id(), "clinalg:argument:value");
    assert_eq!(Poisson::<f64>::reference(&square, &mixed(), None).unwrap_err().id(), "clinalg:argument:value");
    for backend in [Backend::Matrix, Backend::Reference] {
        assert_eq!(id(&PoissonParams { backend, ..mixed() }), "clinalg:argument:value");
    }
    let ones = vec![1.0; 17 * 17];
    let varying = Poisson::with_coefficient(context, &square, &mixed(), Coefficient::Points(&ones));
    assert_eq!(varying.unwrap_err().id(), "clinalg:argument:value");
}
