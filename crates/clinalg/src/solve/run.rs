//! What all single-device solvers share: argument checks, the residual, and its use in the stopping criteria.

use std::ops::{Deref, DerefMut};

use num_traits::Float;

use super::best::{Best, Start};
use super::judge::{Judge, Verdict, unit};
use super::{Operator, Preconditioner, Progress, Report, Stop, Stopping};
use crate::error::check_length;
use crate::ops::{self, DotParts, norm_of_squares, scale_raw, scatter_signs};
use crate::{Context, Error, Real, Result, Scalar, Vector};

/// One solve in progress.
pub(super) struct Run<'a, T: Scalar> {
    a: &'a dyn Operator<T>,
    b: &'a Vector<T>,
    judge: Judge<'a>,
}

impl<'a, T: Scalar> Deref for Run<'a, T> {
    type Target = Judge<'a>;

    fn deref(&self) -> &Judge<'a> {
        &self.judge
    }
}

impl<T: Scalar> DerefMut for Run<'_, T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.judge
    }
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
    /// Before the first residual.
    pub(super) fn new(
        a: &'a dyn Operator<T>,
        b: &'a Vector<T>,
        stopping: Stopping,
        progress: Progress<'a>,
    ) -> Result<Run<'a, T>> {
        stopping.check()?;
        let norm_b = ops::norm2(b)?.into_f64();
        let tolerance = stopping.tolerance_of::<T>();
        Ok(Run { a, b, judge: Judge::new::<T::Real>(norm_b, stopping, tolerance, progress) })
    }

    /// Leaves r = b - A x. The second component is the reason if there is nothing to iterate.
    pub(super) fn start(
        a: &'a dyn Operator<T>,
        b: &'a Vector<T>,
        x: &mut Vector<T>,
        r: &mut Vector<T>,
        norms: &mut DotParts<T>,
        stopping: Stopping,
        progress: Progress<'a>,
    ) -> Result<(Run<'a, T>, Option<Stop>)> {
        let mut run = Run::new(a, b, stopping, progress)?;
        if !run.norm_b().is_finite() {
            return Ok((run, Some(Stop::NotFinite)));
        }
        if run.norm_b() == 0.0 {
            x.fill(T::zero())?;
        }
        let stop = run.check(x, r, norms)?;
        let stop = run.begin(stop);
        Ok((run, stop))
    }

    /// r = b - A x and its norm, in one pass where the operator can; `norms` is for the parts of the norm.
    pub(super) fn residual(&self, x: &Vector<T>, r: &mut Vector<T>, norms: &mut DotParts<T>) -> Result<f64> {
        self.a.apply_dots(-T::one(), x, Some((T::one(), self.b)), self.b, r, norms)?;
        let (_, squares) = norms.values()?;
        Ok(match norm_of_squares::<T::Real>(squares, r.len() * T::COMPONENTS) {
            Some(norm) => T::Real::from_f64(norm).into_f64(),
            None => ops::norm2(r)?.into_f64(),
        })
    }

    /// Computes r = b - A x, replaces the last entry of the history by its norm, and returns a reason to stop, if there is one.
    pub(super) fn check(&mut self, x: &Vector<T>, r: &mut Vector<T>, norms: &mut DotParts<T>) -> Result<Option<Stop>> {
        let norm = self.residual(x, r, norms)?;
        Ok(self.enter(norm))
    }

    /// Divides r by the power of two next to the norm of the last residual and returns it, so that
    /// squares neither overflow nor vanish. Exact.
    pub(super) fn rescale(&self, r: &mut Vector<T>) -> Result<f64> {
        let unit = unit::<T::Real>(self.norm());
        scale_raw(T::from_f64(1.0 / unit), r.buffer(), r.buffer())?;
        Ok(unit)
    }

    /// Records an iteration that changed x, of a method without a residual recurrence: leaves r = b - A x and
    /// returns a reason to stop, if there is one. `p` and `q` may be overwritten.
    pub(super) fn step(
        &mut self,
        x: &Vector<T>,
        r: &mut Vector<T>,
        p: &mut Vector<T>,
        q: &mut Vector<T>,
        norms: &mut DotParts<T>,
    ) -> Result<Option<Stop>> {
        let norm = self.residual(x, r, norms)?;
        self.set_norm(norm);
        match self.record(norm, norm) {
            None => Ok(self.cancelled().then_some(Stop::Cancelled)),
            Some(Stop::Converged) => Ok(Some(Stop::Converged)),
            Some(seen) => self.judge_at(seen, x, p, q),
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
            None => self.judge_at(seen, x, p, q),
            stop => Ok(stop),
        }
    }

    /// As [`Run::confirm`] where b - A x was just computed and is not small enough.
    fn judge_at(&mut self, seen: Stop, x: &Vector<T>, p: &mut Vector<T>, q: &mut Vector<T>) -> Result<Option<Stop>> {
        Ok(match self.judge(seen) {
            Verdict::End(stop) => Some(stop),
            Verdict::Restart => None,
            Verdict::AtRounding => Some(self.end_at(seen, self.rounding(x, p, q)?)),
        })
    }

    /// After the method has reset x to a better iterate: leaves r = b - A x, returns its norm and monitors progress anew.
    pub(super) fn go_back(&mut self, x: &Vector<T>, r: &mut Vector<T>, norms: &mut DotParts<T>) -> Result<f64> {
        self.check(x, r, norms)?;
        self.watch_anew();
        Ok(self.norm())
    }

    /// After [`Run::confirm`] returned `end`: keeps x if it is the best iterate and the iteration goes on, and resets it to the best
    /// iterate, with r = b - A x, if the solve fails. Returns the reason to stop, which is that of the x returned. `p` and `q` may be overwritten.
    pub(super) fn settle(
        &mut self,
        end: Option<Stop>,
        best: &mut Best<Vector<T>>,
        x: &mut Vector<T>,
        [r, p, q]: [&mut Vector<T>; 3],
        norms: &mut DotParts<T>,
    ) -> Result<Option<Stop>> {
        let last = (self.norm(), self.iterations());
        let Some(stop) = end else {
            best.look_at_true(x, last, |x| self.residual(x, r, norms))?;
            return Ok(None);
        };
        if stop == Stop::Converged {
            return Ok(end);
        }
        let length = if stop == Stop::RoundingFloor { ops::norm2(x)?.into_f64() } else { 0.0 };
        let first = self.first();
        let Some(number) = best.take(x, last, first, |x| self.go_back(x, r, norms))? else { return Ok(end) };
        self.went_back_to(number);
        if stop != Stop::RoundingFloor {
            return Ok(end);
        }
        let rounding = self.rounding(x, p, q)?;
        Ok(Some(self.end_after(length, ops::norm2(x)?.into_f64(), rounding)))
    }

    /// Resets x to the initial guess if the solve ended with `stop`, without success, and the residual has grown.
    pub(super) fn no_worse(
        &mut self,
        stop: Stop,
        start: &Start<Vector<T>>,
        x: &mut Vector<T>,
        r: &mut Vector<T>,
        norms: &mut DotParts<T>,
    ) -> Result<()> {
        let has_grown = self.norm() > self.first() || !self.norm().is_finite();
        if has_grown && self.iterations() > 0 && !matches!(stop, Stop::Converged | Stop::Cancelled) {
            start.give(x)?;
            self.check(x, r, norms)?;
            self.went_back_to(0);
        }
        Ok(())
    }

    /// The rounding error of b - A x, as eps (|A s| + |b|) where s is x with scattered signs: what
    /// relative errors eps of either sign in x do to the residual, row by row (compare Higham,
    /// Accuracy and Stability of Numerical Algorithms, 2002, section 7.2).
    fn rounding(&self, x: &Vector<T>, p: &mut Vector<T>, q: &mut Vector<T>) -> Result<f64> {
        scatter_signs(x, p)?;
        self.a.apply(T::one(), p, T::zero(), q)?;
        Ok(T::Real::epsilon().into_f64() * (ops::norm2(q)?.into_f64() + self.norm_b()))
    }

    /// The final report, after which x no longer changes.
    pub(super) fn report(self, stop: Stop) -> Report {
        self.judge.report(stop)
    }
}
