//! Boxes on device vectors: right-hand sides against the balance cell by cell, points against unknowns, solves, and
//! what is refused.

use clinalg::multigrid::{
    Backend, Centring, Coefficient, Condition, Cycle, End, Grid, Poisson, PoissonOperator, PoissonParams,
    PoissonReport, SideValues,
};
use clinalg::ops::Operator;
use clinalg::solve::Stop;
use clinalg::{Context, ContextOptions, Device, Precision, Real, Vector};
use clinalg_reference::boxes;

use crate::boxes::{CENTRINGS, D, ENDS, N, P, PAIRS, R, at_points, plain, points_of, uneven, with_sides, with_values};
use crate::common::{assert_error, assert_same, capable, contexts, eps, noise};

const CONTEXT: &str = "clinalg:argument:context";
const LENGTH: &str = "clinalg:argument:length";
const VALUE: &str = "clinalg:argument:value";

fn vector<T: Real>(context: &Context, values: &[T]) -> Vector<T> {
    Vector::from_slice(context, values).unwrap()
}

/// Number of values of a side.
fn count(grid: &Grid, axis: usize) -> usize {
    grid.len() / grid.points()[axis]
}

/// Other values on each side, the corners included.
fn some_sides<T: Real>(grid: &Grid, which: impl Fn(usize, usize) -> bool) -> (SideValues<T>, Vec<[Vec<T>; 2]>) {
    let mut sides = SideValues::new(grid);
    let mut all = Vec::new();
    for axis in 0..grid.dim() {
        all.push([0, 1].map(|end| {
            if !which(axis, end) {
                return vec![T::zero(); count(grid, axis)];
            }
            let values = noise::<T>(count(grid, axis), 20 + 2 * axis as u64 + end as u64);
            sides.set(axis, ENDS[end], values.clone()).unwrap();
            values
        }));
    }
    (sides, all)
}

/// Whether point p is held, and the places of p on the sides that it lies on.
fn on_sides(grid: &Grid, p: usize) -> Vec<(usize, usize, usize)> {
    let mut found = Vec::new();
    let mut stride = 1;
    for (axis, &n) in grid.points().iter().enumerate() {
        let i = p / stride % n;
        let q = p % stride + p / (stride * n) * stride;
        found.extend([0, n - 1].into_iter().enumerate().filter(|&(_, at)| at == i).map(|(end, _)| (axis, end, q)));
        stride *= n;
    }
    found
}

/// The side that gives the value of a point: the last one.
fn holder(grid: &Grid, centring: Centring, p: usize) -> Option<(usize, usize, usize)> {
    let dirichlet = |&(axis, end, _): &(usize, usize, usize)| grid.condition(axis, ENDS[end]) == D;
    on_sides(grid, p).into_iter().rfind(|side| centring == Centring::Vertex && dirichlet(side))
}

fn check_right_side<T: Real>(what: &str, got: &Vector<T>, want: &[(f64, f64)]) {
    let got = got.to_vec().unwrap();
    assert_eq!(got.len(), want.len(), "{what}");
    for (p, (got, (value, size))) in got.iter().zip(want).enumerate() {
        let error = (got.into_f64() - value).abs();
        // Widths are differences of coordinates that are up to 40 times as large.
        assert!(error <= 100.0 * eps::<T>() * size, "{what}, unknown {p}: {got:e}, not {value:e}");
    }
}

