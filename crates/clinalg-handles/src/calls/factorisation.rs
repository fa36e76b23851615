//! Factorisations of dense and sparse matrices that are made once for many right-hand sides.

use std::sync::{Mutex, MutexGuard, PoisonError};

use clinalg::direct::{self, FactorsParams, FactorsReport, Solved};
use clinalg::matrix::Values as _;
use clinalg::ops::factor::{Determinant, Diagonal, Side, Triangle};
use clinalg::ops::{self, Cholesky, Lu, Qr, Transpose};
use clinalg::{Complex, Csr, Dense, Error, Real as _, Result, Scalar, Vector};

use crate::calls::dense::{Factorisation, dense, no_dense_ldl};
use crate::calls::sparse::sparse;
use crate::kind::Kind;
use crate::object::{Factored, Factors, Object, SparseFactors, Stored, typed};
use crate::registry::{Operand, Registry};

/// What errors call the handle of a factorisation.
const ARGUMENT: &str = "factorisation";

/// A copy of b as columns.
fn column<T: Scalar>(b: &Stored<T>) -> Result<Dense<T>> {
    match b {
        Stored::Dense(b) => b.try_clone(),
        b => {
            let b = b.full("b")?;
            // SAFETY: all values are written, and what fails is dropped.
            let mut column = unsafe { Dense::uninit_unchecked(b.context(), b.len(), 1)? };
            column.as_vector_mut().copy_from(b)?;
            Ok(column)
        }
    }
}

/// The columns of x as an object of the kind of b.
fn like<T: Scalar>(b: &Stored<T>, x: Dense<T>) -> Result<Object> {
    Ok(match b {
        Stored::Dense(_) => x.into(),
        _ => Vector::from_view(x.as_vector().slice(0..x.rows())?)?.into(),
    })
}

/// Solves for b, which is x where it is left out, into x or into a new object.
fn solve_into<T: Scalar>(
    b: Option<&Object>,
    x: Option<&mut Object>,
    solve: impl FnOnce(Dense<T>) -> Result<Dense<T>>,
) -> Result<Option<Object>> {
    let b = match (b, &x) {
        (Some(b), _) => b.stored::<T>("b")?,
        (None, Some(x)) => x.stored::<T>("b")?,
        (None, None) => unreachable!("only an output is left out"),
    };
    let solved = solve(column(b)?)?;
    let Some(x) = x else { return like(b, solved).map(Some) };
    let x = x.stored_mut::<T>("x")?;
    let (expected, got) = ((solved.rows(), solved.cols()), x.shape());
    if expected != got {
        let words = |(rows, cols)| format!("{rows} x {cols}");
        return Err(Error::Shape { argument: "x", expected: words(expected), got: words(got) });
    }
    if !x.context().same(solved.context()) {
        return Err(Error::Context { argument: "x" });
    }
    x.full_mut("x")?.copy_from(solved.as_vector())?;
    Ok(None)
}

fn number<T: Scalar>(determinant: &Determinant<T>) -> Complex<f64> {
    let value = determinant.value();
    Complex::new(value.re().into_f64(), value.im().into_f64())
}

impl<T: Scalar> SparseFactors<T> {
    fn new(factorisation: Factorisation, a: &Csr<T>) -> Result<SparseFactors<T>> {
        let params = FactorsParams::default();
        let params = match factorisation {
            Factorisation::Auto => params,
            Factorisation::Lu => params.kind(direct::Kind::Lu),
            Factorisation::Cholesky => params.kind(direct::Kind::Cholesky),
            Factorisation::Ldl => params.kind(direct::Kind::Ldl),
            Factorisation::Qr => {
                let expected =
                    "auto, lu, ldl or cholesky for a sparse matrix; lsmr and lsqr solve its least-squares problems";
                return Err(Error::value(ARGUMENT, expected, "qr"));
            }
        };
        let factors = direct::Factors::new(a, &params)?;
        Ok(SparseFactors { a: a.try_clone()?, factors, solved: None })
    }

    fn solve(&mut self, op: Transpose, b: &Dense<T>) -> Result<Dense<T>> {
        let (x, solved) = self.factors.solve_columns_op(op, &self.a, b)?;
        self.solved = Some(solved);
        Ok(x)
    }
}

