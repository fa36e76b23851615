//! Sparse systems by complete factorisation.

use clinalg::direct::{Factors, FactorsParams, FactorsReport, Solved};
use clinalg::{Result, Vector};

use crate::calls::sparse::sparse;
use crate::kind::Kind;
use crate::object::{Object, Stored, typed};
use crate::registry::{Operand, Registry};

/// What [`Registry::solve_sparse`] gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SparseSolution {
    /// X, a new object of the kind of b.
    pub x: u64,
    /// How well the system was solved.
    pub solved: Solved,
    /// An estimate of the reciprocal condition number in the 1-norm where the pivots suggest that A is nearly singular, else NaN.
    pub reciprocal_condition: f64,
    /// The factorisation.
    pub factors: FactorsReport,
}

impl Registry {
    /// Solves A X = b for a square sparse A and a vector or the columns of a dense matrix b, by a complete factorisation. With `is_limited` a
    /// matrix whose factorisation takes longer than seconds is an error. A and b stay as they are.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle); [`Error::Precision`](clinalg::Error::Precision) or
    /// [`Error::Value`](clinalg::Error::Value) that names the argument of another type; those of [`Factors::new`] and [`Factors::solve`].
    pub fn solve_sparse(&self, a: u64, b: u64, is_limited: bool) -> Result<SparseSolution> {
        let inputs = [Operand::new("a", a, Kind::SPARSE), Operand::new("b", b, Kind::FULL)];
        let (made, found) = self.call(&inputs, None, |inputs, _| {
            typed!(inputs[0], T => {
                let a = sparse::<T>(inputs[0], "a")?;
                let b = inputs[1].stored::<T>("b")?;
                let params = match is_limited {
                    true => FactorsParams::within_seconds(a.context()),
                    false => FactorsParams::default(),
                };
                let mut factors = Factors::new(a, &params)?;
                let (made, solved) = match b {
                    Stored::Dense(b) => {
                        let (x, solved) = factors.solve_columns(a, b)?;
                        (Object::from(x), solved)
                    }
                    b => {
                        let b = b.full("b")?;
                        let mut x = Vector::zeros(b.context(), a.rows())?;
                        let solved = factors.solve(a, b, &mut x)?;
                        (x.into(), solved)
                    }
                };
                let reciprocal_condition = factors.condition_if_suspect(a)?.unwrap_or(f64::NAN);
                Ok((made, SparseSolution { x: 0, solved, reciprocal_condition, factors: factors.report() }))
            })
        })?;
        Ok(SparseSolution { x: self.insert(made), ..found })
    }
}
