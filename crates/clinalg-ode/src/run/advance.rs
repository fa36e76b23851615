//! Steps of an integration: of a fixed size, adaptive, events and dense output between them.

use std::time::Instant;

use clinalg::{Real, shown};

use crate::error::Cause;
use crate::model::Direction;
use crate::run::chattering::Chattering;
use crate::run::dense_output::Dense;
use crate::run::events::{Occurrence, crossings};
use crate::run::integrator::{Control, Integrator, KEPT, LOOK, Segment, StepOutcome, wide};
use crate::run::options::Options;
use crate::run::power_method::PowerMethod;
use crate::run::start;
use crate::run::stepper::{Slot, Stepper, Tolerance};
use crate::{Error, Result};

/// Errors below this count as this for the step after the next: a lucky step does not promise another one.
const LEAST_ERROR: f64 = 1e-4;

/// A solution that is so many times as large as at the beginning blows up, where no step leads further.
const GROWN: f64 = 1e6;

/// Looks that must find it.
const HITS: usize = 4;

/// From here on a time is that of the step's end but for rounding.
fn near(t: f64, t_new: f64) -> f64 {
    t_new - 8.0 * f64::EPSILON * t_new.abs().max(t_new - t)
}

impl<T: Real, S: Stepper<T>> Integrator<'_, T, S> {
    /// Takes a step, or of fixed ones up to `batch`.
    pub(super) fn forward(&mut self, batch: Option<usize>) -> Result<StepOutcome> {
        if self.saves.front().is_some_and(|t| *t <= self.report.t) {
            self.save_here()?;
        }
        if self.ended {
            return Ok(StepOutcome::End);
        }
        match self.control {
            Control::Adaptive { .. } => self.adaptive(),
            Control::Fixed { .. } => self.fixed(batch),
        }
    }

    fn check_limit(&self) -> Result<()> {
        if self.report.accepted + self.report.rejected >= self.options.step_limit {
            let h = match self.control {
                Control::Adaptive { h, .. } | Control::Fixed { h, .. } => h,
            };
            let t = self.report.t;
            let jump = match self.chattering.is_likely() {
                true => start::jumps(&*self.stepper, t, h, self.chattering.suspect())?,
                false => None,
            };
            let slides = jump.map(|jump| jump.component);
            return Err(self.step_limit(self.options.step_limit, h, slides));
        }
        Ok(())
    }

    /// The limit on steps, with the component that slides along a switch.
    fn step_limit(&self, steps: usize, h: f64, slides: Option<usize>) -> Error {
        let slides = slides.map(|component| self.stepper.component_name(component));
        Error::StepLimit { steps, t: self.report.t, h, slides, stiff: self.report.stiff }
    }

    /// Why no step of a size that floating-point time can represent is good.
    fn no_step(&self, h: f64, not_finite: bool) -> Result<Error> {
        let t = self.report.t;
        let begin = self.stepper.stored(Slot::Input(self.stepper.method().begin()));
        let rms = begin.rms()?;
        let mut grows = None;
        // NaN, where squares overflow, has grown as well.
        if rms.is_nan() || rms > GROWN * self.size.max(1.0) {
            let y = wide(&begin.to_vec()?);
            let largest = (0..y.len()).max_by(|a, b| y[*a].abs().total_cmp(&y[*b].abs())).unwrap_or(0);
            grows = Some((self.stepper.component_name(largest), y[largest]));
        }
        if let (true, Some((component, value))) = (not_finite, &grows) {
            let (component, value) = (component.clone(), *value);
            return Ok(Error::NotFinite { t, h, component, value, cause: Cause::BlowUp });
        }
        if not_finite {
            let bad = start::first_not_finite(&*self.stepper, self.stepper.stored(Slot::Result))?;
            // The solution may be finite where only the estimate of its error is not.
            let (component, value) = bad.unwrap_or_else(|| ("the error estimate".into(), f64::NAN));
            return Ok(Error::NotFinite { t, h, component, value, cause: Cause::Undefined });
        }
        Ok(Error::StepTooSmall { t, h, grows })
    }

    /// Looks, from time to time, whether the steps are so many because the right-hand side jumps in them; smooth errors fall with `power`.
    fn look_for_chattering(&mut self, h: f64, power: f64) -> Result<()> {
        let steps = self.report.accepted + self.report.rejected;
        let end = *self.stops.back().expect("the end is a stop");
        if !self.chattering.is_due(steps, (end - self.report.t) / h) {
            return Ok(());
        }
        let jumps = |only| start::jumps(&*self.stepper, self.report.t, h, only);
        if let Some(component) = self.chattering.suspect() {
            self.chattering.looked(jumps(Some(component))?.is_some());
            if self.chattering.slides() {
                return Err(self.step_limit(steps, h, Some(component)));
            }
            if self.chattering.is_cleared() {
                self.chattering.begin(steps, self.report.t, None);
            }
            return Ok(());
        }
        if self.stepper.is_stabilised() {
            // The stages of a step, and its error with them, follow its size.
            self.chattering.looked(jumps(None)?.is_some());
        } else {
            let mut error = |h: f64| self.stepper.trial(self.report.t, h, &self.tolerance);
            if let (Some(whole), Some(half)) = (error(h)?, error(0.5 * h)?) {
                self.chattering.probed(whole, half, power);
            }
        }
        if let Some(largest) = self.chattering.keeps_steps_small(steps, self.report.t, end) {
            // Without one, jumps in time: the steps between them are as many as they are.
            let mut suspect = None;
            if let Some(start::Jump { component, slope }) = start::jumps(&*self.stepper, self.report.t, h, None)? {
                let begin = self.stepper.stored(Slot::Input(self.stepper.method().begin()));
                let size = wide(&begin.pick(&[component])?)[0].abs().max(self.size);
                suspect = Chattering::is_small(largest, slope, size).then_some(component);
            }
            self.chattering.begin(steps, self.report.t, suspect);
        }
        Ok(())
    }

    /// How many steps of the size h, at most `most`, can be taken together: no output, event or stop lies inside them.
    fn together(&self, h: f64, most: usize) -> usize {
        // The stages of steps may differ.
        if self.options.dense || !self.events.is_empty() || self.stepper.is_stabilised() {
            return 1;
        }
        let until = self.saves.front().map_or(f64::INFINITY, |t| (t - self.report.t) / h);
        // Rounding must not move an output at the end of a step into the next.
        (most as f64).min((until * (1.0 + 1e-12)).floor()).max(1.0) as usize
    }

    fn fixed(&mut self, batch: Option<usize>) -> Result<StepOutcome> {
        self.check_limit()?;
        let begun = Instant::now();
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
                    let expected = format!(
                        "below {}: this method takes at least {} steps",
                        shown((end - t) / first as f64),
                        first + 1
                    );
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
        let left = self.options.step_limit - self.report.accepted;
        let count = self.together(current.h, batch.unwrap_or(1).min(left)).min(current.steps - current.done);
        let done = current.done + count;
        let t_new = current.time(done, end);
        let times: Vec<f64> = (current.done..done).map(|k| current.time(k, end)).collect();
        let Control::Fixed { segment, .. } = &mut self.control else { unreachable!("steps are fixed") };
        *segment = (done < current.steps).then_some(Segment { done, ..current });
        let mut ends = Vec::new();
        if count == 1 {
            self.stepper.trial(self.report.t, current.h, &Tolerance::UNUSED)?;
            ends = self.before(t_new)?;
            self.stepper.accept()?;
        } else {
            self.stepper.advance(&times, current.h)?;
        }
        self.report.rhs_evaluations += count * self.stepper.evaluations();
        if batch.is_some() && count == self.batch {
            self.pace(begun)?;
        }
        self.after(current.h, count, t_new, &ends)
    }

    fn adaptive(&mut self) -> Result<StepOutcome> {
        let Options { safety, shrink, grow, alpha, beta, largest_step, .. } = self.options;
        loop {
            self.check_limit()?;
            let end = *self.stops.front().expect("the end is a stop");
            let left = end - self.report.t;
            let Control::Adaptive { q, h, old, rejected_before, not_finite } = self.control else {
                unreachable!("adaptive steps")
            };
            let h = h.min(largest_step);
            // A stop just past the end of a step would need a tiny step of its own.
            let hits = h * 1.01 >= left;
            // The solution moves by as much as the time does, which rounds.
            let step = if hits { left } else { (self.report.t + h) - self.report.t };
            if !hits && step <= 4.0 * f64::EPSILON * self.report.t.abs().max(f64::MIN_POSITIVE) {
                return Err(self.no_step(h, not_finite)?);
            }
            self.look_for_chattering(step, q)?;
            let whole = if hits { 1 } else { (left / step).floor().min(1e9) as usize };
            let left = self.options.step_limit - self.report.accepted - self.report.rejected;
            let most = self.stepper.steps_at_once().min(whole).min(left).max(1);
            let tried = self.together(step, most);
            let errors = self.stepper.trial_steps(self.report.t, step, tried, &self.tolerance)?;
            let tried = errors.len();
            self.report.rhs_evaluations += tried * self.stepper.evaluations();
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
                // A step cut short by a stop is no guide for the next one.
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

    /// What must be kept of the step tried, which ends at `t_new`, before it is taken; the values of the events at its ends.
    fn before(&mut self, t_new: f64) -> Result<Vec<[f64; 2]>> {
        let t = self.report.t;
        let mut ends = Vec::new();
        for (event, before) in &mut self.events {
            let y = self.stepper.stored(Slot::Result).pick(&event.components)?;
            let after = (event.function)(t_new, &wide(&y));
            ends.push([*before, after]);
            *before = after;
        }
        let inside = self.saves.front().is_some_and(|s| *s < near(t, t_new));
        if self.options.dense || inside || !self.events.is_empty() {
            if self.dense.is_none() {
                self.dense = Some(Dense::new(&*self.stepper)?);
            }
            let dense = self.dense.as_mut().expect("it was just made");
            dense.keep(&*self.stepper, t, t_new - t, self.times)?;
        }
        Ok(ends)
    }

    /// Outputs, events and progress of the `count` steps of size h that were taken.
    fn after(&mut self, h: f64, count: usize, t_new: f64, ends: &[[f64; 2]]) -> Result<StepOutcome> {
        let t = self.report.t;
        self.report.took(h, count);
        self.chattering.took(h);
        let terminal = self.find(ends, t, t_new)?;
        let until = terminal.map_or(t_new, |(happened, _)| happened.t);
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
        if let Some((Occurrence { event, .. }, theta)) = terminal {
            let dense = self.dense.as_mut().expect("it keeps steps with events");
            dense.find(theta)?;
            self.stepper.load(self.stepper.method().begin(), dense.found())?;
            self.ended = true;
            self.limit_times();
            self.tell();
            return Ok(StepOutcome::Event(event));
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
        if stop || self.ended {
            self.limit_times();
        }
        Ok(match (self.ended, stop) {
            (true, _) => StepOutcome::End,
            (false, true) => StepOutcome::Stop,
            (false, false) => StepOutcome::Step,
        })
    }

    /// The zeros of the events in the step from t to `t_new`, at whose ends they have the values `ends`; they go into the report
    /// up to the first terminal one, which is returned with its place in the step.
    fn find(&mut self, ends: &[[f64; 2]], t: f64, t_new: f64) -> Result<Option<(Occurrence, f64)>> {
        let h = t_new - t;
        let mut found = Vec::new();
        for (k, [before, after]) in ends.iter().enumerate() {
            let event = &mut self.events[k].0;
            let dense = self.dense.as_mut().expect("it keeps steps with events");
            let polynomials = dense.polynomials::<T>(&event.components)?;
            let mut y = vec![0.0; event.components.len()];
            let mut value = |theta: f64| {
                for (c, y) in y.iter_mut().enumerate() {
                    *y = polynomials.iter().rev().fold(0.0, |sum, p| sum * theta + p[c]);
                }
                (event.function)(t + theta * h, &y)
            };
            let Some(crossings) = crossings(*before, *after, &mut value) else {
                let expected = "a function with fewer zeros, jumps and oscillations, or a smaller largest step";
                let got = format!("one with too many zeros from t = {} to {} to find each", shown(t), shown(t_new));
                return Err(Error::value(format!("event {k}"), expected, got));
            };
            for crossing in crossings {
                if event.direction == Direction::Any || event.direction == crossing.direction {
                    let t = if crossing.theta == 1.0 { t_new } else { (t + crossing.theta * h).min(t_new) };
                    found.push((Occurrence { event: k, t }, crossing.theta));
                }
            }
        }
        found.sort_by(|a, b| a.1.total_cmp(&b.1));
        for (occurrence, theta) in found {
            self.report.events.push(occurrence);
            if let Some(see) = &mut self.on_event {
                let dense = self.dense.as_mut().expect("it keeps steps with events");
                dense.find(theta)?;
                see(&occurrence, dense.found())?;
            }
            if self.events[occurrence.event].0.terminal {
                return Ok(Some((occurrence, theta)));
            }
        }
        Ok(None)
    }

    /// Saves the solution where the last step ended.
    pub(super) fn save_here(&mut self) -> Result<()> {
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
        // Made at the first check: many integrations end before, and a first step need not wait for its kernels.
        let mut power = match self.power.take() {
            Some(power) => power,
            None => PowerMethod::new(&*self.stepper)?,
        };
        let radius = power.estimate(&*self.stepper, self.report.t, false)?;
        if self.stepper.components() <= KEPT {
            self.power = Some(power);
        }
        let hit = h * radius > 0.8 * stiffness.limit;
        stiffness.hits = if hit { stiffness.hits + 1 } else { 0 };
        stiffness.next = self.report.accepted + if hit { LOOK.1 } else { LOOK.0 };
        if stiffness.hits == HITS {
            self.report.stiff = Some(self.report.t);
        }
        Ok(())
    }
}
