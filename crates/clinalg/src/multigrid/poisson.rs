//! The solver of the Poisson problem.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::boxes::{Problem, Solver, Varying};
use super::params::{Backend, PoissonMemory, PoissonParams, PoissonReport, Smoother};
use super::regular::Regular;
use super::{Coefficient, Grid, PoissonOperator, PoissonPreconditioner, SideValues, Tensor};
use crate::runtime::KernelFamily;
use crate::solve::Progress;
use crate::{Context, Error, Real, Result, Vector};

/// A multigrid solver of `-div(D grad u) + c u = f` on a [`Grid`], with D symmetric positive definite: boxes of any size and
/// spacing with Dirichlet, Neumann, Robin or periodic sides.
///
/// It owns the memory of all coarse levels and can be reused; cycles neither allocate nor compile.
///
/// The values g of the sides are set by [`set_sides`](Poisson::set_sides). Sides that were not set have g = 0, except
/// Dirichlet sides of vertex-centred grids, where u keeps the values passed in.
///
/// Finite volumes of order 2, or compact stencils of order 4 ([`PoissonParams::order`]). Each level joins pairs of intervals where
/// their coupling is at least 0.4 times the strongest, so that red-black sweeps are enough for spacings and coefficients
/// that differ much between the directions.
///
/// Without a Dirichlet or Robin side and without c, u is determined up to a constant: then its mean is 0, and f and the fluxes
/// must balance, `integral of f + integral of g over the sides = 0`. What remains of an imbalance by discretisation is removed,
/// see [`PoissonReport::imbalance`].
///
/// # Regular grids
/// The unit square or cube with 2^k + 1 equally spaced points per side and Dirichlet sides, for D = 1 or, on the square, with a
/// coefficient. They have faster kernels, which are chosen automatically, and a choice of
/// [backends](PoissonParams::backend), [smoothers](PoissonParams::smoother) and
/// [precisions](PoissonParams::mixed_precision).
///
/// ```
/// use clinalg::Context;
/// use clinalg::multigrid::{Condition, End, Grid, Poisson, PoissonParams};
///
/// // -Laplace u = 1 on 2 by 1, insulated at x = 0, u = 0 on the other sides.
/// let grid = Grid::new(&[100, 70]).size(&[2.0, 1.0]).side(0, End::Low, Condition::Neumann);
/// let mut poisson = Poisson::<f64>::new(&Context::global()?, &grid, &PoissonParams::default())?;
/// let (f, mut u) = (vec![1.0; grid.len()], vec![0.0; grid.len()]);
/// let report = poisson.solve(&f, &mut u)?;
/// assert!(report.stop.is_success());
/// # Ok::<(), clinalg::Error>(())
/// ```
pub struct Poisson<T: Real> {
    grid: Grid,
    params: PoissonParams,
    engine: Engine<T>,
}

enum Engine<T: Real> {
    /// With the coefficient, for operators and preconditioners.
    Regular(Box<Regular<T>>, Option<OwnCoefficient<T>>),
    Any(Box<Solver<T>>),
}

/// A copy of a coefficient.
enum OwnCoefficient<T> {
    Points(Vec<T>),
    Cells(Vec<T>),
}

impl<T: Real> OwnCoefficient<T> {
    fn new(coefficient: Coefficient<'_, T>) -> OwnCoefficient<T> {
        match coefficient {
            Coefficient::Points(values) => OwnCoefficient::Points(values.to_vec()),
            Coefficient::Cells(values) => OwnCoefficient::Cells(values.to_vec()),
        }
    }

    fn borrowed(&self) -> Coefficient<'_, T> {
        match self {
            OwnCoefficient::Points(values) => Coefficient::Points(values),
            OwnCoefficient::Cells(values) => Coefficient::Cells(values),
        }
    }
}

impl<T: Real> std::fmt::Debug for Poisson<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Poisson").field("grid", &self.grid).field("params", &self.params).finish_non_exhaustive()
    }
}

