//! The components of cycles on strips: each does its work on every rank and then sends the neighbours what they need.

use super::layers::{Layers, Part};
use super::phases::Phase;
use super::strips::{Grid, Strips, strips_mut, strips_of};
use super::{Reduction, Team};
use crate::multigrid::cycle::{Components, FusedCycle, Hierarchy, Norms, Plan, StartNorms, Sweeps};
use crate::multigrid::launch::{in_range, start_norms};
use crate::runtime::{View, ViewMut};
use crate::{Context, Error, Real, Result, Vector};

impl<T: Real, L: Layers<T>> Strips<T, L> {
    /// Distributes the solution of a gathered level to the strips of all ranks.
    fn scatter(&mut self, coarse: &Grid<T>) -> Result<()> {
        let Grid::Whole(whole) = coarse else { return Ok(()) };
        let since = self.clock.start(&self.team)?;
        self.transfer.scatter(whole, &mut self.strips[0])?;
        self.clock.stop(&self.team, since, Phase::Scatter, self.gathered)
    }

    /// Runs `work` on each rank with its strip of the coarser solution.
    fn with_coarse(
        &mut self,
        level: usize,
        coarse: &Grid<T>,
        mut work: impl FnMut(&mut Part<T, L>, usize, &Vector<T>) -> Result<()>,
    ) -> Result<()> {
        self.scatter(coarse)?;
        let Strips { team, parts, strips: [own, _], clock, .. } = self;
        let coarse = if let Grid::Strips(coarse) = coarse { coarse } else { own };
        let since = clock.start(team)?;
        team.each(|k, _| work(&mut parts[k], k, &coarse[k]))?;
        clock.stop(team, since, Phase::Sweeps, level)
    }

    /// Runs `work` on each rank, which writes its strip of the coarser right-hand side, and starts to send what other ranks need of it.
    fn write_coarse(
        &mut self,
        level: usize,
        coarse: &mut Grid<T>,
        mut work: impl FnMut(&mut Part<T, L>, usize, &mut Vector<T>) -> Result<()>,
    ) -> Result<()> {
        let Strips { team, parts, strips: [_, own], clock, .. } = self;
        let written = if let Grid::Strips(coarse) = coarse { coarse } else { own };
        let since = clock.start(team)?;
        team.each(|k, _| work(&mut parts[k], k, &mut written[k]))?;
        clock.stop(team, since, Phase::Sweeps, level)?;
        self.send(level + 1, coarse)
    }

    /// Starts to read what other ranks need of a right-hand side.
    fn send(&mut self, level: usize, coarse: &Grid<T>) -> Result<()> {
        match coarse {
            Grid::Strips(coarse) => self.halos[level].borrow_mut().read(&views(coarse)),
            Grid::Whole(_) => self.transfer.begin_gather(&self.strips[1]),
        }
    }

    /// Completes what [`Strips::send`] began.
    fn receive(&mut self, level: usize, coarse: &mut Grid<T>) -> Result<()> {
        let since = self.clock.start(&self.team)?;
        let phase = match coarse {
            Grid::Strips(coarse) => {
                self.halos[level].borrow_mut().finish(&mut views_mut(coarse))?;
                Phase::Exchange
            }
            Grid::Whole(whole) => {
                self.transfer.end_gather(whole)?;
                Phase::Gather
            }
        };
        self.clock.stop(&self.team, since, phase, level)
    }

    /// Starts to exchange the halos of the finest solution in the background.
    fn begin_finest(&mut self, u: &[Vector<T>]) -> Result<()> {
        let since = self.clock.start(&self.team)?;
        self.finest.begin(&views(u))?;
        self.clock.stop(&self.team, since, Phase::Background, 0)
    }

    /// Completes what [`Strips::begin_finest`] began, if anything.
    fn end_finest(&mut self, u: &mut [Vector<T>]) -> Result<()> {
        let since = self.clock.start(&self.team)?;
        self.finest.end(&mut views_mut(u))?;
        self.clock.stop(&self.team, since, Phase::Background, 0)
    }

    /// A pass that ends a cycle on the finest level.
    fn end_cycle(
        &mut self,
        coarse: &Grid<T>,
        u: &mut Grid<T>,
        f: &Grid<T>,
        mut pass: impl FnMut(&mut Fused<'_, T>, &Vector<T>, &mut Vector<T>, &Vector<T>) -> Result<()>,
    ) -> Result<()> {
        let (u, f) = (strips_mut(u), strips_of(f));
        self.end_finest(u)?;
        self.with_coarse(0, coarse, |part, k, coarse| pass(fused_of(part)?, coarse, &mut u[k], &f[k]))
    }
}

type Fused<'a, T> = dyn FusedCycle<Grid = Vector<T>> + 'a;

fn views<T: Real>(strips: &[Vector<T>]) -> Vec<View<'_, T>> {
    strips.iter().map(Into::into).collect()
}

