//! What the entries of a sparse matrix show.

use num_traits::Zero;

use crate::precond::is_hermitian;
use crate::{CsrParts, Real, Result, Scalar};

/// What an inspection of the entries of a sparse matrix found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Inspection {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Number of stored entries.
    pub nnz: usize,
    /// Whether all entries are finite.
    pub is_finite: bool,
    /// Whether it equals its conjugate transpose up to rounding.
    pub hermitian: bool,
    /// Diagonal entries that are zero or not stored.
    pub zero_diagonal: usize,
    /// Diagonal entries with a negative real part.
    pub negative_diagonal: usize,
    /// Diagonal entries with a positive real part.
    pub positive_diagonal: usize,
    /// The largest modulus of a diagonal entry over the smallest nonzero one; 1 where there is none.
    pub spread: f64,
    /// The largest ratio of the sum of the off-diagonal moduli of a row to the modulus of its diagonal entry.
    pub dominance: f64,
    /// Off-diagonal entries.
    pub off_diagonal: usize,
    /// Those of them whose real part is not positive.
    pub nonpositive_off_diagonal: usize,
    /// Whether there may be rows or columns that have only zeros.
    pub has_zero_lines: bool,
}

impl Inspection {
    /// From the host form of a matrix.
    pub(super) fn of_parts<T: Scalar>(parts: &CsrParts<T>) -> Result<Inspection> {
        let mut found = Inspection {
            rows: parts.rows,
            cols: parts.cols,
            nnz: parts.nnz(),
            is_finite: true,
            hermitian: is_hermitian(parts)?,
            zero_diagonal: 0,
            negative_diagonal: 0,
            positive_diagonal: 0,
            spread: 1.0,
            dominance: 0.0,
            off_diagonal: 0,
            nonpositive_off_diagonal: 0,
            has_zero_lines: true,
        };
        let (mut smallest, mut largest) = (f64::INFINITY, 0.0_f64);
        for i in 0..parts.rows {
            let (mut own, mut sum) = (T::Wide::zero(), 0.0);
            for (j, value) in parts.row(i) {
                found.is_finite &= value.has_finite_parts();
                let value = value.widen();
                if i == j {
                    own = value;
                } else {
                    sum += value.modulus();
                    found.off_diagonal += 1;
                    found.nonpositive_off_diagonal += usize::from(value.re().into_f64() <= 0.0);
                }
            }
            found.zero_diagonal += usize::from(own.is_zero());
            found.negative_diagonal += usize::from(own.re() < 0.0);
            found.positive_diagonal += usize::from(own.re() > 0.0);
            if !own.is_zero() {
                (smallest, largest) = (smallest.min(own.modulus()), largest.max(own.modulus()));
                found.dominance = f64::max(found.dominance, sum / own.modulus());
            }
        }
        if largest > 0.0 {
            found.spread = largest / smallest;
        }
        Ok(found)
    }
}
