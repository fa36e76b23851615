//! Preconditioners.

use crate::{Context, Real, Result, Vector};

/// An approximation M of a matrix whose inverse is cheap to apply.
///
/// M must be the same linear map in every call; conjugate gradients need it symmetric positive
/// definite.
pub trait Preconditioner<T: Real> {
    /// Rows and columns of M.
    fn size(&self) -> usize;
    /// The context it lives in.
    fn context(&self) -> &Context;
    /// z = M^-1 r, enqueued; allocates nothing on the device.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) or [`Error::Context`](crate::Error::Context) that names `r` or `z`.
    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()>;
}
