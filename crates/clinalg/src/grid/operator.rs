//! The Poisson problem for the iterative methods: its matrix without a matrix, and multigrid as a
//! preconditioner.

use super::components::{Multigrid, Plan, Sweeps};
use super::params::{Smoother, check_shift, check_smoothing};
use super::processor::Processor;
use super::wide::Wide;
use super::{launch, sides};
use crate::error::check_length;
use crate::ops::Operator;
use crate::reference::grid2::Order;
use crate::runtime::Shape;
use crate::solve::Preconditioner;
use crate::{Context, Error, Real, Result, Vector};

/// -Laplace_h, or -Laplace_h + shift, on vectors of N by N points, boundary included, without a stored matrix.
///
/// Interior points have the 5-point stencil `1 / h^2 [. -1 .; -1 4 -1; . -1 .]` among themselves,
/// h = 1 / (N - 1); boundary points have the identity and are coupled to no other. So the matrix is
/// symmetric and positive definite on all N^2 values. For the boundary value problem -Laplace u = f
/// (or -Laplace u + shift u = f) with u = g on the boundary, solve A u = b with the b of [`PoissonOperator::right_side`].
///
/// Traffic of a product, f64: 16 bytes a point, 24 where beta is not 0.
#[derive(Debug, Clone)]
pub struct PoissonOperator {
    context: Context,
    n: usize,
    shift: f64,
}

impl PoissonOperator {
    /// The operator on `n` by `n` points, n at least 3.
    ///
    /// # Errors
    /// [`Error::Value`] for a smaller `n`.
    pub fn new(context: &Context, n: usize) -> Result<PoissonOperator> {
        if n < 3 || n.checked_mul(n).is_none() {
            return Err(Error::value("n", "at least 3 points a side, and a grid that can be counted", n));
        }
        Ok(PoissonOperator { context: context.clone(), n, shift: 0.0 })
    }

    /// The operator -Laplace_h + shift: `shift` is added to the diagonal of interior points.
    ///
    /// # Errors
    /// As [`PoissonOperator::new`], and for a `shift` that is negative or not finite.
    pub fn shifted(context: &Context, n: usize, shift: f64) -> Result<PoissonOperator> {
        check_shift(shift)?;
        Ok(PoissonOperator { shift, ..PoissonOperator::new(context, n)? })
    }

    /// What is added to the diagonal of interior points.
    pub fn shift(&self) -> f64 {
        self.shift
    }

    /// Points a side.
    pub fn side(&self) -> usize {
        self.n
    }

    /// b = f plus the contributions of the boundary values of `u` inside, b = u on the boundary;
    /// the interior of `u` is not read.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `f`, `u` or `b`.
    pub fn right_side<T: Real>(&self, f: &Vector<T>, u: &Vector<T>, b: &mut Vector<T>) -> Result<()> {
        for (argument, vector) in [("f", f), ("u", u), ("b", &*b)] {
            if !self.context.same(vector.context()) {
                return Err(Error::Context { argument });
            }
            check_length(argument, self.n * self.n, vector.len())?;
        }
        launch::source(self.n, u, f, b)
    }
}

impl<T: Real> Operator<T> for PoissonOperator {
    fn rows(&self) -> usize {
        self.n * self.n
    }

    fn cols(&self) -> usize {
        self.n * self.n
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        for (argument, vector) in [("x", x), ("y", &*y)] {
            if !self.context.same(vector.context()) {
                return Err(Error::Context { argument });
            }
            check_length(argument, self.n * self.n, vector.len())?;
        }
        launch::apply(self.n, T::of(self.shift), alpha, x, beta, y)
    }
}

/// Parameters of [`MultigridPreconditioner`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MultigridParams {
    /// That of the operator: finite, at least 0.
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
    /// V(1,1) with red-black Gauss-Seidel.
    fn default() -> MultigridParams {
        MultigridParams { shift: 0.0, smoother: Smoother::RedBlack, sweeps: 1, omega: 0.8, visits: 1 }
    }
}

/// One symmetric multigrid cycle from 0 as the approximate inverse of [`PoissonOperator`]; the
/// identity on boundary points. Symmetric and positive definite (Tatebe 1993).
pub struct MultigridPreconditioner<T: Real> {
    context: Context,
    n: usize,
    cycle: CycleKind<T>,
}

enum CycleKind<T: Real> {
    Wide(Multigrid<Wide<T>>),
    Processor(Multigrid<Processor<T>>),
}

impl<T: Real> std::fmt::Debug for MultigridPreconditioner<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MultigridPreconditioner").field("n", &self.n).finish_non_exhaustive()
    }
}

impl<T: Real> MultigridPreconditioner<T> {
    /// A preconditioner for vectors of `n` by `n` points, n = 2^k + 1; owns the memory of all
    /// coarse levels.
    ///
    /// # Errors
    /// [`Error::Value`] for parameters out of range (other sizes name the nearest);
    /// [`Error::Allocation`]; [`Error::NoFp64`].
    pub fn new(context: &Context, n: usize, params: &MultigridParams) -> Result<MultigridPreconditioner<T>> {
        let MultigridParams { shift, smoother, sweeps, omega, visits } = *params;
        check_shift(shift)?;
        check_smoothing(sweeps, sweeps, omega)?;
        if !(1..=2).contains(&visits) {
            return Err(Error::value("visits", "1 (V-cycle) or 2 (W-cycle)", visits));
        }
        let sides = sides(n, 2)?;
        let ordered = |order| Sweeps { count: sweeps, order };
        let plan = Plan { visits, pre: ordered(Order::RedFirst), post: ordered(Order::BlackFirst) };
        let cycle = match context.shape() {
            Shape::Gpu => {
                let components = Wide::new(context, &sides, shift, smoother, omega)?;
                CycleKind::Wide(Multigrid::new(components, &sides, plan, false)?)
            }
            Shape::Cpu => {
                let components = Processor::new(context, &sides, shift, smoother, omega, sweeps)?;
                CycleKind::Processor(Multigrid::new(components, &sides, plan, false)?)
            }
        };
        Ok(MultigridPreconditioner { context: context.clone(), n, cycle })
    }
}

impl<T: Real> Preconditioner<T> for MultigridPreconditioner<T> {
    fn size(&self) -> usize {
        self.n * self.n
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        for (argument, vector) in [("r", r), ("z", &*z)] {
            if !self.context.same(vector.context()) {
                return Err(Error::Context { argument });
            }
            check_length(argument, self.n * self.n, vector.len())?;
        }
        match &mut self.cycle {
            CycleKind::Wide(multigrid) => multigrid.cycle_from_zero(z, r)?,
            CycleKind::Processor(multigrid) => multigrid.cycle_from_zero(z, r)?,
        }
        launch::copy_boundary(self.n, 1, r, z)
    }
}
