//! Dense systems by factorisation.

use clinalg::matrix::Values;
use clinalg::{Dense, Result, Vector, ops};
use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::object::{Object, Stored, typed};
use crate::registry::{Operand, Registry};

/// A factorisation of a dense matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Factorisation {
    /// LU with partial pivoting, for square matrices.
    #[default]
    Lu,
    /// Cholesky, for Hermitian positive definite matrices; reads the lower triangle.
    Cholesky,
    /// QR by Householder reflections, for least squares with at least as many rows as columns.
    Qr,
}

impl Factorisation {
    fn solve<T: clinalg::Scalar>(self, a: &Dense<T>, b: &Dense<T>) -> Result<Dense<T>> {
        match self {
            Factorisation::Lu => ops::solve(a, b),
            Factorisation::Cholesky => ops::Cholesky::new(a.try_clone()?)?.solve(b),
            Factorisation::Qr => ops::Qr::new(a.try_clone()?)?.solve(b),
        }
    }
}

impl Registry {
    /// Solves A X = b for a dense A and a vector or the columns of a dense matrix b, by QR in the sense of least squares. Gives the
    /// handle of X, a new object of the kind of b. A and b stay as they are.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle); [`Error::Precision`](clinalg::Error::Precision) or
    /// [`Error::Value`](clinalg::Error::Value) that names the argument of another type; those of the factorisation:
    /// [`Error::Shape`](clinalg::Error::Shape), [`Error::Singular`](clinalg::Error::Singular),
    /// [`Error::NotPositiveDefinite`](clinalg::Error::NotPositiveDefinite).
    pub fn solve_dense(&self, factorisation: Factorisation, a: u64, b: u64) -> Result<u64> {
        let inputs = [Operand::new("a", a, Kind::DENSE), Operand::new("b", b, Kind::FULL)];
        let made = self.call(&inputs, None, |inputs, _| {
            typed!(inputs[0], T => {
                let Stored::Dense(a) = inputs[0].stored::<T>("a")? else { unreachable!("a is dense") };
                Ok(match inputs[1].stored::<T>("b")? {
                    Stored::Dense(b) => Object::from(factorisation.solve(a, b)?),
                    b => {
                        let b = b.full("b")?;
                        let mut column = Dense::zeros(b.context(), b.len(), 1)?;
                        column.as_vector_mut().copy_from(b)?;
                        let x = factorisation.solve(a, &column)?;
                        Vector::from_view(x.as_vector().slice(0..x.rows())?)?.into()
                    }
                })
            })
        })?;
        Ok(self.insert(made))
    }
}
