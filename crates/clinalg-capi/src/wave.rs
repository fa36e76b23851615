//! The wave equation on handles.

use std::ffi::c_void;
use std::ptr::null;

use clinalg::wave::{Scheme, WaveParams, WaveReport, WaveSide};
use clinalg::{Context, Error};
use clinalg_handles::Registry;

use crate::callback::{self, ClinalgProgress};
use crate::object::{ClinalgHandle, ClinalgPrecision, precision_of};
use crate::operation::into;
use crate::options::{Versioned, put_defaults, read as read_options};
use crate::solver::{ClinalgBackend, ClinalgStop, backend_of, stop};
use crate::status::{ClinalgStatus, Fault, guard};
use crate::{choice, put, slice};

/// How a wave steps through time.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgScheme {
    /// Leapfrog, stable up to the time step that `clinalg_wave_limit` returns.
    Explicit = 0,
    /// Newmark with beta = 1/4, by multigrid, on squares, stable for every time step.
    Implicit = 1,
}

/// What a wave does on a side of its grid.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgWaveSide {
    /// u keeps its initial values.
    Fixed = 0,
    /// du/dn = 0: waves are reflected without a change of sign.
    Free = 1,
    /// u_t + c du/dn = 0 (Engquist and Majda 1977): a plane wave incident at the angle theta to the normal is reflected
    /// with the factor (1 - cos theta) / (1 + cos theta).
    Absorbing = 2,
    /// u is periodic in this direction; the opposite side must be periodic too.
    Periodic = 3,
}

/// Options of a wave. Fill them with `clinalg_wave_options_default(&options, sizeof options)`, then set the numbers of
/// points and the time step, and change what is to differ. Later versions append members, which take their defaults in
/// programs compiled before.
///
/// Arrays have one entry per direction; in two dimensions the third is not read. A square has two directions with
/// equally many points, equal lengths and fixed sides. Other grids take the explicit scheme and the kernels only.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgWaveOptions {
    /// `sizeof(clinalg_wave_options)`, as the program was compiled.
    pub struct_size: usize,
    /// Dimensions: 2 or 3.
    pub dim: usize,
    /// Number of points in each direction, those on the sides included: at least 3; 2^k + 1 for the implicit scheme.
    pub points: [usize; 3],
    /// Length of the grid in each direction: n - 1 equal intervals, in a periodic direction n.
    pub lengths: [f64; 3],
    /// The low and the high side of each direction, each a `clinalg_wave_side`.
    pub sides: [[u32; 2]; 3],
    /// Width of damping layers along the inside of the absorbing sides, at least two spacings; 0 for none. They absorb
    /// waves that meet the side at any angle and are at most half as long as the layer is wide; longer ones are
    /// reflected in part.
    pub sponge: f64,
    /// Speed of the waves, where `speed` is null.
    pub c: f64,
    /// Speed at each point, x fastest, above 0, for the explicit scheme; null for `c` everywhere. It is copied.
    pub speed: *const f64,
    /// Number of values of `speed`.
    pub speed_count: usize,
    /// Time step, of the explicit scheme at most what `clinalg_wave_limit` returns.
    pub dt: f64,
    /// The time stepping scheme, a `clinalg_scheme`.
    pub scheme: u32,
    /// The implementation of the steps, a `clinalg_backend`.
    pub backend: u32,
    /// Maximum number of explicit steps in one pass over memory on squares, 1 to 8; the results have the same bits.
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

// SAFETY: numbers and a pointer in `repr(C)`, the size first; what the pointer names is read only by the contract of
// the functions.
unsafe impl Versioned for ClinalgWaveOptions {
    fn defaults() -> ClinalgWaveOptions {
        let defaults = WaveParams::default();
        ClinalgWaveOptions {
            struct_size: size_of::<ClinalgWaveOptions>(),
            dim: defaults.points.len(),
            points: [defaults.points[0], defaults.points[1], 1],
            lengths: [1.0; 3],
            sides: [[ClinalgWaveSide::Fixed as u32; 2]; 3],
            sponge: 0.0,
            c: defaults.c,
            speed: null(),
            speed_count: 0,
            dt: defaults.dt,
            scheme: ClinalgScheme::Explicit as u32,
            backend: ClinalgBackend::Kernels as u32,
            steps_per_pass: defaults.steps_per_pass,
            tolerance: defaults.tolerance,
            max_cycles: defaults.max_cycles,
            precision: ClinalgPrecision::F64 as u32,
            reserved: 0,
        }
    }
}

impl ClinalgWaveOptions {
    fn params(&self) -> Result<WaveParams, Fault> {
        if !(2..=3).contains(&self.dim) {
            return Err(Error::value("dim", "2 or 3", self.dim).into());
        }
        let side = |side: u32| {
            let known = [
                (ClinalgWaveSide::Fixed, WaveSide::Fixed),
                (ClinalgWaveSide::Free, WaveSide::Free),
                (ClinalgWaveSide::Absorbing, WaveSide::Absorbing),
                (ClinalgWaveSide::Periodic, WaveSide::Periodic),
            ];
            choice("sides", side, &known)
        };
        let sides = self.sides[..self.dim].iter().map(|[low, high]| Ok([side(*low)?, side(*high)?]));
        let schemes = [(ClinalgScheme::Explicit, Scheme::Explicit), (ClinalgScheme::Implicit, Scheme::Implicit)];
        Ok(WaveParams {
            points: self.points[..self.dim].to_vec(),
            size: self.lengths[..self.dim].to_vec(),
            sides: sides.collect::<Result<_, Fault>>()?,
            sponge: (self.sponge != 0.0).then_some(self.sponge),
            scheme: choice("scheme", self.scheme, &schemes)?,
            backend: backend_of(self.backend)?,
            c: self.c,
            dt: self.dt,
            steps_per_pass: self.steps_per_pass,
            tolerance: self.tolerance,
            max_cycles: self.max_cycles,
        })
    }

