//! The 2-D Poisson problem against closed forms and the reference, on every device and in both families of kernels.

use std::f64::consts::PI;
use std::ops::ControlFlow;

use clinalg::multigrid::{
    self, Backend, Cycle, Grid, Poisson, PoissonOperator, PoissonParams, PoissonPreconditioner, SideValues, Smoother,
};
use clinalg::ops::{self, Operator};
use clinalg::precond::{MultigridParams, MultigridPreconditioner};
use clinalg::runtime::devices;
use clinalg::solve::{Preconditioner, Stop};
use clinalg::{Context, ContextOptions, Error, KernelFamily, Precision, Real, Vector};
use clinalg_reference::grid2::{self, Order};

use crate::common::grids::{assert_backends_agree, boundary_of, inside, run, sample, unknowns};
use crate::common::{capable, contexts, difference, largest, noise};

/// Rounding of a few operations on numbers as large as those in `scale`.
#[track_caller]
fn assert_close<T: Real>(got: &[T], expected: &[T], ulps: f64, what: &str) {
    let bound = ulps * T::epsilon().into_f64() * largest(expected.iter().copied()).max(f64::from(f32::MIN_POSITIVE));
    let found = difference(got, expected);
    assert!(found <= bound, "{what}: {found:e} > {bound:e}");
}

const SIDES: [usize; 7] = [3, 5, 9, 17, 33, 65, 129];

fn components_match<T: Real>() {
    for context in capable::<T>() {
        // Sizes that are no power of two plus one are grids as well, but for the transfers.
        for n in SIDES.into_iter().chain([4, 6, 12, 20, 31, 100]) {
            let (u, f) = (noise::<T>(n * n, 1), noise::<T>(n * n, 2));
            let what = format!("n = {n} on {context:?}");
            let (du, df) = (Vector::from_slice(context, &u).unwrap(), Vector::from_slice(context, &f).unwrap());
            let mut out = Vector::filled(context, n * n, T::from_f64(99.0)).unwrap();
            let mut expected = vec![T::zero(); n * n];

            multigrid::defect(&du, &df, &mut out).unwrap();
            grid2::defect(n, &u, &f, &mut expected);
            assert_close(&out.to_vec().unwrap(), &expected, 4.0, &format!("defect, {what}"));

            let omega = T::from_f64(0.8);
            for sweeps in [0, 1, 2, 3, 9] {
                multigrid::jacobi(&du, &df, &mut out, sweeps, omega).unwrap();
                let mut v = u.clone();
                for _ in 0..sweeps {
                    grid2::jacobi(n, omega, &v, &f, &mut expected);
                    v.copy_from_slice(&expected);
                }
                assert_close(&out.to_vec().unwrap(), &v, 8.0, &format!("{sweeps} x jacobi, {what}"));
                assert_eq!(boundary_of(n, &out.to_vec().unwrap()), boundary_of(n, &u));

                multigrid::red_black(&du, &df, &mut out, sweeps).unwrap();
                let mut v = u.clone();
                (0..sweeps).for_each(|_| grid2::red_black(n, &mut v, &f, Order::RedFirst));
                assert_close(&out.to_vec().unwrap(), &v, 8.0, &format!("{sweeps} x red-black, {what}"));
                assert_eq!(boundary_of(n, &out.to_vec().unwrap()), boundary_of(n, &u));
            }

            let fine = 2 * n - 1;
            let mut out = Vector::filled(context, fine * fine, T::from_f64(99.0)).unwrap();
            let mut expected = vec![T::zero(); fine * fine];
            multigrid::interpolate(&du, &mut out).unwrap();
            grid2::interpolate(fine, &u, &mut expected);
            assert_close(&out.to_vec().unwrap(), &expected, 4.0, &format!("interpolate, {what}"));

            let defects = noise::<T>(fine * fine, 3);
            let mut out = Vector::filled(context, n * n, T::from_f64(99.0)).unwrap();
            let mut expected = vec![T::zero(); n * n];
            multigrid::restrict(&Vector::from_slice(context, &defects).unwrap(), &mut out).unwrap();
            grid2::restrict(fine, &defects, &mut expected);
            assert_close(&out.to_vec().unwrap(), &expected, 4.0, &format!("restrict, {what}"));

            assert_eq!(du.to_vec().unwrap(), u, "an input changed, {what}");
            assert_eq!(df.to_vec().unwrap(), f, "an input changed, {what}");
        }
    }
}

#[test]
fn components_match_the_reference_f32() {
    if crate::common::single() {
        components_match::<f32>();
    }
}

#[test]
fn components_match_the_reference_f64() {
    components_match::<f64>();
}

