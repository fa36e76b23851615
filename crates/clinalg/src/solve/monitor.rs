//! The stopping criteria, from residual norms alone: the same for one device and for a team.

use serde::{Deserialize, Serialize};

use super::{Progress, Report, Stop, Stopping};
use crate::Real;

/// A restart counts as progress if the true residual has fallen below this fraction of that at the last restart. The number of restarts is bounded by
/// this and by the iteration limit.
pub(crate) const RESTART_PROGRESS: f64 = 0.9;
/// Maximum number of consecutive restarts without progress after the recurrence has claimed convergence. GMRES with a preconditioner minimises another norm, so a
/// restart may help although |b - A x| has not fallen yet.
const IDLE_RESTARTS: usize = 1;
/// The smallest residual must fall below this fraction of its value within the stagnation window.
const WINDOW_PROGRESS: f64 = 0.999;
/// Residuals up to this many times the estimated rounding error count as being at the rounding floor.
pub(crate) const FLOOR_FACTOR: f64 = 16.0;
/// Larger relative residuals do not count as a rounding floor: A is singular to working precision, or nearly so.
pub(crate) const FLOOR_CEILING: f64 = 0.1;
/// The same where the rounding error of b - A x exceeds eps to this power times |b|, for which |A| |x| has to reach eps^(-3/4) |b|.
const FLOOR_POWER: f64 = 0.25;
/// An x whose norm is this many times that of the x with the smallest residual counts as grown along null vectors.
const GROWTH: f64 = 100.0;

/// A power of two near `norm`: a vector of that norm can be divided by it without rounding, and the squares then stay in range.
pub(crate) fn unit<R: Real>(norm: f64) -> f64 {
    let top = R::max_value().into_f64().log2().floor() - 8.0;
    norm.log2().floor().clamp(-top, top).exp2()
}

/// When a residual is small enough.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Threshold {
    norm_b: f64,
    /// Relative residual to reach.
    tolerance: f64,
}

impl Threshold {
    /// One that no residual meets.
    pub(crate) fn never() -> Threshold {
        Threshold { norm_b: 1.0, tolerance: -1.0 }
    }

    /// Whether a residual of this norm meets the tolerance.
    pub(crate) fn is_met(&self, norm: f64) -> bool {
        relative(norm, self.norm_b) <= self.tolerance
    }
}

/// `norm` / |b|; 0 for a zero residual, whatever b is.
fn relative(norm: f64, norm_b: f64) -> f64 {
    if norm == 0.0 { 0.0 } else { norm / norm_b }
}

/// What [`ConvergenceMonitor::restore`] takes besides the history.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct MonitorState {
    norm: f64,
    best: f64,
    mark: usize,
    first: f64,
    restarted_at: f64,
    idle: usize,
}

/// The state of a solve, judged by its residual norms.
pub struct ConvergenceMonitor<'a> {
    stopping: Stopping,
    /// Relative residual to reach.
    tolerance: f64,
    epsilon: f64,
    progress: Progress<'a>,
    /// Whether `progress` stopped the solve.
    cancelled: bool,
    norm_b: f64,
    /// |b - A x| when it was last computed.
    norm: f64,
    history: Vec<f64>,
    /// The number of the iterate that x is, where it is not the last one.
    iterate: Option<usize>,
    /// The smallest measure of the residual; `mark` is the iteration at which it last fell enough.
    best: f64,
    mark: usize,
    /// Iterations without such a fall after which the iteration has stagnated.
    window: usize,
    /// |b - A x| at the start.
    first: f64,
    /// |b - A x| at the last restart that followed progress; `idle` counts the restarts since.
    restarted_at: f64,
    idle: usize,
}

/// What to do when the recurrence signals an end that the true residual does not confirm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The solve ends.
    End(Stop),
    /// The solve restarts from the true residual.
    Restart,
    /// The solve ends; [`ConvergenceMonitor::end_at`] determines the reason from the rounding error of b - A x.
    AtRounding,
}

