//! Poisson solvers on boxes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use clinalg::multigrid::{GridPoisson, SideValues};
use clinalg::{Precision, Real};

/// A solver and the values of its sides.
#[derive(Debug)]
pub(crate) struct BoxState<T: Real> {
    pub(crate) poisson: GridPoisson<T>,
    pub(crate) sides: SideValues<T>,
}

/// A solver in one precision, for one caller at a time.
#[derive(Debug)]
pub struct BoxSolver<T: Real> {
    points: usize,
    state: Mutex<BoxState<T>>,
}

impl<T: Real> BoxSolver<T> {
    pub(crate) fn new(poisson: GridPoisson<T>) -> BoxSolver<T> {
        let (points, sides) = (poisson.grid().len(), SideValues::new(poisson.grid()));
        BoxSolver { points, state: Mutex::new(BoxState { poisson, sides }) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, BoxState<T>> {
        // A solve begins anew whatever one before left.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A solver whose precision is known at run time only.
#[derive(Debug)]
pub enum AnyBoxSolver {
    /// In single precision.
    F32(BoxSolver<f32>),
    /// In double precision.
    F64(BoxSolver<f64>),
}

impl AnyBoxSolver {
    /// Its precision.
    pub fn precision(&self) -> Precision {
        match self {
            AnyBoxSolver::F32(_) => Precision::F32,
            AnyBoxSolver::F64(_) => Precision::F64,
        }
    }

    /// Number of values of a grid.
    pub fn points(&self) -> usize {
        match self {
            AnyBoxSolver::F32(solver) => solver.points,
            AnyBoxSolver::F64(solver) => solver.points,
        }
    }
}
