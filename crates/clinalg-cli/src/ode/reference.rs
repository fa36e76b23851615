//! The solution that a result is compared with.

use clinalg_ode::integrate::{Integrator, Options, Report};
use clinalg_ode::problems::Problem;
use clinalg_ode::reference::Reference;
use clinalg_ode::{Error, Method};

use super::ReferenceArg;
use crate::exit::Failure;
use crate::interrupt;

/// Components up to which `--reference auto` computes a reference by a method.
const SMALL: usize = 1000;

/// Derivatives of a component that `--reference auto` computes besides half of what the run has: a part of a second.
const FREE: usize = 10_000_000;

/// What the solution at the end of a run with this report is compared with, and what that is. Nothing after Ctrl-C, or
/// where `--reference auto` would compute too long.
pub(super) fn compared(
    wanted: ReferenceArg,
    problem: &Problem,
    report: &Report,
) -> Result<Option<(&'static str, Vec<f64>)>, Failure> {
    let t_end = report.t;
    // Exact solutions take as many operations as the square of the points along an axis.
    let quick = problem.system.grid().shape()[0] <= 10_000;
    if wanted == ReferenceArg::None {
        return Ok(None);
    }
    if let Some(exact) = (quick || wanted == ReferenceArg::Always).then(|| problem.exact(t_end)).flatten() {
        return Ok(Some(("exact", exact)));
    }
    if wanted == ReferenceArg::Always {
        return Ok(tight(problem, t_end, usize::MAX)?.map(|y| ("dopri87", y)));
    }
    if problem.y0.len() > SMALL {
        return Ok(None);
    }
    match tight(problem, t_end, report.rhs_evaluations / 2 + FREE / problem.y0.len().max(1)) {
        Ok(found) => Ok(found.map(|y| ("dopri87", y))),
        // The run has come to its end; a comparison that is on by default does not make it fail.
        Err(error) => {
            log::info!("no reference: {error}");
            Ok(None)
        }
    }
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
    let integrator = Integrator::new(&mut stepper, problem.t0, t_end, &problem.y0, &options)?;
    let mut integrator = integrator.on_progress(|_| !interrupt::asked());
    match integrator.run() {
        Err(Error::StepLimit { .. }) => return Ok(None),
        other => drop(other?),
    }
    if integrator.t() < t_end {
        return Ok(None);
    }
    Ok(Some(integrator.solution()?))
}
