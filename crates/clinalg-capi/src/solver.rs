//! Solvers on handles.

use clinalg::multigrid::{Backend, Cycle};
use clinalg::solve::{LeastSquaresMethod, Progress, Report, Stop, Stopping};
use clinalg::{Error, automatic};
use clinalg_handles::{Method, PreconditionerKind, Preconditioning, Registry};

use crate::object::ClinalgHandle;
use crate::status::Fault;
use crate::{choice, slice_mut};

/// A Krylov method.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgMethod {
    /// Conjugate gradients: symmetric positive definite matrices.
    Cg = 0,
    /// Stabilised biconjugate gradients.
    Bicgstab = 1,
    /// Restarted generalised minimal residuals.
    Gmres = 2,
    /// Minimal residuals: symmetric matrices, definite or not, with a positive definite preconditioner.
    Minres = 3,
    /// Induced dimension reduction, IDR(s): as BiCGStab, more robust.
    Idr = 4,
    /// Conjugate gradients with a preconditioner that may differ in each iteration, such as K-cycles.
    FlexibleCg = 5,
    /// LSQR: the x that minimises |b - A x|, for dense, sparse and band matrices of any shape. The preconditioner approximates A^H A: for a sparse A
    /// `CLINALG_PRECONDITIONER_JACOBI`, which scales the columns to norm 1, or `_IC`, `_SSOR`, `_SPAI0`, `_FSAI` or `_AMG`, for which A^H A is computed.
    /// Only in `clinalg_system_solve`.
    Lsqr = 6,
    /// LSMR: as LSQR, and may be stopped earlier, as |A^H (b - A x)| never rises.
    Lsmr = 7,
    /// Richardson iteration, x += M^-1 (b - A x), for real matrices: a preconditioner, such as cycles of algebraic multigrid, used as a solver. It converges if
    /// the eigenvalues of I - M^-1 A are below 1 in modulus. If it does not, x is the last iterate, or the initial guess if that is better.
    Richardson = 8,
}

/// A preconditioner. Those from ILU on are made for one solve with their default parameters; `clinalg_preconditioner_create` and
/// `clinalg_amg_create` make one for several solves.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgPreconditioner {
    /// None.
    None = 0,
    /// The matrix's diagonal.
    Jacobi = 1,
    /// ILU(0), of a sparse matrix, as the others that follow.
    Ilu = 2,
    /// ILUT.
    Ilut = 3,
    /// IC(0), for Hermitian positive definite matrices.
    Ic = 4,
    /// Symmetric successive over-relaxation.
    Ssor = 5,
    /// The diagonal that is closest to the inverse.
    Spai0 = 6,
    /// A factorised sparse approximate inverse, for Hermitian positive definite matrices.
    Fsai = 7,
    /// Algebraic multigrid.
    Amg = 8,
    /// A complete factorisation, Cholesky, L D L' or LU: with GMRES a direct solver.
    Lu = 9,
}

/// Why a solve ended.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgStop {
    /// The true relative residual is at most the tolerance.
    Converged = 0,
    /// The maximum number of iterations was reached first.
    IterationLimit = 1,
    /// A coefficient of the method vanished.
    Breakdown = 2,
    /// A NaN or infinity occurred.
    NotFinite = 3,
    /// The matrix or preconditioner is not positive definite.
    Indefinite = 4,
    /// The residual no longer falls.
    Stagnated = 5,
    /// The residual grows.
    Diverged = 6,
    /// Restarts no longer reduce the residual, which is near the rounding error and above the tolerance.
    RoundingFloor = 7,
    /// The function `progress` of the options ended the solve.
    Cancelled = 8,
    /// x is so large that the rounding error of b - A x is as large as the residual, as happens where A is singular or nearly so.
    Unbounded = 9,
    /// The system has no solution to working accuracy, and x is a least-squares solution; only with `CLINALG_METHOD_MINRES`.
    LeastSquares = 10,
    /// A reason unknown to this version of the header.
    Other = 255,
}

/// The smoother of multigrid.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgSmoother {
    /// Red-black Gauss-Seidel.
    RedBlack = 0,
    /// Weighted Jacobi.
    Jacobi = 1,
}

/// The implementation of a method on grids.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgBackend {
    /// Kernels specialised for the stencil.
    Kernels = 0,
    /// Sparse matrices and vectors only.
    Matrix = 1,
    /// Plain sequential code on the host.
    Reference = 2,
}

/// The order in which multigrid visits its levels.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgCycle {
    /// V-cycle: one coarse-grid correction per level.
    V = 0,
    /// W-cycle: two coarse-grid corrections per level.
    W = 1,
    /// Full multigrid first, then V-cycles.
    Full = 2,
}

