//! Sparse matrices made of sparse matrices.

use clinalg::Error;
use clinalg::ops::Span;
use clinalg_handles::Registry;

use crate::object::{ClinalgComplex, ClinalgHandle, upload};
use crate::slice;
use crate::status::{ClinalgStatus, Fault, guard};

/// A B of two sparse matrices as a new one. Entries that cancel stay as zeros: see `clinalg_sparse_drop_zeros`.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sparse_multiply(
    a: ClinalgHandle,
    b: ClinalgHandle,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |_| Ok(Registry::global().sparse_multiply(a, b)?))
}

/// alpha A + beta B of two sparse matrices of one shape as a new one, with the positions of either. For real matrices the imaginary parts
/// of alpha and beta must be 0. Entries that cancel stay as zeros: see `clinalg_sparse_drop_zeros`.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sparse_add(
    alpha: ClinalgComplex,
    a: ClinalgHandle,
    beta: ClinalgComplex,
    b: ClinalgHandle,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |_| Ok(Registry::global().sparse_add(alpha, a, beta, b)?))
}

/// The `row_count` x `col_count` block of a sparse matrix from row `first_row` and column `first_col` on, as a new one.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sparse_range(
    a: ClinalgHandle,
    first_row: usize,
    row_count: usize,
    first_col: usize,
    col_count: usize,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |_| {
        let rows = Span::Range { first: first_row, step: 1, count: row_count };
        let cols = Span::Range { first: first_col, step: 1, count: col_count };
        Ok(Registry::global().sparse_part(a, Some(rows), Some(cols))?)
    })
}

/// The rows and columns of these numbers (0-based) of a sparse matrix, in this order, as a new one; numbers may occur several times. Null
/// instead of `rows` or `cols` takes all.
///
/// # Safety
/// `rows` and `cols` are null or name `row_count` and `col_count` values; `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sparse_select(
    a: ClinalgHandle,
    rows: *const usize,
    row_count: usize,
    cols: *const usize,
    col_count: usize,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |_| {
        // SAFETY: by the contract above.
        let (row_list, col_list) = unsafe {
            let list = |argument, pointer: *const usize, count| match pointer.is_null() {
                true => Ok::<_, Fault>(None),
                false => slice(argument, pointer, count).map(Some),
            };
            (list("rows", rows, row_count)?, list("cols", cols, col_count)?)
        };
        Ok(Registry::global().sparse_part(a, row_list.map(Span::of), col_list.map(Span::of))?)
    })
}

/// A number of a diagonal; infinities leave a side open.
fn diagonal(argument: &'static str, number: f64) -> Result<i64, Fault> {
    if number.is_nan() || (number.is_finite() && number.fract() != 0.0) {
        return Err(Error::value(argument, "a whole number, -INFINITY or INFINITY", number).into());
    }
    // The conversion saturates.
    Ok(number as i64)
}

/// The entries of a sparse matrix with low <= column - row <= high as a new one: `(-INFINITY, 0)` is the lower triangle, `(0, INFINITY)` the
/// upper one, `(0, 0)` the diagonal as a matrix.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sparse_band(
    a: ClinalgHandle,
    low: f64,
    high: f64,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |_| Ok(Registry::global().sparse_band(a, diagonal("low", low)?, diagonal("high", high)?)?))
}

/// Removes the stored zeros of a sparse matrix, in place. `entries`, if not null, gets the number of entries that are left.
/// `clinalg_array_fill` with 1 afterwards makes the matrix its own sparsity pattern of ones.
///
/// # Safety
/// `entries` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sparse_drop_zeros(a: ClinalgHandle, entries: *mut usize) -> ClinalgStatus {
    guard(|| {
        let left = Registry::global().sparse_drop_zeros(a)?;
        if !entries.is_null() {
            // SAFETY: by the contract above.
            unsafe { entries.write(left) };
        }
        Ok(())
    })
}

/// The entries of a sparse matrix that are not zero, column by column, as a new vector.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sparse_nonzeros(a: ClinalgHandle, handle: *mut ClinalgHandle) -> ClinalgStatus {
    upload(handle, |_| Ok(Registry::global().nonzeros(a)?))
}