#[test]
fn components_refuse_what_is_no_grid() {
    let context = &contexts()[0];
    let vector = |len| Vector::<f32>::zeros(context, len).unwrap();
    let id = |result: clinalg::Result<()>| result.unwrap_err().id();
    assert_eq!(id(multigrid::defect(&vector(24), &vector(24), &mut vector(24))), "clinalg:argument:shape");
    assert_eq!(id(multigrid::defect(&vector(4), &vector(4), &mut vector(4))), "clinalg:argument:shape");
    assert_eq!(id(multigrid::defect(&vector(25), &vector(9), &mut vector(25))), "clinalg:argument:length");
    assert_eq!(id(multigrid::jacobi(&vector(25), &vector(25), &mut vector(9), 1, 0.8)), "clinalg:argument:length");
    assert_eq!(id(multigrid::jacobi(&vector(25), &vector(25), &mut vector(25), 1, f32::NAN)), "clinalg:argument:value");
    assert_eq!(id(multigrid::red_black(&vector(0), &vector(0), &mut vector(0), 1)), "clinalg:argument:shape");
    assert_eq!(id(multigrid::interpolate(&vector(9), &mut vector(36))), "clinalg:argument:length");
    assert_eq!(id(multigrid::restrict(&vector(36), &mut vector(9))), "clinalg:argument:shape");
    assert_eq!(id(multigrid::restrict(&vector(9), &mut vector(4))), "clinalg:argument:shape");
    assert_eq!(id(multigrid::restrict(&vector(25), &mut vector(25))), "clinalg:argument:length");
    if let [first, second, ..] = contexts() {
        let (a, b) = (Vector::<f32>::zeros(first, 9).unwrap(), Vector::<f32>::zeros(second, 9).unwrap());
        assert_eq!(id(multigrid::defect(&a, &b, &mut Vector::zeros(first, 9).unwrap())), "clinalg:argument:context");
        let mut fine = Vector::zeros(second, 25).unwrap();
        assert_eq!(id(multigrid::interpolate(&a, &mut fine)), "clinalg:argument:context");
    }
}

