//! Integration over an interval, with fixed or adaptive steps.
//!
//! ```
//! use clinalg_ode::integrate::{Options, integrate};
//! use clinalg_ode::reference::Reference;
//! use clinalg_ode::{Grid, Method, System};
//!
//! let decay = System::builder(Grid::unit(&[1])).field("u", "-u").build()?;
//! let mut stepper = Reference::<f64>::new(&Method::named("dopri54")?, &decay);
//! let options = Options { relative: 1e-9, absolute: 1e-12, save_at: vec![1.0], ..Options::default() };
//! let mut at_one = 0.0;
//! let (y, report) = integrate(&mut stepper, 0.0, 2.0, &[1.0], &options, &mut |_, y| at_one = y[0])?;
//! assert!((y[0] - (-2.0_f64).exp()).abs() < 1e-9);
//! assert!((at_one - (-1.0_f64).exp()).abs() < 1e-8);
//! assert!(report.accepted < 100);
//! # Ok::<(), clinalg_ode::Error>(())
//! ```
//!
//! [`Integrator`] does the same step by step, with events, progress and dense output.

use clinalg::{Real, Vector};

pub use crate::model::{Direction, Event};
pub use crate::run::events::Occurrence;
pub use crate::run::integrator::{Integrator, StepOutcome};
pub use crate::run::options::{Options, Report};
pub use crate::run::resume::State;
pub use crate::run::stabilised::{STABILISED, Stabilised};
pub use crate::run::stepper::{Norm, Slot, Stepper, Stored, Tolerance};
use crate::{Error, Result};

/// The solution from `t0` to `t_end`, where steps are adaptive unless the options say otherwise; `see` is called with the
/// time and the solution at each of [`Options::save_at`].
///
/// # Errors
/// [`Error::Value`] for a method without error estimate where steps follow it, `t_end` before `t0`, a solution that is not
/// finite at the beginning, tolerances that are negative or both zero, or other options outside their ranges;
/// [`Error::NotFinite`], [`Error::StepTooSmall`], [`Error::StepLimit`]; those of the device.
pub fn integrate<'y, T: Real, S: Stepper<T>>(
    stepper: &mut S,
    t0: f64,
    t_end: f64,
    y0: impl Into<Stored<'y, T>>,
    options: &Options,
    see: &mut dyn FnMut(f64, &[T]),
) -> Result<(Vec<T>, Report)> {
    let mut integrator = Integrator::new(stepper, t0, t_end, y0, options)?.on_save(see);
    integrator.run()?;
    Ok((integrator.solution()?, integrator.into_report()))
}

/// As [`integrate`], from a vector on a device to one that is written there: nothing but numbers for the control of the steps
/// passes through the host. Components have the system's own order in memory ([`System::component`](crate::System::component)).
///
/// ```
/// use clinalg::{Context, Vector};
/// use clinalg_ode::integrate::{Options, integrate_on_device};
/// use clinalg_ode::{DeviceStepper, Grid, Method, System, Variant};
///
/// let context = Context::global()?;
/// let decay = System::builder(Grid::unit(&[1000])).field("u", "-u").build()?;
/// let mut stepper = DeviceStepper::<f64>::new(&context, &Method::named("dopri54")?, &decay, Variant::Fused)?;
/// let y0 = Vector::filled(&context, 1000, 1.0)?;
/// let mut y = Vector::zeros(&context, 1000)?;
/// let report = integrate_on_device(&mut stepper, 0.0, 1.0, &y0, &mut y, &Options::default())?;
/// assert!((y.to_vec()?[999] - (-1.0_f64).exp()).abs() < 1e-6);
/// assert!(report.accepted > 3);
/// # Ok::<(), clinalg_ode::Error>(())
/// ```
///
/// # Errors
/// Those of [`integrate`]; [`clinalg::Error::Length`] for a `y` of another length. `y` is written at the end only.
pub fn integrate_on_device<T: Real, S: Stepper<T>>(
    stepper: &mut S,
    t0: f64,
    t_end: f64,
    y0: &Vector<T>,
    y: &mut Vector<T>,
    options: &Options,
) -> Result<Report> {
    if y.len() != stepper.components() {
        return Err(clinalg::Error::Length { argument: "y", expected: stepper.components(), got: y.len() }.into());
    }
    let mut integrator = Integrator::new(stepper, t0, t_end, y0, options)?;
    integrator.run()?;
    integrator.stored()?.copy_to(y)?;
    Ok(integrator.into_report())
}

/// The solution from `t0` to `t_end` in `steps` steps of equal size. What multi-step methods need from before the first step
/// is computed with the method of Prince and Dormand 8(7), in steps a quarter as large.
///
/// # Errors
/// [`Error::Value`] for no steps, too few for a multi-step method, `t_end` before `t0`, a step that does not advance the
/// time, or a solution that is not finite at the beginning; [`Error::NotFinite`] when it is not at the end; those of the device.
pub fn integrate_fixed<'y, T: Real, S: Stepper<T>>(
    stepper: &mut S,
    t0: f64,
    t_end: f64,
    y0: impl Into<Stored<'y, T>>,
    steps: usize,
) -> Result<(Vec<T>, Report)> {
    let first = stepper.method().start_steps();
    if steps <= first {
        return Err(Error::value("steps", format!("at least {} for this method", first + 1), steps));
    }
    if t_end.is_nan() || t_end <= t0 {
        return Err(Error::value("t_end", format!("a finite number above {t0}"), t_end));
    }
    let h = (t_end - t0) / steps as f64;
    let options = Options { fixed_step: Some(h), step_limit: usize::MAX, ..Options::default() };
    integrate(stepper, t0, t_end, y0, &options, &mut |_, _| ())
}
