//! Sparse systems by the method and the preconditioner that suit the matrix.

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

use clinalg::automatic::SolverText;
use clinalg::solve::Stopping;
use clinalg_handles::Registry;

use crate::callback::{ClinalgProgress, progress};
use crate::object::ClinalgHandle;
use crate::options::{Versioned, put_defaults, read};
use crate::solver::{ClinalgReport, check_tolerance, summary};
use crate::status::{ClinalgStatus, Fault, guard};
use crate::{check_array, put_text, slice_mut, text};

/// Options of `clinalg_system_solve_automatic`. Fill them with `clinalg_system_options_default(&options, sizeof options)`, then change what is to
/// differ. Later versions append members, which take their defaults in programs compiled before.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgSystemOptions {
    /// `sizeof(clinalg_system_options)`, as the program was compiled.
    pub struct_size: usize,
    /// Relative residual |b - A x| / |b| to reach; 0 for 1e-10 in double and 1e-5 in single precision.
    pub tolerance: f64,
    /// Maximum number of iterations for each column of b and each method. Where a method reaches the default, the next one continues; any other limit ends
    /// the solve.
    pub max_iterations: usize,
    /// Called after every iteration; null for none.
    pub progress: ClinalgProgress,
    /// Passed to `progress`.
    pub progress_data: *mut c_void,
    /// A method, a preconditioner and limits by name, in the place of the choice from the matrix: "cg,amg",
    /// "gmres,ilut,restart=50", "minres,tol=1e-8,max-iterations=200"; null for none. The parts are those of
    /// `clinalg_solver_options_parse`; `tolerance` and `max_iterations` come before its limits where they differ from
    /// their defaults.
    pub solver: *const c_char,
}

// SAFETY: numbers and pointers in `repr(C)`, the size first; only what the caller sets is called.
unsafe impl Versioned for ClinalgSystemOptions {
    fn defaults() -> ClinalgSystemOptions {
        ClinalgSystemOptions {
            struct_size: size_of::<ClinalgSystemOptions>(),
            tolerance: 0.0,
            max_iterations: Stopping::default().max_iterations,
            progress: None,
            progress_data: null_mut(),
            solver: null(),
        }
    }
}

/// How a sparse system was solved. Texts end in zero and are cut to the size of the member.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgSystemReport {
    /// Columns that were solved for: all those of b, fewer where `progress` ended the solve.
    pub columns: usize,
    /// Columns that met the tolerance.
    pub converged: usize,
    /// The method that the last column ended with.
    pub method: [c_char; 64],
    /// The preconditioner; empty for none.
    pub preconditioner: [c_char; 64],
    /// Why they were chosen; for a singular matrix, what is known about its null vectors and about a column of b without a solution.
    pub reason: [c_char; 512],
}

/// The text with an ending zero, cut to `N` bytes.
fn fixed<const N: usize>(text: &str) -> Result<[c_char; N], Fault> {
    let mut bytes = [0; N];
    // SAFETY: the buffer has room for N bytes.
    unsafe { put_text(text, (bytes.as_mut_ptr(), N), null_mut())? };
    Ok(bytes)
}

/// The defaults: 1e-10 in double and 1e-5 in single precision in at most 10 000 iterations for each column and method. `struct_size` is
/// `sizeof(clinalg_system_options)`.
///
/// # Safety
/// `options` is null or has room for `struct_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_system_options_default(
    options: *mut ClinalgSystemOptions,
    struct_size: usize,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { put_defaults(options, struct_size) })
}

/// Solves A x = b for a sparse matrix, real or complex, by the method and the preconditioner that suit it: conjugate gradients with algebraic
/// multigrid for symmetric matrices with a positive diagonal, MINRES with blocks for symmetric saddle points, else BiCGStab with incomplete factors or
/// the like, then GMRES if one of them fails, and after it MINRES for symmetric matrices; the next column begins with the method that solved the
/// last one. A system with a matrix that is not square is solved in the least-squares sense by LSMR; of several solutions x is
/// the one of smallest norm. b is a vector or a dense matrix, whose columns are solved for one after the other. `*x` becomes a new object of the
/// kind of b. `reports`, if not null, gets the reports of the first `capacity` columns of b, of which there are `report->columns`. A solve that does not converge
/// is not a failed call: compare `report->converged` with the columns of b. Columns after one that `progress` ended are 0. An entry of A or b that is not
/// finite, a row of zeros where b is not 0, and more columns of zeros than rows of zeros give `CLINALG_STATUS_VALUE`, with a message that names the row and column.
///
/// # Safety
/// `options` names as many bytes as its first member says, its `solver` is null or a text that ends in zero; `x` is valid for a write; `reports` and `report` are null or valid for a write, the
/// former of `capacity` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_system_solve_automatic(
    options: *const ClinalgSystemOptions,
    a: ClinalgHandle,
    b: ClinalgHandle,
    x: *mut ClinalgHandle,
    reports: *mut ClinalgReport,
    capacity: usize,
    report: *mut ClinalgSystemReport,
) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let wanted = unsafe { read(options)? };
        // Before x is created, since nobody would release it after an error.
        check_array("x", x, 1)?;
        if !reports.is_null() && capacity > 0 {
            check_array("reports", reports, 1)?;
        }
        if !report.is_null() {
            check_array("report", report, 1)?;
        }
        let mut solver = SolverText::default();
        if !wanted.solver.is_null() {
            // SAFETY: by the contract above.
            solver = unsafe { text("solver", wanted.solver)? }.parse()?;
        }
        check_tolerance(wanted.tolerance)?;
        if wanted.tolerance != 0.0 {
            solver.tolerance = Some(wanted.tolerance);
        }
        if wanted.max_iterations != ClinalgSystemOptions::defaults().max_iterations {
            solver.max_iterations = Some(wanted.max_iterations);
        }
        let mut progress = progress(wanted.progress, wanted.progress_data);
        let (handle, found) = Registry::global().solve_automatic(a, b, &solver, &mut progress)?;
        // SAFETY: by the contract above.
        unsafe {
            if !reports.is_null() {
                let kept = capacity.min(found.reports.len());
                let summaries = found.reports.iter().map(summary);
                slice_mut("reports", reports, kept)?.iter_mut().zip(summaries).for_each(|(to, from)| *to = from);
            }
            if !report.is_null() {
                report.write(ClinalgSystemReport {
                    columns: found.reports.len(),
                    converged: found.reports.iter().filter(|report| report.stop.is_success()).count(),
                    method: fixed(found.method)?,
                    preconditioner: fixed(found.preconditioner)?,
                    reason: fixed(&found.why)?,
                });
            }
            x.write(handle);
        }
        Ok(())
    })
}
