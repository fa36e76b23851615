//! `-div(a grad u) + shift u = f` by multigrid against closed forms and the reference, on every device and in both families of
//! kernels.

use std::f64::consts::PI;

use clinalg::multigrid::{Backend, Coefficient, Cycle, Grid, Poisson, PoissonParams, PoissonReport, Smoother};
use clinalg::solve::Stop;
use clinalg::{Context, Error, Real, Vector};
use clinalg_reference::coefficient2::{self, Faces};

use crate::common::grids::{assert_backends_agree, boundary_of, sample};
use crate::common::{capable, contexts, difference, noise};

/// At the middles of the cells.
fn cells(n: usize, f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let (m, h) = (n - 1, 1.0 / (n - 1) as f64);
    (0..m * m).map(|c| f(((c % m) as f64 + 0.5) * h, ((c / m) as f64 + 0.5) * h)).collect()
}

fn run<T: Real>(
    context: Option<&Context>,
    grid: &Grid,
    params: &PoissonParams,
    a: Coefficient<'_, T>,
    f: &[T],
    u: &[T],
) -> (Vec<T>, PoissonReport) {
    let mut poisson = match context {
        Some(context) => Poisson::with_coefficient(context, grid, params, a).unwrap(),
        None => Poisson::reference(grid, params, Some(a)).unwrap(),
    };
    let mut u = u.to_vec();
    let report = poisson.solve(f, &mut u).unwrap();
    (u, report)
}

fn smooth(x: f64, y: f64) -> f64 {
    1.0 + 0.5 * (2.0 * PI * x).sin() * y + x * y * y
}

