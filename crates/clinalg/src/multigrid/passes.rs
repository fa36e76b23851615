//! Cycles whose visits of a level are passes over strips of it, on GPUs.

use super::cycle::{Components, FusedCycle, Hierarchy, Norms, Order, Plan, Start, StartNorms, Sweeps};
use super::launch;
use crate::{Buffer, Context, Real, Result, Vector};

/// Most red-black sweeps in one pass, except in fused post- and pre-smoothing: more rows in flight take more registers.
pub(crate) const TOGETHER: usize = 2;
/// Most sweeps of red-black in fused post- and pre-smoothing.
pub(crate) const MOST_FUSED: usize = 3;
/// Most cycles whose sums are kept.
const BATCH: usize = 16;
/// Stands for no sums in the kernels.
const NEVER: u64 = 255;

/// What a pass over a level does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pass {
    pub(crate) start: Start,
    pub(crate) sweeps: Sweeps,
    /// After how many sweeps squares are summed.
    pub(crate) summed: Option<usize>,
    pub(crate) restricted: bool,
}

/// The grids that a pass works on; those it has no use for are not touched.
pub(crate) struct Grids<'a, T: Real> {
    pub(crate) f: &'a Vector<T>,
    pub(crate) u: &'a Vector<T>,
    /// Another one than `u`, but for [`Start::FromZero`].
    pub(crate) out: &'a Vector<T>,
    pub(crate) correction: &'a Vector<T>,
    pub(crate) coarse: &'a Vector<T>,
    /// Where the sums go, and from which value on.
    pub(crate) sums: Option<(&'a Buffer<T>, usize)>,
}

impl Pass {
    pub(crate) fn smoothing(sweeps: Sweeps) -> Pass {
        Pass { start: Start::Current, sweeps, summed: None, restricted: false }
    }

    /// Half-sweeps.
    pub(crate) fn stages(&self) -> usize {
        2 * self.sweeps.count
    }

    /// After how many half-sweeps squares are summed, as the kernels have it.
    pub(crate) fn summed_stage(&self) -> u64 {
        self.summed.map_or(NEVER, |sweeps| 2 * sweeps as u64)
    }

    /// Columns and rows on either side that a group works on for itself.
    pub(crate) fn halo(&self) -> usize {
        let after = self.restricted || self.summed == Some(self.sweeps.count);
        self.stages() + 2 * usize::from(after)
    }

    /// The passes of [`Components::descend`].
    fn of_descent(sweeps: Sweeps, zero: bool) -> impl Iterator<Item = Pass> {
        let last = sweeps.count.div_ceil(TOGETHER).saturating_sub(1);
        parts(sweeps).enumerate().map(move |(k, sweeps)| {
            let start = Start::zero_if(zero && k == 0);
            Pass { start, sweeps, summed: None, restricted: k == last }
        })
    }

    /// The passes of [`Components::ascend`].
    fn of_ascent(sweeps: Sweeps) -> impl Iterator<Item = Pass> {
        parts(sweeps).enumerate().map(|(k, sweeps)| {
            let start = if k == 0 { Start::Corrected } else { Start::Current };
            Pass { start, sweeps, summed: None, restricted: false }
        })
    }

    /// The pass of [`Components::ascend_norm`], where one is enough.
    fn with_norm(sweeps: Sweeps) -> Option<Pass> {
        let pass = Pass { start: Start::Corrected, sweeps, summed: Some(sweeps.count), restricted: false };
        (1..=TOGETHER).contains(&sweeps.count).then_some(pass)
    }

    /// Post-smoothing of one cycle fused with pre-smoothing of the next, from the correction to the restriction.
    fn between_cycles(plan: &Plan) -> Pass {
        let sweeps = Sweeps { count: plan.post.count + plan.pre.count, order: plan.post.order };
        Pass { start: Start::Corrected, sweeps, summed: Some(plan.post.count), restricted: true }
    }

    /// The pass that ends the last cycle.
    fn of_end(plan: &Plan) -> Pass {
        Pass { start: Start::Corrected, sweeps: plan.post, summed: Some(plan.post.count), restricted: false }
    }
}

/// The sweeps of a visit that one pass makes after the other.
fn parts(sweeps: Sweeps) -> impl Iterator<Item = Sweeps> {
    (0..sweeps.count).step_by(TOGETHER).map(move |done| Sweeps { count: TOGETHER.min(sweeps.count - done), ..sweeps })
}

