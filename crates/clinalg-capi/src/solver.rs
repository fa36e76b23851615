//! Solvers on handles.

use std::ops::ControlFlow;

use clinalg::Error;
use clinalg::multigrid::{Cycle, PoissonParams, Smoother};
use clinalg::solve::{GmresParams, IdrParams, LeastSquaresMethod, Progress, Report, Stop, Stopping};
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
    /// The system has no solution to working accuracy, and x is a least-squares solution; only with `CLINALG_METHOD_MINRES`.
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

    fn wanted(&self) -> Wanted {
        let ClinalgSolveParams { method, tolerance, max_iterations, restart, .. } = *self;
        Wanted { method, tolerance, max_iterations, restart, idr_dimension: IdrParams::default().dimensions }
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

/// Solves A x = b for a dense, sparse or band matrix. `*x` holds the initial guess on entry and the result on return, as in `clinalg_system_solve`; 0 there
/// makes a new vector and starts from zero. `history`, if not null, gets the first `capacity` relative residuals, beginning with that of the initial guess.
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
        let (handle, done) = krylov(&wanted.wanted(), preconditioning, (a, b, given), &mut silent)?;
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
        let preconditioning = Preconditioning::Inverse(preconditioner);
        let (handle, done) = krylov(&wanted.wanted(), preconditioning, (a, b, given), &mut silent)?;
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
    Ok(Chosen::Square(match choice("method", wanted.method, &known.map(|method| (method as u32, method)))? {
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
    check_tolerance(wanted.tolerance)?;
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
        iterate: done.cycles,
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
