//! Operators of other crates behind handles.

use std::any::Any;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Object, Registry, Scalar, Stored};
use crate::solve::Operator;
use crate::{Context, Error, Precision, Real, Result, Vector};

/// What a handle of an operator stands for; its type can be asked for.
trait Held<T: Real>: Operator<T> + Any + Send {}

impl<T: Real, O: Operator<T> + Any + Send> Held<T> for O {}

/// A matrix that is known by its products only, for one caller at a time.
pub struct Applied<T: Real> {
    rows: usize,
    cols: usize,
    context: Context,
    operator: Mutex<Box<dyn Held<T>>>,
}

impl<T: Real> Applied<T> {
    fn new(operator: Box<dyn Held<T>>) -> Applied<T> {
        let (rows, cols, context) = (operator.rows(), operator.cols(), operator.context().clone());
        Applied { rows, cols, context, operator: Mutex::new(operator) }
    }

    fn lock(&self) -> MutexGuard<'_, Box<dyn Held<T>>> {
        // A panic leaves an operator as it was: a product changes only its scratch memory.
        self.operator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `f` with the operator, if it is an `O`.
    pub fn with<O: Operator<T> + 'static, R>(&self, f: impl FnOnce(&O) -> R) -> Option<R> {
        let held = self.lock();
        let held: &dyn Any = &**held;
        held.downcast_ref().map(f)
    }
}

impl<T: Real> fmt::Debug for Applied<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Applied({} x {})", self.rows, self.cols)
    }
}

impl<T: Real> Operator<T> for Applied<T> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn cols(&self) -> usize {
        self.cols
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        self.lock().apply(alpha, x, beta, y)
    }
}

/// An operator whose precision is known at run time only.
#[derive(Debug)]
pub enum AnyOperator {
    /// In single precision.
    F32(Applied<f32>),
    /// In double precision.
    F64(Applied<f64>),
}

impl AnyOperator {
    /// Its precision.
    pub fn precision(&self) -> Precision {
        match self {
            AnyOperator::F32(_) => Precision::F32,
            AnyOperator::F64(_) => Precision::F64,
        }
    }

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            AnyOperator::F32(a) => (a.rows, a.cols),
            AnyOperator::F64(a) => (a.rows, a.cols),
        }
    }
}

/// What products and solvers take.
#[derive(Debug, Clone, Copy)]
pub(super) enum Matrix<'a, T: Real> {
    Stored(&'a Stored<T>),
    Applied(&'a Applied<T>),
}

impl<T: Scalar> Matrix<'_, T> {
    /// Rows and columns.
    pub(super) fn shape(&self) -> (usize, usize) {
        match self {
            Matrix::Stored(a) => a.shape(),
            Matrix::Applied(a) => (a.rows, a.cols),
        }
    }

    /// As what a solver takes.
    pub(super) fn operator(&self) -> Result<&dyn Operator<T>> {
        match self {
            Matrix::Stored(a) => a.operator(),
            Matrix::Applied(a) => Ok(*a),
        }
    }

    /// The diagonal, which an operator known by its products does not tell.
    pub(super) fn diagonal(&self) -> Result<Vector<T>> {
        match self {
            Matrix::Stored(a) => a.diagonal(),
            Matrix::Applied(_) => {
                let expected = "none for an operator, whose diagonal is not known";
                Err(Error::value("preconditioner", expected, "jacobi"))
            }
        }
    }
}

impl Object {
    /// The matrix in the precision `T`.
    pub(super) fn matrix<T: Scalar>(&self, argument: &'static str) -> Result<Matrix<'_, T>> {
        match T::of_operator(self) {
            Some(applied) => Ok(Matrix::Applied(applied)),
            None => Ok(Matrix::Stored(self.stored::<T>(argument)?)),
        }
    }
}

impl Registry {
    /// Names an operator. Products and Krylov methods take its handle, and [`Registry::release`] with
    /// [`Kind::OPERATOR`](super::Kind::OPERATOR).
    pub fn operator<T: Scalar>(&self, operator: impl Operator<T> + Send + 'static) -> u64 {
        self.insert(Object::Operator(T::erase_operator(Applied::new(Box::new(operator)))))
    }
}