/// The outcome of a solve. A solve that does not converge is not a failed call: check `stop`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgReport {
    /// Why it ended.
    pub stop: ClinalgStop,
    /// Iterations or cycles done.
    pub iterations: usize,
    /// |b - A x| / |b|, computed from the returned x.
    pub relative_residual: f64,
    /// Entries of the residual history, `iterations + 1`.
    pub history: usize,
    /// The number of the iterate returned in x: `iterations` or, if the solve did not converge, that of an earlier one with a smaller residual; 0 is
    /// the initial guess.
    pub iterate: usize,
}

pub(crate) fn stop(stop: Stop) -> ClinalgStop {
    match stop {
        Stop::Converged => ClinalgStop::Converged,
        Stop::IterationLimit => ClinalgStop::IterationLimit,
        Stop::Breakdown => ClinalgStop::Breakdown,
        Stop::NotFinite => ClinalgStop::NotFinite,
        Stop::Indefinite => ClinalgStop::Indefinite,
        Stop::Stagnated => ClinalgStop::Stagnated,
        Stop::Diverged => ClinalgStop::Diverged,
        Stop::RoundingFloor => ClinalgStop::RoundingFloor,
        Stop::Cancelled => ClinalgStop::Cancelled,
        Stop::Unbounded => ClinalgStop::Unbounded,
        Stop::LeastSquares => ClinalgStop::LeastSquares,
        _ => ClinalgStop::Other,
    }
}

/// The preconditioner of a code.
pub(crate) fn preconditioning_of(code: u32) -> Result<Preconditioning, Fault> {
    let known = [
        (ClinalgPreconditioner::None, Preconditioning::None),
        (ClinalgPreconditioner::Jacobi, Preconditioning::Jacobi),
        (ClinalgPreconditioner::Ilu, Preconditioning::Of(PreconditionerKind::Ilu)),
        (ClinalgPreconditioner::Ilut, Preconditioning::Of(PreconditionerKind::Ilut)),
        (ClinalgPreconditioner::Ic, Preconditioning::Of(PreconditionerKind::Cholesky)),
        (ClinalgPreconditioner::Ssor, Preconditioning::Of(PreconditionerKind::Ssor)),
        (ClinalgPreconditioner::Spai0, Preconditioning::Of(PreconditionerKind::Spai0)),
        (ClinalgPreconditioner::Fsai, Preconditioning::Of(PreconditionerKind::Fsai)),
        (ClinalgPreconditioner::Amg, Preconditioning::Of(PreconditionerKind::Amg)),
        (ClinalgPreconditioner::Lu, Preconditioning::Of(PreconditionerKind::Lu)),
    ];
    choice("preconditioner", code, &known)
}

/// The code of a method that a text names.
pub(crate) fn method_of_name(method: automatic::Method) -> Option<ClinalgMethod> {
    Some(match method {
        automatic::Method::Cg => ClinalgMethod::Cg,
        automatic::Method::FlexibleCg => ClinalgMethod::FlexibleCg,
        automatic::Method::Minres => ClinalgMethod::Minres,
        automatic::Method::BiCgStab => ClinalgMethod::Bicgstab,
        automatic::Method::Idr => ClinalgMethod::Idr,
        automatic::Method::Gmres => ClinalgMethod::Gmres,
        automatic::Method::Richardson => ClinalgMethod::Richardson,
        automatic::Method::Lsqr => ClinalgMethod::Lsqr,
        automatic::Method::Lsmr => ClinalgMethod::Lsmr,
        _ => return None,
    })
}

/// The code of a preconditioner that a text names.
pub(crate) fn preconditioner_of_name(kind: automatic::PreconditionerKind) -> Option<ClinalgPreconditioner> {
    Some(match kind {
        automatic::PreconditionerKind::None => ClinalgPreconditioner::None,
        automatic::PreconditionerKind::Jacobi => ClinalgPreconditioner::Jacobi,
        automatic::PreconditionerKind::Spai0 => ClinalgPreconditioner::Spai0,
        automatic::PreconditionerKind::Ssor => ClinalgPreconditioner::Ssor,
        automatic::PreconditionerKind::Ilu => ClinalgPreconditioner::Ilu,
        automatic::PreconditionerKind::Ilut => ClinalgPreconditioner::Ilut,
        automatic::PreconditionerKind::Cholesky => ClinalgPreconditioner::Ic,
        automatic::PreconditionerKind::Fsai => ClinalgPreconditioner::Fsai,
        automatic::PreconditionerKind::Amg => ClinalgPreconditioner::Amg,
        automatic::PreconditionerKind::Lu => ClinalgPreconditioner::Lu,
        _ => return None,
    })
}

/// A method with its parameters and stopping criteria.
pub(crate) struct Wanted {
    pub(crate) method: u32,
    pub(crate) tolerance: f64,
    pub(crate) max_iterations: usize,
    pub(crate) restart: usize,
    pub(crate) idr_dimension: usize,
}