impl<T: Scalar> Factored<T> {
    fn new(factorisation: Factorisation, a: &Stored<T>) -> Result<Factored<T>> {
        let (rows, cols) = a.shape();
        let factors = match (a, factorisation) {
            (Stored::Csr(a), _) => Factors::Sparse(Box::new(Mutex::new(SparseFactors::new(factorisation, a)?))),
            (a, Factorisation::Lu) => Factors::Lu(Lu::new(dense(a).try_clone()?)?),
            (a, Factorisation::Cholesky) => Factors::Cholesky(Cholesky::new(dense(a).try_clone()?)?),
            (a, Factorisation::Qr) => Factors::Qr(Qr::new(dense(a).try_clone()?)?),
            (_, Factorisation::Ldl) => return Err(no_dense_ldl()),
            (a, Factorisation::Auto) => {
                let one = if rows == cols { Factorisation::Lu } else { Factorisation::Qr };
                return Factored::new(one, a);
            }
        };
        Ok(Factored { rows, cols, factors })
    }

    /// The factors of a sparse matrix; an error that names `what` needs them.
    fn sparse(&self, what: &str) -> Result<MutexGuard<'_, SparseFactors<T>>> {
        match &self.factors {
            Factors::Sparse(factors) => Ok(factors.lock().unwrap_or_else(PoisonError::into_inner)),
            _ => {
                let expected = format!("the factors of a sparse matrix for {what}");
                Err(Error::value(ARGUMENT, expected, "those of a dense matrix"))
            }
        }
    }

    fn shape_error(&self, expected: &str) -> Error {
        let got = format!("those of a {} x {} matrix", self.rows, self.cols);
        Error::Shape { argument: ARGUMENT, expected: expected.into(), got }
    }

    fn check_square(&self) -> Result<()> {
        if self.rows == self.cols { Ok(()) } else { Err(self.shape_error("the factors of a square matrix")) }
    }

    fn solve(&self, op: Transpose, mut b: Dense<T>) -> Result<Dense<T>> {
        match &self.factors {
            Factors::Sparse(_) => return self.sparse("a solve")?.solve(op, &b),
            Factors::Lu(lu) => {
                self.check_square()?;
                lu.solve_op(op, &mut b)?;
            }
            // A is its own conjugate transpose.
            Factors::Cholesky(cholesky) if op != Transpose::Yes || !T::IS_COMPLEX => cholesky.solve_in_place(&mut b)?,
            Factors::Cholesky(_) => {
                let expected = "the matrix itself or its conjugate transpose, which are the same; for its transpose factorise by LU";
                return Err(Error::value("transpose", expected, op));
            }
            Factors::Qr(_) if op == Transpose::No && self.rows < self.cols => {
                return Err(self.shape_error("the factors of a matrix with at least as many rows as columns"));
            }
            Factors::Qr(qr) if op == Transpose::No => return qr.solve(&b),
            Factors::Qr(_) => {
                let expected = "the matrix itself; for least squares with the transpose factorise that";
                return Err(Error::value("transpose", expected, op));
            }
        }
        Ok(b)
    }

    fn determinant(&self) -> Result<Determinant<T>> {
        match &self.factors {
            Factors::Lu(lu) => {
                self.check_square()?;
                lu.determinant()
            }
            Factors::Cholesky(cholesky) => cholesky.determinant(),
            Factors::Sparse(_) => self.sparse("a determinant")?.factors.determinant(),
            Factors::Qr(_) => Err(square_only("the determinant")),
        }
    }

    fn inverse(&self) -> Result<Dense<T>> {
        match &self.factors {
            Factors::Lu(lu) => {
                self.check_square()?;
                lu.inverse()
            }
            Factors::Cholesky(cholesky) => cholesky.inverse(),
            Factors::Sparse(_) => Err(Error::unsuitable(
                ARGUMENT,
                "the inverse of a sparse matrix is dense and is not made; solve for the columns of the identity that are needed",
            )),
            Factors::Qr(_) => Err(square_only("the inverse")),
        }
    }

    fn reciprocal_condition(&self) -> Result<f64> {
        match &self.factors {
            Factors::Lu(lu) => {
                self.check_square()?;
                lu.reciprocal_condition()
            }
            Factors::Sparse(_) => {
                let sparse = self.sparse("a condition number")?;
                sparse.factors.reciprocal_condition(&sparse.a)
            }
            Factors::Cholesky(_) | Factors::Qr(_) => {
                Err(Error::unsuitable(ARGUMENT, "only an LU factorisation gives the condition number"))
            }
        }
    }
}

