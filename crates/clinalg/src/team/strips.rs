//! The components of multigrid on strips of the rows of a square, or slabs of the planes of a cube, with the coarse levels on rank 0.
//! Below, *rows* and *strips* stand for both.
//!
//! A rank stores, of each level down to the one that is gathered, the rows that it owns and [`halo`] more on either side.
//! The kernels of one device run on these rows as if they were a grid of their own: what they compute beside the first and the
//! last row is wrong and the error moves inwards by a row per stage, but never reaches the rows that the rank owns before the
//! next exchange. So all bits are those of one device.
//!
//! A V-cycle exchanges the right-hand side of each level once. The solution of the finest level is exchanged while the coarse levels are visited. On
//! the way up the halos are deep enough without an exchange.

use std::cell::RefCell;
use std::ops::Range;

use super::background::Background;
use super::layers::{Layers, Part};
use super::phases::{Clock, Phase};
use super::{Exchange, Message, Partition, PhaseTime, Reduction, Team};
use crate::multigrid::backend::{self, Build, Relaxation};
use crate::multigrid::cycle::{CoarseCycles, Components, Hierarchy, Multigrid, Plan};
use crate::multigrid::equation::Equation;
use crate::multigrid::launch::{Rows, Term, in_range, root_of_squares, total, triple};
use crate::multigrid::{Cycle, PoissonParams, Separable, Smoother};
use crate::runtime::{KernelFamily, Out, View, ViewMut};
use crate::{Buffer, Context, Real, Result, Vector, ops};

/// Writes values at consecutive points of a grid, whose numbers it gets, to a vector on a device.
pub type Fill<'a, T> = dyn FnMut(Range<usize>, &mut Vector<T>) -> Result<()> + 'a;

/// A grid of one level.
pub(crate) enum Grid<T: Real> {
    /// A strip for each rank of this process.
    Strips(Vec<Vector<T>>),
    /// All of a gathered level, where rank 0 is in this process.
    Whole(Option<Vector<T>>),
}

/// How a level is distributed.
struct Layout {
    partition: Partition,
    /// The rows that each rank stores.
    stored: Vec<Range<usize>>,
}

/// The levels from the finest one to the first that is gathered.
pub(crate) struct Strips<T: Real, L: Layers<T>> {
    pub(super) team: Team,
    sides: Vec<usize>,
    /// Whether all ranks use the kernels for GPUs.
    gpus: bool,
    /// The level that is gathered.
    pub(super) gathered: usize,
    layouts: Vec<Layout>,
    pub(super) parts: Vec<Part<T, L>>,
    /// Halos of each level above the gathered one.
    pub(super) halos: Vec<RefCell<Exchange<T>>>,
    /// Halos of the finest level, exchanged while the coarse levels are visited.
    pub(super) finest: Background<T>,
    pub(super) transfer: Gathered<T>,
    /// Strips of the gathered level, of u and of f.
    pub(super) strips: [Vec<Vector<T>>; 2],
    /// The levels from the gathered one on, on rank 0.
    coarse: Option<Box<dyn CoarseCycles<Vector<T>>>>,
    whole: Option<L>,
    /// Visits of the gathered level per visit of the one above.
    pub(super) visits: usize,
    /// Whether the next visit of the gathered level starts from the solution of the coarser ones.
    full: bool,
    /// Partial sums of each rank.
    partials: Vec<Buffer<T>>,
    pub(super) clock: Clock,
}

/// The cycles of the gathered levels.
struct Coarse<'a> {
    sides: &'a [usize],
    plan: Plan,
    full: bool,
}

impl<T: Real> Build<T> for Coarse<'_> {
    type Output = Box<dyn CoarseCycles<Vector<T>>>;

    fn build<C: Components<Grid = Vector<T>> + Send + 'static>(self, components: C) -> Result<Self::Output> {
        Ok(Box::new(Multigrid::new(components, self.sides, self.plan, self.full)?))
    }
}

