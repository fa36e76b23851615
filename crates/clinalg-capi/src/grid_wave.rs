//! The wave equation on boxes.

use std::ffi::c_void;
use std::ptr::null;

use clinalg::Error;
use clinalg::wave::{BoxWaveParams, WaveSide};
use clinalg_handles::Registry;

use crate::callback::{ClinalgProgress, progress as callback};
use crate::object::{ClinalgHandle, ClinalgPrecision, precision_of, upload};
use crate::operation::into;
use crate::options::{Versioned, put_defaults, read};
use crate::solver::ClinalgStop;
use crate::status::{ClinalgStatus, Fault, guard};
use crate::wave::{ClinalgWaveReport, energy};
use crate::{choice, put, slice};

/// What a wave does on a side of a box.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgWaveSide {
    /// u keeps its initial values.
    Fixed = 0,
    /// du/dn = 0: waves are reflected without a change of sign.
    Free = 1,
    /// u_t + c du/dn = 0 (Engquist and Majda 1977): a plane wave incident at the angle theta to the normal is reflected with the factor
    /// (1 - cos theta) / (1 + cos theta).
    Absorbing = 2,
    /// u is periodic in this direction; the opposite side must be periodic too.
    Periodic = 3,
}

/// Options of a wave on a box. Fill them with `clinalg_grid_wave_options_default(&options, sizeof options)`, then set the numbers of points and the
/// time step, and change what is to differ. Later versions append members, which take their defaults in programs compiled before.
///
/// Arrays have one entry per direction; in two dimensions the third is not read.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgGridWaveOptions {
    /// `sizeof(clinalg_grid_wave_options)`, as the program was compiled.
    pub struct_size: usize,
    /// Dimensions: 2 or 3.
    pub dim: usize,
    /// Number of points in each direction, those on the sides included, at least 3.
    pub points: [usize; 3],
    /// Length of the box in each direction: n - 1 equal intervals, in a periodic direction n.
    pub lengths: [f64; 3],
    /// The low and the high side of each direction, each a `clinalg_wave_side`.
    pub sides: [[u32; 2]; 3],
    /// Time step, above 0 and at most what `clinalg_grid_wave_limit` returns.
    pub dt: f64,
    /// Speed of the waves, where `speed` is null.
    pub c: f64,
    /// Speed at each point, x fastest, above 0; null for `c` everywhere. It is copied.
    pub speed: *const f64,
    /// Number of values of `speed`.
    pub speed_count: usize,
    /// The precision of the computation, a `clinalg_precision`: single or double.
    pub precision: u32,
    /// Zero. Without it there would be padding.
    pub reserved: u32,
    /// Width of damping layers along the inside of the absorbing sides, at least two spacings; 0 for none. They absorb waves that meet the side at
    /// any angle and are at most half as long as the layer is wide; longer ones are reflected in part.
    pub sponge: f64,
}

// SAFETY: numbers and a pointer in `repr(C)`, the size first; what the pointer names is read only by the contract of the functions.
unsafe impl Versioned for ClinalgGridWaveOptions {
    fn defaults() -> ClinalgGridWaveOptions {
        ClinalgGridWaveOptions {
            struct_size: size_of::<ClinalgGridWaveOptions>(),
            dim: 2,
            points: [0; 3],
            lengths: [1.0; 3],
            sides: [[ClinalgWaveSide::Fixed as u32; 2]; 3],
            dt: 0.0,
            c: 1.0,
            speed: null(),
            speed_count: 0,
            precision: ClinalgPrecision::F64 as u32,
            reserved: 0,
            sponge: 0.0,
        }
    }
}

impl ClinalgGridWaveOptions {
    fn params(&self) -> Result<BoxWaveParams, Fault> {
        if !(2..=3).contains(&self.dim) {
            return Err(Error::value("dim", "2 or 3", self.dim).into());
        }
        let known = [
            (ClinalgWaveSide::Fixed as u32, WaveSide::Fixed),
            (ClinalgWaveSide::Free as u32, WaveSide::Free),
            (ClinalgWaveSide::Absorbing as u32, WaveSide::Absorbing),
            (ClinalgWaveSide::Periodic as u32, WaveSide::Periodic),
        ];
        let mut sides = Vec::with_capacity(self.dim);
        for [low, high] in &self.sides[..self.dim] {
            sides.push([choice("sides", *low, &known)?, choice("sides", *high, &known)?]);
        }
        let params =
            BoxWaveParams::new(&self.points[..self.dim], self.dt).size(&self.lengths[..self.dim]).sides(&sides);
        Ok(if self.sponge == 0.0 { params } else { params.sponge(self.sponge) })
    }

    /// The speeds.
    ///
    /// # Safety
    /// `speed` is null or names `speed_count` values.
    unsafe fn speeds(&self) -> Result<&[f64], Fault> {
        if self.speed.is_null() {
            return Ok(std::slice::from_ref(&self.c));
        }
        // One value for all points would hide a wrong count.
        let points = self.points[..self.dim].iter().try_fold(1_usize, |product, &n| product.checked_mul(n));
        if points != Some(self.speed_count) {
            let expected =
                format!("one value for each of the {} points", points.map_or("many".into(), |n| n.to_string()));
            return Err(Error::value("speed_count", expected, self.speed_count).into());
        }
        // SAFETY: by the contract above.
        unsafe { slice("speed", self.speed, self.speed_count) }
    }
}

