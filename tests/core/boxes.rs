//! Boxes of any size, spacing and conditions: the operator against its balance cell by cell, solutions against manufactured ones, the
//! speed of convergence, and what is refused.

use std::f64::consts::TAU;

use clinalg::multigrid::{
    Centring, Condition, Cycle, End, Grid, Poisson, PoissonOperator, PoissonParams, PoissonPreconditioner,
    PoissonReport, SideValues,
};
use clinalg::ops::{self, Operator};
use clinalg::solve::{Cg, CgParams, Solver, Stop};
use clinalg::{Context, Real, Vector};
use clinalg_reference::boxes;

use crate::common::{assert_error, capable, contexts, difference, eps, noise};

pub(crate) const D: Condition = Condition::Dirichlet;
pub(crate) const N: Condition = Condition::Neumann;
pub(crate) const R: Condition = Condition::Robin { alpha: 1.5 };
pub(crate) const P: Condition = Condition::Periodic;
/// All pairs of conditions that a direction can have.
pub(crate) const PAIRS: [[Condition; 2]; 10] =
    [[D, D], [D, N], [N, D], [D, R], [R, D], [N, N], [N, R], [R, N], [R, R], [P, P]];
pub(crate) const ENDS: [End; 2] = [End::Low, End::High];
pub(crate) const CENTRINGS: [Centring; 2] = [Centring::Vertex, Centring::Cell];

pub(crate) fn with_sides(grid: Grid, pairs: &[[Condition; 2]]) -> Grid {
    pairs.iter().enumerate().fold(grid, |grid, (axis, pair)| {
        pair.iter().zip(ENDS).fold(grid, |grid, (&condition, end)| grid.side(axis, end, condition))
    })
}

/// `n` + 1 coordinates whose intervals grow and shrink by an eighth.
pub(crate) fn uneven(n: usize) -> Vec<f64> {
    (0..=n).map(|i| i as f64 + (i % 3) as f64 / 8.0).collect()
}

/// The same grid for the sequential balance; `nodes` where the grid has uneven spacing.
pub(crate) fn plain(
    grid: &Grid,
    centring: Centring,
    nodes: &[Option<Vec<f64>>],
    size: &[f64],
    d: &[f64],
) -> Vec<boxes::Axis> {
    let end = |condition| match condition {
        Condition::Dirichlet => boxes::End::Dirichlet,
        Condition::Robin { alpha } => boxes::End::Robin(alpha),
        Condition::Periodic => boxes::End::Periodic,
        _ => boxes::End::Robin(0.0),
    };
    (0..grid.dim())
        .map(|axis| {
            let ends = ENDS.map(|e| end(grid.condition(axis, e)));
            let cells = centring == Centring::Cell;
            let n = grid.points()[axis] - usize::from(!cells && ends[0] != boxes::End::Periodic);
            let even = || (0..=n).map(|i| size[axis] * i as f64 / n as f64).collect();
            boxes::Axis { nodes: nodes[axis].clone().unwrap_or_else(even), cells, ends, d: d[axis] }
        })
        .collect()
}

