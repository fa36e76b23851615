//! `-Laplace u + shift u = f` by multigrid against closed forms and the reference, on every device and in both families of
//! kernels.

use std::f64::consts::PI;

use clinalg::multigrid::{
    self, Backend, Cycle, Grid, Poisson, PoissonOperator, PoissonParams, PoissonPreconditioner, Smoother,
};
use clinalg::ops::{self, Operator};
use clinalg::precond::{MultigridParams, MultigridPreconditioner};
use clinalg::solve::{Cg, CgParams, Preconditioner, Solver, Stop};
use clinalg::{Error, Real, Vector};
use clinalg_reference::grid2::{self, Order};

use crate::common::grids::{assert_backends_agree, inside, run, unknowns};
use crate::common::{capable, contexts, difference, eps, has, largest, noise};

/// From hardly a shift to one that leaves nothing of the differences at N = 129.
const SHIFTS: [f64; 4] = [0.5, 300.0, 2e5, 1e9];

fn sine(n: usize, k: usize, l: usize) -> Vec<f64> {
    let h = 1.0 / (n - 1) as f64;
    let along = |m: usize, i: usize| (m as f64 * PI * i as f64 * h).sin();
    (0..n * n).map(|p| if inside(n, p) { along(k, p % n) * along(l, p / n) } else { 0.0 }).collect()
}

/// Eigenvalue of -Laplace_h for [`sine`].
fn eigenvalue(n: usize, k: usize, l: usize) -> f64 {
    let h = 1.0 / (n - 1) as f64;
    let part = |m: usize| (m as f64 * PI * h / 2.0).sin().powi(2);
    4.0 / (h * h) * (part(k) + part(l))
}

#[test]
fn one_interior_point_by_hand() {
    // h = 1/2, shift 4: (4/h^2 + 4) u = f + (2 + 4 + 6 + 8) / h^2, so 20 u = 20 + 80.
    let u = [0.0, 2.0, 0.0, 4.0, 1.0, 6.0, 0.0, 8.0, 0.0];
    let f = [9.0, 9.0, 9.0, 9.0, 20.0, 9.0, 9.0, 9.0, 9.0];
    let mut d = [7.0; 9];
    grid2::defect_shifted(3, 4.0, &u, &f, &mut d);
    assert_eq!(d, [0.0, 0.0, 0.0, 0.0, 20.0 + 80.0 - 20.0, 0.0, 0.0, 0.0, 0.0]);
    let mut v = u;
    grid2::red_black_shifted(3, 4.0, &mut v, &f, Order::RedFirst);
    assert_eq!(v[4], 5.0);
    grid2::jacobi_shifted(3, 4.0, 0.5, &u, &f, &mut v);
    assert_eq!(v[4], 3.0);
    for context in capable::<f64>() {
        for backend in [Backend::Kernels, Backend::Matrix, Backend::Reference] {
            for smoother in [Smoother::RedBlack, Smoother::Jacobi] {
                let params = PoissonParams { shift: 4.0, backend, smoother, ..Default::default() };
                let (v, report) = run(Some(context), &Grid::square(3), &params, &f, &u);
                assert_eq!((report.stop, report.cycles), (Stop::Converged, 1), "{backend:?} {smoother:?}");
                assert_eq!(v, [0.0, 2.0, 0.0, 4.0, 5.0, 6.0, 0.0, 8.0, 0.0]);
            }
        }
    }
}

fn backends_agree<T: Real>(bound: f64) {
    for n in [3, 5, 17, 65, 129] {
        let (f, u) = (noise::<T>(n * n, 5), noise::<T>(n * n, 6));
        for shift in SHIFTS {
            for (smoother, cycle) in [
                (Smoother::RedBlack, Cycle::V),
                (Smoother::RedBlack, Cycle::Full),
                (Smoother::Jacobi, Cycle::W),
                (Smoother::Jacobi, Cycle::Full),
            ] {
                let params =
                    PoissonParams { shift, cycle, smoother, tolerance: 0.0, max_cycles: 2, ..Default::default() };
                assert_backends_agree(&Grid::square(n), &params, &u, bound, |context, params| {
                    run(context, &Grid::square(n), params, &f, &u)
                });
            }
        }
    }
}

#[test]
fn the_three_backends_agree_f64() {
    backends_agree::<f64>(1e-11);
}

#[test]
fn the_three_backends_agree_f32() {
    if crate::common::single() {
        backends_agree::<f32>(1e-5);
    }
}

