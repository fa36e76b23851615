//! The solver on boxes, its operator and one cycle as a preconditioner.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::axis::{Axis, Factors};
use super::device::{Boxes, Lines};
use super::field::{self, Field, Finest, Load, Tensor, Varying};
use super::gpu::GpuBoxes;
use super::grid::{Centring, Condition, Grid};
use super::levels::{Level, levels};
use super::params::{GridParams, GridReport};
use super::points::{Layout, Points};
use super::sides::SideValues;
use super::stencil::{self, StencilLevel};
use super::stencil_device::{OnDevice, Stencils};
use crate::error::check_length;
use crate::multigrid::Coefficient;
use crate::multigrid::conjugate::Accelerated;
use crate::multigrid::cycle::{CycleFromZero, Cycles, Multigrid};
use crate::multigrid::iterate::iterate;
use crate::multigrid::params::Cycle;
use crate::ops::Operator;
use crate::runtime::KernelFamily;
use crate::solve::{Preconditioner, Progress, Stop};
use crate::{Context, Error, Real, Result, Vector};

/// A checked problem: its levels and where its unknowns lie.
struct Problem {
    /// Of the finest level; what given values add to the right-hand side by couplings that vary has been left out.
    factors: Vec<Factors>,
    levels: Levels,
    layout: Layout,
    /// Whether u is determined up to a constant only.
    singular: bool,
    /// Of the discretisation.
    order: usize,
}

/// The operators of all levels.
enum Levels {
    /// Sums of tensor products.
    Separable(Vec<Level>),
    /// By their couplings, with what given values add to the right-hand side.
    Coupled(Vec<StencilLevel>, Vec<Load>),
}

impl Problem {
    fn new<T: Real>(grid: &Grid, params: &GridParams, varying: Option<Varying<'_, T>>) -> Result<Problem> {
        params.check(grid)?;
        let axes = grid.axes(&params.diffusion)?;
        let singular = params.shift == 0.0 && axes.iter().all(|axis| axis.floats());
        let Level { mut factors, .. } = Level::new(axes.clone(), params.shift);
        let counts = [0, 1, 2].map(|axis| axes.get(axis).map_or(1, Axis::unknowns));
        let layout = Layout::new(grid, counts, |axis, end| axes[axis].held(end));
        let order = params.order;
        if varying.is_some() && order != 2 {
            return Err(Error::value("order", "2 with a variable coefficient or tensor", order));
        }
        if varying.is_none() && params.mixed_in(grid.dim()) == [0.0; 3] && order == 2 {
            let levels = Levels::Separable(levels(axes, params.shift));
            return Ok(Problem { factors, levels, layout, singular, order });
        }
        let field = match varying {
            Some(given) => Field::new(&axes, grid.points(), given)?,
            None => Field::Constant,
        };
        let Finest { stencil, loads } = field::finest(&axes, params, &field)?;
        for (factors, axis) in factors.iter_mut().zip(&axes) {
            for end in [0, 1] {
                let varies = match axis.sides[end] {
                    Condition::Dirichlet => true,
                    Condition::Robin { .. } => axis.centring == Centring::Cell,
                    _ => false,
                };
                if varies {
                    factors.load[end] = 0.0;
                }
            }
        }
        let levels = stencil::levels(stencil, axes.iter().map(stencil::distances).collect());
        Ok(Problem { factors, levels: Levels::Coupled(levels, loads), layout, singular, order })
    }

    /// Unknowns of each direction, by level.
    fn counts(&self) -> Vec<[usize; 3]> {
        match &self.levels {
            Levels::Separable(levels) => levels.iter().map(Level::counts).collect(),
            Levels::Coupled(levels, _) => levels.iter().map(|level| level.stencil.counts).collect(),
        }
    }

    /// Most points of a direction, by level.
    fn sides(&self) -> Vec<usize> {
        self.counts().iter().map(|counts| counts.iter().copied().max().unwrap_or(1)).collect()
    }

