//! The scalars of MINRES, and how it recognises a least-squares solution.

use num_traits::Float;
use serde::{Deserialize, Serialize};

use super::Stop;
use super::best::Best;
use super::run::Run;
use crate::ops::SpaceVector;
use crate::{Real, Result, Scalar};

/// New minima of |A r| / (|A| |r|) below this value are taken for approximate least-squares solutions.
const GRADIENT: f64 = 1e-3;
/// A new minimum is below this fraction of the one before.
const GRADIENT_STEP: f64 = 0.5;
/// This many times the square root of the machine precision counts as zero: r is a null vector of A to this accuracy.
const LEAST: f64 = 8.0;
/// Where it was zero in the recurrence and no restart helps, that of the returned x may be this many times as large.
const RECOMPUTED: f64 = 4.0;
/// The true residual may be this many times the best one; with a preconditioner, where another norm decreases,
/// [`DRIFT_OTHER`] times.
const DRIFT: f64 = 1.5;
const DRIFT_OTHER: f64 = 30.0;
/// A residual counts as smaller than that of an approximate least-squares solution if it is at most this fraction of
/// it.
const GAIN: f64 = 0.999;
/// After such a minimum, the true residual is computed again after this many further iterations plus this fraction of
/// those done.
const CHECK: (usize, f64) = (16, 0.25);

/// After the last iteration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The scale of the residual.
    unit: f64,
    /// |b - A x| and sqrt(v'z) at the start.
    start: f64,
    first: f64,
    /// sqrt(v'z), and its previous value.
    pub(super) gamma: f64,
    pub(super) before: f64,
    eta: f64,
    /// Cosines and sines of the last two rotations.
    c: f64,
    c0: f64,
    s: f64,
    s0: f64,
    /// The largest entry of the tridiagonal matrices so far.
    pub(super) largest: f64,
    /// The smallest |A r| / (|A| |r|) of the cycle among the iterates whose true residual was computed, and whether a
    /// much smaller residual of the recurrence is still to be checked against the best of these.
    least: f64,
    is_open: bool,
    /// The iteration after which the true residual is computed again.
    check_at: f64,
    /// Whether |A r| / (|A| |r|) was zero to working accuracy at some point of the solve.
    pub(super) was_zero: bool,
    /// Whether the preconditioner is no longer used.
    pub(super) is_plain: bool,
    /// Whether the cycle ended because its residuals were false.
    pub(super) is_refuted: bool,
}

impl Default for State {
    fn default() -> State {
        State {
            unit: 1.0,
            start: 0.0,
            first: 1.0,
            gamma: 0.0,
            before: 1.0,
            eta: 0.0,
            c: 1.0,
            c0: 1.0,
            s: 0.0,
            s0: 0.0,
            largest: 0.0,
            least: f64::INFINITY,
            is_open: false,
            check_at: f64::INFINITY,
            was_zero: false,
            is_plain: false,
            is_refuted: false,
        }
    }
}

impl State {
    /// Of a solve without a preconditioner, or with one.
    pub(super) fn new(is_plain: bool) -> State {
        State { is_plain, ..State::default() }
    }

    /// At the beginning of a cycle, where sqrt(v'z) is `gamma`.
    pub(super) fn begin(&self, unit: f64, start: f64, gamma: f64) -> State {
        let State { largest, was_zero, is_plain, .. } = *self;
        State { unit, start, first: gamma, gamma, eta: gamma, largest, was_zero, is_plain, ..State::default() }
    }

    /// The residual of the recurrence.
    pub(super) fn norm(&self) -> f64 {
        self.start * (self.eta.abs() / self.first)
    }

    /// Rotates the column of the tridiagonal matrix with `delta` on the diagonal and `next_gamma` below.
    pub(super) fn rotated(&mut self, delta: f64, next_gamma: f64, is_first: bool) -> Column {
        let State { gamma, c, c0, s, s0, .. } = *self;
        let alpha = c * delta - c0 * s * gamma;
        // The first gamma is the norm of the residual.
        self.largest = self.largest.max(delta.abs()).max(if is_first { 0.0 } else { gamma }).max(next_gamma);
        Column {
            alpha,
            second: s * delta + c0 * c * gamma,
            third: s0 * gamma,
            next_gamma,
            pivot: alpha.hypot(next_gamma),
            gradient: alpha.hypot(c * next_gamma) / self.largest,
        }
    }

    /// Goes to the next column; returns the length of the step along the new direction.
    pub(super) fn step(&mut self, column: &Column) -> f64 {
        (self.c0, self.s0) = (self.c, self.s);
        (self.c, self.s) = (column.alpha / column.pivot, column.next_gamma / column.pivot);
        let step = self.unit * self.c * self.eta;
        self.eta *= -self.s;
        (self.before, self.gamma) = (self.gamma, column.next_gamma);
        step
    }

    /// How many times the best true residual the present one may be.
    fn drift(&self) -> f64 {
        if self.is_plain { DRIFT } else { DRIFT_OTHER }
    }

    /// The largest true residual for which x is returned rather than the best one, which has the residual `best`.
    pub(super) fn bound(&self, best: f64) -> f64 {
        (if self.was_zero { GAIN } else { self.drift() }) * best
    }

    /// Computes the true residual where x, the iterate before this column, may be an approximate least-squares
    /// solution, and keeps x if that is the smallest. Returns false if it shows that the residuals of the recurrence
    /// are false.
    pub(super) fn checked<T: Scalar, V: SpaceVector<Scalar = T>>(
        &mut self,
        run: &Run<'_, T, V>,
        column: &Column,
        x: &V,
        (r, norms): (&mut V, &mut V::Dots),
        best: &mut Best<V>,
    ) -> Result<bool> {
        let gradient = column.gradient;
        let is_lower = gradient <= GRADIENT && gradient < GRADIENT_STEP * self.least;
        let is_due = run.iterations() as f64 >= self.check_at;
        if !(is_lower || is_due || self.is_open && self.norm() < 0.5 * best.norm()) {
            return Ok(true);
        }
        let norm = run.residual(x, r, norms)?;
        self.is_refuted = !norm.is_finite() || norm > self.drift() * best.norm();
        if self.is_refuted {
            return Ok(false);
        }
        // Where x grows along null vectors, rounding errors may make the norm of b - A x a little smaller.
        if is_lower || norm < GAIN * best.norm() {
            best.look(x, norm, run.iterations())?;
        }
        (self.is_open, self.least) = (is_lower || is_due && self.is_open, self.least.min(gradient));
        self.check_at = run.iterations() as f64 * (1.0 + CHECK.1) + CHECK.0 as f64;
        self.was_zero |= gradient <= LEAST * T::Real::epsilon().into_f64().sqrt();
        Ok(true)
    }

    /// Whether x, whose |A r| / (|A| |r|) is `gradient`, is a least-squares solution where the cycle ended with `end`.
    pub(super) fn is_least_squares<T: Scalar>(&self, gradient: f64, end: Option<Stop>) -> bool {
        let bound = LEAST * T::Real::epsilon().into_f64().sqrt();
        // The recurrence gives it more accurately than x.
        gradient <= bound || end.is_some() && self.was_zero && gradient <= RECOMPUTED * bound
    }
}

/// A column of the tridiagonal matrix after its rotations.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    /// On the diagonal before the last rotation, and after it.
    alpha: f64,
    pub(super) pivot: f64,
    /// Above the diagonal.
    pub(super) second: f64,
    pub(super) third: f64,
    /// Below it.
    next_gamma: f64,
    /// |A r| / (|A| |r|) of the iterate before this column.
    pub(super) gradient: f64,
}
