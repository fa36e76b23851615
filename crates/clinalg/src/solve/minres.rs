//! Minimal residuals for symmetric matrices.

use num_traits::Float;

use super::basis::shrink;
use super::best::Best;
use super::checked::{CheckedOperator, CheckedPreconditioner, check_own};
use super::memory::{Kept, Kind, number_of, numbers_from, seen_by};
use super::run::{Run, check_system};
use super::scalars::precondition;
use super::solver::{own_parts, resumable, without_memory};
use super::{KrylovMemory, MinresParams, Operator, Preconditioner, Progress, Report, Solver, Stop};
use crate::ops::{self, DotParts};
use crate::{Context, Real, Result, Scalar, Vector};

/// MINRES for symmetric (complex: Hermitian) A, definite or not, with an optional positive definite preconditioner (Paige and Saunders
/// 1975; Elman, Silvester and Wathen, *Finite Elements and Fast Iterative Solvers*, 2014, algorithm 4.1).
///
/// Owns nine vectors of `n` values. An iteration takes a product and reads numbers back twice. The norm of the residual never rises: without a
/// preconditioner |b - A x|, with one sqrt(r^H M^-1 r). In the latter case the history is this norm, scaled at each restart to agree
/// with |b - A x|; the tolerance holds for the true residual in any case. Consistent singular systems are solved as well.
///
/// On a singular system without a solution, x converges to a least-squares solution and then grows along null vectors, while the recurrence shows residuals
/// below the smallest possible one. The recurrence also gives |A r| / (|A| |r|) (Choi, Paige and Saunders 2011), which shows where this happens: at new minima
/// below 1e-3, true residuals are computed and the best x is kept. If later residuals prove false, x is reset to it, and [`Stop::LeastSquares`] is reported
/// if |A r| is zero to working accuracy. With a preconditioner, this x minimises another norm of r; the solve then continues without the preconditioner.
///
/// If the solve does not converge, the best of the iterates whose true residual was computed is returned: the initial guess, those kept as above, those at
/// restarts and the last one.
///
/// The residual may stagnate for a long time, so the stagnation window is at least `n`.
#[derive(Debug)]
pub struct Minres<T: Scalar> {
    params: MinresParams,
    /// The Lanczos vectors of this iteration and the one before, unscaled.
    v: Vector<T>,
    former: Vector<T>,
    /// M^-1 v, and A times it.
    z: Vector<T>,
    q: Vector<T>,
    /// Directions.
    w: [Vector<T>; 3],
    next: Vector<T>,
    /// The best of the iterates whose true residual was computed.
    best: Best<Vector<T>>,
    norms: DotParts<T>,
}

/// New minima of |A r| / (|A| |r|) below this value are taken for approximate least-squares solutions.
const GRADIENT: f64 = 1e-3;
/// A new minimum is below this fraction of the one before.
const GRADIENT_STEP: f64 = 0.5;
/// This many times the square root of the machine precision counts as zero: r is a null vector of A to this accuracy.
const LEAST: f64 = 8.0;
/// Where it was zero in the recurrence and no restart helps, that of the returned x may be this many times as large.
const RECOMPUTED: f64 = 4.0;
/// The true residual may be this many times the best one; with a preconditioner, where another norm decreases, [`DRIFT_OTHER`] times.
const DRIFT: f64 = 1.5;
const DRIFT_OTHER: f64 = 30.0;
/// A residual counts as smaller than that of an approximate least-squares solution if it is at most this fraction of it.
const GAIN: f64 = 0.999;
/// After such a minimum, the true residual is computed again after this many further iterations plus this fraction of those done.
const CHECK: (usize, f64) = (16, 0.25);