fn operator_is_the_balance<T: Real>(context: &Context) {
    let sizes: [&[usize]; 6] = [&[37, 23], &[2, 40], &[65, 3], &[16, 5, 7], &[3, 3, 3], &[21, 1, 4]];
    for (case, points) in sizes.into_iter().enumerate() {
        for centring in CENTRINGS {
            let (size, d) = ([2.0, 0.7, 1.3], [1.0, 20.0, 0.3]);
            let pairs: Vec<_> = (0..points.len()).map(|axis| PAIRS[(4 + 3 * case + 7 * axis) % 10]).collect();
            // One point needs no more than a periodic direction, two no more than one that is held.
            let pairs: Vec<_> =
                pairs.iter().zip(points).map(|(&pair, &n)| [[P, P], [N, D], pair][(n - 1).min(2)]).collect();
            let mut grid = with_sides(Grid::new(points), &pairs).size(&size[..points.len()]).centring(centring);
            let mut nodes = vec![None; points.len()];
            if case % 2 == 0 {
                let whole = centring == Centring::Cell || pairs[0][0] == P;
                let coordinates = uneven(points[0] - usize::from(!whole));
                nodes[0] = Some(coordinates.clone());
                grid = grid.spacing(0, coordinates);
            }
            let params = PoissonParams { diffusion: d, shift: 0.5, ..PoissonParams::default() };
            let axes = plain(&grid, centring, &nodes, &size, &d);
            let held = boxes::outflow(&axes, 0.5, &vec![1.0; grid.len()])
                .iter()
                .map(|(_, size)| *size == 0.0)
                .collect::<Vec<_>>();
            let mut u: Vec<f64> = noise::<T>(grid.len(), 11).iter().map(|u| u.into_f64()).collect();
            u.iter_mut().zip(&held).filter(|(_, held)| **held).for_each(|(u, _)| *u = 0.0);
            let pick = |values: &[f64]| -> Vec<T> {
                values.iter().zip(&held).filter(|(_, held)| !**held).map(|(u, _)| T::from_f64(*u)).collect()
            };
            let a = PoissonOperator::<T>::new(context, &grid, &params).unwrap();
            let x = Vector::from_slice(context, &pick(&u)).unwrap();
            let old = noise::<T>(a.rows(), 12);
            let mut y = Vector::from_slice(context, &old).unwrap();
            a.apply(T::from_f64(2.0), &x, T::from_f64(3.0), &mut y).unwrap();
            let expected = boxes::outflow(&axes, 0.5, &u).into_iter().zip(&held).filter(|(_, held)| !**held);
            for (p, ((got, (flow, size)), old)) in
                y.to_vec().unwrap().iter().zip(expected.map(|e| e.0)).zip(&old).enumerate()
            {
                let error = (got.into_f64() - 2.0 * flow - 3.0 * old.into_f64()).abs();
                // Intervals are differences of coordinates that are up to 65 times as large.
                let bound = 100.0 * eps::<T>() * (size + old.into_f64().abs());
                assert!(error <= bound, "{points:?} {centring:?} {pairs:?}, unknown {p}: {error:e} > {bound:e}");
            }
            // Symmetric: x' A z = z' A x.
            let z = Vector::from_slice(context, &old).unwrap();
            let mut az = Vector::zeros(context, a.rows()).unwrap();
            a.apply(T::one(), &z, T::zero(), &mut az).unwrap();
            a.apply(T::one(), &x, T::zero(), &mut y).unwrap();
            let [one, other] = [ops::dot(&x, &az), ops::dot(&z, &y)].map(|product| product.unwrap().into_f64());
            let size = ops::norm2(&z).unwrap().into_f64() * ops::norm2(&y).unwrap().into_f64();
            assert!((one - other).abs() <= 100.0 * eps::<T>() * size, "{points:?}: {one:e}, {other:e}");
        }
    }
}

#[test]
fn the_operator_is_the_balance_of_each_cell() {
    crate::on_every_device!(operator_is_the_balance);
}

/// A solution that is periodic in the directions that have to be: its value, gradient and -div(D grad u) + shift u at a point.
struct Manufactured<'a> {
    grid: &'a Grid,
    d: [f64; 3],
    shift: f64,
}

