//! The components of the cycles on boxes for GPUs: walks over strips and tiles, the coarse levels in one launch.

use super::coarse::Coarse;
use super::device::Boxes;
use super::levels::Level;
use super::strips::Strips;
use super::tiles::Tiles;
use crate::multigrid::cycle::{Components, Hierarchy, Plan, Start, Sweeps};
use crate::multigrid::passes::{Grids, InPasses, Pass, Passes};
use crate::{Context, Real, Result, Vector};

/// Cycles on boxes by kernels for GPUs.
pub(crate) type GpuBoxes<T> = Passes<T, Walks<T>>;

/// Kernels for GPUs.
pub(crate) struct Walks<T: Real> {
    boxes: Boxes<T>,
    levels: Vec<Level>,
    /// How each level is walked over, in two or three dimensions; `None` where separate kernels are used.
    strips: Vec<Option<Strips<T>>>,
    tiles: Vec<Option<Tiles<T>>>,
    /// What a walk writes on each level before it takes the place of u.
    spare: Vec<Vector<T>>,
    coarse: Option<Coarse<T>>,
}

impl<T: Real> GpuBoxes<T> {
    /// For the levels; `singular` where constants are in the null space.
    pub(super) fn new(context: &Context, levels: &[Level], singular: bool) -> Result<GpuBoxes<T>> {
        let flat = levels[0].axes.len() == 2;
        let strips = |level| if flat { Strips::new(context, level) } else { Ok(None) };
        let tiles = |level| if flat { Ok(None) } else { Tiles::new(context, level) };
        let strips = levels.iter().map(strips).collect::<Result<Vec<_>>>()?;
        let tiles = levels.iter().map(tiles).collect::<Result<Vec<_>>>()?;
        let spare = |(level, walked): (&Level, bool)| Vector::zeros(context, if walked { level.unknowns() } else { 0 });
        let walked = strips.iter().zip(&tiles).map(|(strips, tiles)| strips.is_some() || tiles.is_some());
        let spare = levels.iter().zip(walked).map(spare).collect::<Result<Vec<_>>>()?;
        let boxes = Boxes::new(context, levels, singular)?;
        Passes::over(Walks { boxes, levels: levels.to_vec(), strips, tiles, spare, coarse: None })
    }
}

impl<T: Real> Walks<T> {
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
        if let Some(tiles) = self.tiles[level].as_ref().filter(|_| sweeps.count > 0) {
            for sweep in 0..sweeps.count {
                let start = if sweep == 0 { start } else { Start::Current };
                tiles.sweep(start, sweeps.order, [u, f, coarse], &self.spare[level])?;
                std::mem::swap(u, &mut self.spare[level]);
            }
            return Ok(());
        }
        match start {
            Start::Current => {}
            Start::FromZero => self.boxes.clear(u)?,
            Start::Corrected => self.boxes.interpolate_add(level, coarse, u)?,
        }
        match self.has_passes(level) {
            true => self.relax(level, u, f, sweeps),
            false => self.boxes.smooth(level, u, f, sweeps),
        }
    }

    fn strips(&self, level: usize) -> &Strips<T> {
        self.strips[level].as_ref().expect("passes are made over levels that have strips")
    }
}

impl<T: Real> Components for Walks<T> {
    type Grid = Vector<T>;
    type Hierarchy = Boxes<T>;

    fn hierarchy(&self) -> &Boxes<T> {
        &self.boxes
    }

    fn hierarchy_mut(&mut self) -> &mut Boxes<T> {
        &mut self.boxes
    }

    fn smooth(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        self.smooth_from(level, Start::Current, sweeps, u, f, f)
    }

    fn smooth_from_zero(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        self.smooth_from(level, Start::FromZero, sweeps, u, f, f)
    }

    fn restrict_defect(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>, coarse: &mut Vector<T>) -> Result<()> {
        match &self.tiles[level] {
            Some(tiles) => tiles.restrict([u, f], coarse),
            None => self.boxes.restrict_defect(level, u, f, coarse),
        }
    }

    fn interpolate_add(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        self.boxes.interpolate_add(level, coarse, u)
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

    fn refine(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        self.boxes.refine(level, coarse, u)
    }
}

impl<T: Real> InPasses<T> for Walks<T> {
    fn context(&self) -> &Context {
        &self.boxes.context
    }

    fn has_passes(&self, level: usize) -> bool {
        self.strips[level].is_some()
    }

    fn spare(&self, level: usize) -> &Vector<T> {
        &self.spare[level]
    }

    fn spare_mut(&mut self, level: usize) -> &mut Vector<T> {
        &mut self.spare[level]
    }

    fn run(&self, level: usize, pass: Pass, grids: &Grids<'_, T>) -> Result<()> {
        self.strips(level).run(&pass, grids)
    }

    fn sums(&self, level: usize, pass: Pass) -> usize {
        self.strips(level).sums(&pass)
    }

    fn prepare(&self, level: usize, pass: Pass) -> Result<()> {
        self.strips(level).prepare(&pass)
    }

    fn prepare_others(&mut self, plan: &Plan) -> Result<bool> {
        let coarse = Coarse::new(&self.boxes.context, &self.levels, plan)?;
        let all = coarse.is_all();
        self.coarse = Some(coarse);
        Ok(all)
    }

    fn coarse_cycle(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<bool> {
        self.coarse.as_ref().map_or(Ok(false), |coarse| coarse.run(level, &self.boxes.inverse, f, u, zero))
    }
}