fn square_only(what: &str) -> Error {
    Error::value(ARGUMENT, format!("an LU or Cholesky factorisation for {what}"), "a QR factorisation")
}

/// The factorisation behind an operand of its kind.
fn factored<T: Scalar>(object: &Object) -> &Factored<T> {
    object.expect_content()
}

impl Registry {
    /// The factors of a dense or square sparse matrix, for many right-hand sides; later changes of `a` do not reach them. [`Factorisation::Auto`] is
    /// QR for a dense matrix that is not square and LU for another; for a sparse matrix Cholesky if it is Hermitian positive definite, L D L' if it is
    /// Hermitian or complex symmetric, else LU. Gives their handle, which [`Registry::release`] takes with [`Kind::FACTORISATION`].
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Value`] for QR of a sparse matrix; those of the factorisation, among them [`Error::NotPositiveDefinite`]. A
    /// singular matrix is found by [`Registry::factorisation_solve`].
    pub fn factorisation(&self, factorisation: Factorisation, a: u64) -> Result<u64> {
        let object = self.call(&[Operand::new("a", a, Kind::TRANSPOSED)], None, |inputs, _| {
            typed!(inputs[0], T => Ok(Object::from(Factored::new(factorisation, inputs[0].stored::<T>("a")?)?)))
        })?;
        Ok(self.insert(object))
    }

    fn with_factors<R>(&self, factorisation: u64, f: impl FnOnce(&Object) -> Result<R>) -> Result<R> {
        self.call(&[Operand::new(ARGUMENT, factorisation, Kind::FACTORISATION)], None, |inputs, _| f(inputs[0]))
    }

    /// New values for the factors of a sparse matrix: the order of elimination is kept. After an error the factors are of no matrix.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Value`] for the factors of a dense matrix; [`Error::Precision`]; those of
    /// [`refactor`](direct::Factors::refactor), among them [`Error::Unsuitable`] for entries at other positions.
    pub fn factorisation_refactor(&self, factorisation: u64, a: u64) -> Result<()> {
        let inputs = [Operand::new(ARGUMENT, factorisation, Kind::FACTORISATION), Operand::new("a", a, Kind::SPARSE)];
        self.call(&inputs, None, |inputs, _| {
            typed!(inputs[0], T => {
                let mut own = factored::<T>(inputs[0]).sparse("new values")?;
                let a = sparse::<T>(inputs[1], "a")?;
                own.factors.refactor(a)?;
                (own.a, own.solved) = (a.try_clone()?, None);
                Ok(())
            })
        })
    }

    /// What the factors of a sparse matrix are, and how well the last system was solved by them.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Value`] for the factors of a dense matrix.
    pub fn factorisation_report(&self, factorisation: u64) -> Result<(FactorsReport, Option<Solved>)> {
        self.with_factors(factorisation, |object| {
            typed!(object, T => {
                let own = factored::<T>(object).sparse("a report")?;
                Ok((own.factors.report(), own.solved))
            })
        })
    }

    /// X with op(A) X = b for a vector or the columns of a dense matrix b, by QR in the least-squares sense: into `x`, which may be `b`, or into a
    /// new object of the kind of b. Gives the handle of X. QR takes the matrix itself only, Cholesky of complex matrices not the transpose.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Precision`], [`Error::Shape`], [`Error::Length`] or [`Error::Context`] that names the argument; [`Error::Value`] for
    /// another op; [`Error::Singular`].
    pub fn factorisation_solve(&self, factorisation: u64, op: Transpose, b: u64, x: Option<u64>) -> Result<u64> {
        let inputs = [Operand::new(ARGUMENT, factorisation, Kind::FACTORISATION), Operand::new("b", b, Kind::FULL)];
        let output = x.map(|x| Operand::new("x", x, Kind::FULL));
        let made = self.call_aliased(&inputs, output, |inputs, x| {
            let object = inputs[0].expect("a factorisation is no output");
            typed!(object, T => {
                solve_into::<T>(inputs[1], x, |b| factored::<T>(object).solve(op, b))
            })
        })?;
        Ok(self.result(made, x))
    }

    /// The factors as new dense matrices: L and U, where row k of L U is row `rows[k]` of A; L of Cholesky, and nothing else; Q with min(m, n) columns
    /// and R.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Allocation`].
    pub fn factorisation_factors(&self, factorisation: u64) -> Result<(u64, Option<u64>, Vec<usize>)> {
        let (first, second, rows) = self.with_factors(factorisation, |object| {
            typed!(object, T => {
                let factored = factored::<T>(object);
                Ok(match &factored.factors {
                    Factors::Lu(lu) => {
                        let mut rows: Vec<usize> = (0..factored.rows).collect();
                        for (k, pivot) in lu.pivots()?.into_iter().enumerate() {
                            rows.swap(k, pivot);
                        }
                        (Object::from(lu.lower()?), Some(Object::from(lu.upper()?)), rows)
                    }
                    Factors::Cholesky(cholesky) => (cholesky.factor()?.into(), None, Vec::new()),
                    Factors::Qr(qr) => (qr.q()?.into(), Some(qr.r()?.into()), Vec::new()),
                    Factors::Sparse(_) => {
                        return Err(Error::unsuitable(
                            ARGUMENT,
                            "the factors of a sparse matrix are not given as matrices; solve with them",
                        ));
                    }
                })
            })
        })?;
        Ok((self.insert(first), second.map(|second| self.insert(second)), rows))
    }

    /// The inertia of a sparse Hermitian matrix, from its Cholesky or L D L' factors.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Value`] for the factors of a dense matrix; those of [`inertia`](direct::Factors::inertia).
    pub fn factorisation_inertia(&self, factorisation: u64) -> Result<direct::Inertia> {
        self.with_factors(
            factorisation,
            |object| typed!(object, T => factored::<T>(object).sparse("the inertia")?.factors.inertia()),
        )
    }

    /// The determinant of the matrix; infinite or zero where it leaves the range.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Value`] for QR; [`Error::Shape`] unless the matrix is square.
    pub fn factorisation_determinant(&self, factorisation: u64) -> Result<Complex<f64>> {
        self.with_factors(
            factorisation,
            |object| typed!(object, T => Ok(number(&factored::<T>(object).determinant()?))),
        )
    }

    /// The inverse of the matrix as a new dense matrix.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Value`] for QR; [`Error::Shape`] unless the matrix is square; [`Error::Singular`].
    pub fn factorisation_inverse(&self, factorisation: u64) -> Result<u64> {
        let made = self.with_factors(
            factorisation,
            |object| typed!(object, T => Ok(Object::from(factored::<T>(object).inverse()?))),
        )?;
        Ok(self.insert(made))
    }

    /// An estimate of the reciprocal condition number in the 1-norm, of LU and of the factors of a sparse matrix.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Value`] for Cholesky and QR; [`Error::Shape`] unless the matrix is square.
    pub fn factorisation_condition(&self, factorisation: u64) -> Result<f64> {
        self.with_factors(factorisation, |object| typed!(object, T => factored::<T>(object).reciprocal_condition()))
    }

    /// X with op(A) X = b by substitution, where A is a triangle of a square dense matrix whose other numbers are not read, with ones on its diagonal
    /// if `unit`. Into `x`, which may be `b`, or into a new object of the kind of b; gives the handle of X.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Precision`], [`Error::Shape`] or [`Error::Context`] that names the argument; [`Error::Singular`];
    /// [`Error::Value`] where `x` is `a`.
    pub fn solve_triangular(
        &self,
        (triangle, op, diagonal): (Triangle, Transpose, Diagonal),
        a: u64,
        b: u64,
        x: Option<u64>,
    ) -> Result<u64> {
        if x == Some(a) {
            return Err(Error::value("x", "another object than argument `a`", format!("handle {a:#018x}")));
        }
        let inputs = [Operand::new("a", a, Kind::DENSE), Operand::new("b", b, Kind::FULL)];
        let output = x.map(|x| Operand::new("x", x, Kind::FULL));
        let made = self.call_aliased(&inputs, output, |inputs, x| {
            let object = inputs[0].expect("compared above");
            typed!(object, T => {
                let a = dense(object.stored::<T>("a")?);
                solve_into::<T>(inputs[1], x, |mut b| {
                    ops::solve_triangular(Side::Left, triangle, op, diagonal, a, &mut b)?;
                    Ok(b)
                })
            })
        })?;
        Ok(self.result(made, x))
    }
}
