//! The levels of the square and of the cube as strips and slabs.

use std::ops;

use crate::multigrid::PoissonParams;
use crate::multigrid::cycle::{Components, Hierarchy};
use crate::multigrid::launch::{Rows, Term};
use crate::multigrid::poisson3::Relaxed;
use crate::multigrid::{poisson2, poisson3};
use crate::runtime::{KernelFamily, Out};
use crate::{Context, Real, Result, Vector};

/// The components on the strips of a rank.
pub(crate) type Part<T, L> = Box<dyn Components<Grid = Vector<T>, Hierarchy = L> + Send>;

/// Levels of which a rank has a part of the rows, or of the planes of a cube; below, *rows* stands for both.
pub(crate) trait Layers<T: Real>: Hierarchy<Grid = Vector<T>> + Send + Sized + 'static {
    /// Dimensions of the grid.
    const DIM: usize;

    /// The components on these rows.
    fn part(context: &Context, sides: &[usize], rows: Vec<Rows>, params: &PoissonParams) -> Result<Part<T, Self>>;

    /// Whole grids, of which only sums are taken.
    fn whole(context: &Context, sides: &[usize], shift: f64) -> Result<Self>;

    /// How many parts [`Layers::sum_squares`] leaves.
    fn sums(&self, level: usize) -> usize;

    /// Enqueues the sum of the squares of a term over the interior of `rows`.
    fn sum_squares(
        &self,
        term: Term,
        level: usize,
        rows: ops::Range<usize>,
        scale: T,
        grids: [&Vector<T>; 2],
        partial: Out<'_, T>,
    ) -> Result<()>;

    /// Number of partial sums that [`Layers::sum_squares_start`] writes.
    fn start_sums(&self, level: usize) -> usize;

    /// On a GPU, enqueues the sums of the squares of u, of the defect and of the source over the rank's own rows, in one pass.
    fn sum_squares_start(&self, level: usize, grids: [&Vector<T>; 2], partial: Out<'_, T>) -> Result<()>;
}

impl<T: Real> Layers<T> for poisson2::Levels<T> {
    const DIM: usize = 2;

    fn part(context: &Context, sides: &[usize], rows: Vec<Rows>, params: &PoissonParams) -> Result<Part<T, Self>> {
        let PoissonParams { smoother, omega, pre, post, shift, .. } = *params;
        let levels = poisson2::Levels::strips(context, sides, rows, shift);
        Ok(match context.family() {
            KernelFamily::Gpu => Box::new(poisson2::Poisson2Gpu::on(levels, smoother, omega)?),
            KernelFamily::Cpu => Box::new(poisson2::Poisson2Cpu::on(levels, smoother, omega, pre.max(post))?),
        })
    }

    fn whole(context: &Context, sides: &[usize], shift: f64) -> Result<Self> {
        Ok(poisson2::Levels::new(context, sides, shift))
    }

    fn sums(&self, level: usize) -> usize {
        self.shares(level).0
    }

    fn sum_squares(
        &self,
        term: Term,
        level: usize,
        rows: ops::Range<usize>,
        scale: T,
        grids: [&Vector<T>; 2],
        partial: Out<'_, T>,
    ) -> Result<()> {
        poisson2::Levels::sum_squares(self, term, level, rows, scale, grids, partial)
    }

    fn start_sums(&self, level: usize) -> usize {
        poisson2::Levels::start_sums(self, level)
    }

    fn sum_squares_start(&self, level: usize, grids: [&Vector<T>; 2], partial: Out<'_, T>) -> Result<()> {
        poisson2::Levels::sum_squares_start(self, level, grids, partial)
    }
}

impl<T: Real> Layers<T> for poisson3::Levels<T> {
    const DIM: usize = 3;

    fn part(context: &Context, sides: &[usize], rows: Vec<Rows>, params: &PoissonParams) -> Result<Part<T, Self>> {
        let how = Relaxed { shift: params.shift, smoother: params.smoother, omega: params.omega };
        Ok(match context.family() {
            KernelFamily::Gpu => Box::new(poisson3::Poisson3Gpu::slabs(context, sides, rows, how)?),
            KernelFamily::Cpu => Box::new(poisson3::Poisson3Cpu::slabs(context, sides, rows, how)?),
        })
    }

    fn whole(context: &Context, sides: &[usize], shift: f64) -> Result<Self> {
        poisson3::Levels::cubes(context, sides, shift)
    }

    fn sums(&self, level: usize) -> usize {
        self.shares(level).0
    }

    fn sum_squares(
        &self,
        term: Term,
        level: usize,
        rows: ops::Range<usize>,
        scale: T,
        grids: [&Vector<T>; 2],
        partial: Out<'_, T>,
    ) -> Result<()> {
        poisson3::Levels::sum_squares(self, term, level, rows, scale, grids, partial)
    }

    fn start_sums(&self, level: usize) -> usize {
        poisson3::Levels::start_sums(self, level)
    }

    fn sum_squares_start(&self, level: usize, grids: [&Vector<T>; 2], partial: Out<'_, T>) -> Result<()> {
        poisson3::Levels::sum_squares_start(self, level, grids, partial)
    }
}
