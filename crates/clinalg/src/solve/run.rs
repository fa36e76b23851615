//! What all solvers share: argument checks, the residual, and its use in the stopping criteria.

use std::ops::{Deref, DerefMut};

use num_traits::Float;

use super::best::{Best, Start};
use super::monitor::{ConvergenceMonitor, Outcome, unit};
use super::{Operator, Preconditioner, Progress, Report, Stop, Stopping};
use crate::ops::{SpaceDots, SpaceVector, norm_of_squares};
use crate::{Error, Real, Result, Scalar};

/// One solve in progress.
pub struct Run<'a, T: Scalar, V: SpaceVector<Scalar = T>> {
    pub(super) a: &'a dyn Operator<T, V>,
    b: &'a V,
    monitor: ConvergenceMonitor<'a>,
}

/// What the outer loop of a method works with: r = b - A x, and two vectors that may be overwritten between cycles.
pub struct Workspace<'w, V: SpaceVector> {
    pub(super) r: &'w mut V,
    pub(super) p: &'w mut V,
    pub(super) q: &'w mut V,
    pub(super) best: &'w mut Best<V>,
    /// Of the norm of r.
    pub(super) norms: &'w mut V::Dots,
}

impl<'a, T: Scalar, V: SpaceVector<Scalar = T>> Deref for Run<'a, T, V> {
    type Target = ConvergenceMonitor<'a>;

    fn deref(&self) -> &ConvergenceMonitor<'a> {
        &self.monitor
    }
}

impl<T: Scalar, V: SpaceVector<Scalar = T>> DerefMut for Run<'_, T, V> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.monitor
    }
}

/// An error unless A is `n` x `n`, b and x have `n` values and all live in `space`.
pub(super) fn check_system<T: Scalar, V: SpaceVector<Scalar = T>>(
    space: &V::Space,
    n: usize,
    a: &dyn Operator<T, V>,
    m: Option<&dyn Preconditioner<T, V>>,
    b: &V,
    x: &V,
) -> Result<()> {
    let spaces = [("a", Some(a.context())), ("m", m.map(|m| m.context()))];
    let spaces = spaces.into_iter().chain([("b", Some(b.space())), ("x", Some(x.space()))]);
    for (argument, other) in spaces {
        if other.is_some_and(|other| !V::is_same_space(space, other)) {
            return Err(Error::Context { argument });
        }
    }
    let shapes = [("a", Some((a.rows(), a.cols()))), ("m", m.map(|m| (m.size(), m.size())))];
    for (argument, shape) in shapes {
        if let Some((rows, cols)) = shape.filter(|&shape| shape != (n, n)) {
            return Err(Error::Shape { argument, expected: format!("{n} x {n}"), got: format!("{rows} x {cols}") });
        }
    }
    b.check(space, n, "b")?;
    x.check(space, n, "x")
}

