//! Former names of functions, deprecated: the contracts are those of the functions with the present names.
//!
//! Made from the table of functions by `CLINALG_UPDATE_HEADER=1 cargo test -p clinalg-capi --test header`; do not edit.

#![allow(clippy::missing_safety_doc, clippy::too_many_arguments, clippy::undocumented_unsafe_blocks)]

use std::ffi::{c_char, c_void};

use crate::*;

/// @deprecated Use `clinalg_device_select`.
#[deprecated(note = "use clinalg_device_select")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_select_device(selector: *const c_char) -> ClinalgStatus {
    unsafe { clinalg_device_select(selector) }
}

/// @deprecated Use `clinalg_device_finish`.
#[deprecated(note = "use clinalg_device_finish")]
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_finish() -> ClinalgStatus {
    clinalg_device_finish()
}

/// @deprecated Use `clinalg_device_memory`.
#[deprecated(note = "use clinalg_device_memory")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_memory(report: *mut ClinalgMemory) -> ClinalgStatus {
    unsafe { clinalg_device_memory(report) }
}

/// @deprecated Use `clinalg_object_get_info`.
#[deprecated(note = "use clinalg_object_get_info")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_info(handle: ClinalgHandle, info: *mut ClinalgInfo) -> ClinalgStatus {
    unsafe { clinalg_object_get_info(handle, info) }
}

/// @deprecated Use `clinalg_object_explain`.
#[deprecated(note = "use clinalg_object_explain")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_explain(handle: ClinalgHandle, buffer: *mut c_char, capacity: usize, needed: *mut usize) -> ClinalgStatus {
    unsafe { clinalg_object_explain(handle, buffer, capacity, needed) }
}

/// @deprecated Use `clinalg_object_release`.
#[deprecated(note = "use clinalg_object_release")]
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_release(handle: ClinalgHandle) -> ClinalgStatus {
    clinalg_object_release(handle)
}

/// @deprecated Use `clinalg_array_read`.
#[deprecated(note = "use clinalg_array_read")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_read(handle: ClinalgHandle, precision: u32, offset: usize, count: usize, values: *mut c_void) -> ClinalgStatus {
    unsafe { clinalg_array_read(handle, precision, offset, count, values) }
}

/// @deprecated Use `clinalg_array_write`.
#[deprecated(note = "use clinalg_array_write")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_write(handle: ClinalgHandle, precision: u32, offset: usize, count: usize, values: *const c_void) -> ClinalgStatus {
    unsafe { clinalg_array_write(handle, precision, offset, count, values) }
}

/// @deprecated Use `clinalg_array_copy`.
#[deprecated(note = "use clinalg_array_copy")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_copy(a: ClinalgHandle, out: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_array_copy(a, out) }
}

/// @deprecated Use `clinalg_array_convert`.
#[deprecated(note = "use clinalg_array_convert")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_convert(a: ClinalgHandle, precision: u32, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_array_convert(a, precision, handle) }
}

/// @deprecated Use `clinalg_array_zeros`.
#[deprecated(note = "use clinalg_array_zeros")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_zeros(precision: u32, rows: usize, cols: usize, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_array_zeros(precision, rows, cols, handle) }
}

/// @deprecated Use `clinalg_array_fill`.
#[deprecated(note = "use clinalg_array_fill")]
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_fill(handle: ClinalgHandle, value: f64) -> ClinalgStatus {
    clinalg_array_fill(handle, value)
}

/// @deprecated Use `clinalg_array_fill_complex`.
#[deprecated(note = "use clinalg_array_fill_complex")]
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_fill_complex(handle: ClinalgHandle, value: ClinalgComplex) -> ClinalgStatus {
    clinalg_array_fill_complex(handle, value)
}

/// @deprecated Use `clinalg_array_axpby`.
#[deprecated(note = "use clinalg_array_axpby")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_axpby(alpha: f64, x: ClinalgHandle, beta: f64, y: ClinalgHandle, out: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_array_axpby(alpha, x, beta, y, out) }
}

