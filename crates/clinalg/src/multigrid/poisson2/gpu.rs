//! The components as kernels for GPUs: all of a visit in one pass over memory, the coarse levels in one launch.

use super::Levels;
use super::fused::{self, Coarse, Grids, Pass, Start};
use crate::multigrid::cycle::Order;
use crate::multigrid::cycle::{Components, FusedCycle, Hierarchy, Norms, Plan, StartNorms, Sweeps};
use crate::multigrid::launch;
use crate::multigrid::params::Smoother;
use crate::runtime::kernels::{grid2_cubic, grid2_transfer};
use crate::runtime::{Out, Range};
use crate::{Buffer, Context, Real, Result, Vector};

/// Most cycles whose sums are kept.
const BATCH: usize = 16;

/// Work-groups per compute unit of the cubic interpolation, whose bands are shorter with more of them.
const CUBIC_GROUPS_PER_UNIT: usize = 8;
/// Least coarse rows of its bands, each of which reads three more.
const CUBIC_ROWS: usize = 4;

/// Kernels for GPUs.
pub(crate) struct Poisson2Gpu<T: Real> {
    levels: Levels<T>,
    smoother: Smoother,
    omega: T,
    /// What a pass writes on each level before it takes the place of u.
    spare: Vec<Vector<T>>,
    coarse: Option<Coarse<T>>,
    /// The sums of some cycles, `stride` values for each.
    sums: Buffer<T>,
    stride: usize,
    /// How many of these each cycle has.
    summed: Vec<usize>,
}

impl<T: Real> Poisson2Gpu<T> {
    pub(crate) fn new(
        context: &Context,
        sides: &[usize],
        shift: f64,
        smoother: Smoother,
        omega: f64,
    ) -> Result<Poisson2Gpu<T>> {
        Poisson2Gpu::on(Levels::new(context, sides, shift), smoother, omega)
    }

    /// The same on these levels.
    pub(crate) fn on(levels: Levels<T>, smoother: Smoother, omega: f64) -> Result<Poisson2Gpu<T>> {
        let spare = (0..levels.sides.len()).map(|level| levels.zeros(level)).collect::<Result<_>>()?;
        let sums = Buffer::uninit(&levels.context, 0)?;
        Ok(Poisson2Gpu {
            levels,
            smoother,
            omega: T::from_f64(omega),
            spare,
            coarse: None,
            sums,
            stride: 0,
            summed: vec![0; BATCH],
        })
    }

    /// A pass over a level from `u`, which is the result as well; `correction` and `coarse` where the pass has them.
    fn pass(
        &mut self,
        level: usize,
        pass: Pass,
        u: &mut Vector<T>,
        f: &Vector<T>,
        (correction, coarse): (Option<&Vector<T>>, Option<&Vector<T>>),
        cycle: usize,
    ) -> Result<()> {
        let grid = self.levels.grid(level);
        if pass.summed.is_some() {
            self.summed[cycle] = pass.sums::<T>(&self.levels.context, grid);
        }
        let in_place = pass.start == Start::FromZero;
        let out = if in_place { &*u } else { &self.spare[level] };
        let grids = Grids {
            f,
            u,
            out,
            correction: correction.unwrap_or(u),
            coarse: coarse.unwrap_or(u),
            sums: pass.summed.map(|_| (&self.sums, cycle * self.stride)),
        };
        pass.run(grid, self.levels.shift, &grids)?;
        if !in_place {
            std::mem::swap(u, &mut self.spare[level]);
        }
        Ok(())
    }

    /// The passes of [`Components::descend`].
    fn descend_passes(sweeps: Sweeps, zero: bool) -> impl Iterator<Item = Pass> {
        let last = sweeps.count.div_ceil(fused::TOGETHER).saturating_sub(1);
        parts(sweeps).enumerate().map(move |(k, sweeps)| {
            let start = if zero && k == 0 { Start::FromZero } else { Start::Given };
            Pass { start, sweeps, summed: None, restricted: k == last }
        })
    }

    /// The passes of [`Components::ascend`].
    fn ascend_passes(sweeps: Sweeps) -> impl Iterator<Item = Pass> {
        parts(sweeps).enumerate().map(|(k, sweeps)| {
            let start = if k == 0 { Start::Corrected } else { Start::Given };
            Pass { start, sweeps, summed: None, restricted: false }
        })
    }

