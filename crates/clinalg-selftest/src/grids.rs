//! The components of multigrid and the Poisson solver.

use std::f64::consts::PI;

use super::{Data, Suite, seeded};
use clinalg::multigrid::{
    self, Backend, Coefficient, Cycle, Grid, Poisson, PoissonOperator, PoissonParams, Separable, Smoother,
};
use clinalg::solve::Stop;
use clinalg::{Real, Result, Vector, ops};
use clinalg_reference::grid2::{self as plain, Order};
use clinalg_reference::separable as reference;

/// A component on the device: u, f, out.
type OnDevice<T> = fn(&Vector<T>, &Vector<T>, &mut Vector<T>) -> Result<()>;
/// The same on slices, with the points per side of the finer grid.
type OnHost<T> = fn(usize, &[T], &[T], &mut [T]);

struct Component<T: Real> {
    name: &'static str,
    /// Smallest number of points per side of the finer grid.
    least: usize,
    /// Values of the input and of the output, from the points per side of the finer grid.
    lengths: [fn(usize) -> usize; 2],
    device: OnDevice<T>,
    host: OnHost<T>,
}

fn fine(n: usize) -> usize {
    n * n
}

fn coarse(n: usize) -> usize {
    n.div_ceil(2).pow(2)
}

pub(super) fn run<T: Real>(suite: &mut Suite<'_>) {
    components::<T>(suite);
    separable::<T>(suite);
    operator::<T>(suite);
    backends::<T>(suite);
    problems::<T>(suite);
    sine::<T>(suite);
}

fn components<T: Real>(suite: &mut Suite<'_>) {
    let all: [Component<T>; 5] = [
        Component {
            name: "grid_jacobi",
            least: 3,
            lengths: [fine, fine],
            device: |u, f, out| multigrid::jacobi(u, f, out, 1, T::from_f64(0.5)),
            host: |n, u, f, out| plain::jacobi(n, T::from_f64(0.5), u, f, out),
        },
        Component {
            name: "grid_red_black",
            least: 3,
            lengths: [fine, fine],
            device: |u, f, out| multigrid::red_black(u, f, out, 1),
            host: |n, u, f, out| {
                out.copy_from_slice(u);
                plain::red_black(n, out, f, Order::RedFirst);
            },
        },
        Component {
            name: "grid_defect",
            least: 3,
            lengths: [fine, fine],
            device: multigrid::defect,
            host: plain::defect,
        },
        Component {
            name: "grid_restrict",
            least: 5,
            lengths: [fine, coarse],
            device: |u, _, out| multigrid::restrict(u, out),
            host: |n, u, _, out| plain::restrict(n, u, out),
        },
        Component {
            name: "grid_interpolate",
            least: 5,
            lengths: [coarse, fine],
            device: |u, _, out| multigrid::interpolate(u, out),
            host: |n, u, _, out| plain::interpolate(n, u, out),
        },
    ];
    let (context, quick) = (suite.context, suite.quick);
    for Component { name, least, lengths: [input, output], device, host } in all {
        suite.check(name, Some(T::PRECISION), |worst| {
            for n in [3, 5, 9, 17, 33, 65, 129, 257] {
                if n < least || (quick && n > 33) {
                    continue;
                }
                for data in Data::ALL {
                    let mut rng = seeded(n as u64);
                    // The mesh width is a power of two, so whole numbers stay exact here too.
                    let u: Vec<T> = data.values(&mut rng, input(n));
                    let f: Vec<T> = data.values(&mut rng, input(n));
                    let mut want = vec![T::nan(); output(n)];
                    host(n, &u, &f, &mut want);
                    let mut out = Vector::filled(context, output(n), T::nan())?;
                    device(&Vector::from_slice(context, &u)?, &Vector::from_slice(context, &f)?, &mut out)?;
                    // All data are below 1, the terms of a defect 8 / h^2 times that.
                    let scale = if name == "grid_defect" { 8.0 * ((n - 1) * (n - 1)) as f64 } else { 1.0 };
                    worst.compare(n, data.tolerance::<T>(16), &out.to_vec()?, &want, |_| scale);
                }
            }
            Ok(())
        });
    }
}

/// Values and largest error of a separable function, which are exact; in double precision whatever T is.
fn separable<T: Real>(suite: &mut Suite<'_>) {
    let context = suite.context;
    if !context.device().fp64 {
        return;
    }
    suite.check("grid_separable", Some(T::PRECISION), |worst| {
        for points in [[1, 1, 1], [65, 1, 1], [257, 5, 1], [9, 33, 3]] {
            let mut rng = seeded(points[0] as u64);
            let factors = points.map(|n| Data::Random.values::<f64>(&mut rng, n));
            let (slices, count) = (factors.each_ref().map(Vec::as_slice), points.iter().product());
            let mut want = vec![T::nan(); count];
            reference::fill(1.5, slices, &mut want);
            let function = Separable::new(1.5, &slices)?;
            worst.exact(points[0], &function.vector::<T>(context)?.to_vec()?, &want);
            let u: Vec<T> = Data::Random.values(&mut rng, count);
            let error = function.error_max(&Vector::from_slice(context, &u)?)?;
            worst.exact(points[0], &[error], &[reference::error_max(1.5, slices, &u)]);
        }
        Ok(())
    });
}