fn views_mut<T: Real>(strips: &mut [Vector<T>]) -> Vec<ViewMut<'_, T>> {
    strips.iter_mut().map(Into::into).collect()
}

/// The fused passes of a rank; an error if it has none.
fn fused_of<T: Real, L: Layers<T>>(part: &mut Part<T, L>) -> Result<&mut Fused<'_, T>> {
    part.fused().ok_or_else(|| Error::value("backend", "one with fused passes on every rank", "one without"))
}

impl<T: Real, L: Layers<T>> Components for Strips<T, L> {
    type Grid = Grid<T>;
    type Hierarchy = Self;

    fn hierarchy(&self) -> &Self {
        self
    }

    fn hierarchy_mut(&mut self) -> &mut Self {
        self
    }

    fn smooth(&mut self, level: usize, u: &mut Grid<T>, f: &Grid<T>, sweeps: Sweeps) -> Result<()> {
        let (u, f) = (strips_mut(u), strips_of(f));
        let Strips { team, parts, .. } = self;
        team.each(|k, _| parts[k].smooth(level, &mut u[k], &f[k], sweeps))?;
        self.exchange(level, u)
    }

    fn restrict_defect(&mut self, level: usize, u: &Grid<T>, f: &Grid<T>, coarse: &mut Grid<T>) -> Result<()> {
        let (u, f) = (strips_of(u), strips_of(f));
        self.write_coarse(level, coarse, |part, k, coarse| part.restrict_defect(level, &u[k], &f[k], coarse))?;
        self.receive(level + 1, coarse)
    }

    fn interpolate_add(&mut self, level: usize, coarse: &Grid<T>, u: &mut Grid<T>) -> Result<()> {
        let u = strips_mut(u);
        self.with_coarse(level, coarse, |part, k, coarse| part.interpolate_add(level, coarse, &mut u[k]))?;
        self.exchange(level, u)
    }

    /// Starts to exchange the halo of the finest u; on the other levels the halo is deep enough for [`Components::ascend`].
    fn descend(
        &mut self,
        level: usize,
        u: &mut Grid<T>,
        f: &Grid<T>,
        zero: bool,
        sweeps: Sweeps,
        coarse: &mut Grid<T>,
    ) -> Result<()> {
        let (u, f) = (strips_mut(u), strips_of(f));
        self.write_coarse(level, coarse, |part, k, coarse| {
            part.descend(level, &mut u[k], &f[k], zero, sweeps, coarse)
        })?;
        if level == 0 {
            self.begin_finest(u)?;
        }
        self.receive(level + 1, coarse)?;
        // First receive what the next kernels wait for, then advance the background exchange.
        if level > 0 { self.finest.advance() } else { Ok(()) }
    }

    /// Ends without exchanging u unless another visit follows: its halo is deep enough for what comes next.
    fn ascend(&mut self, level: usize, coarse: &Grid<T>, u: &mut Grid<T>, f: &Grid<T>, sweeps: Sweeps) -> Result<()> {
        let (u, f) = (strips_mut(u), strips_of(f));
        if level == 0 {
            self.end_finest(u)?;
        }
        self.with_coarse(level, coarse, |part, k, coarse| part.ascend(level, coarse, &mut u[k], &f[k], sweeps))?;
        if level > 0 && self.visits > 1 { self.exchange(level, u) } else { Ok(()) }
    }

    fn ascend_norm(
        &mut self,
        level: usize,
        coarse: &Grid<T>,
        u: &mut Grid<T>,
        f: &Grid<T>,
        sweeps: Sweeps,
    ) -> Result<Norms> {
        self.ascend(level, coarse, u, f, sweeps)?;
        let [size, defect, _] = self.norms_on(level, u, f)?;
        let size = size.filter(|size| in_range::<T>(size * size));
        Ok(Norms { defect: defect.map_or_else(|| self.defect_norm(level, u, f), Ok)?, size })
    }

    fn fused(&mut self) -> Option<&mut dyn FusedCycle<Grid = Grid<T>>> {
        Some(self)
    }

