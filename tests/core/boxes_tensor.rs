//! Boxes with a tensor that varies: manufactured solutions, the solver of constant tensors, what is refused.

use crate::boxes::{at_points, with_values};
use crate::common::{capable, difference, noise};
use clinalg::Context;
use clinalg::multigrid::{Condition, End, Grid, Poisson, PoissonParams, SideValues, Tensor};
use clinalg::ops::Operator;
use clinalg::solve::{Cg, CgParams, Solver};
use clinalg::{Vector, ops};

type Point = [f64; 3];

/// The middles of the cells between the points.
fn cells(grid: &Grid) -> Vec<Point> {
    let middles = |axis: usize| -> Vec<f64> {
        if axis >= grid.dim() {
            return vec![0.0];
        }
        let x = grid.coordinates(axis).unwrap();
        x.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect()
    };
    products(&[middles(0), middles(1), middles(2)])
}

fn products([x, y, z]: &[Vec<f64>; 3]) -> Vec<Point> {
    let plane = |z: f64| y.iter().flat_map(move |&y| x.iter().map(move |&x| [x, y, z]));
    z.iter().flat_map(|&z| plane(z)).collect()
}

fn points(grid: &Grid) -> Vec<Point> {
    let along = |axis: usize| if axis < grid.dim() { grid.coordinates(axis).unwrap() } else { vec![0.0] };
    products(&[along(0), along(1), along(2)])
}

/// A tensor whose axes turn; positive definite, as it is dominated by its diagonal.
fn entry(a: usize, b: usize, [x, y, z]: Point) -> f64 {
    match (a.min(b), a.max(b)) {
        (0, 0) => 2.0 + (2.0 * x + y).sin(),
        (1, 1) => 1.5 + 0.5 * (3.0 * y - x + z).cos(),
        (2, 2) => 1.2 + 0.3 * z * x,
        (0, 1) => 0.4 * (x - 2.0 * y).cos(),
        (0, 2) => 0.3 * (y + z).sin(),
        _ => -0.2 * (x * z).cos(),
    }
}

const SLOPES: Point = [1.3, 1.7, 1.1];

/// The solution, the product of 2 + sin, or its derivative along a direction.
fn u(at: Point, along: Option<usize>, dim: usize) -> f64 {
    let factor = |axis: usize| {
        let angle = SLOPES[axis] * at[axis] + 0.3 + axis as f64;
        if along == Some(axis) { SLOPES[axis] * angle.cos() } else { 2.0 + angle.sin() }
    };
    (0..dim).map(factor).product()
}

fn flux(axis: usize, at: Point, dim: usize) -> f64 {
    (0..dim).map(|b| entry(axis, b, at) * u(at, Some(b), dim)).sum()
}

/// -div(D grad u) + u / 2, with the divergence by differences of order 4.
fn source(at: Point, dim: usize) -> f64 {
    let h = 1e-3;
    let slope = |axis: usize| {
        let moved = |steps: f64| {
            let mut to = at;
            to[axis] += steps * h;
            flux(axis, to, dim)
        };
        (moved(-2.0) - 8.0 * moved(-1.0) + 8.0 * moved(1.0) - moved(2.0)) / (12.0 * h)
    };
    0.5 * u(at, None, dim) - (0..dim).map(slope).sum::<f64>()
}

fn grid(n: &[usize]) -> Grid {
    let grid = Grid::new(n).side(1, End::Low, Condition::Neumann).side(1, End::High, Condition::Robin { alpha: 1.5 });
    if n.len() == 3 { grid.side(2, End::High, Condition::Neumann) } else { grid }
}

/// The root of the mean square error.
fn error(context: &Context, n: &[usize]) -> f64 {
    let (grid, dim) = (grid(n), n.len());
    let entries = |a: usize, b: usize| -> Vec<f64> { cells(&grid).into_iter().map(|at| entry(a, b, at)).collect() };
    let diagonal = [entries(0, 0), entries(1, 1), entries(2, 2)];
    let mixed = [entries(0, 1), entries(0, 2), entries(1, 2)];
    let tensor = Tensor { diagonal: diagonal.each_ref().map(|d| &d[..]), mixed: mixed.each_ref().map(|d| &d[..]) };
    let params = PoissonParams { shift: 0.5, ..PoissonParams::default() };
    let solver = Poisson::<f64>::with_tensor(context, &grid, &params, tensor).unwrap();
    let f: Vec<f64> = points(&grid).into_iter().map(|at| source(at, dim)).collect();
    let sides = SideValues::from_fn(&grid, |axis, end, at| {
        let outward = if end == End::Low { -1.0 } else { 1.0 };
        match grid.condition(axis, end) {
            Condition::Dirichlet => u(at, None, dim),
            Condition::Robin { alpha } => alpha * u(at, None, dim) + outward * flux(axis, at, dim),
            _ => outward * flux(axis, at, dim),
        }
    });
    let mut got = vec![0.0; grid.len()];
    let report = with_values(solver, &sides.unwrap()).solve(&f, &mut got).unwrap();
    assert!(report.stop.is_success() && report.cycles <= 12, "{n:?}: {report:?}");
    let squares = points(&grid).into_iter().zip(&got).map(|(at, got)| (got - u(at, None, dim)).powi(2));
    (squares.sum::<f64>() / got.len() as f64).sqrt()
}