fn operator<T: Real>(suite: &mut Suite<'_>) {
    let context = suite.context;
    suite.check("poisson_operator", Some(T::PRECISION), |worst| {
        for n in [3, 4, 17, 33] {
            for data in Data::ALL {
                let x: Vec<T> = data.values(&mut seeded(n as u64), (n - 2) * (n - 2));
                // The matrix of the interior points, integrated over cells of the area h^2.
                let mut want = vec![T::zero(); x.len()];
                plain::poisson5_interior::<T>(n).into_iter().for_each(|(i, j, a)| want[i] += a * x[j]);
                let area = T::from_f64(1.0 / ((n - 1) * (n - 1)) as f64);
                want.iter_mut().for_each(|v| *v *= area);
                let mut y = Vector::filled(context, x.len(), T::nan())?;
                let a = PoissonOperator::new(context, &Grid::square(n), &PoissonParams::default())?;
                ops::mv(T::one(), &a, &Vector::from_slice(context, &x)?, T::zero(), &mut y)?;
                // Where 1 / h is no power of two, 1 / h^2 itself is rounded.
                let exact = if (n - 1).is_power_of_two() { data } else { Data::Random };
                worst.compare(n, exact.tolerance::<T>(16), &y.to_vec()?, &want, |_| 8.0);
            }
        }
        Ok(())
    });
}

/// Points per side in a quick check. With the matrix backend each level can have another format, whose kernels must be
/// built, so fewer and smaller grids are checked.
fn quick_sides(backend: Backend) -> &'static [usize] {
    if backend == Backend::Matrix { &[3, 9] } else { &[3, 5, 17] }
}

/// Two cycles of every kind on random data with random boundary values against the reference backend.
fn backends<T: Real>(suite: &mut Suite<'_>) {
    let kinds = [
        (["poisson_v_red_black", "poisson_matrix_v_red_black"], Cycle::V, Smoother::RedBlack),
        (["poisson_w_red_black", "poisson_matrix_w_red_black"], Cycle::W, Smoother::RedBlack),
        (["poisson_fmg_red_black", "poisson_matrix_fmg_red_black"], Cycle::Full, Smoother::RedBlack),
        (["poisson_v_jacobi", "poisson_matrix_v_jacobi"], Cycle::V, Smoother::Jacobi),
    ];
    let context = suite.context;
    let quick = suite.quick;
    for (names, cycle, smoother) in kinds {
        for (name, backend) in names.into_iter().zip([Backend::Kernels, Backend::Matrix]) {
            let sides: &[usize] = if quick { quick_sides(backend) } else { &[3, 5, 17, 65, 257] };
            suite.check(name, Some(T::PRECISION), |worst| {
                for &n in sides {
                    let params =
                        PoissonParams { backend, cycle, smoother, tolerance: 0.0, max_cycles: 2, ..Default::default() };
                    let (grid, mut rng) = (Grid::square(n), seeded(n as u64));
                    let f: Vec<T> = Data::Random.values(&mut rng, n * n);
                    let mut got: Vec<T> = Data::Random.values(&mut rng, n * n);
                    let mut want = got.clone();
                    Poisson::<T>::new(context, &grid, &params)?.solve(&f, &mut got)?;
                    Poisson::<T>::reference(&grid, &params, None)?.solve(&f, &mut want)?;
                    // The defect is rounded by up to 8 eps / h^2 |u|, and the solution answers with at most 1 / (2 pi^2) of
                    // that; |u| <= 1 on the boundary and about that inside.
                    let h2 = 1.0 / ((n - 1) * (n - 1)) as f64;
                    let tolerance = T::epsilon().into_f64() * (8.0 / (2.0 * PI * PI) / h2 + 16.0);
                    worst.compare(n, tolerance, &got, &want, |_| 1.0);
                }
                Ok(())
            });
        }
    }
}

