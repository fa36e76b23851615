//! 3-D grids: the launches that both families of kernels share.

mod cpu;
mod gpu;

pub(crate) use cpu::Poisson3Cpu;
pub(crate) use gpu::Poisson3Gpu;

use super::cycle::Hierarchy;
use super::launch::{self, Rows, Term, items};
use super::params::Smoother;
use crate::runtime::kernels::{grid3, grid3_transfer};
use crate::runtime::{Out, Range};
use crate::{Context, Real, Result, Vector, ops};

/// What both families of kernels share: the sizes and the components that are launches of one operation each.
pub(crate) struct Levels<T: Real> {
    context: Context,
    sides: Vec<usize>,
    /// The planes that are here.
    rows: Vec<Rows>,
    shift: T,
    /// Of Jacobi; 0 for red-black.
    omega: T,
    /// What a smoother that cannot work in place writes, on each level.
    spare: Vec<Vector<T>>,
}

/// The equation and its relaxation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Relaxed {
    pub(crate) shift: f64,
    pub(crate) smoother: Smoother,
    /// Of Jacobi.
    pub(crate) omega: f64,
}

impl<T: Real> Levels<T> {
    /// Slabs of cubes of these sides. The first plane of each has an even number there; what is computed beside a first or last
    /// plane that is not on the boundary is not that of the whole cube. Red-black relaxations need no second grid if they work in
    /// place.
    fn slabs(
        context: &Context,
        sides: &[usize],
        rows: Vec<Rows>,
        Relaxed { shift, smoother, omega }: Relaxed,
        in_place: bool,
    ) -> Result<Levels<T>> {
        let spare = match smoother {
            Smoother::RedBlack if in_place => Vec::new(),
            _ => {
                let levels = sides.iter().zip(&rows);
                levels.map(|(n, rows)| Vector::zeros(context, n * n * rows.count)).collect::<Result<_>>()?
            }
        };
        let omega = if smoother == Smoother::Jacobi { omega } else { 0.0 };
        Ok(Levels {
            context: context.clone(),
            sides: sides.to_vec(),
            rows,
            shift: T::from_f64(shift),
            omega: T::from_f64(omega),
            spare,
        })
    }

    /// Cubes that nothing is relaxed on.
    pub(crate) fn cubes(context: &Context, sides: &[usize], shift: f64) -> Result<Levels<T>> {
        let rows = sides.iter().map(|&n| Rows::all(n)).collect();
        Levels::slabs(context, sides, rows, Relaxed { shift, smoother: Smoother::RedBlack, omega: 0.0 }, true)
    }

    fn h2(&self, level: usize) -> T {
        launch::h2(self.sides[level])
    }

    fn inverse_h2(&self, level: usize) -> T {
        launch::inverse_h2(self.sides[level])
    }

    /// 1 / (6 + shift h^2).
    fn weight(&self, level: usize) -> T {
        T::one() / (T::from_f64(6.0) + self.shift * self.h2(level))
    }

    /// A sweep of Jacobi; u and the spare grid change places.
    fn jacobi(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>) -> Result<()> {
        let (n, height) = (self.sides[level], self.rows[level].count);
        let (weight, h2, omega) = (self.weight(level), self.h2(level), self.omega);
        let (context, spare) = (&self.context, &mut self.spare[level]);
        let (range, out) = (items(context, [n, n * height], n * height), Out::shared(spare.buffer()));
        grid3::Program::new().jacobi(context, range, n, height, weight, h2, omega, u.buffer(), f.buffer(), out)?;
        std::mem::swap(u, spare);
        Ok(())
    }

    fn interpolate_add(&self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        let (context, n, Rows { count, skip, .. }) = (&self.context, self.sides[level], self.rows[level]);
        let rows = (n - 2) * (count - 2);
        let (range, u) = (items(context, [n - 2, rows], rows), Out::shared(u.buffer()));
        grid3_transfer::Program::<T>::new().interpolate_add(context, range, n, count, skip, coarse.buffer(), u)
    }

    /// Interior of `u` = tricubic interpolant of `coarse`.
    fn refine(&self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        let (context, n, Rows { count, skip, .. }) = (&self.context, self.sides[level], self.rows[level]);
        let column = if n > LARGE { LONG_COLUMN } else { COLUMN };
        let range = items(context, [n - 2, (n - 2) * (count / 2).div_ceil(column)], (n - 2) * (count - 2));
        let (program, u) = (grid3_transfer::Program::<T>::new(), Out::shared(u.buffer()));
        program.interpolate_cubic(context, range, n, count, skip, column as u32, coarse.buffer(), u)
    }