    /// A typical sum of the magnitudes of a row of the matrix.
    fn row_sum(&self) -> f64 {
        2.0 * match &self.levels {
            Levels::Separable(levels) => levels[0].diagonal(),
            Levels::Coupled(levels, _) => levels[0].stencil.diagonal(),
        }
    }

    /// What single values of the sides add to the right-hand side.
    fn loads(&self) -> &[Load] {
        match &self.levels {
            Levels::Separable(_) => &[],
            Levels::Coupled(_, loads) => loads,
        }
    }

    /// The mapping between points and unknowns.
    fn points<T: Real>(&self, context: &Context) -> Result<Points<T>> {
        Points::new(context, &self.layout, &self.factors, self.order, self.singular)
    }

    /// The right-hand side of a source and the values of the sides, balanced where u is determined up to a constant.
    fn right_side<T: Real>(
        &self,
        context: &Context,
        points: &Points<T>,
        f: &Vector<T>,
        sides: &SideValues<T>,
    ) -> Result<Vector<T>> {
        check(context, self.layout.points(), [("f", f)])?;
        let mut b = Vector::uninit(context, self.layout.unknowns())?;
        points.right_side(self.loads(), f, &points.given(sides)?, &mut b)?;
        Ok(b)
    }

    /// The values at all points, from those of the unknowns and of Dirichlet sides.
    fn to_points<T: Real>(
        &self,
        context: &Context,
        points: &Points<T>,
        x: &Vector<T>,
        sides: &SideValues<T>,
        u: &mut Vector<T>,
    ) -> Result<()> {
        check(context, self.layout.unknowns(), [("x", x)])?;
        check(context, self.layout.points(), [("u", &*u)])?;
        points.put(x, T::zero(), &points.given(sides)?, u)
    }
}

/// A multigrid solver of `-div(D grad u) + c u = f` with D symmetric positive definite, by default diagonal, on a [`Grid`]: boxes of any size and spacing with
/// Dirichlet, Neumann, Robin or periodic sides.
///
/// Finite volumes of order 2, or compact stencils of order 4 ([`GridParams::order`]). Each level joins pairs of intervals where their coupling is at least 0.4 times the strongest, so that
/// red-black sweeps are enough for spacings and coefficients that differ much between the directions.
///
/// Without a Dirichlet or Robin side and without c, u is determined up to a constant: then its mean is 0, and f and the fluxes must
/// balance, `integral of f + integral of g over the sides = 0`. What remains of an imbalance by discretisation is removed, see
/// [`GridReport::imbalance`].
///
/// ```
/// use clinalg::Context;
/// use clinalg::multigrid::{Condition, End, Grid, GridParams, GridPoisson, SideValues};
///
/// // -Laplace u = 1 on 2 by 1, insulated at x = 0, u = 0 on the other sides.
/// let grid = Grid::new(&[100, 70]).size(&[2.0, 1.0]).side(0, End::Low, Condition::Neumann);
/// let mut poisson = GridPoisson::<f64>::new(&Context::global()?, &grid, &GridParams::default())?;
/// let (f, mut u) = (vec![1.0; grid.len()], vec![0.0; grid.len()]);
/// let report = poisson.solve(&f, &SideValues::new(&grid), &mut u)?;
/// assert!(report.stop.is_success());
/// # Ok::<(), clinalg::Error>(())
/// ```
pub struct GridPoisson<T: Real> {
    context: Context,
    grid: Grid,
    params: GridParams,
    problem: Arc<Problem>,
    multigrid: Box<dyn Cycles<Grid = Vector<T>> + Send>,
    points: Points<T>,
    /// The unknowns and their right-hand side; made for the first solve.
    finest: Option<(Vector<T>, Vector<T>)>,
    /// What the next solve continues from.
    before: Option<GridMemory<T>>,
}

