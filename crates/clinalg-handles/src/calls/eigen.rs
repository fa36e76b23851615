//! Eigenvalues on handles.

use clinalg::eigen::{EigenParams, Eigenpairs, Lobpcg};
use clinalg::precond::SaddleShape;
use clinalg::solve::{Operator, Progress, Stop};
use clinalg::{Error, Precision, Real as _, Result, Scalar, Vector, ops};

use crate::calls::solve::{INVERSE, Preconditioning, with_preconditioner};
use crate::kind::Kind;
use crate::object::{Object, typed};
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

/// An error where x^H (A y) and (A x)^H y differ by more than rounding for two vectors: their products are those of a Hermitian matrix, or not.
fn check_hermitian<T: Scalar>(a: &dyn Operator<T>) -> Result<()> {
    let (context, n) = (a.context(), a.rows());
    // Without a pattern (splitmix64): waves would be nearly orthogonal to what a stencil makes of other waves.
    let part = |k: u64| {
        let z = (k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        T::Real::nearest(((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0)
    };
    let values = |first: u64| -> Vec<T> {
        (0..n as u64).map(|k| T::from_parts(part(4 * k + first), part(4 * k + first + 1))).collect()
    };
    let (x, y) = (Vector::from_slice(context, &values(0))?, Vector::from_slice(context, &values(2))?);
    let (mut of_x, mut of_y) = (Vector::zeros(context, a.rows())?, Vector::zeros(context, a.rows())?);
    a.apply(T::one(), &x, T::zero(), &mut of_x)?;
    a.apply(T::one(), &y, T::zero(), &mut of_y)?;
    let difference = (ops::dot(&x, &of_y)? - ops::dot(&of_x, &y)?).modulus().into_f64();
    let norm = |v: &Vector<T>| ops::norm2(v).map(|norm| norm.into_f64());
    let scale = norm(&of_x)? * norm(&y)? + norm(&x)? * norm(&of_y)?;
    let rounding = if T::PRECISION == Precision::F32 { 3e-5 } else { 1e-10 };
    let imaginary = ops::dot(&x, &of_x)?.im().into_f64().abs();
    if difference > rounding * scale || imaginary > rounding * norm(&x)? * norm(&of_x)? {
        let expected = "a matrix or operator that is real symmetric or complex Hermitian";
        return Err(Error::value("a", expected, "a complex one that is not Hermitian"));
    }
    Ok(())
}

impl Registry {
    /// A few eigenpairs of A x = lambda x, or of A x = lambda B x with `mass` for B, by [`Lobpcg`]. A is a real symmetric or complex Hermitian matrix or
    /// operator, B a positive definite one of the same type. Gives the handle of the eigenvectors, a dense matrix of one column each. Not to converge is no error: see
    /// [`EigenReport::stop`].
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle); [`Error::Value`] for complex matrices that are not Hermitian; [`Error::Precision`](clinalg::Error::Precision), [`Error::Shape`](clinalg::Error::Shape), [`Error::Context`](clinalg::Error::Context); those of the
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
            typed!(inputs[0], T => {
                let a = inputs[0].matrix::<T>("a")?;
                let b = match mass {
                    Some(_) => Some(inputs[1].matrix::<T>("mass")?),
                    None => None,
                };
                let inverse = inputs.get(1 + usize::from(mass.is_some())).copied();
                let operator = a.operator()?;
                if T::IS_COMPLEX && operator.rows() == operator.cols() {
                    check_hermitian(operator)?;
                }
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
