//! The components as kernels for processors: a band of rows per item, all of a visit in one pass.

use super::components::{Components, Norms, Sweeps};
use super::launch::{self, Term};
use super::params::Smoother;
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

/// What happens to a row before its relaxations; numbered as in the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Given = 0,
    FromZero = 1,
    Corrected = 2,
}

/// What happens after them.
#[derive(Debug, Clone, Copy)]
enum After {
    Nothing,
    Restricted,
    /// The place for the sums of the bands.
    Summed(Arg),
}

/// Kernels with a band of rows per item.
pub(super) struct Processor<T: Real> {
    context: Context,
    sides: Vec<usize>,
    shift: T,
    /// 0 for red-black, as in the kernels.
    omega: T,
    copies: Buffer<T>,
}

impl<T: Real> Processor<T> {
    /// Memory for visits of up to `sweeps` sweeps.
    pub(super) fn new(
        context: &Context,
        sides: &[usize],
        shift: f64,
        smoother: Smoother,
        omega: f64,
        sweeps: usize,
    ) -> Result<Processor<T>> {
        context.require::<T>()?;
        let omega = if smoother == Smoother::RedBlack { 0.0 } else { omega };
        let copies = Buffer::uninit(context, 0)?;
        let mut made = Processor {
            context: context.clone(),
            sides: sides.to_vec(),
            shift: T::of(shift),
            omega: T::of(omega),
            copies,
        };
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

    /// One pass over a level; `other` is the coarse grid that it reads or writes.
    fn sweep(
        &self,
        level: usize,
        sweeps: Sweeps,
        (start, after): (Start, After),
        u: &Vector<T>,
        f: &Vector<T>,
        other: &Vector<T>,
    ) -> Result<()> {
        let n = self.sides[level];
        let pass = self.pass(level, sweeps.count);
        let (after, partial) = match after {
            After::Nothing => (0, self.copies.arg()),
            After::Restricted => (1, self.copies.arg()),
            After::Summed(partial) => (2, partial),
        };
        if start != Start::FromZero && pass.bands > 1 {
            self.save_halo(n, pass, u)?;
        }
        let args = [
            Arg::size(n),
            Arg::U32(start as u32),
            Arg::U32(after),
            Arg::U32(pass.stages as u32),
            Arg::U32(sweeps.order.colours()[0]),
            Arg::U32(pass.depth as u32),
            Arg::size(pass.stride),
            launch::weight(n, self.shift).arg().0,
            launch::h2::<T>(n).arg().0,
            launch::inverse_h2::<T>(n).arg().0,
            self.shift.arg().0,
            self.omega.arg().0,
            f.buffer().arg(),
            u.buffer().arg(),
            other.buffer().arg(),
            self.copies.arg(),
            partial,
        ];
        launch::enqueue::<T>(&self.context, "sweep_cpu", Range::d1(pass.bands, 1), &args)
    }

    /// Relaxations of `u`, of the finest side, where it lies.
    pub(super) fn smooth(&self, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        self.sweep(0, sweeps, (Start::Given, After::Nothing), u, f, f)
    }

    /// Copies the halos of all bands while they are still old.
    fn save_halo(&self, n: usize, pass: Pass, u: &Vector<T>) -> Result<()> {
        let args =
            [Arg::size(n), Arg::U32(pass.depth as u32), Arg::size(pass.stride), u.buffer().arg(), self.copies.arg()];
        launch::enqueue::<T>(&self.context, "save_halo_cpu", Range::d1(pass.bands, 1), &args)
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
        sweeps: Sweeps,
        coarse: &mut Vector<T>,
    ) -> Result<()> {
        let start = if zero { Start::FromZero } else { Start::Given };
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
        let partials: Vec<T> = self.context.partials(bands, |partial| {
            self.sweep(level, sweeps, (Start::Corrected, After::Summed(partial)), u, f, coarse)
        })?;
        let squares = launch::total(&partials);
        // Squares out of range are rare enough to be summed in a pass of their own.
        let defect = if launch::in_range::<T>(squares) { squares.sqrt() } else { self.defect_norm(level, u, f)? };
        Ok(Norms { defect, size: None })
    }

    fn solve_coarsest(&mut self, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<()> {
        if zero {
            u.fill(T::zero())?;
        }
        launch::half_sweep(3, self.shift, 0, f, u)
    }

    fn defect_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        launch::norm(Term::Defect, self.sides[level], self.shift, u, f)
    }

    fn source_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        launch::norm(Term::Source, self.sides[level], self.shift, u, f)
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
        launch::enqueue::<T>(&self.context, "interpolate_cubic_cpu", bands, &args)
    }
}
