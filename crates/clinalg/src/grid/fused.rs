//! Launches of the kernels for GPUs that do all of a visit in one pass over memory, or all coarse levels at once.

use super::components::{Plan, Sweeps};
use super::launch;
use super::strips::{self, Strip};
use crate::reference::grid2::Order;
use crate::runtime::{Arg, Kernel, Range, files};
use crate::tune::{self, Op};
use crate::{Buffer, Context, Real, Result, Vector};

/// Most sweeps of red-black in a pass without a correction or restriction: more rows at hand take more registers.
pub(super) const TOGETHER: usize = 2;
/// Most sweeps of red-black in a pass from one cycle's correction to the next one's restriction.
pub(super) const TURN: usize = 3;
/// Most sweeps of Jacobi in a pass.
pub(super) const JACOBI_TOGETHER: usize = 5;

/// What u is before the first sweep; numbered as in the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    Given = 0,
    FromZero = 1,
    Corrected = 2,
}

/// What a pass over a level does.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pass {
    pub(super) start: Start,
    pub(super) sweeps: Sweeps,
    /// After how many sweeps squares are summed.
    pub(super) summed: Option<usize>,
    pub(super) restricted: bool,
}

/// The grids that a pass works on; those it has no use for are not touched.
pub(super) struct Grids<'a, T: Real> {
    pub(super) f: &'a Vector<T>,
    pub(super) u: &'a Vector<T>,
    /// Another one than `u`, but for [`Start::FromZero`].
    pub(super) out: &'a Vector<T>,
    pub(super) correction: &'a Vector<T>,
    pub(super) coarse: &'a Vector<T>,
    /// Where the sums go, and from which value on.
    pub(super) sums: Option<(&'a Buffer<T>, usize)>,
}

impl Pass {
    pub(super) fn smoothing(sweeps: Sweeps) -> Pass {
        Pass { start: Start::Given, sweeps, summed: None, restricted: false }
    }

    fn stages(&self) -> usize {
        2 * self.sweeps.count
    }

    /// Columns and rows on either side that a group works on for itself.
    fn halo(&self) -> usize {
        let after = self.restricted || self.summed == Some(self.sweeps.count);
        self.stages() + 2 * usize::from(after)
    }

    fn strip<T: Real>(&self, context: &Context, n: usize) -> Strip {
        let halo = self.halo();
        Strip::new::<T>(context, strips::operation(halo), n, halo)
    }

    fn kernel<T: Real>(&self, strip: Strip, shift: T) -> Kernel {
        Kernel::new(&files::GRID2_GPU, "relax_strip_gpu", T::PRECISION).with(&[
            ("STAGES", self.stages() as u64),
            ("START", self.start as u64),
            ("FLIP", self.sweeps.order.colours()[0].into()),
            ("SUMMED", self.summed.map_or(NEVER, |sweeps| 2 * sweeps as u64)),
            ("RESTRICT", u64::from(self.restricted)),
            ("ITEMS", strip.items as u64),
            ("AHEAD", strip.ahead as u64),
            ("SHIFTED", u64::from(shift != T::zero())),
        ])
    }

    /// Values that the sums of a pass take.
    pub(super) fn sums<T: Real>(&self, context: &Context, n: usize) -> usize {
        2 * self.strip::<T>(context, n).groups.iter().product::<usize>()
    }

    /// Builds the kernel.
    pub(super) fn prepare<T: Real>(&self, context: &Context, n: usize, shift: T) -> Result<()> {
        context.prepare(&self.kernel(self.strip::<T>(context, n), shift))
    }

    pub(super) fn run<T: Real>(&self, n: usize, shift: T, grids: &Grids<'_, T>) -> Result<()> {
        let context = grids.u.context();
        let strip = self.strip::<T>(context, n);
        let [strips, bands] = strip.groups;
        let (partial, place) = grids.sums.map_or((grids.u.buffer().arg(), 0), |(sums, place)| (sums.arg(), place));
        let args = [
            Arg::size(n),
            Arg::U32(strip.rows as u32),
            launch::h2::<T>(n).arg().0,
            launch::inverse_h2::<T>(n).arg().0,
            launch::weight(n, shift).arg().0,
            (shift * launch::h2::<T>(n)).arg().0,
            grids.f.buffer().arg(),
            grids.u.buffer().arg(),
            grids.out.buffer().arg(),
            grids.correction.buffer().arg(),
            grids.coarse.buffer().arg(),
            Arg::size(place),
            partial,
        ];
        context.run(&self.kernel(strip, shift), Range::d2([strips * strip.items, bands], [strip.items, 1]), &args)
    }
}

