//! From the beginning to the end: steps of a fixed size, or of a size that follows the error.
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

use clinalg::{Real, Vector, ops};
use serde::Serialize;

pub use crate::events::{Direction, Event, Occurrence};
pub use crate::integrator::{Integrator, Taken};
use crate::method::Method;
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

impl Tolerance {
    /// For steps whose error nobody looks at.
    pub(crate) const UNUSED: Tolerance = Tolerance { relative: 1.0, absolute: 1.0, norm: Norm::Max };
}

/// A vector that a stepper keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// What this input of the method's graph holds, counted from 0.
    Input(usize),
    /// The solution at the end of the step tried last, before it is taken.
    Result,
}

/// Where a vector is; slices and vectors turn into it.
#[derive(Debug)]
pub enum Stored<'a, T: Real> {
    /// In the memory of the host.
    Host(&'a [T]),
    /// On a device.
    Device(&'a Vector<T>),
}

impl<T: Real> Clone for Stored<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Real> Copy for Stored<'_, T> {}

impl<'a, T: Real> From<&'a [T]> for Stored<'a, T> {
    fn from(values: &'a [T]) -> Self {
        Stored::Host(values)
    }
}

impl<'a, T: Real, const N: usize> From<&'a [T; N]> for Stored<'a, T> {
    fn from(values: &'a [T; N]) -> Self {
        Stored::Host(values)
    }
}

impl<'a, T: Real> From<&'a Vec<T>> for Stored<'a, T> {
    fn from(values: &'a Vec<T>) -> Self {
        Stored::Host(values)
    }
}

impl<'a, T: Real> From<&'a Vector<T>> for Stored<'a, T> {
    fn from(values: &'a Vector<T>) -> Self {
        Stored::Device(values)
    }
}

impl<T: Real> Stored<'_, T> {
    /// Number of components.
    pub fn len(&self) -> usize {
        match self {
            Stored::Host(values) => values.len(),
            Stored::Device(vector) => vector.len(),
        }
    }

    /// Whether there is no component.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The whole vector.
    ///
    /// # Errors
    /// Those of the device.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        Ok(match self {
            Stored::Host(values) => values.to_vec(),
            Stored::Device(vector) => vector.to_vec()?,
        })
    }

    /// Copies it to a vector on a device; what is on the same device stays there.
    ///
    /// # Errors
    /// [`clinalg::Error::Length`] for another length; those of the device.
    pub fn copy_to(&self, target: &mut Vector<T>) -> Result<()> {
        match self {
            Stored::Host(values) => target.write(values)?,
            Stored::Device(vector) if vector.context().same(target.context()) => target.copy_from(vector)?,
            Stored::Device(vector) => target.write(&vector.to_vec()?)?,
        }
        Ok(())
    }

    /// Whether no component is infinite or NaN; looked at where the vector is.
    ///
    /// # Errors
    /// Those of the device.
    pub fn all_finite(&self) -> Result<bool> {
        Ok(match self {
            Stored::Host(values) => values.iter().all(|v| v.is_finite()),
            Stored::Device(vector) => ops::norm_inf(*vector)?.is_finite(),
        })
    }

    /// Root of the mean square of the components; 0 for none.
    ///
    /// # Errors
    /// Those of the device.
    pub(crate) fn rms(&self) -> Result<f64> {
        let n = self.len().max(1) as f64;
        Ok(match self {
            Stored::Host(values) => (values.iter().map(|v| v.wide() * v.wide()).sum::<f64>() / n).sqrt(),
            Stored::Device(vector) => ops::norm2(*vector)?.wide() / n.sqrt(),
        })
    }

    /// Some of its components. Those of a device are read alone where they are few or near each other.
    ///
    /// # Errors
    /// Those of the device; [`Error::Value`] past the end.
    pub fn pick(&self, components: &[usize]) -> Result<Vec<T>> {
        const ONE_BY_ONE: usize = 16;
        const NEAR: usize = 4096;
        let n = self.len();
        if let Some(k) = components.iter().find(|k| **k >= n) {
            return Err(Error::value("component", format!("below {n}"), k));
        }
        let (Some(low), Some(high)) = (components.iter().min(), components.iter().max()) else { return Ok(Vec::new()) };
        let of = |all: &[T], first: usize| components.iter().map(|k| all[*k - first]).collect();
        match self {
            Stored::Host(values) => Ok(of(values, 0)),
            Stored::Device(vector) if high - low < NEAR => {
                let mut all = vec![T::zero(); high - low + 1];
                vector.buffer().read_range(*low, &mut all)?;
                Ok(of(&all, *low))
            }
            Stored::Device(vector) if components.len() <= ONE_BY_ONE => {
                let mut values = vec![T::zero(); components.len()];
                for (value, k) in values.iter_mut().zip(components) {
                    vector.buffer().read_range(*k, std::slice::from_mut(value))?;
                }
                Ok(values)
            }
            Stored::Device(vector) => Ok(of(&vector.to_vec()?, 0)),
        }
    }
}