fn right_side_is_the_inflow<T: Real>(context: &Context) {
    let sizes: [&[usize]; 5] = [&[37, 23], &[2, 40], &[16, 5, 7], &[3, 3, 3], &[21, 1, 4]];
    for (case, points) in sizes.into_iter().enumerate() {
        for (turn, centring) in CENTRINGS.into_iter().enumerate() {
            let (size, d) = ([2.0, 0.7, 1.3], [1.0, 20.0, 0.3]);
            let pairs: Vec<_> = (0..points.len()).map(|axis| PAIRS[(3 * case + 7 * axis + 4 * turn) % 10]).collect();
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
            let axes = plain(&grid, centring, &nodes, &size, &d);
            let params = PoissonParams { diffusion: d, shift: 0.5, ..PoissonParams::default() };
            let f = noise::<T>(grid.len(), 11);
            let wide: Vec<f64> = f.iter().map(|f| f.into_f64()).collect();
            // All sides, one alone, and none have values.
            for chosen in [None, Some((case + turn) % points.len()), Some(3)] {
                let (sides, values) = some_sides::<T>(&grid, |axis, end| match chosen {
                    None => true,
                    Some(only) => axis == only && end == turn,
                });
                let what = format!("{points:?} {centring:?} {pairs:?} {chosen:?}");
                let given = |axis: usize, end: usize, at: usize| values[axis][end][at].into_f64();
                let want: Vec<_> = boxes::inflow(&axes, &wide, given)
                    .into_iter()
                    .enumerate()
                    .filter(|(p, _)| holder(&grid, centring, *p).is_none())
                    .map(|(_, b)| b)
                    .collect();
                let a = PoissonOperator::<T>::new(context, &grid, &params).unwrap();
                check_right_side(&what, &a.right_side(&vector(context, &f), &sides).unwrap(), &want);
                // The same by couplings.
                let cells: usize = axes.iter().map(|axis| axis.nodes.len() - 1).product();
                let ones = vec![T::one(); cells];
                let a = PoissonOperator::with_coefficient(context, &grid, &params, Coefficient::Cells(&ones)).unwrap();
                let b = a.right_side(&vector(context, &f), &sides).unwrap();
                check_right_side(&format!("{what}, couplings"), &b, &want);
                assert_same(
                    &what,
                    &a.right_side(&vector(context, &f), &sides).unwrap().to_vec().unwrap(),
                    &b.to_vec().unwrap(),
                );
                // Points: the unknowns in their order, and the values of the sides that hold theirs.
                let x = noise::<T>(a.rows(), 12);
                let mut unknowns = x.iter();
                let points: Vec<T> = (0..grid.len())
                    .map(|p| match holder(&grid, centring, p) {
                        Some((axis, end, at)) => values[axis][end][at],
                        None => *unknowns.next().unwrap(),
                    })
                    .collect();
                let x = vector(context, &x);
                assert_same(&what, &at_points(&grid, &x, |u| a.points(&x, &sides, u)), &points);
            }
        }
    }
}

#[test]
fn the_right_side_is_what_flows_into_each_cell() {
    crate::on_every_device!(right_side_is_the_inflow);
}

/// A polynomial of degree 3 in each direction, and minus its Laplacian in `dim` dimensions: stencils of order 4 are
/// exact for it.
fn cubic(dim: usize, [x, y, z]: [f64; 3]) -> [f64; 2] {
    let u = 1.0 + x * x * x - 2.0 * x * y * y + y * z * z + x * y * z + z * z * z - x * x;
    let seconds = [6.0 * x - 2.0, -4.0 * x, 2.0 * y + 6.0 * z];
    [u, -seconds[..dim].iter().sum::<f64>()]
}

