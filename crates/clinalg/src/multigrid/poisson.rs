//! The solver of the Poisson problem.

use std::marker::PhantomData;
use std::ops::ControlFlow;

use super::algebra::Algebra;
use super::backend::{self, Build, Relaxation};
use super::coefficient::{Coefficient, Varying};
use super::conjugate::Accelerated;
use super::cycle::{Components, Cycles, Multigrid, Order, Plan, Sweeps};
use super::equation::Equation;
use super::iterate::iterate;
use super::mixed::Mixed;
use super::params::{Backend, Cycle, PoissonMemory, PoissonParams, PoissonReport};
use super::sequential::Sequential;
use crate::error::check_length;
use crate::solve::Progress;
use crate::{Context, Error, Precision, Real, Result, Vector};

/// A multigrid solver of `-Laplace u + shift u = f` on the unit square or the unit cube, or of
/// `-div(a grad u) + shift u = f` on the unit square.
///
/// Owns the memory of all coarse levels, and on a GPU a second grid for every level, the finest
/// included. It can be reused, and neither allocates nor compiles in its cycles.
pub struct Poisson<T: Real> {
    params: PoissonParams,
    /// Bound of the sum of the moduli of a row of the matrix, by which rounding enters the defect.
    row_sum: f64,
    engine: Engine<T>,
    /// Residuals of the cycles before the next solve, which continues them.
    before: Vec<f64>,
}

/// Cycles on grids of the type `G`.
type Solver<G> = Box<dyn Cycles<Grid = G> + Send>;

enum Engine<T: Real> {
    /// The reference backend with its finest grids, u and f.
    Host { multigrid: Solver<Vec<T>>, u: Vec<T>, f: Vec<T> },
    Device {
        context: Context,
        multigrid: Solver<Vector<T>>,
        /// u and f of problems given on the host; made for the first one.
        finest: Option<(Vector<T>, Vector<T>)>,
    },
}

impl<T: Real> std::fmt::Debug for Poisson<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Poisson").field("params", &self.params).finish_non_exhaustive()
    }
}

impl<T: Real> Poisson<T> {
    /// A solver in the backend that `params` names; [`Backend::Reference`] needs no device, see
    /// [`Poisson::reference`].
    ///
    /// # Errors
    /// [`Error::Value`] for parameters out of range (sizes other than 2^k + 1 name the nearest);
    /// [`Error::Allocation`]; [`Error::NoFp64`] for `f64` on a device without it.
    pub fn new(context: &Context, params: &PoissonParams) -> Result<Poisson<T>> {
        params.check()?;
        Poisson::build(Some(context), params, Equation::new(params.n, params.dim, params.shift)?)
    }

    /// The solver in plain Rust, whatever backend `params` names; no device is needed.
    ///
    /// # Errors
    /// [`Error::Value`] for parameters out of range or grids that do not fit the memory.
    pub fn reference(params: &PoissonParams) -> Result<Poisson<T>> {
        params.check()?;
        Poisson::build(None, params, Equation::new(params.n, params.dim, params.shift)?)
    }

    /// A solver of `-div(a grad u) + shift u = f` on the unit square with the coefficient `a`, in the backend that
    /// `params` names. Without a context, in plain Rust.
    ///
    /// Interpolation and restriction follow the coefficient, coarser grids have Galerkin operators of nine points, and the
    /// cycles precondition conjugate gradients, one of whose steps the report counts as a cycle. For this purpose cycles are
    /// symmetric: half of the sweeps `pre + post`, rounded up, before the coarse-grid correction and as many after it in
    /// the opposite order. So jumps of 1 : 1000 and 1 : 1e6 take about as many cycles as a smooth coefficient and hardly
    /// more on finer grids, along lines of the grid or not, also where four subdomains meet in a point as on a chessboard. Not so
    /// for a coefficient that jumps at random from one cell to the next.
    ///
    /// The coarser grids are set up on the host, in about two seconds per ten million points.
    ///
    /// # Errors
    /// As [`Poisson::new`]; [`Error::Length`] or [`Error::Value`] that names `a` when it does not fit the grid or is not
    /// positive and finite everywhere; [`Error::Value`] for a cube.
    pub fn with_coefficient(
        context: Option<&Context>,
        params: &PoissonParams,
        a: Coefficient<'_, T>,
    ) -> Result<Poisson<T>> {
        params.check()?;
        let equation = Equation::given(params.n, params.dim, params.shift, Some(a))?;
        Poisson::build(context, params, equation)
    }

