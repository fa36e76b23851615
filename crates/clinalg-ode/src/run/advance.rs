//! Steps of an integration: of a fixed size, adaptive, events and dense output between them.

use clinalg::Real;

use crate::run::dense_output::Dense;
use crate::run::events::{Occurrence, crossing};
use crate::run::integrator::{Control, Integrator, KEPT, LOOK, Segment, Taken, wide};
use crate::run::options::Options;
use crate::run::power_method::PowerMethod;
use crate::run::start;
use crate::run::stepper::{Slot, Stepper, Tolerance};
use crate::{Error, Result};

/// Errors below this count as this for the step after the next: a lucky step does not promise another one.
const LEAST_ERROR: f64 = 1e-4;

/// Looks that must find it.
const HITS: usize = 4;

/// From here on a time is that of the step's end but for rounding.
fn near(t: f64, t_new: f64) -> f64 {
    t_new - 8.0 * f64::EPSILON * t_new.abs().max(t_new - t)
}

impl<T: Real, S: Stepper<T>> Integrator<'_, T, S> {
    pub(super) fn forward(&mut self, most: usize) -> Result<Taken> {
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
        let left = self.options.step_limit - self.report.accepted;
        let count = self.together(current.h, most.min(left)).min(current.steps - current.done);
        let done = current.done + count;
        let t_new = current.time(done, end);
        let times: Vec<f64> = (current.done..done).map(|k| current.time(k, end)).collect();
        let Control::Fixed { segment, .. } = &mut self.control else { unreachable!("steps are fixed") };
        *segment = (done < current.steps).then_some(Segment { done, ..current });
        if count == 1 {
            self.stepper.trial(self.report.t, current.h, &Tolerance::UNUSED)?;
            self.report.rhs_evaluations += self.stepper.evaluations();
            let wanted = self.before(t_new)?;
            self.stepper.accept()?;
            return self.after(current.h, 1, t_new, &wanted);
        }
        self.stepper.advance(&times, current.h)?;
        self.report.rhs_evaluations += count * self.stepper.evaluations();
        self.after(current.h, count, t_new, &[])
    }

    fn adaptive(&mut self) -> Result<Taken> {
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
            let step = if hits { left } else { h };
            let too_small = step <= 4.0 * f64::EPSILON * self.report.t.abs().max(f64::MIN_POSITIVE) && !hits;
            if too_small || self.report.t + step == self.report.t {
                return Err(match not_finite {
                    true => Error::NotFinite { t: self.report.t, h: step },
                    false => Error::StepTooSmall { t: self.report.t, h: step },
                });
            }
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

    /// Outputs, events and progress of the `count` steps of size h that were taken.
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

    /// The zeros of the events that happened in a step; they go into the report up to the first terminal one, which is returned.
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