/// The state of a cycle after the last iteration.
#[derive(Debug, Clone, Copy)]
struct State {
    /// The scale of the residual.
    unit: f64,
    /// |b - A x| and sqrt(v'z) at the start.
    start: f64,
    first: f64,
    /// sqrt(v'z), and its previous value.
    gamma: f64,
    before: f64,
    eta: f64,
    /// Cosines and sines of the last two rotations.
    c: f64,
    c0: f64,
    s: f64,
    s0: f64,
    /// The largest entry of the tridiagonal matrices so far.
    largest: f64,
    /// The smallest |A r| / (|A| |r|) of the cycle among the iterates whose true residual was computed, and whether a much smaller residual of the recurrence
    /// is still to be checked against the best of these.
    least: f64,
    is_open: bool,
    /// The iteration after which the true residual is computed again.
    check_at: f64,
    /// Whether |A r| / (|A| |r|) was zero to working accuracy at some point of the solve.
    was_zero: bool,
    /// Whether the preconditioner is no longer used.
    is_plain: bool,
    /// Whether the cycle ended because its residuals were false.
    is_refuted: bool,
    /// Whether the next cycle continues from here.
    goes_on: bool,
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
            goes_on: false,
        }
    }
}

/// The number of values of a [`State`].
const NUMBERS: usize = 17;

impl State {
    /// The residual of the recurrence.
    fn norm(&self) -> f64 {
        self.start * (self.eta.abs() / self.first)
    }

    fn numbers(&self, seen: Stop) -> [f64; NUMBERS] {
        let State { unit, start, first, gamma, before, eta, c, c0, s, s0, largest, least, check_at, .. } = *self;
        let [open, zero, plain] = [self.is_open, self.was_zero, self.is_plain].map(|flag| f64::from(u8::from(flag)));
        [
            number_of(seen),
            unit,
            start,
            first,
            gamma,
            before,
            eta,
            c,
            c0,
            s,
            s0,
            largest,
            least,
            check_at,
            open,
            zero,
            plain,
        ]
    }

    /// With the reason to stop that was seen there.
    fn of(numbers: &[f64]) -> (State, Option<Stop>) {
        let [seen, unit, start, first, gamma, before, eta, c, c0, s, s0, largest, least, check_at, flags @ ..]: [f64;
            NUMBERS] = numbers_from(numbers, 0);
        let [is_open, was_zero, is_plain] = flags.map(|flag| flag == 1.0);
        let (is_refuted, goes_on) = (false, true);
        let state = State {
            unit,
            start,
            first,
            gamma,
            before,
            eta,
            c,
            c0,
            s,
            s0,
            largest,
            least,
            is_open,
            check_at,
            was_zero,
            is_plain,
            is_refuted,
            goes_on,
        };
        (state, seen_by(seen))
    }
}

impl<T: Scalar> Minres<T> {
    /// A solver for systems of `n` equations.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation), [`Error::NoFp64`](crate::Error::NoFp64).
    pub fn new(context: &Context, n: usize, params: MinresParams) -> Result<Minres<T>> {
        let vector = || Vector::uninit(context, n);
        let w = [vector()?, vector()?, vector()?];
        let (best, norms) = (Best::new(vector()?), DotParts::new(context)?);
        let (v, former, z, q, next) = (vector()?, vector()?, vector()?, vector()?, vector()?);
        Ok(Minres { params, v, former, z, q, w, next, best, norms })
    }