#[test]
fn both_shapes_give_the_same_bits() {
    if !clinalg_testing::thorough() {
        return clinalg_testing::skip(crate::common::ONE_FAMILY);
    }
    for pair in contexts().chunks(2).filter(|pair| has::<f64>(&pair[0])) {
        for (n, cycle, smoother) in [
            (17, Cycle::V, Smoother::Jacobi),
            (129, Cycle::Full, Smoother::RedBlack),
            (257, Cycle::W, Smoother::Jacobi),
        ] {
            let (f, u) = (noise::<f64>(n * n, 7), noise::<f64>(n * n, 8));
            let params =
                PoissonParams { shift: 77.7, cycle, smoother, tolerance: 0.0, max_cycles: 3, ..Default::default() };
            let [cpu, gpu] =
                [&pair[0], &pair[1]].map(|context| run(Some(context), &Grid::square(n), &params, &f, &u).0);
            assert!(cpu == gpu, "{smoother:?} {cycle:?}, n = {n}: {:e}", difference(&cpu, &gpu));
        }
    }
}

/// Sines are eigenvectors: the discrete solution is known, and its error falls by four per refinement.
#[test]
fn a_sine_is_solved_to_its_closed_form() {
    for context in capable::<f64>() {
        for backend in [Backend::Kernels, Backend::Matrix, Backend::Reference] {
            for (shift, k, l) in [(0.5, 1, 1), (300.0, 2, 3), (300.0, 1, 1)] {
                let exact = ((k * k + l * l) as f64) * PI * PI + shift;
                let error = |n: usize| {
                    let u = sine(n, k, l);
                    let f: Vec<f64> = u.iter().map(|u| exact * u).collect();
                    let params = PoissonParams { shift, backend, tolerance: 0.0, ..Default::default() };
                    let (got, report) = run(Some(context), &Grid::square(n), &params, &f, &vec![0.0; n * n]);
                    assert_eq!(report.stop, Stop::RoundingFloor, "{report:?}");
                    let discrete = exact / (eigenvalue(n, k, l) + shift);
                    let expected: Vec<f64> = u.iter().map(|u| discrete * u).collect();
                    let floor = eps::<f64>() * 8.0 * ((n - 1) * (n - 1)) as f64 / exact + 16.0 * eps::<f64>();
                    assert!(difference(&got, &expected) < floor, "n = {n}: {:e}", difference(&got, &expected));
                    difference(&got, &u)
                };
                let errors = [33, 65, 129].map(error);
                for pair in errors.windows(2) {
                    assert!((3.8..4.3).contains(&(pair[0] / pair[1])), "{backend:?}, shift {shift}: {errors:?}");
                }
            }
        }
    }
}

/// A shift far below the unit roundoff times 4 / h^2 must not be lost in single precision.
#[test]
fn a_small_shift_is_felt_in_single_precision() {
    if !crate::common::single() {
        return;
    }
    for context in capable::<f32>() {
        let (n, shift) = (513, 1.0);
        assert!((shift / (4.0 * 512.0 * 512.0)) < f64::from(f32::EPSILON) * 16.0);
        let f = noise::<f32>(n * n, 30);
        let solve = |shift| {
            run(
                Some(context),
                &Grid::square(n),
                &PoissonParams { shift, tolerance: 1e-4, ..Default::default() },
                &f,
                &vec![0.0; n * n],
            )
            .0
        };
        let wide: Vec<f64> = f.iter().map(|&f| f64::from(f)).collect();
        let oracle = |shift| {
            run(None, &Grid::square(n), &PoissonParams { shift, ..Default::default() }, &wide, &vec![0.0; n * n]).0
        };
        let (with, without) = (oracle(shift), oracle(0.0));
        let effect: Vec<f64> = with.iter().zip(&without).map(|(a, b)| a - b).collect();
        let got: Vec<f64> = solve(shift).iter().zip(&solve(0.0)).map(|(a, b)| f64::from(a - b)).collect();
        let along =
            got.iter().zip(&effect).map(|(a, b)| a * b).sum::<f64>() / effect.iter().map(|e| e * e).sum::<f64>();
        assert!((along - 1.0).abs() < 0.05, "{along} of the effect of the shift");
    }
}