/// Something that computes steps of a method for a right-hand side.
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

    /// Another method for the same right-hand side in the same place, whose inputs hold nothing yet.
    ///
    /// # Errors
    /// Those of the device.
    fn sibling(&self, method: &Method) -> Result<Self>
    where
        Self: Sized;

    /// One of the vectors kept.
    fn stored(&self, slot: Slot) -> Stored<'_, T>;

    /// Sets what one input of the graph holds; what is on the device stays there.
    ///
    /// # Errors
    /// [`Error::Value`] for another number of components; those of the device.
    fn load(&mut self, input: usize, from: Stored<'_, T>) -> Result<()>;

    /// Takes a step of the size h from each of `times`, without a look at errors.
    ///
    /// # Errors
    /// Those of the device.
    fn advance(&mut self, times: &[f64], h: f64) -> Result<()> {
        for t in times {
            self.trial(*t, h, &Tolerance::UNUSED)?;
            self.accept()?;
        }
        Ok(())
    }

    /// Most steps that one call of [`Stepper::trial_steps`] computes together.
    fn steps_at_once(&self) -> usize {
        1
    }

    /// Computes up to `steps` steps of the size h, from 1 to [`Stepper::steps_at_once`], without taking them; the norm of the
    /// error of each one computed. For methods that estimate it.
    ///
    /// # Errors
    /// Those of the device.
    fn trial_steps(&mut self, t: f64, h: f64, steps: usize, tolerance: &Tolerance) -> Result<Vec<f64>> {
        assert_eq!(steps, 1, "one step at once");
        Ok(self.trial(t, h, tolerance)?.into_iter().collect())
    }

    /// Takes the first `count` of the steps that [`Stepper::trial_steps`] computed last, at least one.
    ///
    /// # Errors
    /// Those of the device.
    fn accept_steps(&mut self, count: usize) -> Result<()> {
        assert_eq!(count, 1, "one step at once");
        self.accept()
    }
}

/// What an integration did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Time reached.
    pub t: f64,
    /// Steps taken.
    pub accepted: usize,
    /// Steps tried and thrown away.
    pub rejected: usize,
    /// Evaluations of the right-hand side by the method, without those that start multi-step methods, find the first step,
    /// interpolate or look for stiffness.
    pub rhs_evaluations: usize,
    /// Smallest step taken.
    pub smallest_step: f64,
    /// Largest step taken.
    pub largest_step: f64,
    /// Events, in the order of their times.
    pub events: Vec<Occurrence>,
    /// Where it was noticed that stability, not accuracy, bounds the steps: an implicit method may need far fewer.
    pub stiff: Option<f64>,
}

impl Report {
    pub(crate) fn new(t: f64) -> Report {
        Report {
            t,
            accepted: 0,
            rejected: 0,
            rhs_evaluations: 0,
            smallest_step: f64::INFINITY,
            largest_step: 0.0,
            events: Vec::new(),
            stiff: None,
        }
    }

    pub(crate) fn took(&mut self, h: f64, steps: usize) {
        self.accepted += steps;
        self.smallest_step = self.smallest_step.min(h);
        self.largest_step = self.largest_step.max(h);
    }
}