    fn norms_of_start(&mut self, u: &Grid<T>, f: &Grid<T>) -> Result<StartNorms> {
        self.norms_on(0, u, f)
    }

    fn refine(&mut self, level: usize, coarse: &Grid<T>, u: &mut Grid<T>) -> Result<()> {
        let u = strips_mut(u);
        self.with_coarse(level, coarse, |part, k, coarse| part.refine(level, coarse, &mut u[k]))?;
        self.exchange(level, u)
    }
}

impl<T: Real, L: Layers<T>> Strips<T, L> {
    /// The norms, where one pass gives them.
    fn norms_on(&self, level: usize, u: &Grid<T>, f: &Grid<T>) -> Result<StartNorms> {
        let (Grid::Strips(u), Grid::Strips(f)) = (u, f) else { return Ok([None; 3]) };
        Ok(self.start_sums(level, u, f)?.map_or([None; 3], start_norms::<T>))
    }

    /// The minimum over the ranks of all processes.
    fn least(team: &Team, mine: &[usize]) -> Result<usize> {
        let mine: Vec<_> = mine.iter().map(|&value| vec![-(value as f64)]).collect();
        Ok(-team.all_reduce(Reduction::Max, &mine)?[0] as usize)
    }
}

impl<T: Real, L: Layers<T>> FusedCycle for Strips<T, L> {
    type Grid = Grid<T>;

    fn prepare(&mut self, plan: &Plan) -> Result<Option<usize>> {
        let Strips { team, parts, .. } = self;
        let batch = |k: usize, _: &Context| {
            parts[k].fused().map_or(Ok(None), |fused| fused.prepare(plan)).map(Option::unwrap_or_default)
        };
        let batches = team.each(batch)?;
        // Either all ranks use the fused passes or none does.
        Ok(Some(Self::least(&self.team, &batches)?).filter(|&batch| batch > 0))
    }

    fn cycle(&mut self, _level: usize, _u: &mut Grid<T>, _f: &Grid<T>, _zero: bool) -> Result<bool> {
        Ok(false)
    }

    fn post_and_pre(
        &mut self,
        plan: &Plan,
        coarse: &Grid<T>,
        u: &mut Grid<T>,
        f: &Grid<T>,
        coarse_f: &mut Grid<T>,
        cycle: usize,
    ) -> Result<()> {
        let (u, f) = (strips_mut(u), strips_of(f));
        self.end_finest(u)?;
        self.scatter(coarse)?;
        // Taken out because the closure cannot borrow it.
        let scattered = std::mem::take(&mut self.strips[0]);
        let correction = if let Grid::Strips(coarse) = coarse { coarse } else { &scattered };
        let written = self.write_coarse(0, coarse_f, |part, k, coarse_f| {
            fused_of(part)?.post_and_pre(plan, &correction[k], &mut u[k], &f[k], coarse_f, cycle)
        });
        self.strips[0] = scattered;
        written?;
        self.begin_finest(u)?;
        self.receive(1, coarse_f)
    }

    fn post(&mut self, plan: &Plan, coarse: &Grid<T>, u: &mut Grid<T>, f: &Grid<T>, cycle: usize) -> Result<()> {
        self.end_cycle(coarse, u, f, |fused, coarse, u, f| fused.post(plan, coarse, u, f, cycle))
    }

    fn norms(&mut self, cycles: usize) -> Result<Vec<Norms>> {
        let Strips { team, parts, clock, .. } = self;
        let since = clock.start(team)?;
        team.each(|_, context| context.queue().flush())?;
        let squares = team.each(|k, _| {
            let norms = fused_of(&mut parts[k])?.norms(cycles)?;
            let square = |norms: &Norms| [norms.defect.powi(2), norms.size.map_or(f64::NAN, |size| size.powi(2))];
            Ok(norms.iter().flat_map(square).collect::<Vec<_>>())
        })?;
        let squares = team.all_reduce(Reduction::Sum, &squares)?;
        clock.stop(team, since, Phase::Norm, 0)?;
        let norms = |squares: &[f64]| Norms {
            defect: squares[0].sqrt(),
            size: Some(squares[1].sqrt()).filter(|size| !size.is_nan()),
        };
        Ok(squares.chunks_exact(2).map(norms).collect())
    }

    fn sums_fit(&self, size: f64) -> bool {
        // A strip sums fewer squares than a whole grid does.
        let least = size * T::epsilon().into_f64() * 1e-3;
        in_range::<T>(size * size) && in_range::<T>(least * least)
    }
}
