//! Block preconditioners for saddle points, on handles.

use clinalg::precond::{Saddle, SaddleParams, SaddleReport, Split};
use clinalg::{Error, Real, Result, Scalar as _};

use super::preconditioner::{InverseOf, found_split};
use super::sparse::sparse;
use crate::kind::Kind;
use crate::object::{Object, typed_real};
use crate::registry::{Operand, Registry};

fn report_of<T: Real>(object: &Object) -> Result<Option<SaddleReport>> {
    object.with_operator(|inverse: &InverseOf<T, Saddle<T>>| inverse.look(|saddle| saddle.report().clone()))
}

impl Registry {
    /// A block preconditioner of the sparse matrix `a` of a saddle point, as [`Registry::preconditioner`]: [`Saddle::new`], with the diagonal
    /// of a mass matrix [`Saddle::with_mass`]. Without a split it is found: [`Split::find`].
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Value`] for complex values, and where there is no split to find; those of the constructors.
    pub fn saddle(&self, a: u64, split: Option<&Split>, mass: Option<&[f64]>, params: &SaddleParams) -> Result<u64> {
        self.call(&[Operand::new("a", a, Kind::SPARSE)], None, |inputs, _| {
            typed_real!(inputs[0], "a", T => {
                let a = sparse::<T>(inputs[0], "a")?;
                let split = match split {
                    Some(split) => split.clone(),
                    None => found_split(&a.to_parts()?)?,
                };
                let made = match mass {
                    Some(mass) => {
                        let mass: Vec<T> = mass.iter().map(|&value| T::from_f64(value)).collect();
                        Saddle::with_mass(a, &split, &mass, params)?
                    }
                    None => Saddle::new(a, &split, params)?,
                };
                Ok(Object::operator(InverseOf::new(made)))
            })
        })
        .map(|object| self.insert(object))
    }

    /// What a block preconditioner is made of.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Shape`] for another operator.
    pub fn saddle_report(&self, preconditioner: u64) -> Result<SaddleReport> {
        let operand = Operand::new("preconditioner", preconditioner, Kind::OPERATOR);
        self.call(&[operand], None, |inputs, _| {
            let report = report_of::<f64>(inputs[0])?.or(report_of::<f32>(inputs[0])?);
            report.ok_or_else(|| Error::Shape {
                argument: "preconditioner",
                expected: "a block preconditioner of a saddle point".into(),
                got: "an operator of another kind".into(),
            })
        })
    }
}
