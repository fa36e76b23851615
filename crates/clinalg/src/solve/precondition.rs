//! What solvers require of a preconditioner.

use crate::error::check_length;
use crate::ops::SpaceVector;
use crate::{Context, Result, Scalar, Vector, ops};

/// An approximation M of a matrix whose inverse is cheap to apply.
///
/// M must be the same linear map in every call; for [`Cg`](crate::solve::Cg) it must be symmetric
/// positive definite.
pub trait Preconditioner<T: Scalar, V: SpaceVector<Scalar = T> = Vector<T>> {
    /// Rows and columns of M.
    fn size(&self) -> usize;
    /// Where it lives: a context, or the layout of a team.
    fn context(&self) -> &V::Space;
    /// z = M^-1 r, enqueued; allocates nothing on the device.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length), [`Error::Context`](crate::Error::Context) or, for another partition on a
    /// team, [`Error::Shape`](crate::Error::Shape) that names `r` or `z`.
    fn apply(&mut self, r: &V, z: &mut V) -> Result<()>;
    /// The Frobenius norm of the preconditioned matrix A L^-H, for a preconditioner M = L L^H of the normal equations A^H A that knows it. With `None`,
    /// [`LeastSquares`](crate::solve::LeastSquares) estimates it.
    fn preconditioned_frobenius_norm(&self) -> Option<f64> {
        None
    }
}

/// M = I, for code that requires a preconditioner.
#[derive(Debug, Clone)]
pub struct Identity {
    context: Context,
    size: usize,
}

impl Identity {
    /// The identity of `size` rows.
    pub fn new(context: &Context, size: usize) -> Identity {
        Identity { context: context.clone(), size }
    }
}

impl<T: Scalar> Preconditioner<T> for Identity {
    fn size(&self) -> usize {
        self.size
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        check_length("r", self.size, r.len())?;
        ops::copy(r, z)
    }
}
