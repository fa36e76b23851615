//! The solution that a result is compared with.

use clinalg_ode::Method;
use clinalg_ode::integrate::{Integrator, Options};
use clinalg_ode::problems::Problem;
use clinalg_ode::reference::Reference;

use super::ReferenceArg;
use crate::exit::Failure;

/// Components up to which `--reference auto` computes a reference by a method.
const SMALL: usize = 1000;

/// What the solution at `t_end` is compared with, and what that is.
pub(super) fn compared(
    wanted: ReferenceArg,
    problem: &Problem,
    t_end: f64,
) -> Result<Option<(&'static str, Vec<f64>)>, Failure> {
    // Exact solutions take as many operations as the square of the points along an axis.
    let quick = problem.system.grid().shape()[0] <= 10_000;
    if wanted == ReferenceArg::None {
        return Ok(None);
    }
    if let Some(exact) = (quick || wanted == ReferenceArg::Always).then(|| problem.exact(t_end)).flatten() {
        return Ok(Some(("exact", exact)));
    }
    if problem.y0.len() <= SMALL || wanted == ReferenceArg::Always {
        return Ok(Some(("dopri87", tight(problem, t_end)?)));
    }
    Ok(None)
}

/// The solution at `t_end` with tight tolerances, in plain Rust.
fn tight(problem: &Problem, t_end: f64) -> Result<Vec<f64>, Failure> {
    let mut stepper = Reference::<f64>::new(&Method::named("dopri87")?, &problem.system);
    let options = Options {
        relative: 1e-11,
        absolute: 1e-11,
        step_limit: usize::MAX,
        stops: problem.stops.clone(),
        watch_stability: false,
        ..Options::default()
    };
    let mut integrator = Integrator::new(&mut stepper, problem.t0, t_end, &problem.y0, &options)?;
    integrator.run()?;
    Ok(integrator.solution()?)
}
