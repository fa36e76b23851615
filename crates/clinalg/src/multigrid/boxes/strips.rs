//! Passes over strips of a level of two dimensions, on GPUs.

use super::levels::Level;
use super::tables::Tables;
use crate::multigrid::passes::{Grids, Pass};
use crate::multigrid::poisson2::tuning::{self, Strip};
use crate::runtime::Out;
use crate::runtime::kernels::boxes_strip;
use crate::{Context, Real, Result};

/// Columns more on either side of a strip where residuals are restricted.
const RESTRICTED: usize = 2;

/// Groups that a compute unit runs at a time (NVIDIA H200: registers and local memory leave room for no more).
const GROUPS: usize = 4;

/// How passes over a level are launched.
pub(super) struct Strips<T: Real> {
    context: Context,
    tables: Tables<T>,
    omega: T,
}

impl<T: Real> Strips<T> {
    /// For a level with a coarser one; `None` where strips do not fit.
    pub(super) fn new(context: &Context, level: &Level) -> Result<Option<Strips<T>>> {
        let tables = Tables::new(context, level)?;
        Ok(tables.map(|tables| Strips { context: context.clone(), tables, omega: T::from_f64(level.omega) }))
    }

    fn cut(&self, pass: &Pass) -> Strip {
        let (context, halo, [nx, ny, _]) = (&self.context, pass.halo(), self.tables.counts);
        let side = halo + if pass.restricted { RESTRICTED } else { 0 };
        let fits = |items: usize| local_bytes::<T>(pass, items) <= context.device().local_mem as usize;
        Strip::within::<T>(context, tuning::operation(halo), [nx, ny], side, GROUPS, fits)
    }

    fn program(&self, pass: &Pass, strip: Strip) -> boxes_strip::Program<T> {
        boxes_strip::Program::new()
            .stages(pass.stages() as u64)
            .start(pass.start as u64)
            .flip(pass.sweeps.order.colours()[0].into())
            .summed(pass.summed_stage())
            .restrict(pass.restricted.into())
            .items(strip.items as u64)
    }

    /// Values that the sums of a pass take.
    pub(super) fn sums(&self, pass: &Pass) -> usize {
        2 * self.cut(pass).groups.iter().product::<usize>()
    }

    /// Builds the kernel of a pass.
    pub(super) fn prepare(&self, pass: &Pass) -> Result<()> {
        self.context.prepare(&self.program(pass, self.cut(pass)).kernel(boxes_strip::BOX_STRIP))
    }

    /// Enqueues a pass.
    pub(super) fn run(&self, pass: &Pass, grids: &Grids<'_, T>) -> Result<()> {
        let strip = self.cut(pass);
        let (sums, place) = grids.sums.unwrap_or((grids.u.buffer(), 0));
        let [out, coarse] = [grids.out, grids.coarse].map(|grid| Out::shared(grid.buffer()));
        let Tables { counts: [nx, ny, _], coarse: [mx, my, _], periodic, reals, places } = &self.tables;
        self.program(pass, strip).box_strip(
            &self.context,
            strip.range(),
            *nx,
            *ny,
            *mx,
            *my,
            *periodic,
            strip.rows as u32,
            self.omega,
            reals,
            places,
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

/// Local memory of a group, as in the kernel.
fn local_bytes<T: Real>(pass: &Pass, items: usize) -> usize {
    let (stages, restricted) = (pass.stages(), usize::from(pass.restricted));
    let kept = if stages <= 2 { 4 } else { 8 };
    let slots = stages + 1 + 2 * restricted;
    // Of columns: sources and weights, parts, factors, parts of coarse columns and of residuals around. What items show each other; rows.
    let reals = (4 * kept + 10 + 8 + 4 + 8 * restricted) * items + 2 * slots * (items + 2) + 4 + 16 * 8;
    reals * size_of::<T>() + (6 * items + 16 * 8) * size_of::<u32>()
}
