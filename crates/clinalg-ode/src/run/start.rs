//! What an integration needs before its first step, computed by the stepper's own kind on its own device.

use clinalg::Real;

use crate::error::Cause;
use crate::method::graph::{Coefficient, Graph};
use crate::method::{BEGIN, Input, Method};
use crate::run::stepper::{Slot, Stepper, Stored, Tolerance};
use crate::{Error, Result};

/// F = f(t, y), carried in place of y, with its norm.
fn slope() -> Result<Method> {
    let mut g = Graph::new("slope");
    let y = g.input("y");
    let f = g.rhs("F", 0.0, y);
    g.red("size", f, y, y);
    g.carry(y, f);
    g.solution_is(f);
    Method::new(g, 1, Some(1), vec![BEGIN])
}

/// The norm of y.
fn size() -> Result<Method> {
    let mut g = Graph::new("size");
    let y = g.input("y");
    let copy = g.lc("z", &[(Coefficient::constant(1.0), y)]);
    g.red("size", copy, y, y);
    g.carry(y, copy);
    g.solution_is(copy);
    Method::new(g, 1, Some(1), vec![BEGIN])
}

/// f(t + c h, y + h F) - F with F = f(t, y), and its norm.
fn change(c: f64) -> Result<Method> {
    let mut g = Graph::new("change");
    let y = g.input("y");
    let f0 = g.rhs("F0", 0.0, y);
    let x = g.lc("X", &[(Coefficient::constant(1.0), y), (Coefficient::h(1.0), f0)]);
    let f1 = g.rhs("F1", c, x);
    let d = g.lc("D", &[(Coefficient::constant(1.0), f1), (Coefficient::constant(-1.0), f0)]);
    g.red("size", d, y, y);
    g.carry(y, d);
    g.solution_is(d);
    Method::new(g, 1, Some(1), vec![BEGIN])
}

/// A first step from two evaluations of the right-hand side (Hairer, Norsett, Wanner, Solving ODEs I, II.4), for a method
/// whose error is of the order `order` + 1 in the step, from what the stepper begins with; `each` are the absolute tolerances
/// of the components unless they are the one of `tolerance`. Norms are root mean squares whatever norm errors are measured
/// in.
pub(crate) fn first_step<T: Real, S: Stepper<T>>(
    stepper: &S,
    t0: f64,
    interval: f64,
    order: f64,
    tolerance: &Tolerance,
    each: &[T],
) -> Result<f64> {
    let tolerance = Tolerance { norm: crate::run::stepper::Norm::Rms, ..*tolerance };
    let norm = |method: Method, h: f64| -> Result<f64> {
        let method = if each.is_empty() { method } else { method.with_tolerances() };
        let mut helper = stepper.sibling(&method)?;
        if !each.is_empty() {
            helper.load(1, Stored::Host(each))?;
        }
        helper.load(0, stepper.stored(Slot::Input(stepper.method().begin())))?;
        Ok(helper.trial(t0, h, &tolerance)?.expect("it has a reduction"))
    };
    let d1 = norm(slope()?, 0.0)?;
    // Of less the time cannot be told apart.
    let least = 16.0 * T::epsilon().into_f64() * t0.abs();
    if !d1.is_finite() {
        // Without an absolute tolerance a component that is 0 has made it so, or the right-hand side has.
        let mut helper = stepper.sibling(&slope()?)?;
        helper.load(0, stepper.stored(Slot::Input(stepper.method().begin())))?;
        helper.trial(t0, 0.0, &tolerance)?;
        return match first_not_finite(&helper, helper.stored(Slot::Result))? {
            Some((component, value)) => {
                Err(Error::NotFinite { t: t0, h: 0.0, component, value, cause: Cause::Beginning })
            }
            None => Ok((1e-6 * interval).max(least).min(interval)),
        };
    }
    let d0 = norm(size()?, 0.0)?;
    let h0 = if d0 >= 1e-5 && d0.is_finite() && d1 >= 1e-5 { 0.01 * d0 / d1 } else { 1e-6 };
    let h0 = h0.max(least).min(interval);
    let d2 = norm(change(1.0)?, h0)? / h0;
    if !d2.is_finite() {
        return Ok((1e-3 * h0).max(least).min(interval));
    }
    let h1 = if d1.max(d2) <= 1e-15 { (h0 * 1e-3).max(1e-6) } else { (0.01 / d1.max(d2)).powf(1.0 / (order + 1.0)) };
    Ok((100.0 * h0).min(h1).max(least).min(interval))
}

/// The first component that is infinite or NaN, as messages name it, with its value.
pub(crate) fn first_not_finite<T: Real, S: Stepper<T>>(stepper: &S, y: Stored<'_, T>) -> Result<Option<(String, f64)>> {
    let y = y.to_vec()?;
    let bad = y.iter().position(|v| !v.is_finite());
    Ok(bad.map(|k| (stepper.component_name(k), y[k].into_f64())))
}

