//! A caller's operator or preconditioner, whose outputs are checked after each call, because it may have assigned another
//! vector to `y` and the next launches of the solver rely on its length and context.

use super::{Operator, Preconditioner};
use crate::ops::{SpaceDots, SpaceVector};
use crate::{Csr, Error, Result, Scalar, Vector};

/// A matrix of `n` rows that a caller gave to a solver.
pub(super) struct CheckedOperator<'a, T: Scalar, V: SpaceVector<Scalar = T> = Vector<T>> {
    operator: &'a dyn Operator<T, V>,
    n: usize,
}

/// A preconditioner of `n` rows that a caller gave to a solver.
pub(super) struct CheckedPreconditioner<'a, T: Scalar, V: SpaceVector<Scalar = T> = Vector<T>> {
    preconditioner: &'a mut dyn Preconditioner<T, V>,
    n: usize,
}

impl<'a, T: Scalar, V: SpaceVector<Scalar = T>> CheckedOperator<'a, T, V> {
    pub(super) fn new(operator: &'a dyn Operator<T, V>, n: usize) -> CheckedOperator<'a, T, V> {
        CheckedOperator { operator, n }
    }
}

impl<'a, T: Scalar, V: SpaceVector<Scalar = T>> CheckedPreconditioner<'a, T, V> {
    pub(super) fn new(preconditioner: &'a mut dyn Preconditioner<T, V>, n: usize) -> CheckedPreconditioner<'a, T, V> {
        CheckedPreconditioner { preconditioner, n }
    }
}

/// An error that names `argument` unless `y` has `n` values and lives in `space`.
fn check<V: SpaceVector>(argument: &'static str, n: usize, space: &V::Space, y: &V) -> Result<()> {
    let same = V::is_same_space(y.space(), space);
    if y.size() == n && same {
        return Ok(());
    }
    let place = if same { "" } else { " of another context or team" };
    Err(Error::value(
        argument,
        format!("an operator that writes to the output vector of length {n} that it was given"),
        format!("one that replaced it by a vector of length {}{place}", y.size()),
    ))
}

/// An error unless a solver's own vectors are as long as its first one and in its context, which they are not after a
/// solve that ended with the error above.
pub(super) fn check_own<'v, V: SpaceVector + 'v>(vectors: impl IntoIterator<Item = &'v V>) -> Result<()> {
    let mut vectors = vectors.into_iter();
    let Some(first) = vectors.next() else { return Ok(()) };
    vectors.try_for_each(|vector| {
        if vector.size() == first.size() && V::is_same_space(vector.space(), first.space()) {
            return Ok(());
        }
        let expected =
            "a solver whose operators and preconditioners have not replaced its vectors; create a new solver";
        let got = format!("one with vectors of lengths {} and {}", first.size(), vector.size());
        Err(Error::value("self", expected, got))
    })
}

impl<T: Scalar, V: SpaceVector<Scalar = T>> Operator<T, V> for CheckedOperator<'_, T, V> {
    fn rows(&self) -> usize {
        self.operator.rows()
    }

    fn cols(&self) -> usize {
        self.operator.cols()
    }

    fn context(&self) -> &V::Space {
        self.operator.context()
    }

    fn as_csr(&self) -> Option<&Csr<T>> {
        self.operator.as_csr()
    }

    fn apply(&self, alpha: T, x: &V, beta: T, y: &mut V) -> Result<()> {
        self.operator.apply(alpha, x, beta, y)?;
        check("a", self.n, x.space(), y)
    }

    fn apply_dot(&self, x: &V, y: &mut V, dot: &mut V::Dots) -> Result<()> {
        self.operator.apply_dot(x, y, dot)?;
        check("a", self.n, x.space(), y)?;
        dot.check_space(x.space())
    }

    fn apply_dots(&self, alpha: T, x: &V, plus: Option<(T, &V)>, w: &V, y: &mut V, dots: &mut V::Dots) -> Result<()> {
        self.operator.apply_dots(alpha, x, plus, w, y, dots)?;
        check("a", self.n, x.space(), y)?;
        dots.check_space(x.space())
    }
}

impl<T: Scalar, V: SpaceVector<Scalar = T>> Preconditioner<T, V> for CheckedPreconditioner<'_, T, V> {
    fn size(&self) -> usize {
        self.preconditioner.size()
    }

    fn context(&self) -> &V::Space {
        self.preconditioner.context()
    }

    fn apply(&mut self, r: &V, z: &mut V) -> Result<()> {
        self.preconditioner.apply(r, z)?;
        check("m", self.n, r.space(), z)
    }

    fn preconditioned_frobenius_norm(&self) -> Option<f64> {
        self.preconditioner.preconditioned_frobenius_norm()
    }
}
