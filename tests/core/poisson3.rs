//! The 3-D Poisson problem against closed forms and the reference, on every device and in both families of kernels.

use std::f64::consts::PI;

use clinalg::multigrid::{Backend, Coefficient, Cycle, Grid, Poisson, PoissonParams, Smoother};
use clinalg::solve::Stop;
use clinalg::{Error, Real, Vector};
use clinalg_reference::grid3;

use crate::common::grids::{assert_backends_agree, boundary_of, run};
use crate::common::{capable, contexts, difference, eps, has, largest, noise, own_context};

fn at(n: usize, p: usize) -> [usize; 3] {
    [p % n, p / n % n, p / (n * n)]
}

fn sample(n: usize, f: impl Fn(f64, f64, f64) -> f64) -> Vec<f64> {
    let h = 1.0 / (n - 1) as f64;
    (0..n * n * n).map(|p| at(n, p).map(|i| i as f64 * h)).map(|[x, y, z]| f(x, y, z)).collect()
}

fn backends_agree<T: Real>(bound: f64) {
    for n in [3, 5, 9, 17, 33] {
        let (f, u) = (noise::<T>(n * n * n, 5), noise::<T>(n * n * n, 6));
        let kinds = [
            (Smoother::RedBlack, Cycle::V, (2, 1), 0.0),
            (Smoother::RedBlack, Cycle::W, (1, 2), 40.0),
            (Smoother::RedBlack, Cycle::Full, (2, 1), 0.0),
            (Smoother::RedBlack, Cycle::V, (0, 1), 0.0),
            (Smoother::RedBlack, Cycle::V, (1, 0), 3.0),
            (Smoother::Jacobi, Cycle::V, (2, 1), 40.0),
            (Smoother::Jacobi, Cycle::Full, (1, 0), 0.0),
            (Smoother::Jacobi, Cycle::W, (0, 3), 0.0),
        ];
        for (smoother, cycle, (pre, post), shift) in kinds {
            let params = PoissonParams {
                cycle,
                smoother,
                pre,
                post,
                shift,
                tolerance: 0.0,
                max_cycles: 2,
                ..Default::default()
            };
            assert_backends_agree(&Grid::cube(n), &params, &u, bound, |context, params| {
                run(context, &Grid::cube(n), params, &f, &u)
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

/// Tiles, parts, slabs and rows change the order of the work, not its bits: those of the reference.
#[test]
fn both_shapes_give_the_bits_of_the_reference() {
    for (n, cycle, smoother) in
        [(17, Cycle::W, Smoother::RedBlack), (33, Cycle::V, Smoother::Jacobi), (65, Cycle::Full, Smoother::RedBlack)]
    {
        let (f, u) = (noise::<f64>(n * n * n, 7), noise::<f64>(n * n * n, 8));
        let params = PoissonParams { cycle, smoother, shift: 7.7, tolerance: 0.0, max_cycles: 3, ..Default::default() };
        let (expected, _) = run(None, &Grid::cube(n), &params, &f, &u);
        for context in capable::<f64>() {
            let got = run(Some(context), &Grid::cube(n), &params, &f, &u).0;
            assert!(got == expected, "{smoother:?} {cycle:?}, n = {n}: {:e}", difference(&got, &expected));
        }
    }
}

#[test]
fn the_error_falls_by_four_per_refinement() {
    for context in capable::<f64>() {
        for (backend, sides) in [
            (Backend::Kernels, [9, 17, 33, 65]),
            (Backend::Matrix, [5, 9, 17, 33]),
            (Backend::Reference, [5, 9, 17, 33]),
        ] {
            let modes = [1.0, 2.0, 1.0];
            let exact = |x: f64, y: f64, z: f64| (PI * x).sin() * (2.0 * PI * y).sin() * (PI * z).sin();
            let eigenvalue: f64 = modes.iter().map(|m| m * m * PI * PI).sum();
            let error = |n: usize| {
                let f: Vec<f64> = sample(n, exact).iter().map(|u| eigenvalue * u).collect();
                let (u, report) = run(
                    Some(context),
                    &Grid::cube(n),
                    &PoissonParams { backend, ..Default::default() },
                    &f,
                    &vec![0.0; n * n * n],
                );
                assert_eq!(report.stop, Stop::Converged);
                // The discrete solution is the same sine, by the eigenvalue of the stencil.
                let h = 1.0 / (n - 1) as f64;
                let discrete: f64 = modes.iter().map(|m| 4.0 / (h * h) * (m * PI * h / 2.0).sin().powi(2)).sum();
                let expected: Vec<f64> = f.iter().map(|f| f / discrete).collect();
                assert!(difference(&u, &expected) < 1e-9, "n = {n}: {:e}", difference(&u, &expected));
                difference(&u, &sample(n, exact))
            };
            let errors = sides.map(error);
            for pair in errors[1..].windows(2) {
                assert!((3.8..4.3).contains(&(pair[0] / pair[1])), "{backend:?}: {errors:?}");
            }
        }
    }
}

#[test]
fn the_cycle_count_does_not_depend_on_n() {
    for context in capable::<f64>() {
        let counts = [9, 17, 33, 65].map(|n| {
            let f = noise::<f64>(n * n * n, 9);
            let (_, report) = run(Some(context), &Grid::cube(n), &PoissonParams::default(), &f, &vec![0.0; n * n * n]);
            assert_eq!(report.stop, Stop::Converged, "n = {n}: {:?}", report.history);
            // Of three dimensions; in two it is 0.1.
            assert!(report.convergence_factor.unwrap() <= 0.2, "n = {n}: {:?}", report.history);
            report.cycles
        });
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!(most - least <= 1, "{counts:?}");
    }
}

#[test]
fn full_multigrid_reaches_the_discretisation_error() {
    let solution = |x: f64, y: f64, z: f64| (PI * x).sin() * (PI * y).sin() * (PI * z).cos() + (x + 2.0 * y - z).exp();
    let source = |x: f64, y: f64, z: f64| {
        3.0 * PI * PI * (PI * x).sin() * (PI * y).sin() * (PI * z).cos() - 6.0 * (x + 2.0 * y - z).exp()
    };
    for context in capable::<f64>() {
        for n in [17, 33, 65] {
            let (f, exact) = (sample(n, source), sample(n, solution));
            let start = boundary_of(n, &exact);
            let error = |max_cycles, tolerance| {
                let params = PoissonParams { cycle: Cycle::Full, max_cycles, tolerance, ..Default::default() };
                let (u, report) = run(Some(context), &Grid::cube(n), &params, &f, &start);
                (difference(&u, &exact), report)
            };
            let (discretisation, report) = error(50, 1e-10);
            assert_eq!(report.stop, Stop::Converged);
            let (one, report) = error(1, 0.0);
            assert_eq!((report.stop, report.cycles), (Stop::IterationLimit, 1));
            assert!(one <= 1.5 * discretisation, "n = {n}: {one:e} after one pass, {discretisation:e} at the end");
            let (two, _) = error(2, 0.0);
            assert!(two <= 1.05 * discretisation, "n = {n}: {two:e} after a cycle more, {discretisation:e}");
        }
    }
}

#[test]
fn every_cycle_and_smoother_converges() {
    let n = 65;
    let (f, u) = (noise::<f64>(n * n * n, 10), noise::<f64>(n * n * n, 11));
    for context in capable::<f64>() {
        for cycle in [Cycle::V, Cycle::W, Cycle::Full] {
            for (smoother, bound) in [(Smoother::RedBlack, 0.2), (Smoother::Jacobi, 0.4)] {
                let params = PoissonParams { cycle, smoother, ..Default::default() };
                let (_, report) = run(Some(context), &Grid::cube(n), &params, &f, &u);
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
                let n = 17;
                let exact = sample(n, |x, y, z| x * x + y * y - 2.0 * z * z + x * y * z);
                let params = PoissonParams { backend, cycle, tolerance: 1e-15, ..Default::default() };
                let (u, report) =
                    run(Some(context), &Grid::cube(n), &params, &vec![0.0; n * n * n], &boundary_of(n, &exact));
                assert!(difference(&u, &exact) < 1e-13, "{backend:?}: {:e}, {report:?}", difference(&u, &exact));
            }
        }
    }
}

#[test]
fn the_rounding_floor_is_recognised() {
    for context in capable::<f64>() {
        let n = 65;
        let sine = sample(n, |x, y, z| (PI * x).sin() * (PI * y).sin() * (PI * z).sin());
        let f: Vec<f64> = sine.iter().map(|s| 3.0 * PI * PI * s).collect();
        let params = PoissonParams { tolerance: 1e-15, ..Default::default() };
        let (u, report) = run(Some(context), &Grid::cube(n), &params, &f, &vec![0.0; n * n * n]);
        assert_eq!(report.stop, Stop::RoundingFloor, "{report:?}");
        let floor = 1.1e-16 * 12.0 * 64.0 * 64.0 / (3.0 * PI * PI);
        assert!((report.rounding_floor / floor - 1.0).abs() < 0.1, "{report:?}");
        assert!(difference(&u, &sine) < 1e-3);
    }
}

#[test]
fn one_interior_point_takes_one_cycle() {
    for context in capable::<f64>() {
        for backend in [Backend::Kernels, Backend::Matrix, Backend::Reference] {
            for (cycle, smoother) in [(Cycle::V, Smoother::RedBlack), (Cycle::Full, Smoother::Jacobi)] {
                let params = PoissonParams { backend, cycle, smoother, ..Default::default() };
                // h = 1/2: (f / 4 + 1 + 2 + 3 + 4 + 5 + 6) / 6.
                let mut u = [0.0; 27];
                for (p, value) in [(4, 1.0), (10, 2.0), (12, 3.0), (14, 4.0), (16, 5.0), (22, 6.0), (13, 9.0)] {
                    u[p] = value;
                }
                let mut f = [77.0; 27];
                f[13] = 12.0;
                let want = boundary_of(3, &u);
                let report = Poisson::new(context, &Grid::cube(3), &params).unwrap().solve(&f, &mut u).unwrap();
                assert_eq!((report.stop, report.cycles, report.levels), (Stop::Converged, 1, 1), "{backend:?}");
                assert!((u[13] - 4.0_f64).abs() < 1e-15);
                assert_eq!(boundary_of(3, &u), want);
            }
        }
    }
}

#[test]
fn numbers_that_are_not_finite_are_reported() {
    for context in capable::<f64>() {
        for backend in [Backend::Kernels, Backend::Matrix, Backend::Reference] {
            let n = 9;
            let mut poisson =
                Poisson::<f64>::new(context, &Grid::cube(n), &PoissonParams { backend, ..Default::default() }).unwrap();
            let (f, u) = (noise::<f64>(n * n * n, 13), noise::<f64>(n * n * n, 14));
            let middle = (4 * n + 4) * n + 4;
            for bad in [f64::NAN, f64::INFINITY] {
                for (in_f, p) in [(true, middle), (false, middle), (false, 3), (false, n * n * n - 1)] {
                    let (mut f, mut u) = (f.clone(), u.clone());
                    if in_f {
                        f[p] = bad
                    } else {
                        u[p] = bad
                    }
                    let report = poisson.solve(&f, &mut u).unwrap();
                    assert_eq!((report.stop, report.cycles), (Stop::NotFinite, 0), "{backend:?}, {bad} at {p}");
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
fn bad_sizes_and_dimensions_are_refused() {
    let Some(context) = contexts().first() else { return };
    let (base, cube) = (PoissonParams::default(), Grid::cube(9));
    let fails = |grid: &Grid, params: PoissonParams| Poisson::<f32>::new(context, grid, &params).unwrap_err();
    for dim in [0, 1, 4, 9] {
        assert!(matches!(fails(&Grid::new(&vec![9; dim]), base), Error::Value { argument: "points", .. }));
    }
    for n in [0, 2, (1 << 30) + 1, usize::MAX] {
        assert!(matches!(fails(&Grid::cube(n), base), Error::Value { argument: "points", .. }));
    }
    assert!(matches!(fails(&cube, PoissonParams { shift: -1.0, ..base }), Error::Value { argument: "shift", .. }));
    let a = vec![1.0_f32; 729];
    for backend in [Backend::Matrix, Backend::Reference] {
        let params = PoissonParams { backend, ..base };
        let varying = Poisson::with_coefficient(context, &cube, &params, Coefficient::Points(&a)).unwrap_err();
        assert!(matches!(varying, Error::Value { argument: "backend", .. }), "{varying}");
    }
    let short = Poisson::with_coefficient(context, &cube, &base, Coefficient::Points(&a[..81])).unwrap_err();
    assert!(matches!(short, Error::Length { argument: "coefficient", .. }), "{short}");
    let mut poisson = Poisson::<f32>::new(context, &cube, &base).unwrap();
    let mut u = vec![0.0; 81];
    assert!(matches!(poisson.solve(&u.clone(), &mut u), Err(Error::Length { argument: "f", .. })));
}

#[test]
fn device_vectors_and_host_arrays_give_the_same() {
    for context in capable::<f64>() {
        for backend in [Backend::Kernels, Backend::Matrix, Backend::Reference] {
            let n = 33;
            let params = PoissonParams { backend, ..Default::default() };
            let (f, u) = (noise::<f64>(n * n * n, 17), noise::<f64>(n * n * n, 18));
            let mut poisson = Poisson::new(context, &Grid::cube(n), &params).unwrap();
            let mut host = u.clone();
            let report = poisson.solve(&f, &mut host).unwrap();
            let df = Vector::from_slice(context, &f).unwrap();
            let mut du = Vector::from_slice(context, &u).unwrap();
            assert_eq!(poisson.solve_device(&df, &mut du).unwrap(), report);
            assert_eq!(du.to_vec().unwrap(), host);
            assert_eq!(df.to_vec().unwrap(), f);
            // What the report says is true.
            let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
            let (mut d, mut b) = (vec![0.0; f.len()], vec![0.0; f.len()]);
            grid3::defect(n, 0.0, &host, &f, &mut d);
            grid3::defect(n, 0.0, &boundary_of(n, &u), &f, &mut b);
            let slack = 1e-3 * norm(&d) / norm(&b) + report.rounding_floor;
            assert!((report.relative_residual - norm(&d) / norm(&b)).abs() <= slack, "{report:?}");
        }
    }
}

#[test]
fn very_large_and_very_small_data_are_solved() {
    for context in capable::<f64>() {
        let n = 17;
        let f = noise::<f64>(n * n * n, 15);
        let (u, _) = run(Some(context), &Grid::cube(n), &PoissonParams::default(), &f, &vec![0.0; n * n * n]);
        for scale in [2.0_f64.powi(900), 2.0_f64.powi(-900)] {
            let scaled: Vec<f64> = f.iter().map(|f| f * scale).collect();
            let (got, report) =
                run(Some(context), &Grid::cube(n), &PoissonParams::default(), &scaled, &vec![0.0; n * n * n]);
            assert_eq!(report.stop, Stop::Converged, "{scale:e}: {report:?}");
            let got: Vec<f64> = got.iter().map(|u| u / scale).collect();
            assert!(difference(&got, &u) <= 8.0 * eps::<f64>() * largest(u.iter().copied()));
        }
    }
}

#[test]
fn memory_does_not_grow() {
    let Some(context) = own_context().filter(has::<f32>) else { return };
    let n = 33;
    let mut poisson =
        Poisson::<f32>::new(&context, &Grid::cube(n), &PoissonParams { tolerance: 1e-4, ..Default::default() })
            .unwrap();
    let (f, mut u) = (noise::<f32>(n * n * n, 19), vec![0.0; n * n * n]);
    poisson.solve(&f, &mut u).unwrap();
    let live = context.memory();
    context.reset_peak();
    for _ in 0..3 {
        u.fill(0.0);
        poisson.solve(&f, &mut u).unwrap();
    }
    assert_eq!(context.memory().live_bytes, live.live_bytes);
    assert_eq!(context.memory().peak_bytes, live.live_bytes);
    drop(poisson);
    assert_eq!(context.memory().live_buffers, 0);
}
