//! The solver on regular grids.

use std::marker::PhantomData;

use super::algebra::Algebra;
use super::backend::{self, Build, Relaxation};
use super::boxes::{BoundaryData, Layout, Points, Problem};
use super::coefficient::{Coefficient, Varying};
use super::conjugate::Accelerated;
use super::cycle::{Components, Cycles, Multigrid, Plan};
use super::equation::Equation;
use super::iterate::iterate;
use super::mixed::Mixed;
use super::params::{Backend, Cycle, PoissonMemory, PoissonParams, PoissonReport};
use super::sequential::Sequential;
use super::{Grid, SideValues};
use crate::error::check_length;
use crate::solve::Progress;
use crate::{Context, Error, Precision, Real, Result, Vector};

/// A solver on the unit square or cube with 2^k + 1 points per side, by components made for it.
///
/// Owns the memory of all coarse levels, and on a GPU a second grid for every level, the finest
/// included. It neither allocates nor compiles in its cycles.
pub(super) struct Regular<T: Real> {
    params: PoissonParams,
    /// Points per side of each level, the finest first.
    levels: Vec<usize>,
    dim: u32,
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
    Host { multigrid: Solver<Vec<T>>, u: Vec<T>, f: Vec<T>, sides: Option<(Layout, SideValues<T>)> },
    Device {
        context: Context,
        multigrid: Solver<Vector<T>>,
        /// u and f of problems given on the host; made for the first one.
        finest: Option<(Vector<T>, Vector<T>)>,
        sides: Option<Box<(Points<T>, BoundaryData<T>)>>,
    },
}

impl<T: Real> Regular<T> {
    /// A solver with `n` points per side in `dim` dimensions; without a context in plain Rust.
    ///
    /// # Errors
    /// As [`Poisson::new`](super::Poisson::new).
    pub(super) fn new(
        context: Option<&Context>,
        (n, dim): (usize, usize),
        params: &PoissonParams,
        coefficient: Option<Coefficient<'_, T>>,
    ) -> Result<Regular<T>> {
        let equation = Equation::given(n, dim, params.shift, coefficient)?;
        let PoissonParams { smoother, omega, shift, .. } = *params;
        let full = params.cycle == Cycle::Full;
        let varying = !equation.faces.is_empty();
        let plan = if varying { params.symmetric_plan() } else { params.plan() };
        let (row_sum, dim) = (equation.row_sum(), equation.dim);
        let sides = equation.sides.clone();
        if params.mixed_precision {
            check_mixed::<T>(context, params, varying)?;
        }
        let context = context.filter(|_| params.backend != Backend::Reference);
        let engine = match context {
            None => {
                let (u, f) = (equation.grid(0)?, equation.grid(0)?);
                let multigrid = Multigrid::new(Sequential::new(equation, smoother, omega)?, &sides, plan, full)?;
                let multigrid: Solver<Vec<T>> =
                    if varying { Box::new(Accelerated::new(multigrid)?) } else { Box::new(multigrid) };
                Engine::Host { multigrid, u, f, sides: None }
            }
            Some(context) => {
                let relaxation = Relaxation { smoother, omega, sweeps: params.pre.max(params.post) };
                let multigrid: Solver<Vector<T>> = if params.mixed_precision {
                    let precision = PhantomData;
                    let build = InSinglePrecision { context, n, dim, shift, sides: &sides, plan, full, precision };
                    let equation = Equation::new(n, dim as usize, shift)?;
                    backend::on_device(context, params.backend, equation, relaxation, full, build)?
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
                Engine::Device { context: context.clone(), multigrid, finest: None, sides: None }
            }
        };
        Ok(Regular { params: *params, levels: sides, dim, row_sum, engine, before: Vec::new() })
    }

    /// The context; none of the reference backend.
    pub(super) fn context(&self) -> Option<&Context> {
        match &self.engine {
            Engine::Host { .. } => None,
            Engine::Device { context, .. } => Some(context),
        }
    }

    /// Points per side of each level, the finest first.
    pub(super) fn levels(&self) -> &[usize] {
        &self.levels
    }

    /// As [`Poisson::set_sides`](super::Poisson::set_sides), for the solver on `grid`.
    pub(super) fn set_sides(&mut self, grid: &Grid, values: &SideValues<T>) -> Result<()> {
        match &mut self.engine {
            Engine::Host { sides, .. } => {
                let layout = Layout::new(grid);
                layout.check(values)?;
                *sides = Some((layout, values.clone()));
            }
            Engine::Device { context, sides, .. } => {
                let points = Problem::<T>::new(context, grid, &PoissonParams::default(), None)?.points(context)?;
                let given = points.given(values)?;
                *sides = Some(Box::new((points, given)));
            }
        }
        Ok(())
    }

    /// Values of a grid.
    fn points(&self) -> usize {
        self.levels[0].pow(self.dim)
    }

    /// As [`Poisson::solve_with`](super::Poisson::solve_with).
    pub(super) fn solve(&mut self, f: &[T], u: &mut [T], progress: Progress<'_>) -> Result<PoissonReport> {
        let points = self.points();
        check_length("f", points, f.len())?;
        check_length("u", points, u.len())?;
        let before = std::mem::take(&mut self.before);
        match &mut self.engine {
            Engine::Host { multigrid, u: own_u, f: own_f, sides } => {
                own_u.copy_from_slice(u);
                own_f.copy_from_slice(f);
                hold(sides, own_u);
                let (params, row_sum) = (&self.params, self.row_sum);
                let report = iterate::<T, _>(&mut **multigrid, params, row_sum, own_f, own_u, &before, progress)?;
                u.copy_from_slice(own_u);
                Ok(report)
            }
            Engine::Device { context, multigrid, finest, sides } => {
                let (own_u, own_f) = match finest {
                    Some(made) => made,
                    None => finest.insert((Vector::uninit(context, points)?, Vector::uninit(context, points)?)),
                };
                own_u.write(u)?;
                own_f.write(f)?;
                hold_on_device(sides, own_u)?;
                let (params, row_sum) = (&self.params, self.row_sum);
                let report = iterate::<T, _>(&mut **multigrid, params, row_sum, own_f, own_u, &before, progress)?;
                own_u.read(u)?;
                Ok(report)
            }
        }
    }

    /// As [`Poisson::memory`](super::Poisson::memory).
    pub(super) fn memory(&self, history: &[f64]) -> Result<PoissonMemory<T>> {
        let history = history.to_vec();
        let direction = match &self.engine {
            Engine::Host { multigrid, .. } => multigrid.memory().map(|(p, number)| (p.clone(), number)),
            Engine::Device { multigrid, .. } => match multigrid.memory() {
                Some((p, number)) => Some((p.to_vec()?, number)),
                None => None,
            },
        };
        Ok(PoissonMemory { history, direction, unknowns: None })
    }

    /// As [`Poisson::resume`](super::Poisson::resume).
    pub(super) fn resume(&mut self, memory: &PoissonMemory<T>) -> Result<()> {
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
            return Err(Error::value("memory.direction", "none: cycles are the solver here", "a direction"));
        }
        self.before = memory.history.clone();
        Ok(())
    }

