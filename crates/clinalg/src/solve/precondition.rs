//! Preconditioners.

use crate::error::check_length;
use crate::matrix::Values;
use crate::{Context, Error, Real, Result, Vector, ops};

/// An approximation M of a matrix whose inverse is cheap to apply.
///
/// M must be the same linear map in every call; for [`Cg`](crate::solve::Cg) it must be symmetric
/// positive definite.
pub trait Preconditioner<T: Real> {
    /// Rows and columns of M.
    fn size(&self) -> usize;
    /// The context it lives in.
    fn context(&self) -> &Context;
    /// z = M^-1 r, enqueued; allocates nothing on the device.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `r` or `z`.
    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()>;
}

/// M = I, for code that takes a preconditioner in any case.
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

impl<T: Real> Preconditioner<T> for Identity {
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

/// M = diag(A) (Saad 2003, section 10.2).
///
/// ```no_run
/// use clinalg::solve::{Cg, Jacobi, Params};
/// use clinalg::{Context, Csr, Vector};
///
/// let context = Context::global()?;
/// let a = Csr::from_triplets(&context, 2, 2, &[(0, 0, 400.0), (1, 1, 1.0)])?;
/// let b = Vector::from_slice(&context, &[400.0, 3.0])?;
/// let mut x = Vector::zeros(&context, 2)?;
/// let mut m = Jacobi::new(&a.diagonal()?)?;
/// let report = Cg::new(&context, 2)?.solve(&a, Some(&mut m), &b, &mut x, &Params::default())?;
/// assert!(report.stop.is_success());
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug)]
pub struct Jacobi<T: Real> {
    inverse: Vector<T>,
}

impl<T: Real> Jacobi<T> {
    /// From the diagonal of a square matrix: [`Csr::diagonal`](crate::Csr::diagonal),
    /// [`Band::diagonal`](crate::Band::diagonal), [`Dense::diagonal`](crate::Dense::diagonal) or any
    /// other operator's.
    ///
    /// # Errors
    /// [`Error::Value`] that names the first row (0-based) whose entry is zero, not finite or too
    /// small to be inverted; [`Error::Allocation`].
    pub fn new(diagonal: &Vector<T>) -> Result<Jacobi<T>> {
        let mut values = diagonal.to_vec()?;
        invert(&mut values)?;
        Ok(Jacobi { inverse: Vector::from_slice(diagonal.context(), &values)? })
    }
}

impl<T: Real> Preconditioner<T> for Jacobi<T> {
    fn size(&self) -> usize {
        self.inverse.len()
    }

    fn context(&self) -> &Context {
        self.inverse.context()
    }

    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        self.inverse.check_same(r, "r")?;
        self.inverse.check_same(z, "z")?;
        ops::multiply(r, &self.inverse, z)
    }
}

/// Replaces each value by its inverse, or names the first row where there is none.
pub(super) fn invert<T: Real>(diagonal: &mut [T]) -> Result<()> {
    for (row, value) in diagonal.iter_mut().enumerate() {
        let inverse = value.recip();
        if !inverse.is_finite() || inverse == T::zero() {
            let expected = "a finite number other than zero in every row";
            return Err(Error::value("diagonal", expected, format!("{value} in row {row}")));
        }
        *value = inverse;
    }
    Ok(())
}
