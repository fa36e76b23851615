//! Complex numbers: constants, products, reductions, parts, and dense systems of either kind of values.

use clinalg::Complex;
use clinalg::ops::Transpose;
use clinalg_handles::{Factorisation, Registry};

use crate::object::{ClinalgComplex, ClinalgHandle, upload};
use crate::operation::into;
use crate::status::{ClinalgStatus, Fault, guard};
use crate::{choice, put};

/// Which form of a matrix a product uses.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgTranspose {
    /// The matrix itself.
    No = 0,
    /// Its transpose, without conjugation.
    Yes = 1,
    /// Its conjugate transpose; of a real matrix the transpose.
    Conjugate = 2,
}

/// A factorisation of a matrix.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgFactorisation {
    /// LU with partial pivoting: square matrices.
    Lu = 0,
    /// Cholesky: Hermitian positive definite matrices, of which the lower triangle is read.
    Cholesky = 1,
    /// QR, for least squares; `clinalg_factorisation_create` takes a dense matrix with at least as many rows as columns and full column rank.
    Qr = 2,
    /// The one that suits: QR of a dense matrix that is not square; Cholesky of a sparse Hermitian positive definite matrix, L D L' of one that is
    /// Hermitian or complex symmetric; else LU. With `clinalg_dense_solve` also substitution for a triangle and Cholesky.
    Auto = 3,
    /// L D L' with blocks of up to two rows in D: sparse Hermitian or complex symmetric matrices, definite or not.
    Ldl = 4,
}

/// The form that a code names.
pub(crate) fn transpose_of(argument: &'static str, code: u32) -> Result<Transpose, Fault> {
    let known = [
        (ClinalgTranspose::No, Transpose::No),
        (ClinalgTranspose::Yes, Transpose::Yes),
        (ClinalgTranspose::Conjugate, Transpose::Conjugate),
    ];
    choice(argument, code, &known)
}

/// The factorisation that a code names.
pub(crate) fn factorisation_of(code: u32) -> Result<Factorisation, Fault> {
    let known = [
        (ClinalgFactorisation::Lu, Factorisation::Lu),
        (ClinalgFactorisation::Cholesky, Factorisation::Cholesky),
        (ClinalgFactorisation::Qr, Factorisation::Qr),
        (ClinalgFactorisation::Auto, Factorisation::Auto),
        (ClinalgFactorisation::Ldl, Factorisation::Ldl),
    ];
    choice("factorisation", code, &known)
}

fn number(result: *mut ClinalgComplex, run: impl FnOnce(&Registry) -> clinalg::Result<Complex<f64>>) -> ClinalgStatus {
    guard(|| {
        if result.is_null() {
            return Err(Fault::Null("result"));
        }
        // SAFETY: checked above; every caller passes on a pointer valid for a write.
        unsafe { put("result", result, run(Registry::global())?.into()) }
    })
}

/// out = alpha op(A) x + beta out, op(A) given by `transpose` (a `clinalg_transpose`); out = 0 makes a new vector, or a dense column for a
/// dense x, and sets beta to 0.
/// All objects have the same type of values; for real ones the imaginary parts of alpha and beta must be 0.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_matrix_mv_complex(
    transpose: u32,
    alpha: ClinalgComplex,
    a: ClinalgHandle,
    x: ClinalgHandle,
    beta: ClinalgComplex,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    match transpose_of("transpose", transpose) {
        Ok(op) => into("out", out, |registry, given| registry.mv_op(op, alpha, a, x, beta, given)),
        Err(fault) => guard(|| Err(fault)),
    }
}

/// out = alpha A X + beta out for dense X and out; out = 0 makes a new matrix and treats beta as 0.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_matrix_mm_complex(
    alpha: ClinalgComplex,
    a: ClinalgHandle,
    x: ClinalgHandle,
    beta: ClinalgComplex,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    into("out", out, |registry, given| registry.mm(alpha, a, x, beta, given))
}

