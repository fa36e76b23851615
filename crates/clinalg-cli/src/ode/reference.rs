//! The solution that a result is compared with.

use clinalg::Real;
use clinalg_ode::integrate::{Integrator, Options, Report, Stored};
use clinalg_ode::problems::Problem;
use clinalg_ode::reference::Reference;
use clinalg_ode::{Error, Method};

use super::ReferenceArg;
use super::integration::Done;
use crate::exit::Failure;
use crate::interrupt;

/// Components up to which `--reference auto` computes a reference by a method.
const SMALL: usize = 1000;

/// Derivatives of a component that `--reference auto` computes besides half of what the run has: a part of a second.
const FREE: usize = 10_000_000;

/// The largest difference in a component of `y` from the exact solution at the end of a run, `t_end`, where that is known and
/// `--reference auto` would not compute it too long.
pub(super) fn exact<T: Real>(
    wanted: ReferenceArg,
    problem: &Problem,
    y: Stored<'_, T>,
    t_end: f64,
) -> Result<Option<f64>, Failure> {
    // Exact solutions take as many operations as the square of the points along an axis.
    let quick = problem.system.grid().shape()[0] <= 10_000;
    Ok(match wanted {
        ReferenceArg::Always => problem.error(t_end, y)?,
        ReferenceArg::Auto if quick => problem.error(t_end, y)?,
        _ => None,
    })
}

/// Whether the solution may be compared with one by a method, on the host.
pub(super) fn is_computed(wanted: ReferenceArg, problem: &Problem) -> bool {
    match wanted {
        ReferenceArg::Always => true,
        ReferenceArg::Auto => problem.system.components() <= SMALL,
        ReferenceArg::None => false,
    }
}

/// The largest error of the solution at the end of a run, and what it is compared with.
pub(super) fn error<T: Real>(
    wanted: ReferenceArg,
    problem: &Problem,
    done: &Done<T>,
    t_end: f64,
) -> Result<Option<(f64, &'static str)>, Failure> {
    if let Some(error) = done.summary.error {
        return Ok(Some((error, "exact")));
    }
    let (Some(y), true) = (&done.y, done.report.t == t_end && is_computed(wanted, problem)) else { return Ok(None) };
    let Some(expected) = computed(wanted, problem, &done.report)? else { return Ok(None) };
    let error = y.iter().zip(&expected).map(|(y, e)| (y.into_f64() - e).abs());
    Ok(Some((error.fold(0.0, f64::max), "dopri87")))
}

/// The solution by a method that the solution at the end of a run with this report is compared with. Nothing after Ctrl-C, or
/// where `--reference auto` would compute too long.
fn computed(wanted: ReferenceArg, problem: &Problem, report: &Report) -> Result<Option<Vec<f64>>, Failure> {
    if wanted == ReferenceArg::Always {
        return Ok(tight(problem, report.t, usize::MAX)?);
    }
    let free = FREE / problem.system.components().max(1);
    tight(problem, report.t, report.rhs_evaluations / 2 + free).or_else(|error| {
        // The run has come to its end; a comparison that is on by default does not make it fail.
        log::info!("no reference: {error}");
        Ok(None)
    })
}

/// The solution at `t_end` with tight tolerances, in plain Rust; `None` after Ctrl-C, or where it takes more evaluations.
fn tight(problem: &Problem, t_end: f64, evaluations: usize) -> Result<Option<Vec<f64>>, Error> {
    let method = Method::named("dopri87")?;
    let step_limit = (evaluations / method.graph().rhs_count()).max(1);
    let mut stepper = Reference::<f64>::new(&method, &problem.system);
    let options = Options {
        relative: 1e-11,
        absolute: 1e-11,
        step_limit,
        stops: problem.stops.clone(),
        watch_stability: false,
        ..Options::default()
    };
    let integrator = Integrator::new(&mut stepper, problem.t0, t_end, &problem.y0()?, &options)?;
    let mut integrator = integrator.on_progress(|_| !interrupt::interrupted());
    match integrator.run() {
        Err(Error::StepLimit { .. }) => return Ok(None),
        other => drop(other?),
    }
    if integrator.t() < t_end {
        return Ok(None);
    }
    Ok(Some(integrator.solution()?))
}
