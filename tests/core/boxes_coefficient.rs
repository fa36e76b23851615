//! Boxes with a coefficient that varies, with a full tensor and by discretisations of order 4: manufactured solutions, regular
//! squares, and the speed of convergence across jumps.

use std::f64::consts::TAU;

use clinalg::multigrid::{
    Centring, Coefficient, Condition, End, Grid, Poisson, PoissonOperator, PoissonParams, PoissonPreconditioner,
    PoissonReport, SideValues,
};
use clinalg::ops::{self, Operator};
use clinalg::solve::{Cg, CgParams, Solver, Stop};
use clinalg::{Context, Vector};

use crate::boxes::{at_points, with_values};
use crate::common::{assert_error, capable, difference, noise};

const D: Condition = Condition::Dirichlet;
const N: Condition = Condition::Neumann;
const R: Condition = Condition::Robin { alpha: 1.5 };
const P: Condition = Condition::Periodic;
const PAIRS: [[Condition; 2]; 10] = [[D, D], [D, N], [N, D], [D, R], [R, D], [N, N], [N, R], [R, N], [R, R], [P, P]];
const ENDS: [End; 2] = [End::Low, End::High];

/// A solution and a coefficient that are periodic in the directions that have to be, and a tensor by its entries xx, yy, zz and xy, xz,
/// yz.
struct Manufactured<'a> {
    grid: &'a Grid,
    diagonal: [f64; 3],
    mixed: [f64; 3],
    shift: f64,
    varies: bool,
    centring: Centring,
    order: usize,
}

impl Manufactured<'_> {
    fn phase(&self, axis: usize, x: f64) -> (f64, f64) {
        let (slope, phase) =
            if self.grid.condition(axis, End::Low) == P { (TAU, 0.4) } else { (1.3, 0.3 + axis as f64) };
        (slope, slope * x + phase)
    }

    /// The product of the factors of u, of which some are derived so many times.
    fn u(&self, at: [f64; 3], orders: [usize; 3]) -> f64 {
        let factor = |axis: usize| {
            let (slope, angle) = self.phase(axis, at[axis]);
            let (sin, cos) = angle.sin_cos();
            [2.0 + sin, slope * cos, -slope * slope * sin][orders[axis]]
        };
        (0..self.grid.dim()).map(factor).product()
    }

    /// k = 1 + the sum of the cosines of the directions over 5, or its derivative along a direction.
    fn k(&self, at: [f64; 3], along: Option<usize>) -> f64 {
        let term = |axis: usize| {
            let (slope, angle) = self.phase(axis, at[axis]);
            (0.2 * angle.cos(), -0.2 * slope * angle.sin())
        };
        match along {
            _ if !self.varies => f64::from(along.is_none()),
            None => 1.0 + (0..self.grid.dim()).map(|axis| term(axis).0).sum::<f64>(),
            Some(axis) => term(axis).1,
        }
    }

    fn tensor(&self, a: usize, b: usize) -> f64 {
        if a == b { self.diagonal[a] } else { self.mixed[a + b - 1] }
    }

    fn derived(&self, at: [f64; 3], axes: &[usize]) -> f64 {
        let mut orders = [0; 3];
        axes.iter().for_each(|&axis| orders[axis] += 1);
        self.u(at, orders)
    }

    fn source(&self, at: [f64; 3]) -> f64 {
        let dim = self.grid.dim();
        let pairs = (0..dim).flat_map(|a| (0..dim).map(move |b| (a, b)));
        let flow = pairs.map(|(a, b)| {
            self.tensor(a, b)
                * (self.k(at, Some(a)) * self.derived(at, &[b]) + self.k(at, None) * self.derived(at, &[a, b]))
        });
        self.shift * self.u(at, [0; 3]) - flow.sum::<f64>()
    }

    fn side(&self, axis: usize, end: End, at: [f64; 3]) -> f64 {
        let outward = if end == End::Low { -1.0 } else { 1.0 };
        let flow = (0..self.grid.dim()).map(|b| self.tensor(axis, b) * self.derived(at, &[b])).sum::<f64>();
        let flux = outward * self.k(at, None) * flow;
        match self.grid.condition(axis, end) {
            Condition::Dirichlet => self.u(at, [0; 3]),
            Condition::Robin { alpha } => alpha * self.u(at, [0; 3]) + flux,
            _ => flux,
        }
    }
}

/// The products of coordinates.
fn products(along: &[Vec<f64>]) -> Vec<[f64; 3]> {
    let z = along.get(2).cloned().unwrap_or(vec![0.0]);
    let row = |y: f64, z: f64| along[0].iter().map(move |&x| [x, y, z]);
    z.iter().flat_map(|&z| along[1].iter().flat_map(move |&y| row(y, z))).collect()
}