/// Halo rows on either side of the rows that a rank owns, an even number: enough for all the work between two exchanges.
pub(super) fn halo(params: &PoissonParams) -> usize {
    let stages = |sweeps: usize| if params.smoother == Smoother::RedBlack { 2 * sweeps } else { sweeps };
    let (pre, post) = (stages(params.pre), stages(params.post));
    // The finest level needs rows for the relaxations after the correction, for those of the next cycle, and for the defect on the rank's own rows
    // and their neighbours. The correction leaves out the outermost row.
    let finest = post + pre + 2;
    // The other levels need rows for what the correction of the next finer level reads (2 rows for cubic interpolation), and for the relaxations.
    let correction = finest.div_ceil(2).max(post).max(2);
    (finest + 1).max(correction + post + pre.max(1)).next_multiple_of(2)
}

impl<T: Real, L: Layers<T>> Strips<T, L> {
    /// `partition` is of the rows of level `gathered`, at least 1.
    pub(crate) fn new(
        team: &Team,
        sides: &[usize],
        gathered: usize,
        partition: &Partition,
        params: &PoissonParams,
        plan: Plan,
    ) -> Result<Strips<T, L>> {
        let depth = halo(params);
        let is_cpu = |context: &Context| vec![f64::from(u8::from(context.family() == KernelFamily::Cpu))];
        let cpus: Vec<_> = team.contexts().iter().map(is_cpu).collect();
        let gpus = team.all_reduce(Reduction::Max, &cpus)? == [0.0];
        let layouts: Vec<Layout> = (0..=gathered)
            .map(|level| Layout::new(partition, sides[level], gathered - level, depth))
            .collect::<Result<_>>()?;
        let upper = &sides[..=gathered];
        let local = team.local();
        let parts = team.each(|k, context| {
            let rows = (0..=gathered).map(|level| Layout::rows(&layouts, level, local.start + k)).collect();
            L::part(context, upper, rows, params)
        })?;
        let halos = layouts[..gathered].iter().zip(sides).map(|(layout, &n)| {
            Ok(RefCell::new(Exchange::new(
                team,
                &Message::halos(&layout.partition, &layout.stored, width::<T, L>(n))?,
            )?))
        });
        let halos = halos.collect::<Result<_>>()?;
        let finest = Message::halos(&layouts[0].partition, &layouts[0].stored, width::<T, L>(sides[0]))?;
        let finest = Background::new(team, &finest)?;
        let (last, n) = (&layouts[gathered], sides[gathered]);
        let width = width::<T, L>(n);
        let transfer = Gathered::new(team, last, width)?;
        let strip = |k: usize, context: &Context| Vector::zeros(context, last.stored[local.start + k].len() * width);
        let strips = [team.each(strip)?, team.each(strip)?];
        let first = &team.contexts()[0];
        let (coarse, whole) = if local.start == 0 {
            let build = Coarse { sides: &sides[gathered..], plan, full: params.cycle == Cycle::Full };
            let relaxation =
                Relaxation { smoother: params.smoother, omega: params.omega, sweeps: params.pre.max(params.post) };
            let equation = Equation::<T>::new(n, L::DIM, params.shift)?;
            let coarse = backend::on_device(first, params.backend, equation, relaxation, build.full, build);
            let whole = L::whole(first, &sides[gathered..], params.shift);
            (Some(coarse.map_err(|error| team.at(0, error))?), Some(whole.map_err(|error| team.at(0, error))?))
        } else {
            (None, None)
        };
        let sums = |levels: &L, level: usize| levels.sums(level).max(levels.start_sums(level));
        let most = |part: &Part<T, L>| (0..=gathered).map(|level| sums(part.hierarchy(), level)).max().unwrap_or(0);
        let partials = team.each(|k, context| Buffer::zeroed(context, most(&parts[k])))?;
        Ok(Strips {
            team: team.clone(),
            sides: sides.to_vec(),
            gpus,
            gathered,
            layouts,
            parts,
            halos,
            finest,
            transfer,
            strips,
            coarse,
            whole,
            visits: plan.visits,
            full: false,
            partials,
            clock: Clock::default(),
        })
    }

    /// The rows of the finest level that each rank owns.
    pub(crate) fn partition(&self) -> &Partition {
        &self.layouts[0].partition
    }

