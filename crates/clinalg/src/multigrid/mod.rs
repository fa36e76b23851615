//! The Poisson problem `-div(D grad u) + c u = f` on boxes of two and three dimensions by multigrid.
//!
//! A [`Grid`] has the points and the kinds of the sides; x runs fastest: point (i, j, k) is `u[(k * ny + j) * nx + i]`.
//! [`Poisson`] solves the problem, also with a [coefficient](Poisson::with_coefficient) or a
//! [tensor](Poisson::with_tensor) that varies; [`PoissonOperator`] and [`PoissonPreconditioner`] give its matrix and a cycle to the
//! iterative methods of [`solve`](crate::solve).
//!
//! [`jacobi`], [`red_black`], [`defect`], [`restrict`] and [`interpolate`] are the components of the solver on
//! [regular grids](Poisson#regular-grids), one by one, and [`assemble`] gives its matrix with stored entries. They
//! are the standard ones (Trottenberg, Oosterlee, Schüller, *Multigrid*, 2001, chapter 2): 5-point or 7-point stencil, weighted
//! Jacobi or red-black Gauss-Seidel, full weighting, bilinear interpolation; bicubic interpolation of the solution in full
//! multigrid. They come in three [backends](Backend) that agree to rounding.
//!
//! ```
//! use clinalg::{Context, multigrid::{Grid, Poisson, PoissonParams}};
//!
//! let grid = Grid::square(129);
//! let mut poisson = Poisson::<f64>::new(&Context::global()?, &grid, &PoissonParams::default())?;
//! let (f, mut u) = (vec![1.0; grid.len()], vec![0.0; grid.len()]);
//! let report = poisson.solve(&f, &mut u)?;
//! println!("{} after {} cycles: {:.1e}", report.stop, report.cycles, report.relative_residual);
//! # Ok::<(), clinalg::Error>(())
//! ```

pub(crate) mod algebra;
mod assemble;
pub(crate) mod backend;
mod boxes;
mod coefficient;
mod components;
mod conjugate;
pub(crate) mod cycle;
pub(crate) mod equation;
mod faces;
pub(crate) mod iterate;
pub(crate) mod launch;
mod mixed;
pub(crate) mod params;
pub(crate) mod passes;
mod poisson;
pub(crate) mod poisson2;
pub(crate) mod poisson3;
mod regular;
mod separable;
pub(crate) mod sequential;

pub use assemble::assemble;
pub use boxes::{Centring, Condition, End, Grid, PoissonOperator, PoissonPreconditioner, SideValues, Tensor};
pub use coefficient::Coefficient;
pub use components::{defect, interpolate, jacobi, red_black, relax_red_black, restrict};
pub use params::{Backend, Cycle, PoissonMemory, PoissonParams, PoissonReport, Smoother};
pub use poisson::Poisson;
pub(crate) use poisson::regular_sides;
pub use separable::Separable;

use crate::{Error, Real, Result, Vector};

/// Points per side of each level of a grid of `dim` dimensions, from `n` down to 3.
///
/// # Errors
/// [`Error::Value`] that names the nearest sizes unless n = 2^k + 1, k >= 1.
pub(crate) fn sides(n: usize, dim: u32) -> Result<Vec<usize>> {
    if n < 3 || !(n - 1).is_power_of_two() || n.checked_pow(dim).is_none() {
        let below = if n <= 5 { 3 } else { (1_usize << (n - 1).ilog2().min(usize::BITS / dim - 1)) + 1 };
        let expected = format!("2^k + 1 points per side; the nearest sizes are {below} and {}", 2 * below - 1);
        return Err(Error::value("n", expected, n));
    }
    Ok(std::iter::successors(Some(n), |&side| (side > 3).then(|| side.div_ceil(2))).collect())
}

/// Points per side of a square grid of `len` values, at least 3.
///
/// # Errors
/// [`Error::Shape`] that names `argument`.
pub fn side(argument: &'static str, len: usize) -> Result<usize> {
    let side = len.isqrt();
    if side < 3 || side * side != len {
        return Err(Error::Shape {
            argument,
            expected: "a square grid of at least 3 by 3 points".into(),
            got: format!("{len} values"),
        });
    }
    Ok(side)
}

