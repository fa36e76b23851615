//! Initial value problems in one call, for doors to other languages.

use clinalg::{Context, Precision, Real};

use crate::integrate::{Integrator, Options, Report, Taken, integrate};
use crate::snippet::check_access;
use crate::{DeviceStepper, Error, Method, Result, System, Variant};

/// What to solve with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// One of [`METHODS`](crate::METHODS).
    pub method: String,
    /// How the method becomes kernels; [`Variant::Auto`] without a trial, see [`DeviceStepper::untried`].
    pub variant: Variant,
    /// What is computed with.
    pub precision: Precision,
    /// Tolerances and steps; `save_at` is not looked at.
    pub options: Options,
    /// Gives the solution at the end of every step and not at the times in between.
    pub every_step: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        let options = Options::default();
        Settings {
            method: "dopri54".into(),
            variant: Variant::Auto,
            precision: Precision::F64,
            options,
            every_step: false,
        }
    }
}

/// A solution at some times.
#[derive(Debug, Clone)]
pub struct Solution {
    /// The times, the first one being the beginning.
    pub t: Vec<f64>,
    /// The components at each time, one time after the other, by fields ([`System::by_fields`]).
    pub y: Vec<f64>,
    /// What it took.
    pub report: Report,
}

/// Solves y' = f(t, y) on a device, from the first of `times`, where the solution is `y0`, to the last. `y0` is by fields, all
/// points of the first one first.
///
/// ```
/// use clinalg::Context;
/// use clinalg_ode::System;
/// use clinalg_ode::ivp::{Settings, solve};
///
/// let swing = System::from_text("x' = v\nv' = -x", &[])?;
/// let solution = solve(&Context::global()?, &swing, &[0.0, 1.0, 2.0], &[0.0, 1.0], &Settings::default())?;
/// assert_eq!(solution.t, [0.0, 1.0, 2.0]);
/// assert!((solution.y[2] - 1.0_f64.sin()).abs() < 1e-5);
/// # Ok::<(), clinalg_ode::Error>(())
/// ```
///
/// # Errors
/// [`Error::Value`] for fewer than two times, times that do not increase, a `y0` of another length, and what
/// [`integrate`](crate::integrate::integrate()) refuses; [`Error::Access`] for a snippet that reads further than it declares;
/// those of the integration and the device.
pub fn solve(context: &Context, system: &System, times: &[f64], y0: &[f64], settings: &Settings) -> Result<Solution> {
    match settings.precision {
        Precision::F32 => typed::<f32>(context, system, times, y0, settings),
        Precision::F64 => typed::<f64>(context, system, times, y0, settings),
    }
}

fn typed<T: Real>(
    context: &Context,
    system: &System,
    times: &[f64],
    y0: &[f64],
    settings: &Settings,
) -> Result<Solution> {
    let ([t0, .., t_end], true) = (times, times.windows(2).all(|w| w[0] < w[1])) else {
        return Err(Error::value("times", "at least two that increase", format!("{times:?}")));
    };
    if y0.len() != system.components() {
        return Err(Error::value("y0", format!("{} components", system.components()), y0.len()));
    }
    if let Some(k) = y0.iter().position(|v| !v.is_finite()) {
        return Err(Error::value(format!("y0[{k}]"), "a finite number", y0[k]));
    }
    let start: Vec<T> = system.from_fields(y0).into_iter().map(T::of).collect();
    check_access(context, system, *t0, &start)?;
    let method = Method::named(&settings.method)?;
    // The estimate of the error is work that steps of a fixed size do not need.
    let method = if settings.options.fixed_step.is_some() { method.without_error() } else { method };
    let mut stepper = DeviceStepper::<T>::untried(context, &method, system, settings.variant)?;
    let (mut t, mut y) = (vec![*t0], y0.to_vec());
    let mut keep = |time: f64, values: &[T]| {
        t.push(time);
        let wide: Vec<f64> = values.iter().map(|v| v.wide()).collect();
        y.extend(system.by_fields(&wide));
    };
    let save_at = if settings.every_step { Vec::new() } else { times[1..].to_vec() };
    let options = Options { save_at, ..settings.options.clone() };
    let report = if settings.every_step {
        let mut integrator = Integrator::new(&mut stepper, *t0, *t_end, &start, &options)?;
        let mut reached = *t0;
        while reached < *t_end {
            let taken = integrator.step()?;
            if integrator.t() > reached {
                reached = integrator.t();
                keep(reached, &integrator.solution()?);
            }
            if !matches!(taken, Taken::Step | Taken::Stop) {
                break;
            }
        }
        integrator.into_report()
    } else {
        integrate(&mut stepper, *t0, *t_end, &start, &options, &mut keep)?.1
    };
    Ok(Solution { t, y, report })
}
