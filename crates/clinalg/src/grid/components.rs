//! The multigrid cycles, over components of any form.

use crate::Result;
use crate::reference::grid2::Order;

/// What a cycle needs on each level; level 0 is the finest. Grids of level `l` have the side of
/// that level; `f` holds the right-hand side of the level.
pub(super) trait Components {
    /// A grid in the memory that the form works on.
    type Grid;

    /// A grid of zeros for `level`.
    fn zeros(&self, level: usize) -> Result<Self::Grid>;

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
    ) -> Result<()>;

    /// `u` += interpolated `coarse`; then relaxations.
    fn ascend(
        &mut self,
        level: usize,
        coarse: &Self::Grid,
        u: &mut Self::Grid,
        f: &Self::Grid,
        sweeps: Sweeps,
    ) -> Result<()>;

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
        Ok(Norms { defect: self.defect_norm(level, u, f)?, size: None })
    }

    /// A whole cycle by the plan of [`Components::prepare`] on `level` and all below it, in one go. False, and nothing
    /// done, where that is not how this form works or the level is too large.
    fn cycle(&mut self, _level: usize, _u: &mut Self::Grid, _f: &Self::Grid, _zero: bool) -> Result<bool> {
        Ok(false)
    }

    /// Told once how the cycles will go. `Some` where the form has [`Components::turn`] for them, with the most cycles
    /// whose sums it keeps.
    fn prepare(&mut self, _plan: &Plan) -> Result<Option<usize>> {
        Ok(None)
    }

    /// The end of one cycle on the finest level and the beginning of the next: [`Components::ascend`], sums of squares
    /// that are kept as those of cycle `cycle`, [`Components::descend`]. For forms that say so when prepared.
    fn turn(
        &mut self,
        _plan: &Plan,
        _coarse: &Self::Grid,
        _u: &mut Self::Grid,
        _f: &Self::Grid,
        _coarse_f: &mut Self::Grid,
        _cycle: usize,
    ) -> Result<()> {
        unreachable!("this form has no turn")
    }

    /// [`Components::ascend`] on the finest level, with sums as in [`Components::turn`].
    fn ascend_summed(
        &mut self,
        _plan: &Plan,
        _coarse: &Self::Grid,
        _u: &mut Self::Grid,
        _f: &Self::Grid,
        _cycle: usize,
    ) -> Result<()> {
        unreachable!("this form has no turn")
    }

    /// The norms from the sums of cycles 0 to `cycles` - 1.
    fn norms(&mut self, _cycles: usize) -> Result<Vec<Norms>> {
        unreachable!("this form has no turn")
    }

    /// Whether sums of squares of terms from `size` down to what rounding leaves of it keep within the range.
    fn sums_fit(&self, _size: f64) -> bool {
        false
    }

    /// The exact solution on the grid with one interior point; `zero` clears the boundary of `u`.
    fn solve_coarsest(&mut self, u: &mut Self::Grid, f: &Self::Grid, zero: bool) -> Result<()>;

    /// Euclidean norm of f - A u over the interior, where A is the matrix of the level.
    fn defect_norm(&mut self, level: usize, u: &Self::Grid, f: &Self::Grid) -> Result<f64>;

    /// Euclidean norm of f - A u over the interior, u taken as 0 there.
    fn source_norm(&mut self, level: usize, u: &Self::Grid, f: &Self::Grid) -> Result<f64>;

    /// Euclidean norm of all values.
    fn norm(&self, u: &Self::Grid) -> Result<f64>;

    /// Those of [`Components::start_norms`] that one pass gives.
    fn norms_of_start(&mut self, _u: &Self::Grid, _f: &Self::Grid) -> Result<StartNorms> {
        Ok([None; 3])
    }

    /// The norms of a start value on the finest level: [`norm`](Components::norm),
    /// [`defect_norm`](Components::defect_norm) and [`source_norm`](Components::source_norm).
    fn start_norms(&mut self, u: &Self::Grid, f: &Self::Grid) -> Result<[f64; 3]> {
        let [size, defect, source] = self.norms_of_start(u, f)?;
        Ok([
            size.map_or_else(|| self.norm(u), Ok)?,
            defect.map_or_else(|| self.defect_norm(0, u, f), Ok)?,
            source.map_or_else(|| self.source_norm(0, u, f), Ok)?,
        ])
    }

    /// For full multigrid: `coarse_f` = restricted `f`, boundary of `coarse_u` = that of `u`.
    fn coarsen(
        &mut self,
        level: usize,
        u: &Self::Grid,
        f: &Self::Grid,
        coarse_u: &mut Self::Grid,
        coarse_f: &mut Self::Grid,
    ) -> Result<()>;

    /// For full multigrid: interior of `u` = bicubic interpolant of `coarse`.
    fn refine(&mut self, level: usize, coarse: &Self::Grid, u: &mut Self::Grid) -> Result<()>;
}

