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
/// with |b - A x|; the tolerance holds for the true residual in any case. If the solve does not converge, the best of the initial guess and the iterates at
/// restarts is returned, since on a singular system without a solution the recurrence does not show the true residual. Consistent singular systems are
/// solved as well.
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
    /// The largest entry of the tridiagonal matrix so far.
    largest: f64,
    /// Whether the next cycle continues from here.
    goes_on: bool,
}

impl Default for State {
    fn default() -> State {
        let (unit, start, first, gamma, before, eta) = (1.0, 0.0, 1.0, 0.0, 1.0, 0.0);
        let (c, c0, s, s0, largest) = (1.0, 1.0, 0.0, 0.0, 0.0);
        State { unit, start, first, gamma, before, eta, c, c0, s, s0, largest, goes_on: false }
    }
}

impl State {
    /// The residual of the recurrence.
    fn norm(&self) -> f64 {
        self.start * (self.eta.abs() / self.first)
    }

    fn numbers(&self, seen: Stop) -> [f64; 12] {
        let State { unit, start, first, gamma, before, eta, c, c0, s, s0, largest, .. } = *self;
        [number_of(seen), unit, start, first, gamma, before, eta, c, c0, s, s0, largest]
    }

    /// With the reason to stop that was seen there.
    fn of(numbers: &[f64]) -> (State, Option<Stop>) {
        let [seen, unit, start, first, gamma, before, eta, c, c0, s, s0, largest] = numbers_from(numbers, 0);
        let state = State { unit, start, first, gamma, before, eta, c, c0, s, s0, largest, goes_on: true };
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
        let Minres { v, former, z, q, w, next, norms, .. } = self;
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
        if !state.goes_on {
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
            *state = State { unit, start, first: gamma, gamma, eta: gamma, before: 1.0, ..State::default() };
        }
        state.goes_on = false;
        let State { unit, start, first, gamma, eta, before, largest, c, c0, s, s0, .. } = state;
        let (unit, start, first) = (*unit, *start, *first);
        loop {
            if *gamma <= eps * *largest {
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
            *largest = largest.max(delta.abs()).max(*gamma).max(next_gamma);
            let pivot = alpha.hypot(next_gamma);
            if !pivot.is_finite() {
                return Ok(Stop::NotFinite);
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
        match kept.resume(&mut run, x, own)? {
            None => self.best.start(x, run.norm())?,
            Some(numbers) => {
                let seen;
                (state, seen) = State::of(&numbers);
                self.best.restore(numbers_from(&numbers, 12));
                resumed = run.end_of(state.norm()).or(seen);
            }
        }
        loop {
            if let Some(stop) = end {
                return Ok(kept.end(run.report(stop)));
            }
            let seen = match resumed.take() {
                Some(seen) => seen,
                None => self.cycle(&mut run, a, m.as_deref_mut(), x, &mut state)?,
            };
            let own = [&self.v, &self.former, &self.z, self.best.vector()].into_iter().chain(&self.w);
            kept.keep(&run, x, own, state.numbers(seen).into_iter().chain(self.best.numbers()))?;
            state.goes_on = false;
            end = run.confirm(seen, x, &mut self.v, &mut self.z, &mut self.q, &mut self.norms)?;
            run.keep_best(end, &mut self.best, x, &mut self.v, &mut self.norms)?;
        }
    }
}

impl<T: Scalar> Solver<T> for Minres<T> {
    own_parts!(v);

    without_memory!();
}

resumable!(Minres);