/// Stands for no sums in the kernel.
const NEVER: u64 = 255;

/// Items of the group of [`Coarse`], where the device has as many.
const COARSE_ITEMS: usize = 512;
/// Bytes of local memory that its levels up to 33 points a side take in double precision.
const COARSE_BYTES: u64 = 31_768;

/// The highest level that [`Coarse`] keeps in local memory and the items of its group.
fn coarse_group(context: &Context) -> (usize, usize) {
    let info = context.device();
    let top = if info.local_mem >= COARSE_BYTES { 5 } else { 4 };
    (top, tune::local_size(info, COARSE_ITEMS, 0) as usize)
}

/// The kernel of so many sweeps of Jacobi over `n` by `n` points, and how the grid is cut up.
fn jacobi_kernel<T: Real>(context: &Context, n: usize, sweeps: usize) -> (Kernel, Strip) {
    let strip = Strip::new::<T>(context, Op::JacobiSweeps, n, sweeps.next_multiple_of(2));
    let kernel = Kernel::new(&files::GRID2_GPU, "jacobi_strip_gpu", T::PRECISION).with(&[
        ("JACOBI", sweeps as u64),
        ("ITEMS", strip.items as u64),
        ("AHEAD", strip.ahead as u64),
    ]);
    (kernel, strip)
}

/// Builds the kernel of [`jacobi`].
pub(super) fn prepare_jacobi<T: Real>(context: &Context, n: usize, sweeps: usize) -> Result<()> {
    context.prepare(&jacobi_kernel::<T>(context, n, sweeps).0)
}

/// `out` = up to [`JACOBI_TOGETHER`] sweeps of weighted Jacobi over `u`.
pub(super) fn jacobi<T: Real>(
    n: usize,
    sweeps: usize,
    shift: T,
    omega: T,
    u: &Vector<T>,
    f: &Vector<T>,
    out: &Vector<T>,
) -> Result<()> {
    let context = u.context();
    let (kernel, strip) = jacobi_kernel::<T>(context, n, sweeps);
    let [strips, bands] = strip.groups;
    let args = [
        Arg::size(n),
        Arg::U32(strip.rows as u32),
        launch::weight(n, shift).arg().0,
        launch::h2::<T>(n).arg().0,
        omega.arg().0,
        f.buffer().arg(),
        u.buffer().arg(),
        out.buffer().arg(),
    ];
    context.run(&kernel, Range::d2([strips * strip.items, bands], [strip.items, 1]), &args)
}

/// All coarse levels of a cycle in one work-group; level k has 2^k + 1 points a side.
pub(super) struct Coarse<T: Real> {
    context: Context,
    /// The highest level in local memory; there may be one above.
    top: usize,
    items: usize,
    /// Sweeps before and after the correction and the colours they begin with, a byte each.
    sweeps: u32,
    /// The weight and the shift times h^2 of each level from 1 on.
    weights: Buffer<T>,
    /// Defects of the level above `top`.
    above: Buffer<T>,
    /// What the cycle from each level does, from a given value and from 0.
    lists: Vec<[(Buffer<u32>, usize); 2]>,
}

