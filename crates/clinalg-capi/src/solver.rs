//! Solvers on handles.

use std::ops::ControlFlow;

use clinalg::Error;
use clinalg::multigrid::{Cycle, PoissonParams, Smoother};
use clinalg::solve::{GmresParams, LeastSquaresMethod, Progress, Report, Stop, Stopping};
use clinalg_handles::{Method, PreconditionerKind, Preconditioning, Registry};

use crate::object::ClinalgHandle;
use crate::status::{ClinalgStatus, Fault, guard};
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
    /// LSQR: the x that makes |b - A x| smallest, for dense, sparse and band matrices of any shape; the preconditioner is none or, for sparse ones,
    /// `CLINALG_PRECONDITIONER_JACOBI`, which scales the columns to a norm of 1. Only in `clinalg_system_solve`.
    Lsqr = 6,
    /// LSMR: as LSQR, and may be stopped earlier, as |A^H (b - A x)| never rises.
    Lsmr = 7,
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
    /// Algebraic multigrid, for real matrices.
    Amg = 8,
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
    /// The system has no solution to working accuracy, and x is a least-squares solution; only `CLINALG_METHOD_MINRES`.
    LeastSquares = 10,
    /// A reason unknown to this version of the header.
    Other = 255,
}

/// Parameters of a Krylov solver; fill it with `clinalg_solve_params_default` first.
///
/// @deprecated `clinalg_solver_options` can grow.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgSolveParams {
    /// The method, a `clinalg_method`.
    pub method: u32,
    /// The preconditioner, a `clinalg_preconditioner`.
    pub preconditioner: u32,
    /// Relative residual |b - A x| / |b| to reach.
    pub tolerance: f64,
    /// Maximum number of iterations.
    pub max_iterations: usize,
    /// Iterations between restarts of GMRES.
    pub restart: usize,
}

impl ClinalgSolveParams {
    pub(crate) fn defaults() -> ClinalgSolveParams {
        let defaults = GmresParams::default();
        ClinalgSolveParams {
            method: ClinalgMethod::Cg as u32,
            preconditioner: ClinalgPreconditioner::None as u32,
            tolerance: defaults.stopping.tolerance_of::<f64>(),
            max_iterations: defaults.stopping.max_iterations,
            restart: defaults.restart,
        }
    }
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

/// Parameters of the Poisson solver; fill it with `clinalg_poisson_params_default` first.
///
/// @deprecated `clinalg_poisson_options` can grow.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgPoissonParams {
    /// The cycle, a `clinalg_cycle`.
    pub cycle: u32,
    /// The smoother, a `clinalg_smoother`.
    pub smoother: u32,
    /// Sweeps before the coarse-grid correction.
    pub pre: usize,
    /// Sweeps after it.
    pub post: usize,
    /// Weight of the Jacobi smoother, between 0 and 2.
    pub omega: f64,
    /// Relative residual to reach.
    pub tolerance: f64,
    /// Maximum number of cycles.
    pub max_cycles: usize,
    /// 2 for the unit square, 3 for the unit cube.
    pub dim: usize,
    /// The constant added to -Laplace, at least 0.
    pub shift: f64,
}

impl ClinalgPoissonParams {
    pub(crate) fn defaults() -> ClinalgPoissonParams {
        let defaults = PoissonParams::default();
        ClinalgPoissonParams {
            cycle: ClinalgCycle::V as u32,
            smoother: ClinalgSmoother::RedBlack as u32,
            pre: defaults.pre,
            post: defaults.post,
            omega: defaults.omega,
            tolerance: defaults.tolerance,
            max_cycles: defaults.max_cycles,
            dim: defaults.dim,
            shift: defaults.shift,
        }
    }
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

/// The defaults: CG without preconditioner to 1e-10 in at most 10 000 iterations, restart 30.
///
/// @deprecated Use `clinalg_solver_options_default`.
///
/// # Safety
/// `params` is null or valid for a write.
#[deprecated(note = "use clinalg_solver_options_default")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_solve_params_default(params: *mut ClinalgSolveParams) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { crate::put("params", params, ClinalgSolveParams::defaults()) })
}

/// Solves A x = b for a dense, sparse or band matrix. `*x` holds the start on entry and the last
/// iterate after; 0 there makes a new vector and starts from zero. `history`, if not null, gets the
/// first `capacity` relative residuals, the start's first.
///
/// @deprecated Use `clinalg_system_solve`.
///
/// # Safety
/// `params` is valid for reading, `x` for reading and writing; `report` and `history` are null or
/// valid for a write, the latter of `capacity` values.
#[deprecated(note = "use clinalg_system_solve")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_solve(
    params: *const ClinalgSolveParams,
    a: ClinalgHandle,
    b: ClinalgHandle,
    x: *mut ClinalgHandle,
    report: *mut ClinalgReport,
    history: *mut f64,
    capacity: usize,
) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let (given, wanted) = unsafe { arguments(("x", x), params)? };
        let preconditioning = preconditioning_of(wanted.preconditioner)?;
        let (handle, done) = krylov(&wanted, preconditioning, (a, b, given), &mut silent)?;
        // SAFETY: by the contract above.
        unsafe { results((x, handle), (report, summary(&done)), (history, capacity), &done.history) }
    })
}