/// out = alpha x + beta y with complex numbers.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_axpby_complex(
    alpha: ClinalgComplex,
    x: ClinalgHandle,
    beta: ClinalgComplex,
    y: ClinalgHandle,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    into("out", out, |registry, given| registry.axpby(alpha, x, beta, y, given))
}

/// out = c a with a complex number.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_scale_complex(
    a: ClinalgHandle,
    c: ClinalgComplex,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    into("out", out, |registry, given| registry.times_constant(a, c, given))
}

/// Sets every stored value of a complex object.
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_array_fill_complex(handle: ClinalgHandle, value: ClinalgComplex) -> ClinalgStatus {
    guard(|| Ok(Registry::global().fill(handle, value)?))
}

/// Sum of the stored values of an object of any type.
///
/// # Safety
/// `result` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_sum_complex(a: ClinalgHandle, result: *mut ClinalgComplex) -> ClinalgStatus {
    number(result, |registry| registry.sum_complex(a))
}

/// Dot product sum conj(a) b of the stored values: the first object is conjugated, as in BLAS's `dotc`, C++'s and NumPy's `vdot` and
/// MATLAB's `dot`.
///
/// # Safety
/// `result` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_dot_complex(
    a: ClinalgHandle,
    b: ClinalgHandle,
    result: *mut ClinalgComplex,
) -> ClinalgStatus {
    number(result, |registry| registry.dot_complex(a, b))
}

/// Dot product sum a b of the stored values without conjugation, as in BLAS's `dotu`.
///
/// # Safety
/// `result` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_dotu_complex(
    a: ClinalgHandle,
    b: ClinalgHandle,
    result: *mut ClinalgComplex,
) -> ClinalgStatus {
    number(result, |registry| registry.dotu(a, b))
}

/// out = conj(a), element by element; of a real object a copy.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_conj(a: ClinalgHandle, out: *mut ClinalgHandle) -> ClinalgStatus {
    into("out", out, |registry, given| registry.conj(a, given))
}

/// The conjugate transpose of a vector, dense or sparse matrix; of a real one the transpose.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_matrix_conj_transpose(a: ClinalgHandle, handle: *mut ClinalgHandle) -> ClinalgStatus {
    upload(handle, |_| Ok(Registry::global().conj_transpose(a)?))
}

/// The real parts of a vector or dense matrix as a real object of the same shape.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_real_part(a: ClinalgHandle, handle: *mut ClinalgHandle) -> ClinalgStatus {
    upload(handle, |_| Ok(Registry::global().real_part(a)?))
}

/// The imaginary parts of a vector or dense matrix as a real object of the same shape.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_imaginary_part(a: ClinalgHandle, handle: *mut ClinalgHandle) -> ClinalgStatus {
    upload(handle, |_| Ok(Registry::global().imaginary_part(a)?))
}

/// The moduli of a vector or dense matrix as a real object of the same shape.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_abs(a: ClinalgHandle, handle: *mut ClinalgHandle) -> ClinalgStatus {
    upload(handle, |_| Ok(Registry::global().abs(a)?))
}

/// re + i im of two real vectors or dense matrices of one shape and precision as a complex object.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_array_join_parts(
    re: ClinalgHandle,
    im: ClinalgHandle,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |_| Ok(Registry::global().complex(re, im)?))
}

/// Solves A X = b for a dense A, real or complex, and a vector or dense b of the same type, by a `clinalg_factorisation`; QR minimises
/// |A X - b| for an A of any shape and rank, and gives, if there are several minimisers, the minimum-norm one. X is a new object of the kind of b; A and b stay as they are.
///
/// # Safety
/// `x` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_dense_solve(
    factorisation: u32,
    a: ClinalgHandle,
    b: ClinalgHandle,
    x: *mut ClinalgHandle,
) -> ClinalgStatus {
    guard(|| {
        if x.is_null() {
            return Err(Fault::Null("x"));
        }
        let factorisation = factorisation_of(factorisation)?;
        let made = Registry::global().solve_dense(factorisation, a, b)?.x;
        // SAFETY: checked above, and by the contract.
        unsafe { put("x", x, made) }
    })
}
