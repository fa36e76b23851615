//! 2-D grids: the launches that both families of kernels share.

mod cpu;
pub(crate) mod fused;
mod gpu;
pub(crate) mod tuning;

pub(crate) use cpu::Poisson2Cpu;
pub(crate) use gpu::Poisson2Gpu;

use super::cycle::{Hierarchy, StartNorms};
use super::launch::{Rows, Term, h2, inverse_h2, items, root_of_squares, shares, start_norms, total, triple};
use crate::runtime::kernels::{grid2, grid2_transfer};
use crate::runtime::{KernelFamily, Out, Range};
use crate::{Context, Real, Result, Vector, ops};

/// Rows of an item that interpolates, as in the kernel (NVIDIA H200: 4 rows at 84 % of the copy rate, one row at 58 %).
const INTERPOLATED_ROWS: usize = 4;

/// Rows that an item of the sums for an initial guess goes up, as in the kernel.
const SUMMED_ROWS: usize = 8;

/// 1 / (4 + shift h^2), the weight of a relaxation for -Laplace_h + shift; a quarter where shift = 0.
pub(crate) fn weight<T: Real>(n: usize, shift: T) -> T {
    T::one() / (T::from_f64(4.0) + shift * h2(n))
}

/// `out` = one Jacobi sweep over `u`.
pub(crate) fn jacobi<T: Real>(
    n: usize,
    shift: T,
    omega: T,
    u: &Vector<T>,
    f: &Vector<T>,
    out: &mut Vector<T>,
) -> Result<()> {
    let (context, out) = (u.context(), Out::shared(out.buffer()));
    let range = items(context, [n, n], n);
    grid2::Program::new().jacobi(context, range, n, weight(n, shift), h2(n), omega, u.buffer(), f.buffer(), out)
}

/// Half a red-black sweep on `u`.
pub(crate) fn half_sweep<T: Real>(n: usize, shift: T, colour: u32, f: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
    let (context, u) = (f.context(), Out::shared(u.buffer()));
    let range = items(context, [(n - 1) / 2, n - 2], n);
    grid2::Program::new().red_black(context, range, n, weight(n, shift), h2(n), colour, f.buffer(), u)
}

/// `d` = f + Laplace_h u - shift u.
pub(crate) fn defect<T: Real>(n: usize, shift: T, u: &Vector<T>, f: &Vector<T>, d: &mut Vector<T>) -> Result<()> {
    let (context, d) = (u.context(), Out::shared(d.buffer()));
    let range = items(context, [n, n], n);
    grid2::Program::new().defect(context, range, n, inverse_h2(n), shift, u.buffer(), f.buffer(), d)
}

/// `coarse`, with m points per row, = restricted `fine`, which has `rows`.
pub(crate) fn restrict<T: Real>(m: usize, rows: Rows, fine: &Vector<T>, coarse: &mut Vector<T>) -> Result<()> {
    let (context, height) = (fine.context(), rows.coarse());
    let (program, range) = (grid2_transfer::Program::<T>::new(), items(context, [m, height], height));
    program.restrict_grid(context, range, m, height, rows.skip, fine.buffer(), Out::shared(coarse.buffer()))
}

/// `fine`, with n points per side, = interpolated `coarse`.
pub(crate) fn interpolate<T: Real>(n: usize, coarse: &Vector<T>, fine: &mut Vector<T>) -> Result<()> {
    let context = coarse.context();
    let range = items(context, [n, n.div_ceil(INTERPOLATED_ROWS)], n);
    let program = grid2_transfer::Program::<T>::new();
    program.interpolate(context, range, n, coarse.buffer(), Out::shared(fine.buffer()))
}

/// Boundary of `to`, with m points per side, = boundary of `from` at every `stride`-th point.
pub(crate) fn copy_boundary<T: Real>(m: usize, stride: usize, from: &Vector<T>, to: &mut Vector<T>) -> Result<()> {
    copy_boundary_of(m, [m, 0], stride, from, to)
}

/// The same for `height` rows of `to` from row `skip` on.
fn copy_boundary_of<T: Real>(
    m: usize,
    [height, skip]: [usize; 2],
    stride: usize,
    from: &Vector<T>,
    to: &mut Vector<T>,
) -> Result<()> {
    let context = from.context();
    // One group on a CPU: there is nothing to share out.
    let local = if context.family() == KernelFamily::Cpu { 1 } else { context.local() };
    let range = Range::d1(2 * (m + height - 2), local);
    let program = grid2_transfer::Program::<T>::new();
    program.copy_boundary(context, range, m, height, skip, stride, from.buffer(), Out::shared(to.buffer()))
}

/// What the backends for both families share: the sizes, and the components that are launches of one operation each.
pub(crate) struct Levels<T: Real> {
    context: Context,
    sides: Vec<usize>,
    rows: Vec<Rows>,
    shift: T,
}

impl<T: Real> Levels<T> {
    /// Square grids.
    pub(crate) fn new(context: &Context, sides: &[usize], shift: f64) -> Levels<T> {
        Levels::strips(context, sides, sides.iter().map(|&n| Rows::all(n)).collect(), shift)
    }

