//! On GPUs, all relaxations of a visit to a 2-D level in one pass (streaming tiles), for operators stored as couplings.

use super::stencil::{OnDevice, StencilLevel};
use crate::multigrid::cycle::{Order, Start, Sweeps};
use crate::runtime::kernels::boxes_stencil_strip;
use crate::runtime::{KernelFamily, Out, Range};
use crate::{Context, Real, Result, Vector};

/// Fewest unknowns of a level that is cut into strips. On smaller levels separate kernels are about as fast, since each
/// step of a strip waits for the one before (NVIDIA H200, two sweeps: on 1023^2 points with four neighbours strips take
/// 0.058 ms and separate kernels 0.060 ms, on 2047^2 points 0.165 and 0.206 ms).
const LEAST_UNKNOWNS: usize = 1 << 21;
/// Fewest rows of a band: shorter ones spend most of their time on halos.
const LEAST_ROWS: usize = 16;
/// Most sweeps of a pass: more would take more rows in local memory than they save passes.
const TOGETHER: usize = 2;

/// How passes over a level are launched.
pub(super) struct StencilStrips {
    context: Context,
    items: usize,
}

/// A pass, and what u is before it.
#[derive(Clone, Copy)]
struct Pass {
    start: Start,
    sweeps: usize,
    order: Order,
}

impl StencilStrips {
    /// `None` where a level is not cut into strips: on other devices, in three dimensions, where a periodic direction
    /// has an odd number of points, and where the level is small.
    pub(super) fn new<T: Real>(context: &Context, level: &StencilLevel<T>) -> Option<StencilStrips> {
        let large = level.operator.unknowns() >= LEAST_UNKNOWNS;
        (large && context.family() == KernelFamily::Gpu).then(|| StencilStrips::of_any(context, level)).flatten()
    }

    /// The same of small levels too.
    pub(super) fn of_any<T: Real>(
        context: &Context,
        StencilLevel { operator, .. }: &StencilLevel<T>,
    ) -> Option<StencilStrips> {
        if operator.dim() != 2 || !operator.wraps_evenly() {
            return None;
        }
        let items = if operator.is_full() { 64 } else { 128 };
        let most = Pass { start: Start::Current, sweeps: TOGETHER, order: Order::RedFirst };
        let bytes = most.rows(operator) * 2 * (items + 2) * size_of::<T>();
        let device = context.device();
        let fits = bytes as u64 <= device.local_mem && items <= device.max_work_group;
        fits.then(|| StencilStrips { context: context.clone(), items })
    }

    /// `sweeps`, at least one, of `u` from `start`; `spare` is another grid.
    pub(super) fn relax<T: Real>(
        &self,
        operator: &OnDevice<T>,
        (start, sweeps): (Start, Sweeps),
        u: &mut Vector<T>,
        f: &Vector<T>,
        spare: &mut Vector<T>,
    ) -> Result<()> {
        let mut start = start;
        for done in (0..sweeps.count).step_by(TOGETHER) {
            let pass = Pass { start, sweeps: TOGETHER.min(sweeps.count - done), order: sweeps.order };
            self.run(operator, pass, u, f, spare)?;
            std::mem::swap(u, spare);
            start = Start::Current;
        }
        Ok(())
    }

    fn run<T: Real>(
        &self,
        operator: &OnDevice<T>,
        pass: Pass,
        u: &Vector<T>,
        f: &Vector<T>,
        out: &Vector<T>,
    ) -> Result<()> {
        let ([nx, ny, _], halo) = (operator.counts(), pass.stages(operator));
        let strips = nx.div_ceil(2 * (self.items - halo));
        // Fastest on an NVIDIA H200, from 2047^2 to 8191^2 points.
        let groups = if operator.is_full() { 4 } else { 8 };
        let bands = (self.context.units() * groups).div_ceil(strips);
        let band = ny.div_ceil(bands).max(LEAST_ROWS).next_multiple_of(2);
        let range = Range::d2([strips * self.items, ny.div_ceil(band)], [self.items, 1]);
        let program = boxes_stencil_strip::Program::<T>::new()
            .full(operator.is_full().into())
            .sweeps(pass.sweeps as u64)
            .reversed((pass.order == Order::BlackFirst).into())
            .start(pass.start as u64)
            .items(self.items as u64);
        let out = Out::shared(out.buffer());
        let (wraps, couplings, mass) = (operator.wrap_bits(), operator.couplings(), operator.mass());
        let (f, u) = (f.buffer(), u.buffer());
        program.relax_strip(&self.context, range, nx, ny, wraps, band as u32, couplings, mass, f, u, out)
    }
}

impl Pass {
    /// Half-sweeps, or sweeps over a colour; as many columns or rows on either side a group works on for itself.
    fn stages<T: Real>(&self, operator: &OnDevice<T>) -> usize {
        self.sweeps * operator.colours().len()
    }

    /// Rows in local memory, as in the kernel.
    fn rows<T: Real>(&self, operator: &OnDevice<T>) -> usize {
        2 * self.stages(operator) + 2
    }
}
