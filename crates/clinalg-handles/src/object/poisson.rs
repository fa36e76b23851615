//! Poisson solvers.

use clinalg::multigrid::{Poisson, PoissonOperator, SideValues};
use clinalg::{Real, Result};

use super::Content;
use super::cell::{Exclusive, ExclusiveGuard};
use crate::kind::{Info, Kind, ScalarType};

/// A solver, the values of its sides, and its matrix, once it was needed.
#[derive(Debug)]
pub(crate) struct PoissonState<T: Real> {
    pub(crate) poisson: Poisson<T>,
    sides: SideValues<T>,
    /// Whether the solver has other values of the sides.
    changed: bool,
    operator: Option<PoissonOperator<T>>,
}

impl<T: Real> PoissonState<T> {
    /// The values of the sides, to be changed.
    pub(crate) fn sides_mut(&mut self) -> &mut SideValues<T> {
        self.changed = true;
        &mut self.sides
    }

    /// The solver with the values of the sides, which are uploaded once however many sides were set.
    pub(crate) fn solver(&mut self) -> Result<&mut Poisson<T>> {
        if self.changed {
            self.poisson.set_sides(&self.sides)?;
            self.changed = false;
        }
        Ok(&mut self.poisson)
    }

    /// The matrix of the solver, with the values of the sides.
    pub(crate) fn operator(&mut self) -> Result<(&PoissonOperator<T>, &SideValues<T>)> {
        let operator = match self.operator.take() {
            Some(operator) => operator,
            None => self.poisson.operator()?,
        };
        Ok((self.operator.insert(operator), &self.sides))
    }
}

/// A solver in one precision, for one caller at a time.
#[derive(Debug)]
pub(crate) struct PoissonSolver<T: Real> {
    points: usize,
    state: Exclusive<PoissonState<T>>,
}

impl<T: Real> PoissonSolver<T> {
    pub(crate) fn new(poisson: Poisson<T>) -> PoissonSolver<T> {
        let (points, sides) = (poisson.grid().len(), SideValues::new(poisson.grid()));
        PoissonSolver { points, state: Exclusive::new(PoissonState { poisson, sides, changed: false, operator: None }) }
    }

    pub(crate) fn lock(&self) -> Result<ExclusiveGuard<'_, PoissonState<T>>> {
        self.state.lock("poisson")
    }
}

impl<T: Real> Content for PoissonSolver<T> {
    /// It has a row for each point.
    fn info(&self) -> Info {
        Info::new(Kind::Poisson, ScalarType::of::<T>(), self.points, 1)
    }
}
