//! Krylov solvers that are made once for many solves.

use std::fmt;

use clinalg::solve::{Preconditioner, Solver};
use clinalg::{Csr, Result, Scalar};

use super::Content;
use super::cell::{Cell, Exclusive, ExclusiveGuard};
use crate::kind::{Info, Kind, ScalarType};

/// A preconditioner that can be made again of other entries.
pub(crate) trait Remade<T: Scalar>: Preconditioner<T> + Send {
    /// Makes it for this matrix.
    fn remake(&mut self, a: &Csr<T>) -> Result<()>;
}

/// The preconditioner of a solver.
pub(crate) enum SolverPreconditioner<T: Scalar> {
    None,
    /// The diagonal.
    Jacobi(clinalg::precond::Jacobi<T>),
    /// One made of the entries of a sparse matrix.
    Entries(Box<dyn Remade<T>>),
    /// The product with another object.
    Inverse(Cell),
}

/// A solver in one type of values.
pub(crate) struct Krylov<T: Scalar> {
    pub(crate) solver: Box<dyn Solver<T> + Send>,
    pub(crate) preconditioner: SolverPreconditioner<T>,
    /// The matrix or operator, which the solver keeps alive.
    pub(crate) a: Cell,
}

/// A solver for one caller at a time.
pub(crate) struct KrylovSolver<T: Scalar> {
    pub(crate) size: usize,
    state: Exclusive<Krylov<T>>,
}

impl<T: Scalar> KrylovSolver<T> {
    pub(crate) fn new(state: Krylov<T>) -> KrylovSolver<T> {
        KrylovSolver { size: state.solver.size(), state: Exclusive::new(state) }
    }

    pub(crate) fn lock(&self) -> Result<ExclusiveGuard<'_, Krylov<T>>> {
        self.state.lock("solver")
    }

    /// The objects that a solve reads: the matrix, and the approximate inverse if there is one.
    pub(crate) fn objects(&self) -> Result<Vec<Cell>> {
        let state = self.lock()?;
        let inverse = match &state.preconditioner {
            SolverPreconditioner::Inverse(cell) => Some(cell.clone()),
            _ => None,
        };
        Ok(std::iter::once(state.a.clone()).chain(inverse).collect())
    }
}

impl<T: Scalar> fmt::Debug for KrylovSolver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KrylovSolver({})", self.size)
    }
}

impl<T: Scalar> Content for KrylovSolver<T> {
    /// It has a row for each equation.
    fn info(&self) -> Info {
        Info::new(Kind::Solver, ScalarType::of::<T>(), self.size, 1)
    }
}