fn points_of(grid: &Grid) -> Vec<[f64; 3]> {
    products(&(0..grid.dim()).map(|axis| grid.coordinates(axis).unwrap()).collect::<Vec<_>>())
}

/// The middles of the cells between the points of the unit box.
fn cells_of(grid: &Grid) -> Vec<[f64; 3]> {
    let middles = |axis: usize| -> Vec<f64> {
        let n = grid.points()[axis] - usize::from(grid.condition(axis, End::Low) != P);
        (0..n).map(|i| (i as f64 + 0.5) / n as f64).collect()
    };
    products(&(0..grid.dim()).map(middles).collect::<Vec<_>>())
}

fn grid(pairs: &[[Condition; 2]], intervals: &[usize], centring: Centring) -> Grid {
    let points =
        intervals.iter().zip(pairs).map(|(n, pair)| n + usize::from(centring == Centring::Vertex && pair[0] != P));
    let grid = Grid::new(&points.collect::<Vec<_>>()).centring(centring);
    pairs.iter().enumerate().fold(grid, |grid, (axis, pair)| {
        pair.iter().zip(ENDS).fold(grid, |grid, (&condition, end)| grid.side(axis, end, condition))
    })
}

/// The root of the mean square error of the solution, but for a constant where there is one.
fn error(context: &Context, made: &Manufactured<'_>, at_points: bool) -> f64 {
    let grid = made.grid;
    let points = points_of(grid);
    let f: Vec<f64> = points.iter().map(|&at| made.source(at)).collect();
    let exact: Vec<f64> = points.iter().map(|&at| made.u(at, [0; 3])).collect();
    let sides = SideValues::from_fn(grid, |axis, end, at| made.side(axis, end, at)).unwrap();
    let params = PoissonParams {
        diffusion: made.diagonal,
        mixed_derivatives: made.mixed,
        shift: made.shift,
        order: made.order,
        ..PoissonParams::default()
    };
    let values = |points: &[[f64; 3]]| points.iter().map(|&at| made.k(at, None)).collect::<Vec<_>>();
    let cells = if made.centring == Centring::Cell { points.clone() } else { cells_of(grid) };
    let (at, within) = (values(&points), values(&cells));
    let k = if at_points { Coefficient::Points(&at) } else { Coefficient::Cells(&within) };
    let mut poisson = if made.varies {
        Poisson::with_coefficient(context, grid, &params, k).unwrap()
    } else {
        Poisson::new(context, grid, &params).unwrap()
    };
    let mut u = vec![0.0; grid.len()];
    poisson.set_sides(&sides).unwrap();
    let report = poisson.solve(&f, &mut u).unwrap();
    assert_eq!(report.stop, Stop::Converged, "{grid:?}: {:?}", report.history);
    assert!(report.cycles <= 14, "{grid:?}: {:?}", report.history);
    if report.imbalance.is_some() {
        let offset = exact.iter().zip(&u).map(|(e, u)| e - u).sum::<f64>() / u.len() as f64;
        u.iter_mut().for_each(|u| *u += offset);
    }
    // Where sides with fluxes meet, the largest error falls by h^2 |log h| only.
    (exact.iter().zip(&u).map(|(e, u)| (e - u).powi(2)).sum::<f64>() / u.len() as f64).sqrt()
}

/// A problem whose order of convergence is tested.
struct Case {
    pairs: Vec<[Condition; 2]>,
    intervals: Vec<usize>,
    centring: Centring,
    mixed: [f64; 3],
    varies: bool,
    at_points: bool,
}