fn order_four<T: Real>(context: &Context) {
    for points in [vec![14, 11], vec![3, 3], vec![7, 9, 6], vec![3, 4, 3]] {
        let grid = Grid::new(&points).size(&[1.3, 0.7, 0.9][..points.len()]);
        let params = PoissonParams { order: 4, ..PoissonParams::default() };
        let a = PoissonOperator::<T>::new(context, &grid, &params).unwrap();
        let at: Vec<_> = points_of(&grid);
        let f: Vec<T> = at.iter().map(|&at| T::from_f64(cubic(grid.dim(), at)[1])).collect();
        let sides = SideValues::from_fn(&grid, |_, _, at| T::from_f64(cubic(grid.dim(), at)[0])).unwrap();
        let b = a.right_side(&vector(context, &f), &sides).unwrap();
        let inner = (0..grid.len()).filter(|&p| holder(&grid, Centring::Vertex, p).is_none());
        let x: Vec<T> = inner.map(|p| T::from_f64(cubic(grid.dim(), at[p])[0])).collect();
        let mut y = vector(context, &b.to_vec().unwrap());
        a.apply(T::one(), &vector(context, &x), -T::one(), &mut y).unwrap();
        let (y, b) = (y.to_vec().unwrap(), b.to_vec().unwrap());
        let bound = 1e3 * eps::<T>() * b.iter().fold(0.0, |most, b| b.into_f64().abs().max(most));
        assert!(y.iter().all(|y| y.into_f64().abs() <= bound), "{points:?}: {y:?}");

        // Where values of sides contradict each other at corners, the last side holds.
        let (sides, values) = some_sides::<T>(&grid, |_, _| true);
        let mut same = SideValues::new(&grid);
        for axis in 0..grid.dim() {
            for end in 0..2 {
                let mut own = values[axis][end].clone();
                for p in 0..grid.len() {
                    let places = on_sides(&grid, p);
                    if let Some((.., q)) = places.iter().find(|side| (side.0, side.1) == (axis, end)) {
                        let (axis, end, at) = places[places.len() - 1];
                        own[*q] = values[axis][end][at];
                    }
                }
                same.set(axis, ENDS[end], own).unwrap();
            }
        }
        let f = vector(context, &f);
        let [b, other] = [&sides, &same].map(|sides| a.right_side(&f, sides).unwrap().to_vec().unwrap());
        assert_same(&format!("{points:?}"), &b, &other);
    }
}

#[test]
fn the_right_side_of_order_four_is_exact_for_cubic_polynomials() {
    crate::on_every_device!(order_four);
}

/// f with a twelfth of its second differences, times the size of a cell: no side has values.
fn averages<T: Real>(context: &Context) {
    for (points, periodic) in [(vec![9, 12], 1), (vec![8, 2], 1), (vec![5, 6, 7], 2), (vec![6, 1, 5], 1)] {
        let grid = Grid::new(&points).periodic(periodic);
        let a =
            PoissonOperator::<T>::new(context, &grid, &PoissonParams { order: 4, ..PoissonParams::default() }).unwrap();
        let f = noise::<T>(grid.len(), 5);
        let intervals = |axis: usize| (points[axis] - usize::from(axis != periodic)) as f64;
        let volume: f64 = (0..points.len()).map(|axis| 1.0 / intervals(axis)).product();
        let inner = (0..grid.len()).filter(|&p| holder(&grid, Centring::Vertex, p).is_none());
        let want: Vec<_> = inner
            .map(|p| {
                let (mut value, mut stride) = (f[p].into_f64(), 1);
                for &n in &points {
                    let i = p / stride % n;
                    let to = |i: usize| f[p - p / stride % n * stride + i * stride].into_f64();
                    value += (to((i + n - 1) % n) - 2.0 * to(i) + to((i + 1) % n)) / 12.0;
                    stride *= n;
                }
                (volume * value, 2.0 * volume)
            })
            .collect();
        let b = a.right_side(&vector(context, &f), &SideValues::new(&grid)).unwrap();
        check_right_side(&format!("{points:?}"), &b, &want);
    }
}

#[test]
fn order_four_takes_second_differences_of_the_source() {
    crate::on_every_device!(averages);
}

