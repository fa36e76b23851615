//! Waveform relaxation.

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

use clinalg::{Context, Error};
use clinalg_handles::Registry;
use clinalg_ode::Method;
use clinalg_ode::waveform::{Guess, Report, Stop, WaveformOptions, relax_fields};

use crate::callback::{ClinalgProgress, progress};
use crate::object::{ClinalgHandle, ClinalgPrecision, precision_of};
use crate::options::{Versioned, put_defaults, read};
use crate::status::{ClinalgStatus, Fault, guard};
use crate::{choice, slice, slice_mut, text};

/// The waveforms that a window of a waveform relaxation begins with.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgGuess {
    /// The solution at the beginning of the window, constant.
    Constant = 0,
    /// The waveforms of the previous window, step by step.
    Previous = 1,
    /// Linear extrapolation from the last step of the previous window.
    Linear = 2,
}

/// Options of a waveform relaxation. Fill them with `clinalg_waveform_options_default(&options, sizeof options)`, then change what is to
/// differ. Later versions append members, which take their defaults in programs compiled before.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgWaveformOptions {
    /// `sizeof(clinalg_waveform_options)`, as the program was compiled.
    pub struct_size: usize,
    /// Size of a step.
    pub h: f64,
    /// Number of steps, at least 1.
    pub steps: usize,
    /// Number of windows, a divisor of the number of steps.
    pub windows: usize,
    /// Iterations of each window; 0 iterates until `eps` is reached.
    pub iterations: usize,
    /// Difference of two iterates at which a window ends: the largest 2-norm over its steps and stages. 0 gives the method's solution.
    pub eps: f64,
    /// Points of a block along each axis, for the variants "block" and "block-boundary".
    pub block: [usize; 3],
    /// The initial guess, a `clinalg_guess`.
    pub guess: u32,
    /// The precision of the computation, a `clinalg_precision`.
    pub precision: u32,
    /// Target number of iterations per window, to which the window length is adapted; 0 for windows of equal length.
    pub adaptive: usize,
    /// The name of the explicit Runge-Kutta method of the steps; null for "euler".
    pub method: *const c_char,
    /// Called after every iteration with the number of iterations of all windows so far and the difference of the last two iterates; null
    /// for none. If it returns a number other than 0, the relaxation ends; `y` is then the solution at the end of the last complete window,
    /// or `y0` if there is none.
    pub progress: ClinalgProgress,
    /// Passed to `progress`.
    pub progress_data: *mut c_void,
    /// Gets the time of the solution, which is before the end if `progress` ended the relaxation; may be null.
    pub reached: *mut f64,
}

// SAFETY: numbers and pointers in `repr(C)`, the size first; only what the caller sets is called.
unsafe impl Versioned for ClinalgWaveformOptions {
    fn defaults() -> ClinalgWaveformOptions {
        ClinalgWaveformOptions {
            struct_size: size_of::<ClinalgWaveformOptions>(),
            h: 1e-4,
            steps: 100,
            windows: 1,
            iterations: 0,
            eps: 0.0,
            block: [32, 32, 1],
            guess: ClinalgGuess::Previous as u32,
            precision: ClinalgPrecision::F64 as u32,
            adaptive: 0,
            method: null(),
            progress: None,
            progress_data: null_mut(),
            reached: null_mut(),
        }
    }
}

/// The outcome of a waveform relaxation.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgWaveformReport {
    /// Complete windows.
    pub windows: usize,
    /// Iterations of all windows together.
    pub iterations: usize,
    /// Difference of the last two iterates.
    pub difference: f64,
    /// Bytes of the waveforms, copies and indices.
    pub memory_bytes: u64,
    /// Words moved per component, step and iteration by the model.
    pub words_per_component: f64,
}

impl From<&Report> for ClinalgWaveformReport {
    fn from(done: &Report) -> ClinalgWaveformReport {
        ClinalgWaveformReport {
            windows: done.iterations.len(),
            iterations: done.count(),
            difference: done.difference().unwrap_or(0.0),
            memory_bytes: done.memory_bytes,
            words_per_component: done.words_per_component,
        }
    }
}

