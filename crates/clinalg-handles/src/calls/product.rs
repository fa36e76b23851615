//! Products with matrices.

use clinalg::ops::Transpose;
use clinalg::{Complex, Dense, Result, Scalar as _, Vector, ops};

use crate::calls::complex::constant;
use crate::kind::Kind;
use crate::object::{Matrix, Object, Stored, typed};
use crate::registry::{Operand, Registry};

impl Registry {
    /// y = alpha A x + beta y into `y`, or alpha A x into a new vector; gives the handle of the result.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision), [`Error::Length`](clinalg::Error::Length), [`Error::Shape`](clinalg::Error::Shape) or [`Error::Context`](clinalg::Error::Context) that names the
    /// argument; [`Error::Value`](clinalg::Error::Value) when `y` is `a` or `x`.
    pub fn mv(
        &self,
        alpha: impl Into<Complex<f64>>,
        a: u64,
        x: u64,
        beta: impl Into<Complex<f64>>,
        y: Option<u64>,
    ) -> Result<u64> {
        self.mv_op(Transpose::No, alpha, a, x, beta, y)
    }

    /// As [`mv`](Registry::mv) with the transpose of a dense or sparse matrix.
    ///
    /// # Errors
    /// As [`mv`](Registry::mv).
    pub fn mv_transposed(
        &self,
        alpha: impl Into<Complex<f64>>,
        a: u64,
        x: u64,
        beta: impl Into<Complex<f64>>,
        y: Option<u64>,
    ) -> Result<u64> {
        self.mv_op(Transpose::Yes, alpha, a, x, beta, y)
    }

    /// As [`mv`](Registry::mv) with the matrix, its transpose or its conjugate transpose, these of a dense or sparse matrix. An
    /// imaginary part of alpha or beta takes complex objects.
    ///
    /// # Errors
    /// As [`mv`](Registry::mv); [`Error::Value`](clinalg::Error::Value) for complex numbers beside real objects.
    pub fn mv_op(
        &self,
        op: Transpose,
        alpha: impl Into<Complex<f64>>,
        a: u64,
        x: u64,
        beta: impl Into<Complex<f64>>,
        y: Option<u64>,
    ) -> Result<u64> {
        let kinds = if op == Transpose::No { Kind::MATRIX } else { Kind::TRANSPOSED };
        self.product(kinds, op, alpha.into(), a, x, beta.into(), y)
    }

    /// Y = alpha A X + beta Y for dense X and Y into `y`, or alpha A X into a new dense matrix; gives the handle of the
    /// result.
    ///
    /// # Errors
    /// As [`mv`](Registry::mv).
    pub fn mm(
        &self,
        alpha: impl Into<Complex<f64>>,
        a: u64,
        x: u64,
        beta: impl Into<Complex<f64>>,
        y: Option<u64>,
    ) -> Result<u64> {
        let (alpha, beta) = (alpha.into(), beta.into());
        let inputs = [Operand::new("a", a, Kind::ENTRIES), Operand::new("x", x, Kind::COLUMNS)];
        let output = y.map(|y| Operand::new("y", y, Kind::COLUMNS));
        let made = self.call(&inputs, output, |inputs, output| {
            typed!(inputs[0], T => {
                let a = inputs[0].stored::<T>("a")?;
                let Stored::Dense(x) = inputs[1].stored::<T>("x")? else { unreachable!("x is dense") };
                let (alpha, beta) = (constant::<T>("alpha", alpha)?, constant::<T>("beta", beta)?);
                let product = |beta: T, y: &mut Dense<T>| {
                    match a {
                        Stored::Dense(a) => ops::mm(alpha, a, x, beta, y),
                        Stored::Csr(a) => ops::mm(alpha, a, x, beta, y),
                        Stored::Band(a) => ops::mm(alpha, a, x, beta, y),
                        Stored::Vector(_) => Err(a.no_matrix()),
                    }
                };
                match output {
                    Some(y) => {
                        let Stored::Dense(y) = y.stored_mut::<T>("y")? else { unreachable!("y is dense") };
                        product(beta, y)?;
                        Ok(None)
                    }
                    None => {
                        let mut y = Dense::zeros(x.context(), a.shape().0, x.cols())?;
                        product(T::from_f64(0.0), &mut y)?;
                        Ok(Some(Object::from(y)))
                    }
                }
            })
        })?;
        Ok(self.result(made, y))
    }

    #[allow(clippy::too_many_arguments)]
    fn product(
        &self,
        kinds: &'static [Kind],
        op: Transpose,
        alpha: Complex<f64>,
        a: u64,
        x: u64,
        beta: Complex<f64>,
        y: Option<u64>,
    ) -> Result<u64> {
        let inputs = [Operand::new("a", a, kinds), Operand::new("x", x, Kind::FULL)];
        let output = y.map(|y| Operand::new("y", y, Kind::FULL));
        let made = self.call(&inputs, output, |inputs, output| {
            typed!(inputs[0], T => {
                let a = inputs[0].matrix::<T>("a")?;
                let x = inputs[1].stored::<T>("x")?.vector("x")?;
                let (alpha, beta) = (constant::<T>("alpha", alpha)?, constant::<T>("beta", beta)?);
                let product = |beta: T, y: &mut Vector<T>| {
                    match (a, op) {
                        (Matrix::Stored(Stored::Dense(a)), Transpose::Yes) => ops::mv_transposed(alpha, a, x, beta, y),
                        (Matrix::Stored(Stored::Csr(a)), Transpose::Yes) => ops::mv_transposed(alpha, a, x, beta, y),
                        (Matrix::Stored(Stored::Dense(a)), Transpose::Conjugate) => {
                            ops::mv_conj_transposed(alpha, a, x, beta, y)
                        }
                        (Matrix::Stored(Stored::Csr(a)), Transpose::Conjugate) => {
                            ops::mv_conj_transposed(alpha, a, x, beta, y)
                        }
                        (a, _) => ops::mv(alpha, a.operator()?, x, beta, y),
                    }
                };
                match output {
                    Some(y) => {
                        product(beta, y.stored_mut::<T>("y")?.vector_mut("y")?)?;
                        Ok(None)
                    }
                    None => {
                        let (rows, cols) = a.shape();
                        let len = if op == Transpose::No { rows } else { cols };
                        let mut y = match a {
                            // SAFETY: the product writes all values, and what fails is dropped.
                            Matrix::Stored(_) => unsafe { Vector::uninit_unchecked(x.context(), len)? },
                            Matrix::Applied(_) => Vector::zeros(x.context(), len)?,
                        };
                        product(T::from_f64(0.0), &mut y)?;
                        Ok(Some(Object::from(y)))
                    }
                }
            })
        })?;
        Ok(self.result(made, y))
    }
}