impl<'a> ConvergenceMonitor<'a> {
    /// `norm_b` is the norm of the right-hand side.
    pub(crate) fn new<R: Real>(
        norm_b: f64,
        stopping: Stopping,
        tolerance: f64,
        progress: Progress<'a>,
    ) -> ConvergenceMonitor<'a> {
        let mut history = Vec::with_capacity(stopping.max_iterations.min(1000) + 1);
        history.push(f64::NAN);
        ConvergenceMonitor {
            tolerance,
            epsilon: R::epsilon().into_f64(),
            progress,
            cancelled: false,
            norm_b,
            norm: f64::NAN,
            history,
            iterate: None,
            best: f64::INFINITY,
            mark: 0,
            window: stopping.stagnation_window,
            stopping,
            first: f64::INFINITY,
            restarted_at: f64::INFINITY,
            idle: 0,
        }
    }

    /// Begins the solve, after the initial residual has been entered and has given `stop`. Returns the reason if there is nothing to iterate.
    pub(crate) fn begin(&mut self, stop: Option<Stop>) -> Option<Stop> {
        (self.first, self.restarted_at) = (self.norm, self.norm);
        self.notify(0, self.history[0]);
        let none = (self.stopping.max_iterations == 0).then_some(Stop::IterationLimit);
        stop.or(none).or(self.cancelled.then_some(Stop::Cancelled))
    }

    /// Replaces the last entry of the history by `norm` = |b - A x|; returns an end if this decides.
    pub(crate) fn enter(&mut self, norm: f64) -> Option<Stop> {
        self.norm = norm;
        let relative = self.relative();
        *self.history.last_mut().expect("the history starts with the first residual") = relative;
        if !norm.is_finite() {
            Some(Stop::NotFinite)
        } else if relative <= self.tolerance {
            Some(Stop::Converged)
        } else {
            None
        }
    }

    /// |b|.
    pub(crate) fn norm_b(&self) -> f64 {
        self.norm_b
    }

    /// Sets |b - A x|, which was just computed, without an entry in the history.
    pub(crate) fn set_norm(&mut self, norm: f64) {
        self.norm = norm;
    }

    /// Allows at least `iterations` iterations without a new minimum of the residual.
    pub(crate) fn set_min_window(&mut self, iterations: usize) {
        self.window = self.window.max(iterations);
    }

    /// Iterations done: the number of the last iterate.
    pub(crate) fn iterations(&self) -> usize {
        self.history.len() - 1
    }

    /// Records that x has been reset to the iterate of this number.
    pub(crate) fn set_returned_iterate(&mut self, iterate: usize) {
        self.iterate = Some(iterate);
    }

    /// Where x has been reset to an earlier iterate of a method whose residuals never rise, smaller residuals after it in the history are false: replaces
    /// them by that of the iterate.
    pub(crate) fn refute_after_iterate(&mut self) {
        if let Some(at) = self.iterate {
            let least = self.history[at];
            self.history[at + 1..]
                .iter_mut()
                .filter(|residual| **residual < least)
                .for_each(|residual| *residual = least);
        }
    }

    /// Calls `progress` unless it has stopped the solve.
    fn notify(&mut self, iteration: usize, relative: f64) {
        self.cancelled = self.cancelled || (self.progress)(iteration, relative).is_break();
    }

    /// Whether the progress callback has stopped the solve.
    pub(crate) fn cancelled(&self) -> bool {
        self.cancelled
    }

    /// |b - A x| when it was last computed.
    pub(crate) fn norm(&self) -> f64 {
        self.norm
    }

    /// |b - A x| / |b| when it was last computed.
    pub(crate) fn relative(&self) -> f64 {
        self.relative_to_b(self.norm)
    }

    /// `norm` / |b|.
    fn relative_to_b(&self, norm: f64) -> f64 {
        relative(norm, self.norm_b)
    }

    /// When a residual is small enough.
    pub(crate) fn threshold(&self) -> Threshold {
        Threshold { norm_b: self.norm_b, tolerance: self.tolerance }
    }

    /// The squared norm that meets the tolerance, divided by the square of `unit`.
    pub(crate) fn squares_to_reach(&self, unit: f64) -> f64 {
        (self.tolerance * self.norm_b / unit).powi(2)
    }

    /// The squared norm at which the iteration counts as diverged, divided by the square of `unit`.
    pub(crate) fn squares_to_diverge(&self, unit: f64) -> f64 {
        (self.first / self.epsilon / unit).powi(2)
    }

    /// How many iterations to make before the residuals are checked again, as [`ConvergenceMonitor::record`] may end them. It is half of the number that the
    /// decrease over the `last` round predicts, at most `most`, and at most twice as many as in that round. The maximum number of iterations is
    /// ignored, so that the result is the same if a solve ends there and is resumed.
    pub(crate) fn planned(&self, last: usize, most: usize) -> usize {
        let done = self.history.len() - 1;
        let room = self.mark.saturating_add(self.window).saturating_sub(done);
        let wanted = match self.history.len().checked_sub(last + 1) {
            Some(before) if done > 0 => {
                let now = self.history[done];
                let fall = (self.history[before] / now).ln() / last as f64;
                let left = (now / self.tolerance).ln() / fall;
                // A residual that does not fall allows no prediction.
                if left > 0.0 { (left / 2.0) as usize } else { most }
            }
            _ => 1,
        };
        wanted.min(2 * last).min(most).min(room).max(1)
    }

    /// Iterations that are left.
    pub(crate) fn room(&self) -> usize {
        (self.stopping.max_iterations + 1).saturating_sub(self.history.len())
    }

    /// Whether a residual of this norm meets the tolerance.
    pub(crate) fn reaches(&self, norm: f64) -> bool {
        self.threshold().is_met(norm)
    }

    /// Records an iteration whose recurrence gives the residual norm `norm`. `measure` is the quantity that the method minimises: the same norm, or
    /// that of the preconditioned residual. Cancellation is not reported here: the method ends the solve once x belongs to the last iteration
    /// recorded.
    pub(crate) fn record(&mut self, norm: f64, measure: f64) -> Option<Stop> {
        let relative = self.relative_to_b(norm);
        let iteration = self.history.len();
        self.history.push(relative);
        self.iterate = None;
        self.notify(iteration, relative);
        if measure < WINDOW_PROGRESS * self.best {
            self.best = measure;
            self.mark = iteration;
        }
        self.end_of(norm)
    }

    /// Whether the last iteration recorded, whose recurrence gave the residual norm `norm`, is an end.
    pub(crate) fn end_of(&self, norm: f64) -> Option<Stop> {
        let (relative, iteration) = (self.relative_to_b(norm), self.history.len() - 1);
        if !relative.is_finite() {
            Some(Stop::NotFinite)
        } else if relative <= self.tolerance {
            Some(Stop::Converged)
        } else if iteration >= self.stopping.max_iterations {
            Some(Stop::IterationLimit)
        } else if norm * self.epsilon > self.first {
            Some(Stop::Diverged)
        } else if iteration - self.mark >= self.window {
            Some(Stop::Stagnated)
        } else {
            None
        }
    }

    /// For a memory.
    pub(crate) fn state(&self) -> MonitorState {
        let ConvergenceMonitor { norm, best, mark, first, restarted_at, idle, .. } = *self;
        MonitorState { norm, best, mark, first, restarted_at, idle }
    }

    /// Continues a solve of the same system whose monitor had this state and this history.
    pub(crate) fn restore(&mut self, state: MonitorState, history: &[f64]) {
        (self.norm, self.best, self.mark) = (state.norm, state.best, state.mark);
        (self.first, self.restarted_at, self.idle) = (state.first, state.restarted_at, state.idle);
        self.history = history.to_vec();
    }

    /// The relative residuals so far.
    pub(crate) fn history(&self) -> &[f64] {
        &self.history
    }

    /// Judges the end `seen` that the recurrence signalled, after b - A x was computed and found not small enough.
    pub(crate) fn outcome(&mut self, seen: Stop) -> Outcome {
        if !matches!(seen, Stop::Converged | Stop::Breakdown | Stop::Stagnated) {
            return Outcome::End(seen);
        }
        if self.history.len() > self.stopping.max_iterations {
            return Outcome::End(Stop::IterationLimit);
        }
        if self.cancelled {
            return Outcome::End(Stop::Cancelled);
        }
        if seen != Stop::Stagnated && self.may_restart(seen) {
            return Outcome::Restart;
        }
        Outcome::AtRounding
    }

    /// The final reason for the end `seen`, given the rounding error `rounding` of b - A x. The error is estimated only now, because an estimate from
    /// an inaccurate x would be inaccurate too.
    pub(crate) fn end_at(&self, seen: Stop, rounding: f64) -> Stop {
        let is_moderate = rounding <= self.epsilon.powf(FLOOR_POWER) * self.norm_b && self.relative() <= FLOOR_CEILING;
        match seen {
            _ if self.norm <= FLOOR_FACTOR * rounding && is_moderate => Stop::RoundingFloor,
            _ if self.norm <= FLOOR_FACTOR * rounding => Stop::Unbounded,
            Stop::Converged => Stop::Stagnated,
            other => other,
        }
    }

    /// The reason that replaces [`Stop::RoundingFloor`], found for the last x of norm `last`, after x was reset to an iterate of norm `length` with a smaller
    /// residual, whose rounding error is `rounding`.
    pub(crate) fn end_after(&self, last: f64, length: f64, rounding: f64) -> Stop {
        let has_grown = last > GROWTH * length;
        self.end_at(if has_grown { Stop::Unbounded } else { Stop::Stagnated }, rounding)
    }

    /// |b - A x| at the start.
    pub(crate) fn first(&self) -> f64 {
        self.first
    }

    /// Whether a restart from the true residual is worthwhile after the end `seen`; if so, stagnation is monitored anew.
    fn may_restart(&mut self, seen: Stop) -> bool {
        if self.norm <= RESTART_PROGRESS * self.restarted_at {
            self.restarted_at = self.norm;
            self.idle = 0;
        } else if seen == Stop::Converged && self.idle < IDLE_RESTARTS {
            self.idle += 1;
        } else {
            return false;
        }
        self.best = f64::INFINITY;
        true
    }

    /// Monitors progress anew from the residual entered last, after the method has reset x to a better iterate.
    pub(crate) fn reset(&mut self) {
        (self.best, self.mark) = (f64::INFINITY, self.history.len() - 1);
        (self.restarted_at, self.idle) = (self.norm, 0);
    }

    /// Whether another iteration is allowed.
    pub(crate) fn may_go_on(&self) -> bool {
        self.history.len() <= self.stopping.max_iterations && !self.cancelled
    }

    /// The report of a finished solve, after which x no longer changes.
    pub(crate) fn report(self, stop: Stop) -> Report {
        let iterations = self.iterations();
        let iterate = self.iterate.unwrap_or(iterations);
        Report { stop, iterations, iterate, relative_residual: self.relative(), history: self.history }
    }
}
