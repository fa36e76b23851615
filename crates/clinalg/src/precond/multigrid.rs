//! A multigrid cycle as a preconditioner.

use crate::error::check_length;
use crate::multigrid::backend::{self, Build, Relaxation};
use crate::multigrid::cycle::{Components, CycleFromZero, Multigrid, Order, Plan, Sweeps};
use crate::multigrid::equation::Equation;
use crate::multigrid::params::{check_shift, check_smoothing};
use crate::multigrid::{Backend, Coefficient, Smoother, copy_boundary};
use crate::solve::Preconditioner;
use crate::{Context, Error, Real, Result, Vector};

/// Parameters of [`MultigridPreconditioner`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MultigridParams {
    /// 2 for the unit square, 3 for the unit cube.
    pub dim: usize,
    /// The shift of the operator: finite, at least 0.
    pub shift: f64,
    /// The relaxation; red-black sweeps run black first after the coarse-grid correction, so that
    /// the preconditioner is symmetric.
    pub smoother: Smoother,
    /// Sweeps before and after the coarse-grid correction, at least 1.
    pub sweeps: usize,
    /// Weight of Jacobi, between 0 and 2.
    pub omega: f64,
    /// Visits of the next coarser level per visit: 1 is a V-cycle, 2 a W-cycle.
    pub visits: usize,
}

impl Default for MultigridParams {
    /// V(1,1) with red-black Gauss-Seidel on the unit square.
    fn default() -> MultigridParams {
        MultigridParams { dim: 2, shift: 0.0, smoother: Smoother::RedBlack, sweeps: 1, omega: 0.8, visits: 1 }
    }
}

impl MultigridParams {
    /// With this many dimensions.
    pub fn dim(mut self, dim: usize) -> MultigridParams {
        self.dim = dim;
        self
    }

    /// With this shift.
    pub fn shift(mut self, shift: f64) -> MultigridParams {
        self.shift = shift;
        self
    }

    /// With this relaxation.
    pub fn smoother(mut self, smoother: Smoother) -> MultigridParams {
        self.smoother = smoother;
        self
    }

    /// With this many sweeps before and after the coarse-grid correction.
    pub fn sweeps(mut self, sweeps: usize) -> MultigridParams {
        self.sweeps = sweeps;
        self
    }

    /// With this weight of Jacobi.
    pub fn omega(mut self, omega: f64) -> MultigridParams {
        self.omega = omega;
        self
    }

    /// With this many visits of the next coarser level per visit.
    pub fn visits(mut self, visits: usize) -> MultigridParams {
        self.visits = visits;
        self
    }
}

/// One symmetric multigrid cycle from 0 as the approximate inverse of [`multigrid::assemble`](crate::multigrid::assemble); the
/// identity on boundary points. Symmetric and positive definite (Tatebe 1993).
/// [`PoissonPreconditioner`](crate::multigrid::PoissonPreconditioner) is that of any grid.
///
/// ```
/// use clinalg::multigrid::{Coefficient, assemble};
/// use clinalg::precond::{MultigridParams, MultigridPreconditioner};
/// use clinalg::solve::{Cg, CgParams, Solver};
/// use clinalg::{Context, Vector};
///
/// let (context, n) = (Context::global()?, 65);
/// let cells = vec![1.0; (n - 1) * (n - 1)];
/// let a = assemble(&context, n, 2, 0.0, Some(Coefficient::Cells(&cells)))?;
/// let params = MultigridParams::default();
/// let mut m = MultigridPreconditioner::with_coefficient(&context, n, &params, Coefficient::Cells(&cells))?;
/// let (b, mut x) = (Vector::filled(&context, n * n, 1.0)?, Vector::zeros(&context, n * n)?);
/// let report = Cg::new(&context, n * n, CgParams::default())?.solve(&a, Some(&mut m), &b, &mut x)?;
/// assert!(report.stop.is_success());
/// # Ok::<(), clinalg::Error>(())
/// ```
pub struct MultigridPreconditioner<T: Real> {
    context: Context,
    n: usize,
    dim: u32,
    cycle: Box<dyn CycleFromZero<Vector<T>>>,
}