fn backends_agree<T: Real>(bound: f64) {
    let smoothers = [Smoother::RedBlack, Smoother::Jacobi];
    let cycles = [Cycle::V, Cycle::W, Cycle::Full];
    for n in SIDES {
        let (f, u) = (noise::<T>(n * n, 5), noise::<T>(n * n, 6));
        for (smoother, cycle, (pre, post)) in smoothers.into_iter().flat_map(|smoother| {
            cycles.into_iter().flat_map(move |cycle| [(2, 1), (0, 1), (1, 3)].map(|s| (smoother, cycle, s)))
        }) {
            let params =
                PoissonParams { cycle, smoother, pre, post, tolerance: 0.0, max_cycles: 2, ..Default::default() };
            assert_backends_agree(&Grid::square(n), &params, &u, bound, |context, params| {
                run(context, &Grid::square(n), params, &f, &u)
            });
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

/// Bands, halos, vectors and fused passes change the order of the work, not its bits.
#[test]
fn both_shapes_give_the_same_bits() {
    if !clinalg_testing::thorough() {
        return clinalg_testing::skip(crate::common::ONE_FAMILY);
    }
    let pairs = contexts().chunks(2).filter(|pair| pair[0].require::<f64>().is_ok());
    for pair in pairs {
        for (n, cycle, smoother) in [
            (17, Cycle::V, Smoother::RedBlack),
            (129, Cycle::Full, Smoother::RedBlack),
            (257, Cycle::V, Smoother::Jacobi),
            (257, Cycle::W, Smoother::RedBlack),
            (513, Cycle::Full, Smoother::Jacobi),
        ] {
            let (f, u) = (noise::<f64>(n * n, 7), noise::<f64>(n * n, 8));
            let params = PoissonParams { cycle, smoother, tolerance: 0.0, max_cycles: 3, ..Default::default() };
            let [cpu, gpu] =
                [&pair[0], &pair[1]].map(|context| run(Some(context), &Grid::square(n), &params, &f, &u).0);
            assert!(cpu == gpu, "{smoother:?} {cycle:?}, n = {n}: {:e}", difference(&cpu, &gpu));
            let again = run(Some(&pair[0]), &Grid::square(n), &params, &f, &u).0;
            assert!(cpu == again, "the same call gave other bits");
        }
    }
}

#[test]
fn the_error_falls_by_four_per_refinement() {
    for context in capable::<f64>() {
        for backend in [Backend::Kernels, Backend::Matrix, Backend::Reference] {
            for (k, l) in [(1.0, 1.0), (2.0, 3.0)] {
                let exact = |x: f64, y: f64| (k * PI * x).sin() * (l * PI * y).sin();
                let eigenvalue = (k * k + l * l) * PI * PI;
                let error = |n: usize| {
                    let f = sample::<f64>(n, |x, y| eigenvalue * exact(x, y));
                    let params = PoissonParams { backend, ..Default::default() };
                    let (u, report) = run(Some(context), &Grid::square(n), &params, &f, &vec![0.0; n * n]);
                    assert_eq!(report.stop, Stop::Converged);
                    // The discrete solution is the same sine, by the eigenvalue of the stencil.
                    let h = 1.0 / (n - 1) as f64;
                    let discrete =
                        4.0 / (h * h) * ((k * PI * h / 2.0).sin().powi(2) + (l * PI * h / 2.0).sin().powi(2));
                    let expected = sample::<f64>(n, |x, y| eigenvalue / discrete * exact(x, y));
                    assert!(difference(&u, &expected) < 1e-9, "n = {n}: {:e}", difference(&u, &expected));
                    difference(&u, &sample(n, exact))
                };
                let errors = [17, 33, 65, 129].map(error);
                for pair in errors.windows(2) {
                    let factor = pair[0] / pair[1];
                    assert!((3.8..4.3).contains(&factor), "{backend:?}, k = {k}, l = {l}: {errors:?}");
                }
            }
        }
    }
}

fn cycles_do_not_depend_on_n(sides: &[usize]) {
    for context in capable::<f64>() {
        let mut counts = Vec::new();
        for &n in sides {
            let f = noise::<f64>(n * n, 9);
            let params = PoissonParams::default();
            let (_, report) = run(Some(context), &Grid::square(n), &params, &f, &vec![0.0; n * n]);
            assert_eq!(report.stop, Stop::Converged, "n = {n}: {:?}", report.history);
            assert!(report.relative_residual <= 1e-10);
            let factor = report.convergence_factor.unwrap();
            assert!(factor <= 0.1, "n = {n}: {factor}, {:?}", report.history);
            counts.push(report.cycles);
        }
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!(most - least <= 1, "{counts:?} cycles at {sides:?}");
    }
}

#[test]
fn the_cycle_count_does_not_depend_on_n() {
    cycles_do_not_depend_on_n(&[129, 257, 513, 1025]);
}

#[test]
#[ignore = "half a minute without optimisation"]
fn the_cycle_count_does_not_depend_on_n_up_to_2049() {
    cycles_do_not_depend_on_n(&[129, 257, 513, 1025, 2049]);
}

#[test]
fn full_multigrid_reaches_the_discretisation_error() {
    let solution = |x: f64, y: f64| (PI * x).sin() * (PI * y).sin() + (x * x - y * y) + (3.0 * x + y).exp() / 20.0;
    let source = |x: f64, y: f64| 2.0 * PI * PI * (PI * x).sin() * (PI * y).sin() - (3.0 * x + y).exp() / 2.0;
    for context in capable::<f64>() {
        for n in [33, 129, 513] {
            let (f, exact) = (sample::<f64>(n, source), sample::<f64>(n, solution));
            let start = boundary_of(n, &exact);
            let error = |max_cycles, tolerance| {
                let params = PoissonParams { cycle: Cycle::Full, max_cycles, tolerance, ..Default::default() };
                let (u, report) = run(Some(context), &Grid::square(n), &params, &f, &start);
                (difference(&u, &exact), report)
            };
            let (discretisation, report) = error(50, 1e-10);
            assert!(matches!(report.stop, Stop::Converged | Stop::RoundingFloor), "{}: {:?}", report.stop, report);
            let (one, report) = error(1, 0.0);
            assert_eq!((report.stop, report.cycles), (Stop::IterationLimit, 1));
            assert!(one <= 1.5 * discretisation, "n = {n}: {one:e} after one pass, {discretisation:e} at the end");
            let (two, _) = error(2, 0.0);
            assert!(two <= 1.05 * discretisation, "n = {n}: {two:e} after a cycle more, {discretisation:e}");
        }
    }
}

/// On a GPU cycles overlap and are looked at several at a time.
#[test]
fn progress_tells_of_every_cycle_and_the_residual_is_that_of_the_solution() {
    let n = 129;
    let (f, start) = (noise::<f64>(n * n, 12), boundary_of(n, &noise::<f64>(n * n, 13)));
    let residual = |u: &[f64]| {
        let mut d = vec![0.0; n * n];
        grid2::defect(n, u, &f, &mut d);
        d.iter().map(|v| v * v).sum::<f64>().sqrt()
    };
    for context in capable::<f64>() {
        for (max_cycles, tolerance) in [(0, 0.0), (1, 0.0), (2, 0.0), (3, 0.0), (7, 0.0), (100, 1e-3), (100, 1e-10)] {
            let params = PoissonParams { max_cycles, tolerance, ..Default::default() };
            let mut poisson = Poisson::<f64>::new(context, &Grid::square(n), &params).unwrap();
            let (mut u, mut seen) = (start.clone(), Vec::new());
            let mut note = |cycle, residual| {
                seen.push((cycle, residual));
                ControlFlow::Continue(())
            };
            let report = poisson.solve_with(&f, &mut u, &mut note).unwrap();
            let history: Vec<_> = report.history.iter().copied().enumerate().collect();
            let what = format!("{max_cycles} cycles to {tolerance:e} on {context:?}: {report:?}");
            assert_eq!(seen, history, "{what}");
            let stop = if tolerance > 0.0 { Stop::Converged } else { Stop::IterationLimit };
            assert_eq!(report.stop, stop, "{what}");
            assert!(tolerance > 0.0 || report.cycles == max_cycles, "{what}");
            let found = residual(&u) / residual(&start) * report.history[0];
            let bound = 1e-6 * report.relative_residual + report.rounding_floor;
            assert!((found - report.relative_residual).abs() <= bound, "{found:e}, {what}");
        }
        // Stopped by the callback: no further calls, and the report is that of the solution returned.
        for last in [0, 1, 3, 4] {
            let mut poisson =
                Poisson::<f64>::new(context, &Grid::square(n), &PoissonParams { tolerance: 0.0, ..Default::default() })
                    .unwrap();
            let (mut u, mut calls) = (start.clone(), 0);
            let mut stop = |cycle: usize, _| {
                assert_eq!(cycle, calls);
                calls += 1;
                if cycle == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let report = poisson.solve_with(&f, &mut u, &mut stop).unwrap();
            assert_eq!((report.stop, calls), (Stop::Cancelled, last + 1), "{context:?}: {report:?}");
            assert!(report.cycles >= last && report.history.len() == report.cycles + 1, "{report:?}");
            let found = residual(&u) / residual(&start) * report.history[0];
            let bound = 1e-6 * report.relative_residual + report.rounding_floor;
            assert!((found - report.relative_residual).abs() <= bound, "{found:e}, {context:?}: {report:?}");
        }
    }
}

#[test]
fn every_cycle_and_smoother_converges() {
    let n = 129;
    let (f, u) = (noise::<f64>(n * n, 10), noise::<f64>(n * n, 11));
    for context in capable::<f64>() {
        for cycle in [Cycle::V, Cycle::W, Cycle::Full] {
            // Mean factors of V(2,1) by local Fourier analysis: 0.074 for red-black and 0.22 for
            // Jacobi, of two grids (Trottenberg et al., tables 4.1 and 4.4).
            for (smoother, bound) in [(Smoother::RedBlack, 0.1), (Smoother::Jacobi, 0.3)] {
                let params = PoissonParams { cycle, smoother, ..Default::default() };
                let (_, report) = run(Some(context), &Grid::square(n), &params, &f, &u);
                assert_eq!(report.stop, Stop::Converged, "{cycle:?} {smoother:?}: {:?}", report.history);
                let factor = report.convergence_factor.unwrap();
                assert!(factor < bound, "{cycle:?} {smoother:?}: {factor}");
            }
        }
    }
}

#[test]
fn boundary_values_are_taken() {
    for context in capable::<f64>() {
        for backend in [Backend::Kernels, Backend::Matrix, Backend::Reference] {
            for cycle in [Cycle::V, Cycle::Full] {
                // The stencil is exact for this harmonic function.
                let n = 65;
                let exact = sample::<f64>(n, |x, y| x * x - y * y);
                let params = PoissonParams { backend, cycle, tolerance: 1e-15, ..Default::default() };
                let (u, report) =
                    run(Some(context), &Grid::square(n), &params, &vec![0.0; n * n], &boundary_of(n, &exact));
                assert!(difference(&u, &exact) < 1e-13, "{backend:?}: {:e}, {report:?}", difference(&u, &exact));
                // Not for this one.
                let error = |n: usize| {
                    let exact = sample::<f64>(n, |x, y| x.exp() * y.sin());
                    let params = PoissonParams { backend, cycle, ..Default::default() };
                    let (u, _) =
                        run(Some(context), &Grid::square(n), &params, &vec![0.0; n * n], &boundary_of(n, &exact));
                    difference(&u, &exact)
                };
                let errors = [17, 33, 65].map(error);
                for pair in errors.windows(2) {
                    assert!((3.6..4.4).contains(&(pair[0] / pair[1])), "{backend:?} {cycle:?}: {errors:?}");
                }
            }
        }
    }
}

fn sine<T: Real>(n: usize) -> Vec<T> {
    sample(n, |x, y| 2.0 * PI * PI * (PI * x).sin() * (PI * y).sin())
}

#[test]
fn the_rounding_floor_is_recognised() {
    for context in capable::<f64>() {
        for (n, backend) in [(1025, Backend::Kernels), (257, Backend::Matrix), (257, Backend::Reference)] {
            for cycle in [Cycle::V, Cycle::Full] {
                let params = PoissonParams { backend, cycle, tolerance: 1e-14, ..Default::default() };
                let (u, report) = run(Some(context), &Grid::square(n), &params, &sine::<f64>(n), &vec![0.0; n * n]);
                assert_eq!(report.stop, Stop::RoundingFloor, "{report:?}");
                assert!(report.cycles <= 14, "{backend:?} {cycle:?}: {report:?}");
                // 1e-16 * 8 / h^2 * |u| / |f|, which is 4e-11 at n = 1025.
                let intervals = (n - 1) as f64;
                let floor = 1.1e-16 * 8.0 * intervals * intervals / (2.0 * PI * PI);
                assert!((report.rounding_floor / floor - 1.0).abs() < 0.1, "{report:?}");
                // Roundings of random signs, measured: 0.21 to 0.34 of the bound. The picture of convergence shades what is below it.
                let part = report.relative_residual / floor;
                assert!((0.1..1.0).contains(&part), "{part}: {report:?}");
                assert!(difference(&u, &sample(n, |x, y| (PI * x).sin() * (PI * y).sin())) < 1e-4);
            }
        }
    }
    for context in capable::<f32>() {
        for n in [65, 513] {
            let params = PoissonParams { tolerance: 1e-10, ..Default::default() };
            let (_, report) = run(Some(context), &Grid::square(n), &params, &sine::<f32>(n), &vec![0.0; n * n]);
            assert_eq!(report.stop, Stop::RoundingFloor, "{report:?}");
            assert!(report.cycles <= 10, "{report:?}");
        }
    }
}

#[test]
fn a_solution_given_is_recognised() {
    for context in capable::<f64>() {
        let n = 33;
        let exact = sample::<f64>(n, |x, y| x * x - y * y);
        let params = PoissonParams { tolerance: 1e-12, ..Default::default() };
        let (u, report) = run(Some(context), &Grid::square(n), &params, &vec![0.0; n * n], &exact);
        assert_eq!((report.stop, report.cycles), (Stop::Converged, 0));
        assert_eq!(u, exact);
        let (u, report) = run(Some(context), &Grid::square(n), &params, &vec![0.0; n * n], &vec![0.0; n * n]);
        assert_eq!((report.stop, report.cycles, report.relative_residual), (Stop::Converged, 0, 0.0));
        assert_eq!(report.convergence_factor, None);
        assert!(u.iter().all(|&u| u == 0.0));
        // No data but a start value: its residual is what is reduced.
        let start = interior_of(n, &noise::<f64>(n * n, 12));
        let (u, report) = run(Some(context), &Grid::square(n), &params, &vec![0.0; n * n], &start);
        assert_eq!((report.stop, report.history[0]), (Stop::Converged, 1.0));
        // The largest eigenvalue, below 8 / h^2, by the smallest, above 19.
        let condition = 8.0 * 1024.0 / 19.0;
        assert!(grid2::norm_l2(n, &u) <= 1e-12 * condition * grid2::norm_l2(n, &start));
    }
}

fn interior_of<T: Real>(n: usize, u: &[T]) -> Vec<T> {
    (0..n * n).map(|k| if inside(n, k) { u[k] } else { T::zero() }).collect()
}

#[test]
fn one_interior_point_takes_one_cycle() {
    for context in capable::<f64>() {
        for backend in [Backend::Kernels, Backend::Matrix, Backend::Reference] {
            for (cycle, smoother) in [(Cycle::V, Smoother::RedBlack), (Cycle::Full, Smoother::Jacobi)] {
                let params = PoissonParams { backend, cycle, smoother, ..Default::default() };
                // h = 1/2: (f / 4 + 2 + 4 + 6 + 8) / 4 = 5.5.
                let mut u = [0.0, 2.0, 0.0, 4.0, 1.0, 6.0, 0.0, 8.0, 0.0];
                let f = [9.0, 9.0, 9.0, 9.0, 8.0, 9.0, 9.0, 9.0, 9.0];
                let report = Poisson::new(context, &Grid::square(3), &params).unwrap().solve(&f, &mut u).unwrap();
                assert_eq!((report.stop, report.cycles, report.levels), (Stop::Converged, 1, 1), "{backend:?}");
                assert_eq!(u, [0.0, 2.0, 0.0, 4.0, 5.5, 6.0, 0.0, 8.0, 0.0]);
            }
        }
    }
}

#[test]
fn numbers_that_are_not_finite_are_reported() {
    for context in capable::<f64>() {
        for backend in [Backend::Kernels, Backend::Matrix, Backend::Reference] {
            let n = 17;
            let params = PoissonParams { backend, ..Default::default() };
            let mut poisson = Poisson::<f64>::new(context, &Grid::square(n), &params).unwrap();
            let (f, u) = (noise::<f64>(n * n, 13), noise::<f64>(n * n, 14));
            for bad in [f64::NAN, f64::INFINITY] {
                // In f, inside u, on a side and in a corner.
                for (in_f, k) in [(true, 5 * n + 5), (false, 5 * n + 5), (false, 3), (false, n * n - 1)] {
                    let (mut f, mut u) = (f.clone(), u.clone());
                    if in_f {
                        f[k] = bad
                    } else {
                        u[k] = bad
                    }
                    let report = poisson.solve(&f, &mut u).unwrap();
                    assert_eq!((report.stop, report.cycles), (Stop::NotFinite, 0), "{backend:?}, {bad} at {k}");
                }
                // Boundary values of f are not part of the problem, and the solver is as good as new.
                let (mut f, mut u) = (f.clone(), u.clone());
                f[3] = bad;
                let report = poisson.solve(&f, &mut u).unwrap();
                assert_eq!(report.stop, Stop::Converged, "{backend:?}");
                assert!(u.iter().all(|u| u.is_finite()));
            }
        }
    }
}

#[test]
fn very_large_and_very_small_data_are_solved() {
    for context in capable::<f64>() {
        for backend in [Backend::Kernels, Backend::Matrix, Backend::Reference] {
            let n = 65;
            let params = PoissonParams { backend, ..Default::default() };
            let f = noise::<f64>(n * n, 15);
            let (u, _) = run(Some(context), &Grid::square(n), &params, &f, &vec![0.0; n * n]);
            for scale in [2.0_f64.powi(900), 2.0_f64.powi(-900)] {
                let scaled: Vec<f64> = f.iter().map(|f| f * scale).collect();
                let (got, report) = run(Some(context), &Grid::square(n), &params, &scaled, &vec![0.0; n * n]);
                assert_eq!(report.stop, Stop::Converged, "{backend:?} {scale:e}: {report:?}");
                assert_close(&got.iter().map(|u| u / scale).collect::<Vec<_>>(), &u, 8.0, "scaled");
            }
        }
    }
}

#[test]
fn a_solve_that_cannot_converge_stagnates_or_diverges() {
    for context in capable::<f64>() {
        let n = 33;
        let f = noise::<f64>(n * n, 16);
        // Jacobi with this weight amplifies the highest frequencies.
        let params = PoissonParams { smoother: Smoother::Jacobi, omega: 1.9, pre: 3, post: 3, ..Default::default() };
        let (_, report) = run(Some(context), &Grid::square(n), &params, &f, &vec![0.0; n * n]);
        assert!(matches!(report.stop, Stop::Stagnated | Stop::Diverged), "{report:?}");
        let params = PoissonParams { max_cycles: 3, ..Default::default() };
        let (_, report) = run(Some(context), &Grid::square(n), &params, &f, &vec![0.0; n * n]);
        assert_eq!((report.stop, report.cycles), (Stop::IterationLimit, 3));
        // Slow is not stuck.
        let params = PoissonParams { smoother: Smoother::Jacobi, omega: 0.02, max_cycles: 2000, ..Default::default() };
        let (_, report) = run(Some(context), &Grid::square(n), &params, &f, &vec![0.0; n * n]);
        assert_eq!(report.stop, Stop::Converged, "{} after {}", report.stop, report.cycles);
    }
}

#[test]
fn bad_parameters_are_refused() {
    let context = &contexts()[0];
    let (base, square) = (PoissonParams::default(), Grid::square(17));
    let id = |grid: &Grid, params| Poisson::<f32>::new(context, grid, &params).unwrap_err().id();
    for n in [0, 2, usize::MAX] {
        assert_eq!(id(&Grid::square(n), base), "clinalg:argument:value", "{n}");
        assert!(matches!(Poisson::<f64>::reference(&Grid::square(n), &base, None), Err(Error::Value { .. })));
    }
    assert!(matches!(Poisson::<f64>::reference(&Grid::square(16), &base, None), Err(Error::Value { .. })));
    for params in [
        PoissonParams { pre: 0, post: 0, ..base },
        PoissonParams { pre: 1000, ..base },
        PoissonParams { omega: f64::NAN, ..base },
        PoissonParams { omega: 0.0, ..base },
        PoissonParams { omega: 2.0, ..base },
        PoissonParams { tolerance: f64::NAN, ..base },
        PoissonParams { tolerance: -1.0, ..base },
        PoissonParams { tolerance: f64::INFINITY, ..base },
    ] {
        assert_eq!(id(&square, params), "clinalg:argument:value", "{params:?}");
        assert!(matches!(Poisson::<f64>::reference(&square, &params, None), Err(Error::Value { .. })));
    }
    for backend in [Backend::Kernels, Backend::Matrix, Backend::Reference] {
        let mut poisson = Poisson::<f32>::new(context, &square, &PoissonParams { backend, ..base }).unwrap();
        let mut u = vec![0.0; 17 * 17];
        assert!(matches!(poisson.solve(&[0.0; 4], &mut u), Err(Error::Length { argument: "f", .. })));
        assert!(matches!(poisson.solve(&u.clone(), &mut u[1..]), Err(Error::Length { argument: "u", .. })));
        let (f, mut v) = (Vector::zeros(context, 17 * 17).unwrap(), Vector::zeros(context, 16).unwrap());
        assert!(matches!(poisson.solve_device(&f, &mut v), Err(Error::Length { argument: "u", .. })));
        assert_eq!(poisson.solve(&u.clone(), &mut u).unwrap().stop, Stop::Converged);
    }
    if let [first, second, ..] = contexts() {
        let mut poisson = Poisson::<f32>::new(first, &square, &base).unwrap();
        let (f, mut u) = (Vector::zeros(first, 17 * 17).unwrap(), Vector::zeros(second, 17 * 17).unwrap());
        assert!(matches!(poisson.solve_device(&f, &mut u), Err(Error::Context { argument: "u" })));
    }
}

#[test]
fn device_vectors_and_host_arrays_give_the_same() {
    for context in capable::<f64>() {
        for backend in [Backend::Kernels, Backend::Matrix, Backend::Reference] {
            for smoother in [Smoother::RedBlack, Smoother::Jacobi] {
                let n = 65;
                let params = PoissonParams { backend, smoother, ..Default::default() };
                let (f, u) = (noise::<f64>(n * n, 17), noise::<f64>(n * n, 18));
                let mut poisson = Poisson::new(context, &Grid::square(n), &params).unwrap();
                let mut host = u.clone();
                let mut seen = Vec::new();
                let mut note = |cycle, residual| {
                    seen.push((cycle, residual));
                    ControlFlow::Continue(())
                };
                let report = poisson.solve_with(&f, &mut host, &mut note).unwrap();
                assert_eq!(seen, report.history.iter().copied().enumerate().collect::<Vec<_>>());
                let df = Vector::from_slice(context, &f).unwrap();
                let mut du = Vector::from_slice(context, &u).unwrap();
                assert_eq!(poisson.solve_device(&df, &mut du).unwrap(), report);
                assert_eq!(du.to_vec().unwrap(), host);
                assert_eq!(df.to_vec().unwrap(), f);
                // What the report says is true.
                let mut d = vec![0.0; n * n];
                grid2::defect(n, &host, &f, &mut d);
                let mut b = vec![0.0; n * n];
                grid2::defect(n, &boundary_of(n, &u), &f, &mut b);
                let true_residual = grid2::norm_l2(n, &d) / grid2::norm_l2(n, &b);
                let slack = 1e-3 * true_residual + report.rounding_floor;
                assert!((report.relative_residual - true_residual).abs() <= slack, "{report:?}");
            }
        }
    }
}

#[test]
fn memory_is_given_back_and_does_not_grow() {
    for family in clinalg_testing::families([KernelFamily::Cpu, KernelFamily::Gpu]) {
        for device in devices().unwrap() {
            let context = Context::new(&device, &ContextOptions { family, ..Default::default() }).unwrap();
            for backend in [Backend::Kernels, Backend::Matrix] {
                for smoother in [Smoother::RedBlack, Smoother::Jacobi] {
                    let n = 129;
                    let params =
                        PoissonParams { backend, smoother, cycle: Cycle::Full, tolerance: 1e-4, ..Default::default() };
                    let mut poisson = Poisson::<f32>::new(&context, &Grid::square(n), &params).unwrap();
                    let (f, mut u) = (noise::<f32>(n * n, 19), vec![0.0; n * n]);
                    poisson.solve(&f, &mut u).unwrap();
                    let live = context.memory();
                    context.reset_peak();
                    for _ in 0..3 {
                        u.fill(0.0);
                        poisson.solve(&f, &mut u).unwrap();
                    }
                    assert_eq!(context.memory().live_bytes, live.live_bytes);
                    assert_eq!(context.memory().peak_bytes, live.live_bytes, "a solve allocated");
                    drop(poisson);
                    assert_eq!((context.memory().live_bytes, context.memory().live_buffers), (0, 0));
                }
            }
            let preconditioner =
                MultigridPreconditioner::<f32>::new(&context, 65, &MultigridParams::default()).unwrap();
            drop(preconditioner);
            assert_eq!(context.memory().live_bytes, 0);
        }
    }
}

#[test]
fn random_data_reach_a_deep_tolerance() {
    for context in capable::<f64>() {
        let n = 1025;
        let f = noise::<f64>(n * n, 20);
        let params = PoissonParams { tolerance: 1e-12, ..Default::default() };
        let (_, report) = run(Some(context), &Grid::square(n), &params, &f, &vec![0.0; n * n]);
        assert_eq!(report.stop, Stop::Converged, "{report:?}");
    }
}

/// Integrated over cells of the area h^2, between the points inside.
#[test]
fn the_operator_is_the_stencil_on_the_unknowns() {
    for context in capable::<f64>() {
        for n in [3, 4, 5, 9, 17, 20, 65] {
            let operator = PoissonOperator::<f64>::new(context, &Grid::square(n), &PoissonParams::default()).unwrap();
            let count = (n - 2) * (n - 2);
            assert_eq!((operator.rows(), operator.cols()), (count, count));
            let x = noise::<f64>(n * n, 21);
            let mut product = vec![0.0; n * n];
            grid2::defect(n, &interior_of(n, &x), &vec![0.0; n * n], &mut product);
            let area = 1.0 / ((n - 1) * (n - 1)) as f64;
            let product: Vec<f64> = unknowns(n, &product).iter().map(|p| -area * p).collect();
            let dx = Vector::from_slice(context, &unknowns(n, &x)).unwrap();
            let mut y = Vector::filled(context, count, f64::NAN).unwrap();
            operator.apply(2.0, &dx, 0.0, &mut y).unwrap();
            let expected: Vec<f64> = product.iter().map(|p| 2.0 * p).collect();
            assert_close(&y.to_vec().unwrap(), &expected, 4.0, &format!("beta = 0, n = {n} on {context:?}"));
            let start = noise::<f64>(count, 22);
            y.write(&start).unwrap();
            operator.apply(0.5, &dx, -3.0, &mut y).unwrap();
            let expected: Vec<f64> = product.iter().zip(&start).map(|(p, s)| 0.5 * p - 3.0 * s).collect();
            assert_close(&y.to_vec().unwrap(), &expected, 4.0, &format!("beta = -3, n = {n} on {context:?}"));
        }
        let new = |n| PoissonOperator::<f64>::new(context, &Grid::square(n), &PoissonParams::default());
        assert!(matches!(new(2), Err(Error::Value { argument: "points", .. })));
        let operator = new(9).unwrap();
        let (x, mut y) = (Vector::<f64>::zeros(context, 48).unwrap(), Vector::<f64>::zeros(context, 49).unwrap());
        assert!(matches!(operator.apply(1.0, &x, 0.0, &mut y), Err(Error::Length { argument: "x", .. })));
    }
}

#[test]
fn the_preconditioner_is_symmetric_and_positive() {
    for context in capable::<f64>() {
        for n in [3, 5, 33, 129] {
            for (smoother, visits) in [(Smoother::RedBlack, 1), (Smoother::Jacobi, 1), (Smoother::RedBlack, 2)] {
                let params = MultigridParams::default().smoother(smoother).visits(visits).sweeps(2);
                let mut multigrid = MultigridPreconditioner::<f64>::new(context, n, &params).unwrap();
                let (a, b) = (noise::<f64>(n * n, 23), noise::<f64>(n * n, 24));
                let (a, b) = (Vector::from_slice(context, &a).unwrap(), Vector::from_slice(context, &b).unwrap());
                let mut ma = Vector::filled(context, n * n, f64::NAN).unwrap();
                let mut mb = Vector::filled(context, n * n, f64::NAN).unwrap();
                multigrid.apply(&a, &mut ma).unwrap();
                multigrid.apply(&b, &mut mb).unwrap();
                let (left, right) = (ops::dot(&ma, &b).unwrap(), ops::dot(&a, &mb).unwrap());
                let size = ops::dot(&a, &ma).unwrap();
                assert!(size > 0.0);
                assert!((left - right).abs() < 1e-13 * size, "n = {n}, {params:?}: {left} and {right}");
                let (a, ma) = (a.to_vec().unwrap(), ma.to_vec().unwrap());
                assert_eq!(boundary_of(n, &a), boundary_of(n, &ma));
            }
        }
        let bad = |params| MultigridPreconditioner::<f64>::new(context, 17, &params).unwrap_err().id();
        assert_eq!(bad(MultigridParams::default().sweeps(0)), "clinalg:argument:value");
        assert_eq!(bad(MultigridParams::default().visits(3)), "clinalg:argument:value");
    }
}

/// Textbook conjugate gradients, to show operator, right-hand side and preconditioner together.
#[test]
fn preconditioned_conjugate_gradients_solve_the_boundary_value_problem() {
    for context in capable::<f64>() {
        let n = 129;
        let exact = sample::<f64>(n, |x, y| x * x - y * y + x);
        let (grid, params) = (Grid::square(n), PoissonParams { pre: 1, post: 1, ..Default::default() });
        let operator = PoissonOperator::<f64>::new(context, &grid, &params).unwrap();
        let mut multigrid = PoissonPreconditioner::<f64>::new(context, &grid, &params).unwrap();
        let f = Vector::zeros(context, n * n).unwrap();
        let sides = SideValues::from_fn(&grid, |_, _, [x, y, _]| x * x - y * y + x).unwrap();
        let zeros = || Vector::<f64>::zeros(context, operator.rows()).unwrap();
        let (mut x, mut z, mut p, mut q) = (zeros(), zeros(), zeros(), zeros());
        let mut r = operator.right_side(&f, &sides).unwrap();
        let start = ops::norm2(&r).unwrap();
        let mut rho_old = 1.0;
        let mut iterations = 0;
        while ops::norm2(&r).unwrap() > 1e-12 * start {
            multigrid.apply(&r, &mut z).unwrap();
            let rho = ops::dot(&r, &z).unwrap();
            ops::update(1.0, &z, if iterations == 0 { 0.0 } else { rho / rho_old }, &mut p).unwrap();
            operator.apply(1.0, &p, 0.0, &mut q).unwrap();
            let alpha = rho / ops::dot(&p, &q).unwrap();
            ops::update(alpha, &p, 1.0, &mut x).unwrap();
            ops::update(-alpha, &q, 1.0, &mut r).unwrap();
            (rho_old, iterations) = (rho, iterations + 1);
            assert!(iterations <= 14, "{:e}", ops::norm2(&r).unwrap() / start);
        }
        let mut u = Vector::filled(context, n * n, f64::NAN).unwrap();
        operator.points(&x, &sides, &mut u).unwrap();
        assert!(difference(&u.to_vec().unwrap(), &exact) < 1e-11);
    }
}

#[test]
fn precision_is_that_of_the_type() {
    assert_eq!(
        (<f32 as clinalg::Scalar>::PRECISION, <f64 as clinalg::Scalar>::PRECISION),
        (Precision::F32, Precision::F64)
    );
    let n = 65;
    let (f, u) = (noise::<f64>(n * n, 25), vec![0.0; n * n]);
    let narrow: Vec<f32> = f.iter().map(|&f| f as f32).collect();
    for context in capable::<f64>() {
        let params = PoissonParams { tolerance: 1e-4, ..Default::default() };
        let (wide, _) = run(Some(context), &Grid::square(n), &params, &f, &u);
        let (single, report) = run(Some(context), &Grid::square(n), &params, &narrow, &vec![0.0; n * n]);
        assert_eq!(report.stop, Stop::Converged, "{report:?}");
        let single: Vec<f64> = single.iter().map(|&u| f64::from(u)).collect();
        assert!(difference(&wide, &single) < 1e-4 * largest(wide.iter().copied()));
    }
}
