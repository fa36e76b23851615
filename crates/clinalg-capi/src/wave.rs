//! The wave equation on handles.

use std::ffi::c_void;

use clinalg::Context;
use clinalg::multigrid::Backend;
use clinalg::wave::{Scheme, WaveEnergy, WaveParams, WaveReport};
use clinalg_handles::Registry;

use crate::callback::{self, ClinalgProgress};
use crate::object::{ClinalgHandle, ClinalgPrecision, precision_of};
use crate::operation::into;
use crate::options::{Versioned, put_defaults, read as read_options};
use crate::solver::{ClinalgStop, stop};
use crate::status::{ClinalgStatus, Fault, guard};
use crate::{choice, put};

/// How a wave steps through time.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgScheme {
    /// Leapfrog, stable while c dt / h is at most 1 / sqrt(2).
    Explicit = 0,
    /// Newmark with beta = 1/4, by multigrid, stable for every time step.
    Implicit = 1,
}

/// The implementation of the steps: kernels, matrices or sequential code.
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

/// Options of a wave. Fill them with `clinalg_wave_options_default(&options, sizeof options)`, then change what is to
/// differ. Later versions append members, which take their defaults in programs compiled before.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgWaveOptions {
    /// `sizeof(clinalg_wave_options)`, as the program was compiled.
    pub struct_size: usize,
    /// Points per side, boundary included: at least 3; 2^k + 1 for the implicit scheme.
    pub n: usize,
    /// The time stepping scheme, a `clinalg_scheme`.
    pub scheme: u32,
    /// The implementation of the steps, a `clinalg_backend`.
    pub backend: u32,
    /// Speed of the waves, in side lengths of the square per unit of time.
    pub c: f64,
    /// Time step.
    pub dt: f64,
    /// Maximum number of explicit steps in one pass over memory, 1 to 8; the results have the same bits.
    pub steps_per_pass: usize,
    /// Of the implicit scheme: relative residual of the accelerations to reach in each step.
    pub tolerance: f64,
    /// Of the implicit scheme: maximum number of multigrid cycles per step.
    pub max_cycles: usize,
    /// The precision of the computation, a `clinalg_precision`.
    pub precision: u32,
    /// Zero. Without it the end of the structure would be padding.
    pub reserved: u32,
}

// SAFETY: numbers in `repr(C)`, the size first.
unsafe impl Versioned for ClinalgWaveOptions {
    fn defaults() -> ClinalgWaveOptions {
        let defaults = WaveParams::default();
        ClinalgWaveOptions {
            struct_size: size_of::<ClinalgWaveOptions>(),
            n: defaults.n,
            scheme: ClinalgScheme::Explicit as u32,
            backend: ClinalgBackend::Kernels as u32,
            c: defaults.c,
            dt: defaults.dt,
            steps_per_pass: defaults.steps_per_pass,
            tolerance: defaults.tolerance,
            max_cycles: defaults.max_cycles,
            precision: ClinalgPrecision::F64 as u32,
            reserved: 0,
        }
    }
}

/// The outcome of a start or of some steps.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgWaveReport {
    /// Why the last solve of the implicit scheme ended; no step is made after a failure. Converged for the explicit scheme.
    pub stop: ClinalgStop,
    /// Steps made by this call.
    pub steps: usize,
    /// Time since the start.
    pub time: f64,
    /// Multigrid cycles of all these steps together.
    pub cycles: usize,
    /// Largest relative residual of these steps.
    pub relative_residual: f64,
}

/// The defaults: leapfrog by kernels at 1025 points per side, c = 1, c dt / h = 1/2, up to 8 steps per pass, double precision. `struct_size` is
/// `sizeof(clinalg_wave_options)`.
///
/// # Safety
/// `options` is null or has room for `struct_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_wave_options_default(
    options: *mut ClinalgWaveOptions,
    struct_size: usize,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { put_defaults(options, struct_size) })
}

/// Creates a membrane at rest on the current device: u_tt = c^2 Laplace u on the unit square, values on
/// the boundary fixed. A time step past the stability limit of the explicit scheme is an error that names the
/// limit. `clinalg_object_release` releases it. Options of a larger size than this library knows are an error.
///
/// # Safety
/// `options` names as many bytes as its first member says; `wave` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_wave_create(
    options: *const ClinalgWaveOptions,
    wave: *mut ClinalgHandle,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { make(&read_options(options)?, None, wave) })
}

/// # Safety
/// `wave` is valid for a write, or null.
pub(crate) unsafe fn make(
    wanted: &ClinalgWaveOptions,
    team: Option<u64>,
    wave: *mut ClinalgHandle,
) -> Result<(), Fault> {
    if wave.is_null() {
        return Err(Fault::Null("wave"));
    }
    let params = WaveParams {
        n: wanted.n,
        scheme: choice(
            "scheme",
            wanted.scheme,
            &[(ClinalgScheme::Explicit as u32, Scheme::Explicit), (ClinalgScheme::Implicit as u32, Scheme::Implicit)],
        )?,
        backend: choice(
            "backend",
            wanted.backend,
            &[
                (ClinalgBackend::Kernels as u32, Backend::Kernels),
                (ClinalgBackend::Matrix as u32, Backend::Matrix),
                (ClinalgBackend::Reference as u32, Backend::Reference),
            ],
        )?,
        c: wanted.c,
        dt: wanted.dt,
        steps_per_pass: wanted.steps_per_pass,
        tolerance: wanted.tolerance,
        max_cycles: wanted.max_cycles,
    };
    let (registry, context, precision) = (Registry::global(), Context::global()?, precision_of(wanted.precision)?);
    let made = match team {
        Some(team) => registry.team_wave(team, &context, precision, &params)?,
        None => registry.wave(&context, precision, &params)?,
    };
    // SAFETY: by the contract above.
    unsafe { put("wave", wave, made) }
}