/// Points per side of a grid of `len` values in `dim` dimensions, 2 or 3; at least 3.
///
/// # Errors
/// [`Error::Shape`] that names `argument`; [`Error::Value`] for another `dim`.
pub fn side_in(argument: &'static str, len: usize, dim: usize) -> Result<usize> {
    match dim {
        2 => return side(argument, len),
        3 => {}
        _ => return Err(Error::value("dim", "2 or 3", dim)),
    }
    let side = (len as f64).cbrt().round() as usize;
    if side < 3 || side.checked_pow(3) != Some(len) {
        return Err(Error::Shape {
            argument,
            expected: "a cubic grid of at least 3 by 3 by 3 points".into(),
            got: format!("{len} values"),
        });
    }
    Ok(side)
}

/// Boundary of `to` = boundary of `from`, with n points per side in 2 or 3 dimensions.
pub(crate) fn copy_boundary<T: Real>(n: usize, dim: u32, from: &Vector<T>, to: &mut Vector<T>) -> Result<()> {
    match dim {
        2 => poisson2::copy_boundary(n, 1, from, to),
        _ => poisson3::copy_boundary(n, 1, from, to),
    }
}

#[cfg(test)]
mod tests {
    use super::coefficient::{Coefficient, Varying};
    use super::cycle::{Components, Hierarchy, Sweeps};
    use super::equation::Equation;
    use super::poisson2::{Poisson2Cpu, Poisson2Gpu};
    use super::poisson3::{Poisson3Cpu, Poisson3Gpu};
    use super::*;
    use crate::canary::{guarded, on_every_device};
    use crate::multigrid::conjugate::Space;
    use crate::multigrid::cycle::Order;
    use crate::{Context, KernelFamily, Real, Vector};

    /// Runs every component with each of its outputs between guards; the finest level has `points` values, the next one
    /// `coarse_points`, the coarsest `last_points`.
    fn stay_inside<T: Real, C: Components<Grid = Vector<T>>>(
        what: &str,
        context: &Context,
        c: &mut C,
        [points, coarse_points, last_points]: [usize; 3],
    ) {
        let ones = |len| Vector::filled(context, len, T::one()).unwrap();
        let zeros = |len| Vector::<T>::zeros(context, len).unwrap();
        let sweeps = |order| Sweeps { count: 2, order };
        let [pre, post] = [Order::RedFirst, Order::BlackFirst].map(sweeps);
        let one = T::one();
        for zero in [false, true] {
            guarded(what, context, coarse_points, one, |coarse| {
                c.descend(0, &mut ones(points), &ones(points), zero, pre, coarse)
            });
            // A sweep that does not work in place writes to memory of its own first, then to this.
            guarded(what, context, points, one, |u| {
                c.descend(0, u, &ones(points), zero, pre, &mut zeros(coarse_points))
            });
        }
        guarded(what, context, points, one, |u| c.ascend(0, &zeros(coarse_points), u, &ones(points), post));
        guarded(what, context, points, one, |u| {
            c.ascend_norm(0, &zeros(coarse_points), u, &ones(points), pre).map(drop)
        });
        guarded(what, context, coarse_points, one, |coarse| {
            c.hierarchy_mut().coarsen(0, &ones(points), &ones(points), coarse, &mut zeros(coarse_points))
        });
        guarded(what, context, coarse_points, one, |coarse| {
            c.hierarchy_mut().coarsen(0, &ones(points), &ones(points), &mut zeros(coarse_points), coarse)
        });
        guarded(what, context, points, one, |u| c.refine(0, &ones(coarse_points), u));
        guarded(what, context, last_points, one, |u| c.hierarchy_mut().solve_coarsest(u, &ones(last_points), true));
    }