fn backends_agree<T: Real>(bound: f64) {
    for n in [3, 5, 17, 65] {
        let (f, u) = (noise::<T>(n * n, 5), noise::<T>(n * n, 6));
        let points: Vec<T> = noise::<T>(n * n, 7).iter().map(|a| T::from_f64(1.1) + *a).collect();
        let cells: Vec<T> = noise::<T>((n - 1) * (n - 1), 8).iter().map(|a| T::from_f64(1.1) + *a).collect();
        for (a, smoother, cycle, shift) in [
            (Coefficient::Points(&points), Smoother::RedBlack, Cycle::V, 0.0),
            (Coefficient::Cells(&cells), Smoother::RedBlack, Cycle::Full, 50.0),
            (Coefficient::Cells(&cells), Smoother::Jacobi, Cycle::W, 0.0),
            (Coefficient::Points(&points), Smoother::Jacobi, Cycle::Full, 3.0),
        ] {
            let params = PoissonParams { shift, cycle, smoother, tolerance: 0.0, max_cycles: 2, ..Default::default() };
            assert_backends_agree(&Grid::square(n), &params, &u, bound, |context, params| {
                run(context, &Grid::square(n), params, a, &f, &u)
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

/// Of the pass of full multigrid, in which everything but conjugate gradients has a part: their sums are those of the
/// device.
#[test]
fn both_shapes_give_the_bits_of_the_reference() {
    let n = 129;
    let (f, u) = (noise::<f64>(n * n, 7), noise::<f64>(n * n, 8));
    let a = sample(n, smooth);
    let params = PoissonParams { shift: 7.7, cycle: Cycle::Full, tolerance: 0.0, max_cycles: 1, ..Default::default() };
    let (expected, _) = run(None, &Grid::square(n), &params, Coefficient::Points(&a), &f, &u);
    for context in capable::<f64>() {
        let (got, _) = run(Some(context), &Grid::square(n), &params, Coefficient::Points(&a), &f, &u);
        assert!(got == expected, "{:e} on {context:?}", difference(&got, &expected));
    }
}

/// u = sin(pi x) cos(2 y) with a smooth coefficient: f by hand, boundary values, a shift.
#[test]
fn a_manufactured_solution_is_met_with_second_order() {
    let solution = |x: f64, y: f64| (PI * x).sin() * (2.0 * y).cos();
    let shift = 5.0;
    let source = |x: f64, y: f64| {
        let (u_x, u_y) = (PI * (PI * x).cos() * (2.0 * y).cos(), -2.0 * (PI * x).sin() * (2.0 * y).sin());
        let laplacian = -(PI * PI + 4.0) * solution(x, y);
        let a_x = PI * (2.0 * PI * x).cos() * y + y * y;
        let a_y = 0.5 * (2.0 * PI * x).sin() + 2.0 * x * y;
        -(a_x * u_x + a_y * u_y + smooth(x, y) * laplacian) + shift * solution(x, y)
    };
    for context in capable::<f64>() {
        for backend in [Backend::Kernels, Backend::Matrix, Backend::Reference] {
            for in_cells in [false, true] {
                let error = |n: usize| {
                    let exact = sample(n, solution);
                    let (points, cells) = (sample(n, smooth), cells(n, smooth));
                    let a = if in_cells { Coefficient::Cells(&cells) } else { Coefficient::Points(&points) };
                    let params = PoissonParams { backend, shift, ..Default::default() };
                    let (u, report) =
                        run(Some(context), &Grid::square(n), &params, a, &sample(n, source), &boundary_of(n, &exact));
                    assert_eq!(report.stop, Stop::Converged);
                    assert!(report.convergence_factor.unwrap() < 0.12, "{report:?}");
                    let full = PoissonParams { cycle: Cycle::Full, max_cycles: 1, tolerance: 0.0, ..params };
                    let (one, _) =
                        run(Some(context), &Grid::square(n), &full, a, &sample(n, source), &boundary_of(n, &exact));
                    let (one, error) = (difference(&one, &exact), difference(&u, &exact));
                    assert!(
                        one < 1.5 * error,
                        "n = {n}: {one:e} after one pass of full multigrid, {error:e} at the end"
                    );
                    error
                };
                let errors = [17, 33, 65, 129].map(error);
                for pair in errors.windows(2) {
                    assert!((3.7..4.3).contains(&(pair[0] / pair[1])), "{backend:?}: {errors:?}");
                }
            }
        }
    }
}

/// a = 1 left of x = s and 1000 right of it: u is linear on either side, with one flux. Jumps at a line of the grid, of
/// cells, and in the middle between two lines, of points, are met exactly.
#[test]
fn a_jump_has_the_exact_solution_of_two_slabs() {
    for context in capable::<f64>() {
        let n = 65;
        let h = 1.0 / 64.0;
        for (in_cells, s) in [(true, 0.5), (true, 27.0 * h), (false, 20.5 * h), (false, 33.5 * h)] {
            let a = |x: f64, _: f64| if x < s { 1.0 } else { 1000.0 };
            let (points, cells) = (sample(n, a), cells(n, a));
            let a = if in_cells { Coefficient::Cells(&cells) } else { Coefficient::Points(&points) };
            let flux = 1.0 / (s + (1.0 - s) / 1000.0);
            let exact = sample(n, |x, _| if x < s { flux * x } else { 1.0 - flux * (1.0 - x) / 1000.0 });
            let params = PoissonParams { tolerance: 1e-12, ..Default::default() };
            let (u, report) =
                run(Some(context), &Grid::square(n), &params, a, &vec![0.0; n * n], &boundary_of(n, &exact));
            assert!(report.stop.is_success(), "{report:?}");
            // No eigenvalue is below that of a = 1, about 2 pi^2: so much error is left to the residual.
            let faces = if in_cells { Faces::from_cells(n, &cells) } else { Faces::from_points(n, &points) };
            let mut b = vec![0.0; n * n];
            coefficient2::defect(&faces, 0.0, &boundary_of(n, &exact), &vec![0.0; n * n], &mut b);
            let left = report.relative_residual * b.iter().map(|b| b * b).sum::<f64>().sqrt() / 19.0;
            let error = difference(&u, &exact);
            assert!(error < left + 1e-12 && error < 1e-6, "s = {s}: {error:e} of {left:e}, {report:?}");
        }
    }
}

/// Where a coefficient on the unit square is large.
type Large = fn(f64, f64) -> bool;

fn board(fields: f64, x: f64, y: f64) -> bool {
    ((fields * x) as usize + (fields * y) as usize) % 2 == 1
}

fn disc(x: f64, y: f64) -> bool {
    (x - 0.52).powi(2) + (y - 0.47).powi(2) < 0.09
}

fn stripes(x: f64, y: f64) -> bool {
    (9.0 * (x + 0.7 * y)) as usize % 2 == 1
}

/// Jumps of 1 : 1000 and 1 : 1e6 along lines of all grids, along lines that the coarser grids do not have, along curves, and
/// with crossings, the hardest case: the cycles to 1e-7 have one bound for every N. V-cycles grow a little with N where
/// crossings lie on points of all grids, W-cycles do not.
#[test]
fn jumping_coefficients_converge_at_every_size() {
    let inclusion: Large = |x, y| (0.25..0.75).contains(&x) && (0.25..0.5).contains(&y);
    let islands: Large = |x, y| ((20.0 * x) as usize).is_multiple_of(3) && ((20.0 * y) as usize).is_multiple_of(2);
    let sizes: &[usize] = if clinalg_testing::long() { &[65, 129, 257, 513, 1025, 2049] } else { &[65, 129, 257, 513] };
    for context in capable::<f64>() {
        for (name, large, cycle, bound) in [
            ("inclusion", inclusion, Cycle::V, 6),
            ("board of 4 by 4", |x, y| board(4.0, x, y), Cycle::V, 12),
            ("board of 4 by 4", |x, y| board(4.0, x, y), Cycle::W, 8),
            ("board of 32 by 32", |x, y| board(32.0, x, y), Cycle::V, 12),
            ("board of 32 by 32", |x, y| board(32.0, x, y), Cycle::W, 8),
            ("board of 7 by 7, moved", |x, y| board(7.0, x + 0.031, y + 0.031), Cycle::V, 8),
            ("disc", disc, Cycle::V, 8),
            ("oblique stripes", stripes, Cycle::V, 10),
            ("islands", islands, Cycle::V, 10),
        ] as [(&str, Large, Cycle, usize); 9]
        {
            for jump in [1e3, 1e6] {
                let count = |&n: &usize| {
                    let a = cells(n, |x, y| if large(x, y) { jump } else { 1.0 });
                    let f = noise::<f64>(n * n, 9);
                    let params = PoissonParams { cycle, tolerance: 1e-7, ..Default::default() };
                    let (_, report) =
                        run(Some(context), &Grid::square(n), &params, Coefficient::Cells(&a), &f, &vec![0.0; n * n]);
                    assert_eq!(report.stop, Stop::Converged, "{name}, 1 : {jump}, n = {n}: {:?}", report.history);
                    report.cycles
                };
                let counts: Vec<usize> = sizes.iter().map(count).collect();
                println!("{name}, {cycle:?}, 1 : {jump}: {counts:?}");
                assert!(counts.iter().all(|&count| count <= bound), "{name}, {cycle:?}, 1 : {jump}: {counts:?}");
            }
        }
    }
}

/// tests/data/jumps.py: another way to put the matrix together, and a direct method.
#[test]
fn jumps_have_the_solutions_of_a_direct_method() {
    let n = 65;
    let problems: [(&str, f64, f64, Large); 4] = [
        ("board", 1e3, 0.0, |x, y| board(4.0, x, y)),
        ("shifted-board", 1e6, 40.0, |x, y| board(7.0, x, y)),
        ("disc", 1e6, 0.0, disc),
        ("stripes", 1e3, 0.0, stripes),
    ];
    let lines: Vec<&str> = include_str!("data/jumps.txt").lines().collect();
    assert_eq!(lines.len(), 2 * problems.len());
    for context in capable::<f64>() {
        for ((name, jump, shift, large), lines) in problems.into_iter().zip(lines.chunks(2)) {
            assert_eq!(lines[0], name);
            let expected: Vec<f64> = lines[1].split(' ').map(|value| value.parse().unwrap()).collect();
            let a = cells(n, |x, y| if large(x, y) { jump } else { 1.0 });
            let f = sample(n, |x, y| (3.0 * x + 1.0).sin() * y.exp() + 5.0 * x * y);
            let u = boundary_of(n, &sample(n, |x, y| x * x - y + 0.3 * x * y));
            for (backend, cycle) in
                [(Backend::Kernels, Cycle::V), (Backend::Kernels, Cycle::Full), (Backend::Matrix, Cycle::W)]
            {
                let params = PoissonParams { backend, cycle, shift, tolerance: 1e-13, ..Default::default() };
                let (u, report) = run(Some(context), &Grid::square(n), &params, Coefficient::Cells(&a), &f, &u);
                assert!(matches!(report.stop, Stop::Converged | Stop::RoundingFloor), "{name}: {report:?}");
                let got: Vec<f64> = (0..81).map(|k| u[k / 9 * 8 * n + k % 9 * 8]).collect();
                let error = difference(&got, &expected);
                println!("{name}, {backend:?}, {cycle:?}: {error:e}, {} cycles", report.cycles);
                // Beside a jump the smaller flux is rounded like the larger one.
                assert!(error < 10.0 * f64::EPSILON * jump, "{name}, {backend:?}, {cycle:?}: {error:e}, {report:?}");
            }
        }
    }
}

#[test]
fn smooth_coefficients_converge_as_the_constant_one() {
    for context in capable::<f64>() {
        let counts = [65, 129, 257, 513].map(|n| {
            let a = sample(n, |x, y| (3.0 * x * y).exp() * smooth(x, y));
            let f = noise::<f64>(n * n, 10);
            let params = PoissonParams::default();
            let (_, report) =
                run(Some(context), &Grid::square(n), &params, Coefficient::Points(&a), &f, &vec![0.0; n * n]);
            assert_eq!(report.stop, Stop::Converged);
            assert!(report.convergence_factor.unwrap() < 0.12, "{report:?}");
            report.cycles
        });
        assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
    }
}

#[test]
fn the_report_tells_the_true_residual_on_the_device_too() {
    for context in capable::<f64>() {
        let n = 33;
        let a = sample(n, smooth);
        let (f, u) = (noise::<f64>(n * n, 17), noise::<f64>(n * n, 18));
        let params = PoissonParams { shift: 2.0, ..Default::default() };
        let mut poisson =
            Poisson::with_coefficient(context, &Grid::square(n), &params, Coefficient::Points(&a)).unwrap();
        let mut host = u.clone();
        let report = poisson.solve(&f, &mut host).unwrap();
        let df = Vector::from_slice(context, &f).unwrap();
        let mut du = Vector::from_slice(context, &u).unwrap();
        assert_eq!(poisson.solve_device(&df, &mut du).unwrap(), report);
        assert_eq!(du.to_vec().unwrap(), host);
        let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let faces = Faces::from_points(n, &a);
        let (mut d, mut b) = (vec![0.0; n * n], vec![0.0; n * n]);
        coefficient2::defect(&faces, 2.0, &host, &f, &mut d);
        coefficient2::defect(&faces, 2.0, &boundary_of(n, &u), &f, &mut b);
        let slack = 1e-3 * norm(&d) / norm(&b) + report.rounding_floor;
        assert!((report.relative_residual - norm(&d) / norm(&b)).abs() <= slack, "{report:?}");
    }
}

#[test]
fn coefficients_that_make_no_sense_are_refused() {
    let Some(context) = contexts().first() else { return };
    let params = PoissonParams::default();
    let id = |a: Coefficient<'_, f32>| {
        let error = Poisson::with_coefficient(context, &Grid::square(9), &params, a).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Value { argument: "coefficient", .. } | Error::Length { argument: "coefficient", .. }
            ),
            "{error}"
        );
        error.id()
    };
    assert_eq!(id(Coefficient::Points(&[1.0; 64])), "clinalg:argument:length");
    assert_eq!(id(Coefficient::Cells(&[1.0; 81])), "clinalg:argument:length");
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let mut a = [1.0; 81];
        a[40] = bad;
        assert_eq!(id(Coefficient::Points(&a)), "clinalg:argument:value");
    }
}
