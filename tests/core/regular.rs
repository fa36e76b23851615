//! Regular grids, whose kernels are faster, against the general kernels; and what only regular grids have.

use std::f64::consts::PI;
use std::ops::ControlFlow;

use clinalg::multigrid::{
    Backend, Coefficient, Condition, Cycle, End, Grid, Poisson, PoissonMemory, PoissonParams, SideValues, Smoother,
};
use clinalg::ops::{self, Operator};
use clinalg::solve::{Cg, CgParams, Solver, Stop};
use clinalg::{Context, Vector};

use crate::boxes::{points_of, with_values};
use crate::common::{assert_error, capable, difference, noise};

const VALUE: &str = "clinalg:argument:value";

/// Values on the boundary.
fn boundary([x, y, z]: [f64; 3]) -> f64 {
    x - 2.0 * y * y + 0.5 * z + (3.0 * x * y).sin()
}

fn solver(context: &Context, grid: &Grid, params: &PoissonParams, k: Option<&[f64]>) -> Poisson<f64> {
    let poisson = match k {
        Some(k) => Poisson::with_coefficient(context, grid, params, Coefficient::Cells(k)),
        None => Poisson::new(context, grid, params),
    };
    with_values(poisson.unwrap(), &SideValues::from_fn(grid, |_, _, at| boundary(at)).unwrap())
}