#[test]
fn coefficients_and_tensors_are_solved_to_order_two() {
    for context in capable::<f64>() {
        let mut cases: Vec<Case> = Vec::new();
        let none = [0.0; 3];
        for (i, x) in PAIRS.iter().enumerate() {
            for offset in [0, 3, 7] {
                let pairs = vec![*x, PAIRS[(i + offset) % 10]];
                let centring = if (i + offset) % 2 == 0 { Centring::Vertex } else { Centring::Cell };
                let (intervals, at_points) = (vec![19, 24], i % 3 == 0);
                cases.push(Case { pairs: pairs.clone(), intervals, centring, mixed: none, varies: true, at_points });
                let (intervals, centring, mixed) = (vec![22, 17], Centring::Vertex, [0.4, 0.0, 0.0]);
                cases.push(Case { pairs, intervals, centring, mixed, varies: i % 2 == 0, at_points: false });
            }
        }
        for (i, x) in PAIRS.iter().enumerate().step_by(2) {
            let pairs = vec![*x, PAIRS[(i + 3) % 10], PAIRS[(7 * i + 5) % 10]];
            let (intervals, centring) = (vec![9, 8, 11], Centring::Cell);
            cases.push(Case { pairs: pairs.clone(), intervals, centring, mixed: none, varies: true, at_points: true });
            let (intervals, centring, mixed) = (vec![10, 9, 8], Centring::Vertex, [0.3, -0.5, 0.4]);
            cases.push(Case { pairs, intervals, centring, mixed, varies: i % 4 == 0, at_points: false });
        }
        for Case { pairs, intervals, centring, mixed, varies, at_points } in cases {
            let errors = [1, 2].map(|factor| {
                let intervals: Vec<_> = intervals.iter().map(|n| n * factor).collect();
                let grid = grid(&pairs, &intervals, centring);
                let diagonal = [1.0, 0.6, 2.0];
                let made = Manufactured { grid: &grid, diagonal, mixed, shift: 0.5, varies, centring, order: 2 };
                error(context, &made, at_points)
            });
            let ratio = errors[0] / errors[1];
            assert!((3.3..4.7).contains(&ratio), "{pairs:?} {centring:?} {mixed:?} {varies}: {errors:?} = {ratio:.2}");
        }
    }
}

/// Conditions, intervals and shift.
type Fourth<'a> = (&'a [[Condition; 2]], &'a [usize], f64);

#[test]
fn compact_stencils_are_of_order_four() {
    for context in capable::<f64>() {
        let cases: [Fourth; 7] = [
            (&[[D, D], [D, D]], &[19, 24], 0.0),
            // Here couplings along x are negative.
            (&[[D, D], [D, D]], &[12, 40], 2.0),
            (&[[P, P], [D, D]], &[33, 16], 0.5),
            (&[[P, P], [P, P]], &[31, 36], 0.0),
            (&[[D, D], [D, D], [D, D]], &[8, 10, 9], 0.0),
            (&[[D, D], [P, P], [D, D]], &[6, 17, 8], 3.0),
            (&[[P, P], [P, P], [P, P]], &[16, 18, 14], 0.0),
        ];
        for (pairs, intervals, shift) in cases {
            let errors = [1, 2].map(|factor| {
                let intervals: Vec<_> = intervals.iter().map(|n| n * factor).collect();
                let grid = grid(pairs, &intervals, Centring::Vertex);
                let (diagonal, mixed, centring) = ([1.0, 0.6, 2.0], [0.0; 3], Centring::Vertex);
                error(
                    context,
                    &Manufactured { grid: &grid, diagonal, mixed, shift, varies: false, centring, order: 4 },
                    false,
                )
            });
            let ratio = errors[0] / errors[1];
            assert!((13.0..20.0).contains(&ratio), "{pairs:?} {intervals:?}: {errors:?} = {ratio:.2}");
        }
    }
}

#[test]
fn order_four_is_refused_where_it_would_be_less() {
    for context in capable::<f64>() {
        let square = Grid::new(&[9, 9]);
        let fourth = PoissonParams { order: 4, ..PoissonParams::default() };
        let uneven = square.clone().spacing(0, vec![0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0]);
        let refused = [
            (square.clone(), PoissonParams { order: 3, ..PoissonParams::default() }, "2 or 4"),
            (square.clone().side(1, End::Low, N), fourth, "Dirichlet or periodic"),
            (square.clone().side(0, End::High, R), fourth, "Dirichlet or periodic"),
            (square.clone().centring(Centring::Cell), fourth, "vertex-centred"),
            (square.clone(), PoissonParams { mixed_derivatives: [0.1, 0.0, 0.0], ..fourth }, "off-diagonal"),
            (uneven, fourth, "spacing"),
        ];
        for (grid, params, words) in refused {
            let message = assert_error(Poisson::<f64>::new(context, &grid, &params), "clinalg:argument:value", "order");
            assert!(message.contains(words), "{message}");
        }
        let k = vec![1.0; 81];
        let varies = Poisson::with_coefficient(context, &square, &fourth, Coefficient::Points(&k));
        assert_error(varies, "clinalg:argument:value", "order");
    }
}

