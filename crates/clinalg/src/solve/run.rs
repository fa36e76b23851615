//! What all solvers share: argument checks, the residual history, and the judgement of an end.

use num_traits::Float;

use super::{Operator, Preconditioner, Progress, Report, Stop, Stopping};
use crate::error::check_length;
use crate::ops::{self, DotParts, norm_of_squares, scale_raw, scatter_signs};
use crate::{Context, Error, Real, Result, Scalar, Vector};

/// What the true residual must fall to, relative to the last restart, for another one; the number of restarts is bounded by
/// this and by the iteration limit.
pub(crate) const RESTART_PROGRESS: f64 = 0.9;
/// Restarts without that progress, in a row, after the recurrence has claimed convergence. GMRES with a preconditioner makes
/// another norm small, in which a restart may help although |b - A x| has not fallen yet.
const IDLE_RESTARTS: usize = 1;
/// What the smallest residual must fall to within the stagnation window.
pub(crate) const WINDOW_PROGRESS: f64 = 0.999;
/// Residuals up to this many times the estimated rounding error count as the rounding floor.
pub(crate) const FLOOR_FACTOR: f64 = 16.0;
/// Relative residuals above this are no floor: A is singular to working precision, or nearly so.
pub(crate) const FLOOR_CEILING: f64 = 0.1;

/// A power of two near `norm`: a vector of that norm divided by it has no square out of range and is not rounded.
pub(crate) fn unit<R: Real>(norm: f64) -> f64 {
    let top = R::max_value().into_f64().log2().floor() - 8.0;
    norm.log2().floor().clamp(-top, top).exp2()
}

/// One solve in progress.
pub(super) struct Run<'a, T: Scalar> {
    a: &'a dyn Operator<T>,
    b: &'a Vector<T>,
    stopping: Stopping,
    /// Relative residual to reach.
    tolerance: f64,
    progress: Progress<'a>,
    /// Whether `progress` stopped the solve.
    cancelled: bool,
    norm_b: f64,
    /// |b - A x| when it was last computed.
    norm: f64,
    history: Vec<f64>,
    /// The smallest measure of the residual, and when it last fell enough.
    best: f64,
    mark: usize,
    /// Iterations without that after which the iteration has stagnated.
    window: usize,
    /// |b - A x| of the start.
    first: f64,
    /// |b - A x| at the last restart that followed progress, and the restarts since.
    restarted_at: f64,
    idle: usize,
}

/// An error unless A is `n` x `n`, b and x have `n` values and all live in `context`.
pub(super) fn check_system<T: Scalar>(
    context: &Context,
    n: usize,
    a: &dyn Operator<T>,
    m: Option<&dyn Preconditioner<T>>,
    b: &Vector<T>,
    x: &Vector<T>,
) -> Result<()> {
    let contexts = [("a", Some(a.context())), ("m", m.map(|m| m.context()))];
    let contexts = contexts.into_iter().chain([("b", Some(b.context())), ("x", Some(x.context()))]);
    for (argument, other) in contexts {
        if other.is_some_and(|other| !context.same(other)) {
            return Err(Error::Context { argument });
        }
    }
    let shapes = [("a", Some((a.rows(), a.cols()))), ("m", m.map(|m| (m.size(), m.size())))];
    for (argument, shape) in shapes {
        if let Some((rows, cols)) = shape.filter(|&shape| shape != (n, n)) {
            return Err(Error::Shape { argument, expected: format!("{n} x {n}"), got: format!("{rows} x {cols}") });
        }
    }
    check_length("b", n, b.len())?;
    check_length("x", n, x.len())
}

impl<'a, T: Scalar> Run<'a, T> {
    /// Leaves r = b - A x. The second part is why there is nothing to iterate.
    pub(super) fn start(
        a: &'a dyn Operator<T>,
        b: &'a Vector<T>,
        x: &mut Vector<T>,
        r: &mut Vector<T>,
        norms: &mut DotParts<T>,
        stopping: Stopping,
        progress: Progress<'a>,
    ) -> Result<(Run<'a, T>, Option<Stop>)> {
        stopping.check()?;
        let norm_b = ops::norm2(b)?.into_f64();
        let history = Vec::with_capacity(stopping.max_iterations.min(1000) + 1);
        let mut run = Run {
            a,
            b,
            tolerance: stopping.tolerance_of::<T>(),
            progress,
            cancelled: false,
            norm_b,
            norm: f64::NAN,
            history,
            best: f64::INFINITY,
            mark: 0,
            window: stopping.stagnation_window,
            stopping,
            first: f64::INFINITY,
            restarted_at: f64::INFINITY,
            idle: 0,
        };
        run.history.push(f64::NAN);
        if !norm_b.is_finite() {
            return Ok((run, Some(Stop::NotFinite)));
        }
        if norm_b == 0.0 {
            x.fill(T::zero())?;
        }
        let mut stop = run.check(x, r, norms)?;
        if stop.is_none() && run.stopping.max_iterations == 0 {
            stop = Some(Stop::IterationLimit);
        }
        run.first = run.norm;
        run.restarted_at = run.norm;
        run.notify(0, run.history[0]);
        if stop.is_none() && run.cancelled {
            stop = Some(Stop::Cancelled);
        }
        Ok((run, stop))
    }