impl Manufactured<'_> {
    /// The factor of direction `axis` and its first two derivatives.
    fn factor(&self, axis: usize, x: f64) -> [f64; 3] {
        let (slope, phase) =
            if self.grid.condition(axis, End::Low) == P { (TAU, 0.4) } else { (1.3, 0.3 + axis as f64) };
        let (sin, cos) = (slope * x + phase).sin_cos();
        [2.0 + sin, slope * cos, -slope * slope * sin]
    }

    fn value(&self, at: [f64; 3]) -> f64 {
        (0..self.grid.dim()).map(|axis| self.factor(axis, at[axis])[0]).product()
    }

    /// Derivative `order` along `axis`.
    fn derivative(&self, axis: usize, order: usize, at: [f64; 3]) -> f64 {
        (0..self.grid.dim()).map(|a| self.factor(a, at[a])[if a == axis { order } else { 0 }]).product()
    }

    fn source(&self, at: [f64; 3]) -> f64 {
        let flow = |axis: usize| -self.d[axis] * self.derivative(axis, 2, at);
        (0..self.grid.dim()).map(flow).sum::<f64>() + self.shift * self.value(at)
    }

    fn side(&self, axis: usize, end: End, at: [f64; 3]) -> f64 {
        let outward = if end == End::Low { -1.0 } else { 1.0 };
        let flux = outward * self.d[axis] * self.derivative(axis, 1, at);
        match self.grid.condition(axis, end) {
            Condition::Dirichlet => self.value(at),
            Condition::Robin { alpha } => alpha * self.value(at) + flux,
            _ => flux,
        }
    }
}

/// The solver with these values of the sides.
pub(crate) fn with_values<T: Real>(mut poisson: Poisson<T>, sides: &SideValues<T>) -> Poisson<T> {
    poisson.set_sides(sides).unwrap();
    poisson
}

/// The values at all points that `put` makes of the unknowns x.
pub(crate) fn at_points<T: Real>(
    grid: &Grid,
    x: &Vector<T>,
    put: impl FnOnce(&mut Vector<T>) -> clinalg::Result<()>,
) -> Vec<T> {
    let mut u = Vector::zeros(x.context(), grid.len()).unwrap();
    put(&mut u).unwrap();
    u.to_vec().unwrap()
}

/// All points of a grid.
pub(crate) fn points_of(grid: &Grid) -> Vec<[f64; 3]> {
    let along: Vec<_> =
        (0..3).map(|axis| if axis < grid.dim() { grid.coordinates(axis).unwrap() } else { vec![0.0] }).collect();
    let row = |y, z| along[0].iter().map(move |&x| [x, y, z]);
    along[2].iter().flat_map(|&z| along[1].iter().flat_map(move |&y| row(y, z))).collect()
}

/// The largest error of the solution on `grid`, but for a constant where there is one.
fn error(context: &Context, grid: &Grid, shift: f64) -> f64 {
    let made = Manufactured { grid, d: [1.0, 0.5, 2.0], shift };
    let points = points_of(grid);
    let f: Vec<f64> = points.iter().map(|&at| made.source(at)).collect();
    let exact: Vec<f64> = points.iter().map(|&at| made.value(at)).collect();
    let sides = SideValues::from_fn(grid, |axis, end, at| made.side(axis, end, at)).unwrap();
    let params = PoissonParams { diffusion: made.d, shift, ..PoissonParams::default() };
    let mut u = vec![0.0; grid.len()];
    let report = with_values(Poisson::new(context, grid, &params).unwrap(), &sides).solve(&f, &mut u).unwrap();
    assert_eq!(report.stop, Stop::Converged, "{grid:?}: {:?}", report.history);
    assert!(report.convergence_factor.unwrap() <= 0.15, "{grid:?}: {:?}", report.history);
    if report.imbalance.is_some() {
        let offset = exact.iter().zip(&u).map(|(e, u)| e - u).sum::<f64>() / u.len() as f64;
        u.iter_mut().for_each(|u| *u += offset);
    }
    difference(&u, &exact)
}

/// Fails unless the error falls by four where the intervals are halved.
fn is_of_order_two(context: &Context, pairs: &[[Condition; 2]], intervals: &[usize], centring: Centring, shift: f64) {
    let grid = |factor: usize| {
        let points = intervals
            .iter()
            .zip(pairs)
            .map(|(n, pair)| n * factor + usize::from(centring == Centring::Vertex && pair[0] != P));
        with_sides(Grid::new(&points.collect::<Vec<_>>()), pairs).centring(centring)
    };
    let [coarse, fine] = [1, 2].map(|factor| error(context, &grid(factor), shift));
    let ratio = coarse / fine;
    assert!((3.2..4.9).contains(&ratio), "{pairs:?} {centring:?} {intervals:?}: {coarse:e} / {fine:e} = {ratio:.2}");
}

