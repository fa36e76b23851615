//! 3-D grids on a GPU: tiles of columns that walk up the planes.

use super::{Levels, Relaxed};
use crate::multigrid::cycle::{Components, Hierarchy, Norms, Order, Start, StartNorms, Sweeps};
use crate::multigrid::launch::{self, Rows};
use crate::multigrid::params::Smoother;
use crate::runtime::kernels::grid3_sweep;
use crate::runtime::{Out, Range};
use crate::{Context, Real, Result, Vector};

/// Points of a tile along a row and across, as in the kernel: 32 by `tile_height` columns less the rim.
const TILE_WIDTH: usize = 28;
/// Width of the rim of a tile.
const RIM: usize = 2;
/// Work-groups per compute unit that keep a GPU busy; fewer tiles walk up parts of the cube.
const GROUPS_PER_UNIT: usize = 4;
/// Most and fewest planes of a part (NVIDIA H200 at 513^3: 64 to 258 planes make no difference beyond 3 %).
const PLANES: [usize; 2] = [4, 128];

/// Kernels for GPUs: tiles of columns that walk up the planes, or an item per column or point.
pub(crate) struct Poisson3Gpu<T: Real> {
    levels: Levels<T>,
}

impl<T: Real> Poisson3Gpu<T> {
    pub(crate) fn new(
        context: &Context,
        sides: &[usize],
        shift: f64,
        smoother: Smoother,
        omega: f64,
    ) -> Result<Poisson3Gpu<T>> {
        let rows = sides.iter().map(|&n| Rows::all(n)).collect();
        Poisson3Gpu::slabs(context, sides, rows, Relaxed { shift, smoother, omega })
    }

    /// The same on slabs of cubes, see [`Levels::slabs`].
    pub(crate) fn slabs(context: &Context, sides: &[usize], rows: Vec<Rows>, how: Relaxed) -> Result<Poisson3Gpu<T>> {
        Ok(Poisson3Gpu { levels: Levels::slabs(context, sides, rows, how, false)? })
    }

    /// Tiles across, planes of a part, and the range of a walk over `height` planes with n points per side.
    fn walk(&self, n: usize, height: usize) -> (usize, usize, Range) {
        let context = &self.levels.context;
        let local = context.local();
        let (width, lines) = (TILE_WIDTH + 2 * RIM, local / (TILE_WIDTH + 2 * RIM));
        let rows = if local >= 256 { 2 } else { 512 / local };
        let tiles = [n.div_ceil(TILE_WIDTH), n.div_ceil(lines * rows - 2 * RIM)];
        let wanted = context.device().compute_units as usize * GROUPS_PER_UNIT;
        let parts = wanted.div_ceil(tiles[0] * tiles[1]);
        // Even, so that the three planes of a coarse one meet in one part.
        let planes = height.div_ceil(parts).next_multiple_of(2).clamp(PLANES[0], PLANES[1]);
        let range = Range::d2([tiles[0] * width, tiles[1] * height.div_ceil(planes) * lines], [width, lines]);
        (tiles[1], planes, range)
    }

    /// The norms of u, of the defect and of the source, in one pass.
    fn norms_on(&self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<StartNorms> {
        let levels = &self.levels;
        let sum = |partial: Out<'_, T>| levels.sum_squares_start(level, [u, f], partial);
        let partials = levels.context.partials(levels.start_sums(level), sum)?;
        Ok(launch::start_norms::<T>(launch::triple(&partials)))
    }

    /// A sweep of red-black; u and the spare grid change places.
    fn sweep(
        &mut self,
        level: usize,
        start: Start,
        order: Order,
        u: &mut Vector<T>,
        f: &Vector<T>,
        coarse: &Vector<T>,
    ) -> Result<()> {
        let levels = &self.levels;
        let (n, weight, h2) = (levels.sides[level], levels.weight(level), levels.h2(level));
        let Rows { count, skip, .. } = levels.rows[level];
        let (tiles, planes, range) = self.walk(n, count);
        let out = Out::shared(levels.spare[level].buffer());
        let [f, from, coarse] = [f, u, coarse].map(Vector::buffer);
        let (tiles, planes, colour) = (tiles as u32, planes as u32, order.colours()[0]);
        let program = grid3_sweep::Program::new().start(start as u64);
        program.sweep(
            &levels.context,
            range,
            n,
            count,
            skip,
            tiles,
            planes,
            colour,
            weight,
            h2,
            f,
            from,
            coarse,
            out,
        )?;
        std::mem::swap(u, &mut self.levels.spare[level]);
        Ok(())
    }

    /// Relaxations from `start`.
    fn smooth_from(
        &mut self,
        level: usize,
        start: Start,
        sweeps: Sweeps,
        u: &mut Vector<T>,
        f: &Vector<T>,
        coarse: &Vector<T>,
    ) -> Result<()> {
        let red_black = self.levels.omega == T::zero();
        if !red_black || sweeps.count == 0 {
            match start {
                Start::Current => {}
                Start::FromZero => u.fill(T::zero())?,
                Start::Corrected => self.levels.interpolate_add(level, coarse, u)?,
            }
        }
        for sweep in 0..sweeps.count {
            match red_black {
                true => {
                    let start = if sweep == 0 { start } else { Start::Current };
                    self.sweep(level, start, sweeps.order, u, f, coarse)?;
                }
                false => self.levels.jacobi(level, u, f)?,
            }
        }
        Ok(())
    }
}

impl<T: Real> Components for Poisson3Gpu<T> {
    type Grid = Vector<T>;
    type Hierarchy = Levels<T>;

    fn hierarchy(&self) -> &Levels<T> {
        &self.levels
    }

    fn hierarchy_mut(&mut self) -> &mut Levels<T> {
        &mut self.levels
    }

    fn smooth(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        self.smooth_from(level, Start::Current, sweeps, u, f, f)
    }

    fn smooth_from_zero(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        self.smooth_from(level, Start::FromZero, sweeps, u, f, f)
    }

    fn restrict_defect(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>, coarse: &mut Vector<T>) -> Result<()> {
        let Levels { context, sides, rows, shift, .. } = &self.levels;
        let (n, inverse_h2) = (sides[level], self.levels.inverse_h2(level));
        let Rows { count, skip, .. } = rows[level];
        let (tiles, planes, range) = self.walk(n, count);
        let (tiles, planes, coarse) = (tiles as u32, planes as u32, Out::shared(coarse.buffer()));
        let (program, f, u) = (grid3_sweep::Program::new(), f.buffer(), u.buffer());
        program.restrict_defect(context, range, n, count, skip, tiles, planes, inverse_h2, *shift, f, u, coarse)
    }

    fn interpolate_add(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        self.levels.interpolate_add(level, coarse, u)
    }

    fn ascend(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: Sweeps,
    ) -> Result<()> {
        self.smooth_from(level, Start::Corrected, sweeps, u, f, coarse)
    }

    fn ascend_norm(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: Sweeps,
    ) -> Result<Norms> {
        self.ascend(level, coarse, u, f, sweeps)?;
        let [size, defect, _] = self.norms_on(level, u, f)?;
        let size = size.filter(|size| launch::in_range::<T>(size * size));
        Ok(Norms { defect: defect.map_or_else(|| self.levels.defect_norm(level, u, f), Ok)?, size })
    }

    fn norms_of_start(&mut self, u: &Vector<T>, f: &Vector<T>) -> Result<StartNorms> {
        self.norms_on(0, u, f)
    }

    fn refine(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        self.levels.refine(level, coarse, u)
    }
}
