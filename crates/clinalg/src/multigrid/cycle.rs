//! The multigrid cycles, over the components of any backend.

use crate::Result;

/// The order of the two half-sweeps of red-black Gauss-Seidel. Points whose indices have an even sum are red.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Red points, then black points.
    RedFirst,
    /// Black points, then red points: the adjoint sweep, for a symmetric smoother after `RedFirst`.
    BlackFirst,
}

impl Order {
    /// The colours of the half-sweeps: 0 for red, 1 for black.
    pub(crate) fn colours(self) -> [u32; 2] {
        match self {
            Order::RedFirst => [0, 1],
            Order::BlackFirst => [1, 0],
        }
    }
}

/// The grids of all levels and what is known of the equations there, however they are relaxed; level 0 is the finest. Grids of
/// level `l` have the side of that level; `f` holds the right-hand side of the level.
pub(crate) trait Hierarchy {
    /// A grid in the memory that the backend works on.
    type Grid;

    /// A grid of zeros for `level`.
    fn zeros(&self, level: usize) -> Result<Self::Grid>;

    /// `u` = 0.
    fn clear(&self, u: &mut Self::Grid) -> Result<()>;

    /// The exact solution on the grid with one interior point; `zero` clears the boundary of `u`.
    fn solve_coarsest(&mut self, u: &mut Self::Grid, f: &Self::Grid, zero: bool) -> Result<()>;

    /// Euclidean norm of f - A u over the interior, where A is the matrix of the level.
    fn defect_norm(&mut self, level: usize, u: &Self::Grid, f: &Self::Grid) -> Result<f64>;

    /// Euclidean norm of f - A u over the interior, u taken as 0 there.
    fn source_norm(&mut self, level: usize, u: &Self::Grid, f: &Self::Grid) -> Result<f64>;

    /// Euclidean norm of all values.
    fn norm(&self, u: &Self::Grid) -> Result<f64>;

    /// For full multigrid: `coarse_f` = restricted `f`, boundary of `coarse_u` = that of `u`.
    fn coarsen(
        &mut self,
        level: usize,
        u: &Self::Grid,
        f: &Self::Grid,
        coarse_u: &mut Self::Grid,
        coarse_f: &mut Self::Grid,
    ) -> Result<()>;
}

/// What a cycle does on each level, counted as in [`Hierarchy`].
pub(crate) trait Components {
    /// A grid in the memory that the backend works on.
    type Grid;
    /// The grids of all levels.
    type Hierarchy: Hierarchy<Grid = Self::Grid>;

    /// The grids of all levels.
    fn hierarchy(&self) -> &Self::Hierarchy;

    /// The same, for what takes memory of theirs.
    fn hierarchy_mut(&mut self) -> &mut Self::Hierarchy;

    /// Relaxations of `u`.
    fn smooth(&mut self, level: usize, u: &mut Self::Grid, f: &Self::Grid, sweeps: Sweeps) -> Result<()>;

    /// [`Components::smooth`] from u = 0, whatever `u` holds.
    fn smooth_from_zero(&mut self, level: usize, u: &mut Self::Grid, f: &Self::Grid, sweeps: Sweeps) -> Result<()> {
        self.hierarchy().clear(u)?;
        self.smooth(level, u, f, sweeps)
    }

    /// `coarse` = restricted defect of `u`.
    fn restrict_defect(&mut self, level: usize, u: &Self::Grid, f: &Self::Grid, coarse: &mut Self::Grid) -> Result<()>;

    /// `u` += interpolated `coarse`.
    fn interpolate_add(&mut self, level: usize, coarse: &Self::Grid, u: &mut Self::Grid) -> Result<()>;

    /// Relaxations of `u`, which is taken as 0 where `zero` is set; then
    /// `coarse` = restricted defect.
    fn descend(
        &mut self,
        level: usize,
        u: &mut Self::Grid,
        f: &Self::Grid,
        zero: bool,
        sweeps: Sweeps,
        coarse: &mut Self::Grid,
    ) -> Result<()> {
        match zero {
            true => self.smooth_from_zero(level, u, f, sweeps)?,
            false => self.smooth(level, u, f, sweeps)?,
        }
        self.restrict_defect(level, u, f, coarse)
    }

    /// `u` += interpolated `coarse`; then relaxations.
    fn ascend(
        &mut self,
        level: usize,
        coarse: &Self::Grid,
        u: &mut Self::Grid,
        f: &Self::Grid,
        sweeps: Sweeps,
    ) -> Result<()> {
        self.interpolate_add(level, coarse, u)?;
        self.smooth(level, u, f, sweeps)
    }