/// @deprecated Use `clinalg_array_axpby_complex`.
#[deprecated(note = "use clinalg_array_axpby_complex")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_axpby_complex(alpha: ClinalgComplex, x: ClinalgHandle, beta: ClinalgComplex, y: ClinalgHandle, out: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_array_axpby_complex(alpha, x, beta, y, out) }
}

/// @deprecated Use `clinalg_array_add`.
#[deprecated(note = "use clinalg_array_add")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_plus(a: ClinalgHandle, b: ClinalgHandle, out: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_array_add(a, b, out) }
}

/// @deprecated Use `clinalg_array_subtract`.
#[deprecated(note = "use clinalg_array_subtract")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_minus(a: ClinalgHandle, b: ClinalgHandle, out: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_array_subtract(a, b, out) }
}

/// @deprecated Use `clinalg_array_subtract_scaled`.
#[deprecated(note = "use clinalg_array_subtract_scaled")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_minus_scaled(a: ClinalgHandle, b: ClinalgHandle, c: f64, out: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_array_subtract_scaled(a, b, c, out) }
}

/// @deprecated Use `clinalg_array_scale`.
#[deprecated(note = "use clinalg_array_scale")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_times_constant(a: ClinalgHandle, c: f64, out: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_array_scale(a, c, out) }
}

/// @deprecated Use `clinalg_array_scale_complex`.
#[deprecated(note = "use clinalg_array_scale_complex")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_times_constant_complex(a: ClinalgHandle, c: ClinalgComplex, out: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_array_scale_complex(a, c, out) }
}

/// @deprecated Use `clinalg_array_multiply`.
#[deprecated(note = "use clinalg_array_multiply")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_multiply(a: ClinalgHandle, b: ClinalgHandle, out: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_array_multiply(a, b, out) }
}

/// @deprecated Use `clinalg_array_sum`.
#[deprecated(note = "use clinalg_array_sum")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sum(a: ClinalgHandle, result: *mut f64) -> ClinalgStatus {
    unsafe { clinalg_array_sum(a, result) }
}

/// @deprecated Use `clinalg_array_sum_complex`.
#[deprecated(note = "use clinalg_array_sum_complex")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sum_complex(a: ClinalgHandle, result: *mut ClinalgComplex) -> ClinalgStatus {
    unsafe { clinalg_array_sum_complex(a, result) }
}

/// @deprecated Use `clinalg_array_dot`.
#[deprecated(note = "use clinalg_array_dot")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_dot(a: ClinalgHandle, b: ClinalgHandle, result: *mut f64) -> ClinalgStatus {
    unsafe { clinalg_array_dot(a, b, result) }
}

/// @deprecated Use `clinalg_array_dot_complex`.
#[deprecated(note = "use clinalg_array_dot_complex")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_dot_complex(a: ClinalgHandle, b: ClinalgHandle, result: *mut ClinalgComplex) -> ClinalgStatus {
    unsafe { clinalg_array_dot_complex(a, b, result) }
}

/// @deprecated Use `clinalg_array_dotu_complex`.
#[deprecated(note = "use clinalg_array_dotu_complex")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_dotu_complex(a: ClinalgHandle, b: ClinalgHandle, result: *mut ClinalgComplex) -> ClinalgStatus {
    unsafe { clinalg_array_dotu_complex(a, b, result) }
}

/// @deprecated Use `clinalg_array_norm1`.
#[deprecated(note = "use clinalg_array_norm1")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_norm1(a: ClinalgHandle, result: *mut f64) -> ClinalgStatus {
    unsafe { clinalg_array_norm1(a, result) }
}

/// @deprecated Use `clinalg_array_norm2`.
#[deprecated(note = "use clinalg_array_norm2")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_norm2(a: ClinalgHandle, result: *mut f64) -> ClinalgStatus {
    unsafe { clinalg_array_norm2(a, result) }
}

/// @deprecated Use `clinalg_array_norm_inf`.
#[deprecated(note = "use clinalg_array_norm_inf")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_norm_inf(a: ClinalgHandle, result: *mut f64) -> ClinalgStatus {
    unsafe { clinalg_array_norm_inf(a, result) }
}