/// What a solution on a box that was stopped leaves, for [`GridPoisson::resume`].
#[derive(Debug, Clone, PartialEq)]
pub struct GridMemory<T> {
    /// The unknowns after the last cycle: the points without those of vertex-centred Dirichlet sides. Their mean is not yet removed where u
    /// is determined up to a constant only.
    pub unknowns: Vec<T>,
    /// The history of the report.
    pub history: Vec<f64>,
    /// Where cycles precondition conjugate gradients: the last direction, and the product of residual and preconditioned
    /// residual in it.
    pub direction: Option<(Vec<T>, f64)>,
}

impl<T: Real> std::fmt::Debug for GridPoisson<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GridPoisson").field("grid", &self.grid).field("params", &self.params).finish_non_exhaustive()
    }
}

impl<T: Real> GridPoisson<T> {
    /// A solver on `grid`, which owns the memory of all levels but the grids of the finest.
    ///
    /// # Errors
    /// As [`Grid::check`]; [`Error::Value`] for parameters out of range; [`Error::Allocation`]; [`Error::NoFp64`] for `f64` on a
    /// device without it.
    pub fn new(context: &Context, grid: &Grid, params: &GridParams) -> Result<GridPoisson<T>> {
        GridPoisson::build(context, grid, params, None)
    }

    /// A solver of `-div(k D grad u) + c u = f` with a positive variable coefficient k, which may jump by many orders of
    /// magnitude: [`Coefficient::Points`] with a value for each point of the grid, or [`Coefficient::Cells`] with one for each cell
    /// between the points, x fastest; on a cell-centred grid both are the values in the cells. The flux on the sides is k D du/dn.
    ///
    /// Between two points the harmonic mean is taken, along an edge between cells the mean of these, weighted by their shares
    /// of the cross-section. Coarse levels are Galerkin products with the interpolation along each direction that preserves the flux
    /// (Alcouffe, Brandt, Dendy and Painter 1981), and symmetric cycles precondition conjugate gradients; the report
    /// counts each iteration as a cycle.
    ///
    /// # Errors
    /// As [`GridPoisson::new`]; [`Error::Length`] and [`Error::Value`] that name `coefficient`; [`Error::Value`] that names `mixed` for
    /// off-diagonal entries on a cell-centred grid or with a coefficient at the points.
    pub fn with_coefficient(
        context: &Context,
        grid: &Grid,
        params: &GridParams,
        coefficient: Coefficient<'_, T>,
    ) -> Result<GridPoisson<T>> {
        GridPoisson::build(context, grid, params, Some(Varying::Coefficient(coefficient)))
    }

    /// A solver of `-div(D grad u) + c u = f` with a tensor D that varies, symmetric and positive definite, constant in each cell. The flux on the
    /// sides is n . D grad u. The operator is that of bilinear or trilinear elements with integrals taken at the corners of the cells, and its levels are
    /// those of [`with_coefficient`](GridPoisson::with_coefficient). [`operator`](GridPoisson::operator) and
    /// [`preconditioner`](GridPoisson::preconditioner) give both to Krylov solvers.
    ///
    /// # Errors
    /// As [`GridPoisson::new`]; [`Error::Length`] and [`Error::Value`] that name `tensor`: not positive definite in a cell, beside a constant tensor other than
    /// 1 in `params`, or with off-diagonal entries on a cell-centred grid.
    pub fn with_tensor(
        context: &Context,
        grid: &Grid,
        params: &GridParams,
        tensor: Tensor<'_, T>,
    ) -> Result<GridPoisson<T>> {
        GridPoisson::build(context, grid, params, Some(Varying::Tensor(tensor)))
    }