    /// As [`Poisson::solve_device_with`](super::Poisson::solve_device_with).
    pub(super) fn solve_device(
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
            Engine::Host { multigrid, u: own_u, f: own_f, sides } => {
                u.read(own_u)?;
                f.read(own_f)?;
                hold(sides, own_u);
                let (params, row_sum) = (&self.params, self.row_sum);
                let report = iterate::<T, _>(&mut **multigrid, params, row_sum, own_f, own_u, &before, progress)?;
                u.write(own_u)?;
                Ok(report)
            }
            Engine::Device { context, multigrid, sides, .. } => {
                for (argument, vector) in [("f", f), ("u", &*u)] {
                    if !context.same(vector.context()) {
                        return Err(Error::Context { argument });
                    }
                }
                hold_on_device(sides, u)?;
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
        return Err(Error::value("mixed_precision", "false in single precision: there is nothing to refine", true));
    }
    if params.backend != Backend::Kernels || context.is_none() || varying {
        return Err(Error::value(
            "mixed_precision",
            "false unless the backend is kernels and the coefficient is constant",
            true,
        ));
    }
    Ok(())
}

/// Writes the values of the sides, if they were set.
fn hold<T: Real>(sides: &Option<(Layout, SideValues<T>)>, u: &mut [T]) {
    if let Some((layout, values)) = sides {
        layout.hold(values, u);
    }
}

/// The same on the device.
fn hold_on_device<T: Real>(sides: &Option<Box<(Points<T>, BoundaryData<T>)>>, u: &mut Vector<T>) -> Result<()> {
    let Some((points, given)) = sides.as_deref() else { return Ok(()) };
    points.hold(given, u)
}
