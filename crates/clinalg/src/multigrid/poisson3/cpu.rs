//! 3-D grids on a CPU: a slab of planes or a run of rows per item.

use super::{Levels, Relaxed};
use crate::multigrid::cycle::{Components, Sweeps};
use crate::multigrid::launch::Rows;
use crate::multigrid::params::Smoother;
use crate::runtime::kernels::grid3_sweep::Slabs;
use crate::runtime::{Out, Range};
use crate::{Buffer, Context, Real, Result, Vector};

/// Kernels for CPUs: a slab of planes or a run of rows per item.
pub(crate) struct Poisson3Cpu<T: Real> {
    levels: Levels<T>,
    /// Defects that wait for their restriction, `stride` values a slab.
    work: Buffer<T>,
}

/// Slabs per compute unit: their outer planes cost a pass of their own.
const SLABS_PER_UNIT: usize = 2;

impl<T: Real> Poisson3Cpu<T> {
    pub(crate) fn new(
        context: &Context,
        sides: &[usize],
        shift: f64,
        smoother: Smoother,
        omega: f64,
    ) -> Result<Poisson3Cpu<T>> {
        let rows = sides.iter().map(|&n| Rows::all(n)).collect();
        Poisson3Cpu::slabs(context, sides, rows, Relaxed { shift, smoother, omega })
    }

    /// The same on slabs of cubes, see [`Levels::slabs`].
    pub(crate) fn slabs(context: &Context, sides: &[usize], rows: Vec<Rows>, how: Relaxed) -> Result<Poisson3Cpu<T>> {
        let levels = Levels::slabs(context, sides, rows, how, true)?;
        let most = match sides.get(1) {
            Some(&m) => slabs(context, levels.rows[0].coarse() - 2) * stride(m),
            None => 0,
        };
        Ok(Poisson3Cpu { levels, work: Buffer::zeroed(context, most)? })
    }
}

/// Into how many slabs `planes` are cut.
fn slabs(context: &Context, planes: usize) -> usize {
    planes.min((context.device().compute_units as usize).max(1) * SLABS_PER_UNIT)
}

/// Values that a slab of a coarse grid of `m` points per side keeps: 3 rows of the fine grid, 3 planes of its own.
fn stride(m: usize) -> usize {
    3 * (2 * m - 1) + 3 * m * m
}

impl<T: Real> Components for Poisson3Cpu<T> {
    type Grid = Vector<T>;
    type Hierarchy = Levels<T>;

    fn hierarchy(&self) -> &Levels<T> {
        &self.levels
    }

    fn hierarchy_mut(&mut self) -> &mut Levels<T> {
        &mut self.levels
    }

    fn smooth(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        for _ in 0..sweeps.count {
            if self.levels.omega != T::zero() {
                self.levels.jacobi(level, u, f)?;
                continue;
            }
            let (levels, colour) = (&self.levels, sweeps.order.colours()[0]);
            let (n, weight, h2) = (levels.sides[level], levels.weight(level), levels.h2(level));
            let height = levels.rows[level].count;
            let (range, u) = (Range::d1(slabs(&levels.context, height - 2), 1), Out::shared(u.buffer()));
            for edges in [0, 1] {
                Slabs::new().sweep(&levels.context, range, n, height, edges, colour, weight, h2, f.buffer(), u)?;
            }
        }
        Ok(())
    }

    fn restrict_defect(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>, coarse: &mut Vector<T>) -> Result<()> {
        let Levels { context, sides, rows, shift, .. } = &self.levels;
        let (m, inverse_h2) = (sides[level + 1], self.levels.inverse_h2(level));
        let (height, skip) = (rows[level].coarse(), rows[level].skip);
        let range = Range::d1(slabs(context, height - 2), 1);
        let [u, f, coarse] = [u, f, coarse].map(Vector::buffer);
        let [coarse, work] = [coarse, &self.work].map(Out::shared);
        Slabs::new().restrict_defect(context, range, m, height, skip, stride(m), inverse_h2, *shift, u, f, coarse, work)
    }

    fn interpolate_add(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        self.levels.interpolate_add(level, coarse, u)
    }

    fn refine(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        self.levels.refine(level, coarse, u)
    }
}