/// -div(D grad u) of a linear u is 0: the fluxes and the values of the sides balance in each cell.
#[test]
fn full_tensors_take_the_values_of_all_their_neighbours() {
    for context in capable::<f64>() {
        for points in [vec![9, 7], vec![5, 6, 4]] {
            let dim = points.len();
            let (d, m) = ([1.0, 2.0, 3.0], [0.4, -0.3, 0.5]);
            let grid = Grid::new(&points).side(0, End::High, N).side(1, End::Low, R).spacing(0, uneven(points[0] - 1));
            let params = PoissonParams {
                diffusion: d,
                mixed_derivatives: if dim == 3 { m } else { [m[0], 0.0, 0.0] },
                ..PoissonParams::default()
            };
            let a = PoissonOperator::<f64>::new(context, &grid, &params).unwrap();
            let slope = [2.0, -1.0, if dim == 3 { 0.5 } else { 0.0 }];
            let u = |at: [f64; 3]| 3.0 + (0..3).map(|axis| slope[axis] * at[axis]).sum::<f64>();
            let full = [[d[0], m[0], m[1]], [m[0], d[1], m[2]], [m[1], m[2], d[2]]];
            let flux = |axis: usize| (0..3).map(|other| full[axis][other] * slope[other]).sum::<f64>();
            let sides = SideValues::from_fn(&grid, |axis, end, at| {
                let outward = if end == End::Low { -flux(axis) } else { flux(axis) };
                match grid.condition(axis, end) {
                    Condition::Dirichlet => u(at),
                    Condition::Robin { alpha } => alpha * u(at) + outward,
                    _ => outward,
                }
            });
            let b = a.right_side(&vector(context, &vec![0.0; grid.len()]), &sides.unwrap()).unwrap();
            let at = points_of(&grid);
            let inner = (0..grid.len()).filter(|&p| holder(&grid, Centring::Vertex, p).is_none());
            let x: Vec<f64> = inner.map(|p| u(at[p])).collect();
            let mut y = vector(context, &vec![0.0; x.len()]);
            a.apply(1.0, &vector(context, &x), 0.0, &mut y).unwrap();
            let (y, b) = (y.to_vec().unwrap(), b.to_vec().unwrap());
            let error = y.iter().zip(&b).map(|(y, b)| (y - b).abs()).fold(0.0, f64::max);
            assert!(error < 1e-11, "{points:?}: {error:e}");
        }
    }
}

/// Without a side or a shift that determines a constant.
fn constants<T: Real>(context: &Context) {
    for (which, centring) in CENTRINGS.into_iter().enumerate() {
        let points = [24, 17];
        let whole = usize::from(centring == Centring::Cell);
        let grid = Grid::new(&points).sides(N).periodic(1).centring(centring).spacing(0, uneven(23 + whole));
        let axes = plain(&grid, centring, &[Some(uneven(23 + whole)), None], &[1.0; 2], &[1.0; 2]);
        let (sides, values) = some_sides::<T>(&grid, |axis, _| axis == 0);
        let f = noise::<T>(grid.len(), 7);
        let wide: Vec<f64> = f.iter().map(|f| f.into_f64()).collect();
        let want = boxes::inflow(&axes, &wide, |axis, end, at| values[axis][end][at].into_f64());
        // Sources of 1 bring the sizes of the cells.
        let sizes: Vec<f64> =
            boxes::inflow(&axes, &vec![1.0; grid.len()], |_, _, _| 0.0).into_iter().map(|b| b.0).collect();
        let (total, volume) = (want.iter().map(|b| b.0).sum::<f64>(), sizes.iter().sum::<f64>());
        let magnitude: f64 = want.iter().map(|b| b.0.abs()).sum();
        let balanced: Vec<_> = want.iter().zip(&sizes).map(|(b, m)| (b.0 - total / volume * m, b.1 + *m)).collect();
        let params = PoissonParams { max_imbalance: 1.0, tolerance: 1e-3, ..PoissonParams::default() };
        let mut poisson = Poisson::<T>::new(context, &grid, &params).unwrap();
        let f = vector(context, &f);
        check_right_side(
            &format!("{centring:?}"),
            &poisson.operator().unwrap().right_side(&f, &sides).unwrap(),
            &balanced,
        );
        let mut u = vector(context, &noise::<T>(grid.len(), 8));
        poisson.set_sides(&sides).unwrap();
        let report = poisson.solve_device(&f, &mut u).unwrap();
        assert_eq!(report.stop, Stop::Converged, "{which}: {:?}", report.history);
        let imbalance = report.imbalance.unwrap();
        assert!((imbalance - (total / magnitude).abs()).abs() <= 1e3 * eps::<T>(), "{imbalance:e}");
        let u = u.to_vec().unwrap();
        let mean = u.iter().zip(&sizes).map(|(u, m)| u.into_f64() * m).sum::<f64>() / volume;
        let largest = u.iter().fold(0.0, |most, u| u.into_f64().abs().max(most));
        assert!(mean.abs() <= 100.0 * eps::<T>() * largest, "{mean:e} of {largest:e}");
        // The iterate that a stopped solve leaves keeps its mean.
        let memory = poisson.memory(&report.history).unwrap();
        let unknowns = memory.unknowns.unwrap();
        let shift = unknowns[0].into_f64() - u[0].into_f64();
        let error = unknowns.iter().zip(&u).map(|(x, u)| (x.into_f64() - u.into_f64() - shift).abs());
        assert!(error.fold(0.0, f64::max) <= 100.0 * eps::<T>() * (largest + shift.abs()));
    }
}