    fn build(context: Option<&Context>, params: &PoissonParams, equation: Equation<T>) -> Result<Poisson<T>> {
        let PoissonParams { smoother, omega, shift, .. } = *params;
        let full = params.cycle == Cycle::Full;
        let varying = !equation.faces.is_empty();
        let plan = if varying { symmetric_plan(params) } else { plan(params) };
        let row_sum = equation.row_sum();
        let sides = equation.sides.clone();
        if params.mixed {
            check_mixed::<T>(context, params, varying)?;
        }
        let context = context.filter(|_| params.backend != Backend::Reference);
        let Some(context) = context else {
            let params = PoissonParams { backend: Backend::Reference, ..*params };
            let (u, f) = (equation.grid(0)?, equation.grid(0)?);
            let multigrid = Multigrid::new(Sequential::new(equation, smoother, omega)?, &sides, plan, full)?;
            let multigrid: Solver<Vec<T>> =
                if varying { Box::new(Accelerated::new(multigrid)?) } else { Box::new(multigrid) };
            return Ok(Poisson { params, row_sum, engine: Engine::Host { multigrid, u, f }, before: Vec::new() });
        };
        let relaxation = Relaxation { smoother, omega, sweeps: params.pre.max(params.post) };
        let multigrid: Solver<Vector<T>> = if params.mixed {
            let (n, dim) = (params.n, equation.dim);
            let build = InSinglePrecision { context, n, dim, shift, sides: &sides, plan, full, precision: PhantomData };
            backend::on_device(context, params.backend, Equation::new(n, params.dim, shift)?, relaxation, full, build)?
        } else if !varying {
            let build = Constant { sides: &sides, plan, full };
            backend::on_device(context, params.backend, equation, relaxation, full, build)?
        } else if params.backend == Backend::Kernels {
            let components = Varying::new(context, equation, smoother, omega)?;
            Box::new(Accelerated::new(Multigrid::new(components, &sides, plan, full)?)?)
        } else {
            let components = Algebra::new(context, &equation, smoother, omega, full)?;
            Box::new(Accelerated::new(Multigrid::new(components, &sides, plan, full)?)?)
        };
        let engine = Engine::Device { context: context.clone(), multigrid, finest: None };
        Ok(Poisson { params: *params, row_sum, engine, before: Vec::new() })
    }

    /// Values of a grid.
    fn points(&self) -> usize {
        self.params.n.pow(self.params.dim as u32)
    }

    /// The parameters the solver was made with.
    pub fn params(&self) -> &PoissonParams {
        &self.params
    }

    /// Solves for `u`, given its boundary values and an initial guess inside; both arrays have n^dim
    /// values. When the data are not finite, `u` is left as it was.
    ///
    /// # Errors
    /// [`Error::Length`] that names `f` or `u`; what the device reports.
    pub fn solve(&mut self, f: &[T], u: &mut [T]) -> Result<PoissonReport> {
        self.solve_with(f, u, &mut |_, _| ControlFlow::Continue(()))
    }

    /// [`Poisson::solve`], which calls `progress` before the first cycle and after each one with
    /// the number of cycles made and the relative residual; [`ControlFlow::Break`] stops the solve with
    /// [`Stop::Cancelled`](crate::solve::Stop::Cancelled) after the cycles that have begun.
    ///
    /// # Errors
    /// As [`Poisson::solve`].
    pub fn solve_with(&mut self, f: &[T], u: &mut [T], progress: Progress<'_>) -> Result<PoissonReport> {
        let points = self.points();
        check_length("f", points, f.len())?;
        check_length("u", points, u.len())?;
        let before = std::mem::take(&mut self.before);
        match &mut self.engine {
            Engine::Host { multigrid, u: own_u, f: own_f } => {
                own_u.copy_from_slice(u);
                own_f.copy_from_slice(f);
                let (params, row_sum) = (&self.params, self.row_sum);
                let report = iterate::<T, _>(&mut **multigrid, params, row_sum, own_f, own_u, &before, progress)?;
                u.copy_from_slice(own_u);
                Ok(report)
            }
            Engine::Device { context, multigrid, finest } => {
                let (own_u, own_f) = match finest {
                    Some(made) => made,
                    None => finest.insert((Vector::uninit(context, points)?, Vector::uninit(context, points)?)),
                };
                own_u.write(u)?;
                own_f.write(f)?;
                let (params, row_sum) = (&self.params, self.row_sum);
                let report = iterate::<T, _>(&mut **multigrid, params, row_sum, own_f, own_u, &before, progress)?;
                own_u.read(u)?;
                Ok(report)
            }
        }
    }

    /// What the last solve leaves for [`Poisson::resume`] besides u, `history` being that of its report.
    ///
    /// # Errors
    /// What the device reports.
    pub fn memory(&self, history: &[f64]) -> Result<PoissonMemory<T>> {
        let history = history.to_vec();
        let direction = match &self.engine {
            Engine::Host { multigrid, .. } => multigrid.memory().map(|(p, number)| (p.clone(), number)),
            Engine::Device { multigrid, .. } => match multigrid.memory() {
                Some((p, number)) => Some((p.to_vec()?, number)),
                None => None,
            },
        };
        Ok(PoissonMemory { history, direction })
    }

