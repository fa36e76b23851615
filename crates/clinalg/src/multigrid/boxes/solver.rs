//! Cycles on any grid.

use std::sync::Arc;

use super::device::Boxes;
use super::gpu::GpuBoxes;
use super::points::{BoundaryData, Points};
use super::problem::{Levels, Problem, check};
use super::sides::SideValues;
use super::stencil_device::Stencils;
use crate::error::check_length;
use crate::multigrid::conjugate::Accelerated;
use crate::multigrid::cycle::{Cycles, Multigrid};
use crate::multigrid::iterate::iterate;
use crate::multigrid::params::{Cycle, PoissonMemory, PoissonParams, PoissonReport};
use crate::runtime::KernelFamily;
use crate::solve::{Progress, Stop};
use crate::{Context, Error, Real, Result, Vector, number};

/// A solver on any grid, which owns the memory of all levels but the grids of the finest.
pub(in crate::multigrid) struct Solver<T: Real> {
    context: Context,
    params: PoissonParams,
    problem: Arc<Problem<T>>,
    multigrid: Box<dyn Cycles<Grid = Vector<T>> + Send>,
    points: Points<T>,
    sides: BoundaryData<T>,
    /// The values of all sides in a solve, where u has some of them.
    boundary: Option<Vector<T>>,
    /// The unknowns and their right-hand side; made for the first solve.
    finest: Option<(Vector<T>, Vector<T>)>,
    /// A typical sum of the magnitudes of a row of the matrix.
    row_sum: f64,
    /// What the next solve continues from.
    before: Option<PoissonMemory<T>>,
}

impl<T: Real> Solver<T> {
    pub(in crate::multigrid) fn new(
        context: &Context,
        params: &PoissonParams,
        problem: Problem<T>,
        sides: &SideValues<T>,
    ) -> Result<Solver<T>> {
        let (counts, full) = (problem.sides(), params.cycle == Cycle::Full);
        let multigrid: Box<dyn Cycles<Grid = Vector<T>> + Send> = match &problem.levels {
            Levels::Separable(levels) => match context.family() {
                KernelFamily::Cpu => {
                    let boxes = Boxes::new(context, levels, problem.singular)?;
                    Box::new(Multigrid::new(boxes, &counts, params.plan(), full)?)
                }
                KernelFamily::Gpu => {
                    let boxes = GpuBoxes::new(context, levels, problem.singular)?;
                    Box::new(Multigrid::new(boxes, &counts, params.plan(), full)?)
                }
            },
            Levels::Coupled(levels, _) => {
                let stencils = Stencils::new(context, levels, problem.singular)?;
                Box::new(Accelerated::new(Multigrid::new(stencils, &counts, params.symmetric_plan(), full)?)?)
            }
        };
        let (points, row_sum) = (problem.points(context)?, problem.row_sum()?);
        let (context, params, problem, sides) = (context.clone(), *params, Arc::new(problem), points.given(sides)?);
        let (boundary, finest, before) = (None, None, None);
        Ok(Solver { context, params, problem, multigrid, points, sides, boundary, finest, row_sum, before })
    }

    pub(in crate::multigrid) fn context(&self) -> &Context {
        &self.context
    }

    pub(in crate::multigrid) fn problem(&self) -> &Arc<Problem<T>> {
        &self.problem
    }

    pub(in crate::multigrid) fn set_sides(&mut self, sides: &SideValues<T>) -> Result<()> {
        self.sides = self.points.given(sides)?;
        Ok(())
    }

    /// As [`Poisson::solve_with`](crate::multigrid::Poisson::solve_with).
    pub(in crate::multigrid) fn solve(
        &mut self,
        f: &[T],
        u: &mut [T],
        progress: Progress<'_>,
    ) -> Result<PoissonReport> {
        let points = self.problem.layout.points();
        check_length("f", points, f.len())?;
        check_length("u", points, u.len())?;
        let (f, mut on_device) = (Vector::from_slice(&self.context, f)?, Vector::from_slice(&self.context, u)?);
        let report = self.solve_device(&f, &mut on_device, progress)?;
        on_device.read(u)?;
        Ok(report)
    }

    /// As [`Poisson::solve_device_with`](crate::multigrid::Poisson::solve_device_with).
    pub(in crate::multigrid) fn solve_device(
        &mut self,
        f: &Vector<T>,
        u: &mut Vector<T>,
        progress: Progress<'_>,
    ) -> Result<PoissonReport> {
        let layout = &self.problem.layout;
        check(&self.context, layout.points(), [("f", f), ("u", &*u)])?;
        let (own_u, own_b) = match &mut self.finest {
            Some(made) => made,
            None => {
                let new = || Vector::uninit(&self.context, layout.unknowns());
                self.finest.insert((new()?, new()?))
            }
        };
        let boundary = self.points.boundary(&self.sides, u, &mut self.boundary)?;
        let imbalance = self.points.right_side(self.problem.finest(), f, boundary, own_b)?;
        if let Some(imbalance) = imbalance.filter(|imbalance| *imbalance > self.params.max_imbalance) {
            let expected = format!(
                "a source and fluxes that balance to {}: without a Dirichlet or Robin side and without a shift, the \
                 integral of f and that of the fluxes into the box must add up to 0",
                self.params.max_imbalance
            );
            let got = format!("out of balance by {} of the sum of its magnitudes", number(imbalance, 3));
            return Err(Error::value("f", expected, got));
        }
        let history = match self.before.take() {
            Some(PoissonMemory { history, unknowns, .. }) => {
                match unknowns {
                    Some(unknowns) => own_u.write(&unknowns)?,
                    None => self.points.take(u, own_u)?,
                }
                history
            }
            None => {
                self.points.take(u, own_u)?;
                Vec::new()
            }
        };
        let (multigrid, params, row_sum) = (&mut *self.multigrid, &self.params, self.row_sum);
        let report = iterate::<T, _>(multigrid, params, row_sum, own_b, own_u, &history, progress)?;
        if report.stop != Stop::NotFinite {
            let constant = self.points.constant(own_u, own_b)?;
            self.points.put(own_u, constant, &self.sides, u)?;
        }
        Ok(PoissonReport { imbalance, ..report })
    }

    /// As [`Poisson::memory`](crate::multigrid::Poisson::memory).
    pub(in crate::multigrid) fn memory(&self, history: &[f64]) -> Result<PoissonMemory<T>> {
        let direction = match self.multigrid.memory() {
            Some((p, product)) => Some((p.to_vec()?, product)),
            None => None,
        };
        let finest = self.finest.as_ref().filter(|_| self.problem.singular);
        let unknowns = finest.map(|(u, _)| u.to_vec()).transpose()?;
        Ok(PoissonMemory { history: history.to_vec(), direction, unknowns })
    }

    /// As [`Poisson::resume`](crate::multigrid::Poisson::resume).
    pub(in crate::multigrid) fn resume(&mut self, memory: &PoissonMemory<T>) -> Result<()> {
        let count = self.problem.layout.unknowns();
        if let Some(unknowns) = &memory.unknowns {
            check_length("memory.unknowns", count, unknowns.len())?;
        }
        if let Some((p, product)) = &memory.direction {
            check_length("memory.direction", count, p.len())?;
            if !self.multigrid.remember(&mut |grid: &mut Vector<T>| grid.write(p), *product)? {
                return Err(Error::value("memory.direction", "none: cycles are the solver here", "a direction"));
            }
        }
        self.before = Some(memory.clone());
        Ok(())
    }
}