#[test]
fn the_mean_of_u_and_an_imbalance_are_taken_out() {
    crate::on_every_device!(constants);
}

fn bits<T: Real>(context: &Context) {
    let ones: Vec<T> = (0..40 * 30).map(|i| T::from_f64(1.0 + (i % 5) as f64)).collect();
    let grids = [
        Grid::new(&[41, 31]).size(&[1.3, 0.8]).side(0, End::High, R).side(1, End::Low, N),
        Grid::new(&[40, 30]).periodic(0).centring(Centring::Cell),
        Grid::new(&[13, 11, 9]).side(2, End::Low, N),
        Grid::new(&[33, 24]).sides(N),
    ];
    for grid in grids {
        let params = PoissonParams { tolerance: 1e-5, max_imbalance: 1.0, ..PoissonParams::default() };
        let (sides, _) = some_sides::<T>(&grid, |_, _| true);
        let coupled = (grid.dim() == 2 && grid.points() != [33, 24]).then_some(Coefficient::Cells(&ones[..]));
        for coefficient in [None, coupled] {
            let new = || {
                let poisson = match coefficient {
                    None => Poisson::<T>::new(context, &grid, &params),
                    Some(k) => Poisson::with_coefficient(context, &grid, &params, k),
                };
                with_values(poisson.unwrap(), &sides)
            };
            let (f, start) = (noise::<T>(grid.len(), 3), noise::<T>(grid.len(), 4));
            let (mut host, mut device) = (start.clone(), vector(context, &start));
            let report = new().solve(&f, &mut host).unwrap();
            assert!(report.cycles > 1, "{grid:?}: {report:?}");
            let f = vector(context, &f);
            let mut solver = new();
            let other = solver.solve_device(&f, &mut device).unwrap();
            assert_eq!(report, other);
            assert_same("u", &device.to_vec().unwrap(), &host);
            // The solver can be used again, and stopped and resumed.
            let mut stopped = vector(context, &start);
            let stop = &mut |cycle: usize, _: f64| match cycle {
                0 => std::ops::ControlFlow::Continue(()),
                _ => std::ops::ControlFlow::Break(()),
            };
            let part = solver.solve_device_with(&f, &mut stopped, stop).unwrap();
            assert_eq!(part.stop, Stop::Cancelled);
            let memory = solver.memory(&part.history).unwrap();
            assert_eq!(memory.unknowns.is_some(), part.imbalance.is_some());
            let mut resumed = new();
            resumed.resume(&memory).unwrap();
            let rest = resumed.solve_device(&f, &mut stopped).unwrap();
            assert_eq!(rest.history, report.history);
            assert_same("u after a stop", &stopped.to_vec().unwrap(), &host);
        }
    }
}

#[test]
fn device_vectors_are_solved_to_the_bits_of_host_arrays() {
    crate::on_every_device!(bits);
}

/// A problem whose Dirichlet values can be given by the sides and by u.
struct Held {
    grid: Grid,
    params: PoissonParams,
    /// Whether a coefficient varies.
    varies: bool,
}