impl<T: Real> Coarse<T> {
    /// For cycles by `plan` on at most `levels` levels.
    pub(super) fn new(context: &Context, levels: usize, shift: T, plan: &Plan) -> Result<Coarse<T>> {
        let (top, items) = coarse_group(context);
        let list = |level, zero| {
            let mut steps = Vec::new();
            cycle_steps(level, zero, plan, &mut steps);
            Ok((Buffer::from_slice(context, &steps)?, steps.len()))
        };
        let lists = (1..=levels.min(top + 1))
            .map(|level| Ok([list(level, false)?, list(level, true)?]))
            .collect::<Result<_>>()?;
        let side = |level: usize| (1 << level) + 1;
        let of_level = |level| [launch::weight(side(level), shift), shift * launch::h2::<T>(side(level))];
        let weights: Vec<T> = (1..=top + 1).flat_map(of_level).collect();
        let part = |sweeps: Sweeps| sweeps.count as u32 | sweeps.order.colours()[0] << 16;
        let coarse = Coarse {
            context: context.clone(),
            top,
            items,
            sweeps: part(plan.pre) | part(plan.post) << 8,
            weights: Buffer::from_slice(context, &weights)?,
            above: Buffer::uninit(context, (side(top + 1) - 2_usize).pow(2))?,
            lists,
        };
        context.prepare(&coarse.kernel())?;
        Ok(coarse)
    }

    fn kernel(&self) -> Kernel {
        Kernel::new(&files::GRID2_GPU, "cycle_group_gpu", T::PRECISION)
            .with(&[("TOP", self.top as u64), ("ITEMS", self.items as u64)])
    }

    /// Whether a cycle from side `n` on is one launch.
    pub(super) fn reaches(&self, n: usize) -> bool {
        (n - 1).ilog2() as usize <= self.lists.len()
    }

    /// One cycle on u of side `n` and all below it; from 0, whatever `u` holds, where `zero` is set. False, and nothing
    /// done, where the side is too large.
    pub(super) fn run(&self, n: usize, f: &Vector<T>, u: &Vector<T>, zero: bool) -> Result<bool> {
        let level = (n - 1).ilog2() as usize;
        let Some((list, count)) = self.lists.get(level - 1).map(|lists| &lists[usize::from(zero)]) else {
            return Ok(false);
        };
        let args = [
            Arg::U32(level as u32),
            Arg::U32(u32::from(!zero)),
            Arg::U32(*count as u32),
            list.arg(),
            Arg::U32(self.sweeps),
            self.weights.arg(),
            f.buffer().arg(),
            u.buffer().arg(),
            self.above.arg(),
        ];
        self.context.run(&self.kernel(), Range::d1(self.items, self.items), &args)?;
        Ok(true)
    }
}

/// A step of a list, numbered as in the kernel.
#[derive(Debug, Clone, Copy)]
enum Step {
    Clear = 0,
    RelaxZero = 1,
    Relax = 2,
    Measure = 3,
    Coarsen = 4,
    Correct = 5,
    Cycle2 = 6,
}

impl Step {
    fn of(self, level: usize, colour: u32) -> u32 {
        self as u32 | (level as u32) << 8 | colour << 16
    }
}

/// The steps of one cycle on `level` and all below it.
fn cycle_steps(level: usize, zero: bool, plan: &Plan, steps: &mut Vec<u32>) {
    let colour = |order: Order, stage: usize| order.colours()[stage % 2];
    if level == 1 {
        steps.push(if zero { Step::RelaxZero } else { Step::Relax }.of(1, 0));
        return;
    }
    if zero && plan.pre.count == 0 {
        steps.push(Step::Clear.of(level, 0));
    }
    for stage in 0..2 * plan.pre.count {
        let step = if zero && stage == 0 { Step::RelaxZero } else { Step::Relax };
        steps.push(step.of(level, colour(plan.pre.order, stage)));
    }
    steps.push(Step::Measure.of(level, 0));
    steps.push(Step::Coarsen.of(level - 1, 0));
    // The coarsest grid is solved exactly the first time.
    let visits = if level == 2 { 1 } else { plan.visits };
    for visit in 0..visits {
        if level == 3 {
            steps.push(Step::Cycle2.of(2, u32::from(visit == 0)));
        } else {
            cycle_steps(level - 1, visit == 0, plan, steps);
        }
    }
    steps.push(Step::Correct.of(level, 0));
    for stage in 0..2 * plan.post.count {
        steps.push(Step::Relax.of(level, colour(plan.post.order, stage)));
    }
}