    fn build(
        context: &Context,
        grid: &Grid,
        params: &GridParams,
        varying: Option<Varying<'_, T>>,
    ) -> Result<GridPoisson<T>> {
        let problem = Problem::new(grid, params, varying)?;
        let (sides, full) = (problem.sides(), params.cycle == Cycle::Full);
        let multigrid: Box<dyn Cycles<Grid = Vector<T>> + Send> = match &problem.levels {
            Levels::Separable(levels) => match context.family() {
                KernelFamily::Cpu => {
                    let boxes = Boxes::new(context, levels, problem.singular)?;
                    Box::new(Multigrid::new(boxes, &sides, params.plan(), full)?)
                }
                KernelFamily::Gpu => {
                    let boxes = GpuBoxes::new(context, levels, problem.singular)?;
                    Box::new(Multigrid::new(boxes, &sides, params.plan(), full)?)
                }
            },
            Levels::Coupled(levels, _) => {
                let stencils = Stencils::new(context, levels, problem.singular)?;
                Box::new(Accelerated::new(Multigrid::new(stencils, &sides, params.symmetric_plan(), full)?)?)
            }
        };
        let points = problem.points(context)?;
        let (context, grid, problem) = (context.clone(), grid.clone(), Arc::new(problem));
        Ok(GridPoisson { context, grid, params: *params, problem, multigrid, points, finest: None, before: None })
    }

    /// The matrix that this solver inverts, on the same context.
    ///
    /// # Errors
    /// [`Error::Allocation`].
    pub fn operator(&self) -> Result<GridOperator<T>> {
        GridOperator::of(&self.context, &self.grid, Arc::clone(&self.problem))
    }

    /// A cycle with the parameters of this solver, as the approximate inverse of [`GridPoisson::operator`].
    ///
    /// # Errors
    /// [`Error::Allocation`].
    pub fn preconditioner(&self) -> Result<GridPreconditioner<T>> {
        GridPreconditioner::of(&self.context, &self.params, &self.problem)
    }

    /// As [`GridOperator::right_side`].
    ///
    /// # Errors
    /// As [`GridOperator::right_side`].
    pub fn right_side(&self, f: &Vector<T>, sides: &SideValues<T>) -> Result<Vector<T>> {
        self.problem.right_side(&self.context, &self.points, f, sides)
    }

    /// As [`GridOperator::points`].
    ///
    /// # Errors
    /// As [`GridOperator::points`].
    pub fn points(&self, x: &Vector<T>, sides: &SideValues<T>, u: &mut Vector<T>) -> Result<()> {
        self.problem.to_points(&self.context, &self.points, x, sides, u)
    }

    /// The context of the solver.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The grid the solver was made for.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Unknowns of each direction of each level, the finest first; 1 for a third direction that is not there.
    pub fn levels(&self) -> Vec<[usize; 3]> {
        self.problem.counts()
    }

    /// Solves for `u`, given the source `f`, the values of the sides and an initial guess in `u`; both arrays have a value per point
    /// of the grid. Points of a Dirichlet side get its values, and f is not read there, except by discretisations of order 4. When the data are not finite, `u` is left as
    /// it was.
    ///
    /// # Errors
    /// [`Error::Length`] that names `f` or `u`; [`Error::Value`] that names `f` for data that do not balance where u is
    /// determined up to a constant only, and `sides` for those of a grid with other points; what the device reports.
    pub fn solve(&mut self, f: &[T], sides: &SideValues<T>, u: &mut [T]) -> Result<GridReport> {
        self.solve_with(f, sides, u, &mut |_, _| ControlFlow::Continue(()))
    }

    /// [`GridPoisson::solve`], which calls `progress` before the first cycle and after each one with the number of cycles made and
    /// the relative residual; [`ControlFlow::Break`] stops the solve with [`Stop::Cancelled`].
    ///
    /// # Errors
    /// As [`GridPoisson::solve`].
    pub fn solve_with(
        &mut self,
        f: &[T],
        sides: &SideValues<T>,
        u: &mut [T],
        progress: Progress<'_>,
    ) -> Result<GridReport> {
        let points = self.problem.layout.points();
        check_length("f", points, f.len())?;
        check_length("u", points, u.len())?;
        let (f, mut on_device) = (Vector::from_slice(&self.context, f)?, Vector::from_slice(&self.context, u)?);
        let report = self.solve_device_with(&f, sides, &mut on_device, progress)?;
        on_device.read(u)?;
        Ok(report)
    }

