//! Operators behind handles.

use std::any::Any;
use std::fmt;

use clinalg::solve::Operator;
use clinalg::{Context, Result, Scalar, Vector};

use super::cell::{Exclusive, ExclusiveGuard};
use super::{Content, Object};
use crate::kind::{Info, Kind, ScalarType};

/// What a handle of an operator stands for; its type can be queried.
pub(crate) trait Held<T: Scalar>: Operator<T> + Any + Send {}

impl<T: Scalar, O: Operator<T> + Any + Send> Held<T> for O {}

/// A matrix that is known by its products only, for one caller at a time.
pub(crate) struct Applied<T: Scalar> {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    context: Context,
    operator: Exclusive<Box<dyn Held<T>>>,
}

impl<T: Scalar> Applied<T> {
    pub(crate) fn new(operator: Box<dyn Held<T>>) -> Applied<T> {
        let (rows, cols, context) = (operator.rows(), operator.cols(), operator.context().clone());
        Applied { rows, cols, context, operator: Exclusive::new(operator) }
    }

    fn lock(&self) -> Result<ExclusiveGuard<'_, Box<dyn Held<T>>>> {
        self.operator.lock("operator")
    }
}

impl Object {
    /// Calls `f` with the operator, if it is an `O`.
    pub(crate) fn with_operator<T: Scalar, O: Operator<T> + 'static, R>(
        &self,
        f: impl FnOnce(&O) -> R,
    ) -> Result<Option<R>> {
        let Some(applied) = self.content::<Applied<T>>() else { return Ok(None) };
        let held = applied.lock()?;
        let held: &dyn Any = &**held;
        Ok(held.downcast_ref().map(f))
    }
}

impl<T: Scalar> fmt::Debug for Applied<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Applied({} x {})", self.rows, self.cols)
    }
}

impl<T: Scalar> Operator<T> for Applied<T> {
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
        self.lock()?.apply(alpha, x, beta, y)
    }
}

impl<T: Scalar> Content for Applied<T> {
    fn info(&self) -> Info {
        Info::new(Kind::Operator, ScalarType::of::<T>(), self.rows, self.cols)
    }
}
