//! Dense systems by factorisation.

use clinalg::matrix::Values;
use clinalg::{Complex, Dense, Precision, Real as _, Result, Scalar, Vector, ops};
use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::object::{Object, Stored, typed};
use crate::registry::{Operand, Registry};

/// A factorisation of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Factorisation {
    /// LU with partial pivoting, for square matrices.
    #[default]
    Lu,
    /// Cholesky, for Hermitian positive definite matrices; reads the lower triangle.
    Cholesky,
    /// QR by Householder reflections, for least squares; of several solutions the one of smallest norm.
    Qr,
    /// The one that suits the structure of the matrix, substitution for a triangle: [`clinalg::ops::left_divide`].
    Auto,
    /// L D L', for sparse Hermitian or complex symmetric matrices.
    Ldl,
}

/// What takes no dense matrix.
pub(super) fn no_dense_ldl() -> clinalg::Error {
    clinalg::Error::value("factorisation", "lu or auto for a dense matrix; ldl is for sparse ones", "ldl")
}

impl Factorisation {
    fn solve<T: Scalar>(self, a: &Dense<T>, b: &Dense<T>) -> Result<ops::DenseSolve<T>> {
        let square = |x| ops::DenseSolve { x, reciprocal_condition: None, rank: a.rows(), tolerance: 0.0 };
        match self {
            Factorisation::Lu => ops::solve(a, b).map(square),
            Factorisation::Cholesky => ops::Cholesky::new(a.try_clone()?)?.solve(b).map(square),
            Factorisation::Qr => {
                let ops::LeastSquaresSolution { x, rank, tolerance } = ops::least_squares(a, b)?;
                Ok(ops::DenseSolve { x, reciprocal_condition: None, rank, tolerance })
            }
            Factorisation::Auto => ops::left_divide(a, b),
            Factorisation::Ldl => Err(no_dense_ldl()),
        }
    }
}

pub(super) fn dense<T: Scalar>(stored: &Stored<T>) -> &Dense<T> {
    match stored {
        Stored::Dense(a) => a,
        _ => unreachable!("a is dense"),
    }
}

/// Unknowns up to which a system is solved on the host: the device spends as long on its kernels' starts.
const SMALL_SYSTEM: usize = 128;

/// What [`Registry::solve_dense`] gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DenseSolution {
    /// X, a new object of the kind of b.
    pub x: u64,
    /// An estimate of the reciprocal condition number of a square A, by [`Factorisation::Auto`] only.
    pub reciprocal_condition: Option<f64>,
    /// The rank of A, by QR the numerical one.
    pub rank: usize,
    /// The tolerance of the numerical rank, else 0.
    pub tolerance: f64,
}

/// L and U of [`Registry::lu`] with the order of the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LuFactors {
    /// L, m x min(m, n), with ones on its diagonal.
    pub lower: u64,
    /// U, min(m, n) x n.
    pub upper: u64,
    /// Row k of L U is row `rows[k]` of A, from 0 on.
    pub rows: Vec<usize>,
}

impl Registry {
    /// Calls `f` with a dense matrix.
    fn dense_matrix<R>(&self, a: u64, f: impl FnOnce(&Object) -> Result<R>) -> Result<R> {
        self.call(&[Operand::new("a", a, Kind::DENSE)], None, |inputs, _| f(inputs[0]))
    }

    /// L and U with A(rows, :) = L U of a dense m x n matrix, by LU factorisation with partial pivoting. A singular matrix has them as well.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Allocation`](clinalg::Error::Allocation).
    pub fn lu(&self, a: u64) -> Result<LuFactors> {
        let (lower, upper, rows) = self.dense_matrix(a, |a| {
            typed!(a, T => {
                let a = dense(a.stored::<T>("a")?);
                let lu = ops::Lu::new(a.try_clone()?)?;
                let mut rows: Vec<usize> = (0..a.rows()).collect();
                for (k, pivot) in lu.pivots()?.into_iter().enumerate() {
                    rows.swap(k, pivot);
                }
                Ok((Object::from(lu.lower()?), Object::from(lu.upper()?), rows))
            })
        })?;
        Ok(LuFactors { lower: self.insert(lower), upper: self.insert(upper), rows })
    }

