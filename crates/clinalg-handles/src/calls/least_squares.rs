//! Least squares on handles.

use clinalg::ops::{Operator, Transposed};
use clinalg::precond::{Jacobi, Preconditioner};
use clinalg::solve::{LeastSquares, LeastSquaresMethod, LeastSquaresParams, Progress, Report, Stopping};
use clinalg::{Dense, Error, Result, Scalar, Vector, number};

use super::eigen::asymmetry_of_products;
use super::preconditioner::{PreconditionerKind, varies};
use super::solve::{INVERSE, Inverse, Preconditioning, check_inverse, each_column};
use super::solver::entries;
use crate::kind::Kind;
use crate::object::{Matrix, Object, Stored, typed};
use crate::registry::{Operand, Registry};

/// The matrix as what methods for least squares take.
fn transposed<'a, T: Scalar>(a: &Matrix<'a, T>) -> Result<&'a dyn Transposed<T>> {
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

/// The preconditioner of A^H A that is made from the entries of A; `None` if there is none or if it is given as an operator.
fn of_normal_equations<T: Scalar>(
    preconditioning: Preconditioning,
    a: &Matrix<'_, T>,
) -> Result<Option<Box<dyn Preconditioner<T>>>> {
    let unsuitable = |name: &str| {
        let reason = format!(
            "LSQR and LSMR need a symmetric positive definite preconditioner for A' A, which {name} is not; use Jacobi, IC, SSOR, SPAI-0, FSAI or \
             algebraic multigrid, or for a square A GMRES with {name}"
        );
        Err(Error::unsuitable(INVERSE, reason))
    };
    match preconditioning {
        Preconditioning::None | Preconditioning::Inverse(_) => Ok(None),
        Preconditioning::Jacobi | Preconditioning::Of(PreconditionerKind::Jacobi) => {
            Ok(Some(Box::new(Jacobi::of_normal_equations(entries(a)?)?)))
        }
        Preconditioning::Of(PreconditionerKind::Ilu) => unsuitable("ILU(0)"),
        Preconditioning::Of(PreconditionerKind::Ilut) => unsuitable("ILUT"),
        Preconditioning::Saddle => unsuitable("the saddle point preconditioner"),
        Preconditioning::Of(kind) => Ok(Some(kind.of_normal_equations(entries(a)?)?)),
    }
}

/// Relative difference up to which the products of an approximate inverse and of its transpose count as equal: it may work in single precision.
const INEXACT: f64 = 1e-4;

/// An error unless an approximate inverse of A^H A may be Hermitian.
fn check_inverse_of_normal_equations<T: Scalar>(inverse: &dyn Operator<T>, varies: bool) -> Result<()> {
    if varies {
        return Err(Error::unsuitable(INVERSE, "it is a K-cycle, which is not linear; use V-cycles for least squares"));
    }
    let asymmetry = asymmetry_of_products(inverse)?;
    if asymmetry <= INEXACT {
        return Ok(());
    }
    let kind = if T::IS_COMPLEX { "Hermitian" } else { "symmetric" };
    let reason = format!(
        "it is not {kind}: its products differ from those of its transpose by {} of their size; LSQR and LSMR need an approximate inverse \
         of A' A, not of A",
        number(asymmetry, 2)
    );
    Err(Error::unsuitable(INVERSE, reason))
}

/// Solves into `x`, which holds the initial guess; `inverse` is the object that [`Preconditioning::Inverse`] names.
fn solve<T: Scalar>(
    (method, preconditioning): (LeastSquaresMethod, Preconditioning),
    (a, b, inverse): (&Object, &Object, Option<&Object>),
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
    let mut made = of_normal_equations(preconditioning, &matrix)?;
    let given = inverse.map(|inverse| inverse.matrix::<T>(INVERSE)).transpose()?;
    let mut given = match (&given, inverse) {
        (Some(matrix), Some(object)) => {
            check_inverse(matrix, (a.context(), cols))?;
            let operator = matrix.operator()?;
            check_inverse_of_normal_equations(operator, varies(object)?)?;
            Some(Inverse(operator))
        }
        _ => None,
    };
    let params = LeastSquaresParams::from(stopping.clone()).method(method);
    let mut solver = LeastSquares::new(a.context(), rows, cols, params)?;
    each_column((b, x), (rows, cols, count), |b, x| {
        let m = match (&mut made, &mut given) {
            (Some(m), _) => Some(&mut **m as &mut dyn Preconditioner<T>),
            (None, given) => given.as_mut().map(|m| m as &mut dyn Preconditioner<T>),
        };
        Ok(solver.solve_with(a, m, b, x, progress)?.report)
    })
}

impl Registry {
    /// The x that minimises |b - A x| for a dense, sparse or band matrix of any shape, by [`LeastSquares`]; of several the one nearest to the
    /// initial guess, with a preconditioner M in the norm of M. The preconditioner approximates A^H A: for a sparse A [`Preconditioning::Jacobi`], which scales
    /// the columns to norm 1, or one that is Hermitian positive definite; or a Hermitian matrix or operator that approximates the inverse of A^H A. x holds the
    /// initial guess on entry and the result on return; `None` starts from zero in a new object of the kind of b. b and x may have several columns,
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
        let mut operands = vec![Operand::new("a", a, Kind::MATRIX), Operand::new("b", b, Kind::FULL)];
        if let Preconditioning::Inverse(inverse) = preconditioning {
            operands.push(Operand::new(INVERSE, inverse, Kind::MATRIX));
        }
        let how = (method, preconditioning);
        if let Some(x) = x {
            let report = self.call(&operands, Some(Operand::new("x", x, Kind::FULL)), |inputs, output| {
                let Some(output) = output else { unreachable!("an output was named") };
                typed!(inputs[0], T => {
                    let system = (inputs[0], inputs[1], inputs.get(2).copied());
                    solve(how, system, output.stored_mut::<T>("x")?, (stopping, progress))
                })
            })?;
            return Ok((x, report));
        }
        let (x, report) = self.call(&operands, None, |inputs, _| {
            typed!(inputs[0], T => {
                let (b, (_, cols)) = (inputs[1].stored::<T>("b")?, inputs[0].matrix::<T>("a")?.shape());
                let context = b.context();
                let mut x = match b {
                    Stored::Vector(_) => Stored::Vector(Vector::<T>::zeros(context, cols)?),
                    _ => Stored::Dense(Dense::zeros(context, cols, b.shape().1)?),
                };
                let system = (inputs[0], inputs[1], inputs.get(2).copied());
                let report = solve(how, system, &mut x, (stopping, progress))?;
                Ok((Object::from(x), report))
            })
        })?;
        Ok((self.insert(x), report))
    }
}
