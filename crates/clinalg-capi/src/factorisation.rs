//! Factorisations of dense and sparse matrices, triangular systems, inverses and determinants.

use clinalg::direct::{FactorsReport, Kind, Solved};
use clinalg::ops::factor::{Diagonal, Triangle};
use clinalg_handles::Registry;

use crate::complex::{factorisation_of, transpose_of};
use crate::object::{ClinalgComplex, ClinalgHandle, upload};
use crate::operation::into;
use crate::status::{ClinalgStatus, Fault, guard};
use crate::{choice, put, slice_mut};

/// Which triangle of a matrix is read.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgTriangle {
    /// On and below the diagonal.
    Lower = 0,
    /// On and above the diagonal.
    Upper = 1,
}

/// The factors of a dense or square sparse matrix by a `clinalg_factorisation`, to solve with many right-hand sides; later changes of `a` do not
/// reach them. A singular matrix has factors; `clinalg_factorisation_solve` reports it. `clinalg_object_release` releases them.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_factorisation_create(
    factorisation: u32,
    a: ClinalgHandle,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |_| Ok(Registry::global().factorisation(factorisation_of(factorisation)?, a)?))
}

/// New values for the factors of a sparse matrix, whose order of elimination is kept: faster than new factors. `a` has its entries at the same
/// positions, else it is `CLINALG_STATUS_VALUE`. After an error during the elimination the factors are of no matrix.
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_factorisation_refactor(factorisation: ClinalgHandle, a: ClinalgHandle) -> ClinalgStatus {
    guard(|| Ok(Registry::global().factorisation_refactor(factorisation, a)?))
}

/// What the factors of a sparse matrix are, and how well the last system was solved by them: before the first one `backward_error` is NaN.
///
/// # Safety
/// `report` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_factorisation_get_report(
    factorisation: ClinalgHandle,
    report: *mut ClinalgSparseSolveReport,
) -> ClinalgStatus {
    guard(|| {
        let (factors, solved) = Registry::global().factorisation_report(factorisation)?;
        // SAFETY: by the contract above.
        unsafe { put("report", report, ClinalgSparseSolveReport::new(&factors, solved.as_ref())) }
    })
}

/// Solves op(A) X = b for a vector or the columns of a dense matrix b; QR minimises |A X - b|, and with a sparse matrix X is refined. `transpose`, a `clinalg_transpose`, must be
/// `CLINALG_TRANSPOSE_NO` for QR and not `_YES` for Cholesky of complex matrices. `*x` may be b; 0 there makes a new object of the kind of b.
///
/// # Safety
/// `x` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_factorisation_solve(
    factorisation: ClinalgHandle,
    transpose: u32,
    b: ClinalgHandle,
    x: *mut ClinalgHandle,
) -> ClinalgStatus {
    match transpose_of("transpose", transpose) {
        Ok(op) => into("x", x, |registry, given| registry.factorisation_solve(factorisation, op, b, given)),
        Err(fault) => guard(|| Err(fault)),
    }
}

/// The factors of a dense matrix as new dense matrices. LU: L and U, and in `rows`, if not null, the order of the rows, row k of L U being row `rows[k]` of A;
/// `capacity` must be their number. Cholesky: L in `first`, 0 in `second`. QR: Q with min(rows, columns) columns and R. For Cholesky and QR
/// `rows` is not written.
///
/// # Safety
/// `first` and `second` are null or valid for writes; `rows` is null or has room for `capacity` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_factorisation_factors(
    factorisation: ClinalgHandle,
    first: *mut ClinalgHandle,
    second: *mut ClinalgHandle,
    rows: *mut usize,
    capacity: usize,
) -> ClinalgStatus {
    guard(|| {
        for (argument, pointer) in [("first", first), ("second", second)] {
            if pointer.is_null() {
                return Err(Fault::Null(argument));
            }
        }
        let registry = Registry::global();
        if !rows.is_null() {
            let found = registry.info(factorisation)?;
            let expected = found.rows;
            if found.kind == clinalg_handles::Kind::Factorisation && capacity != expected {
                return Err(clinalg::Error::Length { argument: "capacity", expected, got: capacity }.into());
            }
        }
        let (made, other, order) = registry.factorisation_factors(factorisation)?;
        // SAFETY: checked above, and by the contract.
        unsafe {
            if !rows.is_null() {
                slice_mut("rows", rows, order.len())?.copy_from_slice(&order);
            }
            put("first", first, made)?;
            put("second", second, other.unwrap_or(0))
        }
    })
}