/// Sets displacement and velocity at time 0, vectors or matrices of n^2 values; a `v` of 0 stands for
/// rest. The boundary values of u stay, those of v are not read. `report` may be null.
///
/// # Safety
/// `report` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_wave_start(
    wave: ClinalgHandle,
    u: ClinalgHandle,
    v: ClinalgHandle,
    report: *mut ClinalgWaveReport,
) -> ClinalgStatus {
    guard(|| {
        let done = Registry::global().wave_start(wave, u, (v != 0).then_some(v))?;
        // SAFETY: by the contract above.
        unsafe { write_report(wave, &done, report) }
    })
}

/// Makes `steps` steps. The explicit scheme only enqueues them. The implicit one stops where an
/// equation is not solved, which is no failed call: look at `report`, which may be null.
///
/// # Safety
/// `report` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_wave_step(
    wave: ClinalgHandle,
    steps: usize,
    report: *mut ClinalgWaveReport,
) -> ClinalgStatus {
    guard(|| {
        let done = Registry::global().wave_step(wave, steps)?;
        // SAFETY: by the contract above.
        unsafe { write_report(wave, &done, report) }
    })
}

/// As `clinalg_wave_step`, but waits for the device about ten times a second and then calls `progress` with the number of steps made by this
/// call and, in place of a residual, the time reached. If `progress` returns a number other than 0, the call ends: it returns success, and
/// `stop` of the report is `CLINALG_STOP_CANCELLED`. The results are bitwise those of `clinalg_wave_step`.
///
/// # Safety
/// `progress` is null or a function that takes `progress_data`; `report` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_wave_step_with(
    wave: ClinalgHandle,
    steps: usize,
    progress: ClinalgProgress,
    progress_data: *mut c_void,
    report: *mut ClinalgWaveReport,
) -> ClinalgStatus {
    guard(|| {
        let mut cancelled = false;
        let mut tell = callback::progress(progress, progress_data);
        let done = Registry::global().wave_step_with(wave, steps, &mut |made, time| {
            let flow = tell(made, time);
            cancelled = flow.is_break();
            flow
        })?;
        // SAFETY: by the contract above.
        unsafe { write_report(wave, &done, report)? };
        if cancelled && done.steps < steps && !report.is_null() {
            // SAFETY: by the contract above; it was just written.
            unsafe { (*report).stop = ClinalgStop::Cancelled };
        }
        Ok(())
    })
}

/// The displacement into `*u`; 0 there makes a new n by n matrix, column j the points at y = j h.
///
/// # Safety
/// `u` is valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_wave_displacement(wave: ClinalgHandle, u: *mut ClinalgHandle) -> ClinalgStatus {
    into("u", u, |registry, given| registry.wave_displacement(wave, given))
}

/// The velocity into `*v`, as `clinalg_wave_displacement`.
///
/// # Safety
/// `v` is valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_wave_velocity(wave: ClinalgHandle, v: *mut ClinalgHandle) -> ClinalgStatus {
    into("v", v, |registry, given| registry.wave_velocity(wave, given))
}

/// The discrete energy, kinetic and potential; the sum is what the schemes keep. Each pointer may be null.
///
/// # Safety
/// The pointers are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_wave_energy(
    wave: ClinalgHandle,
    kinetic: *mut f64,
    potential: *mut f64,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    unsafe { energy((kinetic, potential), |registry| registry.wave_energy(wave)) }
}

/// Writes the parts of an energy where they are wanted.
///
/// # Safety
/// The pointers are null or valid for a write.
pub(crate) unsafe fn energy(
    (kinetic, potential): (*mut f64, *mut f64),
    of: impl FnOnce(&Registry) -> clinalg::Result<WaveEnergy>,
) -> ClinalgStatus {
    guard(|| {
        let energy = of(Registry::global())?;
        for (pointer, value) in [(kinetic, energy.kinetic), (potential, energy.potential)] {
            if !pointer.is_null() {
                // SAFETY: by the contract above.
                unsafe { pointer.write(value) };
            }
        }
        Ok(())
    })
}

/// Writes a report where one is wanted.
///
/// # Safety
/// `report` is null or valid for a write.
unsafe fn write_report(wave: ClinalgHandle, done: &WaveReport, report: *mut ClinalgWaveReport) -> Result<(), Fault> {
    if report.is_null() {
        return Ok(());
    }
    let value = ClinalgWaveReport {
        stop: done.implicit.map_or(ClinalgStop::Converged, |implicit| stop(implicit.stop)),
        steps: done.steps,
        time: Registry::global().wave_state(wave)?.time,
        cycles: done.implicit.map_or(0, |implicit| implicit.cycles),
        relative_residual: done.implicit.map_or(0.0, |implicit| implicit.relative_residual),
    };
    // SAFETY: by the contract above.
    unsafe { put("report", report, value) }
}