/// How time is stepped through. Where steps follow the error, with q the smaller order of the pair plus 1 and e the norm of the
/// error, a step is followed by one that is `safety` e^(-alpha/q) e_old^(beta/q) times as large, within `shrink` and `grow`;
/// after a rejected step there is no growth.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Relative tolerance, at least 0.
    pub relative: f64,
    /// Absolute tolerance, at least 0; one of both must be above 0.
    pub absolute: f64,
    /// Absolute tolerances of the components in the place of `absolute`, where they are not all the same; the method must be
    /// one [`Method::with_tolerances`].
    pub absolute_each: Vec<f64>,
    /// Norm of the error.
    pub norm: Norm,
    /// Steps of this size instead of such that follow the error. Between two stops all steps are equal, and at most this.
    pub fixed_step: Option<f64>,
    /// First step; `None` finds one from the right-hand side (Hairer, Norsett, Wanner, Solving ODEs I, II.4).
    pub first_step: Option<f64>,
    /// Largest step.
    pub largest_step: f64,
    /// Most steps, rejected ones counted.
    pub step_limit: usize,
    /// Times that a step must end at: where the right-hand side jumps. Multi-step methods start anew there.
    pub stops: Vec<f64>,
    /// Times at which the solution is wanted, both ends allowed: interpolated inside of steps, to at least third order.
    pub save_at: Vec<f64>,
    /// Keeps what [`Integrator::at`] needs: two vectors, copied in every step.
    pub dense: bool,
    /// Refuses fixed steps past the stability limit ([`Error::Unstable`]), and looks from time to time whether stability bounds
    /// the steps that follow the error ([`Report::stiff`]).
    pub watch_stability: bool,
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
            absolute_each: Vec::new(),
            norm: Norm::Rms,
            fixed_step: None,
            first_step: None,
            largest_step: f64::INFINITY,
            step_limit: 100_000,
            stops: Vec::new(),
            save_at: Vec::new(),
            dense: false,
            watch_stability: true,
            safety: 0.9,
            alpha: 0.7,
            beta: 0.4,
            shrink: 0.2,
            grow: 5.0,
        }
    }
}

impl Options {
    /// Checks every value that does not depend on the problem.
    ///
    /// # Errors
    /// [`Error::Value`] for the first that is outside of its range.
    pub fn check(&self) -> Result<()> {
        let positive = |v: f64| v > 0.0 && v.is_finite();
        let tolerances = "at least 0 and finite, and above 0 unless the other tolerance is";
        let ranges = [
            ("relative", self.relative, self.relative >= 0.0 && self.relative.is_finite(), tolerances),
            (
                "absolute",
                self.absolute,
                self.absolute >= 0.0 && self.absolute.is_finite() && self.absolute + self.relative > 0.0,
                tolerances,
            ),
            ("h", self.fixed_step.unwrap_or(1.0), self.fixed_step.is_none_or(positive), "a finite number above 0"),
            (
                "first_step",
                self.first_step.unwrap_or(1.0),
                self.first_step.is_none_or(positive),
                "a finite number above 0",
            ),
            ("largest_step", self.largest_step, self.largest_step > 0.0, "above 0"),
            ("safety", self.safety, self.safety > 0.0 && self.safety < 1.0, "between 0 and 1"),
            ("alpha", self.alpha, self.alpha > 0.0 && self.alpha <= 2.0, "above 0, at most 2"),
            ("beta", self.beta, self.beta >= 0.0 && self.beta <= 2.0, "from 0 to 2"),
            ("shrink", self.shrink, self.shrink > 0.0 && self.shrink < 1.0, "between 0 and 1"),
            ("grow", self.grow, self.grow >= 1.0 && self.grow.is_finite(), "at least 1"),
        ];
        let least = if self.relative > 0.0 { 0.0 } else { f64::MIN_POSITIVE };
        if let Some(k) = self.absolute_each.iter().position(|v| !(*v >= least && v.is_finite())) {
            return Err(Error::value(format!("absolute_each[{k}]"), tolerances, self.absolute_each[k]));
        }
        match ranges.iter().find(|(_, _, good, _)| !good) {
            Some((name, value, _, expected)) => Err(Error::value(*name, *expected, value)),
            None => Ok(()),
        }
    }
}

/// The solution from `t0` to `t_end`, where steps follow the error unless the options say otherwise; `see` is called with the
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
/// let mut y = Vector::uninit(&context, 1000)?;
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