    /// [`Components::ascend`], and what it leaves.
    fn ascend_norm(
        &mut self,
        level: usize,
        coarse: &Self::Grid,
        u: &mut Self::Grid,
        f: &Self::Grid,
        sweeps: Sweeps,
    ) -> Result<Norms> {
        self.ascend(level, coarse, u, f, sweeps)?;
        Ok(Norms { defect: self.hierarchy_mut().defect_norm(level, u, f)?, size: None })
    }

    /// The parts of a cycle that this implementation fuses, if it does.
    fn fused(&mut self) -> Option<&mut dyn FusedCycle<Grid = Self::Grid>> {
        None
    }

    /// Those of [`Components::start_norms`] that one pass gives.
    fn norms_of_start(&mut self, _u: &Self::Grid, _f: &Self::Grid) -> Result<StartNorms> {
        Ok([None; 3])
    }

    /// The norms of an initial guess on the finest level: [`norm`](Hierarchy::norm),
    /// [`defect_norm`](Hierarchy::defect_norm) and [`source_norm`](Hierarchy::source_norm).
    fn start_norms(&mut self, u: &Self::Grid, f: &Self::Grid) -> Result<[f64; 3]> {
        let [size, defect, source] = self.norms_of_start(u, f)?;
        Ok([
            size.map_or_else(|| self.hierarchy().norm(u), Ok)?,
            defect.map_or_else(|| self.hierarchy_mut().defect_norm(0, u, f), Ok)?,
            source.map_or_else(|| self.hierarchy_mut().source_norm(0, u, f), Ok)?,
        ])
    }

    /// For full multigrid: interior of `u` = bicubic interpolant of `coarse`.
    fn refine(&mut self, level: usize, coarse: &Self::Grid, u: &mut Self::Grid) -> Result<()>;
}

/// Parts of cycles that an implementation does in fewer passes over memory than [`Components`] one after the other: all
/// coarse levels in one launch, and the end of a cycle with the beginning of the next one.
pub(crate) trait FusedCycle {
    /// A grid in the memory that the backend works on.
    type Grid;

    /// Called once, with the plan of all cycles. `Some` where [`FusedCycle::post_and_pre`] covers them, with the most cycles
    /// whose sums are kept.
    fn prepare(&mut self, plan: &Plan) -> Result<Option<usize>>;

    /// A whole cycle by the plan on `level` and all below it, in one launch. False, and nothing done, where the level is too
    /// large.
    fn cycle(&mut self, level: usize, u: &mut Self::Grid, f: &Self::Grid, zero: bool) -> Result<bool>;

    /// Post-smoothing of one cycle on the finest level fused with pre-smoothing of the next: [`Components::ascend`], sums of
    /// squares that are kept as those of cycle `cycle`, [`Components::descend`].
    fn post_and_pre(
        &mut self,
        plan: &Plan,
        coarse: &Self::Grid,
        u: &mut Self::Grid,
        f: &Self::Grid,
        coarse_f: &mut Self::Grid,
        cycle: usize,
    ) -> Result<()>;

    /// [`Components::ascend`] on the finest level, with sums as in [`FusedCycle::post_and_pre`].
    fn post(
        &mut self,
        plan: &Plan,
        coarse: &Self::Grid,
        u: &mut Self::Grid,
        f: &Self::Grid,
        cycle: usize,
    ) -> Result<()>;

    /// The norms from the sums of cycles 0 to `cycles` - 1.
    fn norms(&mut self, cycles: usize) -> Result<Vec<Norms>>;

    /// Whether sums of squares of terms from `size` down to what rounding leaves of it keep within the range.
    fn sums_fit(&self, size: f64) -> bool;
}

/// What the iteration to a solution consists of.
pub(crate) trait Cycles {
    /// A grid in the memory that the cycles work on.
    type Grid;

    /// The norms of u, everywhere, and of its defect and the source, inside, before the first cycle.
    fn start_norms(&mut self, u: &Self::Grid, f: &Self::Grid) -> Result<[f64; 3]>;

    /// Euclidean norm of all values.
    fn norm(&self, u: &Self::Grid) -> Result<f64>;

    /// Number of grids.
    fn levels(&self) -> usize;

    /// Forgets what a solve left unfinished.
    fn reset(&mut self) {}

