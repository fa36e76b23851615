//! Step by step: control of the step size, stops, events, dense output.

use clinalg::Real;

use crate::events::{Event, Occurrence, crossing};
use crate::integrate::{Options, Report, Slot, Stepper, Stored, Tolerance};
use crate::interpolant::Dense;
use crate::method::{BEGIN, Input};
use crate::stability::{self, PowerMethod};
use crate::start;
use crate::{Error, Result};

/// What [`Integrator::step`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// One step, or several together.
    Step,
    /// One that ends at one of [`Options::stops`].
    Stop,
    /// One whose terminal event of this number ended the integration.
    Event(usize),
    /// The last one, or none: the end is reached, or progress was told to end.
    End,
}

/// An integration on its way.
///
/// ```
/// use clinalg_ode::integrate::{Direction, Event, Integrator, Options, Taken};
/// use clinalg_ode::reference::Reference;
/// use clinalg_ode::{Grid, Method, System};
///
/// // A ball thrown up; it ends on the ground.
/// let ball = System::builder(Grid::unit(&[1])).field("height", "speed").field("speed", "-9.81").build()?;
/// let mut stepper = Reference::<f64>::new(&Method::named("dopri54")?, &ball);
/// let ground = Event::level(0, 0.0).direction(Direction::Falling).terminal();
/// let mut flight = Integrator::new(&mut stepper, 0.0, 100.0, &[2.0, 10.0], &Options::default())?.event(ground)?;
/// while flight.step()? == Taken::Step {
///     assert!(flight.t() < 3.0);
/// }
/// let expected = (10.0 + (100.0_f64 + 4.0 * 9.81).sqrt()) / 9.81;
/// assert!((flight.t() - expected).abs() < 1e-6);
/// assert!(flight.solution()?[0].abs() < 1e-6);
/// # Ok::<(), clinalg_ode::Error>(())
/// ```
pub struct Integrator<'a, T: Real, S: Stepper<T>> {
    stepper: &'a mut S,
    options: Options,
    tolerance: Tolerance,
    /// Times that a step must end at, the end included; those reached are gone.
    stops: std::collections::VecDeque<f64>,
    /// Times that are still to be saved.
    saves: std::collections::VecDeque<f64>,
    control: Control,
    events: Vec<(Event<'a>, f64)>,
    dense: Option<Dense<S>>,
    /// What looks for stiffness, where its vectors are small enough to be kept.
    power: Option<PowerMethod<S>>,
    stiffness: Option<Stiffness>,
    on_save: Option<Save<'a, T>>,
    on_event: Option<OnEvent<'a, T>>,
    on_progress: Option<Progress<'a>>,
    report: Report,
    ended: bool,
}

type Save<'a, T> = Box<dyn FnMut(f64, Stored<'_, T>) -> Result<()> + 'a>;
type OnEvent<'a, T> = Box<dyn FnMut(&Occurrence, Stored<'_, T>) -> Result<()> + 'a>;
type Progress<'a> = Box<dyn FnMut(&Report) -> bool + 'a>;

