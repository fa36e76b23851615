//! Operations on handles.
//!
//! A result that is an object goes to `*out`: 0 there on entry makes a new object, a handle is
//! written into. Elementwise operations may write into one of their inputs.

use clinalg_handles::Registry;

use crate::object::ClinalgHandle;
use crate::put;
use crate::status::{ClinalgStatus, Fault, guard};

/// Runs an operation whose result goes to `*out`, which errors call `argument`.
pub(crate) fn into(
    argument: &'static str,
    out: *mut ClinalgHandle,
    run: impl FnOnce(&Registry, Option<u64>) -> clinalg::Result<u64>,
) -> ClinalgStatus {
    guard(|| {
        if out.is_null() {
            return Err(Fault::Null(argument));
        }
        // SAFETY: checked above; every caller passes on a pointer valid for reading and writing.
        let given = unsafe { *out };
        let made = run(Registry::global(), (given != 0).then_some(given))?;
        // SAFETY: as above.
        unsafe { put(argument, out, made) }
    })
}

fn number(result: *mut f64, run: impl FnOnce(&Registry) -> clinalg::Result<f64>) -> ClinalgStatus {
    guard(|| {
        if result.is_null() {
            return Err(Fault::Null("result"));
        }
        // SAFETY: checked above; every caller passes on a pointer valid for a write.
        unsafe { put("result", result, run(Registry::global())?) }
    })
}

/// out = alpha A x + beta out; out = 0 makes a new vector, or a dense column for a dense x, and treats beta as 0.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_matrix_mv(
    alpha: f64,
    a: ClinalgHandle,
    x: ClinalgHandle,
    beta: f64,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    into("out", out, |registry, given| registry.mv(alpha, a, x, beta, given))
}

/// out = alpha A' x + beta out; out = 0 makes a new vector, or a dense column for a dense x, and treats beta as 0.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_matrix_mv_transposed(
    alpha: f64,
    a: ClinalgHandle,
    x: ClinalgHandle,
    beta: f64,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    into("out", out, |registry, given| registry.mv_transposed(alpha, a, x, beta, given))
}

/// out = alpha A X + beta out for dense X and out, several right-hand sides at once; out = 0 makes a new matrix and takes
/// beta as 0.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_matrix_mm(
    alpha: f64,
    a: ClinalgHandle,
    x: ClinalgHandle,
    beta: f64,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    into("out", out, |registry, given| registry.mm(alpha, a, x, beta, given))
}

/// out = alpha x + beta y.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_axpby(
    alpha: f64,
    x: ClinalgHandle,
    beta: f64,
    y: ClinalgHandle,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    into("out", out, |registry, given| registry.axpby(alpha, x, beta, y, given))
}

/// out = a + b.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_add(
    a: ClinalgHandle,
    b: ClinalgHandle,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    into("out", out, |registry, given| registry.plus(a, b, given))
}

/// out = a - b.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_subtract(
    a: ClinalgHandle,
    b: ClinalgHandle,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    into("out", out, |registry, given| registry.minus(a, b, given))
}

/// out = a - c b.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_subtract_scaled(
    a: ClinalgHandle,
    b: ClinalgHandle,
    c: f64,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    into("out", out, |registry, given| registry.minus_scaled(a, b, c, given))
}

/// out = c a.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_scale(a: ClinalgHandle, c: f64, out: *mut ClinalgHandle) -> ClinalgStatus {
    into("out", out, |registry, given| registry.times_constant(a, c, given))
}

/// out = a .* b, element by element.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_multiply(
    a: ClinalgHandle,
    b: ClinalgHandle,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    into("out", out, |registry, given| registry.multiply(a, b, given))
}

/// out = a, copied on the device.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_copy(a: ClinalgHandle, out: *mut ClinalgHandle) -> ClinalgStatus {
    into("out", out, |registry, given| registry.copy(a, given))
}

/// Sets every stored value.
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_array_fill(handle: ClinalgHandle, value: f64) -> ClinalgStatus {
    guard(|| Ok(Registry::global().fill(handle, value)?))
}

/// A new vector with `count` values from `offset` on.
///
/// # Safety
/// `part` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_vector_slice(
    handle: ClinalgHandle,
    offset: usize,
    count: usize,
    part: *mut ClinalgHandle,
) -> ClinalgStatus {
    guard(|| {
        if part.is_null() {
            return Err(Fault::Null("part"));
        }
        let made = Registry::global().slice(handle, offset..offset.saturating_add(count))?;
        // SAFETY: by the contract above.
        unsafe { put("part", part, made) }
    })
}

/// Replaces the values of `target` from `offset` on by those of `source`, on the device.
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_vector_write_slice(
    target: ClinalgHandle,
    offset: usize,
    source: ClinalgHandle,
) -> ClinalgStatus {
    guard(|| Ok(Registry::global().write_slice(target, offset, source)?))
}

/// Sum of the stored values.
///
/// # Safety
/// `result` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_sum(a: ClinalgHandle, result: *mut f64) -> ClinalgStatus {
    number(result, |registry| registry.sum(a))
}

/// Dot product of the stored values.
///
/// # Safety
/// `result` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_dot(a: ClinalgHandle, b: ClinalgHandle, result: *mut f64) -> ClinalgStatus {
    number(result, |registry| registry.dot(a, b))
}

/// Sum of the magnitudes of the stored values.
///
/// # Safety
/// `result` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_norm1(a: ClinalgHandle, result: *mut f64) -> ClinalgStatus {
    number(result, |registry| registry.norm1(a))
}

/// Euclidean norm of the stored values.
///
/// # Safety
/// `result` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_norm2(a: ClinalgHandle, result: *mut f64) -> ClinalgStatus {
    number(result, |registry| registry.norm2(a))
}

/// Largest magnitude of the stored values; NaN if one is NaN.
///
/// # Safety
/// `result` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_norm_inf(a: ClinalgHandle, result: *mut f64) -> ClinalgStatus {
    number(result, |registry| registry.norm_inf(a))
}
