//! The components made of sparse matrices and vectors only.

use super::components::{Components, Sweeps};
use super::params::Smoother;
use crate::reference::CsrParts;
use crate::reference::grid2::{Order, cubic_weights};
use crate::{Context, Csr, Real, Result, Vector, ops};

/// The matrices of one level, on the n^2 points of its grid or to the m^2 points of the next
/// coarser one. Rows of boundary points are empty, so that the boundary stays.
struct Level<T: Real> {
    /// -Laplace_h + shift.
    a: Csr<T>,
    /// omega / (4 / h^2 + shift) on the diagonal: of all interior points (Jacobi), or of each colour with
    /// omega = 1.
    relax: Vec<Csr<T>>,
    /// omega / (4 / h^2 + shift).
    weight: f64,
    /// 1 on the diagonal of boundary points.
    boundary: Csr<T>,
    transfer: Option<Transfer<T>>,
    /// Defects.
    r: Vector<T>,
    /// Another vector of the level, for norms.
    z: Vector<T>,
}

/// The matrices between a level and the next coarser one.
struct Transfer<T: Real> {
    /// Full weighting, m^2 by n^2.
    restrict: Csr<T>,
    /// Bilinear interpolation, n^2 by m^2.
    interpolate: Csr<T>,
    /// Of full multigrid: injection of boundary values, m^2 by n^2, and bicubic interpolation,
    /// n^2 by m^2.
    full: Option<(Csr<T>, Csr<T>)>,
}

/// Only the coarsest level has no coarser one.
fn present<V>(part: &Option<V>) -> &V {
    part.as_ref().expect("made for every level and cycle that asks for it")
}

/// Every step is a sparse product or an operation on vectors.
pub(super) struct Algebra<T: Real> {
    levels: Vec<Level<T>>,
}

/// A matrix whose row `k` is filled by `row`, columns in ascending order.
pub(super) fn matrix<T: Real>(
    context: &Context,
    rows: usize,
    cols: usize,
    mut row: impl FnMut(usize, &mut dyn FnMut(usize, f64)),
) -> Result<Csr<T>> {
    let (mut offsets, mut indices, mut values) = (Vec::with_capacity(rows + 1), Vec::new(), Vec::new());
    offsets.push(0);
    for k in 0..rows {
        row(k, &mut |column, value| {
            indices.push(column);
            values.push(T::of(value));
        });
        offsets.push(indices.len());
    }
    Csr::from_parts(context, &CsrParts { rows, cols, offsets, indices, values })
}

/// Whether point `k` of an n by n grid is inside.
pub(super) fn inside(n: usize, k: usize) -> bool {
    (1..n - 1).contains(&(k % n)) && (1..n - 1).contains(&(k / n))
}

/// Weights of the coarse points on a line that give fine point `i` by linear interpolation.
fn linear(i: usize) -> Vec<(usize, f64)> {
    if i.is_multiple_of(2) { vec![(i / 2, 1.0)] } else { vec![(i / 2, 0.5), (i / 2 + 1, 0.5)] }
}

/// The same by cubic interpolation on `m` coarse points.
fn cubic(m: usize, i: usize) -> Vec<(usize, f64)> {
    if i.is_multiple_of(2) {
        return vec![(i / 2, 1.0)];
    }
    let (first, weights) = cubic_weights(m, i / 2);
    weights.iter().enumerate().filter(|(_, w)| **w != 0.0).map(|(p, w)| (first + p, *w)).collect()
}

/// Interpolation at interior points as the product of the weights on the two lines.
fn interpolation<T: Real>(context: &Context, n: usize, line: impl Fn(usize) -> Vec<(usize, f64)>) -> Result<Csr<T>> {
    let m = n.div_ceil(2);
    matrix(context, n * n, m * m, |k, put| {
        if inside(n, k) {
            for (j, across) in line(k / n) {
                line(k % n).iter().for_each(|(i, along)| put(j * m + i, across * along));
            }
        }
    })
}

impl<T: Real> Transfer<T> {
    fn new(context: &Context, n: usize, full: bool) -> Result<Transfer<T>> {
        let m = n.div_ceil(2);
        let restrict = matrix(context, m * m, n * n, |c, put| {
            if inside(m, c) {
                let centre = 2 * (c / m) * n + 2 * (c % m);
                for (row, scale) in [(centre - n, 0.0625), (centre, 0.125), (centre + n, 0.0625)] {
                    [(row - 1, 1.0), (row, 2.0), (row + 1, 1.0)].into_iter().for_each(|(k, w)| put(k, scale * w));
                }
            }
        })?;
        let inject = |c: usize, put: &mut dyn FnMut(usize, f64)| {
            if !inside(m, c) {
                put(2 * (c / m) * n + 2 * (c % m), 1.0);
            }
        };
        let full = match full {
            true => Some((matrix(context, m * m, n * n, inject)?, interpolation(context, n, |i| cubic(m, i))?)),
            false => None,
        };
        Ok(Transfer { restrict, interpolate: interpolation(context, n, linear)?, full })
    }
}