    /// [`GridPoisson::solve`] on device vectors, of which no copy is made on the host; only the values of the sides are
    /// uploaded.
    ///
    /// # Errors
    /// As [`GridPoisson::solve`]; [`Error::Context`] that names `f` or `u`.
    pub fn solve_device(&mut self, f: &Vector<T>, sides: &SideValues<T>, u: &mut Vector<T>) -> Result<GridReport> {
        self.solve_device_with(f, sides, u, &mut |_, _| ControlFlow::Continue(()))
    }

    /// [`GridPoisson::solve_device`] with `progress` as in [`GridPoisson::solve_with`].
    ///
    /// # Errors
    /// As [`GridPoisson::solve_device`].
    pub fn solve_device_with(
        &mut self,
        f: &Vector<T>,
        sides: &SideValues<T>,
        u: &mut Vector<T>,
        progress: Progress<'_>,
    ) -> Result<GridReport> {
        let layout = &self.problem.layout;
        check(&self.context, layout.points(), [("f", f), ("u", &*u)])?;
        let given = self.points.given(sides)?;
        let (own_u, own_b) = match &mut self.finest {
            Some(made) => made,
            None => {
                let new = || Vector::uninit(&self.context, layout.unknowns());
                self.finest.insert((new()?, new()?))
            }
        };
        let imbalance = self.points.right_side(self.problem.loads(), f, &given, own_b)?;
        if let Some(imbalance) = imbalance.filter(|imbalance| *imbalance > self.params.max_imbalance) {
            let expected = format!(
                "a source and fluxes that balance to {}: without a Dirichlet or Robin side and without a shift, the integral of f and \
                 that of the fluxes into the box must add up to 0",
                self.params.max_imbalance
            );
            return Err(Error::value(
                "f",
                expected,
                format!("out of balance by {imbalance:.2e} of the sum of its magnitudes"),
            ));
        }
        let history = match self.before.take() {
            Some(before) => {
                own_u.write(&before.unknowns)?;
                before.history
            }
            None => {
                self.points.take(u, own_u)?;
                Vec::new()
            }
        };
        let (params, row_sum) = (self.params.iteration(), self.problem.row_sum());
        let report = iterate::<T, _>(&mut *self.multigrid, &params, row_sum, own_b, own_u, &history, progress)?;
        if report.stop != Stop::NotFinite {
            let constant = self.points.constant(own_u, own_b)?;
            self.points.put(own_u, constant, &given, u)?;
        }
        Ok(GridReport::new(report, imbalance))
    }

    /// What the last solve leaves for [`GridPoisson::resume`], `history` being that of its report.
    ///
    /// # Errors
    /// [`Error::Value`] before the first solve; what the device reports.
    pub fn memory(&self, history: &[f64]) -> Result<GridMemory<T>> {
        let Some((own_u, _)) = &self.finest else {
            return Err(Error::value("memory", "a solver that has solved", "one before its first solve"));
        };
        let direction = match self.multigrid.memory() {
            Some((p, product)) => Some((p.to_vec()?, product)),
            None => None,
        };
        Ok(GridMemory { unknowns: own_u.to_vec()?, history: history.to_vec(), direction })
    }