    fn boxes_stay_inside<T: Real>(context: &Context) {
        for (points, centring) in [
            (vec![13, 11], Centring::Vertex),
            (vec![32, 10], Centring::Cell),
            (vec![601, 30], Centring::Vertex),
            (vec![8, 5, 9], Centring::Vertex),
        ] {
            let grid = Grid::new(&points).centring(centring).periodic(0).side(1, End::High, Condition::Neumann);
            let (mut components, counts) = boxes::components::<T>(context, &grid).unwrap();
            let what = format!("{points:?} {centring:?}");
            let counts = [counts[0], counts[1], counts[counts.len() - 1]];
            stay_inside(&what, context, &mut components, counts);
            if context.family() == KernelFamily::Gpu {
                let mut components = boxes::gpu_components::<T>(context, &grid).unwrap();
                stay_inside(&what, context, &mut components, counts);
            }
        }
    }

    fn components_stay_inside<T: Real>(context: &Context) {
        for n in [5, 9, 17, 33, 65] {
            let (square, cube) = (sides(n, 2).unwrap(), sides(n.min(33), 3).unwrap());
            for smoother in [Smoother::RedBlack, Smoother::Jacobi] {
                let what = format!("{smoother:?}, {n} per side");
                let counts = [n * n, square[1] * square[1], 9];
                let volumes = [cube[0].pow(3), cube[1].pow(3), 27];
                let a = vec![T::one(); n * n];
                let faces = Coefficient::Points(&a).faces(n).unwrap();
                let equation = Equation::new(n, 2, 1.0).unwrap().with_faces(faces);
                let mut varying = Varying::<T>::new(context, equation, smoother, 0.8).unwrap();
                stay_inside(&what, context, &mut varying, counts);
                match context.family() {
                    KernelFamily::Gpu => {
                        let mut flat = Poisson2Gpu::<T>::new(context, &square, 1.0, smoother, 0.8).unwrap();
                        stay_inside(&what, context, &mut flat, counts);
                        let mut high = Poisson3Gpu::<T>::new(context, &cube, 1.0, smoother, 0.8).unwrap();
                        stay_inside(&what, context, &mut high, volumes);
                    }
                    KernelFamily::Cpu => {
                        let mut flat = Poisson2Cpu::<T>::new(context, &square, 1.0, smoother, 0.8, 2).unwrap();
                        stay_inside(&what, context, &mut flat, counts);
                        let mut high = Poisson3Cpu::<T>::new(context, &cube, 1.0, smoother, 0.8).unwrap();
                        stay_inside(&what, context, &mut high, volumes);
                    }
                }
            }
        }
    }

    /// Fails unless a pass over the finest level of `grid` agrees with the single operations, which read all couplings from memory.
    fn pass_is_its_operations<T: Real>(context: &Context, grid: &Grid, sweeps: Sweeps) {
        let (mut boxes, _) = boxes::components::<T>(context, grid).unwrap();
        match context.family() {
            KernelFamily::Cpu => compare_with_operations(context, &mut boxes, grid, sweeps),
            KernelFamily::Gpu => {
                let mut passes = boxes::gpu_components::<T>(context, grid).unwrap();
                compare_with_operations(context, &mut passes, grid, sweeps);
            }
        }
    }

    fn compare_with_operations<T: Real, C: Components<Grid = Vector<T>>>(
        context: &Context,
        passes: &mut C,
        grid: &Grid,
        sweeps: Sweeps,
    ) {
        let what = format!("{grid:?}, {sweeps:?}");
        let (mut c, counts) = boxes::components::<T>(context, grid).unwrap();
        let wave = |count: usize, speed: f64| {
            let values: Vec<_> = (0..count).map(|i| T::from_f64((speed * (i as f64).powf(1.5)).sin())).collect();
            Vector::from_slice(context, &values).unwrap()
        };
        // Values are of the order of 1, and so are the couplings but for short intervals.
        let bound = 1e5 * T::epsilon().into_f64();
        let same = |part: &str, a: &Vector<T>, b: &Vector<T>| {
            let (a, b) = (a.to_vec().unwrap(), b.to_vec().unwrap());
            let most = a.iter().zip(&b).map(|(&a, &b)| (a - b).into_f64().abs()).fold(0.0, f64::max);
            assert!(most < bound, "{part} of {what}: {most:e}");
        };
        let f = wave(counts[0], 0.7);
        let mut residual = Vector::zeros(context, counts[0]).unwrap();
        for zero in [false, true] {
            let [mut u, mut v] = [1.3, 1.3].map(|speed| wave(counts[0], speed));
            let [mut coarse, mut other] = [0.2, 0.3].map(|speed| wave(counts[1], speed));
            passes.descend(0, &mut u, &f, zero, sweeps, &mut coarse).unwrap();
            if zero {
                c.hierarchy().clear(&mut v).unwrap();
            }
            c.smooth(0, &mut v, &f, sweeps).unwrap();
            c.restrict_defect(0, &v, &f, &mut other).unwrap();
            same("smoothing", &u, &v);
            same("restriction", &coarse, &other);
            c.interpolate_add(0, &coarse, &mut v).unwrap();
            c.smooth(0, &mut v, &f, sweeps).unwrap();
            if zero {
                passes.ascend(0, &coarse, &mut u, &f, sweeps).unwrap();
            } else {
                let norm = passes.ascend_norm(0, &coarse, &mut u, &f, sweeps).unwrap().defect;
                c.defect_to(&v, &f, &mut residual).unwrap();
                let expected = c.norm(&residual).unwrap();
                for norm in [norm, c.defect_norm(0, &v, &f).unwrap()] {
                    assert!((norm - expected).abs() < bound * expected, "{what}: {norm:e}, {expected:e}");
                }
            }
            same("correction", &u, &v);
        }
    }

