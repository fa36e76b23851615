//! Richardson iteration with a preconditioner.

use super::krylov_vector::like;
use super::sweeps::Sweeps;
use super::{Operator, Preconditioner, Progress, Report, RichardsonParams, Solver, Stopping};
use crate::ops::SpaceVector;
use crate::{Context, Result, Scalar, Vector};

/// x += M^-1 (b - A x) (Saad, Iterative Methods for Sparse Linear Systems, 2003, section 4.1): a preconditioner as a solver in its own right, such as
/// the cycles of [`Amg`](crate::amg::Amg) or [`MultigridPreconditioner`](crate::precond::MultigridPreconditioner).
///
/// Converges where the eigenvalues of I - M^-1 A are below 1 in modulus. Owns three vectors of `n` values, and one more where the initial guess
/// is not zero. Every entry of the history is a true residual. Without a preconditioner M = I.
#[derive(Debug)]
pub struct Richardson<T: Scalar, V: SpaceVector<Scalar = T> = Vector<T>> {
    params: RichardsonParams,
    sweeps: Sweeps<V>,
}

impl<T: Scalar> Richardson<T> {
    /// A solver for `n` equations.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation).
    pub fn new(context: &Context, n: usize, params: RichardsonParams) -> Result<Richardson<T>> {
        Ok(Richardson { params, sweeps: Sweeps::with(Vector::uninit(context, n)?)? })
    }
}

impl<T: Scalar, V: SpaceVector<Scalar = T>> Richardson<T, V> {
    /// A solver for systems whose vectors are like this one.
    ///
    /// # Errors
    /// As [`Richardson::new`].
    pub fn like(vector: &V, params: RichardsonParams) -> Result<Richardson<T, V>> {
        let [r] = like(vector)?;
        Ok(Richardson { params, sweeps: Sweeps::with(r)? })
    }
}

impl<T: Scalar, V: SpaceVector<Scalar = T>> Solver<T, V> for Richardson<T, V> {
    fn size(&self) -> usize {
        self.sweeps.r.size()
    }

    fn context(&self) -> &V::Space {
        self.sweeps.r.space()
    }

    fn stopping(&self) -> &Stopping {
        &self.params.stopping
    }

    fn stopping_mut(&mut self) -> &mut Stopping {
        &mut self.params.stopping
    }

    fn solve_with(
        &mut self,
        a: &dyn Operator<T, V>,
        mut m: Option<&mut dyn Preconditioner<T, V>>,
        b: &V,
        x: &mut V,
        progress: Progress<'_>,
    ) -> Result<Report> {
        self.sweeps.check(a, m.as_deref(), b, x)?;
        self.sweeps.solve((a, b), x, (&self.params.stopping, progress), &mut |r, z, x| {
            match &mut m {
                Some(m) => m.apply(r, z)?,
                None => z.set_copy(r)?,
            }
            x.axpby(T::one(), z, T::one())
        })
    }
}
