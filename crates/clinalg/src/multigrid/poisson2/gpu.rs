//! The components as kernels for GPUs: all of a visit in one pass over memory, the coarse levels in one launch.

use super::Levels;
use super::fused::{self, Coarse};
use crate::multigrid::cycle::{Components, Hierarchy, Plan, StartNorms, Sweeps};
use crate::multigrid::launch;
use crate::multigrid::params::Smoother;
use crate::multigrid::passes::{Grids, InPasses, Pass, Passes};
use crate::runtime::kernels::{grid2_cubic, grid2_transfer};
use crate::runtime::{Out, Range};
use crate::{Context, Real, Result, Vector};

/// Work-groups per compute unit of the cubic interpolation, whose bands are shorter with more of them.
const CUBIC_GROUPS_PER_UNIT: usize = 8;
/// Least coarse rows of its bands, each of which reads three more.
const CUBIC_ROWS: usize = 4;

/// Cycles on squares, or strips of them, by kernels for GPUs.
pub(crate) type Poisson2Gpu<T> = Passes<T, Squares<T>>;

/// Kernels for GPUs.
pub(crate) struct Squares<T: Real> {
    levels: Levels<T>,
    smoother: Smoother,
    omega: T,
    /// What a pass writes on each level before it takes the place of u.
    spare: Vec<Vector<T>>,
    coarse: Option<Coarse<T>>,
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
        Passes::over(Squares { levels, smoother, omega: T::from_f64(omega), spare, coarse: None })
    }
}

impl<T: Real> Components for Squares<T> {
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
            Smoother::RedBlack => self.relax(level, u, f, sweeps),
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

impl<T: Real> InPasses<T> for Squares<T> {
    fn context(&self) -> &Context {
        &self.levels.context
    }

    fn has_passes(&self, _level: usize) -> bool {
        self.smoother == Smoother::RedBlack
    }

    fn spare(&self, level: usize) -> &Vector<T> {
        &self.spare[level]
    }

    fn spare_mut(&mut self, level: usize) -> &mut Vector<T> {
        &mut self.spare[level]
    }

    fn run(&self, level: usize, pass: Pass, grids: &Grids<'_, T>) -> Result<()> {
        pass.run(self.levels.grid(level), self.levels.shift, grids)
    }

    fn sums(&self, level: usize, pass: Pass) -> usize {
        pass.sums::<T>(&self.levels.context, self.levels.grid(level))
    }

    fn prepare(&self, level: usize, pass: Pass) -> Result<()> {
        pass.prepare(&self.levels.context, self.levels.grid(level), self.levels.shift)
    }

    fn prepare_others(&mut self, plan: &Plan) -> Result<bool> {
        let Levels { context, sides, shift, .. } = &self.levels;
        if self.smoother == Smoother::Jacobi {
            for sweeps in [plan.pre.count, plan.post.count] {
                let counts = [fused::JACOBI_TOGETHER.min(sweeps), sweeps % fused::JACOBI_TOGETHER];
                counts
                    .into_iter()
                    .filter(|&count| count > 0)
                    .try_for_each(|count| fused::prepare_jacobi::<T>(context, self.levels.grid(0), count))?;
            }
            return Ok(false);
        }
        let coarse = Coarse::new(context, sides.len(), *shift, plan)?;
        let whole = coarse.reaches(sides[0]);
        self.coarse = Some(coarse);
        Ok(whole)
    }

    fn coarse_cycle(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<bool> {
        self.coarse.as_ref().map_or(Ok(false), |coarse| coarse.run(self.levels.sides[level], f, u, zero))
    }
}