#[test]
fn manufactured_solutions_are_met_to_order_two() {
    for context in capable::<f64>() {
        for (coarse, fine) in [([17, 21].to_vec(), [33, 41].to_vec()), ([9, 11, 9].to_vec(), [17, 21, 17].to_vec())] {
            let errors = [error(context, &coarse), error(context, &fine)];
            let ratio = errors[0] / errors[1];
            assert!((3.4..4.6).contains(&ratio) && errors[1] < 3e-3, "{coarse:?}: {errors:?}");
        }
    }
}

/// The tensor of `PoissonParams` in each cell gives the same solution; operator and preconditioner fit.
#[test]
fn constant_tensors_agree() {
    for context in capable::<f64>() {
        let grid = grid(&[18, 13]);
        let count = 17 * 12;
        let entries = [2.0, 0.7, -0.5].map(|d| vec![d; count]);
        let tensor = Tensor { diagonal: [&entries[0], &entries[1], &[]], mixed: [&entries[2], &[], &[]] };
        let constant = PoissonParams {
            diffusion: [2.0, 0.7, 1.0],
            mixed_derivatives: [-0.5, 0.0, 0.0],
            ..PoissonParams::default()
        };
        let f: Vec<f64> = noise(grid.len(), 3);
        let solve = |mut solver: Poisson<f64>| {
            let mut u = vec![0.0; f.len()];
            assert!(solver.solve(&f, &mut u).unwrap().stop.is_success());
            u
        };
        let made = || Poisson::<f64>::with_tensor(context, &grid, &PoissonParams::default(), tensor).unwrap();
        let want = solve(Poisson::new(context, &grid, &constant).unwrap());
        assert!(difference(&solve(made()), &want) < 1e-12);
        // The same by conjugate gradients with the operator and the preconditioner.
        let solver = made();
        let (operator, sides) = (solver.operator().unwrap(), SideValues::new(&grid));
        let b = operator.right_side(&Vector::from_slice(context, &f).unwrap(), &sides).unwrap();
        let mut x = Vector::zeros(context, operator.rows()).unwrap();
        let mut cg = Cg::new(context, operator.rows(), CgParams::default().tolerance(1e-12)).unwrap();
        let report = cg.solve(&operator, Some(&mut solver.preconditioner().unwrap()), &b, &mut x).unwrap();
        assert!(report.stop.is_success());
        let u = at_points(&grid, &x, |u| operator.points(&x, &sides, u));
        assert!(difference(&u, &want) < 1e-9 && ops::norm2(&x).unwrap() > 0.0);
    }
}

#[test]
fn wrong_tensors_are_refused() {
    let Some(context) = capable::<f64>().next() else { return };
    let grid = Grid::new(&[5, 5]);
    let refused = |grid: &Grid, params: PoissonParams, [xx, yy, xy]: [f64; 3], count: usize, needle: &str| {
        let entries = [xx, yy, xy].map(|d| vec![d; count]);
        let tensor = Tensor { diagonal: [&entries[0], &entries[1], &[]], mixed: [&entries[2], &[], &[]] };
        let message = Poisson::<f64>::with_tensor(context, grid, &params, tensor).unwrap_err().to_string();
        assert!(message.contains(needle), "{message}");
    };
    let params = PoissonParams::default();
    refused(&grid, params, [1.0, 1.0, 1.0], 16, "positive definite");
    refused(&grid, params, [1.0, f64::NAN, 0.0], 16, "positive definite");
    refused(&grid, params, [1.0, 1.0, 0.0], 25, "tensor");
    refused(&grid, PoissonParams { order: 4, ..params }, [1.0, 1.0, 0.0], 16, "order");
    refused(&grid, PoissonParams { diffusion: [2.0, 1.0, 1.0], ..params }, [1.0, 1.0, 0.0], 16, "constant tensor");
    let centred = Grid::new(&[4, 4]).centring(clinalg::multigrid::Centring::Cell);
    refused(&centred, params, [1.0, 1.0, 0.5], 16, "cell-centred");
}