    /// Iterates from v = b - A x, or from where `state` is, until a stopping criterion is met.
    fn cycle<'m>(
        &mut self,
        run: &mut Run<'_, T>,
        a: &dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + 'm)>,
        x: &mut Vector<T>,
        state: &mut State,
    ) -> Result<Stop> {
        let Minres { v, former, z, q, w, next, best, norms, .. } = self;
        let real = |value: f64| T::from_f64(value);
        let eps = T::Real::epsilon().into_f64();
        // z = M^-1 v and gamma = sqrt(v^H z).
        let scaled = |m: &mut Option<&mut (dyn Preconditioner<T> + 'm)>,
                      v: &Vector<T>,
                      z: &mut Vector<T>|
         -> Result<std::result::Result<f64, Stop>> {
            if m.is_none() {
                ops::copy(v, z)?;
                let norm = ops::norm2(v)?.into_f64();
                return Ok(if norm.is_finite() { Ok(norm) } else { Err(Stop::NotFinite) });
            }
            precondition(m, v, z)?;
            let square = ops::dot(v, &*z)?.widen().re();
            Ok(match square {
                s if !s.is_finite() => Err(Stop::NotFinite),
                s if s < 0.0 => Err(Stop::Indefinite),
                s => Ok(s.sqrt()),
            })
        };
        let mut is_first = !state.goes_on;
        if is_first {
            let unit = run.rescale(v)?;
            former.fill(T::zero())?;
            w.iter_mut().try_for_each(|w| w.fill(T::zero()))?;
            let gamma = match scaled(&mut m, v, z)? {
                Ok(gamma) => gamma,
                Err(stop) => return Ok(stop),
            };
            if gamma == 0.0 {
                return Ok(Stop::Breakdown);
            }
            let start = run.norm();
            let State { largest, was_zero, is_plain, .. } = *state;
            let own = State { largest, was_zero, is_plain, ..State::default() };
            *state = State { unit, start, first: gamma, gamma, eta: gamma, ..own };
        }
        state.goes_on = false;
        let drift = if m.is_some() { DRIFT_OTHER } else { DRIFT };
        let State { unit, start, first, gamma, eta, before, largest, c, c0, s, s0, .. } = state;
        let State { least, is_open, check_at, was_zero, is_refuted, .. } = state;
        let (unit, start, first) = (*unit, *start, *first);
        loop {
            if !is_first && *gamma <= eps * *largest {
                // The Krylov space is exhausted.
                return Ok(Stop::Breakdown);
            }
            shrink(z, *gamma)?;
            a.apply_dot(z, q, norms)?;
            let delta = norms.value()?.re();
            // The next Lanczos vector overwrites the previous one.
            ops::update(real(-delta / *gamma), v, T::one(), q)?;
            ops::update(real(-*gamma / *before), former, T::one(), q)?;
            std::mem::swap(former, v);
            std::mem::swap(v, q);
            // The direction z, before z is overwritten.
            let alpha = *c * delta - *c0 * *s * *gamma;
            let (second, third) = (*s * delta + *c0 * *c * *gamma, *s0 * *gamma);
            let next_gamma = match scaled(&mut m, v, next)? {
                Ok(gamma) => gamma,
                Err(stop) => return Ok(stop),
            };
            // The first gamma is the norm of the residual.
            *largest = largest.max(delta.abs()).max(if is_first { 0.0 } else { *gamma }).max(next_gamma);
            is_first = false;
            let pivot = alpha.hypot(next_gamma);
            if !pivot.is_finite() {
                return Ok(Stop::NotFinite);
            }
            // |A r| / (|A| |r|) of x before the step.
            let gradient = alpha.hypot(*c * next_gamma) / *largest;
            let is_lower = gradient <= GRADIENT && gradient < GRADIENT_STEP * *least;
            let is_due = run.iterations() as f64 >= *check_at;
            if is_lower || is_due || *is_open && start * (eta.abs() / first) < 0.5 * best.norm() {
                let norm = run.residual(x, q, norms)?;
                *is_refuted = !norm.is_finite() || norm > drift * best.norm();
                if *is_refuted {
                    return Ok(Stop::Breakdown);
                }
                // Where x grows along null vectors, rounding errors may make the norm of b - A x a little smaller.
                if is_lower || norm < GAIN * best.norm() {
                    best.look(x, norm, run.iterations())?;
                }
                (*is_open, *least) = (is_lower || is_due && *is_open, least.min(gradient));
                *check_at = run.iterations() as f64 * (1.0 + CHECK.1) + CHECK.0 as f64;
                *was_zero |= gradient <= LEAST * eps.sqrt();
            }
            if gradient <= 10.0 * eps {
                return Ok(Stop::Breakdown);
            }
            if pivot <= eps * *largest {
                return Ok(Stop::Breakdown);
            }
            let [older, old, new] = w;
            ops::update(real(1.0 / pivot), z, T::zero(), new)?;
            ops::update(real(-third / pivot), older, T::one(), new)?;
            ops::update(real(-second / pivot), old, T::one(), new)?;
            (*c0, *s0) = (*c, *s);
            (*c, *s) = (alpha / pivot, next_gamma / pivot);
            ops::update(real(unit * *c * *eta), new, T::one(), x)?;
            w.rotate_left(1);
            *eta *= -*s;
            std::mem::swap(z, next);
            (*before, *gamma) = (*gamma, next_gamma);
            let norm = start * (eta.abs() / first);
            if let Some(stop) = run.record(norm, norm) {
                return Ok(stop);
            }
            if run.cancelled() {
                return Ok(Stop::Cancelled);
            }
        }
    }
}

