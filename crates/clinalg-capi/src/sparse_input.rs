//! Sparse matrices from coordinates and from indices of 32 bits, other values in their positions, MatrixMarket files.

use std::ffi::{c_char, c_void};

use clinalg::{Complex, Error, Scalar};
use clinalg_handles::{Registry, ScalarType};

use crate::object::{ClinalgHandle, scalar_of, typed, upload};
use crate::slice;
use crate::status::{ClinalgStatus, Fault, guard};

/// Offsets or indices as the library counts; a negative one is an error.
fn widened(argument: &'static str, values: &[i32]) -> Result<Vec<usize>, Fault> {
    let wide = |(position, &value): (usize, &i32)| {
        usize::try_from(value).map_err(|_| {
            let expected = format!("non-negative numbers; {value} is negative");
            Fault::Library(Error::Index { argument, position, index: u64::from(value.unsigned_abs()), expected })
        })
    };
    values.iter().enumerate().map(wide).collect()
}

/// Offsets and indices, widened, and values.
type Compressed<'a, T> = (Vec<usize>, Vec<usize>, &'a [T]);

/// Compressed storage of `count` rows or columns with indices of 32 bits.
///
/// # Safety
/// `offsets` is null or names `count + 1` values, the others as many as the last of these says.
unsafe fn compressed_i32<'a, T>(
    count: usize,
    offsets: *const i32,
    indices: *const i32,
    values: *const T,
) -> Result<Compressed<'a, T>, Fault> {
    let length = count.checked_add(1).ok_or_else(|| crate::too_many("offsets"))?;
    // SAFETY: by the contract above.
    let offsets = widened("offsets", unsafe { slice("offsets", offsets, length)? })?;
    let entries = offsets[count];
    // SAFETY: by the contract above.
    let (indices, values) = unsafe { (slice("indices", indices, entries)?, slice("values", values, entries)?) };
    Ok((offsets, widened("indices", indices)?, values))
}

/// As `clinalg_sparse_from_csr` with offsets and indices of 32 bits.
///
/// # Safety
/// As `clinalg_sparse_from_csr`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sparse_from_csr_i32(
    precision: u32,
    rows: usize,
    cols: usize,
    offsets: *const i32,
    indices: *const i32,
    values: *const c_void,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |context| {
        typed!(precision, T => {
            // SAFETY: by the contract above.
            let (offsets, indices, values) = unsafe { compressed_i32(rows, offsets, indices, values.cast::<T>())? };
            Ok(Registry::global().upload_csr(context, (rows, cols), &offsets, &indices, values)?)
        })
    })
}

/// As `clinalg_sparse_from_csc` with offsets and indices of 32 bits.
///
/// # Safety
/// As `clinalg_sparse_from_csc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sparse_from_csc_i32(
    precision: u32,
    rows: usize,
    cols: usize,
    offsets: *const i32,
    indices: *const i32,
    values: *const c_void,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |context| {
        typed!(precision, T => {
            // SAFETY: by the contract above.
            let (offsets, indices, values) = unsafe { compressed_i32(cols, offsets, indices, values.cast::<T>())? };
            Ok(Registry::global().upload_csc(context, (rows, cols), &offsets, &indices, values)?)
        })
    })
}

/// A sparse matrix of `rows` and `cols` from `entries` coordinates in any order: `values[k]` at row `row_indices[k]` and column
/// `col_indices[k]`, 0-based. Entries at the same position are summed, as the assembly of finite elements requires. The
/// matrix remembers the order, in four bytes of host memory per entry given, for `clinalg_sparse_write_coo`.
///
/// # Safety
/// The arrays name `entries` values; `handle` is null or valid for a write.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no slices")]
pub unsafe extern "C" fn clinalg_sparse_from_coo(
    precision: u32,
    rows: usize,
    cols: usize,
    entries: usize,
    row_indices: *const usize,
    col_indices: *const usize,
    values: *const c_void,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    let indices = || unsafe {
        Ok((slice("row_indices", row_indices, entries)?.to_vec(), slice("col_indices", col_indices, entries)?.to_vec()))
    };
    // SAFETY: by the contract above.
    unsafe { coordinates(precision, (rows, cols), entries, indices, values, handle) }
}

