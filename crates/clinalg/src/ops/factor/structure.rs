//! The structure of a dense matrix, and the factorisation that suits it.

use super::triangular::{Diagonal, Side, Triangle, solve_triangular};
use super::{Cholesky, Lu, Part, adjoint, condition, copy_part, least_squares, norm1};
use crate::matrix::Values;
use crate::ops::gemm::{Block, Transpose};
use crate::ops::{norm_inf, update};
use crate::{Dense, Error, Real, Result, Scalar};

/// What [`structure`] finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Structure {
    /// Square, zero above the diagonal.
    Lower,
    /// Square, zero below the diagonal.
    Upper,
    /// Equal to its conjugate transpose, with a positive diagonal.
    Hermitian,
    /// Square without any of these.
    Square,
    /// With other numbers of rows and columns.
    Rectangular,
}

/// The structure of `a`; a diagonal matrix counts as lower triangular, one that has a NaN or an infinite element as square. A few
/// passes over the matrix; waits for the device.
///
/// # Errors
/// [`Error::Allocation`] for a copy of `a`.
pub fn structure<T: Scalar>(a: &Dense<T>) -> Result<Structure> {
    let n = a.rows();
    if n != a.cols() {
        return Ok(Structure::Rectangular);
    }
    if n == 0 {
        return Ok(Structure::Square);
    }
    let mut copy = a.like()?;
    for (part, found) in [(Part::Lower { unit: false }, Structure::Lower), (Part::Upper, Structure::Upper)] {
        copy_part::<T>(a.context(), part, Block::of(a), Block::of(&copy))?;
        if is_same(a, &mut copy)? {
            return Ok(found);
        }
    }
    let positive = |d: &T| d.im().into_f64() == 0.0 && d.re().into_f64() > 0.0;
    if !a.diagonal()?.to_vec()?.iter().all(positive) {
        return Ok(Structure::Square);
    }
    Ok(if is_same(a, &mut adjoint(a)?)? { Structure::Hermitian } else { Structure::Square })
}

/// Whether b, which is lost, equals a.
fn is_same<T: Scalar>(a: &Dense<T>, b: &mut Dense<T>) -> Result<bool> {
    update(-T::one(), a, T::one(), b)?;
    Ok(norm_inf(&*b)?.into_f64() == 0.0)
}

/// What [`left_divide`] gives.
#[derive(Debug)]
pub struct DenseSolve<T: Scalar> {
    /// The solutions, one per column of B.
    pub x: Dense<T>,
    /// An estimate of the reciprocal condition number of a square A in the 1-norm, else `None`.
    pub reciprocal_condition: Option<f64>,
    /// The numerical rank of A.
    pub rank: usize,
    /// The tolerance of the rank, see [`least_squares`](super::least_squares); 0 for a square A.
    pub tolerance: f64,
}

/// X with A X = B by the method that suits the structure of A: substitution for a triangle, Cholesky for a Hermitian positive definite
/// matrix, LU for other square ones; [`least_squares`](super::least_squares) for other matrices. If the estimated reciprocal
/// condition number is below machine epsilon, a warning is logged through the crate `log`.
///
/// # Errors
/// [`Error::Shape`] unless B has as many rows as A; [`Error::Singular`] for a square A; [`Error::Context`]; [`Error::Allocation`].
pub fn left_divide<T: Scalar>(a: &Dense<T>, b: &Dense<T>) -> Result<DenseSolve<T>> {
    let triangle = match structure(a)? {
        Structure::Rectangular => {
            let found = least_squares(a, b)?;
            let (rank, tolerance) = (found.rank, found.tolerance);
            return Ok(DenseSolve { x: found.x, reciprocal_condition: None, rank, tolerance });
        }
        Structure::Square => return by_lu(a, b),
        Structure::Hermitian => {
            return match Cholesky::new(a.try_clone()?) {
                Ok(factor) => with_condition(a, factor.solve(b)?, |_, x| factor.solve_in_place(x)),
                Err(Error::NotPositiveDefinite { .. }) => by_lu(a, b),
                Err(error) => Err(error),
            };
        }
        Structure::Lower => Triangle::Lower,
        Structure::Upper => Triangle::Upper,
    };
    let mut x = b.try_clone()?;
    solve_triangular(Side::Left, triangle, Transpose::No, Diagonal::Stored, a, &mut x)?;
    with_condition(a, x, |op, x| solve_triangular(Side::Left, triangle, op, Diagonal::Stored, a, x))
}

fn by_lu<T: Scalar>(a: &Dense<T>, b: &Dense<T>) -> Result<DenseSolve<T>> {
    let lu = Lu::new(a.try_clone()?)?;
    with_condition(a, lu.solve(b)?, |op, x| lu.solve_op(op, x))
}

/// The solution of a square system, with the condition number of its matrix.
fn with_condition<T: Scalar>(
    a: &Dense<T>,
    x: Dense<T>,
    solve: impl Fn(Transpose, &mut Dense<T>) -> Result<()>,
) -> Result<DenseSolve<T>> {
    let reciprocal = condition::estimate(a.context(), a.rows(), norm1(a)?, solve)?;
    condition::warn_if_ill_conditioned::<T>(reciprocal);
    Ok(DenseSolve { x, reciprocal_condition: Some(reciprocal), rank: a.rows(), tolerance: 0.0 })
}