    /// The speeds at the points, unless there is one for all.
    ///
    /// # Safety
    /// `speed` is null or names `speed_count` values.
    unsafe fn speeds(&self, params: &WaveParams) -> Result<Option<&[f64]>, Fault> {
        if self.speed.is_null() {
            return Ok(None);
        }
        // One value for all points would hide a wrong count.
        let points = params.total_points();
        if points != self.speed_count {
            let expected = format!("one value for each of the {points} points");
            return Err(Error::value("speed_count", expected, self.speed_count).into());
        }
        // SAFETY: by the contract above.
        unsafe { slice("speed", self.speed, self.speed_count) }.map(Some)
    }
}

/// The outcome of a start or of some steps.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgWaveReport {
    /// Why the last solve of the implicit scheme ended; no step is made after a failure. Converged for the explicit
    /// scheme.
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

/// The defaults: leapfrog by kernels on the unit square with fixed sides and 1025 points per side, c = 1, c dt / h =
/// 1/2, up to 8 steps per pass, double precision. `struct_size` is `sizeof(clinalg_wave_options)`.
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

/// The largest stable time step of the explicit scheme, 1 / (c sqrt(sum of 1 / h^2)) with the largest speed c and the
/// spacing h of each direction. `options->dt` is not read.
///
/// # Safety
/// `options` names as many bytes as its first member says, `speed` there as many values as its number says; `result` is
/// null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_wave_limit(options: *const ClinalgWaveOptions, result: *mut f64) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let options = unsafe { read_options(options)? };
        let params = options.params()?;
        // SAFETY: by the contract above.
        unsafe { put("result", result, Registry::wave_limit(&params, options.speeds(&params)?)?) }
    })
}

/// Creates a wave with u = 0 at rest on the current device: u_tt = c^2 Laplace u on a box of two or three dimensions,
/// with a condition on each side. A square takes kernels of its own. A time step past the stability limit of the
/// explicit scheme is an error that names the limit. `clinalg_object_release` releases it. Options of a larger size
/// than this library knows are an error.
///
/// # Safety
/// `options` names as many bytes as its first member says, `speed` there as many values as its number says; `wave` is
/// valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_wave_create(
    options: *const ClinalgWaveOptions,
    wave: *mut ClinalgHandle,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { make(&read_options(options)?, None, wave) })
}

/// # Safety
/// The `speed` of `wanted` is null or names as many values as its number says; `wave` is valid for a write, or null.
pub(crate) unsafe fn make(
    wanted: &ClinalgWaveOptions,
    team: Option<u64>,
    wave: *mut ClinalgHandle,
) -> Result<(), Fault> {
    if wave.is_null() {
        return Err(Fault::Null("wave"));
    }
    let params = wanted.params()?;
    // SAFETY: by the contract above.
    let speed = unsafe { wanted.speeds(&params)? };
    let (registry, context, precision) = (Registry::global(), Context::global()?, precision_of(wanted.precision)?);
    let made = match (team, speed) {
        (None, speed) => registry.wave(&context, precision, &params, speed)?,
        (Some(team), None) => registry.team_wave(team, &context, precision, &params)?,
        (Some(_), Some(_)) => {
            let expected = "null on several devices, where the speed is the same everywhere; set c";
            return Err(Error::value("speed", expected, "a speed for each point").into());
        }
    };
    // SAFETY: by the contract above.
    unsafe { put("wave", wave, made) }
}

/// Sets displacement and velocity at time 0, vectors or dense matrices with a value for each point, x fastest; a `v` of
/// 0 stands for rest. The values of u on fixed sides stay, those of v are not read. Except on squares the values pass
/// through the host's memory. `report` may be null.
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

/// As `clinalg_wave_step`, but waits for the device about ten times a second and then calls `progress` with the number
/// of steps made by this call and, in place of a residual, the time reached. If `progress` returns a number other than
/// 0, the call ends: it returns success, and `stop` of the report is `CLINALG_STOP_CANCELLED`. The results are bitwise
/// those of `clinalg_wave_step`.
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

/// The displacement into `*u`; 0 there makes a new matrix: a row for each point along x, and a column for each
/// combination of the others, y fastest.
///
/// # Safety
/// `u` is valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_wave_displacement(wave: ClinalgHandle, u: *mut ClinalgHandle) -> ClinalgStatus {
    into("u", u, |registry, given| registry.wave_displacement(wave, given))
}

/// The velocity into `*v`, as `clinalg_wave_displacement`; except on squares through the host's memory.
/// `clinalg_wave_start` with it and the displacement continues the same motion.
///
/// # Safety
/// `v` is valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_wave_velocity(wave: ClinalgHandle, v: *mut ClinalgHandle) -> ClinalgStatus {
    into("v", v, |registry, given| registry.wave_velocity(wave, given))
}

/// The discrete energy half a step before the time reached, of a medium whose density is 1 where the speed is largest:
/// without absorbing sides the sum stays the same. Each pointer may be null.
///
/// # Safety
/// The pointers are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_wave_energy(
    wave: ClinalgHandle,
    kinetic: *mut f64,
    potential: *mut f64,
) -> ClinalgStatus {
    guard(|| {
        let energy = Registry::global().wave_energy(wave)?;
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