impl<T: Real> Level<T> {
    fn new(context: &Context, n: usize, shift: f64, smoother: Smoother, omega: f64, full: bool) -> Result<Level<T>> {
        let inverse_h2 = ((n - 1) * (n - 1)) as f64;
        // The coarsest grid is solved exactly: one sweep with omega = 1 on its one point.
        let omega = if n == 3 || smoother == Smoother::RedBlack { 1.0 } else { omega };
        let centre = 4.0 * inverse_h2 + shift;
        let weight = omega / centre;
        let diagonal = |chosen: &dyn Fn(usize) -> bool, value: f64| {
            matrix(context, n * n, n * n, |k, put| {
                if chosen(k) {
                    put(k, value);
                }
            })
        };
        let relax = match smoother {
            Smoother::Jacobi => vec![diagonal(&|k| inside(n, k), weight)?],
            Smoother::RedBlack => {
                let colour = |c| diagonal(&move |k| inside(n, k) && (k / n + k % n) % 2 == c, weight);
                vec![colour(0)?, colour(1)?]
            }
        };
        let a = matrix(context, n * n, n * n, |k, put| {
            if inside(n, k) {
                let side = -inverse_h2;
                [(k - n, side), (k - 1, side), (k, centre), (k + 1, side), (k + n, side)]
                    .into_iter()
                    .for_each(|(column, value)| put(column, value));
            }
        })?;
        Ok(Level {
            a,
            relax,
            weight,
            boundary: diagonal(&|k| !inside(n, k), 1.0)?,
            transfer: if n > 3 { Some(Transfer::new(context, n, full)?) } else { None },
            r: Vector::zeros(context, n * n)?,
            z: Vector::zeros(context, n * n)?,
        })
    }

    /// r = f - A u.
    fn defect(&mut self, u: &Vector<T>, f: &Vector<T>) -> Result<()> {
        ops::copy(f, &mut self.r)?;
        ops::mv(-T::one(), &self.a, u, T::one(), &mut self.r)
    }

    /// Sweeps of the smoother: u += omega D^-1 (f - A u) on all points or colour after colour.
    fn smooth(&mut self, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        let colours = self.relax.len();
        for step in 0..sweeps.count * colours {
            let colour = match sweeps.order {
                Order::RedFirst => step % colours,
                Order::BlackFirst => colours - 1 - step % colours,
            };
            self.defect(u, f)?;
            ops::mv(T::one(), &self.relax[colour], &self.r, T::one(), u)?;
        }
        Ok(())
    }

    /// Norm of r over the interior: what the smoother would add, without its weight.
    fn interior_norm(&mut self) -> Result<f64> {
        let mut beta = T::zero();
        for relax in &self.relax {
            ops::mv(T::one(), relax, &self.r, beta, &mut self.z)?;
            beta = T::one();
        }
        Ok(ops::norm2(&self.z)?.wide() / self.weight)
    }
}

impl<T: Real> Algebra<T> {
    pub(super) fn new(
        context: &Context,
        sides: &[usize],
        shift: f64,
        smoother: Smoother,
        omega: f64,
        full: bool,
    ) -> Result<Algebra<T>> {
        let level = |&n: &usize| Level::new(context, n, shift, smoother, omega, full);
        Ok(Algebra { levels: sides.iter().map(level).collect::<Result<_>>()? })
    }
}

impl<T: Real> Components for Algebra<T> {
    type Grid = Vector<T>;

    fn zeros(&self, level: usize) -> Result<Vector<T>> {
        let like = &self.levels[level].r;
        Vector::zeros(like.context(), like.len())
    }

    fn descend(
        &mut self,
        level: usize,
        u: &mut Vector<T>,
        f: &Vector<T>,
        zero: bool,
        sweeps: Sweeps,
        coarse: &mut Vector<T>,
    ) -> Result<()> {
        let level = &mut self.levels[level];
        if zero {
            ops::fill(T::zero(), u)?;
        }
        level.smooth(u, f, sweeps)?;
        level.defect(u, f)?;
        ops::mv(T::one(), &present(&level.transfer).restrict, &level.r, T::zero(), coarse)
    }

    fn ascend(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: Sweeps,
    ) -> Result<()> {
        let level = &mut self.levels[level];
        ops::mv(T::one(), &present(&level.transfer).interpolate, coarse, T::one(), u)?;
        level.smooth(u, f, sweeps)
    }

    fn solve_coarsest(&mut self, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<()> {
        if zero {
            ops::fill(T::zero(), u)?;
        }
        let level = self.levels.last_mut().expect("there is a coarsest level");
        level.smooth(u, f, Sweeps { count: 1, order: Order::RedFirst })
    }

    fn defect_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        self.levels[level].defect(u, f)?;
        self.levels[level].interior_norm()
    }

    fn source_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        let level = &mut self.levels[level];
        ops::mv(T::one(), &level.boundary, u, T::zero(), &mut level.z)?;
        ops::copy(f, &mut level.r)?;
        ops::mv(-T::one(), &level.a, &level.z, T::one(), &mut level.r)?;
        level.interior_norm()
    }

    fn norm(&self, u: &Vector<T>) -> Result<f64> {
        Ok(ops::norm2(u)?.wide())
    }

    fn coarsen(
        &mut self,
        level: usize,
        u: &Vector<T>,
        f: &Vector<T>,
        coarse_u: &mut Vector<T>,
        coarse_f: &mut Vector<T>,
    ) -> Result<()> {
        let level = &self.levels[level];
        ops::mv(T::one(), &present(&present(&level.transfer).full).0, u, T::zero(), coarse_u)?;
        ops::mv(T::one(), &present(&level.transfer).restrict, f, T::zero(), coarse_f)
    }

    fn refine(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        let level = &mut self.levels[level];
        ops::mv(T::one(), &present(&present(&level.transfer).full).1, coarse, T::zero(), &mut level.r)?;
        ops::mv(T::one(), &level.boundary, u, T::one(), &mut level.r)?;
        ops::copy(&level.r, u)
    }
}