    /// Lets the residual go without a new minimum for at least `iterations`.
    pub(super) fn be_patient(&mut self, iterations: usize) {
        self.window = self.window.max(iterations);
    }

    /// Calls `progress` unless it has stopped the solve.
    fn notify(&mut self, iteration: usize, relative: f64) {
        self.cancelled = self.cancelled || (self.progress)(iteration, relative).is_break();
    }

    /// Whether the progress callback has stopped the solve.
    pub(super) fn cancelled(&self) -> bool {
        self.cancelled
    }

    /// |b - A x| when it was last computed.
    pub(super) fn norm(&self) -> f64 {
        self.norm
    }

    /// |b - A x| / |b| when it was last computed.
    pub(super) fn relative(&self) -> f64 {
        self.relative_to_b(self.norm)
    }

    /// `norm` / |b|; 0 for a zero residual, whatever b is.
    pub(super) fn relative_to_b(&self, norm: f64) -> f64 {
        if norm == 0.0 { 0.0 } else { norm / self.norm_b }
    }

    /// r = b - A x and its norm, in one pass where the operator can; `norms` is for the parts of the norm.
    fn residual(&mut self, x: &Vector<T>, r: &mut Vector<T>, norms: &mut DotParts<T>) -> Result<f64> {
        self.a.apply_dots(-T::one(), x, Some((T::one(), self.b)), self.b, r, norms)?;
        let (_, squares) = norms.values()?;
        self.norm = match norm_of_squares::<T::Real>(squares, r.len() * T::COMPONENTS) {
            Some(norm) => T::Real::from_f64(norm).into_f64(),
            None => ops::norm2(r)?.into_f64(),
        };
        Ok(self.norm)
    }

    /// Computes r = b - A x, makes its norm the last of the history, and ends if it decides.
    pub(super) fn check(&mut self, x: &Vector<T>, r: &mut Vector<T>, norms: &mut DotParts<T>) -> Result<Option<Stop>> {
        let norm = self.residual(x, r, norms)?;
        let relative = self.relative();
        *self.history.last_mut().expect("the history starts with the first residual") = relative;
        Ok(if !norm.is_finite() {
            Some(Stop::NotFinite)
        } else if relative <= self.tolerance {
            Some(Stop::Converged)
        } else {
            None
        })
    }

    /// Divides r by the power of two next to the norm of the last residual and returns it, so that
    /// squares neither overflow nor vanish. Exact.
    pub(super) fn rescale(&self, r: &mut Vector<T>) -> Result<f64> {
        let unit = unit::<T::Real>(self.norm);
        scale_raw(T::from_f64(1.0 / unit), r.buffer(), r.buffer())?;
        Ok(unit)
    }

    /// The square of the norm that meets the tolerance, in units of `unit`.
    pub(super) fn squares_to_reach(&self, unit: f64) -> f64 {
        (self.tolerance * self.norm_b / unit).powi(2)
    }

    /// The square of the norm at which the iteration has diverged, in units of `unit`.
    pub(super) fn squares_to_diverge(&self, unit: f64) -> f64 {
        (self.first / T::Real::epsilon().into_f64() / unit).powi(2)
    }

    /// How many iterations to make before the next look at their residuals, at most `most` and twice as many as in the
    /// `last` round, as [`Run::record`] may end them: half of those that the residual's fall in the last round foretells,
    /// and not past a limit on their number.
    pub(super) fn block(&self, last: usize, most: usize) -> usize {
        let done = self.history.len() - 1;
        let room = self.stopping.max_iterations.min(self.mark.saturating_add(self.window)).saturating_sub(done);
        let wanted = match self.history.len().checked_sub(last + 1) {
            Some(before) if done > 0 => {
                let now = self.history[done];
                let fall = (self.history[before] / now).ln() / last as f64;
                let left = (now / self.tolerance).ln() / fall;
                // A residual that does not fall foretells nothing.
                if left > 0.0 { (left / 2.0) as usize } else { most }
            }
            _ => 1,
        };
        wanted.min(2 * last).min(most).min(room).max(1)
    }

    /// Whether a residual of this norm meets the tolerance.
    pub(super) fn reaches(&self, norm: f64) -> bool {
        self.relative_to_b(norm) <= self.tolerance
    }