    /// L with A = L L' of a Hermitian positive definite matrix, of which the lower triangle is read.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle); [`Error::NotPositiveDefinite`](clinalg::Error::NotPositiveDefinite);
    /// [`Error::Shape`](clinalg::Error::Shape) unless the matrix is square; [`Error::Allocation`](clinalg::Error::Allocation).
    pub fn cholesky(&self, a: u64) -> Result<u64> {
        let made = self.dense_matrix(a, |a| {
            typed!(a, T => {
                Ok(Object::from(ops::Cholesky::new(dense(a.stored::<T>("a")?).try_clone()?)?.factor()?))
            })
        })?;
        Ok(self.insert(made))
    }

    /// Q and R with A = Q R of a dense m x n matrix by Householder reflections: Q has min(m, n) columns and R as many rows.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Allocation`](clinalg::Error::Allocation).
    pub fn qr(&self, a: u64) -> Result<(u64, u64)> {
        let (q, r) = self.dense_matrix(a, |a| {
            typed!(a, T => {
                let qr = ops::Qr::new(dense(a.stored::<T>("a")?).try_clone()?)?;
                Ok((Object::from(qr.q()?), Object::from(qr.r()?)))
            })
        })?;
        Ok((self.insert(q), self.insert(r)))
    }

    /// As [`Registry::qr`] with all m columns of Q; R has m rows, those from min(m, n) on are zero.
    ///
    /// # Errors
    /// As [`Registry::qr`].
    pub fn full_qr(&self, a: u64) -> Result<(u64, u64)> {
        let (q, r) = self.dense_matrix(a, |a| {
            typed!(a, T => {
                let a = dense(a.stored::<T>("a")?);
                let (rows, cols) = (a.rows(), a.cols());
                let qr = ops::Qr::new(a.try_clone()?)?;
                let small = qr.r()?;
                let mut r = Dense::<T>::zeros(a.context(), rows, cols)?;
                let (all, above) = (ops::Span::all(cols), ops::Span::all(small.rows()));
                ops::put((rows, cols), r.as_vector_mut(), above, all, small.as_vector())?;
                Ok((Object::from(qr.full_q()?), Object::from(r)))
            })
        })?;
        Ok((self.insert(q), self.insert(r)))
    }

    /// The inverse of a square dense matrix and an estimate of its reciprocal condition number in the 1-norm.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle); [`Error::Singular`](clinalg::Error::Singular);
    /// [`Error::Shape`](clinalg::Error::Shape) unless the matrix is square; [`Error::Allocation`](clinalg::Error::Allocation).
    pub fn inverse(&self, a: u64) -> Result<(u64, f64)> {
        let (made, reciprocal) = self.dense_matrix(a, |a| {
            typed!(a, T => {
                let lu = ops::Lu::new(dense(a.stored::<T>("a")?).try_clone()?)?;
                Ok((Object::from(lu.inverse()?), lu.reciprocal_condition()?))
            })
        })?;
        Ok((self.insert(made), reciprocal))
    }

    /// The determinant of a square dense matrix; infinite or zero where it leaves the range.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle); [`Error::Shape`](clinalg::Error::Shape) unless the matrix is square;
    /// [`Error::Allocation`](clinalg::Error::Allocation).
    pub fn determinant(&self, a: u64) -> Result<Complex<f64>> {
        self.dense_matrix(a, |a| {
            typed!(a, T => {
                let value = ops::determinant(dense(a.stored::<T>("a")?))?.value();
                Ok(Complex::new(value.re().into_f64(), value.im().into_f64()))
            })
        })
    }