impl<T: Real> Poisson<T> {
    /// A solver on `grid` in the backend that `params` names; [`Backend::Reference`] needs no device, see
    /// [`Poisson::reference`].
    ///
    /// # Errors
    /// As [`Grid::check`]; [`Error::Value`] for parameters out of range and for those that need a
    /// [regular grid](Poisson#regular-grids); [`Error::Allocation`]; [`Error::NoFp64`] for `f64` on a device without it.
    pub fn new(context: &Context, grid: &Grid, params: &PoissonParams) -> Result<Poisson<T>> {
        Poisson::build(Some(context), grid, params, None)
    }

    /// A solver of `-div(k D grad u) + c u = f` with a positive variable coefficient k, which may jump by many orders of
    /// magnitude: [`Coefficient::Points`] with a value for each point of the grid, or [`Coefficient::Cells`] with one for each
    /// cell between the points, x fastest; on a cell-centred grid both are the values in the cells. The flux on the sides is
    /// k D du/dn.
    ///
    /// Between two points the harmonic mean is taken, along an edge between cells the mean of these, weighted by their shares
    /// of the cross-section. Coarse levels are Galerkin products with an interpolation that preserves the flux
    /// (Alcouffe, Brandt, Dendy and Painter 1981), and symmetric cycles precondition conjugate gradients; the report
    /// counts each of their steps as a cycle. So jumps of 1 : 1000 and 1 : 1e6 take about as many cycles as a smooth
    /// coefficient and hardly more on finer grids, along lines of the grid or not, in two dimensions also where four subdomains
    /// meet in a point as on a chessboard. Not so for a coefficient that jumps at random from one cell to the next.
    ///
    /// # Errors
    /// As [`Poisson::new`]; [`Error::Length`] and [`Error::Value`] that name `coefficient`; [`Error::Value`] that names
    /// `mixed_derivatives` for off-diagonal entries on a cell-centred grid or with a coefficient at the points.
    pub fn with_coefficient(
        context: &Context,
        grid: &Grid,
        params: &PoissonParams,
        coefficient: Coefficient<'_, T>,
    ) -> Result<Poisson<T>> {
        Poisson::build(Some(context), grid, params, Some(Varying::Coefficient(coefficient)))
    }

    /// A solver of `-div(D grad u) + c u = f` with a tensor D that varies, symmetric and positive definite, constant in each cell.
    /// The flux on the sides is n . D grad u. The operator is that of bilinear or trilinear elements with integrals taken at the
    /// corners of the cells, and its levels are those of [`with_coefficient`](Poisson::with_coefficient).
    /// [`operator`](Poisson::operator) and [`preconditioner`](Poisson::preconditioner) give both to Krylov solvers.
    ///
    /// # Errors
    /// As [`Poisson::new`]; [`Error::Length`] and [`Error::Value`] that name `tensor`: not positive definite in a cell, beside
    /// a constant tensor other than 1 in `params`, or with off-diagonal entries on a cell-centred grid.
    pub fn with_tensor(
        context: &Context,
        grid: &Grid,
        params: &PoissonParams,
        tensor: Tensor<'_, T>,
    ) -> Result<Poisson<T>> {
        Poisson::build(Some(context), grid, params, Some(Varying::Tensor(tensor)))
    }

    /// The solver in plain Rust on a [regular grid](Poisson#regular-grids), whatever backend `params` names, with a
    /// coefficient if one is given; no device is needed.
    ///
    /// # Errors
    /// [`Error::Value`] for other grids, parameters out of range and grids that do not fit the memory; those of
    /// [`Poisson::with_coefficient`].
    pub fn reference(
        grid: &Grid,
        params: &PoissonParams,
        coefficient: Option<Coefficient<'_, T>>,
    ) -> Result<Poisson<T>> {
        let params = PoissonParams { backend: Backend::Reference, ..*params };
        Poisson::build(None, grid, &params, coefficient.map(Varying::Coefficient))
    }

