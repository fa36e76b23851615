//! Step by step: control of the step size, stops, events, dense output.

use std::time::Instant;

use clinalg::{Real, number, shown};

use crate::error::Cause;
use crate::method::{BEGIN, Input};
use crate::model::Event;
use crate::run::chattering::Chattering;
use crate::run::dense_output::Dense;
use crate::run::events::Occurrence;
use crate::run::options::{Options, Report};
use crate::run::power_method::{self, PowerMethod};
use crate::run::start;
use crate::run::stepper::{Slot, Stepper, Stored, Tolerance, all_times, beside};
use crate::{Error, Result};

/// What [`Integrator::step`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepOutcome {
    /// One step, or several together.
    Step,
    /// One that ends at one of [`Options::stops`].
    Stop,
    /// One whose terminal event of this number ended the integration.
    Event(usize),
    /// The last one, or none: the end is reached, or the progress callback ended it.
    End,
}

/// An integration in progress.
///
/// ```
/// use clinalg_ode::integrate::{Direction, Event, Integrator, Options, StepOutcome};
/// use clinalg_ode::reference::Reference;
/// use clinalg_ode::{Grid, Method, System};
///
/// // A ball thrown up; it ends on the ground.
/// let ball = System::builder(Grid::unit(&[1])).field("height", "speed").field("speed", "-9.81").build()?;
/// let mut stepper = Reference::<f64>::new(&Method::named("dopri54")?, &ball);
/// let ground = Event::level(0, 0.0).direction(Direction::Falling).terminal();
/// let mut flight = Integrator::new(&mut stepper, 0.0, 100.0, &[2.0, 10.0], &Options::default())?.event(ground)?;
/// while flight.step()? == StepOutcome::Step {
///     assert!(flight.t() < 3.0);
/// }
/// let expected = (10.0 + (100.0_f64 + 4.0 * 9.81).sqrt()) / 9.81;
/// assert!((flight.t() - expected).abs() < 1e-6);
/// assert!(flight.solution()?[0].abs() < 1e-6);
/// # Ok::<(), clinalg_ode::Error>(())
/// ```
pub struct Integrator<'a, T: Real, S: Stepper<T>> {
    pub(super) stepper: &'a mut S,
    pub(super) options: Options,
    pub(super) tolerance: Tolerance,
    /// Times that a step must end at, the end included; those reached are gone.
    pub(super) stops: std::collections::VecDeque<f64>,
    /// Times that are still to be saved.
    pub(super) saves: std::collections::VecDeque<f64>,
    pub(super) control: Control,
    pub(super) events: Vec<(Event<'a>, f64)>,
    pub(super) dense: Option<Dense<S>>,
    /// The stiffness detection, where its vectors are small enough to be kept.
    pub(super) power: Option<PowerMethod<S>>,
    pub(super) stiffness: Option<Stiffness>,
    pub(super) chattering: Chattering,
    /// Root mean square of the solution at the beginning.
    pub(super) size: f64,
    /// Between which the times of stages stay.
    pub(super) times: [f64; 2],
    pub(super) on_save: Option<Save<'a, T>>,
    pub(super) on_event: Option<OnEvent<'a, T>>,
    pub(super) on_progress: Option<Progress<'a>>,
    pub(super) report: Report,
    /// Fixed steps that [`Integrator::run`] takes between two calls for progress.
    pub(super) batch: usize,
    pub(super) ended: bool,
}

type Save<'a, T> = Box<dyn FnMut(f64, Stored<'_, T>) -> Result<()> + 'a>;
type OnEvent<'a, T> = Box<dyn FnMut(&Occurrence, Stored<'_, T>) -> Result<()> + 'a>;
type Progress<'a> = Box<dyn FnMut(&Report) -> bool + 'a>;

/// What decides on the next step.
pub(super) enum Control {
    Adaptive {
        /// The smaller order of the pair plus 1.
        q: f64,
        h: f64,
        /// Norm of the error before the last one.
        old: f64,
        rejected_before: bool,
        not_finite: bool,
    },
    Fixed {
        /// Largest step.
        h: f64,
        segment: Option<Segment>,
    },
}

/// Equal steps up to a stop.
#[derive(Clone, Copy)]
pub(super) struct Segment {
    pub(super) t: f64,
    pub(super) h: f64,
    pub(super) steps: usize,
    pub(super) done: usize,
}

impl Segment {
    pub(super) fn time(&self, k: usize, end: f64) -> f64 {
        if k == self.steps { end } else { self.t + k as f64 * self.h }
    }
}

/// When stiffness is checked.
pub(super) struct Stiffness {
    /// Steps taken at the next look.
    pub(super) next: usize,
    pub(super) hits: usize,
    /// The method's limit along the negative real axis.
    pub(super) limit: f64,
}