    /// Lets the next solve continue where another of the same problem with the same parameters ended, whatever its initial guess says: with the
    /// same cycles to the same bits as without a stop, and with its residuals in the report. A pass of full multigrid is not made again.
    ///
    /// # Errors
    /// [`Error::Length`] for unknowns or a direction that do not fit; [`Error::Value`] for a direction where cycles are the solver, and for
    /// no residual; what the device reports.
    pub fn resume(&mut self, memory: GridMemory<T>) -> Result<()> {
        if memory.history.is_empty() {
            return Err(Error::value("memory.history", "at least the residual of the initial guess", "none"));
        }
        let unknowns = self.problem.layout.unknowns();
        check_length("memory.unknowns", unknowns, memory.unknowns.len())?;
        if let Some((p, product)) = &memory.direction {
            check_length("memory.direction", unknowns, p.len())?;
            if !self.multigrid.remember(&mut |grid: &mut Vector<T>| grid.write(p), *product)? {
                return Err(Error::value("memory.direction", "none: cycles are the solver here", "a direction"));
            }
        }
        self.before = Some(memory);
        Ok(())
    }
}

/// The matrix A of `-div(D grad u) + c u` on a [`Grid`], integrated over the cells, without stored entries: symmetric and positive
/// definite, or semidefinite where u is determined up to a constant only.
///
/// Works on vectors of the unknowns: the points without those of vertex-centred Dirichlet sides. Traffic of a product, f64: 16
/// bytes per unknown, 24 where beta is not 0.
pub struct GridOperator<T: Real> {
    context: Context,
    grid: Grid,
    problem: Arc<Problem>,
    points: Points<T>,
    finest: FinestOperator<T>,
}

/// The matrix on the device.
enum FinestOperator<T: Real> {
    Separable(Lines<T>),
    Coupled(OnDevice<T>),
}

impl<T: Real> std::fmt::Debug for GridOperator<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GridOperator").field("grid", &self.grid).finish_non_exhaustive()
    }
}

impl<T: Real> GridOperator<T> {
    /// The operator on `grid`.
    ///
    /// # Errors
    /// As [`GridPoisson::new`].
    pub fn new(context: &Context, grid: &Grid, params: &GridParams) -> Result<GridOperator<T>> {
        GridOperator::build(context, grid, params, None)
    }

    /// The operator with a coefficient that varies, as [`GridPoisson::with_coefficient`] has it.
    ///
    /// # Errors
    /// As [`GridPoisson::with_coefficient`].
    pub fn with_coefficient(
        context: &Context,
        grid: &Grid,
        params: &GridParams,
        coefficient: Coefficient<'_, T>,
    ) -> Result<GridOperator<T>> {
        GridOperator::build(context, grid, params, Some(Varying::Coefficient(coefficient)))
    }

    fn build(
        context: &Context,
        grid: &Grid,
        params: &GridParams,
        varying: Option<Varying<'_, T>>,
    ) -> Result<GridOperator<T>> {
        GridOperator::of(context, grid, Arc::new(Problem::new(grid, params, varying)?))
    }

    fn of(context: &Context, grid: &Grid, problem: Arc<Problem>) -> Result<GridOperator<T>> {
        let finest = match &problem.levels {
            Levels::Separable(levels) => FinestOperator::Separable(Lines::new(context, &levels[0])?),
            Levels::Coupled(levels, _) => FinestOperator::Coupled(OnDevice::new(context, &levels[0].stencil)?),
        };
        let points = problem.points(context)?;
        Ok(GridOperator { context: context.clone(), grid: grid.clone(), problem, points, finest })
    }

    /// The right-hand side b of A u = b for the source `f`, with a value per point, and the values of the sides; one value per
    /// unknown. Where u is determined up to a constant only, what is out of balance has been taken out.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `f`; [`Error::Value`] that names `sides` for those of a grid
    /// with other points; what the device reports.
    pub fn right_side(&self, f: &Vector<T>, sides: &SideValues<T>) -> Result<Vector<T>> {
        self.problem.right_side(&self.context, &self.points, f, sides)
    }

    /// The values at all points, from those of the unknowns and of Dirichlet sides.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `x` or `u`; [`Error::Value`] that names `sides` for those of a
    /// grid with other points; what the device reports.
    pub fn points(&self, x: &Vector<T>, sides: &SideValues<T>, u: &mut Vector<T>) -> Result<()> {
        self.problem.to_points(&self.context, &self.points, x, sides, u)
    }
}