/// The determinant of the matrix, from LU, Cholesky or L D L'; infinite or zero where it leaves the range of the numbers. For a sparse matrix that is
/// singular to working precision `CLINALG_STATUS_VALUE`.
///
/// # Safety
/// `result` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_factorisation_determinant(
    factorisation: ClinalgHandle,
    result: *mut ClinalgComplex,
) -> ClinalgStatus {
    guard(|| {
        let value = Registry::global().factorisation_determinant(factorisation)?;
        // SAFETY: by the contract above.
        unsafe { put("result", result, value.into()) }
    })
}

/// The inverse of a dense matrix as a new one, from LU or Cholesky. To solve with it is slower and less accurate than
/// `clinalg_factorisation_solve`.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_factorisation_inverse(
    factorisation: ClinalgHandle,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |_| Ok(Registry::global().factorisation_inverse(factorisation)?))
}

/// An estimate of the reciprocal condition number in the 1-norm, from LU or the factors of a sparse matrix; 0 for a singular matrix.
///
/// # Safety
/// `result` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_factorisation_condition(
    factorisation: ClinalgHandle,
    result: *mut f64,
) -> ClinalgStatus {
    guard(|| {
        let value = Registry::global().factorisation_condition(factorisation)?;
        // SAFETY: by the contract above.
        unsafe { put("result", result, value) }
    })
}

/// Solves op(A) X = b by substitution, where A is a triangle (a `clinalg_triangle`) of a square dense matrix, whose other numbers are not read; where
/// `unit` is not 0, its diagonal is all ones and is not read either. `*x` may be b; 0 there makes a new object of the kind of b.
///
/// # Safety
/// `x` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_dense_solve_triangular(
    triangle: u32,
    transpose: u32,
    unit: i32,
    a: ClinalgHandle,
    b: ClinalgHandle,
    x: *mut ClinalgHandle,
) -> ClinalgStatus {
    let form = || -> Result<_, Fault> {
        let known = [(ClinalgTriangle::Lower, Triangle::Lower), (ClinalgTriangle::Upper, Triangle::Upper)];
        let diagonal = if unit == 0 { Diagonal::Stored } else { Diagonal::Unit };
        Ok((choice("triangle", triangle, &known)?, transpose_of("transpose", transpose)?, diagonal))
    };
    match form() {
        Ok(form) => into("x", x, |registry, given| registry.solve_triangular(form, a, b, given)),
        Err(fault) => guard(|| Err(fault)),
    }
}

/// How a system with a sparse matrix was solved by factors.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgSparseSolveReport {
    /// The largest of |b - A x| / (|A| |x| + |b|) over the rows and columns: the solution is exact for entries that differ by this share.
    pub backward_error: f64,
    /// The most steps of iterative refinement of a column.
    pub refinements: usize,
    /// From `clinalg_sparse_solve`: an estimate of the reciprocal condition number in the 1-norm where the pivots suggest that A is nearly
    /// singular, else NaN; below machine epsilon the solution may have no correct digit. `clinalg_factorisation_condition` gives it of factors.
    pub reciprocal_condition: f64,
    /// Stored numbers of the factors.
    pub entries: usize,
    /// Multiplications and additions of the factorisation.
    pub operations: f64,
    /// Pivots that were too small and were replaced.
    pub replaced_pivots: usize,
    /// Not 0 for Cholesky factors, 0 for others.
    pub is_cholesky: i32,
    /// Not 0 where rows were permuted for a large diagonal, or with L D L' factors pairs of rows kept together.
    pub is_matched: i32,
    /// Not 0 for L D L' factors.
    pub is_ldl: i32,
    /// Not 0 where the factors show the inertia: Cholesky, and L D L' of Hermitian matrices without replaced pivots but zeros. LU factors do not:
    /// create those of `CLINALG_FACTORISATION_LDL`.
    pub has_inertia: i32,
    /// Positive eigenvalues of the matrix; 0 without inertia.
    pub positive_eigenvalues: usize,
    /// Negative eigenvalues of the matrix; 0 without inertia.
    pub negative_eigenvalues: usize,
    /// Eigenvalues of the matrix that are zero up to rounding; 0 without inertia.
    pub zero_eigenvalues: usize,
}

