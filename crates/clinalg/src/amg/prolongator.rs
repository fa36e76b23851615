//! Near-null spaces and the tentative prolongator.

use super::aggregate::Aggregates;
use crate::matrix::{Entries, EntriesRef, Structure};
use crate::ops::{items, sparse};
use crate::runtime::kernels::amg_setup::Program;
use crate::{Buffer, Context, Error, Real, Result, Scalar};

/// Vectors that A nearly maps to zero, on one level.
pub(super) struct NearNull<T: Real> {
    /// Rows per node.
    pub(super) block: usize,
    /// How many vectors.
    pub(super) count: usize,
    /// Row by row.
    pub(super) values: Buffer<T>,
}

impl<T: Real> NearNull<T> {
    /// The constant vector of each unknown of a node.
    pub(super) fn constant(context: &Context, rows: usize, block: usize) -> Result<NearNull<T>> {
        if block == 1 {
            let mut values = Buffer::uninit(context, rows)?;
            values.fill(T::one())?;
            return Ok(NearNull { block, count: 1, values });
        }
        let unit = |k: usize| if k / block % block == k % block { T::one() } else { T::zero() };
        let values: Vec<T> = (0..rows * block).map(unit).collect();
        Ok(NearNull { block, count: block, values: Buffer::from_slice(context, &values)? })
    }

    /// `count` vectors of a matrix of `rows` rows, one after the other, with `block` unknowns per node. A complex vector v is two of the real
    /// form, v and i v.
    pub(super) fn given<S: Scalar<Real = T>>(
        context: &Context,
        rows: usize,
        block: usize,
        vectors: &[S],
        count: usize,
    ) -> Result<NearNull<T>> {
        if count == 0 || count > 64 {
            return Err(Error::value("count", "1 to 64 near-null vectors", count));
        }
        crate::error::check_length("vectors", rows.saturating_mul(count), vectors.len())?;
        for (k, vector) in vectors.chunks(rows.max(1)).enumerate() {
            let wrong = if vector.iter().any(|v| !v.has_finite_parts()) {
                "contains a NaN or an infinity"
            } else if vector.iter().all(|&v| v == S::zero()) {
                "is zero"
            } else {
                continue;
            };
            return Err(Error::unsuitable("vectors", format!("vector {} (counted from 1) {wrong}", k + 1)));
        }
        let mut values = Vec::with_capacity(vectors.len() * S::COMPONENTS * S::COMPONENTS);
        for i in 0..rows {
            let row = (0..count).map(|k| vectors[k * rows + i]);
            match S::IS_COMPLEX {
                false => values.extend(row.map(S::re)),
                true => {
                    values.extend(row.clone().flat_map(|v| [v.re(), -v.im()]));
                    values.extend(row.flat_map(|v| [v.im(), v.re()]));
                }
            }
        }
        let (block, count) = (block * S::COMPONENTS, count * S::COMPONENTS);
        Ok(NearNull { block, count, values: Buffer::from_slice(context, &values)? })
    }
}

/// The tentative prolongator: its columns are the near-null vectors restricted to each aggregate and orthonormalised there.
pub(super) struct Tentative<T: Real> {
    pub(super) matrix: Entries<T>,
    /// The near-null vectors of the coarse level.
    pub(super) coarse: NearNull<T>,
}

impl<T: Real> Tentative<T> {
    pub(super) fn new(aggregates: &Aggregates, near: &NearNull<T>) -> Result<Tentative<T>> {
        let (nodes, groups) = (aggregates.of.len(), aggregates.count);
        let NearNull { block, count: vectors, values: given } = near;
        let (rows, block32, vectors32) = (nodes * block, *block as u32, *vectors as u32);
        let context = given.context();
        let program = Program::<T>::new();
        let entries = |rows: usize, block: u32, vectors: u32, cols: usize| -> Result<Entries<T>> {
            let range = items(context, rows);
            let mut count = Buffer::<u32>::uninit(context, rows)?;
            program.count_tentative(context, range, rows, block, vectors, &aggregates.of, &mut count)?;
            let (offset, nnz) = sparse::scan::<T>(context, &count)?;
            let mut column = Buffer::uninit(context, nnz)?;
            program.fill_tentative(context, range, rows, block, vectors, &aggregates.of, &offset, &mut column)?;
            let structure = Structure { rows, cols, nnz, offset, column };
            Ok(Entries { structure, values: Buffer::zeroed(context, nnz)? })
        };
        // The nodes of each aggregate.
        let list = EntriesRef::from(&entries(nodes, 1, 1, groups)?).transposed()?;
        let mut p = entries(rows, block32, vectors32, groups * vectors)?;
        let mut coarse = Buffer::<T>::uninit(context, groups * vectors * vectors)?;
        program.orthonormalise(
            context,
            items(context, groups),
            groups,
            block32,
            vectors32,
            &list.structure.offset,
            &list.structure.column,
            given,
            &p.structure.offset,
            &mut p.values,
            &mut coarse,
        )?;
        let coarse = NearNull { block: *vectors, count: *vectors, values: coarse };
        Ok(Tentative { matrix: p, coarse })
    }
}

/// The rigid body modes, one vector after the other: 3 in the plane, 6 in space. `coordinates` has `dim` values per node; unknowns are
/// the displacements of a node, one after the other. Positions are taken relative to their mean, in units of the largest distance from it.
///
/// # Errors
/// [`Error::Value`] unless `dim` is 2 or 3 and all coordinates are finite; [`Error::Length`] unless there are `dim` for each node.
///
/// ```
/// // Two nodes at (0, 0) and (2, 0).
/// let motions = clinalg::amg::rigid_motions(&[0.0, 0.0, 2.0, 0.0], 2)?;
/// assert_eq!(motions[8..], [0.0, -1.0, 0.0, 1.0]);
/// # Ok::<(), clinalg::Error>(())
/// ```
pub fn rigid_motions(coordinates: &[f64], dim: usize) -> Result<Vec<f64>> {
    if !(2..=3).contains(&dim) {
        return Err(Error::value("dim", "2 or 3", dim));
    }
    if !coordinates.len().is_multiple_of(dim) {
        let expected = coordinates.len().next_multiple_of(dim);
        return Err(Error::Length { argument: "coordinates", expected, got: coordinates.len() });
    }
    if let Some(wrong) = coordinates.iter().find(|x| !x.is_finite()) {
        return Err(Error::value("coordinates", "finite numbers", wrong));
    }
    let nodes = coordinates.len() / dim;
    let mean: Vec<f64> =
        (0..dim).map(|d| coordinates.iter().skip(d).step_by(dim).sum::<f64>() / nodes.max(1) as f64).collect();
    let centred: Vec<f64> = coordinates.iter().enumerate().map(|(k, x)| x - mean[k % dim]).collect();
    let size = centred.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let size = if size > 0.0 { size } else { 1.0 };
    let mut motions = Vec::new();
    for d in 0..dim {
        motions.extend((0..nodes * dim).map(|k| if k % dim == d { 1.0 } else { 0.0 }));
    }
    // Rotations in the plane of each pair of axes.
    for (a, b) in [(0, 1), (1, 2), (2, 0)].into_iter().take(if dim == 2 { 1 } else { 3 }) {
        motions.extend((0..nodes * dim).map(|k| {
            let at = k / dim * dim;
            match k % dim {
                d if d == a => -centred[at + b] / size,
                d if d == b => centred[at + a] / size,
                _ => 0.0,
            }
        }));
    }
    Ok(motions)
}
