//! Products with matrices.

use clinalg::ops::Transpose;
use clinalg::{Complex, Dense, Error, Result, Scalar, Vector, ops};

use crate::calls::complex::constant;
use crate::kind::Kind;
use crate::object::{Matrix, Object, Stored, typed};
use crate::registry::{Operand, Registry};

/// The transpose, or the conjugate transpose.
fn turned<T: Scalar>(op: Transpose, b: &Dense<T>) -> Result<Dense<T>> {
    let mut turned = Dense::zeros(b.context(), b.cols(), b.rows())?;
    ops::transpose((b.rows(), b.cols()), b.as_vector(), turned.as_vector_mut())?;
    if op != Transpose::Conjugate || !T::IS_COMPLEX {
        return Ok(turned);
    }
    let mut conjugate = Dense::zeros(b.context(), b.cols(), b.rows())?;
    ops::conj(&turned, &mut conjugate)?;
    Ok(conjugate)
}

/// Rows and columns of op(A).
fn shape_of(op: Transpose, (rows, cols): (usize, usize)) -> (usize, usize) {
    if op == Transpose::No { (rows, cols) } else { (cols, rows) }
}

/// C = alpha op(A) op(B) + beta C.
fn multiply<T: Scalar>(
    (op_a, op_b): (Transpose, Transpose),
    alpha: T,
    (a, b): (&Stored<T>, &Dense<T>),
    beta: T,
    c: &mut Dense<T>,
) -> Result<()> {
    let words = |(rows, cols)| format!("{rows} x {cols}");
    let (of_a, of_b) = (shape_of(op_a, a.shape()), shape_of(op_b, (b.rows(), b.cols())));
    if of_b.0 != of_a.1 {
        let expected = format!("op(B) of {} rows, as op(A) has {} columns", of_a.1, of_a.1);
        return Err(Error::Shape { argument: "b", expected, got: words(of_b) });
    }
    let (expected, got) = ((of_a.0, of_b.1), (c.rows(), c.cols()));
    if expected != got {
        return Err(Error::Shape { argument: "out", expected: words(expected), got: words(got) });
    }
    for (argument, context) in [("b", b.context()), ("out", c.context())] {
        if !a.context().same(context) {
            return Err(Error::Context { argument });
        }
    }
    if let Stored::Dense(a) = a {
        return ops::gemm(alpha, op_a, a, op_b, b, beta, c);
    }
    let turned = match op_b {
        Transpose::No => None,
        _ => Some(turned(op_b, b)?),
    };
    let b = turned.as_ref().unwrap_or(b);
    match (a, op_a) {
        (Stored::Csr(a), Transpose::No) => ops::mm(alpha, a, b, beta, c),
        (Stored::Csr(a), Transpose::Yes) => ops::mm(alpha, &a.transpose()?, b, beta, c),
        (Stored::Csr(a), Transpose::Conjugate) => ops::mm(alpha, &ops::conj_transpose(a)?, b, beta, c),
        (Stored::Band(a), Transpose::No) => ops::mm(alpha, a, b, beta, c),
        (Stored::Band(_), _) => Err(Error::Shape {
            argument: "a",
            expected: "a dense or sparse matrix for the transpose".into(),
            got: "a band matrix".into(),
        }),
        (Stored::Dense(_) | Stored::Vector(_), _) => Err(a.no_matrix()),
    }
}

impl Registry {
    /// y = alpha A x + beta y into `y`, or alpha A x into a new object, a vector where x is one, else a dense column; gives the handle of the
    /// result.
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

    /// C = alpha op(A) op(B) + beta C into `c`, or alpha op(A) op(B) into a new dense matrix, for a dense B; gives the handle of the result. The transpose of
    /// a sparse A, and that of B beside a sparse or band A, is made for the call.
    ///
    /// # Errors
    /// As [`mv`](Registry::mv); [`Error::Shape`](clinalg::Error::Shape) for the transpose of a band matrix.
    pub fn multiply_op(
        &self,
        (op_a, op_b): (Transpose, Transpose),
        alpha: Complex<f64>,
        (a, b): (u64, u64),
        beta: Complex<f64>,
        c: Option<u64>,
    ) -> Result<u64> {
        let inputs = [Operand::new("a", a, Kind::ENTRIES), Operand::new("b", b, Kind::COLUMNS)];
        let output = c.map(|c| Operand::new("out", c, Kind::COLUMNS));
        let made = self.call(&inputs, output, |inputs, output| {
            typed!(inputs[0], T => {
                let a = inputs[0].stored::<T>("a")?;
                let Stored::Dense(b) = inputs[1].stored::<T>("b")? else { unreachable!("b is dense") };
                let (alpha, beta) = (constant::<T>("alpha", alpha)?, constant::<T>("beta", beta)?);
                match output {
                    Some(c) => {
                        let Stored::Dense(c) = c.stored_mut::<T>("out")? else { unreachable!("c is dense") };
                        multiply((op_a, op_b), alpha, (a, b), beta, c)?;
                        Ok(None)
                    }
                    None => {
                        let (rows, cols) = (shape_of(op_a, a.shape()).0, shape_of(op_b, (b.rows(), b.cols())).1);
                        let mut c = Dense::zeros(b.context(), rows, cols)?;
                        multiply((op_a, op_b), alpha, (a, b), T::from_f64(0.0), &mut c)?;
                        Ok(Some(Object::from(c)))
                    }
                }
            })
        })?;
        Ok(self.result(made, c))
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
                        Ok(Some(match inputs[1].stored::<T>("x")? {
                            Stored::Dense(_) => Object::from(Dense::from_vector(len, 1, y)?),
                            _ => Object::from(y),
                        }))
                    }
                }
            })
        })?;
        Ok(self.result(made, y))
    }
}