    /// Enters an iteration that changed x, of a method without recurrence: leaves r = b - A x and
    /// ends if it decides. `p` and `q` may be overwritten.
    pub(super) fn step(
        &mut self,
        x: &Vector<T>,
        r: &mut Vector<T>,
        p: &mut Vector<T>,
        q: &mut Vector<T>,
        norms: &mut DotParts<T>,
    ) -> Result<Option<Stop>> {
        let norm = self.residual(x, r, norms)?;
        match self.record(norm, norm) {
            None => Ok(self.cancelled.then_some(Stop::Cancelled)),
            Some(Stop::Converged) => Ok(Some(Stop::Converged)),
            Some(seen) => self.judge(seen, x, p, q),
        }
    }

    /// Enters an iteration whose recurrence gives the residual norm `norm`. `measure` is what the
    /// method makes small: the same, or the norm of the preconditioned residual. A cancelled solve is no end here: the
    /// method ends it when x is that of the last iteration recorded.
    pub(super) fn record(&mut self, norm: f64, measure: f64) -> Option<Stop> {
        let relative = self.relative_to_b(norm);
        let iteration = self.history.len();
        self.history.push(relative);
        self.notify(iteration, relative);
        if measure < WINDOW_PROGRESS * self.best {
            self.best = measure;
            self.mark = iteration;
        }
        if !relative.is_finite() {
            Some(Stop::NotFinite)
        } else if relative <= self.tolerance {
            Some(Stop::Converged)
        } else if iteration >= self.stopping.max_iterations {
            Some(Stop::IterationLimit)
        } else if norm * T::Real::epsilon().into_f64() > self.first {
            Some(Stop::Diverged)
        } else if iteration - self.mark >= self.window {
            Some(Stop::Stagnated)
        } else {
            None
        }
    }

    /// Judges the end `seen` by the recurrence against the true residual, which it leaves in r.
    /// `None` asks for a restart from r. `p` and `q` are overwritten.
    pub(super) fn confirm(
        &mut self,
        seen: Stop,
        x: &Vector<T>,
        r: &mut Vector<T>,
        p: &mut Vector<T>,
        q: &mut Vector<T>,
        norms: &mut DotParts<T>,
    ) -> Result<Option<Stop>> {
        match self.check(x, r, norms)? {
            None => self.judge(seen, x, p, q),
            stop => Ok(stop),
        }
    }

    /// As [`Run::confirm`] where b - A x was just computed and is not small enough.
    fn judge(&mut self, seen: Stop, x: &Vector<T>, p: &mut Vector<T>, q: &mut Vector<T>) -> Result<Option<Stop>> {
        if !matches!(seen, Stop::Converged | Stop::Breakdown | Stop::Stagnated) {
            return Ok(Some(seen));
        }
        if self.history.len() > self.stopping.max_iterations {
            return Ok(Some(Stop::IterationLimit));
        }
        if self.cancelled {
            return Ok(Some(Stop::Cancelled));
        }
        if seen != Stop::Stagnated && self.may_restart(seen) {
            return Ok(None);
        }
        // Only now, as the estimate for an x that is far off is far off too.
        let floor = FLOOR_FACTOR * self.rounding(x, p, q)?;
        Ok(Some(match seen {
            _ if self.norm <= floor && self.relative() <= FLOOR_CEILING => Stop::RoundingFloor,
            Stop::Converged => Stop::Stagnated,
            other => other,
        }))
    }

    /// Whether a restart from the true residual is worth while after the end `seen`; if so, the residuals since are watched anew.
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

    /// Starts anew from x, which the method has put back to a better one, after an end that [`Run::confirm`] found: leaves
    /// r = b - A x.
    pub(super) fn go_back(&mut self, x: &Vector<T>, r: &mut Vector<T>, norms: &mut DotParts<T>) -> Result<()> {
        self.check(x, r, norms)?;
        (self.best, self.mark) = (f64::INFINITY, self.history.len() - 1);
        (self.restarted_at, self.idle) = (self.norm, 0);
        Ok(())
    }

    /// Whether another iteration is allowed.
    pub(super) fn may_go_on(&self) -> bool {
        self.history.len() <= self.stopping.max_iterations && !self.cancelled
    }

    /// The rounding error of b - A x, as eps (|A s| + |b|) where s is x with scattered signs: what
    /// relative errors eps of either sign in x do to the residual, row by row (compare Higham,
    /// Accuracy and Stability of Numerical Algorithms, 2002, section 7.2).
    fn rounding(&self, x: &Vector<T>, p: &mut Vector<T>, q: &mut Vector<T>) -> Result<f64> {
        scatter_signs(x, p)?;
        self.a.apply(T::one(), p, T::zero(), q)?;
        Ok(T::Real::epsilon().into_f64() * (ops::norm2(q)?.into_f64() + self.norm_b))
    }

    /// The report of an end after which x is not changed any more.
    pub(super) fn report(self, stop: Stop) -> Report {
        Report { stop, iterations: self.history.len() - 1, relative_residual: self.relative(), history: self.history }
    }
}