impl<T: Real> std::fmt::Debug for MultigridPreconditioner<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MultigridPreconditioner").field("n", &self.n).field("dim", &self.dim).finish_non_exhaustive()
    }
}

impl<T: Real> MultigridPreconditioner<T> {
    /// A preconditioner for vectors on `n` points per side, n = 2^k + 1, in two or three dimensions; owns the memory of all
    /// coarse levels.
    ///
    /// # Errors
    /// [`Error::Value`] for parameters out of range (other sizes name the nearest);
    /// [`Error::Allocation`]; [`Error::NoFp64`].
    pub fn new(context: &Context, n: usize, params: &MultigridParams) -> Result<MultigridPreconditioner<T>> {
        MultigridPreconditioner::given(context, n, params, None)
    }

    /// The same for `-div(a grad u) + shift u` with a coefficient `a` on the unit square: interpolation and restriction
    /// follow the coefficient, coarser grids have Galerkin operators, which are made on the host.
    ///
    /// # Errors
    /// As [`MultigridPreconditioner::new`]; [`Error::Length`] or [`Error::Value`] that names `coefficient` when it does not fit the
    /// grid or is not positive and finite everywhere; [`Error::Value`] for a cube.
    pub fn with_coefficient(
        context: &Context,
        n: usize,
        params: &MultigridParams,
        coefficient: Coefficient<'_, T>,
    ) -> Result<MultigridPreconditioner<T>> {
        MultigridPreconditioner::given(context, n, params, Some(coefficient))
    }

    fn given(
        context: &Context,
        n: usize,
        params: &MultigridParams,
        a: Option<Coefficient<'_, T>>,
    ) -> Result<MultigridPreconditioner<T>> {
        let MultigridParams { dim, shift, smoother, sweeps, omega, visits } = *params;
        check_shift(shift)?;
        check_smoothing(sweeps, sweeps, omega)?;
        if !(1..=2).contains(&visits) {
            return Err(Error::value("visits", "1 (V-cycle) or 2 (W-cycle)", visits));
        }
        let equation = Equation::given(n, dim, shift, a)?;
        let (sides, dim) = (equation.sides.clone(), equation.dim);
        let ordered = |order| Sweeps { count: sweeps, order };
        let plan = Plan { visits, pre: ordered(Order::RedFirst), post: ordered(Order::BlackFirst) };
        let relaxation = Relaxation { smoother, omega, sweeps };
        let build = OneCycle { sides, plan };
        let cycle = backend::on_device(context, Backend::Kernels, equation, relaxation, false, build)?;
        Ok(MultigridPreconditioner { context: context.clone(), n, dim, cycle })
    }
}

/// Cycles of this plan.
struct OneCycle {
    sides: Vec<usize>,
    plan: Plan,
}

impl<T: Real> Build<T> for OneCycle {
    type Output = Box<dyn CycleFromZero<Vector<T>>>;

    fn build<C: Components<Grid = Vector<T>> + Send + 'static>(self, components: C) -> Result<Self::Output> {
        Ok(Box::new(Multigrid::new(components, &self.sides, self.plan, false)?))
    }
}

impl<T: Real> Preconditioner<T> for MultigridPreconditioner<T> {
    fn size(&self) -> usize {
        self.n.pow(self.dim)
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        let points = self.n.pow(self.dim);
        for (argument, vector) in [("r", r), ("z", &*z)] {
            if !self.context.same(vector.context()) {
                return Err(Error::Context { argument });
            }
            check_length(argument, points, vector.len())?;
        }
        self.cycle.cycle_from_zero(z, r)?;
        copy_boundary(self.n, self.dim, r, z)
    }
}
