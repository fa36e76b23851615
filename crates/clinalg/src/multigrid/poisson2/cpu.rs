//! The components as kernels for CPUs: a band of rows per item, all of a visit in one pass.

use super::Levels;
use crate::multigrid::cycle::{Components, Hierarchy, Norms, Order, Start, Sweeps};
use crate::multigrid::launch::{self, After};
use crate::multigrid::params::Smoother;
use crate::multigrid::poisson2;
use crate::runtime::kernels::{grid2, grid2_cubic, grid2_sweep};
use crate::runtime::{Out, Range};
use crate::{Buffer, Context, Real, Result, Vector};

/// Bands per compute unit: a few, so that a slow unit delays no other.
const BANDS_PER_UNIT: usize = 4;
/// Least rows of a band in multiples of the rows that are worked on twice.
const BAND_TO_HALO: usize = 2;
/// Rows for the defects that wait for their restriction.
const DEFECT_ROWS: usize = 4;

/// How many rows ahead a pass fetches memory, where [`Context::prefetches`] says so (AMD EPYC, a V(2,1) cycle at 2049 by 2049:
/// 1.3 times as fast; 1 to 4 rows make no difference).
const ROWS_AHEAD: u64 = 2;

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

/// No sweeps.
const NONE: Sweeps = Sweeps { count: 0, order: Order::RedFirst };

/// Kernels with a band of rows per item.
pub(crate) struct Poisson2Cpu<T: Real> {
    levels: Levels<T>,
    /// 0 for red-black, as in the kernels.
    omega: T,
    copies: Buffer<T>,
}

impl<T: Real> Poisson2Cpu<T> {
    /// Memory for visits of up to `sweeps` sweeps.
    pub(crate) fn new(
        context: &Context,
        sides: &[usize],
        shift: f64,
        smoother: Smoother,
        omega: f64,
        sweeps: usize,
    ) -> Result<Poisson2Cpu<T>> {
        Poisson2Cpu::on(Levels::new(context, sides, shift), smoother, omega, sweeps)
    }

    /// The same on these levels.
    pub(crate) fn on(levels: Levels<T>, smoother: Smoother, omega: f64, sweeps: usize) -> Result<Poisson2Cpu<T>> {
        let context = &levels.context.clone();
        context.require::<T>()?;
        let omega = if smoother == Smoother::RedBlack { 0.0 } else { omega };
        let copies = Buffer::uninit(context, 0)?;
        let mut made = Poisson2Cpu { levels, omega: T::from_f64(omega), copies };
        let values = |level| (0..=sweeps).map(|s| made.pass(level, s)).map(|p| p.bands * p.stride).max().unwrap_or(0);
        let most = (0..made.levels.sides.len()).map(values).max().unwrap_or(0);
        made.copies = Buffer::zeroed(context, most)?;
        // The kernels of every cycle, several at a time.
        let passes = [grid2_sweep::SWEEP, grid2_sweep::SAVE_HALO].map(|id| made.program().kernel(id));
        let others = [grid2::RED_BLACK, grid2::SUM_SQUARE_DEFECT, grid2::SUM_SQUARE_SOURCE];
        let others = others.map(|id| grid2::Program::<T>::new().kernel(id));
        context.prepare_all(&[&passes[..], &others].concat())?;
        Ok(made)
    }

    fn program(&self) -> grid2_sweep::Program<T> {
        let program = grid2_sweep::Program::new();
        if self.levels.context.prefetches() { program.rows_ahead(ROWS_AHEAD) } else { program }
    }

    fn pass(&self, level: usize, sweeps: usize) -> Pass {
        let n = self.levels.sides[level];
        let red_black = self.omega == T::zero();
        let stages = if red_black { 2 * sweeps } else { sweeps };
        // A stage spoils one row of the halo; the defect and its restriction need two more.
        let depth = stages + 2;
        let most = (self.levels.context.device().compute_units as usize).max(1) * BANDS_PER_UNIT;
        let bands = (self.levels.rows[level].count / (2 * depth * BAND_TO_HALO)).clamp(1, most);
        let saved = if red_black { 0 } else { 2 * stages };
        Pass { stages, depth, bands, stride: (2 * depth + saved + DEFECT_ROWS) * n }
    }

