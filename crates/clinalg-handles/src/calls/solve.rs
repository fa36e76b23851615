//! Solvers on handles.

use std::ops::ControlFlow;

use clinalg::precond::SaddleShape;
use clinalg::solve::{BlockCg, BlockScalar, CgParams, Operator, Preconditioner, Progress, Report, Stop, Stopping};
use clinalg::{Context, Dense, Error, Result, Scalar, Vector};
use serde::{Deserialize, Serialize};

use crate::calls::preconditioner::{PreconditionerKind, SaddleScalar, found_split, jacobi, not_sparse, varies};
use crate::calls::solver::{check_square, solver_of};
use crate::calls::team;
use crate::kind::Kind;
use crate::object::{Distributed, Matrix, Object, Stored, typed, typed_real};
use crate::registry::{Operand, Registry};

/// A Krylov method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Conjugate gradients, for Hermitian positive definite matrices.
    Cg,
    /// Stabilised biconjugate gradients.
    BiCgStab,
    /// Generalised minimal residuals with this restart.
    Gmres(usize),
    /// Minimal residuals, for Hermitian matrices, definite or not.
    Minres,
    /// Induced dimension reduction with a shadow space of this dimension, for any matrix.
    Idr(usize),
    /// Conjugate gradients with a preconditioner that may vary.
    FlexibleCg,
    /// Richardson iteration, x += M^-1 (b - A x), for real matrices: the preconditioner used as a solver.
    Richardson,
}

/// What errors call the handle of a preconditioner.
pub(super) const INVERSE: &str = "preconditioner";

/// A preconditioner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preconditioning {
    /// None.
    #[default]
    None,
    /// The matrix's diagonal.
    Jacobi,
    /// This one, made of the sparse matrix with the default parameters for this solve.
    Of(PreconditionerKind),
    /// The blocks of a real sparse saddle point, in the shape that the method takes, made for this solve.
    Saddle,
    /// The matrix or operator of this handle, which approximates the inverse.
    Inverse(u64),
}

/// The shape of blocks that a method takes.
pub(super) fn shape_for(method: Method) -> SaddleShape {
    match method {
        Method::Cg | Method::FlexibleCg | Method::Minres => SaddleShape::Diagonal,
        _ => SaddleShape::Triangular,
    }
}

/// The product with an approximate inverse.
pub(super) struct Inverse<'a, T: Scalar>(pub(super) &'a dyn Operator<T>);

impl<T: Scalar> Preconditioner<T> for Inverse<'_, T> {
    fn size(&self) -> usize {
        self.0.rows()
    }

    fn context(&self) -> &Context {
        self.0.context()
    }

    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        self.0.apply(T::one(), r, T::zero(), z)
    }
}

/// An error unless the approximate inverse is one of `n` rows and columns in the context.
pub(super) fn check_inverse<T: Scalar>(inverse: &Matrix<'_, T>, (context, n): (&Context, usize)) -> Result<()> {
    let (rows, cols) = inverse.shape();
    if (rows, cols) != (n, n) {
        let (expected, got) = (format!("{n} x {n}"), format!("{rows} x {cols}"));
        return Err(Error::Shape { argument: INVERSE, expected, got });
    }
    match inverse.operator()?.context().same(context) {
        true => Ok(()),
        false => Err(Error::Context { argument: INVERSE }),
    }
}

/// Calls `f` with the preconditioner of `a`; `inverse` is the object that [`Preconditioning::Inverse`] names, `shape` that of blocks.
pub(super) fn with_preconditioner<T: Scalar + SaddleScalar, R>(
    (preconditioning, shape): (Preconditioning, SaddleShape),
    a: &Matrix<'_, T>,
    inverse: Option<&Object>,
    (context, n): (&Context, usize),
    f: impl FnOnce(Option<&mut dyn Preconditioner<T>>) -> Result<R>,
) -> Result<R> {
    match (preconditioning, inverse) {
        (Preconditioning::Jacobi, _) => f(Some(&mut jacobi(&a.diagonal()?)?)),
        (Preconditioning::Of(_) | Preconditioning::Saddle, _) => match (a, preconditioning) {
            (Matrix::Stored(a), Preconditioning::Of(kind)) => f(Some(&mut *kind.of(a)?)),
            (Matrix::Stored(Stored::Csr(a)), _) => f(Some(&mut *T::saddle(a, &found_split(&a.to_parts()?)?, shape)?)),
            (Matrix::Stored(a), _) => Err(not_sparse(a.kind().words())),
            (Matrix::Applied(_), _) => {
                let expected = "a sparse matrix, because this preconditioner is made from its entries; for an operator, give none or an approximate inverse".into();
                Err(Error::Shape { argument: "a", expected, got: "an operator".into() })
            }
        },
        (_, Some(inverse)) => {
            let inverse = inverse.matrix::<T>(INVERSE)?;
            check_inverse(&inverse, (context, n))?;
            f(Some(&mut Inverse(inverse.operator()?)))
        }
        (_, None) => f(None),
    }
}