/// @deprecated Use `clinalg_array_conj`.
#[deprecated(note = "use clinalg_array_conj")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_conj(a: ClinalgHandle, out: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_array_conj(a, out) }
}

/// @deprecated Use `clinalg_array_real_part`.
#[deprecated(note = "use clinalg_array_real_part")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_real_part(a: ClinalgHandle, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_array_real_part(a, handle) }
}

/// @deprecated Use `clinalg_array_imaginary_part`.
#[deprecated(note = "use clinalg_array_imaginary_part")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_imaginary_part(a: ClinalgHandle, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_array_imaginary_part(a, handle) }
}

/// @deprecated Use `clinalg_array_abs`.
#[deprecated(note = "use clinalg_array_abs")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_abs(a: ClinalgHandle, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_array_abs(a, handle) }
}

/// @deprecated Use `clinalg_array_join_parts`.
#[deprecated(note = "use clinalg_array_join_parts")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_join_parts(re: ClinalgHandle, im: ClinalgHandle, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_array_join_parts(re, im, handle) }
}

/// @deprecated Use `clinalg_vector_create`.
#[deprecated(note = "use clinalg_vector_create")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_vector(precision: u32, values: *const c_void, len: usize, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_vector_create(precision, values, len, handle) }
}

/// @deprecated Use `clinalg_vector_slice`.
#[deprecated(note = "use clinalg_vector_slice")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_slice(handle: ClinalgHandle, offset: usize, count: usize, part: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_vector_slice(handle, offset, count, part) }
}

/// @deprecated Use `clinalg_vector_write_slice`.
#[deprecated(note = "use clinalg_vector_write_slice")]
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_write_slice(target: ClinalgHandle, offset: usize, source: ClinalgHandle) -> ClinalgStatus {
    clinalg_vector_write_slice(target, offset, source)
}

/// @deprecated Use `clinalg_dense_create`.
#[deprecated(note = "use clinalg_dense_create")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_dense(precision: u32, rows: usize, cols: usize, values: *const c_void, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_dense_create(precision, rows, cols, values, handle) }
}

/// @deprecated Use `clinalg_dense_solve`.
#[deprecated(note = "use clinalg_dense_solve")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_solve_dense(factorisation: u32, a: ClinalgHandle, b: ClinalgHandle, x: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_dense_solve(factorisation, a, b, x) }
}

/// @deprecated Use `clinalg_sparse_from_csr`.
#[deprecated(note = "use clinalg_sparse_from_csr")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_csr(precision: u32, rows: usize, cols: usize, offsets: *const usize, indices: *const usize, values: *const c_void, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_sparse_from_csr(precision, rows, cols, offsets, indices, values, handle) }
}

/// @deprecated Use `clinalg_sparse_from_csc`.
#[deprecated(note = "use clinalg_sparse_from_csc")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_csc(precision: u32, rows: usize, cols: usize, offsets: *const usize, indices: *const usize, values: *const c_void, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_sparse_from_csc(precision, rows, cols, offsets, indices, values, handle) }
}

/// @deprecated Use `clinalg_sparse_from_coo`.
#[deprecated(note = "use clinalg_sparse_from_coo")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_coo(precision: u32, rows: usize, cols: usize, entries: usize, row_indices: *const usize, col_indices: *const usize, values: *const c_void, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_sparse_from_coo(precision, rows, cols, entries, row_indices, col_indices, values, handle) }
}

/// @deprecated Use `clinalg_sparse_from_csr_i32`.
#[deprecated(note = "use clinalg_sparse_from_csr_i32")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_csr_i32(precision: u32, rows: usize, cols: usize, offsets: *const i32, indices: *const i32, values: *const c_void, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_sparse_from_csr_i32(precision, rows, cols, offsets, indices, values, handle) }
}

/// @deprecated Use `clinalg_sparse_from_csc_i32`.
#[deprecated(note = "use clinalg_sparse_from_csc_i32")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_csc_i32(precision: u32, rows: usize, cols: usize, offsets: *const i32, indices: *const i32, values: *const c_void, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_sparse_from_csc_i32(precision, rows, cols, offsets, indices, values, handle) }
}