    /// Solves A X = b for a dense A and a vector or the columns of a dense matrix b, by QR in the least-squares sense. A and b stay as they are.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle); [`Error::Precision`](clinalg::Error::Precision) or
    /// [`Error::Value`](clinalg::Error::Value) that names the argument of another type; those of the factorisation:
    /// [`Error::Shape`](clinalg::Error::Shape), [`Error::Singular`](clinalg::Error::Singular),
    /// [`Error::NotPositiveDefinite`](clinalg::Error::NotPositiveDefinite).
    pub fn solve_dense(&self, factorisation: Factorisation, a: u64, b: u64) -> Result<DenseSolution> {
        let inputs = [Operand::new("a", a, Kind::DENSE), Operand::new("b", b, Kind::FULL)];
        if factorisation == Factorisation::Auto
            && let Some((x, reciprocal)) = self.solve_on_host(&inputs)?
        {
            let (rank, x) = (x.info().rows, self.insert(x));
            return Ok(DenseSolution { x, reciprocal_condition: Some(reciprocal), rank, tolerance: 0.0 });
        }
        let (made, found) = self.call(&inputs, None, |inputs, _| {
            typed!(inputs[0], T => {
                let a = dense(inputs[0].stored::<T>("a")?);
                let b = inputs[1].stored::<T>("b")?;
                let column;
                let columns = match b {
                    Stored::Dense(b) => b,
                    b => {
                        let b = b.full("b")?;
                        let mut made = Dense::zeros(b.context(), b.len(), 1)?;
                        made.as_vector_mut().copy_from(b)?;
                        column = made;
                        &column
                    }
                };
                let ops::DenseSolve { x, reciprocal_condition, rank, tolerance } = factorisation.solve(a, columns)?;
                let made = match b {
                    Stored::Dense(_) => Object::from(x),
                    _ => Vector::from_view(x.as_vector().slice(0..x.rows())?)?.into(),
                };
                Ok((made, DenseSolution { x: 0, reciprocal_condition, rank, tolerance }))
            })
        })?;
        Ok(DenseSolution { x: self.insert(made), ..found })
    }

    /// The solution of a small square system that is well conditioned, with several unknowns; `None` for others and for operands of two types.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle).
    pub fn solve_small(&self, a: u64, b: u64) -> Result<Option<u64>> {
        let (Some((of_a, false)), Some((of_b, false))) = (self.full_info("a", a)?, self.full_info("b", b)?) else {
            return Ok(None);
        };
        if of_a.kind != Kind::Dense || of_a.scalar() != of_b.scalar() || of_a.rows < 2 {
            return Ok(None);
        }
        let found = self.solve_on_host(&[Operand::new("a", a, Kind::DENSE), Operand::new("b", b, Kind::FULL)])?;
        let epsilon = match of_a.precision {
            Precision::F32 => f64::from(f32::EPSILON),
            Precision::F64 => f64::EPSILON,
        };
        Ok(found.filter(|(_, reciprocal)| *reciprocal >= epsilon).map(|(x, _)| self.insert(x)))
    }

    /// The solution of a small square system that is not singular and an estimate of the reciprocal condition number.
    fn solve_on_host(&self, inputs: &[Operand]) -> Result<Option<(Object, f64)>> {
        self.on_host(inputs, |inputs| {
            let (of_a, of_b) = (inputs[0].info(), inputs[1].info());
            let n = of_a.rows;
            if n > SMALL_SYSTEM || of_a.cols != n || of_b.rows != n || of_b.cols == 0 {
                return Ok(None);
            }
            typed!(inputs[0], T => {
                let values = inputs[0].host_values::<T>().zip(inputs[1].host_values::<T>());
                let solved = values.and_then(|(a, b)| ops::host::left_divide(n, a, b));
                let Some((x, reciprocal)) = solved else { return Ok(None) };
                Ok(Some((inputs[0].full_like(of_b.kind, (n, of_b.cols), x)?, reciprocal)))
            })
        })
    }
}