    /// `values` of the whole finest grid in the strips of `grid`, halos included.
    pub(crate) fn load(&self, values: &[T], grid: &mut Grid<T>) -> Result<()> {
        let (strips, n, first) = (strips_mut(grid), width::<T, L>(self.sides[0]), self.team.local().start);
        let load = |k: usize, _: &Context| {
            let rows = &self.layouts[0].stored[first + k];
            strips[k].write(&values[rows.start * n..rows.end * n])
        };
        self.team.each(load).map(drop)
    }

    /// Fills the strips of the finest `grid`, halos included.
    pub(crate) fn fill(&self, grid: &mut Grid<T>, values: &mut Fill<'_, T>) -> Result<()> {
        let (strips, n, first) = (strips_mut(grid), width::<T, L>(self.sides[0]), self.team.local().start);
        let fill = |k: usize, _: &Context| {
            let rows = &self.layouts[0].stored[first + k];
            values(rows.start * n..rows.end * n, &mut strips[k])
        };
        self.team.each(fill).map(drop)
    }

    /// The 2-norm of the finest `grid`.
    pub(crate) fn norm(&self, grid: &Grid<T>) -> Result<f64> {
        let strips = strips_of(grid);
        let own = |k: usize, _: &Context| {
            let own = Vector::from_view(strips[k].slice(self.own(0, k))?)?;
            Ok(ops::norm2(&own)?.into_f64())
        };
        self.team.norm(self.team.each(own)?)
    }

    /// The finest `grid` at some points, on all processes.
    pub(crate) fn pick(&self, grid: &Grid<T>, points: &[usize]) -> Result<Vec<T>> {
        let (strips, n, first) = (strips_of(grid), width::<T, L>(self.sides[0]), self.team.local().start);
        let parts = self.team.each(|k, _| {
            let (own, stored) = (self.partition().range(first + k), self.layouts[0].stored[first + k].start);
            let own = |point: &usize| own.contains(&(point / n));
            let local: Vec<usize> = points.iter().filter(|point| own(point)).map(|point| point - stored * n).collect();
            let mut part = vec![0.0; points.len()];
            let targets = part.iter_mut().zip(points).filter(|(_, point)| own(point));
            targets.zip(ops::pick(&strips[k], &local)?).for_each(|((target, _), value)| *target = value.into_f64());
            Ok(part)
        })?;
        // One of the terms is the value, the others are 0.
        let sums = self.team.all_reduce(Reduction::Sum, &parts)?;
        Ok(sums.into_iter().map(T::from_f64).collect())
    }

    /// The largest difference of the finest `grid` from `function` on all ranks.
    pub(crate) fn error_max(&self, function: &Separable, grid: &Grid<T>) -> Result<f64> {
        let (strips, first) = (strips_of(grid), self.team.local().start);
        let errors = self.team.each(|k, _| {
            let part = function.part(L::DIM - 1, self.partition().range(first + k));
            Ok(vec![part.error_max(strips[k].slice(self.own(0, k))?)?])
        })?;
        Ok(self.team.all_reduce(Reduction::Max, &errors)?[0])
    }

    /// The rows that the ranks of this process own, in the whole finest grid `values`.
    pub(crate) fn store(&self, grid: &Grid<T>, values: &mut [T]) -> Result<()> {
        let (strips, n, first) = (strips_of(grid), width::<T, L>(self.sides[0]), self.team.local().start);
        let store = |k: usize, _: &Context| {
            let own = self.partition().range(first + k);
            let target = &mut values[own.start * n..own.end * n];
            strips[k].slice(self.own(0, k))?.read(target)
        };
        self.team.each(store).map(drop)
    }

    /// The rows that the local rank `k` owns, counted from the first that it stores.
    fn own_rows(&self, level: usize, k: usize) -> Range<usize> {
        let (rank, layout) = (self.team.local().start + k, &self.layouts[level]);
        let (own, first) = (layout.partition.range(rank), layout.stored[rank].start);
        own.start - first..own.end - first
    }

    /// Their values.
    fn own(&self, level: usize, k: usize) -> Range<usize> {
        let (rows, n) = (self.own_rows(level, k), width::<T, L>(self.sides[level]));
        rows.start * n..rows.end * n
    }