    /// Strips of square grids of these sides. The first row of each has an even number there; what is computed beside a first
    /// or last row that is not on the boundary is not that of the whole grid.
    pub(crate) fn strips(context: &Context, sides: &[usize], rows: Vec<Rows>, shift: f64) -> Levels<T> {
        Levels { context: context.clone(), sides: sides.to_vec(), rows, shift: T::from_f64(shift) }
    }

    /// Points per row and rows of a level.
    fn grid(&self, level: usize) -> (usize, Rows) {
        (self.sides[level], self.rows[level])
    }

    /// Enqueues the sum of the squares of a term over the interior of `rows`, in as many parts as [`Levels::shares`] says.
    pub(crate) fn sum_squares(
        &self,
        term: Term,
        level: usize,
        rows: std::ops::Range<usize>,
        scale: T,
        [u, f]: [&Vector<T>; 2],
        partial: Out<'_, T>,
    ) -> Result<()> {
        let (context, n, height, shift) = (&self.context, self.sides[level], self.rows[level].count, self.shift);
        let (_, range) = self.shares(level);
        let (low, high) = (rows.start.max(1), rows.end.min(height - 1));
        let (program, inverse_h2, u, f) = (grid2::Program::<T>::new(), inverse_h2(n), u.buffer(), f.buffer());
        match term {
            Term::Defect => {
                program.sum_square_defect(context, range, n, height, low, high, inverse_h2, shift, scale, u, f, partial)
            }
            Term::Source => {
                program.sum_square_source(context, range, n, height, low, high, inverse_h2, shift, scale, u, f, partial)
            }
        }
    }

    /// How many parts [`Levels::sum_squares`] leaves, and its range.
    pub(crate) fn shares(&self, level: usize) -> (usize, Range) {
        shares(&self.context, self.rows[level].count, 1)
    }

    /// The Euclidean norm of a term over the interior.
    fn norm_of(&self, term: Term, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        let (count, _) = self.shares(level);
        root_of_squares(|scale: T| {
            let rows = 0..self.rows[level].count;
            let partials =
                self.context.partials(count, |partial| self.sum_squares(term, level, rows, scale, [u, f], partial))?;
            Ok(total(&partials))
        })
    }

    /// The norms of an initial guess on a GPU, in one pass.
    fn norms_of_start(&self, u: &Vector<T>, f: &Vector<T>) -> Result<StartNorms> {
        let partials =
            self.context.partials(self.start_sums(0), |partial| self.sum_squares_start(0, [u, f], partial))?;
        Ok(start_norms::<T>(triple(&partials)))
    }

    /// Number of partial sums that [`Levels::sum_squares_start`] writes.
    pub(crate) fn start_sums(&self, level: usize) -> usize {
        3 * self.start_shares(level).0
    }

    fn start_shares(&self, level: usize) -> (usize, Range) {
        let Rows { low, high, .. } = self.rows[level];
        shares(&self.context, (high - low).div_ceil(SUMMED_ROWS), 3)
    }

    /// On a GPU, enqueues the sums of the squares of u, of the defect and of the source, over the rows to be summed.
    pub(crate) fn sum_squares_start(&self, level: usize, [u, f]: [&Vector<T>; 2], partial: Out<'_, T>) -> Result<()> {
        let (context, n, Rows { count, low, high, .. }) = (&self.context, self.sides[level], self.rows[level]);
        let (_, range) = self.start_shares(level);
        let (program, inverse_h2, [u, f]) = (grid2::Program::<T>::new(), inverse_h2(n), [u, f].map(Vector::buffer));
        program.sum_squares_start(context, range, n, count, low, high, inverse_h2, self.shift, u, f, partial)
    }
}

impl<T: Real> Hierarchy for Levels<T> {
    type Grid = Vector<T>;

    fn zeros(&self, level: usize) -> Result<Vector<T>> {
        Vector::zeros(&self.context, self.sides[level] * self.rows[level].count)
    }

    fn clear(&self, u: &mut Vector<T>) -> Result<()> {
        u.fill(T::zero())
    }

    fn solve_coarsest(&mut self, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<()> {
        if zero {
            u.fill(T::zero())?;
        }
        half_sweep(3, self.shift, 0, f, u)
    }

    fn defect_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        self.norm_of(Term::Defect, level, u, f)
    }

    fn source_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        self.norm_of(Term::Source, level, u, f)
    }

    fn norm(&self, u: &Vector<T>) -> Result<f64> {
        Ok(ops::norm2(u)?.into_f64())
    }

    fn coarsen(
        &mut self,
        level: usize,
        u: &Vector<T>,
        f: &Vector<T>,
        coarse_u: &mut Vector<T>,
        coarse_f: &mut Vector<T>,
    ) -> Result<()> {
        let (m, rows) = (self.sides[level + 1], self.rows[level]);
        copy_boundary_of(m, [rows.coarse(), rows.skip], 2, u, coarse_u)?;
        restrict(m, rows, f, coarse_f)
    }
}
