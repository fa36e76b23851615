//! Minimal residuals for symmetric matrices.

use num_traits::Float;

use super::basis::shrink;
use super::best::Best;
use super::driver::Method;
use super::krylov_vector::{KrylovVector, like};
use super::memory::MethodState;
use super::minres_state::State;
use super::run::{Run, Workspace};
use super::scalars::scaled;
use super::{MinresParams, Preconditioner, Stop, Stopping};
use crate::ops::SpaceDots;
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
pub struct Minres<T: Scalar, V: KrylovVector<Scalar = T> = Vector<T>> {
    params: MinresParams,
    /// The Lanczos vectors of this iteration and the one before, unscaled.
    v: V,
    former: V,
    /// M^-1 v, and A times it.
    z: V,
    q: V,
    /// Directions.
    w: [V; 3],
    next: V,
    /// The best of the iterates whose true residual was computed.
    best: Best<V>,
    norms: V::Dots,
    state: State,
}

impl<T: Scalar> Minres<T> {
    /// A solver for systems of `n` equations.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation), [`Error::NoFp64`](crate::Error::NoFp64).
    pub fn new(context: &Context, n: usize, params: MinresParams) -> Result<Minres<T>> {
        Minres::with(Vector::uninit(context, n)?, params)
    }
}

impl<T: Scalar, V: KrylovVector<Scalar = T>> Minres<T, V> {
    /// A solver for systems whose vectors are like this one.
    ///
    /// # Errors
    /// As [`Minres::new`].
    pub fn like(vector: &V, params: MinresParams) -> Result<Minres<T, V>> {
        let [v] = like(vector)?;
        Minres::with(v, params)
    }

    fn with(v: V, params: MinresParams) -> Result<Minres<T, V>> {
        let (w, [former, z, q, next, best], norms) = (like(&v)?, like(&v)?, v.dots()?);
        Ok(Minres { params, v, former, z, q, w, next, best: Best::of_true(best), norms, state: State::default() })
    }
}

impl<T: Scalar, V: KrylovVector<Scalar = T>> Method for Minres<T, V> {
    type Scalar = T;
    type Vector = V;

    fn stopping(&self) -> &Stopping {
        &self.params.stopping
    }

    fn stopping_mut(&mut self) -> &mut Stopping {
        &mut self.params.stopping
    }

    fn vectors(&self) -> Vec<&V> {
        let own = [&self.v, &self.former, &self.z, &self.q, &self.next, self.best.vector()];
        own.into_iter().chain(&self.w).collect()
    }