    /// Fills the halos of a level that is not gathered.
    pub(super) fn exchange(&self, level: usize, strips: &mut [Vector<T>]) -> Result<()> {
        let since = self.clock.start(&self.team)?;
        self.halos[level].borrow_mut().run(strips)?;
        self.clock.stop(&self.team, since, Phase::Exchange, level)
    }

    /// Switches the measurement of phases on or off for the following cycles, and returns the times so far. While it is on, phases do not overlap.
    pub(crate) fn measure_phases(&mut self, on: bool) -> Vec<PhaseTime> {
        self.clock.switch(on)
    }

    /// The sums of the squares of u, of the defect and of the source, if all ranks use the kernels for GPUs.
    pub(super) fn start_sums(&self, level: usize, u: &[Vector<T>], f: &[Vector<T>]) -> Result<Option<[f64; 3]>> {
        if !self.gpus {
            return Ok(None);
        }
        let since = self.clock.start(&self.team)?;
        self.team.each(|k, context| {
            let partial = Out::shared(&self.partials[k]);
            self.parts[k].hierarchy().sum_squares_start(level, [&u[k], &f[k]], partial)?;
            context.queue().flush()
        })?;
        let sums = self.team.each(|k, _| {
            let count = self.parts[k].hierarchy().start_sums(level);
            Ok(triple(&self.partials[k].slice(0..count)?.to_vec()?).to_vec())
        })?;
        let sums = self.team.all_reduce(Reduction::Sum, &sums)?;
        self.clock.stop(&self.team, since, Phase::Norm, level)?;
        Ok(Some([sums[0], sums[1], sums[2]]))
    }

    /// A norm over the interior.
    fn norm_of(&self, term: Term, level: usize, u: &Grid<T>, f: &Grid<T>) -> Result<f64> {
        let since = self.clock.start(&self.team)?;
        let norm = root_of_squares(|scale: T| {
            let sums = match (u, f) {
                (Grid::Strips(u), Grid::Strips(f)) => {
                    // All devices sum at the same time.
                    self.team.each(|k, context| {
                        let (levels, partial) = (self.parts[k].hierarchy(), Out::shared(&self.partials[k]));
                        levels.sum_squares(term, level, self.own_rows(level, k), scale, [&u[k], &f[k]], partial)?;
                        context.queue().flush()
                    })?;
                    self.team.each(|k, _| {
                        let count = self.parts[k].hierarchy().sums(level);
                        Ok(total(&self.partials[k].slice(0..count)?.to_vec()?))
                    })?
                }
                (Grid::Whole(u), Grid::Whole(f)) => self.team.each(|k, context| {
                    let (0, Some(whole), Some(u), Some(f)) = (k, &self.whole, u, f) else { return Ok(0.0) };
                    let (level, rows) = (level - self.gathered, 0..self.sides[level]);
                    let partials = context.partials(whole.sums(level), |partial| {
                        whole.sum_squares(term, level, rows.clone(), scale, [u, f], partial)
                    })?;
                    Ok(total(&partials))
                })?,
                _ => unreachable!("u and f are grids of one level"),
            };
            self.team.sum(sums)
        })?;
        self.clock.stop(&self.team, since, Phase::Norm, level)?;
        Ok(norm)
    }
}

impl Layout {
    /// `2^finer` times as fine as the rows of `partition`.
    fn new(partition: &Partition, n: usize, finer: usize, depth: usize) -> Result<Layout> {
        let mut starts: Vec<usize> = partition.starts().iter().map(|start| start << finer).collect();
        *starts.last_mut().expect("a partition has an end") = n;
        let partition = Partition::from_starts(starts)?;
        // From an even row to an even one, so that colours and coarser rows are those of the whole grid.
        let stored = (0..partition.ranks()).map(|rank| {
            let own = partition.range(rank);
            let first = own.start.saturating_sub(depth);
            first - first % 2..(own.end.next_multiple_of(2) + depth + 1).min(n)
        });
        let stored = stored.collect();
        Ok(Layout { partition, stored })
    }