    /// The pass of [`Components::ascend_norm`], where one is enough.
    fn norm_pass(sweeps: Sweeps) -> Option<Pass> {
        let pass = Pass { start: Start::Corrected, sweeps, summed: Some(sweeps.count), restricted: false };
        (1..=fused::TOGETHER).contains(&sweeps.count).then_some(pass)
    }

    /// Post-smoothing of one cycle fused with pre-smoothing of the next, from the correction to the restriction.
    fn fused_pass(plan: &Plan) -> Pass {
        let sweeps = Sweeps { count: plan.post.count + plan.pre.count, order: plan.post.order };
        Pass { start: Start::Corrected, sweeps, summed: Some(plan.post.count), restricted: true }
    }

    /// The pass that ends the last cycle.
    fn last_pass(plan: &Plan) -> Pass {
        Pass { start: Start::Corrected, sweeps: plan.post, summed: Some(plan.post.count), restricted: false }
    }
}

/// The sweeps of a visit that one pass makes after the other.
fn parts(sweeps: Sweeps) -> impl Iterator<Item = Sweeps> {
    (0..sweeps.count)
        .step_by(fused::TOGETHER)
        .map(move |done| Sweeps { count: fused::TOGETHER.min(sweeps.count - done), ..sweeps })
}

impl<T: Real> Components for Poisson2Gpu<T> {
    type Grid = Vector<T>;
    type Hierarchy = Levels<T>;

    fn hierarchy(&self) -> &Levels<T> {
        &self.levels
    }

    fn hierarchy_mut(&mut self) -> &mut Levels<T> {
        &mut self.levels
    }

    fn smooth(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        match self.smoother {
            Smoother::RedBlack => {
                parts(sweeps).try_for_each(|part| self.pass(level, Pass::smoothing(part), u, f, (None, None), 0))
            }
            Smoother::Jacobi => {
                let grid = self.levels.grid(level);
                (0..sweeps.count).step_by(fused::JACOBI_TOGETHER).try_for_each(|done| {
                    let count = fused::JACOBI_TOGETHER.min(sweeps.count - done);
                    fused::jacobi(grid, count, self.levels.shift, self.omega, u, f, &self.spare[level])?;
                    std::mem::swap(u, &mut self.spare[level]);
                    Ok(())
                })
            }
        }
    }

    fn restrict_defect(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>, coarse: &mut Vector<T>) -> Result<()> {
        let Levels { context, sides, rows, shift } = &self.levels;
        let (m, rows, inverse_h2) = (sides[level + 1], rows[level], launch::inverse_h2(sides[level]));
        let (range, coarse) = (launch::points(context, m, rows.coarse()), Out::shared(coarse.buffer()));
        let (program, [u, f]) = (grid2_transfer::Program::new(), [u, f].map(Vector::buffer));
        program.restrict_defect(context, range, m, rows.coarse(), rows.skip, inverse_h2, *shift, u, f, coarse)
    }

    fn interpolate_add(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        let (context, n, rows) = (&self.levels.context, self.levels.sides[level], self.levels.rows[level]);
        let range = launch::points(context, n - 2, rows.count - 2);
        let program = grid2_transfer::Program::<T>::new();
        program.interpolate_add(context, range, n, rows.count, rows.skip, coarse.buffer(), Out::shared(u.buffer()))
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
        if self.smoother == Smoother::Jacobi || sweeps.count == 0 {
            if zero {
                u.fill(T::zero())?;
            }
            self.smooth(level, u, f, sweeps)?;
            return self.restrict_defect(level, u, f, coarse);
        }
        Poisson2Gpu::<T>::descend_passes(sweeps, zero)
            .try_for_each(|pass| self.pass(level, pass, u, f, (None, Some(coarse)), 0))
    }

    fn ascend(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: Sweeps,
    ) -> Result<()> {
        if self.smoother == Smoother::Jacobi || sweeps.count == 0 {
            self.interpolate_add(level, coarse, u)?;
            return self.smooth(level, u, f, sweeps);
        }
        Poisson2Gpu::<T>::ascend_passes(sweeps)
            .try_for_each(|pass| self.pass(level, pass, u, f, (Some(coarse), None), 0))
    }