    /// One pass over a level; `other` is the coarse grid that it reads or writes.
    fn sweep(
        &self,
        level: usize,
        sweeps: Sweeps,
        (start, after): (Start, After<'_, T>),
        u: &Vector<T>,
        f: &Vector<T>,
        other: &Vector<T>,
    ) -> Result<()> {
        let Levels { context, sides, rows, shift } = &self.levels;
        let (n, rows, shift, copies) = (sides[level], rows[level], *shift, Out::shared(&self.copies));
        let Pass { stages, depth, bands, stride } = self.pass(level, sweeps.count);
        let (after, partial) = match after {
            After::Nothing => (0, copies),
            After::Restricted => (1, copies),
            After::Summed(partial) => (2, partial),
        };
        let (program, range) = (self.program(), Range::d1(bands, 1));
        let [u, other] = [u, other].map(|grid| Out::shared(grid.buffer()));
        if start != Start::FromZero && bands > 1 {
            program.save_halo(context, range, n, rows.count, depth as u32, stride, u, copies)?;
        }
        program.sweep(
            context,
            range,
            n,
            rows.count,
            rows.skip,
            start as u32,
            after,
            stages as u32,
            sweeps.order.colours()[0],
            depth as u32,
            stride,
            poisson2::weight(n, shift),
            launch::h2(n),
            launch::inverse_h2(n),
            shift,
            self.omega,
            f.buffer(),
            u,
            other,
            copies,
            partial,
        )
    }
}

impl<T: Real> Components for Poisson2Cpu<T> {
    type Grid = Vector<T>;
    type Hierarchy = Levels<T>;

    fn hierarchy(&self) -> &Levels<T> {
        &self.levels
    }

    fn hierarchy_mut(&mut self) -> &mut Levels<T> {
        &mut self.levels
    }

    fn smooth(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        self.sweep(level, sweeps, (Start::Current, After::Nothing), u, f, f)
    }

    fn restrict_defect(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>, coarse: &mut Vector<T>) -> Result<()> {
        self.sweep(level, NONE, (Start::Current, After::Restricted), u, f, coarse)
    }

    fn interpolate_add(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        self.sweep(level, NONE, (Start::Corrected, After::Nothing), u, coarse, coarse)
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
        let start = Start::zero_if(zero);
        self.sweep(level, sweeps, (start, After::Restricted), u, f, coarse)
    }

    fn ascend(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: Sweeps,
    ) -> Result<()> {
        self.sweep(level, sweeps, (Start::Corrected, After::Nothing), u, f, coarse)
    }

    fn ascend_norm(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: Sweeps,
    ) -> Result<Norms> {
        let bands = self.pass(level, sweeps.count).bands;
        let partials = self.levels.context.partials(bands, |partial| {
            self.sweep(level, sweeps, (Start::Corrected, After::Summed(partial)), u, f, coarse)
        })?;
        let squares = launch::total::<T>(&partials);
        // Squares out of range are rare enough to be summed in a pass of their own.
        let defect =
            if launch::in_range::<T>(squares) { squares.sqrt() } else { self.levels.defect_norm(level, u, f)? };
        Ok(Norms { defect, size: None })
    }

    fn refine(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        let (context, n, rows) = (&self.levels.context, self.levels.sides[level], self.levels.rows[level]);
        let range = Range::d1(self.pass(level, 0).bands, 1);
        let [u, work] = [u.buffer(), &self.copies].map(Out::shared);
        let program = grid2_cubic::Bands::<T>::new();
        program.interpolate_cubic(context, range, n, rows.count, rows.skip, coarse.buffer(), u, work)
    }
}
