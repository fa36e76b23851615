//! Eigenvalues on handles.

use std::ffi::c_void;
use std::ptr::null_mut;

use clinalg::eigen::{EigenParams, Which};
use clinalg_handles::Registry;

use crate::callback::{ClinalgProgress, progress};
use crate::object::ClinalgHandle;
use crate::options::{Versioned, of_options, one_preconditioner, put_defaults, read};
use crate::solver::{ClinalgPreconditioner, ClinalgStop, check_tolerance, stop};
use crate::status::{ClinalgStatus, guard};
use crate::{check_array, choice};

/// Which end of the spectrum to compute.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgSpectrumEnd {
    /// The smallest eigenvalues, in ascending order.
    Smallest = 0,
    /// The largest eigenvalues, in descending order.
    Largest = 1,
}

/// Options of an eigenvalue problem. Fill them with `clinalg_eigen_options_default(&options, sizeof options)`, then change what is to
/// differ. Later versions append members, which take their defaults in programs compiled before.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgEigenOptions {
    /// `sizeof(clinalg_eigen_options)`, as the program was compiled.
    pub struct_size: usize,
    /// Which end of the spectrum, a `clinalg_spectrum_end`.
    pub which: u32,
    /// The preconditioner, a `clinalg_preconditioner`; symmetric positive definite, for the smallest eigenvalues only.
    pub preconditioner: u32,
    /// Number of eigenpairs, at least 1.
    pub count: usize,
    /// Relative residual |A x - lambda B x| / (|lambda| |B x|) to reach; 0 for 1e-8 in double and 1e-4 in single precision.
    pub tolerance: f64,
    /// Maximum number of iterations.
    pub max_iterations: usize,
    /// A matrix or operator that approximates the inverse of A, used instead of `preconditioner`; 0 for none.
    pub inverse: ClinalgHandle,
    /// A symmetric or Hermitian positive definite matrix or operator B; 0 for the identity.
    pub mass: ClinalgHandle,
    /// Called at the start and after every iteration with the number of iterations done and the largest relative residual; null for none.
    pub progress: ClinalgProgress,
    /// Passed to `progress`.
    pub progress_data: *mut c_void,
}

// SAFETY: numbers and pointers in `repr(C)`, the size first; only what the caller sets is called.
unsafe impl Versioned for ClinalgEigenOptions {
    fn defaults() -> ClinalgEigenOptions {
        let defaults = EigenParams::default();
        ClinalgEigenOptions {
            struct_size: size_of::<ClinalgEigenOptions>(),
            which: ClinalgSpectrumEnd::Smallest as u32,
            preconditioner: ClinalgPreconditioner::None as u32,
            count: defaults.count,
            tolerance: 0.0,
            max_iterations: defaults.max_iterations,
            inverse: 0,
            mass: 0,
            progress: None,
            progress_data: null_mut(),
        }
    }
}

/// How eigenpairs were found. Pairs that did not converge are not a failed call: check `stop`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgEigenReport {
    /// Why it ended.
    pub stop: ClinalgStop,
    /// Iterations done.
    pub iterations: usize,
    /// The largest relative residual of the pairs.
    pub relative_residual: f64,
}

/// The defaults: the 6 smallest eigenvalues without preconditioner in at most 1000 iterations. `struct_size` is
/// `sizeof(clinalg_eigen_options)`.
///
/// # Safety
/// `options` is null or has room for `struct_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_eigen_options_default(
    options: *mut ClinalgEigenOptions,
    struct_size: usize,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { put_defaults(options, struct_size) })
}

/// Finds `options->count` eigenpairs of A x = lambda x, or of A x = lambda B x with `options->mass`, by LOBPCG. A is a real symmetric or complex
/// Hermitian matrix or operator, B a positive definite one of the same type. One that is not symmetric or Hermitian is an error: the entries of
/// matrices are compared, of operators x^H (A y) and (A x)^H y for two vectors, to 1e-10 in double and 3e-5 in single precision. `*vectors` becomes a new dense matrix with a column per eigenvector, x^H B x = 1; `values` gets the
/// eigenvalues and `residuals`, if not null, the relative residual of each pair, `options->count` numbers each.
///
/// # Safety
/// `options` points to at least `options->struct_size` bytes; `vectors` is valid for a write, `values` for `options->count` of them; `residuals`
/// and `report` are null or valid for writes, the former of `options->count` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_matrix_eigenpairs(
    options: *const ClinalgEigenOptions,
    a: ClinalgHandle,
    vectors: *mut ClinalgHandle,
    values: *mut f64,
    residuals: *mut f64,
    report: *mut ClinalgEigenReport,
) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let wanted = unsafe { read(options)? };
        check_array("vectors", vectors, 1)?;
        check_array("values", values, wanted.count)?;
        let ends = [(ClinalgSpectrumEnd::Smallest, Which::Smallest), (ClinalgSpectrumEnd::Largest, Which::Largest)];
        let mut params = EigenParams::default()
            .count(wanted.count)
            .which(choice("which", wanted.which, &ends)?)
            .max_iterations(wanted.max_iterations);
        check_tolerance(wanted.tolerance)?;
        if wanted.tolerance != 0.0 {
            params = params.tolerance(wanted.tolerance);
        }
        let preconditioning = one_preconditioner(wanted.preconditioner, wanted.inverse)?;
        let mass = (wanted.mass != 0).then_some(wanted.mass);
        let mut progress = progress(wanted.progress, wanted.progress_data);
        let solved = Registry::global().eigenpairs(a, mass, preconditioning, &params, &mut progress);
        let (handle, found) = solved.map_err(|error| of_options(error.into(), wanted.inverse))?;
        let largest = found.residuals.iter().fold(0.0, |largest: f64, &residual| largest.max(residual));
        // SAFETY: by the contract above, each has room for `count` values, and there are as many.
        unsafe {
            std::ptr::copy_nonoverlapping(found.values.as_ptr(), values, found.values.len());
            if !residuals.is_null() {
                std::ptr::copy_nonoverlapping(found.residuals.as_ptr(), residuals, found.residuals.len());
            }
            vectors.write(handle);
            if !report.is_null() {
                let (stop, iterations) = (stop(found.stop), found.iterations);
                report.write(ClinalgEigenReport { stop, iterations, relative_residual: largest });
            }
        }
        Ok(())
    })
}
