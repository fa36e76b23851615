//! The structure of a dense matrix, and the factorisation that suits it.

use super::triangular::{Diagonal, Side, Triangle, solve_triangular};
use super::{Cholesky, Part, Qr, copy_part, solve};
use crate::matrix::Values;
use crate::ops::gemm::{Block, Transpose};
use crate::ops::{conj, norm_inf, transpose, update};
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
    transpose((n, n), a.as_vector(), copy.as_vector_mut())?;
    if T::IS_COMPLEX {
        let transposed = copy.try_clone()?;
        conj(&transposed, &mut copy)?;
    }
    Ok(if is_same(a, &mut copy)? { Structure::Hermitian } else { Structure::Square })
}

/// Whether b, which is lost, equals a.
fn is_same<T: Scalar>(a: &Dense<T>, b: &mut Dense<T>) -> Result<bool> {
    update(-T::one(), a, T::one(), b)?;
    Ok(norm_inf(&*b)?.into_f64() == 0.0)
}

/// X with A X = B by the method that suits the structure of A: substitution for a triangle, Cholesky for a Hermitian positive definite
/// matrix, LU for other square ones; least squares by QR for more rows than columns.
///
/// # Errors
/// [`Error::Shape`] unless A has at least as many rows as columns and B as many rows as A; [`Error::Singular`]; [`Error::Context`];
/// [`Error::Allocation`].
pub fn left_divide<T: Scalar>(a: &Dense<T>, b: &Dense<T>) -> Result<Dense<T>> {
    let triangle = match structure(a)? {
        Structure::Rectangular => return Qr::new(a.try_clone()?)?.solve(b),
        Structure::Square => return solve(a, b),
        Structure::Hermitian => {
            return match Cholesky::new(a.try_clone()?) {
                Ok(factor) => factor.solve(b),
                Err(Error::NotPositiveDefinite { .. }) => solve(a, b),
                Err(error) => Err(error),
            };
        }
        Structure::Lower => Triangle::Lower,
        Structure::Upper => Triangle::Upper,
    };
    let mut x = b.try_clone()?;
    solve_triangular(Side::Left, triangle, Transpose::No, Diagonal::Stored, a, &mut x)?;
    Ok(x)
}
