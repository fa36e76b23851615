//! New objects from others: transposes, diagonals, the other precision.

use clinalg_handles::Registry;

use crate::object::{ClinalgHandle, scalar_of, upload};
use crate::status::ClinalgStatus;

/// A dense matrix of zeros, of the type `precision` (a `clinalg_precision`).
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_zeros(
    precision: u32,
    rows: usize,
    cols: usize,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |context| Ok(Registry::global().zeros(context, scalar_of(precision)?, rows, cols)?))
}

/// A copy of a vector or matrix with values of the type `precision` (a `clinalg_precision`), rounded to nearest. A complex object has
/// no real copy: see `clinalg_array_real_part`.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_convert(
    a: ClinalgHandle,
    precision: u32,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |_| Ok(Registry::global().convert(a, scalar_of(precision)?)?))
}

/// The transpose of a vector, dense or sparse matrix.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_matrix_transpose(a: ClinalgHandle, handle: *mut ClinalgHandle) -> ClinalgStatus {
    upload(handle, |_| Ok(Registry::global().transpose(a)?))
}

/// The diagonal of a square matrix as a vector.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_matrix_diagonal(a: ClinalgHandle, handle: *mut ClinalgHandle) -> ClinalgStatus {
    upload(handle, |_| Ok(Registry::global().diagonal(a)?))
}