/// What decides on the next step.
enum Control {
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
struct Segment {
    t: f64,
    h: f64,
    steps: usize,
    done: usize,
}

impl Segment {
    fn time(&self, k: usize, end: f64) -> f64 {
        if k == self.steps { end } else { self.t + k as f64 * self.h }
    }
}

/// When stiffness is looked for.
struct Stiffness {
    /// Steps taken at the next look.
    next: usize,
    hits: usize,
    /// The method's limit along the negative real axis.
    limit: f64,
}

/// Errors below this count as this for the step after the next: a lucky step does not promise another one.
const LEAST_ERROR: f64 = 1e-4;
/// Most fixed steps between two looks at progress.
const AT_ONCE: usize = 256;
/// Steps between two looks for stiffness, and after one that found it.
const LOOK: (usize, usize) = (100, 10);
/// Looks that must find it.
const HITS: usize = 4;
/// Components up to which the vectors for a look are there from the beginning. Others are made for each look.
const KEPT: usize = 1 << 20;

impl<'a, T: Real, S: Stepper<T>> Integrator<'a, T, S> {
    /// An integration from `t0` to `t_end`; `y0` is copied to where the stepper computes. All kernels that every
    /// integration with these options runs are built here.
    ///
    /// # Errors
    /// Those of [`integrate`](crate::integrate::integrate) for bad arguments, and [`Error::Unstable`].
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
        let begin = stepper.method().begin();
        stepper.load(begin, y0)?;
        if !stepper.stored(Slot::Input(begin)).all_finite()? {
            let y0 = y0.to_vec()?;
            let k = y0.iter().position(|v| !v.is_finite()).expect("one of them is not");
            return Err(Error::value(format!("y0[{k}]"), "a finite number", y0[k]));
        }
        let tolerance = Tolerance { relative: options.relative, absolute: options.absolute, norm: options.norm };
        let each: Vec<T> = options.absolute_each.iter().map(|v| T::of(*v)).collect();
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
                stepper.load(input, Stored::Host(&vec![T::of(options.absolute); y0.len()]))?;
            }
            Some(input) => stepper.load(input, Stored::Host(&each))?,
        }
        let control = match options.fixed_step {
            Some(h) => {
                if t_end > t0 && t_end - h.min(t_end - t0) == t_end {
                    return Err(Error::value("h", "large enough to advance the time", h));
                }
                if options.watch_stability && t_end > t0 {
                    stability::check_step(&*stepper, t0, h.min(t_end - t0))?;
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
                let least = 4.0 * T::epsilon().wide();
                if each.is_empty() && options.relative < least {
                    let size = stepper.stored(Slot::Input(begin)).rms()?;
                    if options.absolute < least * size {
                        let expected = format!(
                            "at least {least:.1e} in this precision, or an absolute tolerance of {:.1e}",
                            least * size
                        );
                        return Err(Error::value("relative", expected, format!("{:e}", options.relative)));
                    }
                }
                let q = method.order().min(error_order) as f64 + 1.0;
                let h = match options.first_step {
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
        let (mut power, mut stiffness) = (None, None);
        if moving && options.watch_stability && options.fixed_step.is_none() {
            if y0.len() <= KEPT {
                let mut new = PowerMethod::new(&*stepper)?;
                new.prepare(t0)?;
                power = Some(new);
            }
            stiffness = Some(Stiffness { next: LOOK.0, hits: 0, limit: stepper.method().real_stability_limit() });
        }
        Ok(Integrator {
            stepper,
            options: options.clone(),
            tolerance,
            stops: stops.into(),
            saves: sorted(&options.save_at, &|_| true).into(),
            control,
            events: Vec::new(),
            dense,
            power,
            stiffness,
            on_save: None,
            on_event: None,
            on_progress: None,
            report: Report::new(t0),
            ended: !moving,
        })
    }

    /// Calls `see` with the time and the solution at each of [`Options::save_at`].
    #[must_use]
    pub fn on_save(self, mut see: impl FnMut(f64, &[T]) + 'a) -> Self {
        self.on_save_stored(move |t, y| {
            match y {
                Stored::Host(y) => see(t, y),
                Stored::Device(y) => see(t, &y.to_vec()?),
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

    /// Looks for an event; they are numbered from 0 in the order they are added.
    ///
    /// # Errors
    /// [`Error::Value`] for a component past the end; those of the device.
    pub fn event(mut self, mut event: Event<'a>) -> Result<Self> {
        let y = self.stepper.stored(Slot::Input(self.stepper.method().begin())).pick(&event.components)?;
        let value = (event.function)(self.report.t, &wide(&y));
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

    /// The solution at [`Integrator::t`], where it is: steppers on a device keep it there.
    ///
    /// # Errors
    /// [`Error::NotFinite`] when it is not finite; those of the device.
    pub fn stored(&self) -> Result<Stored<'_, T>> {
        self.finite(self.stepper.stored(Slot::Input(self.stepper.method().begin())))
    }

    fn finite<'y>(&self, y: Stored<'y, T>) -> Result<Stored<'y, T>> {
        match y.all_finite()? {
            true => Ok(y),
            false => Err(Error::NotFinite { t: self.report.t, h: self.report.largest_step }),
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

    /// Steps to the end, or to a terminal event. Progress is told after every step that follows the error, of fixed ones
    /// after some hundreds at most.
    ///
    /// # Errors
    /// As [`Integrator::step`].
    pub fn run(&mut self) -> Result<Taken> {
        loop {
            match self.forward(AT_ONCE)? {
                Taken::Step | Taken::Stop => {}
                other => return Ok(other),
            }
        }
    }

    /// Takes one step; several together where a stepper computes them so.
    ///
    /// # Errors
    /// [`Error::NotFinite`], [`Error::StepTooSmall`], [`Error::StepLimit`]; [`Error::Value`] where a fixed step leaves a
    /// multi-step method too few steps up to a stop; those of the device.
    pub fn step(&mut self) -> Result<Taken> {
        self.forward(1)
    }

    fn forward(&mut self, most: usize) -> Result<Taken> {
        if self.saves.front().is_some_and(|t| *t <= self.report.t) {
            self.save_here()?;
        }
        if self.ended {
            return Ok(Taken::End);
        }
        match self.control {
            Control::Adaptive { .. } => self.adaptive(),
            Control::Fixed { .. } => self.fixed(most),
        }
    }

    fn check_limit(&self) -> Result<()> {
        if self.report.accepted + self.report.rejected >= self.options.step_limit {
            return Err(Error::StepLimit { steps: self.options.step_limit, t: self.report.t });
        }
        Ok(())
    }

    /// How many steps of the size h, at most `most`, can be taken together: nothing is wanted from inside of them.
    fn together(&self, h: f64, most: usize) -> usize {
        if self.options.dense || !self.events.is_empty() {
            return 1;
        }
        let until = self.saves.front().map_or(f64::INFINITY, |t| (t - self.report.t) / h);
        // Rounding must not turn a save at the end of a step into one inside of the next.
        (most as f64).min((until * (1.0 + 1e-12)).floor()).max(1.0) as usize
    }

    fn fixed(&mut self, most: usize) -> Result<Taken> {
        self.check_limit()?;
        let Control::Fixed { h, segment } = &mut self.control else { unreachable!("steps are fixed") };
        let end = *self.stops.front().expect("the end is a stop");
        let current = match *segment {
            Some(segment) => segment,
            None => {
                let t = self.report.t;
                // A quotient that rounding put just above a whole number needs no step more.
                let count = ((end - t) / *h * (1.0 - 1e-12)).ceil().max(1.0);
                let first = self.stepper.method().start_steps();
                if count > 1e15 {
                    return Err(Error::value("h", "large enough to advance the time", *h));
                }
                let mut new = Segment { t, h: (end - t) / count, steps: count as usize, done: 0 };
                if new.steps <= first {
                    let expected =
                        format!("below {:e}: this method takes at least {} steps", (end - t) / first as f64, first + 1);
                    return Err(Error::value("h", expected, *h));
                }
                if first > 0 {
                    start::start(self.stepper, t, new.h)?;
                    new.done = first;
                    self.report.t = new.time(first, end);
                }
                *segment = Some(new);
                new
            }
        };
        let room = self.options.step_limit - self.report.accepted;
        let count = self.together(current.h, most.min(room)).min(current.steps - current.done);
        let done = current.done + count;
        let t_new = current.time(done, end);
        let times: Vec<f64> = (current.done..done).map(|k| current.time(k, end)).collect();
        let Control::Fixed { segment, .. } = &mut self.control else { unreachable!("steps are fixed") };
        *segment = (done < current.steps).then_some(Segment { done, ..current });
        self.report.rhs_evaluations += count * self.stepper.method().graph().rhs_count();
        if count == 1 {
            self.stepper.trial(self.report.t, current.h, &Tolerance::UNUSED)?;
            let wanted = self.before(t_new)?;
            self.stepper.accept()?;
            return self.after(current.h, 1, t_new, &wanted);
        }
        self.stepper.advance(&times, current.h)?;
        self.after(current.h, count, t_new, &[])
    }

    fn adaptive(&mut self) -> Result<Taken> {
        let Options { safety, shrink, grow, alpha, beta, largest_step, .. } = self.options;
        loop {
            self.check_limit()?;
            let end = *self.stops.front().expect("the end is a stop");
            let left = end - self.report.t;
            let Control::Adaptive { q, h, old, rejected_before, not_finite } = self.control else {
                unreachable!("steps follow the error")
            };
            let h = h.min(largest_step);
            // A stop just past the end of a step would need a tiny step of its own.
            let hits = h * 1.01 >= left;
            let step = if hits { left } else { h };
            let too_small = step <= 4.0 * f64::EPSILON * self.report.t.abs().max(f64::MIN_POSITIVE) && !hits;
            if too_small || self.report.t + step == self.report.t {
                return Err(match not_finite {
                    true => Error::NotFinite { t: self.report.t, h: step },
                    false => Error::StepTooSmall { t: self.report.t, h: step },
                });
            }
            let whole = if hits { 1 } else { (left / step).floor().min(1e9) as usize };
            let room = self.options.step_limit - self.report.accepted - self.report.rejected;
            let most = self.stepper.steps_at_once().min(whole).min(room).max(1);
            let tried = self.together(step, most);
            let errors = self.stepper.trial_steps(self.report.t, step, tried, &self.tolerance)?;
            let tried = errors.len();
            self.report.rhs_evaluations += tried * self.stepper.method().graph().rhs_count();
            // The longest run of good steps is kept; not `>`: NaN is no good step either.
            let good = errors.iter().take_while(|e| **e <= 1.0).count();
            if good < tried {
                let error = errors[good];
                self.report.rejected += 1;
                let not_finite = !error.is_finite();
                let factor = if not_finite { shrink } else { (safety * error.powf(-1.0 / q)).clamp(shrink, 1.0) };
                self.control = Control::Adaptive { q, h: step * factor, old, rejected_before: true, not_finite };
                if good == 0 {
                    continue;
                }
            } else {
                let error = errors.iter().fold(0.0, |m: f64, e| m.max(*e));
                let most = if rejected_before { 1.0 } else { grow };
                let factor = (safety * error.powf(-alpha / q) * old.powf(beta / q)).clamp(shrink, most);
                // A step cut short by a stop says little about the next one.
                let next = if hits { h.max(step * factor) } else { step * factor };
                let old = error.max(LEAST_ERROR);
                self.control = Control::Adaptive { q, h: next, old, rejected_before: false, not_finite: false };
            }
            let t_new = if hits { end } else { self.report.t + good as f64 * step };
            let wanted = self.before(t_new)?;
            self.stepper.accept_steps(good)?;
            return self.after(step, good, t_new, &wanted);
        }
    }

    /// What must be kept of the step tried, which ends at `t_new`, before it is taken; the events that happened in it with
    /// their values at its beginning.
    fn before(&mut self, t_new: f64) -> Result<Vec<(usize, f64)>> {
        let t = self.report.t;
        let mut happened = Vec::new();
        for (k, (event, before)) in self.events.iter_mut().enumerate() {
            let y = self.stepper.stored(Slot::Result).pick(&event.components)?;
            let after = (event.function)(t_new, &wide(&y));
            if event.happens(*before, after) {
                happened.push((k, *before));
            }
            *before = after;
        }
        let inside = self.saves.front().is_some_and(|s| *s < near(t, t_new));
        if self.options.dense || inside || !happened.is_empty() {
            if self.dense.is_none() {
                self.dense = Some(Dense::new(&*self.stepper)?);
            }
            let dense = self.dense.as_mut().expect("it was just made");
            dense.keep(&*self.stepper, t, t_new - t)?;
        }
        Ok(happened)
    }

    /// Tells all that is wanted from the `count` steps of the size h that were taken.
    fn after(&mut self, h: f64, count: usize, t_new: f64, happened: &[(usize, f64)]) -> Result<Taken> {
        let t = self.report.t;
        self.report.took(h, count);
        let terminal = self.find(happened, t, t_new - t)?;
        let until = terminal.map_or(t_new, |(_, t)| t);
        while let Some(s) = self.saves.front().copied().filter(|s| *s < near(t, t_new) && *s <= until) {
            self.saves.pop_front();
            self.report.t = s;
            let dense = self.dense.as_mut().expect("it keeps steps with saves inside");
            dense.find((s - t) / (t_new - t))?;
            let y = self.finite(self.dense.as_ref().expect("as above").found())?;
            if let Some(see) = &mut self.on_save {
                see(s, y)?;
            }
        }
        self.report.t = until;
        if let Some((event, at)) = terminal {
            let dense = self.dense.as_mut().expect("it keeps steps with events");
            dense.find((at - t) / (t_new - t))?;
            self.stepper.load(self.stepper.method().begin(), dense.found())?;
            self.ended = true;
            self.tell();
            return Ok(Taken::Event(event));
        }
        // A time within rounding of the step's end is that end.
        if self.saves.front().is_some_and(|s| *s <= t_new + (t_new - near(t, t_new))) {
            self.save_here()?;
        }
        self.look_for_stiffness(h)?;
        let stop = self.stops.front() == Some(&t_new);
        if stop {
            self.stops.pop_front();
        }
        self.ended = self.stops.is_empty();
        if !self.tell() {
            self.ended = true;
        }
        Ok(match (self.ended, stop) {
            (true, _) => Taken::End,
            (false, true) => Taken::Stop,
            (false, false) => Taken::Step,
        })
    }

    /// The zeros of the events that happened in a step, told in the report up to the first terminal one, which is returned.
    fn find(&mut self, happened: &[(usize, f64)], t: f64, h: f64) -> Result<Option<(usize, f64)>> {
        let mut found = Vec::new();
        for (k, before) in happened {
            let event = &mut self.events[*k].0;
            let dense = self.dense.as_mut().expect("it keeps steps with events");
            let polynomials = dense.polynomials::<T>(&event.components)?;
            let at = |theta: f64| {
                let value = |c: usize| polynomials.iter().rev().fold(0.0, |sum, p| sum * theta + p[c]);
                (0..event.components.len()).map(value).collect::<Vec<f64>>()
            };
            let theta = crossing(*before, |theta| (event.function)(t + theta * h, &at(theta)));
            found.push(Occurrence { event: *k, t: t + theta * h });
        }
        found.sort_by(|a, b| a.t.total_cmp(&b.t));
        for occurrence in found {
            self.report.events.push(occurrence);
            if let Some(see) = &mut self.on_event {
                let dense = self.dense.as_mut().expect("it keeps steps with events");
                dense.find((occurrence.t - t) / h)?;
                see(&occurrence, dense.found())?;
            }
            if self.events[occurrence.event].0.terminal {
                return Ok(Some((occurrence.event, occurrence.t)));
            }
        }
        Ok(None)
    }

    /// Saves the solution where the last step ended.
    fn save_here(&mut self) -> Result<()> {
        let t = self.saves.pop_front().expect("there is one to save");
        self.stored()?;
        let y = self.stepper.stored(Slot::Input(self.stepper.method().begin()));
        self.on_save.as_mut().map_or(Ok(()), |see| see(t, y))
    }

    fn tell(&mut self) -> bool {
        let report = &self.report;
        self.on_progress.as_mut().is_none_or(|see| see(report))
    }

    fn look_for_stiffness(&mut self, h: f64) -> Result<()> {
        let Some(stiffness) = &mut self.stiffness else { return Ok(()) };
        if self.report.stiff.is_some() || self.report.accepted < stiffness.next {
            return Ok(());
        }
        let radius = match &mut self.power {
            Some(power) => power.estimate(&*self.stepper, self.report.t, false)?,
            None => PowerMethod::new(&*self.stepper)?.estimate(&*self.stepper, self.report.t, false)?,
        };
        let hit = h * radius > 0.8 * stiffness.limit;
        stiffness.hits = if hit { stiffness.hits + 1 } else { 0 };
        stiffness.next = self.report.accepted + if hit { LOOK.1 } else { LOOK.0 };
        if stiffness.hits == HITS {
            self.report.stiff = Some(self.report.t);
        }
        Ok(())
    }
}

/// From here on a time is that of the step's end but for rounding.
fn near(t: f64, t_new: f64) -> f64 {
    t_new - 8.0 * f64::EPSILON * t_new.abs().max(t_new - t)
}

fn wide<T: Real>(values: &[T]) -> Vec<f64> {
    values.iter().map(|v| v.wide()).collect()
}