impl<T: Scalar> Minres<T> {
    fn solve_kept(
        &mut self,
        memory: Option<&mut KrylovMemory<T>>,
        a: &dyn Operator<T>,
        m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        progress: Progress<'_>,
    ) -> Result<Report> {
        let n = self.v.len();
        let own = [&self.v, &self.former, &self.z, &self.q, &self.next, self.best.vector()];
        check_own(own.into_iter().chain(&self.w))?;
        check_system(self.v.context(), n, a, m.as_deref(), b, x)?;
        let a = &CheckedOperator::new(a, n);
        let mut m = m.map(|m| CheckedPreconditioner::new(m, n));
        let mut m = m.as_mut().map(|m| m as &mut dyn Preconditioner<T>);
        let mut kept = Kept::new(Kind::Minres, memory);
        let stopping = self.params.stopping.clone();
        let (mut run, mut end) = kept.start((a, b, x, &mut self.v), &mut self.norms, stopping, progress)?;
        run.be_patient(n);
        let mut state = State::default();
        let mut resumed = None;
        let own = [&mut self.v, &mut self.former, &mut self.z, self.best.vector_mut()].into_iter().chain(&mut self.w);
        match kept.resume(&mut run, x, own, None)? {
            None => self.best.start_true(x, run.norm())?,
            Some(numbers) => {
                let seen;
                (state, seen) = State::of(&numbers);
                self.best.restore(numbers_from(&numbers, NUMBERS));
                resumed = run.end_of(state.norm()).or(seen);
            }
        }
        loop {
            if let Some(stop) = end {
                return Ok(kept.end(run.report(stop)));
            }
            let m = m.as_deref_mut().filter(|_| !state.is_plain);
            let is_plain = m.is_none();
            let seen = match resumed.take() {
                Some(seen) => seen,
                None => self.cycle(&mut run, a, m, x, &mut state)?,
            };
            let own = [&self.v, &self.former, &self.z, self.best.vector()].into_iter().chain(&self.w);
            kept.keep(&run, x, own, state.numbers(seen).into_iter().chain(self.best.numbers()))?;
            state.goes_on = false;
            if std::mem::take(&mut state.is_refuted) {
                ops::copy(self.best.vector(), x)?;
                run.went_back_to(self.best.at());
            }
            end = run.confirm(seen, x, &mut self.v, &mut self.z, &mut self.q, &mut self.norms)?;
            if matches!(end, Some(Stop::Converged | Stop::Cancelled)) {
                continue;
            }
            let drift = if is_plain { DRIFT } else { DRIFT_OTHER };
            let bound = if state.was_zero { GAIN } else { drift } * self.best.norm();
            if end.is_none_or(Stop::is_failure_of_method) && run.norm() > bound {
                ops::copy(self.best.vector(), x)?;
                run.check(x, &mut self.v, &mut self.norms)?;
                run.went_back_to(self.best.at());
            }
            let vectors = [&mut self.v, &mut self.z, &mut self.q];
            end = run.settle(end, &mut self.best, x, vectors, &mut self.norms)?;
            run.refute_after_iterate();
            if end.is_some_and(|stop| !stop.is_failure_of_method()) {
                continue;
            }
            // A premature claim of convergence does not mean that there is no solution, even where the residual is smooth.
            let claimed = seen == Stop::Converged && end.is_none();
            if is_plain && !claimed {
                a.apply(T::one(), &self.v, T::zero(), &mut self.q)?;
                let gradient = ops::norm2(&self.q)?.into_f64() / (state.largest * run.norm());
                let bound = LEAST * T::Real::epsilon().into_f64().sqrt();
                // The recurrence gives it more accurately than x.
                if gradient <= bound || end.is_some() && state.was_zero && gradient <= RECOMPUTED * bound {
                    end = Some(Stop::LeastSquares);
                }
            } else if !is_plain && end.is_some() && state.was_zero && run.may_go_on() {
                (state.is_plain, state.largest) = (true, 0.0);
                run.watch_anew();
                end = None;
            }
        }
    }
}

impl<T: Scalar> Solver<T> for Minres<T> {
    own_parts!(v);

    without_memory!();
}

resumable!(Minres);
