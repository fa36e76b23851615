//! Krylov solvers that are made once for many solves.

use std::ffi::c_void;

use clinalg::Error;
use clinalg_handles::Registry;

use crate::callback::{ClinalgProgress, progress as callback};
use crate::object::{ClinalgHandle, upload};
use crate::options::{ClinalgSolverOptions, given, of_options, one_preconditioner, read};
use crate::solver::{Chosen, ClinalgReport, method_of, results, stopping, summary, with_members};
use crate::status::{ClinalgStatus, guard};

/// A solver of A x = b for one matrix and many right-hand sides: the method with its memory, and the preconditioner that the options name.
/// `a` is a dense, sparse or band matrix or an operator, square, real or complex. The solver keeps `a` and `options->inverse` alive after their
/// handles are released. `options->progress` must be null: `clinalg_solver_solve` takes it. `clinalg_object_release` releases the solver.
///
/// # Safety
/// `options` names as many bytes as its first member says; `solver` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_solver_create(
    options: *const ClinalgSolverOptions,
    a: ClinalgHandle,
    solver: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(solver, |_| {
        // SAFETY: by the contract above.
        let wanted = unsafe { read(options)? };
        if wanted.progress.is_some() {
            let expected = "NULL in the options of a solver object; give the function to clinalg_solver_solve";
            return Err(Error::value("progress", expected, "a function").into());
        }
        let preconditioning = one_preconditioner(wanted.preconditioner, wanted.inverse)?;
        let Chosen::Square(method) = method_of(&wanted.wanted())? else {
            let expected = "a method for square systems; call clinalg_system_solve for LSQR and LSMR";
            return Err(Error::value("method", expected, wanted.method).into());
        };
        let stopping = stopping(wanted.tolerance, wanted.max_iterations)?;
        let made = Registry::global().solver(method, preconditioning, a, &stopping);
        made.map_err(|error| of_options(with_members(error), wanted.inverse))
    })
}

/// Solves A x = b. `*x` holds the initial guess on entry and the result on return, as in `clinalg_system_solve`; 0 there makes a new vector and starts from zero. With an x that
/// exists, solves after the first, which prepares the products of the matrix, allocate nothing on the device. The current values of A are used; the preconditioner is that of the last
/// `clinalg_solver_refill`. `progress`, if not null, is called with `progress_data` after every iteration. `report` and `history` as in
/// `clinalg_system_solve`. One call at a time uses a solver; others wait for it.
///
/// # Safety
/// `x` is valid for reading and writing; `progress` is null or may be called with `progress_data`; `report` and `history` are null or valid for a
/// write, the latter of `capacity` values.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no named arguments and no slices")]
pub unsafe extern "C" fn clinalg_solver_solve(
    solver: ClinalgHandle,
    b: ClinalgHandle,
    x: *mut ClinalgHandle,
    progress: ClinalgProgress,
    progress_data: *mut c_void,
    report: *mut ClinalgReport,
    history: *mut f64,
    capacity: usize,
) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let start = unsafe { given("x", x)? };
        let mut progress = callback(progress, progress_data);
        let solved = Registry::global().solver_solve(solver, (b, start), &mut progress);
        let (handle, done) = solved.map_err(|error| error.renamed("preconditioner", "inverse"))?;
        // SAFETY: by the contract above.
        unsafe { results((x, handle), (report, summary(&done)), (history, capacity), &done.history) }
    })
}

/// Recomputes the preconditioner of a solver for the current values of its matrix, or for another matrix `a` of the same size and type, which
/// replaces it; 0 stands for the same matrix. Algebraic multigrid accepts only values at the same positions. A preconditioner that was
/// given by `inverse` does not belong to the solver: it is kept, and with `a` 0 the call is an error.
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_solver_refill(solver: ClinalgHandle, a: ClinalgHandle) -> ClinalgStatus {
    guard(|| Ok(Registry::global().solver_refill(solver, (a != 0).then_some(a))?))
}

/// Changes the stopping criteria of the next solves: the relative residual to reach and the maximum number of iterations.
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_solver_set_limits(
    solver: ClinalgHandle,
    tolerance: f64,
    max_iterations: usize,
) -> ClinalgStatus {
    guard(|| {
        let stopping = stopping(tolerance, max_iterations)?;
        Ok(Registry::global().solver_set_stopping(solver, &stopping)?)
    })
}
