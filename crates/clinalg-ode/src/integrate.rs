//! From the beginning to the end: steps of a fixed size, or of a size that follows the error.
//!
//! ```
//! use clinalg_ode::integrate::{Options, integrate};
//! use clinalg_ode::reference::Reference;
//! use clinalg_ode::{Grid, Method, System};
//!
//! let decay = System::builder(Grid::unit(&[1])).field("u", "-u").build()?;
//! let mut stepper = Reference::<f64>::new(&Method::named("dopri54")?, &decay);
//! let options = Options { relative: 1e-9, absolute: 1e-12, ..Options::default() };
//! let (y, report) = integrate(&mut stepper, &decay, 0.0, 2.0, &[1.0], &options, &mut |_, _| ())?;
//! assert!((y[0] - (-2.0_f64).exp()).abs() < 1e-9);
//! assert!(report.accepted < 100);
//! # Ok::<(), clinalg_ode::Error>(())
//! ```

use clinalg::Real;
use serde::Serialize;

use crate::method::{Input, Method};
use crate::reference::Reference;
use crate::rhs::Rhs;
use crate::{Error, Result};

/// How the error of a step is measured; each component is divided by absolute + relative max(|y|, |y'|).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Norm {
    /// Root of the mean square.
    Rms,
    /// Largest magnitude.
    Max,
}

/// What a step's error is compared with; a norm of 1 just meets it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Relative to the magnitude of the solution at the ends of the step.
    pub relative: f64,
    /// Added to that.
    pub absolute: f64,
    /// Which norm.
    pub norm: Norm,
}

/// Something that computes steps of a method.
pub trait Stepper<T: Real> {
    /// The method.
    fn method(&self) -> &Method;

    /// Number of components of the system.
    fn components(&self) -> usize;

    /// Sets what the inputs of the graph hold.
    ///
    /// # Errors
    /// [`Error::Value`] for another number of vectors or components; those of the device.
    fn set(&mut self, inputs: &[Vec<T>]) -> Result<()>;

    /// Computes a step from t to t + h without taking it; the norm of its error where the method estimates it.
    ///
    /// # Errors
    /// Those of the device.
    fn trial(&mut self, t: f64, h: f64, tolerance: &Tolerance) -> Result<Option<f64>>;

    /// Takes the step tried last.
    ///
    /// # Errors
    /// Those of the device.
    fn accept(&mut self) -> Result<()>;

    /// The solution where the steps taken so far end.
    ///
    /// # Errors
    /// Those of the device.
    fn solution(&self) -> Result<Vec<T>>;
}

/// What an integration did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Report {
    /// Time reached.
    pub t: f64,
    /// Steps taken.
    pub accepted: usize,
    /// Steps tried and thrown away.
    pub rejected: usize,
    /// Evaluations of the right-hand side by the method, without those that start multi-step methods or find the first step.
    pub rhs_evaluations: usize,
    /// Smallest step taken.
    pub smallest_step: f64,
    /// Largest step taken.
    pub largest_step: f64,
}

impl Report {
    fn new(t: f64) -> Report {
        Report { t, accepted: 0, rejected: 0, rhs_evaluations: 0, smallest_step: f64::INFINITY, largest_step: 0.0 }
    }

    fn took(&mut self, h: f64) {
        self.accepted += 1;
        self.smallest_step = self.smallest_step.min(h);
        self.largest_step = self.largest_step.max(h);
    }
}