#[test]
fn every_combination_of_sides_is_solved_to_order_two() {
    for (which, context) in capable::<f64>().enumerate() {
        for (i, x) in PAIRS.iter().enumerate() {
            for (j, y) in PAIRS.iter().enumerate() {
                // All on one context, a tenth of them on each of the others.
                if which > 0 && (3 * i + j) % 10 != 0 {
                    continue;
                }
                let centring = CENTRINGS[(i + j) % 2];
                is_of_order_two(context, &[*x, *y], &[19, 24], centring, 0.0);
                if i == j {
                    is_of_order_two(context, &[*x, *y], &[22, 17], CENTRINGS[1], 3.0);
                }
            }
            let pairs = [*x, PAIRS[(i + 3) % 10], PAIRS[(7 * i + 5) % 10]];
            if which == 0 || i % 5 == 0 {
                is_of_order_two(context, &pairs, &[11, 8, 13], CENTRINGS[i % 2], 0.0);
                is_of_order_two(context, &pairs, &[10, 13, 9], CENTRINGS[1 - i % 2], 0.0);
            }
        }
    }
}

fn solved<T: Real>(context: &Context, grid: &Grid, params: &PoissonParams) -> PoissonReport {
    let (f, mut u) = (noise::<T>(grid.len(), 3), vec![T::zero(); grid.len()]);
    let params = PoissonParams { max_imbalance: 2.0, ..*params };
    Poisson::new(context, grid, &params).unwrap().solve(&f, &mut u).unwrap()
}

/// `n` + 1 coordinates from 0 to 1, each interval `q` times as long as the one before.
fn growing(n: usize, q: f64) -> Vec<f64> {
    (0..=n).map(|i| (q.powi(i as i32) - 1.0) / (q.powi(n as i32) - 1.0)).collect()
}

#[test]
fn cycles_leave_at_most_fifteen_hundredths() {
    for context in capable::<f64>() {
        let default = PoissonParams::default();
        let mut cases = Vec::new();
        for centring in CENTRINGS {
            for sides in [D, N, P, R] {
                for points in [[130, 101], [97, 64]] {
                    for ratio in [1.0, 2.0, 4.0, 1e2] {
                        cases.push((Grid::new(&points).size(&[ratio, 1.0]).sides(sides).centring(centring), default));
                    }
                }
                cases.push((Grid::new(&[30, 23, 17]).size(&[1.0, 4.0, 2.0]).sides(sides).centring(centring), default));
                cases.push((Grid::new(&[30, 23, 17]).sides(sides).centring(centring), default));
            }
            let strong = PoissonParams { diffusion: [1e4, 1.0, 1e2], ..default };
            cases.push((Grid::new(&[90, 110]).centring(centring), strong));
            cases.push((Grid::new(&[20, 33, 27]).side(2, End::High, N).centring(centring), strong));
            let whole = usize::from(centring == Centring::Cell);
            let graded = Grid::new(&[100, 80]).centring(centring);
            let graded = graded.spacing(0, growing(99 + whole, 1.1)).spacing(1, growing(79 + whole, 1.07));
            cases.push((graded, default));
        }
        for (grid, params) in cases {
            let report = solved::<f64>(context, &grid, &params);
            let factor = report.convergence_factor.unwrap();
            let reached = [Stop::Converged, Stop::RoundingFloor].contains(&report.stop);
            assert!(reached && factor <= 0.15, "{factor:.3} {} {grid:?} {params:?}: {:?}", report.stop, report.history);
        }
    }
}

