//! Least squares on handles.

use clinalg::ops::Transposed;
use clinalg::precond::{Jacobi, Preconditioner};
use clinalg::solve::{LeastSquares, LeastSquaresMethod, LeastSquaresParams, Progress, Report, Stopping};
use clinalg::{Dense, Error, Result, Vector};

use super::solve::{INVERSE, Preconditioning, each_column};
use super::solver::entries;
use crate::kind::Kind;
use crate::object::{Element, Matrix, Object, Stored, typed};
use crate::registry::{Operand, Registry};

/// The matrix as what methods for least squares take.
fn transposed<'a, T: Element>(a: &Matrix<'a, T>) -> Result<&'a dyn Transposed<T>> {
    match a {
        Matrix::Stored(Stored::Dense(a)) => Ok(a),
        Matrix::Stored(Stored::Csr(a)) => Ok(a),
        Matrix::Stored(Stored::Band(a)) => Ok(a),
        Matrix::Stored(a @ Stored::Vector(_)) => Err(a.no_matrix()),
        Matrix::Applied(_) => {
            let expected = "a dense, sparse or band matrix: least squares need products with its transpose".into();
            Err(Error::Shape { argument: "a", expected, got: "an operator".into() })
        }
    }
}

/// Whether the columns are to be scaled.
fn scales_columns(preconditioning: Preconditioning) -> Result<bool> {
    match preconditioning {
        Preconditioning::None => Ok(false),
        Preconditioning::Jacobi => Ok(true),
        _ => {
            let reason = "least-squares methods take no preconditioner or Jacobi, which scales the columns of A; the others are for square systems";
            Err(Error::unsuitable(INVERSE, reason))
        }
    }
}

/// Solves into `x`, which holds the start.
fn solve<T: Element>(
    (method, preconditioning): (LeastSquaresMethod, Preconditioning),
    (a, b): (&Object, &Object),
    x: &mut Stored<T>,
    (stopping, progress): (&Stopping, Progress<'_>),
) -> Result<Report> {
    let (matrix, b) = (a.matrix::<T>("a")?, b.stored::<T>("b")?);
    let a = transposed(&matrix)?;
    let (rows, cols) = (a.rows(), a.cols());
    let count = b.shape().1;
    for (argument, shape, wanted) in [("b", b.shape(), rows), ("x", x.shape(), cols)] {
        if shape != (wanted, count) {
            let expected = format!("{wanted} x {count} for A of {rows} x {cols}");
            return Err(Error::Shape { argument, expected, got: format!("{} x {}", shape.0, shape.1) });
        }
    }
    let (b, x) = (b.full("b")?, x.full_mut("x")?);
    for (argument, context) in [("b", b.context()), ("x", x.context())] {
        if !a.context().same(context) {
            return Err(Error::Context { argument });
        }
    }
    let mut m = match scales_columns(preconditioning)? {
        true => Some(Jacobi::of_normal_equations(entries(&matrix)?)?),
        false => None,
    };
    let params = LeastSquaresParams::from(stopping.clone()).method(method);
    let mut solver = LeastSquares::new(a.context(), rows, cols, params)?;
    each_column((b, x), (rows, cols, count), |b, x| {
        let m = m.as_mut().map(|m| m as &mut dyn Preconditioner<T>);
        Ok(solver.solve_with(a, m, b, x, progress)?.report)
    })
}

impl Registry {
    /// The x that makes |b - A x| smallest for a dense, sparse or band matrix of any shape, by [`LeastSquares`]; of several the one nearest to the
    /// start, with [`Preconditioning::Jacobi`] in the norm of the column norms. That and none are the preconditioners; it takes a sparse matrix. x holds the
    /// start on entry and the last iterate after; `None` starts from zero in a new object of the kind of b. b and x may have several columns,
    /// which are solved for one after the other. Gives the handle of x and the report of a column that did not converge, else of the one with the
    /// largest relative residual.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`], [`Error::Shape`], [`Error::Context`] or [`Error::Value`] that names the argument. Not to converge is
    /// no error: see [`Report::stop`].
    pub fn least_squares(
        &self,
        method: LeastSquaresMethod,
        preconditioning: Preconditioning,
        (a, b, x): (u64, u64, Option<u64>),
        stopping: &Stopping,
        progress: Progress<'_>,
    ) -> Result<(u64, Report)> {
        stopping.check()?;
        let operands = [Operand::new("a", a, Kind::MATRIX), Operand::new("b", b, Kind::FULL)];
        let how = (method, preconditioning);
        if let Some(x) = x {
            let report = self.call(&operands, Some(Operand::new("x", x, Kind::FULL)), |inputs, output| {
                let Some(output) = output else { unreachable!("an output was named") };
                typed!(inputs[0], T => {
                    solve(how, (inputs[0], inputs[1]), output.stored_mut::<T>("x")?, (stopping, progress))
                })
            })?;
            return Ok((x, report));
        }
        let (x, report) = self.call(&operands, None, |inputs, _| {
            typed!(inputs[0], T => {
                let (b, (_, cols)) = (inputs[1].stored::<T>("b")?, inputs[0].matrix::<T>("a")?.shape());
                let context = b.context();
                let mut x = match b {
                    Stored::Vector(_) => Stored::Vector(Vector::zeros(context, cols)?),
                    _ => Stored::Dense(Dense::zeros(context, cols, b.shape().1)?),
                };
                let report = solve(how, (inputs[0], inputs[1]), &mut x, (stopping, progress))?;
                Ok((T::erase(x), report))
            })
        })?;
        Ok((self.insert(x), report))
    }
}