/// How steps follow the error. With q the smaller order of the pair plus 1 and e the norm of the error, a step is followed by
/// one that is `safety` e^(-alpha/q) e_old^(beta/q) times as large, within `shrink` and `grow`; after a rejected step there is
/// no growth.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Relative tolerance, at least 0.
    pub relative: f64,
    /// Absolute tolerance, at least 0; one of both must be above 0.
    pub absolute: f64,
    /// Norm of the error.
    pub norm: Norm,
    /// First step; `None` finds one from the right-hand side (Hairer, Norsett, Wanner, Solving ODEs I, II.4).
    pub first_step: Option<f64>,
    /// Largest step.
    pub largest_step: f64,
    /// Most steps, rejected ones counted.
    pub step_limit: usize,
    /// Times that a step must end at, inside the interval: where the right-hand side jumps or the solution is wanted.
    pub stops: Vec<f64>,
    /// Factor for caution.
    pub safety: f64,
    /// Weight of the error.
    pub alpha: f64,
    /// Weight of the error of the step before (0 for an I controller).
    pub beta: f64,
    /// Least factor from step to step.
    pub shrink: f64,
    /// Largest factor from step to step.
    pub grow: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            relative: 1e-6,
            absolute: 1e-9,
            norm: Norm::Rms,
            first_step: None,
            largest_step: f64::INFINITY,
            step_limit: 100_000,
            stops: Vec::new(),
            safety: 0.9,
            alpha: 0.7,
            beta: 0.4,
            shrink: 0.2,
            grow: 5.0,
        }
    }
}

/// Errors below this count as this: a lucky step does not promise another one.
const LEAST_ERROR: f64 = 1e-4;

/// Checks what every integration is given.
fn check<T: Real>(stepper: &dyn Stepper<T>, rhs: &dyn Rhs<T>, t0: f64, t_end: f64, y0: &[T]) -> Result<()> {
    if !t0.is_finite() {
        return Err(Error::value("t0", "a finite number", t0));
    }
    if !(t_end >= t0 && t_end.is_finite()) {
        return Err(Error::value("t_end", format!("a finite number, at least {t0}"), t_end));
    }
    if y0.len() != stepper.components() || rhs.len() != y0.len() {
        return Err(Error::value("y0", format!("{} components", stepper.components()), y0.len()));
    }
    if let Some(k) = y0.iter().position(|v| !v.is_finite()) {
        return Err(Error::value(format!("y0[{k}]"), "a finite number", y0[k]));
    }
    Ok(())
}