    /// Lets the next solve continue where another with the same parameters and data ended, from its u: with the same cycles to
    /// the same bits as without a stop, and with its residuals in the report. A pass of full multigrid is not made again.
    ///
    /// # Errors
    /// [`Error::Length`] for a direction that does not fit; [`Error::Value`] for one where the coefficient is constant, and for no
    /// residual; what the device reports.
    pub fn resume(&mut self, memory: &PoissonMemory<T>) -> Result<()> {
        if memory.history.is_empty() {
            return Err(Error::value("memory.history", "at least the residual of the initial guess", "none"));
        }
        let (points, direction) = (self.points(), memory.direction.as_ref());
        if let Some((p, _)) = direction {
            check_length("memory.direction", points, p.len())?;
        }
        let taken = match (&mut self.engine, direction) {
            (_, None) => true,
            (Engine::Host { multigrid, .. }, Some((p, number))) => {
                let fill = &mut |grid: &mut Vec<T>| {
                    grid.copy_from_slice(p);
                    Ok(())
                };
                multigrid.remember(fill, *number)?
            }
            (Engine::Device { multigrid, .. }, Some((p, number))) => {
                multigrid.remember(&mut |grid: &mut Vector<T>| grid.write(p), *number)?
            }
        };
        if !taken {
            return Err(Error::value("memory.direction", "none: the coefficient is constant", "a direction"));
        }
        self.before = memory.history.clone();
        Ok(())
    }

    /// [`Poisson::solve`] on device vectors, without a copy of either. On a GPU `u`
    /// may end up in other memory than before.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `f` or `u`; what the device reports.
    pub fn solve_device(&mut self, f: &Vector<T>, u: &mut Vector<T>) -> Result<PoissonReport> {
        self.solve_device_with(f, u, &mut |_, _| ControlFlow::Continue(()))
    }

    /// [`Poisson::solve_device`] with `progress` as in [`Poisson::solve_with`].
    ///
    /// # Errors
    /// As [`Poisson::solve_device`].
    pub fn solve_device_with(
        &mut self,
        f: &Vector<T>,
        u: &mut Vector<T>,
        progress: Progress<'_>,
    ) -> Result<PoissonReport> {
        let points = self.points();
        check_length("f", points, f.len())?;
        check_length("u", points, u.len())?;
        let before = std::mem::take(&mut self.before);
        match &mut self.engine {
            Engine::Host { multigrid, u: own_u, f: own_f } => {
                u.read(own_u)?;
                f.read(own_f)?;
                let (params, row_sum) = (&self.params, self.row_sum);
                let report = iterate::<T, _>(&mut **multigrid, params, row_sum, own_f, own_u, &before, progress)?;
                u.write(own_u)?;
                Ok(report)
            }
            Engine::Device { context, multigrid, .. } => {
                for (argument, vector) in [("f", f), ("u", &*u)] {
                    if !context.same(vector.context()) {
                        return Err(Error::Context { argument });
                    }
                }
                iterate::<T, _>(&mut **multigrid, &self.params, self.row_sum, f, u, &before, progress)
            }
        }
    }
}

/// Cycles that are the solver.
struct Constant<'a> {
    sides: &'a [usize],
    plan: Plan,
    full: bool,
}

impl<T: Real> Build<T> for Constant<'_> {
    type Output = Solver<Vector<T>>;

    fn build<C: Components<Grid = Vector<T>> + Send + 'static>(self, components: C) -> Result<Solver<Vector<T>>> {
        Ok(Box::new(Multigrid::new(components, self.sides, self.plan, self.full)?))
    }
}

/// Cycles in single precision within defect correction.
struct InSinglePrecision<'a, T> {
    context: &'a Context,
    n: usize,
    dim: u32,
    shift: f64,
    sides: &'a [usize],
    plan: Plan,
    full: bool,
    precision: PhantomData<T>,
}

impl<T: Real> Build<f32> for InSinglePrecision<'_, T> {
    type Output = Solver<Vector<T>>;

    fn build<C: Components<Grid = Vector<f32>> + Send + 'static>(self, components: C) -> Result<Solver<Vector<T>>> {
        let InSinglePrecision { context, n, dim, shift, sides, plan, full, .. } = self;
        let multigrid = Multigrid::new(components, sides, plan, full)?;
        Ok(Box::new(Mixed::<T, _>::new(context, n, dim, shift, multigrid)?))
    }
}

/// An error unless corrections in single precision are possible.
fn check_mixed<T: Real>(context: Option<&Context>, params: &PoissonParams, varying: bool) -> Result<()> {
    if T::PRECISION == Precision::F32 {
        return Err(Error::value("mixed", "false in single precision: there is nothing to refine", true));
    }
    if params.backend != Backend::Kernels || context.is_none() || varying {
        return Err(Error::value("mixed", "false unless the backend is kernels and the coefficient is constant", true));
    }
    Ok(())
}

/// How a cycle of a constant coefficient goes.
pub(crate) fn plan(params: &PoissonParams) -> Plan {
    let visits = if params.cycle == Cycle::W { 2 } else { 1 };
    let sweeps = |count| Sweeps { count, order: Order::RedFirst };
    Plan { visits, pre: sweeps(params.pre), post: sweeps(params.post) }
}

/// A cycle that is symmetric, with no fewer sweeps.
fn symmetric_plan(params: &PoissonParams) -> Plan {
    let sweeps = |order| Sweeps { count: (params.pre + params.post).div_ceil(2), order };
    Plan { pre: sweeps(Order::RedFirst), post: sweeps(Order::BlackFirst), ..plan(params) }
}