/// As `clinalg_solve`, preconditioned with `preconditioner`: a matrix or operator whose product approximates the inverse of A, such
/// as `clinalg_heat_opposite_create` makes. `params->preconditioner` has to be `CLINALG_PRECONDITIONER_NONE`.
///
/// @deprecated Use `clinalg_system_solve` with `clinalg_solver_options.inverse`.
///
/// # Safety
/// As `clinalg_solve`.
#[deprecated(note = "use clinalg_system_solve with clinalg_solver_options.inverse")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_solve_preconditioned(
    params: *const ClinalgSolveParams,
    a: ClinalgHandle,
    preconditioner: ClinalgHandle,
    b: ClinalgHandle,
    x: *mut ClinalgHandle,
    report: *mut ClinalgReport,
    history: *mut f64,
    capacity: usize,
) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let (given, wanted) = unsafe { arguments(("x", x), params)? };
        let none = [(ClinalgPreconditioner::None as u32, ())];
        choice("params.preconditioner", wanted.preconditioner, &none)?;
        let (handle, done) = krylov(&wanted, Preconditioning::Inverse(preconditioner), (a, b, given), &mut silent)?;
        // SAFETY: by the contract above.
        unsafe { results((x, handle), (report, summary(&done)), (history, capacity), &done.history) }
    })
}

/// The preconditioner of a code.
pub(crate) fn preconditioning_of(code: u32) -> Result<Preconditioning, Fault> {
    let known = [
        (ClinalgPreconditioner::None as u32, Preconditioning::None),
        (ClinalgPreconditioner::Jacobi as u32, Preconditioning::Jacobi),
        (ClinalgPreconditioner::Ilu as u32, Preconditioning::Of(PreconditionerKind::Ilu)),
        (ClinalgPreconditioner::Ilut as u32, Preconditioning::Of(PreconditionerKind::Ilut)),
        (ClinalgPreconditioner::Ic as u32, Preconditioning::Of(PreconditionerKind::Cholesky)),
        (ClinalgPreconditioner::Ssor as u32, Preconditioning::Of(PreconditionerKind::Ssor)),
        (ClinalgPreconditioner::Spai0 as u32, Preconditioning::Of(PreconditionerKind::Spai0)),
        (ClinalgPreconditioner::Fsai as u32, Preconditioning::Of(PreconditionerKind::Fsai)),
        (ClinalgPreconditioner::Amg as u32, Preconditioning::Of(PreconditionerKind::Amg)),
    ];
    choice("preconditioner", code, &known)
}

/// The progress of the functions that have none.
fn silent(_: usize, _: f64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The method of a code, with the restart of GMRES.
pub(crate) fn method_of(code: u32, restart: usize) -> Result<Method, Fault> {
    let known = [
        (ClinalgMethod::Cg as u32, Method::Cg),
        (ClinalgMethod::Bicgstab as u32, Method::BiCgStab),
        (ClinalgMethod::Gmres as u32, Method::Gmres(restart)),
        (ClinalgMethod::Minres as u32, Method::Minres),
        (ClinalgMethod::Idr as u32, Method::Idr),
        (ClinalgMethod::FlexibleCg as u32, Method::FlexibleCg),
    ];
    if least_squares_of(code).is_some() {
        let expected = "a method for square systems; call clinalg_system_solve for LSQR and LSMR";
        return Err(Error::value("method", expected, code).into());
    }
    choice("method", code, &known)
}

/// The method for least squares of a code, if it is one.
fn least_squares_of(code: u32) -> Option<LeastSquaresMethod> {
    let known = [
        (ClinalgMethod::Lsqr as u32, LeastSquaresMethod::Lsqr),
        (ClinalgMethod::Lsmr as u32, LeastSquaresMethod::Lsmr),
    ];
    choice("method", code, &known).ok()
}

/// Solves for the handles of A, b and, if there is one, x.
pub(crate) fn krylov(
    wanted: &ClinalgSolveParams,
    preconditioning: Preconditioning,
    (a, b, x): (u64, u64, Option<u64>),
    progress: Progress<'_>,
) -> Result<(u64, Report), Fault> {
    let stopping = Stopping::default().tolerance(wanted.tolerance).max_iterations(wanted.max_iterations);
    if let Some(method) = least_squares_of(wanted.method) {
        return Ok(Registry::global().least_squares(method, preconditioning, (a, b, x), &stopping, progress)?);
    }
    let method = method_of(wanted.method, wanted.restart)?;
    Ok(Registry::global().solve_with(method, preconditioning, (a, b, x), &stopping, progress)?)
}

pub(crate) fn summary(done: &Report) -> ClinalgReport {
    ClinalgReport {
        stop: stop(done.stop),
        iterations: done.iterations,
        relative_residual: done.relative_residual,
        history: done.history.len(),
    }
}

/// The defaults: V(2,1) with red-black Gauss-Seidel to 1e-10 in at most 100 cycles.
///
/// @deprecated Use `clinalg_poisson_options_default`.
///
/// # Safety
/// `params` is null or valid for a write.
#[deprecated(note = "use clinalg_poisson_options_default")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_poisson_params_default(params: *mut ClinalgPoissonParams) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { crate::put("params", params, ClinalgPoissonParams::defaults()) })
}

