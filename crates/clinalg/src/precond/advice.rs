//! What the entries of a sparse matrix and its factors show about preconditioners, and factors to fall back on.

use num_traits::{Float, Zero};

use super::{Ilu, IluKind, IluParams, Matching};
use crate::matrix::host::unmatched_row;
use crate::ops::reduce::largest;
use crate::solve::Preconditioner;
use crate::{Context, CsrParts, Error, Real, Result, Scalar, Vector};

/// Units of roundoff by which an entry may differ from its mirror image, relative to the larger of the two and to the diagonal:
/// what summation in another order causes.
const ASYMMETRY: f64 = 64.0;

/// Block sizes that are tried: elasticity in two and three dimensions, shells.
const NODES: [usize; 3] = [6, 3, 2];
/// Groups of rows that are inspected first.
const PROBED_GROUPS: usize = 64;
/// Blocks count as dense if entries take at least this fraction of their positions. (Elements whose zeros are not stored: 0.78; a
/// 5-point stencil: 0.5.)
const DENSE: f64 = 0.7;
/// Blocks that begin at other rows must have at most this fraction of that density: those of a band would be as dense.
const DENSER: f64 = 0.85;

/// How many unknowns a node of the matrix has, where they are numbered node by node: its entries then lie in small dense blocks, and blocks that
/// begin at other rows are not dense. `None` where there are no such blocks. For most other matrices a few rows show this.
pub fn unknowns_per_node<T: Scalar>(parts: &CsrParts<T>) -> Option<usize> {
    NODES.into_iter().find(|&size| {
        let count = parts.rows / size;
        if !parts.rows.is_multiple_of(size) || count < 2 || parts.rows != parts.cols {
            return false;
        }
        let step = (count / PROBED_GROUPS).max(1);
        let own = fill(parts, size, 0, step);
        own >= DENSE
            && (1..size).all(|first| fill(parts, size, first, step) <= DENSER * own)
            && fill(parts, size, 0, 1) >= DENSE
    })
}

/// The fraction of the positions in blocks of `size` that entries take, over every `step`-th group of rows from row `first` on.
fn fill<T: Scalar>(parts: &CsrParts<T>, size: usize, first: usize, step: usize) -> f64 {
    let (mut entries, mut room) = (0, 0);
    let mut blocks = Vec::new();
    for start in (first..).step_by(step * size).take_while(|start| start + size <= parts.rows) {
        let range = parts.offsets[start]..parts.offsets[start + size];
        blocks.clear();
        blocks.extend(parts.indices[range.clone()].iter().map(|&j| (j + size - first) / size));
        blocks.sort_unstable();
        blocks.dedup();
        entries += range.len();
        room += blocks.len() * size * size;
    }
    entries as f64 / room.max(1) as f64
}

