//! The components as kernels for processors: a band of rows per item, all of a visit in one pass.

use super::components::Components;
use super::launch::{self, Term};
use super::params::Smoother;
use crate::reference::grid2::Order;
use crate::runtime::{Arg, Range};
use crate::{Buffer, Context, Real, Result, Vector, ops};

/// Bands per compute unit: a few, so that a slow unit holds up no one.
const BANDS_PER_UNIT: usize = 4;
/// Least rows of a band in multiples of the rows that are worked on twice.
const BAND_TO_HALO: usize = 2;
/// Rows for the defects that wait for their restriction.
const DEFECT_ROWS: usize = 4;

/// How one pass over a level is cut up and where its copies lie.
#[derive(Debug, Clone, Copy)]
struct Pass {
    /// Half-sweeps or Jacobi sweeps.
    stages: usize,
    /// Rows of the halo on either side of a band.
    depth: usize,
    bands: usize,
    /// Values that a band copies or keeps beside the grid.
    stride: usize,
}

/// Kernels with a band of rows per item.
pub(super) struct Processor<T: Real> {
    context: Context,
    sides: Vec<usize>,
    /// 0 for red-black, as in the kernels.
    omega: T,
    copies: Buffer<T>,
}

impl<T: Real> Processor<T> {
    /// Memory for visits of up to `sweeps` sweeps.
    pub(super) fn new(
        context: &Context,
        sides: &[usize],
        smoother: Smoother,
        omega: f64,
        sweeps: usize,
    ) -> Result<Processor<T>> {
        context.require::<T>()?;
        let omega = if smoother == Smoother::RedBlack { 0.0 } else { omega };
        let copies = Buffer::uninit(context, 0)?;
        let mut made = Processor { context: context.clone(), sides: sides.to_vec(), omega: T::of(omega), copies };
        let values = |level| (0..=sweeps).map(|s| made.pass(level, s)).map(|p| p.bands * p.stride).max().unwrap_or(0);
        let most = (0..sides.len()).map(values).max().unwrap_or(0);
        made.copies = Buffer::zeroed(context, most)?;
        Ok(made)
    }

    fn pass(&self, level: usize, sweeps: usize) -> Pass {
        let n = self.sides[level];
        let red_black = self.omega == T::zero();
        let stages = if red_black { 2 * sweeps } else { sweeps };
        // A stage spoils one row of the halo; the defect and its restriction need two more.
        let depth = stages + 2;
        let most = (self.context.device().compute_units as usize).max(1) * BANDS_PER_UNIT;
        let bands = (n / (2 * depth * BAND_TO_HALO)).clamp(1, most);
        let saved = if red_black { 0 } else { 2 * stages };
        Pass { stages, depth, bands, stride: (2 * depth + saved + DEFECT_ROWS) * n }
    }

    /// Copies the halos of all bands while they are still old.
    fn save_halo(&self, level: usize, pass: Pass, u: &Vector<T>) -> Result<()> {
        if pass.bands == 1 {
            return Ok(());
        }
        let args = [
            Arg::size(self.sides[level]),
            Arg::U32(pass.depth as u32),
            Arg::size(pass.stride),
            u.buffer().arg(),
            self.copies.arg(),
        ];
        self.context.run(&launch::kernel::<T>("save_halo_cpu"), Range::d1(pass.bands, 1), &args)
    }

    /// The arguments that both passes take first.
    fn leading(&self, level: usize, pass: Pass, order: Order) -> [Arg; 8] {
        let n = self.sides[level];
        let colour = match order {
            Order::RedFirst => 0,
            Order::BlackFirst => 1,
        };
        [
            Arg::size(n),
            Arg::U32(pass.stages as u32),
            Arg::U32(colour),
            Arg::U32(pass.depth as u32),
            Arg::size(pass.stride),
            launch::h2::<T>(n).arg().0,
            launch::inverse_h2::<T>(n).arg().0,
            self.omega.arg().0,
        ]
    }