    /// What the next cycle takes from those before besides u, where it takes anything.
    fn memory(&self) -> Option<(&Self::Grid, f64)> {
        None
    }

    /// Takes what [`Cycles::memory`] gave, after the next [`Cycles::reset`]; whether it takes anything.
    fn remember(&mut self, _fill: &mut dyn FnMut(&mut Self::Grid) -> Result<()>, _number: f64) -> Result<bool> {
        Ok(false)
    }

    /// Most cycles for [`Cycles::cycles`], where defects are about as large as `size` at first.
    fn batch(&mut self, _size: f64) -> usize {
        1
    }

    /// `count` cycles and what each leaves, the last one after the others. Unless it is `last`, the next cycle may have
    /// begun: then u is not what the last cycle left until [`Cycles::end`]. `size` is that of [`Cycles::batch`].
    fn cycles(&mut self, u: &mut Self::Grid, f: &Self::Grid, count: usize, last: bool, size: f64)
    -> Result<Vec<Norms>>;

    /// Ends the cycle that [`Cycles::cycles`] began, and what it leaves; `None` where there is none.
    fn end(&mut self, _u: &mut Self::Grid, _f: &Self::Grid) -> Result<Option<Norms>> {
        Ok(None)
    }

    /// One pass of full multigrid and what it leaves.
    fn full(&mut self, u: &mut Self::Grid, f: &Self::Grid) -> Result<Norms>;
}

/// A cycle from 0 for the residual `r`, as preconditioners apply it.
pub(crate) trait CycleFromZero<G>: Send {
    /// `z` = one cycle from the initial guess 0, whatever `z` holds; its boundary becomes 0.
    fn cycle_from_zero(&mut self, z: &mut G, r: &G) -> Result<()>;
}

/// Cycles on the coarse levels of a larger method, whose finest level is that of the grids passed.
pub(crate) trait CoarseCycles<G>: Send {
    /// One cycle; `zero` clears the initial guess.
    fn visit(&mut self, u: &mut G, f: &G, zero: bool) -> Result<()>;

    /// The interpolated solution of the coarser levels as an initial guess, then one cycle.
    fn full_visit(&mut self, u: &mut G, f: &G) -> Result<()>;
}

/// The norms of u, of the defect and of the source, where they are known.
pub(crate) type StartNorms = [Option<f64>; 3];

/// What a cycle leaves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Norms {
    /// Of the defect, over the interior.
    pub(crate) defect: f64,
    /// Of all values of u, where known.
    pub(crate) size: Option<f64>,
}

/// What u is before the relaxations of a pass over a level, numbered as in the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// What it holds.
    Current = 0,
    FromZero = 1,
    /// What it holds plus the interpolated coarse grid.
    Corrected = 2,
}

impl Start {
    /// Zero, or what u holds.
    pub(crate) fn zero_if(zero: bool) -> Start {
        if zero { Start::FromZero } else { Start::Current }
    }
}

/// Relaxations in a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sweeps {
    pub(crate) count: usize,
    /// Of the colours, for red-black.
    pub(crate) order: Order,
}

/// How a cycle goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Visits of the next coarser level per visit.
    pub(crate) visits: usize,
    /// Relaxations before and after the coarse-grid correction.
    pub(crate) pre: Sweeps,
    pub(crate) post: Sweeps,
}

/// Solution, or correction, and right-hand side of a coarse level.
struct Pair<G> {
    u: G,
    f: G,
}

/// Components and how a cycle goes over them; `coarse` are always the levels below the one that is named.
struct Method<C: Components> {
    components: C,
    plan: Plan,
}

impl<C: Components> Method<C> {
    fn hierarchy(&mut self) -> &mut C::Hierarchy {
        self.components.hierarchy_mut()
    }

    /// A whole cycle in one launch, where the components have that.
    fn fused_cycle(&mut self, level: usize, u: &mut C::Grid, f: &C::Grid, zero: bool) -> Result<bool> {
        self.components.fused().map_or(Ok(false), |fused| fused.cycle(level, u, f, zero))
    }

    /// Pre-smoothing on `level` and the correction on the next coarser one.
    fn descend(
        &mut self,
        level: usize,
        u: &mut C::Grid,
        f: &C::Grid,
        coarse: &mut [Pair<C::Grid>],
        zero: bool,
    ) -> Result<()> {
        let Some((next, rest)) = coarse.split_first_mut() else { return Ok(()) };
        self.components.descend(level, u, f, zero, self.plan.pre, &mut next.f)?;
        self.visits(level, next, rest)
    }