/// The solution from `t0` to `t_end` with steps of a size that follows the error; `see` is called with the time and the
/// solution at each of the stops inside the interval.
///
/// # Errors
/// [`Error::Value`] for a method without error estimate, `t_end` before `t0`, a solution that is not finite at the
/// beginning, tolerances that are negative or both zero, or other options outside their ranges; [`Error::NotFinite`],
/// [`Error::StepTooSmall`], [`Error::StepLimit`]; those of the device.
pub fn integrate<T: Real>(
    stepper: &mut dyn Stepper<T>,
    rhs: &dyn Rhs<T>,
    t0: f64,
    t_end: f64,
    y0: &[T],
    options: &Options,
    see: &mut dyn FnMut(f64, &[T]),
) -> Result<(Vec<T>, Report)> {
    check(stepper, rhs, t0, t_end, y0)?;
    let Some(error_order) = stepper.method().error_order() else {
        return Err(Error::value("method", "one with an error estimate", stepper.method().name()));
    };
    if stepper.method().inputs().len() != 1 {
        return Err(Error::value("method", "a one-step method", stepper.method().name()));
    }
    let Options { relative, absolute, norm, safety, shrink, grow, largest_step, .. } = *options;
    let ranges = [
        ("relative", relative, relative >= 0.0 && relative.is_finite()),
        ("absolute", absolute, absolute >= 0.0 && absolute.is_finite() && absolute + relative > 0.0),
        ("first_step", options.first_step.unwrap_or(1.0), options.first_step.is_none_or(|h| h > 0.0 && h.is_finite())),
        ("largest_step", largest_step, largest_step > 0.0),
        ("safety", safety, safety > 0.0 && safety < 1.0),
        ("alpha", options.alpha, options.alpha > 0.0 && options.alpha <= 2.0),
        ("beta", options.beta, options.beta >= 0.0 && options.beta <= 2.0),
        ("shrink", shrink, shrink > 0.0 && shrink < 1.0),
        ("grow", grow, grow >= 1.0),
    ];
    if let Some((name, value, _)) = ranges.iter().find(|(_, _, good)| !good) {
        return Err(Error::value(*name, "inside its range (both tolerances at least 0, one above)", value));
    }
    let mut stops: Vec<f64> = options.stops.iter().copied().filter(|s| *s > t0 && *s < t_end).collect();
    stops.sort_by(f64::total_cmp);
    stops.dedup();
    stops.push(t_end);
    let tolerance = Tolerance { relative, absolute, norm };
    let q = stepper.method().order().min(error_order) as f64 + 1.0;
    let evaluations = stepper.method().graph().rhs_count();
    stepper.set(&[y0.to_vec()])?;
    let mut report = Report::new(t0);
    if t_end == t0 {
        return Ok((y0.to_vec(), report));
    }
    let mut h = match options.first_step {
        Some(h) => h,
        None => first_step(rhs, t0, y0, q - 1.0, &tolerance)?,
    };
    let mut old = 1.0_f64;
    let mut rejected_before = false;
    let mut not_finite = false;
    let mut stop = 0;
    while stop < stops.len() {
        let left = stops[stop] - report.t;
        h = h.min(largest_step);
        // A stop just past the end of a step would need a tiny step of its own.
        let hits = h * 1.01 >= left;
        let step = if hits { left } else { h };
        let too_small = step <= 4.0 * f64::EPSILON * report.t.abs().max(f64::MIN_POSITIVE) && !hits;
        if too_small || report.t + step == report.t {
            return Err(match not_finite {
                true => Error::NotFinite { t: report.t, h: step },
                false => Error::StepTooSmall { t: report.t, h: step },
            });
        }
        if report.accepted + report.rejected >= options.step_limit {
            return Err(Error::StepLimit { steps: options.step_limit, t: report.t });
        }
        let error = stepper.trial(report.t, step, &tolerance)?.expect("the method estimates its error");
        report.rhs_evaluations += evaluations;
        if error <= 1.0 {
            stepper.accept()?;
            report.took(step);
            let error = error.max(LEAST_ERROR);
            let most = if rejected_before { 1.0 } else { grow };
            let factor = (safety * error.powf(-options.alpha / q) * old.powf(options.beta / q)).clamp(shrink, most);
            // A step cut short by a stop says little about the next one.
            h = if hits { h.max(step * factor) } else { step * factor };
            old = error;
            rejected_before = false;
            not_finite = false;
            if hits {
                report.t = stops[stop];
                stop += 1;
                if stop < stops.len() {
                    see(report.t, &stepper.solution()?);
                }
            } else {
                report.t += step;
            }
        } else {
            report.rejected += 1;
            rejected_before = true;
            not_finite = !error.is_finite();
            h = step * if not_finite { shrink } else { (safety * error.powf(-1.0 / q)).clamp(shrink, 1.0) };
        }
    }
    Ok((stepper.solution()?, report))
}

/// A first step from two evaluations of the right-hand side.
fn first_step<T: Real>(rhs: &dyn Rhs<T>, t0: f64, y0: &[T], order: f64, tolerance: &Tolerance) -> Result<f64> {
    let n = y0.len();
    let mut f0 = vec![T::zero(); n];
    rhs.eval(T::of(t0), y0, &mut f0);
    let norm = |v: &dyn Fn(usize) -> f64| {
        let scaled = |k: usize| v(k) / (tolerance.absolute + tolerance.relative * y0[k].wide().abs());
        // Components that are 0 with no absolute tolerance have no scale.
        let parts = (0..n).map(scaled).filter(|q| q.is_finite());
        (parts.map(|q| q * q).sum::<f64>() / n.max(1) as f64).sqrt()
    };
    if f0.iter().any(|v| !v.is_finite()) {
        return Err(Error::NotFinite { t: t0, h: 0.0 });
    }
    let (d0, d1) = (norm(&|k| y0[k].wide()), norm(&|k| f0[k].wide()));
    let h0 = if d0 < 1e-5 || d1 < 1e-5 { 1e-6 } else { 0.01 * d0 / d1 };
    let y1: Vec<T> = y0.iter().zip(&f0).map(|(y, f)| *y + T::of(h0) * *f).collect();
    let mut f1 = vec![T::zero(); n];
    rhs.eval(T::of(t0 + h0), &y1, &mut f1);
    let d2 = norm(&|k| f1[k].wide() - f0[k].wide()) / h0;
    let h1 = if d1.max(d2) <= 1e-15 { (h0 * 1e-3).max(1e-6) } else { (0.01 / d1.max(d2)).powf(1.0 / (order + 1.0)) };
    Ok((100.0 * h0).min(h1))
}

