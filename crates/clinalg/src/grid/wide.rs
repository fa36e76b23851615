//! The components as kernels for GPUs: all of a visit in one pass over memory, the coarse levels in one launch.

use super::components::{Components, Norms, Plan, StartNorms, Sweeps};
use super::fused::{self, Coarse, Grids, Pass, Start};
use super::launch::{self, Term};
use super::params::Smoother;
use crate::reference::grid2::Order;
use crate::runtime::{Arg, Range};
use crate::{Buffer, Context, Real, Result, Vector, ops};

/// Most cycles whose sums are kept.
const BATCH: usize = 16;

/// Work-groups per compute unit of the cubic interpolation, whose bands are shorter with more of them.
const CUBIC_GROUPS_PER_UNIT: usize = 8;
/// Least coarse rows of its bands, each of which reads three more.
const CUBIC_ROWS: usize = 4;

/// Kernels for GPUs.
pub(super) struct Wide<T: Real> {
    context: Context,
    sides: Vec<usize>,
    shift: T,
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

impl<T: Real> Wide<T> {
    pub(super) fn new(
        context: &Context,
        sides: &[usize],
        shift: f64,
        smoother: Smoother,
        omega: f64,
    ) -> Result<Wide<T>> {
        let spare = sides.iter().map(|n| Vector::zeros(context, n * n)).collect::<Result<_>>()?;
        Ok(Wide {
            context: context.clone(),
            sides: sides.to_vec(),
            shift: T::of(shift),
            smoother,
            omega: T::of(omega),
            spare,
            coarse: None,
            sums: Buffer::uninit(context, 0)?,
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
        let n = self.sides[level];
        if pass.summed.is_some() {
            self.summed[cycle] = pass.sums::<T>(&self.context, n);
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
        pass.run(n, self.shift, &grids)?;
        if !in_place {
            std::mem::swap(u, &mut self.spare[level]);
        }
        Ok(())
    }

    fn smooth(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        match self.smoother {
            Smoother::RedBlack => {
                parts(sweeps).try_for_each(|part| self.pass(level, Pass::smoothing(part), u, f, (None, None), 0))
            }
            Smoother::Jacobi => {
                let n = self.sides[level];
                (0..sweeps.count).step_by(fused::JACOBI_TOGETHER).try_for_each(|done| {
                    let count = fused::JACOBI_TOGETHER.min(sweeps.count - done);
                    fused::jacobi(n, count, self.shift, self.omega, u, f, &self.spare[level])?;
                    std::mem::swap(u, &mut self.spare[level]);
                    Ok(())
                })
            }
        }
    }

    fn restrict_defect(&self, level: usize, u: &Vector<T>, f: &Vector<T>, coarse: &Vector<T>) -> Result<()> {
        let (n, m) = (self.sides[level], self.sides[level + 1]);
        let args = [
            Arg::size(m),
            launch::inverse_h2::<T>(n).arg().0,
            self.shift.arg().0,
            u.buffer().arg(),
            f.buffer().arg(),
            coarse.buffer().arg(),
        ];
        launch::enqueue::<T>(&self.context, "restrict_defect_gpu", launch::points(&self.context, m, m), &args)
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

    /// The pass from one cycle's correction to the next one's restriction.
    fn turn_pass(plan: &Plan) -> Pass {
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

impl<T: Real> Components for Wide<T> {
    type Grid = Vector<T>;

    fn zeros(&self, level: usize) -> Result<Vector<T>> {
        Vector::zeros(&self.context, self.sides[level] * self.sides[level])
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
        Wide::<T>::descend_passes(sweeps, zero)
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
            let n = self.sides[level];
            let args = [Arg::size(n), coarse.buffer().arg(), u.buffer().arg()];
            let range = launch::points(&self.context, n - 2, n - 2);
            launch::enqueue::<T>(&self.context, "interpolate_add_gpu", range, &args)?;
            return self.smooth(level, u, f, sweeps);
        }
        Wide::<T>::ascend_passes(sweeps).try_for_each(|pass| self.pass(level, pass, u, f, (Some(coarse), None), 0))
    }

    fn ascend_norm(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: Sweeps,
    ) -> Result<Norms> {
        let fits = |pass: &Pass| pass.sums::<T>(&self.context, self.sides[level]) <= self.stride;
        if let Some(pass) = Wide::<T>::norm_pass(sweeps).filter(fits) {
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
        Ok(Norms { defect: self.defect_norm(level, u, f)?, size: None })
    }

    fn cycle(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<bool> {
        self.coarse.as_ref().map_or(Ok(false), |coarse| coarse.run(self.sides[level], f, u, zero))
    }

    fn prepare(&mut self, plan: &Plan) -> Result<Option<usize>> {
        // The finest level may take other launch parameters than those below it, so other builds.
        if self.smoother == Smoother::Jacobi {
            for sweeps in [plan.pre.count, plan.post.count] {
                let counts = [fused::JACOBI_TOGETHER.min(sweeps), sweeps % fused::JACOBI_TOGETHER];
                counts
                    .into_iter()
                    .filter(|&count| count > 0)
                    .try_for_each(|count| fused::prepare_jacobi::<T>(&self.context, self.sides[0], count))?;
            }
            return Ok(None);
        }
        let coarse = self.coarse.insert(Coarse::new(&self.context, self.sides.len(), self.shift, plan)?);
        if coarse.reaches(self.sides[0]) {
            return Ok(None);
        }
        let one_order = plan.pre.order == Order::RedFirst && plan.post.order == Order::RedFirst;
        let few = plan.pre.count > 0 && plan.post.count > 0 && plan.pre.count + plan.post.count <= fused::TURN;
        let turns = one_order && few;
        let (turn, last) = (Wide::<T>::turn_pass(plan), Wide::<T>::last_pass(plan));
        let visit = Wide::<T>::descend_passes(plan.pre, false)
            .chain(Wide::<T>::descend_passes(plan.pre, true))
            .chain(Wide::<T>::ascend_passes(plan.post));
        for pass in visit.chain([turn, last].into_iter().filter(|_| turns)) {
            pass.prepare(&self.context, self.sides[0], self.shift)?;
        }
        if !turns {
            return Ok(None);
        }
        self.stride =
            [turn, last].map(|pass| pass.sums::<T>(&self.context, self.sides[0])).into_iter().max().unwrap_or(0);
        self.sums = Buffer::zeroed(&self.context, BATCH * self.stride)?;
        Ok(Some(BATCH))
    }

    fn turn(
        &mut self,
        plan: &Plan,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        coarse_f: &mut Vector<T>,
        cycle: usize,
    ) -> Result<()> {
        self.pass(0, Wide::<T>::turn_pass(plan), u, f, (Some(coarse), Some(coarse_f)), cycle)
    }

    fn ascend_summed(
        &mut self,
        plan: &Plan,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        cycle: usize,
    ) -> Result<()> {
        self.pass(0, Wide::<T>::last_pass(plan), u, f, (Some(coarse), None), cycle)
    }

    fn norms(&mut self, cycles: usize) -> Result<Vec<Norms>> {
        let mut sums = vec![T::zero(); cycles * self.stride];
        self.sums.read_range(0, &mut sums)?;
        let of_cycle = |cycle| {
            let sums = &sums[cycle * self.stride..][..self.summed[cycle]];
            let total = |of: usize| sums.iter().skip(of).step_by(2).map(|s| s.wide()).sum::<f64>();
            let size = Some(total(1)).filter(|&squares| launch::in_range::<T>(squares)).map(f64::sqrt);
            Norms { defect: total(0).sqrt(), size }
        };
        Ok((0..cycles).map(of_cycle).collect())
    }

    fn sums_fit(&self, size: f64) -> bool {
        let least = size * T::epsilon().wide() * 1e-3;
        launch::in_range::<T>(size * size) && launch::in_range::<T>(least * least)
    }

    fn solve_coarsest(&mut self, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<()> {
        if zero {
            u.fill(T::zero())?;
        }
        launch::half_sweep(3, self.shift, 0, f, u)
    }

    fn defect_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        launch::norm(Term::Defect, self.sides[level], self.shift, u, f)
    }

    fn source_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        launch::norm(Term::Source, self.sides[level], self.shift, u, f)
    }

    fn norm(&self, u: &Vector<T>) -> Result<f64> {
        Ok(ops::norm2(u)?.wide())
    }

    fn norms_of_start(&mut self, u: &Vector<T>, f: &Vector<T>) -> Result<StartNorms> {
        launch::norms_of_start(self.sides[0], self.shift, u, f)
    }

    fn coarsen(
        &mut self,
        level: usize,
        u: &Vector<T>,
        f: &Vector<T>,
        coarse_u: &mut Vector<T>,
        coarse_f: &mut Vector<T>,
    ) -> Result<()> {
        let m = self.sides[level + 1];
        launch::copy_boundary(m, 2, u, coarse_u)?;
        launch::restrict(m, f, coarse_f)
    }

    fn refine(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        let n = self.sides[level];
        // A group has as many coarse columns as items, less two on either side, and a band of rows.
        let (m, local) = (n.div_ceil(2), self.context.local());
        let columns = m.div_ceil(local - 4);
        let bands = (self.context.units() * CUBIC_GROUPS_PER_UNIT).div_ceil(columns).min(m - 1);
        let rows = (m - 1).div_ceil(bands).max(CUBIC_ROWS);
        let args = [Arg::size(n), Arg::U32(rows as u32), coarse.buffer().arg(), u.buffer().arg()];
        let range = Range::d2([columns * local, (m - 1).div_ceil(rows)], [local, 1]);
        launch::enqueue::<T>(&self.context, "interpolate_cubic_gpu", range, &args)
    }
}