/// An error that names b unless it has `rows` rows.
fn check_rows<T: Scalar>(rows: usize, b: &Stored<T>) -> Result<()> {
    let shape = b.shape();
    let length = match b {
        Stored::Dense(b) if b.rows() > 1 => b.rows(),
        _ => shape.0 * shape.1,
    };
    if length == rows {
        return Ok(());
    }
    let (expected, got) = (format!("{rows} rows, as A"), format!("{} x {}", shape.0, shape.1));
    Err(Error::Shape { argument: "b", expected, got })
}

/// Entries of a row from which on block conjugate gradients pay, and columns: below that what they do on the blocks takes longer than the
/// products they save. Two CPU cores, PoCL: with 125 entries 1.2 to 1.6 times as fast as one column after the other, with 27 half as fast; with
/// IC(0) and 5 entries 1.04 to 1.16 times, with multigrid 0.7 times.
const BLOCK_PAYS: (usize, usize) = (64, 4);

/// Solves A X = B for several columns: together where that pays, else one after the other. The report is that of all or of the column with the
/// largest relative residual.
fn solve_columns<T: Scalar + BlockScalar + SaddleScalar>(
    (method, stopping): (Method, &Stopping),
    a: &dyn Operator<T>,
    m: Option<&mut dyn Preconditioner<T>>,
    b: &Dense<T>,
    x: &mut Dense<T>,
    progress: Progress<'_>,
) -> Result<Report> {
    let (n, columns, context) = (b.rows(), b.cols(), x.as_vector().context().clone());
    let pays = (BLOCK_PAYS.1..=BlockCg::<T>::MOST_COLUMNS).contains(&columns)
        && a.as_csr().is_some_and(|a| a.nnz() >= BLOCK_PAYS.0 * a.rows());
    if method == Method::Cg && pays {
        let params = CgParams::from(stopping.clone());
        let done = BlockCg::new(&context, n, columns, params)?.solve_with(a, m, b, x, progress)?;
        return Ok(done.worst());
    }
    if (x.rows(), x.cols()) != (n, columns) {
        let (expected, got) = (format!("{n} x {columns}, as b"), format!("{} x {}", x.rows(), x.cols()));
        return Err(Error::Shape { argument: "x", expected, got });
    }
    let mut m = m;
    let mut solver = solver_of(method, &Vector::zeros(&context, n)?, stopping)?;
    each_column((b.as_vector(), x.as_vector_mut()), (n, n, columns), |b, x| {
        let m = m.as_mut().map(|m| &mut **m as &mut dyn Preconditioner<T>);
        solver.solve_with(a, m, b, x, progress)
    })
}

/// Whether to return this report rather than `other`: a solve that did not converge comes first, then the larger residual, with NaN the largest.
fn is_worse(report: &Report, other: &Report) -> bool {
    // The sign of a NaN means nothing, but would affect its order.
    let size = |report: &Report| report.relative_residual.abs();
    match (report.stop.is_success(), other.stop.is_success()) {
        (ours, theirs) if ours == theirs => size(report).total_cmp(&size(other)).is_gt(),
        (ours, _) => !ours,
    }
}

/// Solves for `count` columns of x, of `cols` values each, from those of b, of `rows` values, one after the other until a solve is cancelled. The
/// report is that of the cancelled solve, or of a column that did not converge, else of the one with the largest relative residual.
pub(super) fn each_column<T: Scalar>(
    (b, x): (&Vector<T>, &mut Vector<T>),
    (rows, cols, count): (usize, usize, usize),
    mut solve: impl FnMut(&Vector<T>, &mut Vector<T>) -> Result<Report>,
) -> Result<Report> {
    let (mut own_b, mut own_x) = (Vector::zeros(b.context(), rows)?, Vector::zeros(b.context(), cols)?);
    let mut worst: Option<Report> = None;
    for column in 0..count {
        own_b.buffer_mut().copy_from(b.slice(column * rows..(column + 1) * rows)?)?;
        own_x.buffer_mut().copy_from(x.slice(column * cols..(column + 1) * cols)?)?;
        let report = solve(&own_b, &mut own_x)?;
        x.write_slice(column * cols, &own_x)?;
        let ends = report.stop == Stop::Cancelled;
        if ends || worst.as_ref().is_none_or(|worst| is_worse(&report, worst)) {
            worst = Some(report);
        }
        if ends {
            break;
        }
    }
    Ok(worst.unwrap_or_else(|| Report::new(Stop::Converged, vec![0.0])))
}