#[test]
fn the_cycle_count_depends_neither_on_n_nor_on_the_shift() {
    for context in capable::<f64>() {
        for shift in [0.0].into_iter().chain(SHIFTS) {
            for n in [65, 129, 257, 513] {
                let f = noise::<f64>(n * n, 9);
                let params = PoissonParams { shift, ..Default::default() };
                let (_, report) = run(Some(context), &Grid::square(n), &params, &f, &vec![0.0; n * n]);
                assert_eq!(report.stop, Stop::Converged, "n = {n}, shift {shift}: {:?}", report.history);
                assert!(report.cycles <= 9, "n = {n}, shift {shift}: {:?}", report.history);
            }
        }
    }
}

#[test]
fn operator_and_preconditioner_take_the_shift() {
    for context in capable::<f64>() {
        let shift_of = |shift| PoissonParams { shift, pre: 1, post: 1, ..Default::default() };
        for n in [3, 4, 5, 9, 20, 65] {
            let shift = 12.5;
            let operator = PoissonOperator::<f64>::new(context, &Grid::square(n), &shift_of(shift)).unwrap();
            let x = noise::<f64>(n * n, 21);
            let clear: Vec<f64> = (0..n * n).map(|k| if inside(n, k) { x[k] } else { 0.0 }).collect();
            let mut product = vec![0.0; n * n];
            grid2::defect_shifted(n, shift, &clear, &vec![0.0; n * n], &mut product);
            // Integrated over cells.
            let area = 1.0 / ((n - 1) * (n - 1)) as f64;
            let product: Vec<f64> = unknowns(n, &product).iter().map(|p| -area * p).collect();
            let start = noise::<f64>(product.len(), 22);
            for (alpha, beta) in [(2.0, 0.0), (0.5, -3.0)] {
                let mut y = Vector::from_slice(context, &start).unwrap();
                operator.apply(alpha, &Vector::from_slice(context, &unknowns(n, &x)).unwrap(), beta, &mut y).unwrap();
                let want: Vec<f64> = product.iter().zip(&start).map(|(p, s)| alpha * p + beta * s).collect();
                let bound = 8.0 * eps::<f64>() * largest(want.iter().copied());
                assert!(difference(&y.to_vec().unwrap(), &want) <= bound, "n = {n}, beta = {beta} on {context:?}");
            }
        }
        for (n, shift) in [(33, 300.0), (129, 2e5)] {
            let (grid, params) = (Grid::square(n), shift_of(shift));
            let operator = PoissonOperator::new(context, &grid, &params).unwrap();
            solved(&operator, &mut PoissonPreconditioner::new(context, &grid, &params).unwrap(), n);
            let matrix = multigrid::assemble(context, n, 2, shift, None).unwrap();
            let params = MultigridParams::default().shift(shift);
            solved(&matrix, &mut MultigridPreconditioner::new(context, n, &params).unwrap(), n);
        }
        for shift in [-1.0, f64::NAN, f64::INFINITY] {
            let (grid, params) = (Grid::square(9), PoissonParams { shift, ..Default::default() });
            let operator = PoissonOperator::<f64>::new(context, &grid, &params);
            assert!(matches!(operator, Err(Error::Value { argument: "shift", .. })));
            let preconditioner = PoissonPreconditioner::<f64>::new(context, &grid, &params);
            assert!(matches!(preconditioner, Err(Error::Value { argument: "shift", .. })));
            let multigrid = MultigridParams::default().shift(shift);
            assert!(MultigridPreconditioner::<f64>::new(context, 9, &multigrid).is_err());
            let message = Poisson::<f64>::new(context, &grid, &params).unwrap_err().to_string();
            assert!(message.contains("shift") && message.contains("at least 0"), "{message}");
            assert!(Poisson::<f64>::reference(&grid, &params, None).is_err());
        }
    }
}

/// Fails unless `m` is positive and solves with the operator in few iterations.
fn solved(a: &dyn Operator<f64>, m: &mut dyn Preconditioner<f64>, n: usize) {
    let (context, size) = (a.context(), a.rows());
    let b = Vector::from_slice(context, &noise::<f64>(size, 23)).unwrap();
    let mut z = Vector::zeros(context, size).unwrap();
    m.apply(&b, &mut z).unwrap();
    assert!(ops::dot(&b, &z).unwrap() > 0.0);
    let mut x = Vector::zeros(context, size).unwrap();
    let mut cg = Cg::new(context, size, CgParams::default().tolerance(1e-11)).unwrap();
    let report = cg.solve(a, Some(m), &b, &mut x).unwrap();
    assert_eq!(report.stop, Stop::Converged);
    assert!(report.iterations <= 12, "n = {n}: {}", report.iterations);
}