/// Coordinates of the points make a grid that is not regular.
#[test]
fn a_square_is_solved_as_by_the_general_kernels() {
    for context in capable::<f64>() {
        let n = 33;
        let k: Vec<f64> = noise::<f64>(n * n, 5).iter().map(|r| 10.0_f64.powf(2.0 * r)).collect();
        let cells: Vec<f64> = k[..(n - 1) * (n - 1)].to_vec();
        let f = noise::<f64>(n * n, 6);
        let boundary = |x: f64, y: f64| x - y * y;
        let square = Grid::square(n);
        let start: Vec<f64> = points_of(&square).iter().map(|[x, y, _]| boundary(*x, *y)).collect();
        for given in [Coefficient::Points(&k), Coefficient::Cells(&cells)] {
            let params = PoissonParams::default();
            let mut expected = start.clone();
            let mut poisson = Poisson::with_coefficient(context, &square, &params, given).unwrap();
            let cycles = poisson.solve(&f, &mut expected).unwrap().cycles;
            let grid = square.clone().spacing(0, square.coordinates(0).unwrap());
            let sides = SideValues::from_fn(&grid, |_, _, [x, y, _]| boundary(x, y)).unwrap();
            let mut u = vec![0.0; n * n];
            let poisson = Poisson::with_coefficient(context, &grid, &params, given).unwrap();
            let report = with_values(poisson, &sides).solve(&f, &mut u).unwrap();
            assert!(report.stop == Stop::Converged && report.cycles <= cycles + 5, "{cycles}: {report:?}");
            assert!(difference(&u, &expected) < 1e-8, "{:e}", difference(&u, &expected));
        }
    }
}

fn solved(context: &Context, grid: &Grid, k: Coefficient<'_, f64>) -> PoissonReport {
    let (f, mut u) = (noise::<f64>(grid.len(), 3), vec![0.0; grid.len()]);
    let params = PoissonParams { max_imbalance: 2.0, ..PoissonParams::default() };
    Poisson::with_coefficient(context, grid, &params, k).unwrap().solve(&f, &mut u).unwrap()
}