fn held_problems<T: Real>() -> Vec<Held> {
    let base = PoissonParams { tolerance: 1e-5, max_cycles: 30, ..PoissonParams::default() };
    let general = |grid: Grid, params, varies| Held { grid, params, varies };
    let plane = Grid::new(&[19, 14]).size(&[1.3, 0.8]);
    let full = PoissonParams { cycle: Cycle::Full, ..base };
    let mixed = PoissonParams { mixed_derivatives: [0.4, -0.3, 0.2], ..base };
    let mut all = vec![
        general(plane.clone(), base, false),
        general(plane.clone().side(0, End::High, N).side(1, End::Low, R), full, false),
        general(Grid::new(&[9, 8, 7]).side(1, End::High, N), base, false),
        general(Grid::new(&[17, 12]).periodic(0), base, false),
        general(plane.clone(), base, true),
        general(plane.clone().side(0, End::High, N).side(1, End::Low, R), base, true),
        general(Grid::new(&[8, 7, 6]), base, true),
        // These read corners and edges.
        general(plane.clone(), mixed, false),
        general(plane.clone().side(1, End::High, R), mixed, true),
        general(Grid::new(&[8, 7, 6]), mixed, true),
        general(plane, PoissonParams { order: 4, ..base }, false),
        general(Grid::new(&[8, 9, 7]), PoissonParams { order: 4, ..base }, false),
        general(Grid::cube(9), base, true),
        // Regular ones; a pass of full multigrid reads corners.
        general(Grid::square(17), base, true),
        general(Grid::square(17), PoissonParams { backend: Backend::Reference, ..full }, true),
        general(Grid::cube(9), base, false),
        general(Grid::cube(9), full, false),
    ];
    for backend in [Backend::Kernels, Backend::Matrix, Backend::Reference] {
        all.push(general(Grid::square(17), PoissonParams { backend, ..full }, false));
    }
    if T::PRECISION == Precision::F64 {
        all.push(general(Grid::square(17), PoissonParams { mixed_precision: true, ..base }, false));
    }
    all
}

/// All Dirichlet values by the sides, all by u, and some by each: the same bits. Values of a side at points that a later side
/// holds are not read, nor values of u where a side has some.
fn dirichlet_values<T: Real>(context: &Context) {
    for Held { grid, params, varies } in held_problems::<T>() {
        let what = format!("{grid:?}, {params:?}, coefficient {varies} on {context:?}");
        let per_cell =
            grid.points().iter().enumerate().map(|(axis, n)| n - usize::from(grid.condition(axis, End::Low) != P));
        let k: Vec<T> =
            noise::<T>(per_cell.product(), 30).iter().map(|r| T::from_f64(1.0 + 0.5 * r.into_f64())).collect();
        let mut poisson = if varies {
            Poisson::with_coefficient(context, &grid, &params, Coefficient::Cells(&k)).unwrap()
        } else {
            Poisson::new(context, &grid, &params).unwrap()
        };
        let [f, start, g] = [31, 32, 33].map(|seed| noise::<T>(grid.len(), seed));
        let holders: Vec<_> = (0..grid.len()).map(|p| holder(&grid, Centring::Vertex, p)).collect();
        let sevens = T::from_f64(7.0);
        let mut expected: Option<(Vec<T>, PoissonReport)> = None;
        // A solver is used for all of them: what an earlier one was given makes no difference.
        let choices: [&dyn Fn(usize, usize) -> bool; 6] = [
            &|_, _| true,
            &|_, _| false,
            &|axis, _| axis == 0,
            &|axis, _| axis == 1,
            &|axis, end| (axis + end) % 2 == 0,
            &|_, end| end == 1,
        ];
        for (choice, by_side) in choices.into_iter().enumerate() {
            let (mut sides, _) = some_sides::<T>(&grid, |axis, end| grid.condition(axis, ENDS[end]) != D);
            for (axis, end) in (0..grid.dim()).flat_map(|axis| [(axis, 0), (axis, 1)]) {
                if grid.condition(axis, ENDS[end]) != D || !by_side(axis, end) {
                    continue;
                }
                let mut values = vec![sevens; count(&grid, axis)];
                for (p, held) in holders.iter().enumerate() {
                    if let Some((_, _, at)) = held.filter(|held| (held.0, held.1) == (axis, end)) {
                        values[at] = g[p];
                    }
                }
                sides.set(axis, ENDS[end], values).unwrap();
            }
            poisson.set_sides(&sides).unwrap();
            let u: Vec<T> = (0..grid.len())
                .map(|p| match holders[p] {
                    Some((axis, end, _)) if by_side(axis, end) => sevens,
                    Some(_) => g[p],
                    None => start[p],
                })
                .collect();
            let (mut host, mut device) = (u.clone(), vector(context, &u));
            let report = poisson.solve(&f, &mut host).unwrap();
            assert!(report.stop.is_success() && report.cycles > 1, "{what}: {report:?}");
            assert_eq!(poisson.solve_device(&vector(context, &f), &mut device).unwrap(), report, "{what}");
            let what = format!("choice {choice} of {what}");
            assert_same(&what, &device.to_vec().unwrap(), &host);
            for (p, held) in holders.iter().enumerate().filter(|(_, held)| held.is_some()) {
                assert!(host[p] == g[p], "{what}: point {p}, held by {held:?}, has {} for {}", host[p], g[p]);
            }
            match &expected {
                None => expected = Some((host, report)),
                Some((u, same)) => {
                    assert_same(&what, &host, u);
                    assert_eq!(&report, same, "{what}");
                }
            }
        }
    }
}