    fn build(
        context: Option<&Context>,
        grid: &Grid,
        params: &PoissonParams,
        varying: Option<Varying<'_, T>>,
    ) -> Result<Poisson<T>> {
        params.check(grid)?;
        let engine = match (regular(grid, params), varying, context) {
            (Some(n), None, _) => {
                Engine::Regular(Box::new(Regular::new(context, (n, grid.dim()), params, None)?), None)
            }
            (Some(n), Some(Varying::Coefficient(k)), _) if grid.dim() == 2 && !is_general(context, params) => {
                let own = OwnCoefficient::new(k);
                Engine::Regular(Box::new(Regular::new(context, (n, 2), params, Some(k))?), Some(own))
            }
            (_, varying, Some(context)) if params.backend != Backend::Reference => {
                check_any(params)?;
                let problem = Problem::new(context, grid, params, varying)?;
                Engine::Any(Box::new(Solver::new(context, params, problem, &SideValues::new(grid))?))
            }
            _ => return Err(needs_regular("backend", "kernels", params.backend)),
        };
        Ok(Poisson { grid: grid.clone(), params: *params, engine })
    }

    /// The grid the solver was made for.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The parameters the solver was made with.
    pub fn params(&self) -> &PoissonParams {
        &self.params
    }

    /// The context of the solver; none of the reference backend.
    pub fn context(&self) -> Option<&Context> {
        match &self.engine {
            Engine::Regular(solver, _) => solver.context(),
            Engine::Any(solver) => Some(solver.context()),
        }
    }

    /// Unknowns of each direction of each level, the finest first; 1 for a third direction that is not there.
    pub fn levels(&self) -> Vec<[usize; 3]> {
        match &self.engine {
            Engine::Regular(solver, _) => {
                let third = |n: usize| if self.grid.dim() == 3 { n - 2 } else { 1 };
                solver.levels().iter().map(|&n| [n - 2, n - 2, third(n)]).collect()
            }
            Engine::Any(solver) => solver.problem().counts(),
        }
    }

    /// Sets the values of the sides for the solves that follow. Where Dirichlet sides meet, the last direction holds, also if
    /// its values are those of u.
    ///
    /// # Errors
    /// [`Error::Value`] that names `sides` for those of a grid with other points; what the device reports.
    pub fn set_sides(&mut self, sides: &SideValues<T>) -> Result<()> {
        match &mut self.engine {
            Engine::Regular(solver, _) => solver.set_sides(&self.grid, sides),
            Engine::Any(solver) => solver.set_sides(sides),
        }
    }

    /// Solves for `u`, given the source `f` and an initial guess in `u`; both have a value per point of the grid. Points of a
    /// Dirichlet side get its values, if it has some, and keep those of u otherwise; f is not read there, except by
    /// discretisations of order 4. When the data are not finite, `u` is left as it was, but for values set on
    /// Dirichlet sides.
    ///
    /// # Errors
    /// [`Error::Length`] that names `f` or `u`; [`Error::Value`] that names `f` for data that do not balance where u is
    /// determined up to a constant only; what the device reports.
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
        match &mut self.engine {
            Engine::Regular(solver, _) => solver.solve(f, u, progress),
            Engine::Any(solver) => solver.solve(f, u, progress),
        }
    }

    /// [`Poisson::solve`] on device vectors, of which no copy is made on the host. On a GPU `u` may end up in other memory
    /// than before.
    ///
    /// # Errors
    /// As [`Poisson::solve`]; [`Error::Context`] that names `f` or `u`.
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
        match &mut self.engine {
            Engine::Regular(solver, _) => solver.solve_device(f, u, progress),
            Engine::Any(solver) => solver.solve_device(f, u, progress),
        }
    }

    /// What the last solve leaves for [`Poisson::resume`] besides u, `history` being that of its report.
    ///
    /// # Errors
    /// What the device reports.
    pub fn memory(&self, history: &[f64]) -> Result<PoissonMemory<T>> {
        match &self.engine {
            Engine::Regular(solver, _) => solver.memory(history),
            Engine::Any(solver) => solver.memory(history),
        }
    }

    /// Lets the next solve continue where another with the same grid, parameters and data ended, from its u: with the same
    /// cycles to the same bits as without a stop, and with its residuals in the report. A pass of full multigrid is not made
    /// again.
    ///
    /// # Errors
    /// [`Error::Length`] for unknowns or a direction that do not fit; [`Error::Value`] for a direction where cycles are the
    /// solver, and for no residual; what the device reports.
    pub fn resume(&mut self, memory: &PoissonMemory<T>) -> Result<()> {
        if memory.history.is_empty() {
            return Err(Error::value("memory.history", "at least the residual of the initial guess", "none"));
        }
        match &mut self.engine {
            Engine::Regular(solver, _) => solver.resume(memory),
            Engine::Any(solver) => solver.resume(memory),
        }
    }

    /// The discretised problem, and where it is solved.
    fn problem(&self) -> Result<(&Context, Arc<Problem<T>>)> {
        let Some(context) = self.context() else {
            return Err(Error::value("backend", "kernels or matrix: operators need a device", "reference"));
        };
        let problem = match &self.engine {
            Engine::Regular(_, own) => {
                let varying = own.as_ref().map(|own| Varying::Coefficient(own.borrowed()));
                Arc::new(Problem::new(context, &self.grid, &self.params, varying)?)
            }
            Engine::Any(solver) => Arc::clone(solver.problem()),
        };
        Ok((context, problem))
    }

    /// The matrix that this solver inverts, on the same context.
    ///
    /// # Errors
    /// [`Error::Value`] of the reference backend; [`Error::Allocation`].
    pub fn operator(&self) -> Result<PoissonOperator<T>> {
        let (context, problem) = self.problem()?;
        PoissonOperator::of(context, &self.grid, problem)
    }

    /// A cycle with the parameters of this solver, as the approximate inverse of [`Poisson::operator`].
    ///
    /// # Errors
    /// As [`Poisson::operator`].
    pub fn preconditioner(&self) -> Result<PoissonPreconditioner<T>> {
        let (context, problem) = self.problem()?;
        PoissonPreconditioner::of(context, &self.params, &problem)
    }
}