    /// The rows of `level` that `rank` stores, as kernels take them.
    fn rows(layouts: &[Layout], level: usize, rank: usize) -> Rows {
        let stored = &layouts[level].stored[rank];
        let skip = layouts.get(level + 1).map_or(0, |coarser| stored.start / 2 - coarser.stored[rank].start);
        let own = layouts[level].partition.range(rank);
        Rows { count: stored.len(), skip, low: own.start - stored.start, high: own.end - stored.start }
    }
}

/// Values of a row, or of a plane of a cube.
fn width<T: Real, L: Layers<T>>(n: usize) -> usize {
    n.pow(L::DIM as u32 - 1)
}

pub(super) fn strips_of<T: Real>(grid: &Grid<T>) -> &[Vector<T>] {
    match grid {
        Grid::Strips(strips) => strips,
        Grid::Whole(_) => unreachable!("the level is shared out"),
    }
}

pub(super) fn strips_mut<T: Real>(grid: &mut Grid<T>) -> &mut [Vector<T>] {
    match grid {
        Grid::Strips(strips) => strips,
        Grid::Whole(_) => unreachable!("the level is shared out"),
    }
}

/// The gathered level, between the strips of all ranks and the whole grid of rank 0.
pub(super) struct Gathered<T: Real> {
    gather: Exchange<T>,
    scatter: Exchange<T>,
    /// What the other ranks have of the whole grid.
    none: Vec<Vector<T>>,
}

impl<T: Real> Gathered<T> {
    fn new(team: &Team, layout: &Layout, width: usize) -> Result<Gathered<T>> {
        let Layout { partition, stored } = layout;
        Ok(Gathered {
            gather: Exchange::new(team, &Message::gather(partition, stored, width, 0)?)?,
            scatter: Exchange::new(team, &Message::scatter(stored, width, 0)?)?,
            none: team.each(|_, context| Vector::zeros(context, 0))?,
        })
    }

    /// Brings the strips to the whole grid.
    pub(super) fn gather(&mut self, strips: &[Vector<T>], whole: &mut Option<Vector<T>>) -> Result<()> {
        self.begin_gather(strips)?;
        self.end_gather(whole)
    }

    pub(super) fn begin_gather(&mut self, strips: &[Vector<T>]) -> Result<()> {
        let sources: Vec<View<'_, T>> = strips.iter().map(Into::into).collect();
        self.gather.read(&sources)
    }

    pub(super) fn end_gather(&mut self, whole: &mut Option<Vector<T>>) -> Result<()> {
        let mut targets: Vec<ViewMut<'_, T>> = self.none.iter_mut().map(Into::into).collect();
        if let Some(whole) = whole {
            targets[0] = whole.into();
        }
        self.gather.finish(&mut targets)
    }

    /// Brings the whole grid to the strips.
    pub(super) fn scatter(&mut self, whole: &Option<Vector<T>>, strips: &mut [Vector<T>]) -> Result<()> {
        let mut sources: Vec<View<'_, T>> = self.none.iter().map(Into::into).collect();
        if let Some(whole) = whole {
            sources[0] = whole.into();
        }
        self.scatter.read(&sources)?;
        let mut targets: Vec<ViewMut<'_, T>> = strips.iter_mut().map(Into::into).collect();
        self.scatter.finish(&mut targets)
    }
}

impl<T: Real, L: Layers<T>> Hierarchy for Strips<T, L> {
    type Grid = Grid<T>;

    fn zeros(&self, level: usize) -> Result<Grid<T>> {
        if level < self.gathered {
            return Ok(Grid::Strips(self.team.each(|k, _| self.parts[k].hierarchy().zeros(level))?));
        }
        let whole = self.whole.as_ref().map(|whole| whole.zeros(level - self.gathered)).transpose();
        Ok(Grid::Whole(whole.map_err(|error| self.team.at(0, error))?))
    }

    fn clear(&self, u: &mut Grid<T>) -> Result<()> {
        match u {
            Grid::Strips(strips) => self.team.each(|k, _| strips[k].fill(T::zero())).map(drop),
            Grid::Whole(whole) => {
                whole.as_mut().map_or(Ok(()), |u| u.fill(T::zero())).map_err(|error| self.team.at(0, error))
            }
        }
    }