#[test]
fn dirichlet_values_of_the_sides_and_of_u_give_the_same_bits() {
    crate::on_every_device!(dirichlet_values);
}

#[test]
fn wrong_vectors_are_refused_and_u_stays_as_it_was() {
    let Some(context) = contexts().first() else { return };
    let other = Context::new(&Device::select(&context.device().index.to_string()).unwrap(), &ContextOptions::default());
    let other = other.unwrap();
    let grid = Grid::new(&[5, 6]);
    let sides = SideValues::new(&grid);
    let zeros = |context: &Context, len: usize| Vector::<f32>::zeros(context, len).unwrap();
    let mut poisson = Poisson::<f32>::new(context, &grid, &PoissonParams::default()).unwrap();
    let a = poisson.operator().unwrap();
    let (f, short, foreign) = (zeros(context, 30), zeros(context, 29), zeros(&other, 30));
    let mut u = zeros(context, 30);
    assert_error(poisson.solve_device(&short, &mut u), LENGTH, "f");
    assert_error(poisson.solve_device(&foreign, &mut u), CONTEXT, "f");
    assert_error(poisson.solve_device(&f, &mut zeros(context, 31)), LENGTH, "u");
    assert_error(poisson.solve_device(&f, &mut zeros(&other, 30)), CONTEXT, "u");
    let wrong = SideValues::new(&Grid::new(&[6, 5]));
    assert_error(poisson.set_sides(&wrong), VALUE, "sides");
    assert_error(a.right_side(&short, &sides), LENGTH, "f");
    assert_error(a.right_side(&foreign, &sides), CONTEXT, "f");
    assert_error(a.right_side(&f, &wrong), VALUE, "sides");
    let x = zeros(context, a.rows());
    assert_error(a.points(&short, &sides, &mut u), LENGTH, "x");
    assert_error(a.points(&zeros(&other, a.rows()), &sides, &mut u), CONTEXT, "x");
    assert_error(a.points(&x, &sides, &mut zeros(context, 31)), LENGTH, "u");
    assert_error(a.points(&x, &sides, &mut zeros(&other, 30)), CONTEXT, "u");
    assert_error(a.points(&x, &wrong, &mut u), VALUE, "sides");

    let before = noise::<f32>(30, 2);
    u.write(&before).unwrap();
    let report = poisson.solve_device(&vector(context, &[f32::NAN; 30]), &mut u).unwrap();
    assert!(report.stop == Stop::NotFinite && u.to_vec().unwrap() == before);
    let mut infinite = SideValues::new(&grid);
    infinite.set(1, End::High, vec![f32::INFINITY; 5]).unwrap();
    poisson.set_sides(&infinite).unwrap();
    let report = poisson.solve_device(&f, &mut u).unwrap();
    assert!(report.stop == Stop::NotFinite && u.to_vec().unwrap() == before);
    // f that does not balance is an error before anything is written.
    let mut floating = Poisson::<f32>::new(context, &grid.sides(N), &PoissonParams::default()).unwrap();
    assert_error(floating.solve_device(&vector(context, &[1.0; 30]), &mut u), VALUE, "f");
    assert_eq!(u.to_vec().unwrap(), before);
}
