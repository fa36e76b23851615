//! Launches of the kernels for GPUs that do all of a visit in one pass over memory, or all coarse levels at once.

use super::tuning::{self, Strip};
use crate::multigrid::cycle::Order;
use crate::multigrid::cycle::{Plan, Sweeps};
use crate::multigrid::launch::Rows;
use crate::multigrid::passes::{Grids, Pass};
use crate::multigrid::{launch, poisson2};
use crate::runtime::kernels::{grid2_cycle, grid2_jacobi, grid2_relax};
use crate::runtime::{Out, Range};
use crate::tune;
use crate::{Buffer, Context, Real, Result, Vector};

/// Most sweeps of Jacobi in a pass.
pub(crate) const JACOBI_TOGETHER: usize = 5;

impl Pass {
    fn strip<T: Real>(&self, context: &Context, (n, rows): (usize, Rows)) -> Strip {
        let halo = self.halo();
        Strip::new::<T>(context, tuning::operation(halo), [n, rows.count], halo)
    }

    fn program<T: Real>(&self, strip: Strip, (n, rows): (usize, Rows), shift: T) -> grid2_relax::Program<T> {
        let program = grid2_relax::Program::new();
        let program = if rows == Rows::all(n) { program } else { program.part(1) };
        program
            .stages(self.stages() as u64)
            .start(self.start as u64)
            .flip(self.sweeps.order.colours()[0].into())
            .summed(self.summed_stage())
            .restrict(self.restricted.into())
            .items(strip.items as u64)
            .ahead(strip.ahead as u64)
            .shifted((shift != T::zero()).into())
    }

    /// Values that the sums of a pass take.
    pub(crate) fn sums<T: Real>(&self, context: &Context, grid: (usize, Rows)) -> usize {
        2 * self.strip::<T>(context, grid).groups.iter().product::<usize>()
    }

    /// Builds the kernel.
    pub(crate) fn prepare<T: Real>(&self, context: &Context, grid: (usize, Rows), shift: T) -> Result<()> {
        context.prepare(&self.program(self.strip::<T>(context, grid), grid, shift).kernel(grid2_relax::RELAX_STRIP))
    }

    /// The pass over a grid of so many points per row and these rows.
    pub(crate) fn run<T: Real>(&self, grid: (usize, Rows), shift: T, grids: &Grids<'_, T>) -> Result<()> {
        let (context, (n, rows)) = (grids.u.context(), grid);
        let strip = self.strip::<T>(context, grid);
        let (sums, place) = grids.sums.unwrap_or((grids.u.buffer(), 0));
        let [out, coarse] = [grids.out, grids.coarse].map(|grid| Out::shared(grid.buffer()));
        self.program(strip, grid, shift).relax_strip(
            context,
            strip.range(),
            n,
            rows.count,
            rows.skip,
            rows.low as u32,
            rows.high as u32,
            strip.rows as u32,
            launch::h2(n),
            launch::inverse_h2(n),
            poisson2::weight(n, shift),
            shift * launch::h2(n),
            grids.f.buffer(),
            grids.u.buffer(),
            out,
            grids.correction.buffer(),
            coarse,
            place,
            Out::shared(sums),
        )
    }
}

/// Items of the group of [`Coarse`], where the device has as many.
const COARSE_ITEMS: usize = 512;
/// Bytes of local memory that its levels up to 33 points per side take in double precision.
const COARSE_BYTES: u64 = 31_768;

/// The highest level that [`Coarse`] keeps in local memory and the items of its group.
fn coarse_group(context: &Context) -> (usize, usize) {
    let info = context.device();
    let top = if info.local_mem >= COARSE_BYTES { 5 } else { 4 };
    (top, tune::local_size(info, COARSE_ITEMS, 0) as usize)
}

/// So many sweeps of Jacobi over a grid, and how it is cut up.
fn jacobi_program<T: Real>(
    context: &Context,
    (n, rows): (usize, Rows),
    sweeps: usize,
) -> (grid2_jacobi::Program<T>, Strip) {
    let strip = Strip::new::<T>(context, &tuning::JACOBI, [n, rows.count], sweeps.next_multiple_of(2));
    let program = grid2_jacobi::Program::new().jacobi(sweeps as u64);
    let program = if rows == Rows::all(n) { program } else { program.part(1) };
    (program.items(strip.items as u64).ahead(strip.ahead as u64), strip)
}

/// Builds the kernel of [`jacobi`].
pub(crate) fn prepare_jacobi<T: Real>(context: &Context, grid: (usize, Rows), sweeps: usize) -> Result<()> {
    let (program, _) = jacobi_program::<T>(context, grid, sweeps);
    context.prepare(&program.kernel(grid2_jacobi::JACOBI_STRIP))
}

/// `out` = up to [`JACOBI_TOGETHER`] sweeps of weighted Jacobi over `u`.
pub(crate) fn jacobi<T: Real>(
    (n, part): (usize, Rows),
    sweeps: usize,
    shift: T,
    omega: T,
    u: &Vector<T>,
    f: &Vector<T>,
    out: &Vector<T>,
) -> Result<()> {
    let context = u.context();
    let (program, strip) = jacobi_program::<T>(context, (n, part), sweeps);
    let (weight, h2, rows) = (poisson2::weight(n, shift), launch::h2(n), strip.rows as u32);
    let [f, u, out] = [f, u, out].map(Vector::buffer);
    program.jacobi_strip(context, strip.range(), n, part.count, rows, weight, h2, omega, f, u, Out::shared(out))
}

/// All coarse levels of a cycle in one work-group; level k has 2^k + 1 points per side.
pub(crate) struct Coarse<T: Real> {
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
    pub(crate) fn new(context: &Context, levels: usize, shift: T, plan: &Plan) -> Result<Coarse<T>> {
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
        let of_level = |level| [poisson2::weight(side(level), shift), shift * launch::h2::<T>(side(level))];
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
        context.prepare(&coarse.program().kernel(grid2_cycle::CYCLE_GROUP))?;
        Ok(coarse)
    }

    fn program(&self) -> grid2_cycle::Program<T> {
        grid2_cycle::Program::new().top(self.top as u64).items(self.items as u64)
    }

    /// Whether a cycle from side `n` on is one launch.
    pub(crate) fn reaches(&self, n: usize) -> bool {
        (n - 1).ilog2() as usize <= self.lists.len()
    }

    /// One cycle on u of side `n` and all below it; from 0, whatever `u` holds, where `zero` is set. False, and nothing
    /// done, where the side is too large.
    pub(crate) fn run(&self, n: usize, f: &Vector<T>, u: &Vector<T>, zero: bool) -> Result<bool> {
        let level = (n - 1).ilog2() as usize;
        let Some((list, count)) = self.lists.get(level - 1).map(|lists| &lists[usize::from(zero)]) else {
            return Ok(false);
        };
        let [u, above] = [u.buffer(), &self.above].map(Out::shared);
        let (range, level, given, count) =
            (Range::d1(self.items, self.items), level as u32, u32::from(!zero), *count as u32);
        let (program, weights) = (self.program(), &self.weights);
        program.cycle_group(
            &self.context,
            range,
            level,
            given,
            count,
            list,
            self.sweeps,
            weights,
            f.buffer(),
            u,
            above,
        )?;
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