#[test]
fn other_cycles_and_precisions_reach_their_tolerance() {
    for context in contexts() {
        let grid = Grid::new(&[57, 71]).side(0, End::High, R).periodic(1);
        let single = PoissonParams { tolerance: 1e-5, ..PoissonParams::default() };
        let report = solved::<f32>(context, &grid, &single);
        assert!(report.stop == Stop::Converged && report.cycles <= 6, "{report:?}");
        let report = solved::<f32>(context, &grid, &PoissonParams { cycle: Cycle::W, ..single });
        assert!(report.stop == Stop::Converged && report.cycles <= 6, "{report:?}");
        let report = solved::<f32>(context, &grid, &PoissonParams { tolerance: 0.0, ..single });
        assert!(
            [Stop::RoundingFloor, Stop::Stagnated].contains(&report.stop) && report.relative_residual < 1e-5,
            "{report:?}"
        );
    }
    for context in capable::<f64>() {
        // A pass of full multigrid leaves no more than discretisation does, so that cycles from it begin lower.
        let grid = Grid::new(&[140, 90]).size(&[1.4, 0.9]);
        let f: Vec<f64> = points_of(&grid).iter().map(|[x, y, _]| (3.0 * x).sin() + y).collect();
        let mut u = vec![0.0; grid.len()];
        let params = PoissonParams { cycle: Cycle::Full, ..PoissonParams::default() };
        let report = Poisson::new(context, &grid, &params).unwrap().solve(&f, &mut u).unwrap();
        assert!(report.stop == Stop::Converged && report.history[1] < 0.02, "{report:?}");
        // From the solution there is nothing to do.
        let again = Poisson::new(context, &grid, &PoissonParams::default()).unwrap().solve(&f, &mut u);
        assert_eq!(again.unwrap().cycles, 0);
    }
}

#[test]
fn a_cycle_preconditions_conjugate_gradients() {
    for context in capable::<f64>() {
        let grid =
            Grid::new(&[61, 47]).size(&[3.0, 1.0]).side(0, End::Low, N).side(1, End::High, R).centring(Centring::Cell);
        let params = PoissonParams { pre: 1, post: 1, ..PoissonParams::default() };
        let a = PoissonOperator::<f64>::new(context, &grid, &params).unwrap();
        let mut m = PoissonPreconditioner::new(context, &grid, &params).unwrap();
        let sides = SideValues::from_fn(&grid, |_, _, [x, y, _]| x - 2.0 * y).unwrap();
        let f = noise::<f64>(grid.len(), 4);
        let b = a.right_side(&Vector::from_slice(context, &f).unwrap(), &sides).unwrap();
        let mut x = Vector::zeros(context, a.rows()).unwrap();
        let report =
            Cg::new(context, a.rows(), CgParams::default()).unwrap().solve(&a, Some(&mut m), &b, &mut x).unwrap();
        assert!(report.stop.is_success() && report.iterations <= 14, "{report:?}");
        let (u, mut v) = (at_points(&grid, &x, |u| a.points(&x, &sides, u)), vec![0.0; grid.len()]);
        with_values(Poisson::new(context, &grid, &params).unwrap(), &sides).solve(&f, &mut v).unwrap();
        assert!(difference(&u, &v) < 1e-7, "{:e}", difference(&u, &v));
    }
}