/// @deprecated Use `clinalg_sparse_from_coo_i32`.
#[deprecated(note = "use clinalg_sparse_from_coo_i32")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_coo_i32(precision: u32, rows: usize, cols: usize, entries: usize, row_indices: *const i32, col_indices: *const i32, values: *const c_void, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_sparse_from_coo_i32(precision, rows, cols, entries, row_indices, col_indices, values, handle) }
}

/// @deprecated Use `clinalg_sparse_read`.
#[deprecated(note = "use clinalg_sparse_read")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_read_sparse(handle: ClinalgHandle, precision: u32, offsets: *mut usize, indices: *mut usize, values: *mut c_void, entries: *mut usize) -> ClinalgStatus {
    unsafe { clinalg_sparse_read(handle, precision, offsets, indices, values, entries) }
}

/// @deprecated Use `clinalg_sparse_set_format`.
#[deprecated(note = "use clinalg_sparse_set_format")]
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_set_format(handle: ClinalgHandle, format: u32) -> ClinalgStatus {
    clinalg_sparse_set_format(handle, format)
}

/// @deprecated Use `clinalg_sparse_nonzeros`.
#[deprecated(note = "use clinalg_sparse_nonzeros")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_nonzeros(a: ClinalgHandle, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_sparse_nonzeros(a, handle) }
}

/// @deprecated Use `clinalg_band_create`.
#[deprecated(note = "use clinalg_band_create")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_band(precision: u32, rows: usize, cols: usize, kl: usize, ku: usize, values: *const c_void, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_band_create(precision, rows, cols, kl, ku, values, handle) }
}

/// @deprecated Use `clinalg_matrix_mv`.
#[deprecated(note = "use clinalg_matrix_mv")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_mv(alpha: f64, a: ClinalgHandle, x: ClinalgHandle, beta: f64, out: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_matrix_mv(alpha, a, x, beta, out) }
}

/// @deprecated Use `clinalg_matrix_mv_transposed`.
#[deprecated(note = "use clinalg_matrix_mv_transposed")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_mv_transposed(alpha: f64, a: ClinalgHandle, x: ClinalgHandle, beta: f64, out: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_matrix_mv_transposed(alpha, a, x, beta, out) }
}

/// @deprecated Use `clinalg_matrix_mv_complex`.
#[deprecated(note = "use clinalg_matrix_mv_complex")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_mv_complex(transpose: u32, alpha: ClinalgComplex, a: ClinalgHandle, x: ClinalgHandle, beta: ClinalgComplex, out: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_matrix_mv_complex(transpose, alpha, a, x, beta, out) }
}

/// @deprecated Use `clinalg_matrix_mm`.
#[deprecated(note = "use clinalg_matrix_mm")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_mm(alpha: f64, a: ClinalgHandle, x: ClinalgHandle, beta: f64, out: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_matrix_mm(alpha, a, x, beta, out) }
}

/// @deprecated Use `clinalg_matrix_mm_complex`.
#[deprecated(note = "use clinalg_matrix_mm_complex")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_mm_complex(alpha: ClinalgComplex, a: ClinalgHandle, x: ClinalgHandle, beta: ClinalgComplex, out: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_matrix_mm_complex(alpha, a, x, beta, out) }
}

/// @deprecated Use `clinalg_matrix_transpose`.
#[deprecated(note = "use clinalg_matrix_transpose")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_transpose(a: ClinalgHandle, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_matrix_transpose(a, handle) }
}

/// @deprecated Use `clinalg_matrix_conj_transpose`.
#[deprecated(note = "use clinalg_matrix_conj_transpose")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_conj_transpose(a: ClinalgHandle, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_matrix_conj_transpose(a, handle) }
}

/// @deprecated Use `clinalg_matrix_diagonal`.
#[deprecated(note = "use clinalg_matrix_diagonal")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_diagonal(a: ClinalgHandle, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_matrix_diagonal(a, handle) }
}

