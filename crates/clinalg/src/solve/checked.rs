//! A caller's operator or preconditioner, whose outputs are checked after each call, because it may have assigned another
//! vector to `y` and the next launches of the solver rely on its length and context.

use super::{Operator, Preconditioner};
use crate::ops::DotParts;
use crate::{Context, Csr, Error, Result, Scalar, Vector};

/// A matrix of `n` rows that a caller gave to a solver.
pub(super) struct CheckedOperator<'a, T: Scalar> {
    operator: &'a dyn Operator<T>,
    n: usize,
}

/// A preconditioner of `n` rows that a caller gave to a solver.
pub(super) struct CheckedPreconditioner<'a, T: Scalar> {
    preconditioner: &'a mut dyn Preconditioner<T>,
    n: usize,
}

impl<'a, T: Scalar> CheckedOperator<'a, T> {
    pub(super) fn new(operator: &'a dyn Operator<T>, n: usize) -> CheckedOperator<'a, T> {
        CheckedOperator { operator, n }
    }
}

impl<'a, T: Scalar> CheckedPreconditioner<'a, T> {
    pub(super) fn new(preconditioner: &'a mut dyn Preconditioner<T>, n: usize) -> CheckedPreconditioner<'a, T> {
        CheckedPreconditioner { preconditioner, n }
    }
}

/// An error that names `argument` unless `y` has `n` values and lives in `context`.
fn check<T: Scalar>(argument: &'static str, n: usize, context: &Context, y: &Vector<T>) -> Result<()> {
    let same = y.context().same(context);
    if y.len() == n && same {
        return Ok(());
    }
    let place = if same { "" } else { " of another context" };
    Err(Error::value(
        argument,
        format!("an operator that writes to the output vector of length {n} that it was given"),
        format!("one that replaced it by a vector of length {}{place}", y.len()),
    ))
}

/// An error unless a solver's own vectors are as long as its first one and in its context, which they are not after a
/// solve that ended with the error above.
pub(super) fn check_own<'v, T: Scalar>(vectors: impl IntoIterator<Item = &'v Vector<T>>) -> Result<()> {
    let mut vectors = vectors.into_iter();
    let Some(first) = vectors.next() else { return Ok(()) };
    vectors.try_for_each(|vector| {
        if vector.len() == first.len() && vector.context().same(first.context()) {
            return Ok(());
        }
        let expected =
            "a solver whose operators and preconditioners have not replaced its vectors; create a new solver";
        Err(Error::value("self", expected, format!("one with vectors of lengths {} and {}", first.len(), vector.len())))
    })
}

impl<T: Scalar> Operator<T> for CheckedOperator<'_, T> {
    fn rows(&self) -> usize {
        self.operator.rows()
    }

    fn cols(&self) -> usize {
        self.operator.cols()
    }

    fn context(&self) -> &Context {
        self.operator.context()
    }

    fn as_csr(&self) -> Option<&Csr<T>> {
        self.operator.as_csr()
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        self.operator.apply(alpha, x, beta, y)?;
        check("a", self.n, x.context(), y)
    }

    fn apply_dot(&self, x: &Vector<T>, y: &mut Vector<T>, dot: &mut DotParts<T>) -> Result<()> {
        self.operator.apply_dot(x, y, dot)?;
        check("a", self.n, x.context(), y)?;
        dot.check(x.context())
    }

    fn apply_dots(
        &self,
        alpha: T,
        x: &Vector<T>,
        plus: Option<(T, &Vector<T>)>,
        w: &Vector<T>,
        y: &mut Vector<T>,
        dots: &mut DotParts<T>,
    ) -> Result<()> {
        self.operator.apply_dots(alpha, x, plus, w, y, dots)?;
        check("a", self.n, x.context(), y)?;
        dots.check(x.context())
    }
}

impl<T: Scalar> Preconditioner<T> for CheckedPreconditioner<'_, T> {
    fn size(&self) -> usize {
        self.preconditioner.size()
    }

    fn context(&self) -> &Context {
        self.preconditioner.context()
    }

    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        self.preconditioner.apply(r, z)?;
        check("m", self.n, r.context(), z)
    }

    fn preconditioned_frobenius_norm(&self) -> Option<f64> {
        self.preconditioner.preconditioned_frobenius_norm()
    }
}