/// As `clinalg_sparse_from_coo` with indices of 32 bits.
///
/// # Safety
/// As `clinalg_sparse_from_coo`.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no slices")]
pub unsafe extern "C" fn clinalg_sparse_from_coo_i32(
    precision: u32,
    rows: usize,
    cols: usize,
    entries: usize,
    row_indices: *const i32,
    col_indices: *const i32,
    values: *const c_void,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    let indices = || unsafe {
        let (rows, cols) = (slice("row_indices", row_indices, entries)?, slice("col_indices", col_indices, entries)?);
        Ok((widened("row_indices", rows)?, widened("col_indices", cols)?))
    };
    // SAFETY: by the contract above.
    unsafe { coordinates(precision, (rows, cols), entries, indices, values, handle) }
}

/// # Safety
/// `values` is null or names `entries` values of the type `precision`.
unsafe fn coordinates(
    precision: u32,
    (rows, cols): (usize, usize),
    entries: usize,
    indices: impl FnOnce() -> Result<(Vec<usize>, Vec<usize>), Fault>,
    values: *const c_void,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    fn triplets<T: Scalar>(
        shape: (usize, usize),
        (rows, cols): (Vec<usize>, Vec<usize>),
        values: &[T],
    ) -> Result<Vec<(usize, usize, T)>, Fault> {
        for (argument, limit, indices) in [("row_indices", shape.0, &rows), ("col_indices", shape.1, &cols)] {
            if let Some(position) = indices.iter().position(|&index| index >= limit) {
                let expected = format!("numbers below {limit}");
                return Err(Error::Index { argument, position, index: indices[position] as u64, expected }.into());
            }
        }
        Ok(rows.into_iter().zip(cols).zip(values).map(|((i, j), &value)| (i, j, value)).collect())
    }
    upload(handle, |context| {
        typed!(precision, T => {
            // SAFETY: by the contract above.
            let values = unsafe { slice("values", values.cast::<T>(), entries)? };
            let triplets = triplets((rows, cols), indices()?, values)?;
            Ok(Registry::global().upload_triplets(context, (rows, cols), &triplets)?)
        })
    })
}

/// Replaces the values of a sparse matrix and keeps their positions: `count` values, as many as the matrix has entries, row by row with
/// ascending columns. That is the order of the arrays of `clinalg_sparse_from_csr` if they were sorted and without duplicates. `precision` must be
/// that of the object. `clinalg_amg_refill` takes the matrix afterwards.
///
/// # Safety
/// `values` names `count` values of the type `precision`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sparse_write(
    a: ClinalgHandle,
    precision: u32,
    values: *const c_void,
    count: usize,
) -> ClinalgStatus {
    guard(|| {
        typed!(precision, T => {
            // SAFETY: by the contract above.
            let values = unsafe { slice("values", values.cast::<T>(), count)? };
            Ok(Registry::global().sparse_write(a, values)?)
        })
    })
}

/// Replaces the values of a sparse matrix from coordinates and keeps their positions: `count` values, as many and in the
/// same order as `clinalg_sparse_from_coo` was given; those of one position are summed in that order. Copies of the
/// matrix take them as well. Matrices that were made otherwise, or whose zeros `clinalg_sparse_drop_zeros` has removed,
/// are an error: use `clinalg_sparse_write`. `precision` must be that of the object. A failed call does not change the
/// matrix.
///
/// # Safety
/// `values` names `count` values of the type `precision`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sparse_write_coo(
    a: ClinalgHandle,
    precision: u32,
    values: *const c_void,
    count: usize,
) -> ClinalgStatus {
    guard(|| {
        typed!(precision, T => {
            // SAFETY: by the contract above.
            let values = unsafe { slice("values", values.cast::<T>(), count)? };
            Ok(Registry::global().sparse_write_triplets(a, values)?)
        })
    })
}

/// Writes an object to a MatrixMarket file: a coordinate file of a sparse or band matrix, an array file of a vector or dense matrix. A
/// file that exists is replaced.
///
/// # Safety
/// `path` is null or a path that ends in zero, of any bytes on Unix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_matrix_market_write(handle: ClinalgHandle, path: *const c_char) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let path = unsafe { crate::path("path", path)? };
        Ok(Registry::global().write_matrix_market(handle, path)?)
    })
}