    /// The cycles of the gathered levels.
    fn solve_coarsest(&mut self, u: &mut Grid<T>, f: &Grid<T>, zero: bool) -> Result<()> {
        let full = std::mem::take(&mut self.full);
        let (Grid::Whole(Some(u)), Grid::Whole(Some(f)), Some(coarse)) = (u, f, &mut self.coarse) else {
            return Ok(());
        };
        let mut cycles = || {
            if full {
                return coarse.full_visit(u, f);
            }
            // The coarsest grid is solved exactly the first time.
            let visits = if self.gathered == self.sides.len() - 1 { 1 } else { self.visits };
            (0..visits).try_for_each(|visit| coarse.visit(u, f, zero && visit == 0))
        };
        let since = self.clock.start(&self.team)?;
        cycles().map_err(|error| self.team.at(0, error))?;
        self.clock.stop(&self.team, since, Phase::Coarse, self.gathered)
    }

    fn defect_norm(&mut self, level: usize, u: &Grid<T>, f: &Grid<T>) -> Result<f64> {
        self.norm_of(Term::Defect, level, u, f)
    }

    fn source_norm(&mut self, level: usize, u: &Grid<T>, f: &Grid<T>) -> Result<f64> {
        self.norm_of(Term::Source, level, u, f)
    }

    fn norm(&self, u: &Grid<T>) -> Result<f64> {
        let strips = match u {
            Grid::Strips(strips) => strips,
            Grid::Whole(whole) => {
                let norms = self.team.each(|_, _| whole.as_ref().map_or(Ok(0.0), |u| Ok(ops::norm2(u)?.into_f64())))?;
                return self
                    .team
                    .norm(norms.into_iter().enumerate().map(|(k, n)| if k == 0 { n } else { 0.0 }).collect());
            }
        };
        let level = self.level_of(strips[0].len(), 0);
        // Only the first sum is needed.
        if let Some([size, ..]) = self.start_sums(level, strips, strips)?
            && in_range::<T>(size)
        {
            return Ok(size.sqrt());
        }
        let own = |k: usize, _: &Context| {
            let own = Vector::from_view(strips[k].slice(self.own(level, k))?)?;
            Ok(ops::norm2(&own)?.into_f64())
        };
        self.team.norm(self.team.each(own)?)
    }

    fn coarsen(
        &mut self,
        level: usize,
        u: &Grid<T>,
        f: &Grid<T>,
        coarse_u: &mut Grid<T>,
        coarse_f: &mut Grid<T>,
    ) -> Result<()> {
        let Strips { team, parts, strips: [own_u, own_f], transfer, .. } = self;
        let (u, f) = (strips_of(u), strips_of(f));
        match (coarse_u, coarse_f) {
            (Grid::Strips(cu), Grid::Strips(cf)) => {
                team.each(|k, _| parts[k].hierarchy_mut().coarsen(level, &u[k], &f[k], &mut cu[k], &mut cf[k]))?;
                self.exchange(level + 1, cf)
            }
            (Grid::Whole(whole_u), Grid::Whole(whole_f)) => {
                let coarsen = |k: usize, _: &Context| {
                    parts[k].hierarchy_mut().coarsen(level, &u[k], &f[k], &mut own_u[k], &mut own_f[k])
                };
                team.each(coarsen)?;
                transfer.gather(own_u, whole_u)?;
                transfer.gather(own_f, whole_f)?;
                self.full = true;
                Ok(())
            }
            _ => unreachable!("u and f are grids of one level"),
        }
    }
}

impl<T: Real, L: Layers<T>> Strips<T, L> {
    /// The level of a strip of the local rank `k` with so many values.
    fn level_of(&self, len: usize, k: usize) -> usize {
        let rank = self.team.local().start + k;
        let values = |level: usize| self.layouts[level].stored[rank].len() * width::<T, L>(self.sides[level]);
        (0..self.gathered).find(|&level| values(level) == len).expect("a strip belongs to a level")
    }
}