/// Fixed steps between two looks at whether the solution is finite, each of which reads it once.
const BETWEEN_CHECKS: usize = 4096;
/// Fixed steps between two calls for progress: at first, and at most.
const AT_ONCE: (usize, usize) = (4, 256);
/// Seconds that they take where there are enough of them: what is enqueued cannot be called back.
const SECONDS: (f64, f64) = (0.125, 0.5);

/// Fixed steps for the next batch, after one of `count` that took `seconds`.
fn next_batch(count: usize, seconds: f64) -> usize {
    match seconds {
        s if s < SECONDS.0 => (2 * count).min(AT_ONCE.1),
        s if s > SECONDS.1 => (count / 2).max(1),
        _ => count,
    }
}

/// Steps between two checks for stiffness, and after one that found it.
pub(super) const LOOK: (usize, usize) = (100, 10);

/// Components up to which the vectors for a look are there from the beginning. Others are made for each look.
pub(super) const KEPT: usize = 1 << 20;

impl<'a, T: Real, S: Stepper<T>> Integrator<'a, T, S> {
    /// An integration from `t0` to `t_end`; `y0` is copied to where the stepper computes. The kernels of steps
    /// and of dense output are built here, those that look for stiffness at the first check.
    ///
    /// # Errors
    /// Those of [`integrate`](crate::run::integrate::integrate) for bad arguments, and [`Error::Unstable`].
    pub fn new<'y>(
        stepper: &'a mut S,
        t0: f64,
        t_end: f64,
        y0: impl Into<Stored<'y, T>>,
        options: &Options,
    ) -> Result<Integrator<'a, T, S>> {
        let y0 = y0.into();
        options.check()?;
        if !t0.is_finite() {
            return Err(Error::value("t0", "a finite number", t0));
        }
        if !(t_end >= t0 && t_end.is_finite()) {
            return Err(Error::value("t_end", format!("a finite number, at least {t0}"), t_end));
        }
        if y0.len() != stepper.components() {
            return Err(Error::value("y0", format!("{} components", stepper.components()), y0.len()));
        }
        if let Some(t) = options.save_at.iter().find(|t| !(**t >= t0 && **t <= t_end)) {
            return Err(Error::value("save_at", format!("times from {t0} to {t_end}"), t));
        }
        let sorted = |times: &[f64], keep: &dyn Fn(f64) -> bool| {
            let mut times: Vec<f64> = times.iter().copied().filter(|t| keep(*t)).collect();
            times.sort_by(f64::total_cmp);
            times.dedup();
            times
        };
        let mut stops = sorted(&options.stops, &|t| t > t0 && t < t_end);
        stops.push(t_end);
        let mut options = options.clone();
        options.stops.retain(|t| t.is_finite());
        options.stops.sort_by(f64::total_cmp);
        let times = sides::<T>(&options.stops, t0);
        stepper.limit_times(times);
        let begin = stepper.method().begin();
        stepper.load(begin, y0)?;
        if !stepper.stored(Slot::Input(begin)).all_finite()? {
            let y0 = y0.to_vec()?;
            let k = y0.iter().position(|v| !v.is_finite()).expect("one of them is not");
            return Err(Error::value(format!("y0[{k}]"), "a finite number", y0[k]));
        }
        let tolerance = Tolerance { relative: options.relative, absolute: options.absolute, norm: options.norm };
        let each: Vec<T> = options.absolute_each.iter().map(|v| T::from_f64(*v)).collect();
        let input = stepper.method().inputs().iter().position(|input| *input == Input::Tolerances);
        match input {
            _ if options.fixed_step.is_some() => {}
            None if each.is_empty() => {}
            None => {
                return Err(Error::value(
                    "method",
                    "one `with_tolerances` for `absolute_each`",
                    stepper.method().name(),
                ));
            }
            Some(_) if each.len() != y0.len() && !each.is_empty() => {
                return Err(Error::value("absolute_each", format!("{} components", y0.len()), each.len()));
            }
            Some(input) if each.is_empty() => {
                stepper.load(input, Stored::Host(&vec![T::from_f64(options.absolute); y0.len()]))?;
            }
            Some(input) => stepper.load(input, Stored::Host(&each))?,
        }
        let control = match options.fixed_step {
            Some(h) => {
                if t_end > t0 && t_end - h.min(t_end - t0) == t_end {
                    return Err(Error::value("h", "large enough to advance the time", h));
                }
                if options.watch_stability && !stepper.is_stabilised() && t_end > t0 {
                    power_method::check_step(&*stepper, t0, h.min(t_end - t0))?;
                }
                Control::Fixed { h, segment: None }
            }
            None => {
                let method = stepper.method();
                let Some(error_order) = method.error_order() else {
                    return Err(Error::value("method", "one with an error estimate, or a fixed step", method.name()));
                };
                if method.inputs().iter().any(|input| ![BEGIN, Input::Tolerances].contains(input)) {
                    return Err(Error::value("method", "a one-step method, or a fixed step", method.name()));
                }
                let least = 4.0 * T::epsilon().into_f64();
                if each.is_empty() && options.relative < least {
                    let size = stepper.stored(Slot::Input(begin)).rms()?;
                    if options.absolute < least * size {
                        let expected = format!(
                            "at least {} in this precision, or an absolute tolerance of {}",
                            number(least, 2),
                            number(least * size, 2)
                        );
                        return Err(Error::value("relative", expected, shown(options.relative)));
                    }
                }
                let q = method.order().min(error_order) as f64 + 1.0;
                let h = match options.first_step {
                    Some(h) if t_end > t0 && t0 + h == t0 => {
                        return Err(Error::value("first_step", "large enough to advance the time", shown(h)));
                    }
                    Some(h) => h,
                    None if t_end > t0 => start::first_step(&*stepper, t0, t_end - t0, q - 1.0, &tolerance, &each)?,
                    None => 1.0,
                };
                Control::Adaptive { q, h, old: 1.0, rejected_before: false, not_finite: false }
            }
        };
        let moving = t_end > t0;
        let mut dense = None;
        if moving && (options.dense || options.save_at.iter().any(|t| *t > t0 && *t < t_end)) {
            let mut new = Dense::new(&*stepper)?;
            new.prepare()?;
            dense = Some(new);
        }
        let size = stepper.stored(Slot::Input(begin)).rms()?;
        let mut stiffness = None;
        if moving && options.watch_stability && !stepper.is_stabilised() && options.fixed_step.is_none() {
            stiffness = Some(Stiffness { next: LOOK.0, hits: 0, limit: stepper.method().real_stability_limit() });
        }
        Ok(Integrator {
            stepper,
            tolerance,
            stops: stops.into(),
            saves: sorted(&options.save_at, &|_| true).into(),
            options,
            chattering: Chattering::new(t0),
            size,
            times,
            control,
            events: Vec::new(),
            dense,
            power: None,
            stiffness,
            on_save: None,
            on_event: None,
            on_progress: None,
            report: Report::new(t0),
            batch: AT_ONCE.0,
            ended: !moving,
        })
    }

    /// Calls `see` with the time and the solution at each of [`Options::save_at`].
    #[must_use]
    pub fn on_save(self, mut see: impl FnMut(f64, &[T]) + 'a) -> Self {
        self.on_save_stored(move |t, y| {
            match y {
                Stored::Host(y) => see(t, y),
                y => see(t, &y.to_vec()?),
            }
            Ok(())
        })
    }

    /// As [`Integrator::on_save`], with the solution where it is; an error of `see` ends the integration.
    #[must_use]
    pub fn on_save_stored(mut self, see: impl FnMut(f64, Stored<'_, T>) -> Result<()> + 'a) -> Self {
        self.on_save = Some(Box::new(see));
        self
    }

    /// Calls `see` for each event with the solution at its time; an error of `see` ends the integration.
    #[must_use]
    pub fn on_event(mut self, see: impl FnMut(&Occurrence, Stored<'_, T>) -> Result<()> + 'a) -> Self {
        self.on_event = Some(Box::new(see));
        self
    }

    /// Calls `see` after every step; the integration ends where it returns `false`.
    #[must_use]
    pub fn on_progress(mut self, see: impl FnMut(&Report) -> bool + 'a) -> Self {
        self.on_progress = Some(Box::new(see));
        self
    }

    /// Adds an event; events are numbered from 0 in the order in which they are added.
    ///
    /// # Errors
    /// [`Error::Value`] for a component past the end; those of the device.
    pub fn event(mut self, mut event: Event<'a>) -> Result<Self> {
        let y = self.stepper.stored(Slot::Input(self.stepper.method().begin())).pick(&event.components)?;
        let value = (event.function)(self.report.t, &wide(&y));
        if self.dense.is_none() && !self.ended {
            // Its kernels belong to the set-up.
            let mut dense = Dense::new(&*self.stepper)?;
            dense.prepare()?;
            self.dense = Some(dense);
        }
        self.events.push((event, value));
        Ok(self)
    }

    /// Time reached.
    pub fn t(&self) -> f64 {
        self.report.t
    }

    /// What was done so far.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// What was done.
    pub fn into_report(self) -> Report {
        self.report
    }

    /// The solution at [`Integrator::t`].
    ///
    /// # Errors
    /// [`Error::NotFinite`] when it is not finite; those of the device.
    pub fn solution(&self) -> Result<Vec<T>> {
        self.stored()?.to_vec()
    }

    /// The solution at [`Integrator::t`], without a copy: steppers on a device keep it there.
    ///
    /// # Errors
    /// [`Error::NotFinite`] when it is not finite; those of the device.
    pub fn stored(&self) -> Result<Stored<'_, T>> {
        self.finite(self.stepper.stored(Slot::Input(self.stepper.method().begin())))
    }

    pub(super) fn finite<'y>(&self, y: Stored<'y, T>) -> Result<Stored<'y, T>> {
        match y.all_finite()? {
            true => Ok(y),
            false => {
                let (t, h) = (self.report.t, self.report.largest_step);
                let bad = crate::run::start::first_not_finite(&*self.stepper, y)?;
                let (component, value) = bad.unwrap_or_else(|| ("a component".into(), f64::NAN));
                let cause = if self.options.fixed_step.is_some() { Cause::FixedStep } else { Cause::Undefined };
                Err(Error::NotFinite { t, h, component, value, cause })
            }
        }
    }

    /// Keeps the times of stages on the inner sides of the stops around the time reached; after the end nowhere.
    pub(super) fn limit_times(&mut self) {
        self.times = if self.ended { all_times::<T>() } else { sides::<T>(&self.options.stops, self.report.t) };
        self.stepper.limit_times(self.times);
        if let Some(power) = &mut self.power {
            power.limit_times(self.times);
        }
    }

    /// The solution at a time inside the step taken last; [`Options::dense`] must be set.
    ///
    /// # Errors
    /// [`Error::Value`] for a time outside of it, or where there is none; those of the device.
    pub fn at(&mut self, t: f64) -> Result<Vec<T>> {
        let (begin, h) = match (&self.dense, self.options.dense && self.report.accepted > 0) {
            (Some(dense), true) => dense.step(),
            _ => return Err(Error::value("dense", "set, and a step taken", self.options.dense)),
        };
        let end = self.report.t;
        if !(t >= begin && t <= end) {
            return Err(Error::value("t", format!("from {begin} to {end}, the step taken last"), t));
        }
        let dense = self.dense.as_mut().expect("it was just looked at");
        dense.find(((t - begin) / h).min(1.0))?;
        dense.found().to_vec()
    }

    /// Steps to the end, or to a terminal event. Progress is reported after every adaptive step, of fixed ones
    /// after half a second or some hundreds; that the solution is no longer finite is found after some thousands.
    ///
    /// # Errors
    /// As [`Integrator::step`].
    pub fn run(&mut self) -> Result<StepOutcome> {
        let mut checked = self.report.accepted;
        loop {
            // The steps after which it checks must not depend on their time.
            let left = (checked + BETWEEN_CHECKS).saturating_sub(self.report.accepted).max(1);
            match self.forward(Some(self.batch.min(left)))? {
                StepOutcome::Step | StepOutcome::Stop => {}
                other => return Ok(other),
            }
            // Adaptive steps see it in their errors.
            if self.options.fixed_step.is_some() && self.report.accepted - checked >= BETWEEN_CHECKS {
                checked = self.report.accepted;
                self.stored()?;
            }
        }
    }

    /// Takes one step, or several together if the stepper computes them so.
    ///
    /// # Errors
    /// [`Error::NotFinite`], [`Error::StepTooSmall`], [`Error::StepLimit`]; [`Error::Value`] where a fixed step leaves a
    /// multi-step method too few steps up to a stop; those of the device.
    pub fn step(&mut self) -> Result<StepOutcome> {
        self.forward(None)
    }

    /// Waits for a whole batch that began at `start`, and chooses the size of the next.
    pub(super) fn pace(&mut self, start: Instant) -> Result<()> {
        self.batch = match self.stepper.finish()? {
            true => next_batch(self.batch, start.elapsed().as_secs_f64()),
            false => AT_ONCE.1,
        };
        Ok(())
    }
}

/// Between which the times of stages from t on stay: just after the last of the stops, in their order, and just before the next.
fn sides<T: Real>(stops: &[f64], t: f64) -> [f64; 2] {
    let [lowest, highest] = all_times::<T>();
    let next = stops.partition_point(|stop| *stop <= t);
    let after = next.checked_sub(1).map_or(lowest, |last| beside::<T>(stops[last], true));
    [after, stops.get(next).map_or(highest, |stop| beside::<T>(*stop, false))]
}

pub(super) fn wide<T: Real>(values: &[T]) -> Vec<f64> {
    values.iter().map(|v| v.into_f64()).collect()
}