/// The other problems that multigrid solves, on random data, against the reference backend.
fn problems<T: Real>(suite: &mut Suite<'_>) {
    let context = suite.context;
    let cycles = [(Cycle::V, Smoother::RedBlack), (Cycle::Full, Smoother::RedBlack), (Cycle::W, Smoother::Jacobi)];
    // A pass of full multigrid contains the V-cycle.
    let cycles = &cycles[usize::from(suite.quick)..];
    let tolerance = |dim: usize, n: usize| {
        let intervals = (n - 1) as f64;
        // As in `backends`, with 4 dim / h^2; a coefficient up to 2 doubles that.
        T::epsilon().into_f64() * (8.0 * dim as f64 / (2.0 * PI * PI) * intervals * intervals + 16.0)
    };
    let quick = suite.quick;
    for (name, backend) in [("poisson_cube", Backend::Kernels), ("poisson_matrix_cube", Backend::Matrix)] {
        let sides: &[usize] = match (quick, backend) {
            (true, Backend::Matrix) => &[3, 5],
            (true, _) => &[3, 5, 9],
            (false, _) => &[3, 5, 9, 17, 33],
        };
        suite.check(name, Some(T::PRECISION), |worst| {
            for (&n, (cycle, smoother)) in sides.iter().flat_map(|n| cycles.iter().map(move |&c| (n, c))) {
                let params = PoissonParams {
                    shift: 2.0,
                    backend,
                    cycle,
                    smoother,
                    tolerance: 0.0,
                    max_cycles: 2,
                    ..Default::default()
                };
                let (grid, mut rng) = (Grid::cube(n), seeded(n as u64));
                let f: Vec<T> = Data::Random.values(&mut rng, n.pow(3));
                let mut got: Vec<T> = Data::Random.values(&mut rng, n.pow(3));
                let mut want = got.clone();
                Poisson::<T>::new(context, &grid, &params)?.solve(&f, &mut got)?;
                Poisson::<T>::reference(&grid, &params, None)?.solve(&f, &mut want)?;
                worst.compare(n, tolerance(3, n), &got, &want, |_| 1.0);
            }
            Ok(())
        });
    }
    // Solved to the floor of rounding, as GPUs have other coarse operators than the reference backend.
    for (name, backend) in [("poisson_coefficient", Backend::Kernels), ("poisson_matrix_coefficient", Backend::Matrix)]
    {
        let sides: &[usize] = if quick { quick_sides(backend) } else { &[3, 5, 17, 65] };
        suite.check(name, Some(T::PRECISION), |worst| {
            for (&n, (cycle, smoother)) in sides.iter().flat_map(|n| cycles.iter().map(move |&c| (n, c))) {
                let params =
                    PoissonParams { shift: 2.0, backend, cycle, smoother, tolerance: 0.0, ..Default::default() };
                let (grid, mut rng) = (Grid::square(n), seeded(n as u64));
                // Between 1/2 and 2, so that the solution stays about 1.
                let random: Vec<T> = Data::Random.values(&mut rng, n * n);
                let a: Vec<T> = random.iter().map(|r| T::from_f64(2.0_f64.powf(r.into_f64()))).collect();
                let f: Vec<T> = Data::Random.values(&mut rng, n * n);
                let mut got: Vec<T> = Data::Random.values(&mut rng, n * n);
                let mut want = got.clone();
                let a = Coefficient::Points(&a);
                let report = Poisson::with_coefficient(context, &grid, &params, a)?.solve(&f, &mut got)?;
                let reference = Poisson::reference(&grid, &params, Some(a))?.solve(&f, &mut want)?;
                // A single unknown can have no residual at all.
                let solved = |stop: &Stop| [Stop::RoundingFloor, Stop::Converged].contains(stop);
                if let Some(stop) = [report.stop, reference.stop].iter().find(|stop| !solved(stop)) {
                    worst.fail(format!("N = {n}: {stop}"));
                }
                worst.compare(n, 4.0 * tolerance(2, n), &got, &want, |_| 1.0);
            }
            Ok(())
        });
    }
}

/// A smooth problem solved to the floor of rounding, against the closed form of the stencil's solution.
fn sine<T: Real>(suite: &mut Suite<'_>) {
    let context = suite.context;
    let sides: &[usize] = if suite.quick { &[17] } else { &[17, 65, 129] };
    suite.check("poisson_sine", Some(T::PRECISION), |worst| {
        for &n in sides {
            let h = 1.0 / (n - 1) as f64;
            let sine = |k: usize| (PI * (k % n) as f64 * h).sin() * (PI * (k / n) as f64 * h).sin();
            let f: Vec<T> = (0..n * n).map(|k| T::from_f64(2.0 * PI * PI * sine(k))).collect();
            let (grid, params) = (Grid::square(n), PoissonParams { tolerance: 0.0, ..Default::default() });
            let mut u = vec![T::zero(); n * n];
            let report = Poisson::<T>::new(context, &grid, &params)?.solve(&f, &mut u)?;
            if report.stop != Stop::RoundingFloor {
                worst.fail(format!("N = {n}: {}", report.stop));
            }
            // f is an eigenvector of the stencil with the eigenvalue 8 / h^2 sin^2(pi h / 2).
            let eigenvalue = 8.0 / (h * h) * (PI * h / 2.0).sin().powi(2);
            let want: Vec<T> = (0..n * n).map(|k| T::from_f64(2.0 * PI * PI / eigenvalue * sine(k))).collect();
            let tolerance = T::epsilon().into_f64() * (8.0 / (2.0 * PI * PI) / (h * h) + 16.0);
            worst.compare(n, tolerance, &u, &want, |_| 1.0);
        }
        Ok(())
    });
}
