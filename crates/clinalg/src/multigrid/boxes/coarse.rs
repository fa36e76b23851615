//! All coarse levels of a cycle in one launch, on GPUs.

use super::device::{Lines, Transfer};
use super::levels::{Level, Part};
use crate::matrix::Values;
use crate::multigrid::cycle::{Order, Plan};
use crate::runtime::kernels::boxes_cycle;
use crate::runtime::{Out, Range};
use crate::tune;
use crate::{Buffer, Context, Dense, Real, Result, Vector};

/// Levels with at most so many unknowns are handled by one work-group (NVIDIA H200: at 65 points per side passes over strips are faster).
const MOST: usize = 1 << 11;
/// Items of the group, where the device has as many.
const ITEMS: usize = 512;

/// The coarse levels of a box.
pub(super) struct Coarse<T: Real> {
    context: Context,
    /// The finest of these levels.
    first: usize,
    dim: u64,
    items: usize,
    /// Unknowns of the coarsest level.
    last: u32,
    levels: Buffer<u32>,
    omegas: Buffer<T>,
    lines: Buffer<T>,
    from: Buffer<u32>,
    weights: Buffer<T>,
    to: Buffer<u32>,
    parts: Buffer<T>,
    values: Buffer<T>,
    residuals: Buffer<T>,
    /// What the cycle from each level does, from a given value and from 0.
    lists: Vec<[(Buffer<u32>, u32); 2]>,
}

/// A step of a list, numbered as in the kernel.
#[derive(Debug, Clone, Copy)]
enum Step {
    Clear = 0,
    Relax = 1,
    Residual = 2,
    Restrict = 3,
    Correct = 4,
    Solve = 5,
}

impl<T: Real> Coarse<T> {
    /// For cycles by `plan`.
    pub(super) fn new(context: &Context, levels: &[Level], plan: &Plan) -> Result<Coarse<T>> {
        let first = levels.iter().position(|level| level.unknowns() <= MOST).unwrap_or(levels.len() - 1);
        let own = &levels[first..];
        let (mut numbers, mut lines, mut values) = (Vec::new(), Vec::<T>::new(), 0);
        let (mut from, mut weights, mut to, mut parts) = (Vec::new(), Vec::<T>::new(), Vec::new(), Vec::<T>::new());
        for level in own {
            let (counts, unknowns) = (level.counts(), level.unknowns());
            let tables = Transfer::<T>::tables(&level.interpolations);
            let places = [lines.len(), from.len(), to.len(), values, values + unknowns];
            numbers.extend(counts.into_iter().chain(places).map(|number| number as u32));
            numbers.extend(tables.reach.into_iter().chain([0]));
            values += 2 * unknowns;
            lines.extend(Lines::<T>::factors(level));
            from.extend(tables.from);
            weights.extend(tables.weights);
            to.extend(tables.to);
            parts.extend(tables.transposed);
        }
        let relaxed: Vec<_> = own.iter().map(Level::parts).collect();
        let list = |level: usize, zero: bool| {
            let mut steps = Vec::new();
            cycle_steps(&relaxed, level, zero, plan, &mut steps);
            Ok((Buffer::from_slice(context, &steps.concat())?, steps.len() as u32))
        };
        let lists = (0..own.len()).map(|level| Ok([list(level, false)?, list(level, true)?])).collect::<Result<_>>()?;
        let omegas: Vec<_> = own.iter().map(|level| T::from_f64(level.omega)).collect();
        let [dim, last] = [own[0].axes.len(), own[own.len() - 1].unknowns()];
        let coarse = Coarse {
            context: context.clone(),
            first,
            dim: dim as u64,
            items: tune::local_size(context.device(), ITEMS, 0) as usize,
            last: last as u32,
            levels: Buffer::from_slice(context, &numbers)?,
            omegas: Buffer::from_slice(context, &omegas)?,
            lines: Buffer::from_slice(context, &lines)?,
            from: Buffer::from_slice(context, &from)?,
            weights: Buffer::from_slice(context, &weights)?,
            to: Buffer::from_slice(context, &to)?,
            parts: Buffer::from_slice(context, &parts)?,
            values: Buffer::zeroed(context, values)?,
            residuals: Buffer::zeroed(context, own[0].unknowns())?,
            lists,
        };
        context.prepare(&coarse.program().kernel(boxes_cycle::CYCLE_BOXES))?;
        Ok(coarse)
    }

    fn program(&self) -> boxes_cycle::Program<T> {
        boxes_cycle::Program::new().dim(self.dim).items(self.items as u64)
    }

    /// Whether the finest level is one of these.
    pub(super) fn is_all(&self) -> bool {
        self.first == 0
    }

    /// One cycle on u of `level` and all below it; from 0, whatever `u` holds, where `zero` is set. False, and nothing done, where the level is
    /// too large. `inverse` is that of the matrix of the coarsest level.
    pub(super) fn run(
        &self,
        level: usize,
        inverse: &Dense<T>,
        f: &Vector<T>,
        u: &Vector<T>,
        zero: bool,
    ) -> Result<bool> {
        let Some(own) = level.checked_sub(self.first) else { return Ok(false) };
        let (list, count) = &self.lists[own][usize::from(zero)];
        let [u, values, residuals] = [u.buffer(), &self.values, &self.residuals].map(Out::shared);
        self.program().cycle_boxes(
            &self.context,
            Range::d1(self.items, self.items),
            *count,
            self.last,
            list,
            &self.levels,
            &self.omegas,
            &self.lines,
            &self.from,
            &self.weights,
            &self.to,
            &self.parts,
            inverse.values(),
            f.buffer(),
            u,
            values,
            residuals,
        )?;
        Ok(true)
    }
}

/// The steps of one cycle on `level` and all below it, where each level is relaxed in these parts.
fn cycle_steps(relaxed: &[Vec<Part>], level: usize, zero: bool, plan: &Plan, steps: &mut Vec<[u32; 9]>) {
    let plain = |step: Step| [step as u32, level as u32, 0, 0, 0, 0, 0, 0, 0];
    if level + 1 == relaxed.len() {
        steps.push(plain(Step::Solve));
        return;
    }
    if zero {
        steps.push(plain(Step::Clear));
    }
    let relax = |count: usize, order: Order, steps: &mut Vec<[u32; 9]>| {
        let mut sweep: Vec<_> = relaxed[level].iter().flat_map(|part| [(part, 0), (part, 1)]).collect();
        if order == Order::BlackFirst {
            sweep.reverse();
        }
        let step = |(part, colour): &(&Part, u32)| {
            let [x, y, z] = part.map(|(first, end)| [first as u32, end as u32]);
            [Step::Relax as u32, level as u32, *colour, x[0], x[1], y[0], y[1], z[0], z[1]]
        };
        (0..count).for_each(|_| steps.extend(sweep.iter().map(step)));
    };
    relax(plan.pre.count, plan.pre.order, steps);
    steps.push(plain(Step::Residual));
    steps.push(plain(Step::Restrict));
    // The coarsest grid is solved exactly the first time.
    let visits = if level + 2 == relaxed.len() { 1 } else { plan.visits };
    (0..visits).for_each(|visit| cycle_steps(relaxed, level + 1, visit == 0, plan, steps));
    steps.push(plain(Step::Correct));
    relax(plan.post.count, plan.post.order, steps);
}
