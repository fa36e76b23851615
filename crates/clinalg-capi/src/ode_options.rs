//! Options of integrations.

use std::ffi::c_char;

use clinalg_handles::Ode;
use clinalg_ode::Variant;
use clinalg_ode::integrate::{Norm, Options};
use clinalg_ode::ivp::Settings;

use crate::object::{ClinalgPrecision, precision_of};
use crate::options::{Versioned, put_defaults, read};
use crate::status::{ClinalgStatus, Fault, guard};
use crate::{choice, text};

/// How the error of a step is measured.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgOdeNorm {
    /// Root of the mean square over the components.
    Rms = 0,
    /// Largest component.
    Max = 1,
}

/// Tolerances and steps of an integration. Fill them with `clinalg_ode_options_default(&options, sizeof options)`, then change what is to
/// differ. Later versions append members, which take their defaults in programs compiled before.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgOdeOptions {
    /// `sizeof(clinalg_ode_options)`, as the program was compiled.
    pub struct_size: usize,
    /// Relative tolerance, at least 0.
    pub relative: f64,
    /// Absolute tolerance, at least 0; one of the two tolerances must be above 0.
    pub absolute: f64,
    /// Norm of the error, a `clinalg_ode_norm`.
    pub norm: u32,
    /// The precision of the computation, a `clinalg_precision`.
    pub precision: u32,
    /// Fixed steps of at most this size, all equal between stops; 0 for adaptive steps.
    pub fixed_step: f64,
    /// First step; 0 determines it automatically.
    pub first_step: f64,
    /// Largest step.
    pub largest_step: f64,
    /// Maximum number of steps, including rejected ones.
    pub step_limit: usize,
}

// SAFETY: numbers in `repr(C)`, the size first.
unsafe impl Versioned for ClinalgOdeOptions {
    fn defaults() -> ClinalgOdeOptions {
        let defaults = Options::default();
        ClinalgOdeOptions {
            struct_size: size_of::<ClinalgOdeOptions>(),
            relative: defaults.relative,
            absolute: defaults.absolute,
            norm: ClinalgOdeNorm::Rms as u32,
            precision: ClinalgPrecision::F64 as u32,
            fixed_step: 0.0,
            first_step: 0.0,
            largest_step: defaults.largest_step,
            step_limit: defaults.step_limit,
        }
    }
}

/// The defaults: tolerances 1e-6 and 1e-9, root mean square, double precision, adaptive steps. `struct_size` is
/// `sizeof(clinalg_ode_options)`.
///
/// # Safety
/// `options` is null or has room for `struct_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_options_default(
    options: *mut ClinalgOdeOptions,
    struct_size: usize,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { put_defaults(options, struct_size) })
}

/// What an integration of `ode` is to do.
///
/// # Safety
/// `options` is null or names as many bytes as its first member says; `method` and `variant` are null or texts that end in zero.
pub(crate) unsafe fn settings(
    ode: &Ode,
    options: *const ClinalgOdeOptions,
    method: *const c_char,
    variant: *const c_char,
) -> Result<Settings, Fault> {
    // SAFETY: by the contract above.
    let wanted = unsafe { read(options)? };
    let norms = [(ClinalgOdeNorm::Rms, Norm::Rms), (ClinalgOdeNorm::Max, Norm::Max)];
    let positive = |v: f64| (v != 0.0).then_some(v);
    let options = Options {
        relative: wanted.relative,
        absolute: wanted.absolute,
        absolute_each: ode.absolute_each.clone(),
        norm: choice("norm", wanted.norm, &norms)?,
        fixed_step: positive(wanted.fixed_step),
        first_step: positive(wanted.first_step),
        largest_step: wanted.largest_step,
        step_limit: wanted.step_limit,
        stops: ode.problem.as_ref().map(|p| p.stops.clone()).unwrap_or_default(),
        ..Options::default()
    };
    let mut settings = Settings { precision: precision_of(wanted.precision)?, options, ..Settings::default() };
    if !method.is_null() {
        // SAFETY: by the contract above.
        settings.method = unsafe { text("method", method)? }.to_owned();
    }
    if !variant.is_null() {
        // SAFETY: by the contract above.
        settings.variant = Variant::named(unsafe { text("variant", variant)? })?;
    }
    Ok(settings)
}