/// The defaults: 100 steps of Euler's method of 1e-4 in one window, iterated until its solution is reached, blocks of 32 by 32 points, double
/// precision. `struct_size` is `sizeof(clinalg_waveform_options)`.
///
/// # Safety
/// `options` is null or has room for `struct_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_waveform_options_default(
    options: *mut ClinalgWaveformOptions,
    struct_size: usize,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { put_defaults(options, struct_size) })
}

/// Integrates on the current device by waveform relaxation from `t0`, where the solution is `y0`; `y` gets the solution after
/// the last step. Components are all points of the first field, then those of the next. `variant` is the name of the blocks
/// and of what is stored: "component" (null for this one), "point", "block", "block-boundary", "device", "copy-all" or
/// "copy-access-distance". `iterations`, if not null, gets those of the first `capacity` windows; `report` may be null. A failed call
/// does not change `y`.
///
/// # Safety
/// `variant` is null or a text that ends in zero; `options` names as many bytes as its first member says; `y0` names `components`
/// values and `y` has room for them; the method in `options` is null or a text that ends in zero, `reached` there null or valid for a write; `report` is null or valid for a write, `iterations` null or valid for `capacity` values.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no named arguments and no slices")]
pub unsafe extern "C" fn clinalg_waveform_solve(
    ode: ClinalgHandle,
    variant: *const c_char,
    options: *const ClinalgWaveformOptions,
    t0: f64,
    y0: *const f64,
    components: usize,
    y: *mut f64,
    report: *mut ClinalgWaveformReport,
    iterations: *mut usize,
    capacity: usize,
) -> ClinalgStatus {
    guard(|| {
        let ode = Registry::global().get_ode(ode)?;
        // SAFETY: by the contract above.
        let (wanted, start, target) =
            unsafe { (read(options)?, slice("y0", y0, components)?, slice_mut("y", y, components)?) };
        if !t0.is_finite() {
            return Err(Error::value("t0", "a finite number", t0).into());
        }
        let name = match variant.is_null() {
            true => "component",
            // SAFETY: by the contract above.
            false => unsafe { text("variant", variant)? },
        };
        let precision = precision_of(wanted.precision)?;
        let mut chosen = chosen(&wanted, name)?;
        if !wanted.method.is_null() {
            // SAFETY: by the contract above.
            chosen.method = Method::named(unsafe { text("method", wanted.method)? })?;
        }
        let mut progress = progress(wanted.progress, wanted.progress_data);
        let context = Context::global()?;
        let done = relax_fields(&context, &ode.system, t0, start, &chosen, precision, &mut progress)?;
        target.copy_from_slice(&done.solution);
        if !wanted.reached.is_null() {
            // SAFETY: by the contract above.
            unsafe { wanted.reached.write(done.t) };
        }
        if !report.is_null() {
            // SAFETY: by the contract above.
            unsafe { report.write((&done.report).into()) };
        }
        if !iterations.is_null() {
            let count = capacity.min(done.report.iterations.len());
            // SAFETY: by the contract above.
            let kept = unsafe { slice_mut("iterations", iterations, count)? };
            kept.copy_from_slice(&done.report.iterations[..count]);
        }
        Ok(())
    })
}

fn chosen(wanted: &ClinalgWaveformOptions, variant: &str) -> Result<WaveformOptions, Fault> {
    let guesses = [
        (ClinalgGuess::Constant, Guess::Constant),
        (ClinalgGuess::Previous, Guess::Previous),
        (ClinalgGuess::Linear, Guess::Linear),
    ];
    let mut options = WaveformOptions::new(wanted.h, wanted.steps);
    options.set_variant(variant, wanted.block)?;
    options.windows = wanted.windows;
    options.guess = choice("guess", wanted.guess, &guesses)?;
    options.adaptive = (wanted.adaptive != 0).then_some(wanted.adaptive);
    options.stop = match wanted.iterations {
        0 => Stop::Difference(wanted.eps),
        count => Stop::Iterations(count),
    };
    Ok(options)
}