    fn ascend_norm(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: Sweeps,
    ) -> Result<Norms> {
        let fits = |pass: &Pass| pass.sums::<T>(&self.levels.context, self.levels.grid(level)) <= self.stride;
        if let Some(pass) = Poisson2Gpu::<T>::norm_pass(sweeps).filter(fits) {
            self.pass(level, pass, u, f, (Some(coarse), None), 0)?;
            // Squares out of range are rare enough to be summed in a pass of their own.
            if let Some(norms) = self.norms(1)?.pop()
                && launch::in_range::<T>(norms.defect * norms.defect)
            {
                return Ok(norms);
            }
        } else {
            self.ascend(level, coarse, u, f, sweeps)?;
        }
        Ok(Norms { defect: self.levels.defect_norm(level, u, f)?, size: None })
    }

    fn fused(&mut self) -> Option<&mut dyn FusedCycle<Grid = Vector<T>>> {
        Some(self)
    }

    fn norms_of_start(&mut self, u: &Vector<T>, f: &Vector<T>) -> Result<StartNorms> {
        self.levels.norms_of_start(u, f)
    }

    fn refine(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        let (context, n, part) = (&self.levels.context, self.levels.sides[level], self.levels.rows[level]);
        // A group has as many coarse columns as items, less two on either side, and a band of rows.
        let (m, high, local) = (n.div_ceil(2), part.coarse(), context.local());
        let columns = m.div_ceil(local - 4);
        let bands = (context.units() * CUBIC_GROUPS_PER_UNIT).div_ceil(columns).min(high - 1);
        let rows = (high - 1).div_ceil(bands).max(CUBIC_ROWS);
        let range = Range::d2([columns * local, (high - 1).div_ceil(rows)], [local, 1]);
        let program = grid2_cubic::Program::<T>::new();
        let (coarse, u) = (coarse.buffer(), Out::shared(u.buffer()));
        program.interpolate_cubic(context, range, n, part.count, part.skip, rows as u32, coarse, u)
    }
}

impl<T: Real> FusedCycle for Poisson2Gpu<T> {
    type Grid = Vector<T>;

    fn cycle(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<bool> {
        self.coarse.as_ref().map_or(Ok(false), |coarse| coarse.run(self.levels.sides[level], f, u, zero))
    }

    fn prepare(&mut self, plan: &Plan) -> Result<Option<usize>> {
        // The finest level may take other launch parameters than those below it, so other builds.
        if self.smoother == Smoother::Jacobi {
            for sweeps in [plan.pre.count, plan.post.count] {
                let counts = [fused::JACOBI_TOGETHER.min(sweeps), sweeps % fused::JACOBI_TOGETHER];
                counts.into_iter().filter(|&count| count > 0).try_for_each(|count| {
                    fused::prepare_jacobi::<T>(&self.levels.context, self.levels.grid(0), count)
                })?;
            }
            return Ok(None);
        }
        let coarse =
            self.coarse.insert(Coarse::new(&self.levels.context, self.levels.sides.len(), self.levels.shift, plan)?);
        if coarse.reaches(self.levels.sides[0]) {
            return Ok(None);
        }
        let one_order = plan.pre.order == Order::RedFirst && plan.post.order == Order::RedFirst;
        let few = plan.pre.count > 0 && plan.post.count > 0 && plan.pre.count + plan.post.count <= fused::MOST_FUSED;
        let fuses = one_order && few;
        let (fused_pass, last) = (Poisson2Gpu::<T>::fused_pass(plan), Poisson2Gpu::<T>::last_pass(plan));
        let visit = Poisson2Gpu::<T>::descend_passes(plan.pre, false)
            .chain(Poisson2Gpu::<T>::descend_passes(plan.pre, true))
            .chain(Poisson2Gpu::<T>::ascend_passes(plan.post));
        for pass in visit.chain([fused_pass, last].into_iter().filter(|_| fuses)) {
            pass.prepare(&self.levels.context, self.levels.grid(0), self.levels.shift)?;
        }
        if !fuses {
            return Ok(None);
        }
        self.stride = [fused_pass, last]
            .map(|pass| pass.sums::<T>(&self.levels.context, self.levels.grid(0)))
            .into_iter()
            .max()
            .unwrap_or(0);
        self.sums = Buffer::zeroed(&self.levels.context, BATCH * self.stride)?;
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
        self.pass(0, Poisson2Gpu::<T>::fused_pass(plan), u, f, (Some(coarse), Some(coarse_f)), cycle)
    }

    fn post(&mut self, plan: &Plan, coarse: &Vector<T>, u: &mut Vector<T>, f: &Vector<T>, cycle: usize) -> Result<()> {
        self.pass(0, Poisson2Gpu::<T>::last_pass(plan), u, f, (Some(coarse), None), cycle)
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