impl<'a, T: Scalar, V: SpaceVector<Scalar = T>> Run<'a, T, V> {
    /// Before the first residual.
    pub(super) fn new(
        a: &'a dyn Operator<T, V>,
        b: &'a V,
        stopping: Stopping,
        progress: Progress<'a>,
    ) -> Result<Run<'a, T, V>> {
        stopping.check()?;
        let norm_b = b.norm()?;
        let tolerance = stopping.tolerance_of::<T>();
        Ok(Run { a, b, monitor: ConvergenceMonitor::new::<T::Real>(norm_b, stopping, tolerance, progress) })
    }

    /// Leaves r = b - A x. Returns the reason if there is nothing to iterate.
    pub(super) fn start(&mut self, x: &mut V, r: &mut V, norms: &mut V::Dots) -> Result<Option<Stop>> {
        if !self.norm_b().is_finite() {
            return Ok(Some(Stop::NotFinite));
        }
        if self.norm_b() == 0.0 {
            x.set_all(T::zero())?;
        }
        let stop = self.check(x, r, norms)?;
        Ok(self.begin(stop))
    }

    /// r = b - A x and its norm, in one pass where the operator can; `norms` is for the parts of the norm.
    pub(super) fn residual(&self, x: &V, r: &mut V, norms: &mut V::Dots) -> Result<f64> {
        self.a.apply_dots(-T::one(), x, Some((T::one(), self.b)), self.b, r, norms)?;
        let (_, squares) = norms.both()?;
        Ok(match norm_of_squares::<T::Real>(squares, r.size() * T::COMPONENTS) {
            Some(norm) => T::Real::from_f64(norm).into_f64(),
            None => r.norm()?,
        })
    }

    /// Computes r = b - A x, replaces the last entry of the history by its norm, and returns a reason to stop, if there is one.
    pub(super) fn check(&mut self, x: &V, r: &mut V, norms: &mut V::Dots) -> Result<Option<Stop>> {
        let norm = self.residual(x, r, norms)?;
        Ok(self.enter(norm))
    }

    /// Divides r by the power of two next to the norm of the last residual and returns it, so that
    /// squares neither overflow nor vanish. Exact.
    pub(super) fn rescale(&self, r: &mut V) -> Result<f64> {
        let unit = unit::<T::Real>(self.norm());
        r.scale_by(T::from_f64(1.0 / unit))?;
        Ok(unit)
    }

    /// Records an iteration that changed x, of a method without a residual recurrence: leaves r = b - A x and
    /// returns a reason to stop, if there is one. `p` and `q` may be overwritten.
    pub(super) fn step(&mut self, x: &V, [r, p, q]: [&mut V; 3], norms: &mut V::Dots) -> Result<Option<Stop>> {
        let norm = self.residual(x, r, norms)?;
        self.set_norm(norm);
        match self.record(norm, norm) {
            None => Ok(self.cancelled().then_some(Stop::Cancelled)),
            Some(Stop::Converged) => Ok(Some(Stop::Converged)),
            Some(seen) => self.judge_at(seen, x, p, q),
        }
    }

    /// Computes the true residual r, and judges by it the end `seen` of the recurrence, if there is one. `None` asks
    /// for a restart from r.
    pub(super) fn confirm(&mut self, seen: Option<Stop>, x: &V, work: &mut Workspace<'_, V>) -> Result<Option<Stop>> {
        match (self.check(x, work.r, work.norms)?, seen) {
            (None, Some(seen)) => self.judge_at(seen, x, work.p, work.q),
            (stop, _) => Ok(stop),
        }
    }

    /// As [`Run::confirm`] where b - A x was just computed and is not small enough.
    fn judge_at(&mut self, seen: Stop, x: &V, p: &mut V, q: &mut V) -> Result<Option<Stop>> {
        Ok(match self.outcome(seen) {
            Outcome::End(stop) => Some(stop),
            Outcome::Restart => None,
            Outcome::AtRounding => Some(self.end_at(seen, self.rounding(x, p, q)?)),
        })
    }

    /// After the method has reset x to a better iterate: leaves r = b - A x, returns its norm and monitors progress anew.
    pub(super) fn go_back(&mut self, x: &V, r: &mut V, norms: &mut V::Dots) -> Result<f64> {
        self.check(x, r, norms)?;
        self.reset();
        Ok(self.norm())
    }

    /// After [`Run::confirm`] returned `end`: keeps x if it is the best iterate and the iteration goes on, and resets it to the best
    /// iterate, with r = b - A x, if the solve fails. Returns the reason to stop, which is that of the x returned.
    pub(super) fn settle(&mut self, end: Option<Stop>, x: &mut V, work: &mut Workspace<'_, V>) -> Result<Option<Stop>> {
        let Workspace { r, p, q, best, norms } = work;
        let last = (self.norm(), self.iterations());
        let Some(stop) = end else {
            best.look_at_true(x, last, |x| self.residual(x, r, norms))?;
            return Ok(None);
        };
        if stop == Stop::Converged {
            return Ok(end);
        }
        let length = if stop == Stop::RoundingFloor { x.norm()? } else { 0.0 };
        let first = self.first();
        let Some(number) = best.take(x, last, first, |x| self.go_back(x, r, norms))? else { return Ok(end) };
        self.set_returned_iterate(number);
        if stop != Stop::RoundingFloor {
            return Ok(end);
        }
        let rounding = self.rounding(x, p, q)?;
        Ok(Some(self.end_after(length, x.norm()?, rounding)))
    }

    /// Resets x to the initial guess if the solve ended with `stop`, without success, and the residual has grown.
    pub(super) fn no_worse(
        &mut self,
        stop: Stop,
        start: &Start<V>,
        x: &mut V,
        r: &mut V,
        norms: &mut V::Dots,
    ) -> Result<()> {
        let has_grown = self.norm() > self.first() || !self.norm().is_finite();
        if has_grown && self.iterations() > 0 && !matches!(stop, Stop::Converged | Stop::Cancelled) {
            start.give(x)?;
            self.check(x, r, norms)?;
            self.set_returned_iterate(0);
        }
        Ok(())
    }

    /// The rounding error of b - A x, as eps (|A s| + |b|) where s is x with scattered signs: what
    /// relative errors eps of either sign in x do to the residual, row by row (compare Higham,
    /// Accuracy and Stability of Numerical Algorithms, 2002, section 7.2).
    fn rounding(&self, x: &V, p: &mut V, q: &mut V) -> Result<f64> {
        p.set_scattered_signs(x)?;
        self.a.apply(T::one(), p, T::zero(), q)?;
        Ok(T::Real::epsilon().into_f64() * (q.norm()? + self.norm_b()))
    }

    /// The final report, after which x no longer changes.
    pub(super) fn report(self, stop: Stop) -> Report {
        self.monitor.report(stop)
    }
}