/// Whether a matrix equals its conjugate transpose up to rounding: entries may differ from their mirror images by 64 units of roundoff, relative to the larger of
/// the two and to the diagonal. An entry that is infinite has to equal its mirror image.
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape), [`Error::Value`](crate::Error::Value) where offsets and indices are not those of a matrix.
pub fn is_hermitian<T: Scalar>(parts: &CsrParts<T>) -> Result<bool> {
    if parts.rows != parts.cols {
        return Ok(false);
    }
    let mut transposed = parts.transpose()?;
    transposed.values.iter_mut().for_each(|value| *value = value.conj());
    if *parts == transposed {
        return Ok(true);
    }
    let diagonal: Vec<f64> = parts.diagonal().into_iter().map(|d| d.widen().modulus()).collect();
    let unit = ASYMMETRY * T::Real::epsilon().into_f64() / 2.0;
    let near = |i: usize, j: usize, a: T::Wide, b: T::Wide| {
        let size = a.modulus().max(b.modulus()).max((diagonal[i] * diagonal[j]).sqrt());
        // Infinite entries are near to none.
        a.has_finite_parts() && b.has_finite_parts() && (a - b).modulus() <= unit * size
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

/// Number of entries of a matrix up to which the host computes factors with 40 times as many within seconds.
const FEW_ENTRIES: usize = 200_000;

/// The last thresholds of [`fallback_factors`].
fn last_threshold(nnz: usize) -> IluKind {
    if nnz <= FEW_ENTRIES { IluKind::Threshold { drop: 1e-8, fill: 40.0 } } else { IluKind::threshold() }
}

/// Factors to fall back on where complete ones take too many operations or too much memory: ILUT with the thresholds of `params`,
/// tightened until the factors are nearly exact if A has few entries. Indefinite matrices need that, since dropping entries can make
/// their factors nearly singular. Pivots that are zero up to rounding are replaced.
///
/// # Errors
/// Those of [`Ilu::from_parts`].
pub fn fallback_factors<T: Scalar>(context: &Context, parts: &CsrParts<T>, params: &IluParams) -> Result<Ilu<T>> {
    let kind = match (params.kind, last_threshold(parts.nnz())) {
        (IluKind::Threshold { drop, fill }, IluKind::Threshold { drop: most, fill: least }) => {
            IluKind::Threshold { drop: drop.min(most), fill: fill.max(least) }
        }
        (_, last) => last,
    };
    // The rows of a structurally singular matrix cannot be matched; its zero pivots are replaced.
    let matching = if unmatched_row(parts)?.is_none() { params.matching } else { Matching::Never };
    Ilu::from_parts(context, parts, &params.kind(kind).sweeps(0).replaces_pivots(true).matching(matching))
}

/// Whether another preconditioner may work after this error of one: it concerns the values of the matrix or memory.
pub fn is_unsuited(error: &Error) -> bool {
    match error {
        Error::Rank { source, .. } => is_unsuited(source),
        Error::Value { .. } | Error::Unsuitable { .. } | Error::Singular { .. } | Error::Allocation { .. } => true,
        _ => false,
    }
}

/// |M^-1 e| |A| in maximum norms, where e is the vector of ones, if it is so large that rounding leaves no correct digits: a lower bound of |M^-1| |A| (Chow and Saad, J. Comput.
/// Appl. Math. 86 (1997) 387-414, section 3). `None` for stable factors; `infinity_norm` is |A|, the largest sum of the moduli of a row.
///
/// # Errors
/// Those of the preconditioner and of the device.
pub fn instability<T: Scalar>(m: &mut dyn Preconditioner<T>, infinity_norm: f64) -> Result<Option<f64>> {
    let ones = Vector::filled(m.context(), m.size(), T::one())?;
    let mut z = Vector::zeros(m.context(), m.size())?;
    m.apply(&ones, &mut z)?;
    let gain = infinity_norm * largest(z.to_vec()?.into_iter().map(|v| v.widen().modulus()));
    let bound = T::Real::epsilon().into_f64().recip();
    Ok((gain > bound || gain.is_nan()).then_some(gain))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix with a block of `size` at each of these positions, without the entries for which `is_left_out` holds.
    fn of_nodes(
        nodes: usize,
        size: usize,
        near: &[isize],
        is_left_out: impl Fn(usize, usize) -> bool,
    ) -> CsrParts<f64> {
        let mut entries = Vec::new();
        for node in 0..nodes {
            for other in near.iter().filter_map(|step| node.checked_add_signed(*step)).filter(|&other| other < nodes) {
                for k in 0..size * size {
                    let (i, j) = (k / size, k % size);
                    if node == other || !is_left_out(i, j) {
                        entries.push((node * size + i, other * size + j, 1.0));
                    }
                }
            }
        }
        CsrParts::from_triplets(nodes * size, nodes * size, &entries).unwrap()
    }

    #[test]
    fn unknowns_of_nodes_are_found_by_their_blocks() {
        let plane = [-31, -30, -29, -1, 0, 1, 29, 30, 31];
        let found = |size| unknowns_per_node(&of_nodes(900, size, &plane, |_, _| false));
        assert_eq!([1, 2, 3, 6].map(found), [None, Some(2), Some(3), Some(6)]);
        let found = |near: &[isize]| unknowns_per_node(&of_nodes(900, 1, near, |_, _| false));
        // A stencil, bands whose blocks are as dense wherever they begin, and a full matrix.
        assert_eq!(found(&[-30, -1, 0, 1, 30]), None);
        assert_eq!(found(&[-2, -1, 0, 1, 2]), None);
        assert_eq!(found(&(-20..=20).collect::<Vec<_>>()), None);
        assert_eq!(unknowns_per_node(&of_nodes(60, 1, &(-60..60).collect::<Vec<_>>(), |_, _| false)), None);
        // Neighbours that couple equal components only do not form dense blocks.
        assert_eq!(unknowns_per_node(&of_nodes(900, 2, &plane, |i, j| i != j)), None);
        // Some zeros are not stored.
        assert_eq!(unknowns_per_node(&of_nodes(900, 3, &plane, |i, j| i == 0 && j == 2)), Some(3));
        assert_eq!(unknowns_per_node(&of_nodes(1, 2, &[0], |_, _| false)), None);
    }
}
