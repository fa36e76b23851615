//! Sweeps by tiles over a level of three dimensions, on GPUs.

use super::levels::Level;
use super::tables::Tables;
use crate::multigrid::cycle::{Order, Start};
use crate::runtime::kernels::boxes_tile;
use crate::runtime::{Out, Range};
use crate::{Context, Real, Result, Vector};

/// Points of a tile along a row, and width of its rim on both sides together, in sweeps and in restrictions, as in the kernels.
const COLUMNS: usize = 32;
const RIMS: [usize; 2] = [4, 5];
/// Work-groups per compute unit that keep a GPU busy; with fewer tiles, the box is also split along z.
const GROUPS_PER_UNIT: usize = 4;
/// Fewest and most planes of a part.
const PLANES: [usize; 2] = [4, 128];

/// How sweeps over a level are launched.
pub(super) struct Tiles<T: Real> {
    context: Context,
    tables: Tables<T>,
    omega: T,
}

impl<T: Real> Tiles<T> {
    /// For a level with a coarser one; `None` where tiles do not fit.
    pub(super) fn new(context: &Context, level: &Level) -> Result<Option<Tiles<T>>> {
        let tables = Tables::new(context, level)?;
        Ok(tables.map(|tables| Tiles { context: context.clone(), tables, omega: T::from_f64(level.omega) }))
    }

    /// Tiles across, planes of a part, and the range of a walk; `rims` is how much of a tile belongs to those beside it.
    fn walk(&self, rims: usize) -> (u32, u32, Range) {
        let (context, [nx, ny, nz]) = (&self.context, self.tables.counts);
        let local = context.local();
        let lines = local / COLUMNS;
        let rows = if local >= 256 { 2 } else { 512 / local };
        let tiles = [nx.div_ceil(COLUMNS - rims), ny.div_ceil(lines * rows - rims)];
        let parts = (context.units() * GROUPS_PER_UNIT).div_ceil(tiles[0] * tiles[1]);
        let planes = nz.div_ceil(parts).clamp(PLANES[0], PLANES[1]);
        let range = Range::d2([tiles[0] * COLUMNS, tiles[1] * nz.div_ceil(planes) * lines], [COLUMNS, lines]);
        (tiles[1] as u32, planes as u32, range)
    }

    /// `out` = a sweep of red-black over `u`.
    pub(super) fn sweep(
        &self,
        start: Start,
        order: Order,
        [u, f, coarse]: [&Vector<T>; 3],
        out: &Vector<T>,
    ) -> Result<()> {
        let (tiles, planes, range) = self.walk(RIMS[0]);
        let Tables { counts: [nx, ny, nz], coarse: [mx, my, mz], periodic, reals, places } = &self.tables;
        let (colour, out) = (order.colours()[0], Out::shared(out.buffer()));
        let [f, u, coarse] = [f, u, coarse].map(Vector::buffer);
        boxes_tile::Program::new().start(start as u64).sweep_tile(
            &self.context,
            range,
            *nx,
            *ny,
            *nz,
            *mx,
            *my,
            *mz,
            *periodic,
            tiles,
            planes,
            colour,
            self.omega,
            reals,
            places,
            f,
            u,
            coarse,
            out,
        )
    }

    /// `coarse` = the restricted residual of `u`.
    pub(super) fn restrict(&self, [u, f]: [&Vector<T>; 2], coarse: &Vector<T>) -> Result<()> {
        let (tiles, planes, range) = self.walk(RIMS[1]);
        let Tables { counts: [nx, ny, nz], coarse: [mx, my, mz], periodic, reals, places } = &self.tables;
        let ([f, u], coarse) = ([f, u].map(Vector::buffer), Out::shared(coarse.buffer()));
        boxes_tile::Program::new().restrict_tile(
            &self.context,
            range,
            *nx,
            *ny,
            *nz,
            *mx,
            *my,
            *mz,
            *periodic,
            tiles,
            planes,
            reals,
            places,
            f,
            u,
            coarse,
        )
    }
}
