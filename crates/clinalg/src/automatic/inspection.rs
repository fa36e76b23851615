//! What the entries of a matrix on the host show, for matrices that are distributed over a team.

use num_traits::Zero;

use crate::matrix::Inspection;
use crate::precond::{is_hermitian, sums_to_zero};
use crate::{CsrParts, Real, Result, Scalar};

/// The same as [`Inspection::of`] for a matrix on a device, in double precision.
pub(super) fn inspect<T: Scalar>(parts: &CsrParts<T>) -> Result<Inspection> {
    let mut found = Inspection::empty(parts.rows, parts.cols, parts.nnz());
    found.hermitian = is_hermitian(parts)?;
    let (mut smallest, mut largest) = (f64::INFINITY, 0.0_f64);
    let mut has_entry = vec![false; parts.cols];
    for i in 0..parts.rows {
        let (mut own, mut sum, mut is_zero) = (T::Wide::zero(), 0.0, true);
        for (j, value) in parts.row(i) {
            if !value.has_finite_parts() {
                found.first_not_finite.get_or_insert((i, j));
            }
            has_entry[j] |= !value.is_zero();
            is_zero &= value.is_zero();
            let value = value.widen();
            if i == j {
                own = value;
            } else {
                sum += value.modulus();
                found.off_diagonal += 1;
                found.nonpositive_off_diagonal += usize::from(value.re().into_f64() <= 0.0);
            }
        }
        found.zero_rows += usize::from(is_zero);
        found.zero_sum_rows += usize::from(sums_to_zero(parts, i));
        found.infinity_norm = f64::max(found.infinity_norm, sum + own.modulus());
        if i >= parts.cols {
            continue;
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
    found.zero_columns = has_entry.iter().filter(|has_entry| !**has_entry).count();
    Ok(found)
}
