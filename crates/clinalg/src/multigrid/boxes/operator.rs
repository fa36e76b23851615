//! The operator on a grid, and one cycle as a preconditioner.

use std::sync::Arc;

use super::device::{Boxes, Lines};
use super::field::Varying;
use super::gpu::GpuBoxes;
use super::grid::Grid;
use super::points::Points;
use super::problem::{Levels, Problem, check};
use super::sides::SideValues;
use super::stencil_device::Stencils;
use crate::multigrid::Coefficient;
use crate::multigrid::cycle::{CycleFromZero, Multigrid};
use crate::multigrid::params::PoissonParams;
use crate::ops::Operator;
use crate::runtime::KernelFamily;
use crate::solve::Preconditioner;
use crate::{Context, Real, Result, Vector};

/// The matrix A of `-div(D grad u) + c u` on a [`Grid`], integrated over the cells, without stored entries: symmetric and positive
/// definite, or semidefinite where u is determined up to a constant only.
///
/// Works on vectors of the unknowns: the points without those of vertex-centred Dirichlet sides. Traffic of a product, f64: 16
/// bytes per unknown, 24 where beta is not 0.
pub struct PoissonOperator<T: Real> {
    context: Context,
    grid: Grid,
    problem: Arc<Problem<T>>,
    points: Points<T>,
    /// The matrix where it is a sum of tensor products.
    lines: Option<Lines<T>>,
}

impl<T: Real> std::fmt::Debug for PoissonOperator<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PoissonOperator").field("grid", &self.grid).finish_non_exhaustive()
    }
}

impl<T: Real> PoissonOperator<T> {
    /// The operator on `grid`.
    ///
    /// # Errors
    /// As [`Poisson::new`](crate::multigrid::Poisson::new).
    pub fn new(context: &Context, grid: &Grid, params: &PoissonParams) -> Result<PoissonOperator<T>> {
        PoissonOperator::build(context, grid, params, None)
    }

    /// The operator with a coefficient that varies, as
    /// [`Poisson::with_coefficient`](crate::multigrid::Poisson::with_coefficient) has it.
    ///
    /// # Errors
    /// As [`Poisson::with_coefficient`](crate::multigrid::Poisson::with_coefficient).
    pub fn with_coefficient(
        context: &Context,
        grid: &Grid,
        params: &PoissonParams,
        coefficient: Coefficient<'_, T>,
    ) -> Result<PoissonOperator<T>> {
        PoissonOperator::build(context, grid, params, Some(Varying::Coefficient(coefficient)))
    }

    fn build(
        context: &Context,
        grid: &Grid,
        params: &PoissonParams,
        varying: Option<Varying<'_, T>>,
    ) -> Result<PoissonOperator<T>> {
        PoissonOperator::of(context, grid, Arc::new(Problem::new(context, grid, params, varying)?))
    }

    pub(in crate::multigrid) fn of(
        context: &Context,
        grid: &Grid,
        problem: Arc<Problem<T>>,
    ) -> Result<PoissonOperator<T>> {
        let lines = match &problem.levels {
            Levels::Separable(levels) => Some(Lines::new(context, &levels[0])?),
            Levels::Coupled(..) => None,
        };
        let points = problem.points(context)?;
        Ok(PoissonOperator { context: context.clone(), grid: grid.clone(), problem, points, lines })
    }

    /// The right-hand side b of A u = b for the source `f`, with a value per point, and the values of the sides; one value per
    /// unknown. Where u is determined up to a constant only, what is out of balance has been taken out.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) or [`Error::Context`](crate::Error::Context) that names `f`;
    /// [`Error::Value`](crate::Error::Value) that names `sides` for those of a grid with other points; what the
    /// device reports.
    pub fn right_side(&self, f: &Vector<T>, sides: &SideValues<T>) -> Result<Vector<T>> {
        let layout = &self.problem.layout;
        check(&self.context, layout.points(), [("f", f)])?;
        let (given, mut b) = (self.points.given(sides)?, Vector::uninit(&self.context, layout.unknowns())?);
        self.points.right_side(self.problem.finest(), f, given.boundary(), &mut b)?;
        Ok(b)
    }

    /// The values at all points, from those of the unknowns and of Dirichlet sides; where these have none, u stays as it is.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) or [`Error::Context`](crate::Error::Context) that names `x` or `u`;
    /// [`Error::Value`](crate::Error::Value) that names `sides` for those of a grid with other points; what the
    /// device reports.
    pub fn points(&self, x: &Vector<T>, sides: &SideValues<T>, u: &mut Vector<T>) -> Result<()> {
        let layout = &self.problem.layout;
        check(&self.context, layout.unknowns(), [("x", x)])?;
        check(&self.context, layout.points(), [("u", &*u)])?;
        self.points.put(x, T::zero(), &self.points.given(sides)?, u)
    }
}

impl<T: Real> Operator<T> for PoissonOperator<T> {
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
        match (&self.problem.levels, &self.lines) {
            (Levels::Coupled(levels, _), _) => levels[0].operator.apply(alpha, x, beta, y),
            (Levels::Separable(_), lines) => {
                lines.as_ref().expect("a sum of tensor products has lines").apply(alpha, x, beta, y)
            }
        }
    }
}

/// One symmetric multigrid cycle from 0 as the approximate inverse of [`PoissonOperator`], with as many sweeps after the
/// coarse-grid correction as before it.
pub struct PoissonPreconditioner<T: Real> {
    context: Context,
    unknowns: usize,
    multigrid: Box<dyn CycleFromZero<Vector<T>>>,
}

impl<T: Real> std::fmt::Debug for PoissonPreconditioner<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PoissonPreconditioner").field("unknowns", &self.unknowns).finish_non_exhaustive()
    }
}

impl<T: Real> PoissonPreconditioner<T> {
    /// For vectors of the unknowns of `grid`; owns the memory of all coarse levels.
    ///
    /// # Errors
    /// As [`Poisson::new`](crate::multigrid::Poisson::new).
    pub fn new(context: &Context, grid: &Grid, params: &PoissonParams) -> Result<PoissonPreconditioner<T>> {
        PoissonPreconditioner::build(context, grid, params, None)
    }

    /// For the operator with a coefficient that varies.
    ///
    /// # Errors
    /// As [`Poisson::with_coefficient`](crate::multigrid::Poisson::with_coefficient).
    pub fn with_coefficient(
        context: &Context,
        grid: &Grid,
        params: &PoissonParams,
        coefficient: Coefficient<'_, T>,
    ) -> Result<PoissonPreconditioner<T>> {
        PoissonPreconditioner::build(context, grid, params, Some(Varying::Coefficient(coefficient)))
    }

    fn build(
        context: &Context,
        grid: &Grid,
        params: &PoissonParams,
        varying: Option<Varying<'_, T>>,
    ) -> Result<PoissonPreconditioner<T>> {
        PoissonPreconditioner::of(context, params, &Problem::new(context, grid, params, varying)?)
    }

    pub(in crate::multigrid) fn of(
        context: &Context,
        params: &PoissonParams,
        problem: &Problem<T>,
    ) -> Result<PoissonPreconditioner<T>> {
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
        Ok(PoissonPreconditioner { context: context.clone(), unknowns: problem.layout.unknowns(), multigrid })
    }
}

impl<T: Real> Preconditioner<T> for PoissonPreconditioner<T> {
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