    fn passes_are_their_operations<T: Real>(context: &Context) {
        let neumann = |points: &[usize]| Grid::new(points).side(0, End::Low, Condition::Neumann);
        let robin = |grid: Grid| grid.side(1, End::High, Condition::Robin { alpha: 2.0 });
        let both = |order| [1, 2, 4].map(|count| Sweeps { count, order });
        let all = [Order::RedFirst, Order::BlackFirst].map(both).concat();
        let cells = |points: &[usize]| Grid::new(points).centring(Centring::Cell);
        let growing = |k: usize| if k < 200 { (k as f64 / 200.0).powf(1.3) } else { 1.0 + (k - 200) as f64 / 160.0 };
        // Several bands and seams, also across periodic sides; one block of columns and several; columns of many couplings; levels that stay in a
        // cache and one that does not.
        for grid in [
            neumann(&[150, 131]),
            cells(&[64, 120]).periodic(0).periodic(1),
            Grid::new(&[1000, 40]),
            Grid::new(&[900, 70]).spacing(0, (0..900).map(growing).collect()),
            robin(neumann(&[777, 90])),
            Grid::new(&[521, 61]).periodic(0),
            Grid::new(&[300, 96]).periodic(1),
            cells(&[513, 50]),
            robin(cells(&[1030, 46]).periodic(0)),
            Grid::new(&[600, 400]),
            Grid::new(&[30, 23, 40]).periodic(2),
            robin(neumann(&[40, 23, 33])),
            cells(&[24, 20, 36]),
        ] {
            all.iter().for_each(|&sweeps| pass_is_its_operations::<T>(context, &grid, sweeps));
        }
    }

    #[test]
    fn a_pass_over_a_box_does_its_single_operations() {
        on_every_device(|context| {
            passes_are_their_operations::<f32>(context);
            if context.require::<f64>().is_ok() {
                passes_are_their_operations::<f64>(context);
            }
        });
    }

