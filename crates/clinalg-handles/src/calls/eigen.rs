//! Eigenvalues on handles.

use clinalg::Result;
use clinalg::eigen::{EigenParams, Eigenpairs, Lobpcg};
use clinalg::precond::SaddleShape;
use clinalg::solve::{Progress, Stop};

use crate::calls::solve::{INVERSE, Preconditioning, with_preconditioner};
use crate::kind::Kind;
use crate::object::{Object, typed_real};
use crate::registry::{Operand, Registry};

/// Eigenvalues, and how they were found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EigenReport {
    /// The eigenvalues in the order of [`Which`](clinalg::eigen::Which).
    pub values: Vec<f64>,
    /// |A x - lambda B x| / (|lambda| |B x|) of each pair.
    pub residuals: Vec<f64>,
    /// Iterations done.
    pub iterations: usize,
    /// Why the iteration ended.
    pub stop: Stop,
}

impl Registry {
    /// A few eigenpairs of A x = lambda x, or of A x = lambda B x with `mass` for B, by [`Lobpcg`]. A is a real symmetric matrix or operator, B a
    /// symmetric positive definite one. Gives the handle of the eigenvectors, a dense matrix of one column each. Not to converge is no error: see
    /// [`EigenReport::stop`].
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle); [`Error::Value`](clinalg::Error::Value) for complex values; [`Error::Precision`](clinalg::Error::Precision), [`Error::Shape`](clinalg::Error::Shape), [`Error::Context`](clinalg::Error::Context); those of the
    /// preconditioner and of [`Lobpcg::run`].
    pub fn eigenpairs(
        &self,
        a: u64,
        mass: Option<u64>,
        preconditioning: Preconditioning,
        params: &EigenParams,
        progress: Progress<'_>,
    ) -> Result<(u64, EigenReport)> {
        let mut operands = vec![Operand::new("a", a, Kind::MATRIX)];
        operands.extend(mass.map(|mass| Operand::new("mass", mass, Kind::MATRIX)));
        if let Preconditioning::Inverse(inverse) = preconditioning {
            operands.push(Operand::new(INVERSE, inverse, Kind::MATRIX));
        }
        let (object, report) = self.call(&operands, None, |inputs, _| {
            typed_real!(inputs[0], "a", T => {
                let a = inputs[0].matrix::<T>("a")?;
                let b = match mass {
                    Some(_) => Some(inputs[1].matrix::<T>("mass")?),
                    None => None,
                };
                let inverse = inputs.get(1 + usize::from(mass.is_some())).copied();
                let operator = a.operator()?;
                let place = (operator.context(), operator.rows());
                with_preconditioner((preconditioning, SaddleShape::Diagonal), &a, inverse, place, |m| {
                    let mut method = Lobpcg::new(operator).params(params.clone()).progress(progress);
                    if let Some(b) = &b {
                        method = method.mass(b.operator()?);
                    }
                    if let Some(m) = m {
                        method = method.preconditioner(m);
                    }
                    let Eigenpairs { values, vectors, residuals, iterations, stop, .. } = method.run()?;
                    Ok((Object::from(vectors), EigenReport { values, residuals, iterations, stop }))
                })
            })
        })?;
        Ok((self.insert(object), report))
    }
}