/// The norms of u, of the defect and of the source, where they are known.
pub(super) type StartNorms = [Option<f64>; 3];

/// What a cycle leaves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Norms {
    /// Of the defect, over the interior.
    pub(super) defect: f64,
    /// Of all values of u, where known.
    pub(super) size: Option<f64>,
}

/// Relaxations in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sweeps {
    pub(super) count: usize,
    /// Of the colours, for red-black.
    pub(super) order: Order,
}

/// How a cycle goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Visits of the next coarser level per visit.
    pub(super) visits: usize,
    /// Relaxations before and after the coarse-grid correction.
    pub(super) pre: Sweeps,
    pub(super) post: Sweeps,
}

/// Solution, or correction, and right-hand side of a coarse level.
struct Pair<G> {
    u: G,
    f: G,
}

/// Components and the memory of all levels but the finest, whose grids are the caller's.
pub(super) struct Multigrid<C: Components> {
    pub(super) components: C,
    plan: Plan,
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
    pub(super) fn new(mut components: C, sides: &[usize], plan: Plan, full: bool) -> Result<Multigrid<C>> {
        let pair = |level| Ok(Pair { u: components.zeros(level)?, f: components.zeros(level)? });
        let coarse = (1..sides.len()).map(pair).collect::<Result<_>>()?;
        let batch = components.prepare(&plan)?;
        let mut multigrid = Multigrid { components, plan, coarse, batch, begun: false };
        if sides[0] <= SMALL {
            let (mut u, f) = (multigrid.components.zeros(0)?, multigrid.components.zeros(0)?);
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
        let Multigrid { components, plan, coarse, .. } = self;
        components.source_norm(level, u, f)?;
        components.defect_norm(level, u, f)?;
        components.norm(u)?;
        if full {
            full_pass(components, plan, level, u, f, coarse)?;
        }
        cycle_norm(components, plan, level, u, f, coarse)?;
        visit(components, plan, level, u, f, coarse, true)
    }

    /// Number of grids.
    pub(super) fn levels(&self) -> usize {
        self.coarse.len() + 1
    }

    /// One cycle from the start value 0, whatever `u` holds; its boundary becomes 0.
    pub(super) fn cycle_from_zero(&mut self, u: &mut C::Grid, f: &C::Grid) -> Result<()> {
        visit(&mut self.components, &self.plan, 0, u, f, &mut self.coarse, true)
    }

    /// Most cycles for [`Multigrid::cycles`], where defects are about as large as `size` at first.
    pub(super) fn batch(&self, size: f64) -> usize {
        self.batch.filter(|_| self.components.sums_fit(size)).unwrap_or(1)
    }

    /// `count` cycles and what each leaves, the last one after the others. Unless it is `last`, the next cycle may have
    /// begun: then u is not what the last cycle left until [`Multigrid::end`]. `size` is that of [`Multigrid::batch`].
    pub(super) fn cycles(
        &mut self,
        u: &mut C::Grid,
        f: &C::Grid,
        count: usize,
        last: bool,
        size: f64,
    ) -> Result<Vec<Norms>> {
        if self.batch(size) < 2 {
            let cycle = |_| cycle_norm(&mut self.components, &self.plan, 0, u, f, &mut self.coarse);
            return (0..count).map(cycle).collect();
        }
        self.begin(u, f)?;
        let Multigrid { components, plan, coarse, begun, .. } = self;
        for cycle in 0..count {
            let (next, rest) = coarse.split_first_mut().expect("forms with a turn have coarse levels");
            if last && cycle == count - 1 {
                components.ascend_summed(plan, &next.u, u, f, cycle)?;
                *begun = false;
            } else {
                components.turn(plan, &next.u, u, f, &mut next.f, cycle)?;
                visits(components, plan, 0, next, rest)?;
            }
        }
        components.norms(count)
    }

    /// Ends the cycle that [`Multigrid::cycles`] began, and what it leaves; `None` where there is none.
    pub(super) fn end(&mut self, u: &mut C::Grid, f: &C::Grid) -> Result<Option<Norms>> {
        if !std::mem::take(&mut self.begun) {
            return Ok(None);
        }
        let Multigrid { components, plan, coarse, .. } = self;
        components.ascend_summed(plan, &coarse[0].u, u, f, 0)?;
        Ok(components.norms(1)?.pop())
    }

    /// Forgets what a solve left unfinished.
    pub(super) fn reset(&mut self) {
        self.begun = false;
    }

    fn begin(&mut self, u: &mut C::Grid, f: &C::Grid) -> Result<()> {
        if !self.begun {
            descend(&mut self.components, &self.plan, 0, u, f, &mut self.coarse, false)?;
            self.begun = true;
        }
        Ok(())
    }

    /// One pass of full multigrid and what it leaves.
    pub(super) fn full_norm(&mut self, u: &mut C::Grid, f: &C::Grid) -> Result<Norms> {
        full_pass(&mut self.components, &self.plan, 0, u, f, &mut self.coarse)
    }
}

/// Pre-smoothing on `level` and the correction on the next coarser one, the first of `coarse`.
fn descend<C: Components>(
    c: &mut C,
    plan: &Plan,
    level: usize,
    u: &mut C::Grid,
    f: &C::Grid,
    coarse: &mut [Pair<C::Grid>],
    zero: bool,
) -> Result<()> {
    let Some((next, rest)) = coarse.split_first_mut() else { return Ok(()) };
    c.descend(level, u, f, zero, plan.pre, &mut next.f)?;
    visits(c, plan, level, next, rest)
}

/// The correction for `level`, by cycles on the level below it, `next`.
fn visits<C: Components>(
    c: &mut C,
    plan: &Plan,
    level: usize,
    next: &mut Pair<C::Grid>,
    rest: &mut [Pair<C::Grid>],
) -> Result<()> {
    // The coarsest grid is solved exactly the first time.
    let count = if rest.is_empty() { 1 } else { plan.visits };
    (0..count).try_for_each(|k| visit(c, plan, level + 1, &mut next.u, &next.f, rest, k == 0))
}

/// One cycle on `level`; `coarse` are the levels below it.
fn visit<C: Components>(
    c: &mut C,
    plan: &Plan,
    level: usize,
    u: &mut C::Grid,
    f: &C::Grid,
    coarse: &mut [Pair<C::Grid>],
    zero: bool,
) -> Result<()> {
    if c.cycle(level, u, f, zero)? {
        return Ok(());
    }
    descend(c, plan, level, u, f, coarse, zero)?;
    match coarse.first() {
        Some(next) => c.ascend(level, &next.u, u, f, plan.post),
        None => c.solve_coarsest(u, f, zero),
    }
}

/// One cycle on `level` and what it leaves.
fn cycle_norm<C: Components>(
    c: &mut C,
    plan: &Plan,
    level: usize,
    u: &mut C::Grid,
    f: &C::Grid,
    coarse: &mut [Pair<C::Grid>],
) -> Result<Norms> {
    if c.cycle(level, u, f, false)? {
        return Ok(Norms { defect: c.defect_norm(level, u, f)?, size: None });
    }
    descend(c, plan, level, u, f, coarse, false)?;
    match coarse.first() {
        Some(next) => c.ascend_norm(level, &next.u, u, f, plan.post),
        None => {
            c.solve_coarsest(u, f, false)?;
            Ok(Norms { defect: c.defect_norm(level, u, f)?, size: None })
        }
    }
}

/// From the coarsest grid up: each level starts from the interpolated solution of the one below.
fn full_pass<C: Components>(
    c: &mut C,
    plan: &Plan,
    level: usize,
    u: &mut C::Grid,
    f: &C::Grid,
    coarse: &mut [Pair<C::Grid>],
) -> Result<Norms> {
    full_start(c, plan, level, u, f, coarse)?;
    cycle_norm(c, plan, level, u, f, coarse)
}

/// The start value of `level`: the interpolated solution of the next coarser one.
fn full_start<C: Components>(
    c: &mut C,
    plan: &Plan,
    level: usize,
    u: &mut C::Grid,
    f: &C::Grid,
    coarse: &mut [Pair<C::Grid>],
) -> Result<()> {
    let Some((next, rest)) = coarse.split_first_mut() else { return Ok(()) };
    c.coarsen(level, u, f, &mut next.u, &mut next.f)?;
    full_start(c, plan, level + 1, &mut next.u, &next.f, rest)?;
    visit(c, plan, level + 1, &mut next.u, &next.f, rest, false)?;
    c.refine(level, &next.u, u)
}
