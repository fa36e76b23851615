//! Symmetry up to rounding.

use clinalg::{CsrParts, Real, Scalar};
use num_traits::{Float, Zero};

use crate::exit::Failure;

/// Units roundoff that an entry may differ from its mirror image by, relative to the larger of the two and to the diagonal:
/// what sums in another order leave.
const ASYMMETRY: f64 = 64.0;

/// Whether A equals its conjugate transpose up to rounding.
pub(super) fn is_symmetric<T: Scalar>(parts: &CsrParts<T>) -> Result<bool, Failure> {
    let mut transposed = parts.transpose()?;
    transposed.values.iter_mut().for_each(|value| *value = value.conj());
    if *parts == transposed {
        return Ok(true);
    }
    let diagonal: Vec<f64> = parts.diagonal().into_iter().map(|d| d.widen().modulus()).collect();
    let unit = ASYMMETRY * T::Real::epsilon().into_f64() / 2.0;
    let near = |i: usize, j: usize, a: T::Wide, b: T::Wide| {
        (a - b).modulus() <= unit * a.modulus().max(b.modulus()).max((diagonal[i] * diagonal[j]).sqrt())
    };
    let row = |parts: &CsrParts<T>, i: usize| -> Vec<(usize, T::Wide)> {
        let range = parts.offsets[i]..parts.offsets[i + 1];
        let values = parts.values[range.clone()].iter().map(|v| v.widen());
        parts.indices[range].iter().copied().zip(values).collect()
    };
    Ok((0..parts.rows).all(|i| {
        let (mut own, mut mirrored) = (row(parts, i), row(&transposed, i));
        own.sort_by_key(|entry| entry.0);
        mirrored.sort_by_key(|entry| entry.0);
        let (mut k, mut l) = (0, 0);
        let mut all = true;
        while all && (k < own.len() || l < mirrored.len()) {
            let (j, other) = (own.get(k).map_or(usize::MAX, |e| e.0), mirrored.get(l).map_or(usize::MAX, |e| e.0));
            let (a, b) = (
                if j <= other { own[k].1 } else { T::Wide::zero() },
                if other <= j { mirrored[l].1 } else { T::Wide::zero() },
            );
            all = near(i, j.min(other), a, b);
            k += usize::from(j <= other);
            l += usize::from(other <= j);
        }
        all
    }))
}