    /// Enqueues the sum of the squares of a term over the interior of `planes`, in as many parts as [`Levels::shares`] says.
    pub(crate) fn sum_squares(
        &self,
        term: Term,
        level: usize,
        planes: std::ops::Range<usize>,
        scale: T,
        [u, f]: [&Vector<T>; 2],
        partial: Out<'_, T>,
    ) -> Result<()> {
        let (context, n, height, shift) = (&self.context, self.sides[level], self.rows[level].count, self.shift);
        let (_, range) = self.shares(level);
        let (low, high) = (planes.start.max(1), planes.end.min(height - 1));
        let (program, inverse_h2, u, f) = (grid3::Program::<T>::new(), self.inverse_h2(level), u.buffer(), f.buffer());
        match term {
            Term::Defect => {
                program.sum_square_defect(context, range, n, height, low, high, inverse_h2, shift, scale, u, f, partial)
            }
            Term::Source => {
                program.sum_square_source(context, range, n, height, low, high, inverse_h2, shift, scale, u, f, partial)
            }
        }
    }

    /// Number of partial sums that [`Levels::sum_squares_start`] writes.
    pub(crate) fn start_sums(&self, level: usize) -> usize {
        3 * self.start_shares(level).0
    }

    fn start_shares(&self, level: usize) -> (usize, Range) {
        launch::shares(&self.context, self.sides[level].pow(2), 3)
    }

    /// On a GPU, enqueues the sums of the squares of u, of the defect and of the source, over the planes to be summed.
    pub(crate) fn sum_squares_start(&self, level: usize, [u, f]: [&Vector<T>; 2], partial: Out<'_, T>) -> Result<()> {
        let (context, n, Rows { count, low, high, .. }) = (&self.context, self.sides[level], self.rows[level]);
        let (_, range) = self.start_shares(level);
        let (program, inverse_h2) = (grid3::Program::<T>::new(), self.inverse_h2(level));
        let [u, f] = [u, f].map(Vector::buffer);
        program.sum_squares_start(context, range, n, count, low, high, inverse_h2, self.shift, u, f, partial)
    }

    /// How many parts [`Levels::sum_squares`] leaves, and its range.
    pub(crate) fn shares(&self, level: usize) -> (usize, Range) {
        launch::shares(&self.context, (self.sides[level] - 2) * (self.rows[level].count - 2), 1)
    }

    /// The Euclidean norm of a term over the interior.
    fn norm_of(&self, term: Term, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        let (count, _) = self.shares(level);
        launch::root_of_squares(|scale: T| {
            let planes = 0..self.rows[level].count;
            let partials = self
                .context
                .partials(count, |partial| self.sum_squares(term, level, planes, scale, [u, f], partial))?;
            Ok(launch::total(&partials))
        })
    }
}

impl<T: Real> Hierarchy for Levels<T> {
    type Grid = Vector<T>;

    fn zeros(&self, level: usize) -> Result<Vector<T>> {
        Vector::zeros(&self.context, self.sides[level].pow(2) * self.rows[level].count)
    }

    fn clear(&self, u: &mut Vector<T>) -> Result<()> {
        u.fill(T::zero())
    }

    fn solve_coarsest(&mut self, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<()> {
        let last = self.sides.len() - 1;
        let (weight, h2, u) = (self.weight(last), self.h2(last), Out::shared(u.buffer()));
        let range = items(&self.context, [1, 1], 1);
        grid3::Program::new().solve_coarsest(&self.context, range, zero.into(), weight, h2, f.buffer(), u)
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
        let (context, m, rows) = (&self.context, self.sides[level + 1], self.rows[level]);
        let (height, skip) = (rows.coarse(), rows.skip);
        copy_boundary_of(m, [height, skip], 2, u, coarse_u)?;
        let range = items(context, [m - 2, (m - 2) * (height - 2).div_ceil(COLUMN)], (m - 2) * (height - 2));
        let (program, coarse_f) = (grid3_transfer::Program::<T>::new(), Out::shared(coarse_f.buffer()));
        program.restrict_grid(context, range, m, height, skip, COLUMN as u32, f.buffer(), coarse_f)
    }
}

/// Coarse planes that an item of a transfer on a GPU walks up (NVIDIA H200: best of 4 to 65 at 65^3 to 513^3).
const COLUMN: usize = 4;
/// The same of the cubic interpolation above [`LARGE`] points per side, where it reads four planes per item less often.
const LONG_COLUMN: usize = 32;
const LARGE: usize = 200;

/// Boundary of `to`, with m points per side, = boundary of `from` at every `stride`-th point.
pub(crate) fn copy_boundary<T: Real>(m: usize, stride: u32, from: &Vector<T>, to: &mut Vector<T>) -> Result<()> {
    copy_boundary_of(m, [m, 0], stride, from, to)
}

/// The same for `height` planes of `to` from plane `skip` on.
fn copy_boundary_of<T: Real>(
    m: usize,
    [height, skip]: [usize; 2],
    stride: u32,
    from: &Vector<T>,
    to: &mut Vector<T>,
) -> Result<()> {
    let context = from.context();
    let (range, to) = (items(context, [m, m], 1), Out::shared(to.buffer()));
    grid3_transfer::Program::<T>::new().copy_boundary(context, range, m, height, skip, stride, from.buffer(), to)
}
