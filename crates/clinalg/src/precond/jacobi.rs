//! The diagonal of the matrix as a preconditioner.

use crate::matrix::Values;
use crate::solve::{Preconditioner, invert_diagonal};
use crate::{Context, Csr, Result, Scalar, Vector, ops};

/// M = diag(A) (Saad 2003, section 10.2).
///
/// ```
/// use clinalg::precond::Jacobi;
/// use clinalg::solve::{Cg, CgParams, Solver};
/// use clinalg::{Context, Csr, Vector};
///
/// let context = Context::global()?;
/// let a = Csr::from_triplets(&context, 2, 2, &[(0, 0, 400.0), (1, 1, 1.0)])?;
/// let b = Vector::from_slice(&context, &[400.0, 3.0])?;
/// let mut x = Vector::zeros(&context, 2)?;
/// let mut m = Jacobi::new(&a.diagonal()?)?;
/// let report = Cg::new(&context, 2, CgParams::default())?.solve(&a, Some(&mut m), &b, &mut x)?;
/// assert!(report.stop.is_success());
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug)]
pub struct Jacobi<T: Scalar> {
    inverse: Vector<T>,
}

impl<T: Scalar> Jacobi<T> {
    /// From the diagonal of a square matrix: [`Csr::diagonal`](crate::Csr::diagonal),
    /// [`Band::diagonal`](crate::Band::diagonal), [`Dense::diagonal`](crate::Dense::diagonal) or any
    /// other operator's.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) that names the first row (counted from 1) whose entry is zero, not finite or too
    /// small to be inverted; [`Error::Allocation`](crate::Error::Allocation).
    pub fn new(diagonal: &Vector<T>) -> Result<Jacobi<T>> {
        let mut values = diagonal.to_vec()?;
        invert_diagonal(&mut values)?;
        Ok(Jacobi { inverse: Vector::from_slice(diagonal.context(), &values)? })
    }

    /// M = diag(A^H A), for least squares with any A: it scales the columns of A to a norm of 1. Columns of zeros count as of norm 1.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) that names the first column (counted from 1) whose squared norm is not finite or too small to be
    /// inverted in this precision; [`Error::Allocation`](crate::Error::Allocation).
    pub fn of_normal_equations(a: &Csr<T>) -> Result<Jacobi<T>> {
        let parts = a.to_parts()?;
        let mut squares = vec![0.0; parts.cols];
        parts.triplets().for_each(|(_, j, value)| squares[j] += value.widen().norm_sqr());
        let mut values: Vec<T> = squares.into_iter().map(|s| T::from_f64(if s == 0.0 { 1.0 } else { s })).collect();
        invert_diagonal(&mut values)?;
        Ok(Jacobi { inverse: Vector::from_slice(a.context(), &values)? })
    }
}

impl<T: Scalar> Preconditioner<T> for Jacobi<T> {
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