/// Solves -Laplace u + shift u = f on the unit square or cube by multigrid. f and u are grids with their
/// boundary points, N per side, of N^dim values, N = 2^k + 1; `*u` holds the boundary values and the start on entry and the
/// solution after; 0 there makes a new vector of zeros. `history` as in `clinalg_solve`.
///
/// @deprecated Use `clinalg_poisson_solve`.
///
/// # Safety
/// As `clinalg_solve`.
#[deprecated(note = "use clinalg_poisson_solve")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_poisson(
    params: *const ClinalgPoissonParams,
    f: ClinalgHandle,
    u: *mut ClinalgHandle,
    report: *mut ClinalgReport,
    history: *mut f64,
    capacity: usize,
) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let (given, wanted) = unsafe { arguments(("u", u), params)? };
        let (handle, value, residuals) = poisson(poisson_params(&wanted)?, None, (f, given), &mut silent)?;
        // SAFETY: by the contract above.
        unsafe { results((u, handle), (report, value), (history, capacity), &residuals) }
    })
}

/// The cycle of a code.
pub(crate) fn cycle_of(code: u32) -> Result<Cycle, Fault> {
    let known = [
        (ClinalgCycle::V as u32, Cycle::V),
        (ClinalgCycle::W as u32, Cycle::W),
        (ClinalgCycle::Full as u32, Cycle::Full),
    ];
    choice("cycle", code, &known)
}

/// What the parameters of C stand for.
pub(crate) fn poisson_params(wanted: &ClinalgPoissonParams) -> Result<PoissonParams, Fault> {
    Ok(PoissonParams {
        cycle: cycle_of(wanted.cycle)?,
        smoother: choice(
            "smoother",
            wanted.smoother,
            &[
                (ClinalgSmoother::RedBlack as u32, Smoother::RedBlack),
                (ClinalgSmoother::Jacobi as u32, Smoother::Jacobi),
            ],
        )?,
        pre: wanted.pre,
        post: wanted.post,
        omega: wanted.omega,
        tolerance: wanted.tolerance,
        max_cycles: wanted.max_cycles,
        dim: wanted.dim,
        shift: wanted.shift,
        ..PoissonParams::default()
    })
}

/// Solves for the handles of f and, if there is one, u, on a team if one is named; gives the handle of u, the summary and the residuals.
pub(crate) fn poisson(
    params: PoissonParams,
    team: Option<u64>,
    (f, u): (u64, Option<u64>),
    progress: Progress<'_>,
) -> Result<(u64, ClinalgReport, Vec<f64>), Fault> {
    let registry = Registry::global();
    let (handle, done) = match team {
        Some(team) => registry.team_poisson_with(team, (f, u), &params, progress)?,
        None => registry.poisson_with(f, u, &params, progress)?,
    };
    let value = ClinalgReport {
        stop: stop(done.stop),
        iterations: done.cycles,
        relative_residual: done.relative_residual,
        history: done.history.len(),
    };
    Ok((handle, value, done.history))
}

/// The handle given, if there is one, and the parameters.
///
/// # Safety
/// The pointers are null or valid for reading.
unsafe fn arguments<P: Copy>(
    (argument, handle): (&'static str, *const ClinalgHandle),
    params: *const P,
) -> Result<(Option<u64>, P), Fault> {
    if handle.is_null() {
        return Err(Fault::Null(argument));
    }
    if params.is_null() {
        return Err(Fault::Null("params"));
    }
    // SAFETY: by the contract above.
    let (given, params) = unsafe { (*handle, *params) };
    Ok(((given != 0).then_some(given), params))
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