/// The method that a code selects.
pub(crate) enum Chosen {
    Square(Method),
    LeastSquares(LeastSquaresMethod),
}

/// The selected method with its parameters.
pub(crate) fn method_of(wanted: &Wanted) -> Result<Chosen, Fault> {
    let known = [
        ClinalgMethod::Cg,
        ClinalgMethod::Bicgstab,
        ClinalgMethod::Gmres,
        ClinalgMethod::Minres,
        ClinalgMethod::Idr,
        ClinalgMethod::FlexibleCg,
        ClinalgMethod::Lsqr,
        ClinalgMethod::Lsmr,
        ClinalgMethod::Richardson,
    ];
    Ok(Chosen::Square(match choice("method", wanted.method, &known.map(|method| (method, method)))? {
        ClinalgMethod::Cg => Method::Cg,
        ClinalgMethod::Bicgstab => Method::BiCgStab,
        ClinalgMethod::Gmres => Method::Gmres(wanted.restart),
        ClinalgMethod::Minres => Method::Minres,
        ClinalgMethod::Idr => Method::Idr(wanted.idr_dimension),
        ClinalgMethod::FlexibleCg => Method::FlexibleCg,
        ClinalgMethod::Richardson => Method::Richardson,
        ClinalgMethod::Lsqr => return Ok(Chosen::LeastSquares(LeastSquaresMethod::Lsqr)),
        ClinalgMethod::Lsmr => return Ok(Chosen::LeastSquares(LeastSquaresMethod::Lsmr)),
    }))
}

/// An error if the tolerance is 1 or more: x = 0, whose relative residual is 1, would meet it.
pub(crate) fn check_tolerance(tolerance: f64) -> Result<(), Fault> {
    if tolerance >= 1.0 {
        return Err(Error::value("tolerance", "a number between 0 and 1, such as 1e-8", tolerance).into());
    }
    Ok(())
}

/// The stopping criteria of a solve.
pub(crate) fn stopping(tolerance: f64, max_iterations: usize) -> Result<Stopping, Fault> {
    check_tolerance(tolerance)?;
    Ok(Stopping::default().tolerance(tolerance).max_iterations(max_iterations))
}

/// An error of a solver with the names of the members of the options.
pub(crate) fn with_members(error: Error) -> Fault {
    Fault::Library(error.renamed("dimensions", "idr_dimension"))
}

/// Solves for the handles of A, b and, if there is one, x.
pub(crate) fn krylov(
    wanted: &Wanted,
    preconditioning: Preconditioning,
    (a, b, x): (u64, u64, Option<u64>),
    progress: Progress<'_>,
) -> Result<(u64, Report), Fault> {
    let stopping = stopping(wanted.tolerance, wanted.max_iterations)?;
    let (registry, system) = (Registry::global(), (a, b, x));
    let solved = match method_of(wanted)? {
        Chosen::LeastSquares(method) => registry.least_squares(method, preconditioning, system, &stopping, progress),
        Chosen::Square(method) => registry.solve_with(method, preconditioning, system, &stopping, progress),
    };
    solved.map_err(with_members)
}

pub(crate) fn summary(done: &Report) -> ClinalgReport {
    ClinalgReport {
        stop: stop(done.stop),
        iterations: done.iterations,
        relative_residual: done.relative_residual,
        history: done.history.len(),
        iterate: done.iterate,
    }
}

/// The cycle of a code.
pub(crate) fn cycle_of(code: u32) -> Result<Cycle, Fault> {
    let known = [(ClinalgCycle::V, Cycle::V), (ClinalgCycle::W, Cycle::W), (ClinalgCycle::Full, Cycle::Full)];
    choice("cycle", code, &known)
}

/// The backend of a code.
pub(crate) fn backend_of(code: u32) -> Result<Backend, Fault> {
    let known = [
        (ClinalgBackend::Kernels, Backend::Kernels),
        (ClinalgBackend::Matrix, Backend::Matrix),
        (ClinalgBackend::Reference, Backend::Reference),
    ];
    choice("backend", code, &known)
}

/// Writes what a solve gives.
///
/// # Safety
/// The handle's pointer is valid for a write, the others are null or are.
pub(crate) unsafe fn results(
    (handle, made): (*mut ClinalgHandle, u64),
    (report, value): (*mut ClinalgReport, ClinalgReport),
    (history, capacity): (*mut f64, usize),
    residuals: &[f64],
) -> Result<(), Fault> {
    // SAFETY: by the contract above.
    unsafe {
        handle.write(made);
        if !report.is_null() {
            report.write(value);
        }
        if !history.is_null() {
            let kept = capacity.min(residuals.len());
            slice_mut("history", history, kept)?.copy_from_slice(&residuals[..kept]);
        }
    }
    Ok(())
}