    /// Fails unless the couplings of each coarse level are those of P' A P, P being what the kernel interpolates, and the sums of
    /// its rows P' times those of A.
    fn coarse_matrices_are_galerkin_products<T: Real>(context: &Context, grid: &Grid, mixed_derivatives: [f64; 3]) {
        let cells = (0..grid.dim()).map(|axis| grid.intervals(axis)).product();
        let k: Vec<_> = (0..cells).map(|i| T::from_f64(10f64.powi((i * i % 7) as i32 - 3))).collect();
        let params = PoissonParams { shift: 0.7, mixed_derivatives, ..PoissonParams::default() };
        let (mut c, matrices) = boxes::stencil_components(context, grid, &params, Coefficient::Cells(&k)).unwrap();
        for (level, pair) in matrices.windows(2).enumerate() {
            let [n, m] = [pair[0].len(), pair[1].len()].map(usize::isqrt);
            let columns: Vec<_> = (0..m)
                .map(|column| {
                    let unit: Vec<_> = (0..m).map(|i| if i == column { T::one() } else { T::zero() }).collect();
                    let mut fine = Vector::zeros(context, n).unwrap();
                    c.refine(level, &Vector::from_slice(context, &unit).unwrap(), &mut fine).unwrap();
                    fine.to_vec().unwrap().into_iter().map(|part| part.into_f64()).collect::<Vec<_>>()
                })
                .collect();
            let largest = pair[1].iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
            for (j, column) in columns.iter().enumerate() {
                // The couplings with the differences of the column, and the sum of each row.
                let rows = pair[0].chunks(n).zip(column);
                let fluxes = rows.map(|(row, own)| row.iter().zip(column).map(|(a, b)| a * (b - own)).sum::<f64>());
                let sums = pair[0].chunks(n).map(|row| row.iter().sum::<f64>());
                let (fluxes, sums): (Vec<_>, Vec<_>) = fluxes.zip(sums).unzip();
                for (i, row) in columns.iter().enumerate() {
                    let product = |other: &[f64]| row.iter().zip(other).map(|(a, b): (&f64, &f64)| a * b).sum::<f64>();
                    let entry = product(&fluxes) + if i == j { product(&sums) } else { 0.0 };
                    let difference = (pair[1][i * m + j] - entry).abs();
                    let bound = 100.0 * T::epsilon().into_f64() * largest;
                    assert!(difference <= bound, "{grid:?}, level {level}, entry {i}, {j}: {difference:e}");
                }
            }
        }
    }

    /// Fails unless visits in one pass give the bits of single kernels on each level, and write inside of their grids.
    fn strips_are_single_kernels<T: Real>(context: &Context, grid: &Grid, mixed_derivatives: [f64; 3]) {
        let cells = (0..grid.dim()).map(|axis| grid.intervals(axis)).product();
        let k: Vec<_> = (0..cells).map(|i| T::from_f64(10f64.powi((i * i % 7) as i32 - 3))).collect();
        let params = PoissonParams { shift: 0.7, mixed_derivatives, ..PoissonParams::default() };
        let ([mut single, mut strips], counts) = boxes::stencil_strip_components(context, grid, &params, &k).unwrap();
        let wave = |count: usize, speed: f64| {
            let values: Vec<_> = (0..count).map(|i| T::from_f64((speed * (i as f64).powf(1.5)).sin())).collect();
            Vector::from_slice(context, &values).unwrap()
        };
        for level in 0..counts.len() - 1 {
            let (count, f) = (counts[level], wave(counts[level], 0.7));
            for (zero, order, sweeps) in [
                (true, Order::RedFirst, 2),
                (false, Order::RedFirst, 1),
                (false, Order::BlackFirst, 2),
                (true, Order::BlackFirst, 3),
            ] {
                let sweeps = Sweeps { count: sweeps, order };
                let [mut u, mut v] = [1.3, 1.3].map(|speed| wave(count, speed));
                let [mut coarse, mut other] = [0.2, 0.3].map(|speed| wave(counts[level + 1], speed));
                single.descend(level, &mut u, &f, zero, sweeps, &mut coarse).unwrap();
                strips.descend(level, &mut v, &f, zero, sweeps, &mut other).unwrap();
                single.ascend(level, &coarse, &mut u, &f, sweeps).unwrap();
                strips.ascend(level, &other, &mut v, &f, sweeps).unwrap();
                let same = |a: &Vector<T>, b: &Vector<T>| a.to_vec().unwrap() == b.to_vec().unwrap();
                assert!(same(&coarse, &other) && same(&u, &v), "{grid:?}, level {level}, {sweeps:?}, zero: {zero}");
            }
        }
        let counts = [counts[0], counts[1], counts[counts.len() - 1]];
        stay_inside(&format!("{grid:?}"), context, &mut strips, counts);
    }