    /// The correction for `level`, by cycles on the level below it, `next`.
    fn visits(&mut self, level: usize, next: &mut Pair<C::Grid>, rest: &mut [Pair<C::Grid>]) -> Result<()> {
        // The coarsest grid is solved exactly the first time.
        let count = if rest.is_empty() { 1 } else { self.plan.visits };
        (0..count).try_for_each(|k| self.visit(level + 1, &mut next.u, &next.f, rest, k == 0))
    }

    /// One cycle on `level`.
    fn visit(
        &mut self,
        level: usize,
        u: &mut C::Grid,
        f: &C::Grid,
        coarse: &mut [Pair<C::Grid>],
        zero: bool,
    ) -> Result<()> {
        if self.fused_cycle(level, u, f, zero)? {
            return Ok(());
        }
        self.descend(level, u, f, coarse, zero)?;
        match coarse.first() {
            Some(next) => self.components.ascend(level, &next.u, u, f, self.plan.post),
            None => self.hierarchy().solve_coarsest(u, f, zero),
        }
    }

    /// One cycle on `level` and what it leaves.
    fn cycle_norm(
        &mut self,
        level: usize,
        u: &mut C::Grid,
        f: &C::Grid,
        coarse: &mut [Pair<C::Grid>],
    ) -> Result<Norms> {
        if !self.fused_cycle(level, u, f, false)? {
            self.descend(level, u, f, coarse, false)?;
            match coarse.first() {
                Some(next) => return self.components.ascend_norm(level, &next.u, u, f, self.plan.post),
                None => self.hierarchy().solve_coarsest(u, f, false)?,
            }
        }
        Ok(Norms { defect: self.hierarchy().defect_norm(level, u, f)?, size: None })
    }

    /// From the coarsest grid up: each level starts from the interpolated solution of the one below.
    fn full(&mut self, level: usize, u: &mut C::Grid, f: &C::Grid, coarse: &mut [Pair<C::Grid>]) -> Result<Norms> {
        self.full_start(level, u, f, coarse)?;
        self.cycle_norm(level, u, f, coarse)
    }

    /// The initial guess of `level`: the interpolated solution of the next coarser one.
    fn full_start(&mut self, level: usize, u: &mut C::Grid, f: &C::Grid, coarse: &mut [Pair<C::Grid>]) -> Result<()> {
        let Some((next, rest)) = coarse.split_first_mut() else { return Ok(()) };
        self.hierarchy().coarsen(level, u, f, &mut next.u, &mut next.f)?;
        self.full_start(level + 1, &mut next.u, &next.f, rest)?;
        self.visit(level + 1, &mut next.u, &next.f, rest, false)?;
        self.components.refine(level, &next.u, u)
    }
}

/// Components and the memory of all levels but the finest, whose grids are the caller's.
pub(crate) struct Multigrid<C: Components> {
    method: Method<C>,
    coarse: Vec<Pair<C::Grid>>,
    /// Most cycles between two looks at the norms, where cycles overlap.
    batch: Option<usize>,
    /// Whether the finest level has begun its next cycle and the coarse levels have done theirs.
    begun: bool,
}

/// Largest side at which kernels are tried out on the finest level itself.
const SMALL: usize = 129;

impl<C: Components> Multigrid<C> {
    /// Allocates the coarse levels and lets every component run once, so that nothing is left to
    /// be compiled in a cycle. `full` includes the components of full multigrid.
    pub(crate) fn new(mut components: C, sides: &[usize], plan: Plan, full: bool) -> Result<Multigrid<C>> {
        let pair =
            |level| Ok(Pair { u: components.hierarchy().zeros(level)?, f: components.hierarchy().zeros(level)? });
        let coarse = (1..sides.len()).map(pair).collect::<Result<_>>()?;
        let batch = match components.fused() {
            Some(fused) => fused.prepare(&plan)?,
            None => None,
        };
        let mut multigrid = Multigrid { method: Method { components, plan }, coarse, batch, begun: false };
        if sides[0] <= SMALL {
            let (mut u, f) = (multigrid.hierarchy().zeros(0)?, multigrid.hierarchy().zeros(0)?);
            multigrid.warm_up(0, &mut u, &f, full)?;
        } else {
            let Pair { mut u, f } = multigrid.coarse.remove(0);
            // Memory is short by one pair meanwhile: the levels below are visited as they are.
            multigrid.warm_up(1, &mut u, &f, full)?;
            multigrid.coarse.insert(0, Pair { u, f });
        }
        Ok(multigrid)
    }