impl<T: Real> Operator<T> for GridOperator<T> {
    fn rows(&self) -> usize {
        self.problem.layout.unknowns()
    }

    fn cols(&self) -> usize {
        self.problem.layout.unknowns()
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        check(&self.context, self.rows(), [("x", x), ("y", &*y)])?;
        match &self.finest {
            FinestOperator::Separable(lines) => lines.apply(alpha, x, beta, y),
            FinestOperator::Coupled(operator) => operator.apply(alpha, x, beta, y),
        }
    }
}

/// One symmetric multigrid cycle from 0 as the approximate inverse of [`GridOperator`], with as many sweeps after the
/// coarse-grid correction as before it.
pub struct GridPreconditioner<T: Real> {
    context: Context,
    unknowns: usize,
    multigrid: Box<dyn CycleFromZero<Vector<T>>>,
}

impl<T: Real> std::fmt::Debug for GridPreconditioner<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GridPreconditioner").field("unknowns", &self.unknowns).finish_non_exhaustive()
    }
}

impl<T: Real> GridPreconditioner<T> {
    /// For vectors of the unknowns of `grid`; owns the memory of all coarse levels.
    ///
    /// # Errors
    /// As [`GridPoisson::new`].
    pub fn new(context: &Context, grid: &Grid, params: &GridParams) -> Result<GridPreconditioner<T>> {
        GridPreconditioner::build(context, grid, params, None)
    }

    /// For the operator with a coefficient that varies.
    ///
    /// # Errors
    /// As [`GridPoisson::with_coefficient`].
    pub fn with_coefficient(
        context: &Context,
        grid: &Grid,
        params: &GridParams,
        coefficient: Coefficient<'_, T>,
    ) -> Result<GridPreconditioner<T>> {
        GridPreconditioner::build(context, grid, params, Some(Varying::Coefficient(coefficient)))
    }

    fn build(
        context: &Context,
        grid: &Grid,
        params: &GridParams,
        varying: Option<Varying<'_, T>>,
    ) -> Result<GridPreconditioner<T>> {
        GridPreconditioner::of(context, params, &Problem::new(grid, params, varying)?)
    }

    fn of(context: &Context, params: &GridParams, problem: &Problem) -> Result<GridPreconditioner<T>> {
        let (sides, plan) = (problem.sides(), params.symmetric_plan());
        let multigrid: Box<dyn CycleFromZero<Vector<T>>> = match &problem.levels {
            Levels::Separable(levels) => match context.family() {
                KernelFamily::Cpu => {
                    Box::new(Multigrid::new(Boxes::new(context, levels, problem.singular)?, &sides, plan, false)?)
                }
                KernelFamily::Gpu => {
                    Box::new(Multigrid::new(GpuBoxes::new(context, levels, problem.singular)?, &sides, plan, false)?)
                }
            },
            Levels::Coupled(levels, _) => {
                Box::new(Multigrid::new(Stencils::new(context, levels, problem.singular)?, &sides, plan, false)?)
            }
        };
        Ok(GridPreconditioner { context: context.clone(), unknowns: problem.layout.unknowns(), multigrid })
    }
}

impl<T: Real> Preconditioner<T> for GridPreconditioner<T> {
    fn size(&self) -> usize {
        self.unknowns
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        check(&self.context, self.unknowns, [("r", r), ("z", &*z)])?;
        self.multigrid.cycle_from_zero(z, r)
    }
}

/// An error unless all vectors live there and have so many values.
fn check<T: Real, const N: usize>(
    context: &Context,
    len: usize,
    vectors: [(&'static str, &Vector<T>); N],
) -> Result<()> {
    for (argument, vector) in vectors {
        if !context.same(vector.context()) {
            return Err(Error::Context { argument });
        }
        check_length(argument, len, vector.len())?;
    }
    Ok(())
}