#[test]
fn jumps_of_a_million_converge() {
    for context in capable::<f64>() {
        for centring in [Centring::Vertex, Centring::Cell] {
            for pair in [[D, D], [N, N], [P, P], [R, D]] {
                let plane = grid(&[pair, [D, N]], &[90, 70], centring);
                let space = grid(&[pair, [D, N], [P, P]], &[18, 15, 13], centring);
                let floating = grid(&[pair, [N, N]], &[61, 50], centring);
                for grid in [plane, space, floating] {
                    // Cubes that meet at edges only are hard to part from each other.
                    let contrast = if grid.dim() == 3 { 1e3 } else { 1e6 };
                    let jump = |top: f64, high: &dyn Fn([f64; 3]) -> bool| -> Vec<f64> {
                        let places = if centring == Centring::Cell { points_of(&grid) } else { cells_of(&grid) };
                        places.into_iter().map(|at| if high(at) { top } else { 1.0 }).collect()
                    };
                    let half = jump(1e6, &|at| at[0] > 0.5);
                    let island = jump(1e6, &|[x, y, _]| (x - 0.4).hypot(y - 0.6) < 0.2);
                    let hole = jump(1e6, &|[x, y, _]| (x - 0.4).hypot(y - 0.6) > 0.2);
                    let board = jump(contrast, &|at| at.iter().map(|x| (4.3 * x) as usize).sum::<usize>() % 2 == 0);
                    for (name, k, most) in
                        [("half", half, 14), ("island", island, 14), ("hole", hole, 14), ("board", board, 25)]
                    {
                        let report = solved(context, &grid, Coefficient::Cells(&k));
                        let reached = [Stop::Converged, Stop::RoundingFloor].contains(&report.stop);
                        let message = format!("{name} {grid:?}: {} {:?}", report.stop, report.history);
                        assert!(reached && report.cycles <= most, "{message}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_flux_through_layers_is_their_harmonic_mean() {
    for context in capable::<f64>() {
        // u = 0 at x = 0 and 1 at x = 1, k = 1 in the left half and 1e6 in the right one: linear in both, exact in the cells.
        let grid = grid(&[[D, D], [N, N]], &[40, 13], Centring::Cell);
        let k: Vec<f64> = points_of(&grid).iter().map(|at| if at[0] > 0.5 { 1e6 } else { 1.0 }).collect();
        let sides = SideValues::from_fn(&grid, |axis, end, _| f64::from(axis == 0 && end == End::High)).unwrap();
        let params = PoissonParams { tolerance: 1e-13, ..PoissonParams::default() };
        let poisson = Poisson::with_coefficient(context, &grid, &params, Coefficient::Points(&k)).unwrap();
        let mut u = vec![0.0; grid.len()];
        let report = with_values(poisson, &sides).solve(&vec![0.0; grid.len()], &mut u).unwrap();
        assert!(report.stop.is_success(), "{report:?}");
        let flux = 1.0 / (0.5 + 0.5e-6);
        let exact = |x: f64| if x < 0.5 { flux * x } else { 1.0 - flux * 1e-6 * (1.0 - x) };
        let exact: Vec<f64> = points_of(&grid).iter().map(|at| exact(at[0])).collect();
        assert!(difference(&u, &exact) < 1e-8, "{:e}", difference(&u, &exact));
    }
}

#[test]
fn operator_and_preconditioner_take_coefficients() {
    for context in capable::<f64>() {
        let grid = grid(&[[D, N], [P, P]], &[21, 19], Centring::Vertex);
        let k: Vec<f64> = noise::<f64>(21 * 19, 8).iter().map(|r| 10.0_f64.powf(3.0 * r)).collect();
        let params = PoissonParams { mixed_derivatives: [0.5, 0.0, 0.0], ..PoissonParams::default() };
        let k = Coefficient::Cells(&k);
        let a = PoissonOperator::with_coefficient(context, &grid, &params, k).unwrap();
        // Symmetric: x' A z = z' A x; constants flow through the Dirichlet side only.
        let [x, z] = [1, 2].map(|seed| Vector::from_slice(context, &noise::<f64>(a.rows(), seed)).unwrap());
        let applied = |x: &Vector<f64>| {
            let mut y = Vector::zeros(context, a.rows()).unwrap();
            a.apply(1.0, x, 0.0, &mut y).unwrap();
            y
        };
        let (ax, az) = (applied(&x), applied(&z));
        let [one, other] = [ops::dot(&x, &az), ops::dot(&z, &ax)].map(Result::unwrap);
        assert!((one - other).abs() <= 1e-12 * ops::norm2(&x).unwrap() * ops::norm2(&az).unwrap(), "{one:e} {other:e}");
        let mut m = PoissonPreconditioner::with_coefficient(context, &grid, &params, k).unwrap();
        let sides = SideValues::from_fn(&grid, |_, _, [x, y, _]| x - 2.0 * y).unwrap();
        let f = noise::<f64>(grid.len(), 4);
        let b = a.right_side(&Vector::from_slice(context, &f).unwrap(), &sides).unwrap();
        let mut x = Vector::zeros(context, a.rows()).unwrap();
        let report =
            Cg::new(context, a.rows(), CgParams::default()).unwrap().solve(&a, Some(&mut m), &b, &mut x).unwrap();
        assert!(report.stop.is_success() && report.iterations <= 25, "{report:?}");
        let (u, mut v) = (at_points(&grid, &x, |u| a.points(&x, &sides, u)), vec![0.0; grid.len()]);
        let poisson = Poisson::with_coefficient(context, &grid, &params, k).unwrap();
        with_values(poisson, &sides).solve(&f, &mut v).unwrap();
        assert!(difference(&u, &v) < 1e-6, "{:e}", difference(&u, &v));
    }
}

#[test]
fn what_is_out_of_range_is_named() {
    let Some(context) = capable::<f64>().next() else { return };
    let params = PoissonParams::default();
    let grid = Grid::new(&[5, 6]);
    let with = |grid: &Grid, params: PoissonParams, k: Coefficient<'_, f64>| {
        Poisson::with_coefficient(context, grid, &params, k).map(drop)
    };
    assert_error(with(&grid, params, Coefficient::Points(&[1.0; 29])), "clinalg:argument:length", "coefficient");
    assert_error(with(&grid, params, Coefficient::Cells(&[1.0; 30])), "clinalg:argument:length", "coefficient");
    let mut k = vec![1.0; 30];
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        k[7] = bad;
        assert_error(with(&grid, params, Coefficient::Points(&k)), "clinalg:argument:value", "coefficient");
    }
    for mixed_derivatives in [[1.0, 0.0, 0.0], [f64::NAN, 0.0, 0.0]] {
        let mixed = PoissonParams { mixed_derivatives, ..params };
        assert_error(Poisson::<f64>::new(context, &grid, &mixed), "clinalg:argument:value", "mixed_derivatives");
    }
    let mixed = PoissonParams { mixed_derivatives: [0.3, 0.0, 0.0], ..params };
    let cells = grid.clone().centring(Centring::Cell);
    assert_error(Poisson::<f64>::new(context, &cells, &mixed), "clinalg:argument:value", "mixed_derivatives");
    assert_error(with(&grid, mixed, Coefficient::Points(&[1.0; 30])), "clinalg:argument:value", "mixed_derivatives");
}