    /// Everything once, with the finest grids those of `level`.
    fn warm_up(&mut self, level: usize, u: &mut C::Grid, f: &C::Grid, full: bool) -> Result<()> {
        let Multigrid { method, coarse, .. } = self;
        let hierarchy = method.hierarchy();
        hierarchy.source_norm(level, u, f)?;
        hierarchy.defect_norm(level, u, f)?;
        hierarchy.norm(u)?;
        if full {
            method.full(level, u, f, coarse)?;
        }
        method.cycle_norm(level, u, f, coarse)?;
        method.visit(level, u, f, coarse, true)
    }

    /// What the cycles consist of.
    pub(crate) fn components(&mut self) -> &mut C {
        &mut self.method.components
    }

    /// The grids of all levels.
    pub(crate) fn hierarchy(&self) -> &C::Hierarchy {
        self.method.components.hierarchy()
    }

    fn begin(&mut self, u: &mut C::Grid, f: &C::Grid) -> Result<()> {
        if !self.begun {
            self.method.descend(0, u, f, &mut self.coarse, false)?;
            self.begun = true;
        }
        Ok(())
    }
}

impl<C: Components + Send> CycleFromZero<C::Grid> for Multigrid<C>
where
    C::Grid: Send,
{
    fn cycle_from_zero(&mut self, z: &mut C::Grid, r: &C::Grid) -> Result<()> {
        self.method.visit(0, z, r, &mut self.coarse, true)
    }
}

impl<C: Components + Send> CoarseCycles<C::Grid> for Multigrid<C>
where
    C::Grid: Send,
{
    fn visit(&mut self, u: &mut C::Grid, f: &C::Grid, zero: bool) -> Result<()> {
        self.method.visit(0, u, f, &mut self.coarse, zero)
    }

    fn full_visit(&mut self, u: &mut C::Grid, f: &C::Grid) -> Result<()> {
        self.method.full_start(0, u, f, &mut self.coarse)?;
        self.method.visit(0, u, f, &mut self.coarse, false)
    }
}

impl<C: Components> Cycles for Multigrid<C> {
    type Grid = C::Grid;

    fn start_norms(&mut self, u: &C::Grid, f: &C::Grid) -> Result<[f64; 3]> {
        self.components().start_norms(u, f)
    }

    fn norm(&self, u: &C::Grid) -> Result<f64> {
        self.hierarchy().norm(u)
    }

    fn levels(&self) -> usize {
        self.coarse.len() + 1
    }

    fn reset(&mut self) {
        self.begun = false;
    }

    fn batch(&mut self, size: f64) -> usize {
        let fits = self.components().fused().is_some_and(|fused| fused.sums_fit(size));
        self.batch.filter(|_| fits).unwrap_or(1)
    }

    fn cycles(&mut self, u: &mut C::Grid, f: &C::Grid, count: usize, last: bool, size: f64) -> Result<Vec<Norms>> {
        if self.batch(size) < 2 {
            let cycle = |_| self.method.cycle_norm(0, u, f, &mut self.coarse);
            return (0..count).map(cycle).collect();
        }
        self.begin(u, f)?;
        let Multigrid { method, coarse, begun, .. } = self;
        for cycle in 0..count {
            let (next, rest) = coarse.split_first_mut().expect("fused cycles have coarse levels");
            let plan = method.plan;
            let fused = method.components.fused().expect("only fused cycles come in batches");
            if last && cycle == count - 1 {
                fused.post(&plan, &next.u, u, f, cycle)?;
                *begun = false;
            } else {
                fused.post_and_pre(&plan, &next.u, u, f, &mut next.f, cycle)?;
                method.visits(0, next, rest)?;
            }
        }
        method.components.fused().expect("only fused cycles come in batches").norms(count)
    }

    fn end(&mut self, u: &mut C::Grid, f: &C::Grid) -> Result<Option<Norms>> {
        if !std::mem::take(&mut self.begun) {
            return Ok(None);
        }
        let Multigrid { method: Method { components, plan }, coarse, .. } = self;
        let fused = components.fused().expect("only fused cycles begin before the last one ends");
        fused.post(plan, &coarse[0].u, u, f, 0)?;
        Ok(fused.norms(1)?.pop())
    }

    fn full(&mut self, u: &mut C::Grid, f: &C::Grid) -> Result<Norms> {
        self.method.full(0, u, f, &mut self.coarse)
    }
}