    #[test]
    fn a_pass_over_strips_of_a_coefficient_has_the_bits_of_single_kernels() {
        let full = [0.3, 0.0, 0.0];
        on_every_device(|context| {
            if context.family() != KernelFamily::Gpu {
                return;
            }
            // More and fewer columns than a strip has, several bands, seams.
            for (grid, mixed) in [
                (Grid::new(&[530, 41]), [0.0; 3]),
                (Grid::new(&[300, 37]).periodic(0), [0.0; 3]),
                (Grid::new(&[9, 150]).sides(Condition::Neumann), full),
                (Grid::new(&[7, 5]).periodic(0).periodic(1), full),
                (Grid::new(&[67, 64]).periodic(1).centring(Centring::Cell), [0.0; 3]),
            ] {
                strips_are_single_kernels::<f32>(context, &grid, mixed);
                if context.require::<f64>().is_ok() {
                    strips_are_single_kernels::<f64>(context, &grid, mixed);
                }
            }
        });
    }

    #[test]
    fn coarse_operators_of_coefficients_are_galerkin_products() {
        let full = [0.3, 0.2, -0.4];
        let cells = |points: &[usize]| Grid::new(points).centring(Centring::Cell).side(0, End::Low, Condition::Neumann);
        on_every_device(|context| {
            for (grid, mixed) in [
                (Grid::new(&[19, 14]), [0.0; 3]),
                (Grid::new(&[12, 17]).periodic(0), full),
                (Grid::new(&[13, 9]).periodic(0).periodic(1), full),
                (Grid::new(&[3, 30]).periodic(0), [0.0; 3]),
                (Grid::new(&[40, 1]).periodic(1), [0.0; 3]),
                (Grid::new(&[23, 11]).size(&[1.0, 4.0]).side(1, End::High, Condition::Robin { alpha: 2.0 }), full),
                (cells(&[16, 11]), [0.0; 3]),
                (Grid::new(&[7, 6, 5]), [0.0; 3]),
                (Grid::new(&[6, 5, 7]).periodic(0).side(2, End::Low, Condition::Neumann), full),
                (cells(&[5, 6, 5]).periodic(1), [0.0; 3]),
            ] {
                coarse_matrices_are_galerkin_products::<f32>(context, &grid, mixed);
                if context.require::<f64>().is_ok() {
                    coarse_matrices_are_galerkin_products::<f64>(context, &grid, mixed);
                }
            }
        });
    }

    #[test]
    fn components_write_nothing_outside_of_their_grids() {
        on_every_device(|context| {
            components_stay_inside::<f32>(context);
            boxes_stay_inside::<f32>(context);
            if context.require::<f64>().is_ok() {
                components_stay_inside::<f64>(context);
            }
        });
    }

    #[test]
    fn levels_end_at_three_points_a_side() {
        assert_eq!(sides(3, 2).unwrap(), [3]);
        assert_eq!(sides(17, 3).unwrap(), [17, 9, 5, 3]);
    }

    #[test]
    fn other_sizes_name_the_nearest() {
        for (n, near) in [
            (0, "3 and 5"),
            (2, "3 and 5"),
            (4, "3 and 5"),
            (6, "5 and 9"),
            (1000, "513 and 1025"),
            (1024, "513 and 1025"),
            (1026, "1025 and 2049"),
        ] {
            for dim in [2, 3] {
                let message = sides(n, dim).unwrap_err().to_string();
                assert!(message.contains(near) && message.contains(&n.to_string()), "{message}");
            }
        }
        assert!(sides(usize::MAX, 2).is_err() && sides(usize::MAX, 3).is_err());
        assert!(sides((1 << 30) + 1, 2).is_ok() && sides((1 << 30) + 1, 3).is_err());
    }

    #[test]
    fn grids_are_cubic() {
        for n in [3, 17, 129, 513, 2049] {
            assert_eq!(side_in("u", n * n * n, 3).unwrap(), n);
            assert_eq!(side_in("u", n * n, 2).unwrap(), n);
            assert!(side_in("u", n * n * n + 1, 3).is_err());
        }
        assert_eq!(side_in("u", 8, 3).unwrap_err().id(), "clinalg:argument:shape");
    }

    #[test]
    fn grids_are_square() {
        assert_eq!(side("u", 36).unwrap(), 6);
        for len in [0, 4, 10, 35] {
            assert_eq!(side("u", len).unwrap_err().id(), "clinalg:argument:shape");
        }
    }
}