/// The solution from `t0` to `t_end` in `steps` steps of equal size. What multi-step methods need from before the first step
/// is computed on the host with the method of Prince and Dormand 8(7), in steps a quarter as large.
///
/// # Errors
/// [`Error::Value`] for no steps, too few for a multi-step method, `t_end` before `t0`, a step that does not advance the
/// time, or a solution that is not finite at the beginning; [`Error::NotFinite`] when it is not at the end; those of the device.
pub fn integrate_fixed<T: Real>(
    stepper: &mut dyn Stepper<T>,
    rhs: &dyn Rhs<T>,
    t0: f64,
    t_end: f64,
    y0: &[T],
    steps: usize,
) -> Result<(Vec<T>, Report)> {
    check(stepper, rhs, t0, t_end, y0)?;
    let first = stepper.method().start_steps();
    if steps <= first {
        return Err(Error::value("steps", format!("at least {} for this method", first + 1), steps));
    }
    let h = (t_end - t0) / steps as f64;
    if t_end == t0 || t_end - h == t_end {
        return Err(Error::value("h", "large enough to advance the time", h));
    }
    let time = |k: usize| if k == steps { t_end } else { t0 + k as f64 * h };
    stepper.set(&start(stepper.method(), rhs, t0, h, y0)?)?;
    let mut report = Report::new(t0);
    let unused = Tolerance { relative: 1.0, absolute: 1.0, norm: Norm::Max };
    for k in first..steps {
        stepper.trial(time(k), h, &unused)?;
        stepper.accept()?;
        report.took(h);
        report.rhs_evaluations += stepper.method().graph().rhs_count();
    }
    let y = stepper.solution()?;
    if y.iter().any(|v| !v.is_finite()) {
        return Err(Error::NotFinite { t: t0, h });
    }
    report.t = t_end;
    Ok((y, report))
}

/// What the inputs of a method hold when its first step begins, [`Method::start_steps`] steps after `t0`.
fn start<T: Real>(method: &Method, rhs: &dyn Rhs<T>, t0: f64, h: f64, y0: &[T]) -> Result<Vec<Vec<T>>> {
    let first = method.start_steps() as f64;
    let starter = Method::named("dopri87")?.without_error();
    let mut reference = Reference::new(&starter, rhs);
    let unused = Tolerance { relative: 1.0, absolute: 1.0, norm: Norm::Max };
    let mut order: Vec<usize> = (0..method.inputs().len()).collect();
    let after = |k: usize| first + method.inputs()[k].offset();
    order.sort_by(|a, b| after(*a).total_cmp(&after(*b)));
    let mut all = vec![Vec::new(); order.len()];
    let mut reached = 0.0;
    reference.set(&[y0.to_vec()])?;
    for k in order {
        let parts = ((after(k) - reached) * 4.0).ceil().max(0.0) as usize;
        for part in 0..parts {
            let step = (after(k) - reached) / parts as f64;
            reference.trial(t0 + (reached + part as f64 * step) * h, step * h, &unused)?;
            reference.accept()?;
        }
        reached = after(k);
        let y = reference.solution()?;
        all[k] = match method.inputs()[k] {
            Input::Solution { .. } => y,
            Input::Derivative { .. } => {
                let mut f = vec![T::zero(); y.len()];
                rhs.eval(T::of(t0 + reached * h), &y, &mut f);
                f
            }
        };
    }
    Ok(all)
}