    /// The way up; with a place for partial sums also the squares of the defect.
    #[allow(clippy::too_many_arguments)]
    fn correct_smooth(
        &self,
        level: usize,
        pass: Pass,
        coarse: &Vector<T>,
        u: &Vector<T>,
        f: &Vector<T>,
        order: Order,
        partial: Option<Arg>,
    ) -> Result<()> {
        let [n, stages, colour, depth, stride, h2, inverse_h2, omega] = self.leading(level, pass, order);
        let args = [
            n,
            stages,
            colour,
            depth,
            stride,
            h2,
            inverse_h2,
            omega,
            Arg::U32(u32::from(partial.is_some())),
            f.buffer().arg(),
            u.buffer().arg(),
            coarse.buffer().arg(),
            self.copies.arg(),
            partial.unwrap_or(self.copies.arg()),
        ];
        self.context.run(&launch::kernel::<T>("correct_smooth_cpu"), Range::d1(pass.bands, 1), &args)
    }
}

impl<T: Real> Components for Processor<T> {
    type Grid = Vector<T>;

    fn zeros(&self, level: usize) -> Result<Vector<T>> {
        Vector::zeros(&self.context, self.sides[level] * self.sides[level])
    }

    fn descend(
        &mut self,
        level: usize,
        u: &mut Vector<T>,
        f: &Vector<T>,
        zero: bool,
        sweeps: usize,
        order: Order,
        coarse: &mut Vector<T>,
    ) -> Result<()> {
        let pass = self.pass(level, sweeps);
        if !zero {
            self.save_halo(level, pass, u)?;
        }
        let [n, stages, colour, depth, stride, h2, inverse_h2, omega] = self.leading(level, pass, order);
        let args = [
            n,
            stages,
            colour,
            depth,
            stride,
            h2,
            inverse_h2,
            omega,
            Arg::U32(u32::from(zero)),
            f.buffer().arg(),
            u.buffer().arg(),
            coarse.buffer().arg(),
            self.copies.arg(),
        ];
        self.context.run(&launch::kernel::<T>("smooth_restrict_cpu"), Range::d1(pass.bands, 1), &args)
    }

    fn ascend(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: usize,
        order: Order,
    ) -> Result<()> {
        let pass = self.pass(level, sweeps);
        self.save_halo(level, pass, u)?;
        self.correct_smooth(level, pass, coarse, u, f, order, None)
    }

    fn ascend_norm(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: usize,
        order: Order,
    ) -> Result<f64> {
        let pass = self.pass(level, sweeps);
        self.save_halo(level, pass, u)?;
        let partials: Vec<T> = self
            .context
            .partials(pass.bands, |partial| self.correct_smooth(level, pass, coarse, u, f, order, Some(partial)))?;
        let squares = launch::total(&partials);
        // Squares out of range are rare enough to be summed in a pass of their own.
        if launch::in_range::<T>(squares) { Ok(squares.sqrt()) } else { self.defect_norm(level, u, f) }
    }

    fn solve_coarsest(&mut self, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<()> {
        if zero {
            u.fill(T::zero())?;
        }
        launch::half_sweep(3, 0, f, u)
    }

    fn defect_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        launch::norm(Term::Defect, self.sides[level], u, f)
    }

    fn source_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        launch::norm(Term::Source, self.sides[level], u, f)
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
        let m = self.sides[level + 1];
        launch::copy_boundary(m, 2, u, coarse_u)?;
        launch::restrict(m, f, coarse_f)
    }

    fn refine(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        let n = self.sides[level];
        let args = [Arg::size(n), coarse.buffer().arg(), u.buffer().arg(), self.copies.arg()];
        let bands = Range::d1(self.pass(level, 0).bands, 1);
        self.context.run(&launch::kernel::<T>("interpolate_cubic_cpu"), bands, &args)
    }
}