/// @deprecated Use `clinalg_matrix_eigenpairs`.
#[deprecated(note = "use clinalg_matrix_eigenpairs")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_eigenpairs(options: *const ClinalgEigenOptions, a: ClinalgHandle, vectors: *mut ClinalgHandle, values: *mut f64, residuals: *mut f64, report: *mut ClinalgEigenReport) -> ClinalgStatus {
    unsafe { clinalg_matrix_eigenpairs(options, a, vectors, values, residuals, report) }
}

/// @deprecated Use `clinalg_matrix_market_read`.
#[deprecated(note = "use clinalg_matrix_market_read")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_read_matrix_market(path: *const c_char, precision: u32, handle: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_matrix_market_read(path, precision, handle) }
}

/// @deprecated Use `clinalg_matrix_market_write`.
#[deprecated(note = "use clinalg_matrix_market_write")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_write_matrix_market(handle: ClinalgHandle, path: *const c_char) -> ClinalgStatus {
    unsafe { clinalg_matrix_market_write(handle, path) }
}

/// @deprecated Use `clinalg_system_solve`.
#[deprecated(note = "use clinalg_system_solve")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_solve_system(options: *const ClinalgSolverOptions, a: ClinalgHandle, b: ClinalgHandle, x: *mut ClinalgHandle, report: *mut ClinalgReport, history: *mut f64, capacity: usize) -> ClinalgStatus {
    unsafe { clinalg_system_solve(options, a, b, x, report, history, capacity) }
}

/// @deprecated Use `clinalg_poisson_solve`.
#[deprecated(note = "use clinalg_poisson_solve")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_solve_poisson(options: *const ClinalgPoissonOptions, f: ClinalgHandle, u: *mut ClinalgHandle, report: *mut ClinalgReport, history: *mut f64, capacity: usize) -> ClinalgStatus {
    unsafe { clinalg_poisson_solve(options, f, u, report, history, capacity) }
}

/// @deprecated Use `clinalg_poisson_solve_mixed`.
#[deprecated(note = "use clinalg_poisson_solve_mixed")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_solve_poisson_mixed(options: *const ClinalgPoissonOptions, f: ClinalgHandle, u: *mut ClinalgHandle, report: *mut ClinalgReport, history: *mut f64, capacity: usize) -> ClinalgStatus {
    unsafe { clinalg_poisson_solve_mixed(options, f, u, report, history, capacity) }
}

/// @deprecated Use `clinalg_multigrid_jacobi`.
#[deprecated(note = "use clinalg_multigrid_jacobi")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_jacobi(u: ClinalgHandle, f: ClinalgHandle, out: *mut ClinalgHandle, sweeps: usize, omega: f64) -> ClinalgStatus {
    unsafe { clinalg_multigrid_jacobi(u, f, out, sweeps, omega) }
}

/// @deprecated Use `clinalg_multigrid_red_black`.
#[deprecated(note = "use clinalg_multigrid_red_black")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_red_black(u: ClinalgHandle, f: ClinalgHandle, out: *mut ClinalgHandle, sweeps: usize) -> ClinalgStatus {
    unsafe { clinalg_multigrid_red_black(u, f, out, sweeps) }
}

/// @deprecated Use `clinalg_multigrid_defect`.
#[deprecated(note = "use clinalg_multigrid_defect")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_defect(u: ClinalgHandle, f: ClinalgHandle, out: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_multigrid_defect(u, f, out) }
}

/// @deprecated Use `clinalg_multigrid_interpolate`.
#[deprecated(note = "use clinalg_multigrid_interpolate")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_interpolate(coarse: ClinalgHandle, out: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_multigrid_interpolate(coarse, out) }
}

/// @deprecated Use `clinalg_multigrid_restrict`.
#[deprecated(note = "use clinalg_multigrid_restrict")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_restrict(fine: ClinalgHandle, out: *mut ClinalgHandle) -> ClinalgStatus {
    unsafe { clinalg_multigrid_restrict(fine, out) }
}