/// Components with passes over levels, and all coarse levels in one launch.
pub(crate) trait InPasses<T: Real>: Components<Grid = Vector<T>> {
    /// Where the grids live.
    fn context(&self) -> &Context;

    /// Whether visits of the level are made in passes.
    fn has_passes(&self, level: usize) -> bool;

    /// What a pass over the level writes before it takes the place of u.
    fn spare(&self, level: usize) -> &Vector<T>;

    /// The same, to be exchanged.
    fn spare_mut(&mut self, level: usize) -> &mut Vector<T>;

    /// Enqueues a pass.
    fn run(&self, level: usize, pass: Pass, grids: &Grids<'_, T>) -> Result<()>;

    /// Values that the sums of a pass take.
    fn sums(&self, level: usize, pass: Pass) -> usize;

    /// Builds the kernel of a pass.
    fn prepare(&self, level: usize, pass: Pass) -> Result<()>;

    /// Builds the remaining kernels that the plan needs; returns whether the finest level is one of those of [`InPasses::coarse_cycle`].
    fn prepare_others(&mut self, plan: &Plan) -> Result<bool>;

    /// As [`FusedCycle::cycle`].
    fn coarse_cycle(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<bool>;

    /// A pass over a level from `u`, which is the result as well; `correction` and `coarse` where the pass has them.
    fn pass(
        &mut self,
        level: usize,
        pass: Pass,
        u: &mut Vector<T>,
        f: &Vector<T>,
        (correction, coarse): (Option<&Vector<T>>, Option<&Vector<T>>),
        sums: Option<(&Buffer<T>, usize)>,
    ) -> Result<()> {
        let in_place = pass.start == Start::FromZero;
        let out = if in_place { &*u } else { self.spare(level) };
        let (correction, coarse) = (correction.unwrap_or(u), coarse.unwrap_or(u));
        self.run(level, pass, &Grids { f, u, out, correction, coarse, sums })?;
        if !in_place {
            std::mem::swap(u, self.spare_mut(level));
        }
        Ok(())
    }

    /// Relaxations by red-black in passes.
    fn relax(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        parts(sweeps).try_for_each(|part| self.pass(level, Pass::smoothing(part), u, f, (None, None), None))
    }
}

/// The cycles over such components.
pub(crate) struct Passes<T: Real, C> {
    components: C,
    /// The sums of some cycles, `stride` values for each.
    sums: Buffer<T>,
    stride: usize,
    /// How many of these each cycle has.
    summed: Vec<usize>,
}

impl<T: Real, C: InPasses<T>> Passes<T, C> {
    pub(crate) fn over(components: C) -> Result<Passes<T, C>> {
        let sums = Buffer::uninit(components.context(), 0)?;
        Ok(Passes { components, sums, stride: 0, summed: vec![0; BATCH] })
    }

    /// A pass whose sums are those of `cycle`.
    fn summed_pass(
        &mut self,
        level: usize,
        pass: Pass,
        cycle: usize,
        u: &mut Vector<T>,
        f: &Vector<T>,
        grids: (Option<&Vector<T>>, Option<&Vector<T>>),
    ) -> Result<()> {
        self.summed[cycle] = self.components.sums(level, pass);
        self.components.pass(level, pass, u, f, grids, Some((&self.sums, cycle * self.stride)))
    }
}

impl<T: Real, C: InPasses<T>> Components for Passes<T, C> {
    type Grid = Vector<T>;
    type Hierarchy = C::Hierarchy;

    fn hierarchy(&self) -> &C::Hierarchy {
        self.components.hierarchy()
    }

    fn hierarchy_mut(&mut self) -> &mut C::Hierarchy {
        self.components.hierarchy_mut()
    }

    fn smooth(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        self.components.smooth(level, u, f, sweeps)
    }

    fn restrict_defect(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>, coarse: &mut Vector<T>) -> Result<()> {
        self.components.restrict_defect(level, u, f, coarse)
    }

    fn interpolate_add(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        self.components.interpolate_add(level, coarse, u)
    }

    fn descend(
        &mut self,
        level: usize,
        u: &mut Vector<T>,
        f: &Vector<T>,
        zero: bool,
        sweeps: Sweeps,
        coarse: &mut Vector<T>,
    ) -> Result<()> {
        if sweeps.count == 0 || !self.components.has_passes(level) {
            return self.components.descend(level, u, f, zero, sweeps, coarse);
        }
        Pass::of_descent(sweeps, zero)
            .try_for_each(|pass| self.components.pass(level, pass, u, f, (None, Some(coarse)), None))
    }

    fn ascend(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: Sweeps,
    ) -> Result<()> {
        if sweeps.count == 0 || !self.components.has_passes(level) {
            return self.components.ascend(level, coarse, u, f, sweeps);
        }
        Pass::of_ascent(sweeps).try_for_each(|pass| self.components.pass(level, pass, u, f, (Some(coarse), None), None))
    }

    fn ascend_norm(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: Sweeps,
    ) -> Result<Norms> {
        if !self.components.has_passes(level) {
            return self.components.ascend_norm(level, coarse, u, f, sweeps);
        }
        let fits = |pass: &Pass| self.components.sums(level, *pass) <= self.stride;
        if let Some(pass) = Pass::with_norm(sweeps).filter(fits) {
            self.summed_pass(level, pass, 0, u, f, (Some(coarse), None))?;
            // Squares out of range are rare enough to be summed in a pass of their own.
            if let Some(norms) = self.norms(1)?.pop()
                && launch::in_range::<T>(norms.defect * norms.defect)
            {
                return Ok(norms);
            }
        } else {
            self.ascend(level, coarse, u, f, sweeps)?;
        }
        Ok(Norms { defect: self.hierarchy_mut().defect_norm(level, u, f)?, size: None })
    }

    fn fused(&mut self) -> Option<&mut dyn FusedCycle<Grid = Vector<T>>> {
        Some(self)
    }

    fn norms_of_start(&mut self, u: &Vector<T>, f: &Vector<T>) -> Result<StartNorms> {
        self.components.norms_of_start(u, f)
    }

    fn refine(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        self.components.refine(level, coarse, u)
    }
}

impl<T: Real, C: InPasses<T>> FusedCycle for Passes<T, C> {
    type Grid = Vector<T>;

    fn cycle(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<bool> {
        self.components.coarse_cycle(level, u, f, zero)
    }

    fn prepare(&mut self, plan: &Plan) -> Result<Option<usize>> {
        let components = &mut self.components;
        if components.prepare_others(plan)? || !components.has_passes(0) {
            return Ok(None);
        }
        // The finest level may take other launch parameters than those below it, so other builds.
        let one_order = plan.pre.order == Order::RedFirst && plan.post.order == Order::RedFirst;
        let few = plan.pre.count > 0 && plan.post.count > 0 && plan.pre.count + plan.post.count <= MOST_FUSED;
        let fuses = one_order && few;
        let last = [Pass::between_cycles(plan), Pass::of_end(plan)];
        let visit =
            Pass::of_descent(plan.pre, false).chain(Pass::of_descent(plan.pre, true)).chain(Pass::of_ascent(plan.post));
        for pass in visit.chain(last.into_iter().filter(|_| fuses)) {
            components.prepare(0, pass)?;
        }
        if !fuses {
            return Ok(None);
        }
        self.stride = last.map(|pass| components.sums(0, pass)).into_iter().max().unwrap_or(0);
        self.sums = Buffer::zeroed(components.context(), BATCH * self.stride)?;
        Ok(Some(BATCH))
    }

    fn post_and_pre(
        &mut self,
        plan: &Plan,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        coarse_f: &mut Vector<T>,
        cycle: usize,
    ) -> Result<()> {
        self.summed_pass(0, Pass::between_cycles(plan), cycle, u, f, (Some(coarse), Some(coarse_f)))
    }

    fn post(&mut self, plan: &Plan, coarse: &Vector<T>, u: &mut Vector<T>, f: &Vector<T>, cycle: usize) -> Result<()> {
        self.summed_pass(0, Pass::of_end(plan), cycle, u, f, (Some(coarse), None))
    }

    fn norms(&mut self, cycles: usize) -> Result<Vec<Norms>> {
        let mut sums = vec![T::zero(); cycles * self.stride];
        self.sums.read_range(0, &mut sums)?;
        let of_cycle = |cycle| {
            let sums = &sums[cycle * self.stride..][..self.summed[cycle]];
            let total = |of: usize| sums.iter().skip(of).step_by(2).map(|s| s.into_f64()).sum::<f64>();
            let size = Some(total(1)).filter(|&squares| launch::in_range::<T>(squares)).map(f64::sqrt);
            Norms { defect: total(0).sqrt(), size }
        };
        Ok((0..cycles).map(of_cycle).collect())
    }

    fn sums_fit(&self, size: f64) -> bool {
        let least = size * T::epsilon().into_f64() * 1e-3;
        launch::in_range::<T>(size * size) && launch::in_range::<T>(least * least)
    }
}