#[test]
fn what_does_not_balance_is_refused() {
    for context in capable::<f64>() {
        let grid = Grid::new(&[30, 20]).sides(N).periodic(1);
        let mut poisson = Poisson::<f64>::new(context, &grid, &PoissonParams::default()).unwrap();
        let mut u = vec![0.0; grid.len()];
        let mut sides = SideValues::new(&grid);
        let f = vec![1.0; grid.len()];
        let message = assert_error(poisson.solve(&f, &mut u), "clinalg:argument:value", "f");
        assert!(message.contains("add up to 0"), "{message}");
        // -u'' = 1 with u' = 0 at 0 and u' = -1 at 1: u = 1/6 - x^2 / 2.
        sides.set(0, End::High, vec![-1.0; 20]).unwrap();
        poisson.set_sides(&sides).unwrap();
        let report = poisson.solve(&f, &mut u).unwrap();
        assert!(report.imbalance.unwrap() < 1e-12, "{report:?}");
        let exact: Vec<f64> = points_of(&grid).iter().map(|[x, _, _]| 1.0 / 6.0 - 0.5 * x * x).collect();
        // Central differences are exact for a parabola; its mean is taken by the trapezoidal rule.
        let offset = exact[0] - u[0];
        assert!(offset.abs() < 1.0 / (29.0 * 29.0), "{offset:e}");
        let shifted: Vec<f64> = u.iter().map(|u| u + offset).collect();
        assert!(difference(&shifted, &exact) < 1e-9, "{:e}", difference(&shifted, &exact));
    }
}

#[test]
fn what_is_out_of_range_is_named() {
    let value = |grid: Grid, argument: &str| assert_error(grid.check(), "clinalg:argument:value", argument);
    value(Grid::new(&[5]), "points");
    value(Grid::new(&[5, 5, 5, 5]), "points");
    value(Grid::new(&[5, 2]), "points");
    value(Grid::new(&[0, 7]).centring(Centring::Cell), "points");
    value(Grid::new(&[1, 7]).sides(N), "points");
    value(Grid::new(&[usize::MAX, 7]), "points");
    value(Grid::new(&[5, 5]).size(&[1.0]), "size");
    value(Grid::new(&[5, 5]).size(&[1.0, 0.0]), "size");
    value(Grid::new(&[5, 5]).size(&[1.0, f64::NAN]), "size");
    value(Grid::new(&[5, 5]).side(0, End::Low, Condition::Periodic), "sides");
    value(Grid::new(&[5, 5]).sides(Condition::Robin { alpha: -1.0 }), "sides");
    value(Grid::new(&[5, 5]).spacing(0, vec![0.0, 1.0, 2.0]), "spacing");
    value(Grid::new(&[3, 5]).spacing(0, vec![0.0, 1.0, 1.0]), "spacing");
    assert!(Grid::new(&[1, 1]).centring(Centring::Cell).check().is_ok());
    assert!(Grid::new(&[2, 2]).sides(N).check().is_ok());

    let Some(context) = contexts().first() else { return };
    let grid = Grid::new(&[5, 6]);
    let new = |params: PoissonParams| Poisson::<f32>::new(context, &grid, &params);
    for (params, argument) in [
        (PoissonParams { diffusion: [1.0, -1.0, 1.0], ..PoissonParams::default() }, "diffusion"),
        (PoissonParams { shift: -1.0, ..PoissonParams::default() }, "shift"),
        (PoissonParams { pre: 0, post: 0, ..PoissonParams::default() }, "pre + post"),
        (PoissonParams { tolerance: f64::NAN, ..PoissonParams::default() }, "tolerance"),
        (PoissonParams { max_imbalance: -1.0, ..PoissonParams::default() }, "max_imbalance"),
    ] {
        assert_error(new(params), "clinalg:argument:value", argument);
    }
    let mut poisson = new(PoissonParams::default()).unwrap();
    let (mut sides, mut u) = (SideValues::new(&grid), vec![0.0; 30]);
    assert_error(poisson.solve(&[0.0; 29], &mut u), "clinalg:argument:length", "f");
    assert_error(poisson.solve(&[0.0; 30], &mut [0.0; 31]), "clinalg:argument:length", "u");
    assert_error(sides.set(0, End::Low, vec![0.0; 5]), "clinalg:argument:length", "values");
    assert_error(sides.set(2, End::Low, vec![0.0; 5]), "clinalg:argument:value", "axis");
    let before = vec![2.0; 30];
    u.copy_from_slice(&before);
    let report = poisson.solve(&[f32::NAN; 30], &mut u).unwrap();
    assert!(report.stop == Stop::NotFinite && u == before);
}