/// The points per side of a regular grid with an equation for it.
fn regular(grid: &Grid, params: &PoissonParams) -> Option<usize> {
    let dim = grid.dim();
    let plain = params.diffusion[..dim] == [1.0; 3][..dim] && params.mixed_in(dim) == [0.0; 3] && params.order == 2;
    grid.regular().filter(|_| plain)
}

/// The points per side of each level of a regular grid, the finest first, for what only such grids have.
///
/// # Errors
/// Those of the parameters; [`Error::Value`] that names `points` for other problems.
pub(crate) fn regular_sides(grid: &Grid, params: &PoissonParams) -> Result<Vec<usize>> {
    params.check(grid)?;
    if let Some(n) = regular(grid, params) {
        return super::sides(n, grid.dim() as u32);
    }
    let n = grid.points()[0];
    let nearest = match super::sides(n, grid.dim() as u32) {
        Err(Error::Value { expected, .. }) => expected,
        _ => "2^k + 1 points per side".into(),
    };
    let expected = format!(
        "-Laplace u + c u = f on the unit square or cube with Dirichlet sides, D = 1 and order 2, and {nearest}"
    );
    Err(Error::value("points", expected, super::boxes::by(grid.points())))
}

/// Whether a square with a coefficient is solved like any other grid: on GPUs, where kernels make the operators of all levels and
/// those for squares are made on the host. Its cycles take 1.2 times as long (NVIDIA H200).
fn is_general(context: Option<&Context>, params: &PoissonParams) -> bool {
    context.is_some_and(|context| context.family() == KernelFamily::Gpu) && check_any(params).is_ok()
}

/// An error for parameters that only regular grids have.
fn check_any(params: &PoissonParams) -> Result<()> {
    if params.backend != Backend::Kernels {
        return Err(needs_regular("backend", "kernels", params.backend));
    }
    if params.smoother != Smoother::RedBlack {
        return Err(needs_regular("smoother", "red-black", params.smoother));
    }
    if params.mixed_precision {
        return Err(needs_regular("mixed_precision", "false", true));
    }
    Ok(())
}

fn needs_regular(argument: &'static str, expected: &str, got: impl std::fmt::Debug) -> Error {
    let expected = format!(
        "{expected} for this problem: other choices need -Laplace u + c u = f on the unit square or cube with 2^k + 1 \
         points per side and Dirichlet sides"
    );
    Error::value(argument, expected, format!("{got:?}").to_lowercase())
}