/// The component (`only` this one, if given) whose derivative jumps when the solution is moved forwards or backwards by a few
/// steps of size h at fixed time. Forwards, a solution that slides along a switch crosses it; backwards, so does one that has
/// just crossed a lagging switch. `None` where none jumps: a jump in time alone passes.
pub(crate) fn jumps<T: Real, S: Stepper<T>>(stepper: &S, t: f64, h: f64, only: Option<usize>) -> Result<Option<Jump>> {
    let begin = || stepper.stored(Slot::Input(stepper.method().begin()));
    let mut slope = stepper.sibling(&slope()?.without_error())?;
    slope.load(0, begin())?;
    slope.trial(t, 0.0, &Tolerance::UNUSED)?;
    let slopes = slope.stored(Slot::Result).to_vec()?;
    let mut change = stepper.sibling(&change(0.0)?.without_error())?;
    change.load(0, begin())?;
    let mut change = |distance: f64| {
        change.trial(t, distance, &Tolerance::UNUSED)?;
        change.stored(Slot::Result).to_vec()
    };
    for steps in [1.0, 4.0, 16.0, -1.0, -4.0, -16.0] {
        let changes = change(steps * h)?;
        let size = |k: &usize| changes[*k].abs().into_f64();
        let largest = only.or_else(|| (0..changes.len()).max_by(|a, b| size(a).total_cmp(&size(b))));
        let Some(k) = largest.filter(|k| size(k) > JUMP * slopes[*k].abs().into_f64()) else { continue };
        // A jump stays in one half of the way; of a slope, a half is left.
        let (mut from, mut to) = ([0.0, 0.0], [steps * h, changes[k].into_f64()]);
        for _ in 0..HALVINGS {
            let distance = 0.5 * (from[0] + to[0]);
            let middle = [distance, change(distance)?[k].into_f64()];
            if (to[1] - middle[1]).abs() > (middle[1] - from[1]).abs() { from = middle } else { to = middle }
        }
        if 8.0 * (to[1] - from[1]).abs() > size(&k) {
            let slope = slopes[k].into_f64();
            return Ok(Some(Jump { component: k, slope: slope.abs().max((slope + changes[k].into_f64()).abs()) }));
        }
    }
    Ok(None)
}

/// Where a derivative jumps.
pub(crate) struct Jump {
    pub(crate) component: usize,
    /// The larger magnitude of the derivative on either side.
    pub(crate) slope: f64,
}

/// A change of a derivative, relative to it, that may be a jump.
const JUMP: f64 = 0.1;

/// Halvings after which the change of a slope is a thousandth.
const HALVINGS: usize = 10;

/// Fills the inputs of a multi-step method for steps of the size h whose first begins [`Method::start_steps`] after `t0`; its
/// solution is that at `t0` before. A Runge-Kutta method of at least the same order steps a quarter as far.
pub(crate) fn start<T: Real, S: Stepper<T>>(stepper: &mut S, t0: f64, h: f64) -> Result<()> {
    let method = stepper.method().clone();
    let starter = match method.order() {
        0..=2 => "heun2",
        3..=4 => "rk4",
        5 => "dopri54",
        6 => "verner65",
        _ => "dopri87",
    };
    let mut runner = stepper.sibling(&Method::named(starter)?.without_error())?;
    runner.load(0, stepper.stored(Slot::Input(method.begin())))?;
    let mut slopes = None;
    let first = method.start_steps() as f64;
    let mut order: Vec<usize> = (0..method.inputs().len()).collect();
    let after = |k: usize| first + method.inputs()[k].offset();
    order.sort_by(|a, b| after(*a).total_cmp(&after(*b)));
    let mut reached = 0.0;
    for k in order {
        let parts = ((after(k) - reached) * 4.0).ceil().max(0.0) as usize;
        for part in 0..parts {
            let step = (after(k) - reached) / parts as f64;
            runner.trial(t0 + (reached + part as f64 * step) * h, step * h, &Tolerance::UNUSED)?;
            runner.accept()?;
        }
        reached = after(k);
        match method.inputs()[k] {
            Input::Tolerances => {}
            Input::Solution { .. } => stepper.load(k, runner.stored(Slot::Input(0)))?,
            Input::Derivative { .. } => {
                if slopes.is_none() {
                    slopes = Some(stepper.sibling(&slope()?.without_error())?);
                }
                let slopes = slopes.as_mut().expect("it was just made");
                slopes.load(0, runner.stored(Slot::Input(0)))?;
                slopes.trial(t0 + reached * h, h, &Tolerance::UNUSED)?;
                stepper.load(k, slopes.stored(Slot::Result))?;
            }
        }
    }
    Ok(())
}