/// The defaults: two dimensions of length 1, fixed sides, speed 1, double precision; the numbers of points and the time step have no
/// default. `struct_size` is `sizeof(clinalg_grid_wave_options)`.
///
/// # Safety
/// `options` is null or has room for `struct_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_grid_wave_options_default(
    options: *mut ClinalgGridWaveOptions,
    struct_size: usize,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { put_defaults(options, struct_size) })
}

/// The largest stable time step, 1 / (c sqrt(sum of 1 / h^2)) with the largest speed c. `options->dt` is not read.
///
/// # Safety
/// `options` names as many bytes as its first member says, `speed` there as many values as its number says; `result` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_grid_wave_limit(
    options: *const ClinalgGridWaveOptions,
    result: *mut f64,
) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let options = ClinalgGridWaveOptions { dt: 1.0, ..unsafe { read(options)? } };
        let params = options.params()?;
        // SAFETY: by the contract above.
        let speeds = unsafe { options.speeds()? };
        if let Some(c) = speeds.iter().find(|c| !(**c > 0.0 && c.is_finite())) {
            return Err(Error::value("speed", "finite numbers above 0", c).into());
        }
        let limit = params.limit(speeds.iter().fold(0.0, |most, c| c.max(most)))?;
        // SAFETY: by the contract above.
        unsafe { put("result", result, limit) }
    })
}

/// A wave on a box, at rest with u = 0: u_tt = c^2 Laplace u by leapfrog, of order 2 in space and time, with a speed for each point and a
/// condition on each side. Objects with its values have one for each point, x fastest. `clinalg_object_release` releases it.
///
/// # Safety
/// `options` names as many bytes as its first member says, `speed` there as many values as its number says; `wave` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_grid_wave_create(
    options: *const ClinalgGridWaveOptions,
    wave: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(wave, |context| {
        // SAFETY: by the contract above.
        let options = unsafe { read(options)? };
        let (precision, params) = (precision_of(options.precision)?, options.params()?);
        // SAFETY: by the contract above.
        Ok(Registry::global().grid_wave(context, precision, &params, unsafe { options.speeds()? })?)
    })
}

/// Sets displacement and velocity at time 0, vectors or dense matrices with a value for each point; a `v` of 0 stands for rest. The values of v
/// on fixed sides are not read. The values pass through the host's memory.
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_grid_wave_start(wave: ClinalgHandle, u: ClinalgHandle, v: ClinalgHandle) -> ClinalgStatus {
    guard(|| Ok(Registry::global().grid_wave_start(wave, u, (v != 0).then_some(v))?))
}

/// Makes `steps` steps. Without `progress` they are only enqueued. With it the call waits for the device about ten times a second and then
/// calls `progress` with the number of steps made by this call, the time reached in place of a residual, and `progress_data`; a number other
/// than 0 ends the call with `CLINALG_STOP_CANCELLED`. `report` may be null.
///
/// # Safety
/// `progress` is null or a function that takes `progress_data`; `report` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_grid_wave_step(
    wave: ClinalgHandle,
    steps: usize,
    progress: ClinalgProgress,
    progress_data: *mut c_void,
    report: *mut ClinalgWaveReport,
) -> ClinalgStatus {
    guard(|| {
        let registry = Registry::global();
        let (made, time) = match progress {
            Some(_) => registry.grid_wave_step(wave, steps, Some(&mut callback(progress, progress_data)))?,
            None => registry.grid_wave_step(wave, steps, None)?,
        };
        if report.is_null() {
            return Ok(());
        }
        let stop = if made < steps { ClinalgStop::Cancelled } else { ClinalgStop::Converged };
        let value = ClinalgWaveReport { stop, steps: made, time, cycles: 0, relative_residual: 0.0 };
        // SAFETY: by the contract above.
        unsafe { put("report", report, value) }
    })
}

/// The displacement into `*out`, copied on the device; 0 there makes a new vector.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_grid_wave_displacement(wave: ClinalgHandle, out: *mut ClinalgHandle) -> ClinalgStatus {
    into("out", out, |registry, given| registry.grid_wave_displacement(wave, given))
}

/// The velocity into `*out`, through the host's memory; 0 there makes a new vector. `clinalg_grid_wave_start` with it and the displacement
/// continues the same motion.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_grid_wave_velocity(wave: ClinalgHandle, out: *mut ClinalgHandle) -> ClinalgStatus {
    into("out", out, |registry, given| registry.grid_wave_velocity(wave, given))
}

/// The discrete energy of a medium of density 1 / c^2, half a step before the time reached: without absorbing sides the sum stays the same.
/// Each pointer may be null.
///
/// # Safety
/// The pointers are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_grid_wave_energy(
    wave: ClinalgHandle,
    kinetic: *mut f64,
    potential: *mut f64,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    unsafe { energy((kinetic, potential), |registry| registry.grid_wave_energy(wave)) }
}