impl Registry {
    /// Solves A x = b; x holds the initial guess on entry and the result on return: if the solve does not converge, the iterate with the smallest
    /// residual found, see [`Report::iterate`]. `None` starts from zero in a new vector. b and x may be matrices of several columns, which are solved for one after the other, or together by
    /// [`BlockCg`] with [`Method::Cg`] where A has many entries in a row. Gives the handle of x.
    /// `a` may be a matrix on a team, for real systems, without preconditioner, with [`Preconditioning::Jacobi`] or with the handle of
    /// [`Registry::team_amg`].
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision), [`Error::Length`](clinalg::Error::Length), [`Error::Shape`](clinalg::Error::Shape), [`Error::Context`](clinalg::Error::Context) or [`Error::Value`](clinalg::Error::Value) that
    /// names the argument. Not to converge is not an error: see
    /// [`Report::stop`].
    pub fn solve(
        &self,
        method: Method,
        preconditioning: Preconditioning,
        a: u64,
        b: u64,
        x: Option<u64>,
        stopping: &Stopping,
    ) -> Result<(u64, Report)> {
        self.solve_with(method, preconditioning, (a, b, x), stopping, &mut |_, _| ControlFlow::Continue(()))
    }

    /// [`Registry::solve`] for A, b and x, with `progress` as in [`Solver::solve_with`](clinalg::solve::Solver::solve_with); it may read A and b.
    ///
    /// # Errors
    /// As [`Registry::solve`].
    pub fn solve_with(
        &self,
        method: Method,
        preconditioning: Preconditioning,
        (a, b, x): (u64, u64, Option<u64>),
        stopping: &Stopping,
        progress: Progress<'_>,
    ) -> Result<(u64, Report)> {
        let mut inputs = vec![Operand::new("a", a, Kind::SYSTEM), Operand::new("b", b, Kind::FULL)];
        if let Preconditioning::Inverse(inverse) = preconditioning {
            let on_team = self.info(a).is_ok_and(|info| info.kind == Kind::TeamMatrix);
            inputs.push(Operand::new(INVERSE, inverse, if on_team { Kind::TEAM_AMG } else { Kind::MATRIX }));
        }
        self.solve_into(x, ("b", b), |x| {
            self.call(&inputs, Some(Operand::new("x", x, Kind::FULL)), |inputs, output| {
                let Some(output) = output else { unreachable!("an output was named") };
                if inputs[0].kind() == Kind::TeamMatrix {
                    return typed_real!(inputs[0], "a", T => {
                        let a = inputs[0].expect_content::<Distributed<T>>();
                        let given = (inputs[1], inputs.get(2).copied());
                        team::solve((method, preconditioning), a, given, output, (stopping, progress))
                    });
                }
                typed!(inputs[0], T => {
                    let a = inputs[0].matrix::<T>("a")?;
                    let b = inputs[1].stored::<T>("b")?;
                    check_rows(check_square(&a)?, b)?;
                    if let Stored::Dense(b) = b && b.rows() > 1 && b.cols() > 1 {
                        let (context, n) = (b.as_vector().context(), b.rows());
                        let x = output.stored_mut::<T>("x")?.dense_mut("x")?;
                        let preconditioning = (preconditioning, shape_for(method));
                        let is_varying = method == Method::Cg && inputs.get(2).copied().map_or(Ok(false), varies)?;
                        let method = if is_varying { Method::FlexibleCg } else { method };
                        return with_preconditioner(preconditioning, &a, inputs.get(2).copied(), (context, n), |m| {
                            solve_columns((method, stopping), a.operator()?, m, b, x, progress)
                        });
                    }
                    let b = b.vector("b")?;
                    let x = output.stored_mut::<T>("x")?.vector_mut("x")?;
                    let (context, n) = (b.context(), b.len());
                    let preconditioning = (preconditioning, shape_for(method));
                    with_preconditioner(preconditioning, &a, inputs.get(2).copied(), (context, n), |m| {
                        solver_of(method, b, stopping)?.solve_with(a.operator()?, m, b, x, progress)
                    })
                })
            })
        })
    }

    /// Runs `solve` on the handle given, or on a new object of zeros like that of the handle `like`, which is released
    /// again if `solve` fails.
    pub(super) fn solve_into<R>(
        &self,
        given: Option<u64>,
        (argument, like): (&'static str, u64),
        solve: impl FnOnce(u64) -> Result<R>,
    ) -> Result<(u64, R)> {
        if let Some(handle) = given {
            return Ok((handle, solve(handle)?));
        }
        self.cell(&Operand::new(argument, like, Kind::FULL))?;
        let handle = self.copy(like, None)?;
        let solved = self.fill(handle, 0.0).and_then(|()| solve(handle));
        if solved.is_err() {
            self.release(handle, Kind::VALUES)?;
        }
        Ok((handle, solved?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_the_worst_residual_whatever_its_sign() {
        let of = |stop, residual: f64| Report::new(stop, vec![residual]);
        for nan in [f64::NAN, -f64::NAN] {
            let (other, nan) = (of(Stop::Diverged, 1e300), of(Stop::NotFinite, nan));
            assert!(is_worse(&nan, &other) && !is_worse(&other, &nan));
        }
        let (solved, not) = (of(Stop::Converged, 1.0), of(Stop::Stagnated, 0.5));
        assert!(is_worse(&not, &solved) && !is_worse(&solved, &not));
    }
}