/// The problems on regular grids: the grid, the shift, and the coefficient, at least 1, in the cells.
fn problems() -> Vec<(Grid, f64, Option<Vec<f64>>)> {
    let k: Vec<f64> = noise::<f64>(64 * 64, 5).iter().map(|r| 10.0_f64.powf(2.0 * r.abs())).collect();
    vec![
        (Grid::square(65), 0.0, None),
        (Grid::square(65), 300.0, None),
        (Grid::square(65), 0.0, Some(k.clone())),
        (Grid::square(65), 20.0, Some(k)),
        (Grid::cube(17), 0.0, None),
        (Grid::cube(33), 50.0, None),
    ]
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// The norm of the error that leaves this residual, integrated over cells: the smallest eigenvalue of A is at least that of the
/// Laplacian and the shift, times the size of a cell.
fn bound(grid: &Grid, shift: f64, residual: f64) -> f64 {
    let cell = ((grid.points()[0] - 1) as f64).powi(-(grid.dim() as i32));
    residual / (cell * (9.8 * grid.dim() as f64 + shift))
}

/// The same points given by their coordinates are no regular grid.
#[test]
fn regular_grids_have_the_solutions_of_the_general_kernels() {
    for context in capable::<f64>() {
        for (grid, shift, k) in problems() {
            let general = grid.clone().spacing(0, grid.coordinates(0).unwrap());
            let params = PoissonParams { shift, tolerance: 1e-12, ..Default::default() };
            // Only regular grids have Jacobi.
            let jacobi = PoissonParams { smoother: Smoother::Jacobi, ..params };
            assert!(Poisson::<f64>::new(context, &grid, &jacobi).is_ok());
            assert_error(Poisson::<f64>::new(context, &general, &jacobi), VALUE, "smoother");
            let f = noise::<f64>(grid.len(), 6);
            let sides = SideValues::from_fn(&general, |_, _, at| boundary(at)).unwrap();
            let solved = [&grid, &general].map(|grid| {
                let (mut poisson, mut u) = (solver(context, grid, &params, k.as_deref()), vec![0.0; grid.len()]);
                let report = poisson.solve(&f, &mut u).unwrap();
                let what = format!("{grid:?}, shift {shift}, coefficient {} on {context:?}", k.is_some());
                assert_eq!(report.stop, Stop::Converged, "{what}: {report:?}");
                let b = poisson.operator().unwrap().right_side(&Vector::from_slice(context, &f).unwrap(), &sides);
                let b = ops::norm2(&b.unwrap()).unwrap();
                (what, bound(grid, shift, (report.relative_residual + report.rounding_floor) * b), u)
            });
            let [(what, one, u), (_, other, v)] = solved;
            let apart: Vec<f64> = u.iter().zip(&v).map(|(u, v)| u - v).collect();
            assert!(norm(&apart) <= one + other, "{what}: {:e} > {:e}", norm(&apart), one + other);
            assert!(norm(&apart) <= 1e-10 * norm(&u), "{what}: {:e} of {:e}", norm(&apart), norm(&u));
        }
    }
}

#[test]
fn operator_and_preconditioner_of_a_regular_grid_are_those_of_its_problem() {
    for context in capable::<f64>() {
        for (grid, shift, k) in problems() {
            let params = PoissonParams { shift, tolerance: 1e-12, ..Default::default() };
            let mut poisson = solver(context, &grid, &params, k.as_deref());
            let (f, mut u) = (noise::<f64>(grid.len(), 7), vec![0.0; grid.len()]);
            let report = poisson.solve(&f, &mut u).unwrap();
            let what = format!("{grid:?}, shift {shift}, coefficient {} on {context:?}", k.is_some());
            let (a, mut m) = (poisson.operator().unwrap(), poisson.preconditioner().unwrap());
            let sides = SideValues::from_fn(&grid, |_, _, at| boundary(at)).unwrap();
            let b = a.right_side(&Vector::from_slice(context, &f).unwrap(), &sides).unwrap();
            let size = ops::norm2(&b).unwrap();
            // A times the unknowns of the solution.
            let n = grid.points()[0];
            let inside = |p: usize| (0..grid.dim() as u32).all(|axis| (1..n - 1).contains(&(p / n.pow(axis) % n)));
            let unknowns: Vec<f64> = (0..u.len()).filter(|&p| inside(p)).map(|p| u[p]).collect();
            let mut r = Vector::from_slice(context, &b.to_vec().unwrap()).unwrap();
            a.apply(-1.0, &Vector::from_slice(context, &unknowns).unwrap(), 1.0, &mut r).unwrap();
            let residual = ops::norm2(&r).unwrap() / size;
            let most = report.relative_residual + 4.0 * report.rounding_floor;
            assert!(residual <= most && residual < 1e-11, "{what}: {residual:e} > {most:e}");
            // Conjugate gradients from 0.
            let mut x = Vector::zeros(context, a.rows()).unwrap();
            let mut cg = Cg::new(context, a.rows(), CgParams::default().tolerance(1e-12)).unwrap();
            let by_cg = cg.solve(&a, Some(&mut m), &b, &mut x).unwrap();
            assert!(by_cg.stop.is_success() && by_cg.iterations <= 16, "{what}: {by_cg}");
            let mut v = Vector::zeros(context, grid.len()).unwrap();
            a.points(&x, &sides, &mut v).unwrap();
            let apart: Vec<f64> = u.iter().zip(v.to_vec().unwrap()).map(|(u, v)| u - v).collect();
            let most = bound(&grid, shift, (report.relative_residual + by_cg.relative_residual) * size)
                + 2.0 * bound(&grid, shift, report.rounding_floor * size);
            assert!(norm(&apart) <= most, "{what}: {:e} > {most:e}", norm(&apart));
        }
        let params = PoissonParams { backend: Backend::Reference, ..Default::default() };
        let poisson = Poisson::<f64>::new(context, &Grid::square(9), &params).unwrap();
        assert_error(poisson.operator(), VALUE, "backend");
        assert_error(poisson.preconditioner(), VALUE, "backend");
    }
}

#[test]
fn squares_and_cubes_of_any_size_are_solved() {
    for context in capable::<f64>() {
        for grid in [Grid::square(1000), Grid::square(64), Grid::square(4), Grid::cube(50), Grid::cube(6)] {
            let sines = |at: [f64; 3]| (0..grid.dim()).map(|axis| (PI * at[axis]).sin()).product::<f64>();
            let scale = grid.dim() as f64 * PI * PI;
            let f: Vec<f64> = points_of(&grid).into_iter().map(|at| scale * sines(at)).collect();
            let mut u = vec![0.0; grid.len()];
            let report = Poisson::new(context, &grid, &PoissonParams::default()).unwrap().solve(&f, &mut u).unwrap();
            assert!(report.stop.is_success(), "{grid:?} on {context:?}: {report:?}");
            assert!(report.convergence_factor.is_none_or(|factor| factor <= 0.2), "{grid:?}: {report:?}");
            // The discrete solution is the same sine, by the eigenvalue of the stencil.
            let h = 1.0 / (grid.points()[0] - 1) as f64;
            let discrete = grid.dim() as f64 * 4.0 / (h * h) * (PI * h / 2.0).sin().powi(2);
            let exact: Vec<f64> = f.iter().map(|f| f / discrete).collect();
            assert!(difference(&u, &exact) < 1e-9, "{grid:?} on {context:?}: {:e}", difference(&u, &exact));
        }
    }
}

#[test]
fn what_only_regular_grids_have_is_refused_elsewhere() {
    for context in capable::<f64>() {
        let base = PoissonParams::default();
        let square = Grid::square(65);
        let others = [
            (Grid::square(1000), base),
            (Grid::square(64), base),
            (Grid::cube(100), base),
            (Grid::new(&[65, 33]), base),
            (square.clone().size(&[1.0, 2.0]), base),
            (square.clone().side(1, End::High, Condition::Neumann), base),
            (square.clone().spacing(1, square.coordinates(1).unwrap()), base),
            (square.clone(), PoissonParams { diffusion: [1.0, 2.0, 1.0], ..base }),
            (square.clone(), PoissonParams { mixed_derivatives: [0.5, 0.0, 0.0], ..base }),
            (square.clone(), PoissonParams { order: 4, ..base }),
        ];
        for (grid, params) in others {
            let refused = [
                (PoissonParams { backend: Backend::Matrix, ..params }, "backend"),
                (PoissonParams { backend: Backend::Reference, ..params }, "backend"),
                (PoissonParams { smoother: Smoother::Jacobi, ..params }, "smoother"),
                (PoissonParams { mixed_precision: true, ..params }, "mixed_precision"),
            ];
            for (params, argument) in refused {
                let words = assert_error(Poisson::<f64>::new(context, &grid, &params), VALUE, argument);
                assert!(words.contains("2^k + 1 points") && words.contains("unit square or cube"), "{words}");
            }
            assert_error(Poisson::<f64>::reference(&grid, &params, None), VALUE, "backend");
        }
        // A coefficient is part of the regular problem on a square, not on a cube.
        let (k, cube) = (vec![1.0; 17 * 17 * 17], Grid::cube(17));
        for (params, argument) in [
            (PoissonParams { backend: Backend::Matrix, ..base }, "backend"),
            (PoissonParams { smoother: Smoother::Jacobi, ..base }, "smoother"),
        ] {
            let on_square =
                Poisson::with_coefficient(context, &Grid::square(17), &params, Coefficient::Points(&k[..289]));
            assert!(on_square.is_ok());
            let on_cube = Poisson::with_coefficient(context, &cube, &params, Coefficient::Points(&k));
            assert_error(on_cube, VALUE, argument);
        }
        assert_error(Poisson::reference(&cube, &base, Some(Coefficient::Points(&k))), VALUE, "backend");
        let with_coefficient = Poisson::with_coefficient(context, &cube, &base, Coefficient::Points(&k)).unwrap();
        assert_eq!(with_coefficient.levels()[0], [15; 3]);
    }
}

/// A solve that was stopped continues to the bits of one that was not.
#[test]
fn a_solve_on_a_regular_grid_is_stopped_and_resumed() {
    for context in capable::<f64>() {
        let kernels = PoissonParams { tolerance: 1e-9, ..Default::default() };
        let k: Vec<f64> = noise::<f64>(32 * 32, 8).iter().map(|r| 10.0_f64.powf(r.abs())).collect();
        for (grid, params, k) in [
            (Grid::square(33), kernels, None),
            (Grid::square(33), PoissonParams { cycle: Cycle::Full, smoother: Smoother::Jacobi, ..kernels }, None),
            (Grid::square(33), PoissonParams { mixed_precision: true, ..kernels }, None),
            (Grid::square(33), PoissonParams { backend: Backend::Matrix, ..kernels }, None),
            (Grid::square(33), PoissonParams { backend: Backend::Reference, ..kernels }, None),
            (Grid::square(33), kernels, Some(&k[..])),
            (Grid::square(33), PoissonParams { backend: Backend::Matrix, ..kernels }, Some(&k[..])),
            (Grid::square(33), PoissonParams { backend: Backend::Reference, ..kernels }, Some(&k[..])),
            (Grid::cube(17), kernels, None),
        ] {
            let what = format!("{grid:?}, {params:?}, coefficient {} on {context:?}", k.is_some());
            let new = || solver(context, &grid, &params, k);
            let (f, mut whole) = (noise::<f64>(grid.len(), 9), vec![0.0; grid.len()]);
            let report = new().solve(&f, &mut whole).unwrap();
            assert!(report.stop == Stop::Converged && report.cycles > 3, "{what}: {report:?}");
            let (mut first, mut u) = (new(), vec![0.0; grid.len()]);
            let stop = &mut |cycle: usize, _: f64| match cycle {
                0 | 1 => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            };
            let part = first.solve_with(&f, &mut u, stop).unwrap();
            assert_eq!(part.stop, Stop::Cancelled, "{what}");
            let memory = first.memory(&part.history).unwrap();
            assert_eq!((memory.direction.is_some(), memory.unknowns.is_none()), (k.is_some(), true), "{what}");
            let mut second = new();
            second.resume(&memory).unwrap();
            let rest = second.solve(&f, &mut u).unwrap();
            assert_eq!(rest.history, report.history, "{what}");
            assert!(u == whole, "{what}: {:e}", difference(&u, &whole));
            // What does not fit is refused.
            let direction = |len: usize| Some((vec![1.0; len], 1.0));
            let short = PoissonMemory { direction: direction(grid.len() - 1), ..memory.clone() };
            assert_error(second.resume(&short), "clinalg:argument:length", "memory.direction");
            if k.is_none() {
                let other = PoissonMemory { direction: direction(grid.len()), ..memory.clone() };
                assert_error(second.resume(&other), VALUE, "memory.direction");
            }
            assert_error(second.resume(&PoissonMemory { history: vec![], ..memory }), VALUE, "memory.history");
        }
    }
}