    fn workspace(&mut self) -> Workspace<'_, V> {
        let Minres { v, z, q, best, norms, .. } = self;
        Workspace { r: v, p: z, q, best, norms }
    }

    fn min_window(&self) -> usize {
        self.v.size()
    }

    fn reset(&mut self, preconditioned: bool) {
        self.state = State::new(!preconditioned);
    }

    fn is_preconditioned(&self) -> bool {
        !self.state.is_plain
    }

    fn cycle(
        &mut self,
        run: &mut Run<'_, T, V>,
        mut m: Option<&mut (dyn Preconditioner<T, V> + '_)>,
        x: &mut V,
        continues: bool,
    ) -> Result<Option<Stop>> {
        let Minres { v, former, z, q, w, next, best, norms, state, .. } = self;
        let real = |value: f64| T::from_f64(value);
        let (a, eps) = (run.a, T::Real::epsilon().into_f64());
        let mut is_first = !continues;
        if is_first {
            let unit = run.rescale(v)?;
            former.set_all(T::zero())?;
            w.iter_mut().try_for_each(|w| w.set_all(T::zero()))?;
            let gamma = match scaled(&mut m, v, z)? {
                Ok(gamma) => gamma,
                Err(stop) => return Ok(Some(stop)),
            };
            if gamma == 0.0 {
                return Ok(Some(Stop::Breakdown));
            }
            *state = state.begin(unit, run.norm(), gamma);
        }
        loop {
            if !is_first && state.gamma <= eps * state.largest {
                // The Krylov space is exhausted.
                return Ok(Some(Stop::Breakdown));
            }
            shrink(z, state.gamma)?;
            a.apply_dot(z, q, norms)?;
            let delta = norms.first()?.re();
            // The next Lanczos vector overwrites the previous one.
            q.axpby(real(-delta / state.gamma), v, T::one())?;
            q.axpby(real(-state.gamma / state.before), former, T::one())?;
            std::mem::swap(former, v);
            std::mem::swap(v, q);
            // The direction is z, which is not overwritten before it is used.
            let next_gamma = match scaled(&mut m, v, next)? {
                Ok(gamma) => gamma,
                Err(stop) => return Ok(Some(stop)),
            };
            let column = state.rotated(delta, next_gamma, is_first);
            is_first = false;
            if !column.pivot.is_finite() {
                return Ok(Some(Stop::NotFinite));
            }
            // Of x before the step.
            if !state.checked(run, &column, x, (q, norms), best)?
                || column.gradient <= 10.0 * eps
                || column.pivot <= eps * state.largest
            {
                return Ok(Some(Stop::Breakdown));
            }
            let [older, old, new] = w;
            new.axpby(real(1.0 / column.pivot), z, T::zero())?;
            new.axpby(real(-column.third / column.pivot), older, T::one())?;
            new.axpby(real(-column.second / column.pivot), old, T::one())?;
            x.axpby(real(state.step(&column)), new, T::one())?;
            w.rotate_left(1);
            std::mem::swap(z, next);
            let norm = state.norm();
            if let Some(stop) = run.record(norm, norm) {
                return Ok(Some(stop));
            }
            if run.cancelled() {
                return Ok(Some(Stop::Cancelled));
            }
        }
    }

    fn end_cycle(&mut self, run: &mut Run<'_, T, V>, seen: Option<Stop>, x: &mut V) -> Result<Option<Stop>> {
        let Minres { v, z, q, best, norms, state, .. } = self;
        let mut work = Workspace { r: v, p: z, q, best, norms };
        if std::mem::take(&mut state.is_refuted) {
            x.set_copy(work.best.vector())?;
            run.set_returned_iterate(work.best.at());
        }
        let end = run.confirm(seen, x, &mut work)?;
        if matches!(end, Some(Stop::Converged | Stop::Cancelled)) {
            return Ok(end);
        }
        if end.is_none_or(Stop::is_failure_of_method) && run.norm() > state.bound(work.best.norm()) {
            x.set_copy(work.best.vector())?;
            run.check(x, work.r, work.norms)?;
            run.set_returned_iterate(work.best.at());
        }
        let end = run.settle(end, x, &mut work)?;
        run.refute_after_iterate();
        if end.is_some_and(|stop| !stop.is_failure_of_method()) {
            return Ok(end);
        }
        // A premature claim of convergence does not mean that there is no solution, even where the residual is smooth.
        let claimed = seen == Some(Stop::Converged) && end.is_none();
        if state.is_plain && !claimed {
            run.a.apply(T::one(), work.r, T::zero(), work.q)?;
            let gradient = work.q.norm()? / (state.largest * run.norm());
            if state.is_least_squares::<T>(gradient, end) {
                return Ok(Some(Stop::LeastSquares));
            }
        } else if !state.is_plain && end.is_some() && state.was_zero && run.may_go_on() {
            (state.is_plain, state.largest) = (true, 0.0);
            run.reset();
            return Ok(None);
        }
        Ok(end)
    }

    fn state(&self) -> Result<MethodState> {
        Ok(MethodState::Minres(self.state))
    }

    fn restore(&mut self, state: MethodState) -> Result<bool> {
        let MethodState::Minres(state) = state else { return Ok(false) };
        self.state = state;
        Ok(true)
    }

    fn kept_vectors(&mut self) -> Vec<&mut V> {
        let Minres { v, former, z, w, .. } = self;
        [v, former, z].into_iter().chain(w).collect()
    }

    fn recurrence_norm(&self) -> f64 {
        self.state.norm()
    }
}