impl ClinalgSparseSolveReport {
    fn new(factors: &FactorsReport, solved: Option<&Solved>) -> ClinalgSparseSolveReport {
        ClinalgSparseSolveReport {
            backward_error: solved.map_or(f64::NAN, |solved| solved.backward_error),
            refinements: solved.map_or(0, |solved| solved.refinements),
            reciprocal_condition: f64::NAN,
            entries: factors.entries,
            operations: factors.operations,
            replaced_pivots: factors.replaced_pivots,
            is_cholesky: (factors.kind == Kind::Cholesky).into(),
            is_matched: factors.is_matched.into(),
            is_ldl: (factors.kind == Kind::Ldl).into(),
            has_inertia: factors.inertia.is_some().into(),
            positive_eigenvalues: factors.inertia.map_or(0, |inertia| inertia.positive),
            negative_eigenvalues: factors.inertia.map_or(0, |inertia| inertia.negative),
            zero_eigenvalues: factors.inertia.map_or(0, |inertia| inertia.zero),
        }
    }
}

/// Solves A X = b for a square sparse A, real or complex, and a vector or dense b of the same type, by a complete factorisation: Cholesky where
/// A is Hermitian positive definite, L D L' where it is Hermitian or complex symmetric, else LU, with iterative refinement. There is no tolerance. X is a new object of the kind of b; A and b stay
/// as they are. Where `is_limited` is not 0, a matrix whose factorisation takes longer than seconds is `CLINALG_STATUS_VALUE`, as is one that
/// is singular to working precision unless b lies in its range. `report` may be null. For many right-hand sides one after the other keep the
/// factors: `clinalg_factorisation_create`.
///
/// # Safety
/// `x` is null or valid for a write; `report` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sparse_solve(
    a: ClinalgHandle,
    b: ClinalgHandle,
    is_limited: i32,
    x: *mut ClinalgHandle,
    report: *mut ClinalgSparseSolveReport,
) -> ClinalgStatus {
    guard(|| {
        if x.is_null() {
            return Err(Fault::Null("x"));
        }
        let found = Registry::global().solve_sparse(a, b, is_limited != 0)?;
        if !report.is_null() {
            let made = ClinalgSparseSolveReport {
                reciprocal_condition: found.reciprocal_condition,
                ..ClinalgSparseSolveReport::new(&found.factors, Some(&found.solved))
            };
            // SAFETY: checked above, and by the contract.
            unsafe { put("report", report, made)? };
        }
        // SAFETY: checked above, and by the contract.
        unsafe { put("x", x, found.x) }
    })
}

/// The inverse of a square dense matrix as a new one, by LU. `reciprocal_condition`, if not null, gets an estimate of the reciprocal condition
/// number in the 1-norm.
///
/// # Safety
/// `handle` is null or valid for a write, `reciprocal_condition` too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_dense_inverse(
    a: ClinalgHandle,
    handle: *mut ClinalgHandle,
    reciprocal_condition: *mut f64,
) -> ClinalgStatus {
    upload(handle, |_| {
        let (made, reciprocal) = Registry::global().inverse(a)?;
        if !reciprocal_condition.is_null() {
            // SAFETY: by the contract above.
            unsafe { put("reciprocal_condition", reciprocal_condition, reciprocal)? };
        }
        Ok(made)
    })
}

/// The determinant of a square dense matrix by LU; infinite or zero where it leaves the range of the numbers.
///
/// # Safety
/// `result` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_dense_determinant(a: ClinalgHandle, result: *mut ClinalgComplex) -> ClinalgStatus {
    guard(|| {
        let value = Registry::global().determinant(a)?;
        // SAFETY: by the contract above.
        unsafe { put("result", result, value.into()) }
    })
}

/// out = alpha op(A) op(B) + beta out for a dense, sparse or band A and dense B and out; out = 0 makes a new matrix and takes beta as 0.
/// `transpose_a` and `transpose_b` are each a `clinalg_transpose`. With a dense A nothing is copied. The transpose of a sparse A, and that of B
/// beside a sparse or band A, is made in each call: for many products make it once by `clinalg_matrix_transpose`. A band A has no transposed form.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_matrix_multiply(
    transpose_a: u32,
    transpose_b: u32,
    alpha: ClinalgComplex,
    a: ClinalgHandle,
    b: ClinalgHandle,
    beta: ClinalgComplex,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    match transpose_of("transpose_a", transpose_a)
        .and_then(|op_a| Ok((op_a, transpose_of("transpose_b", transpose_b)?)))
    {
        Ok(ops) => {
            into("out", out, |registry, given| registry.multiply_op(ops, alpha.into(), (a, b), beta.into(), given))
        }
        Err(fault) => guard(|| Err(fault)),
    }
}
