//! Flexible conjugate gradients.

use num_traits::Float;
use serde::{Deserialize, Serialize};

use super::best::Best;
use super::driver::Method;
use super::krylov_vector::{KrylovVector, like};
use super::memory::MethodState;
use super::run::{Run, Workspace};
use super::scalars::precondition;
use super::{FlexibleCgParams, Preconditioner, Stop, Stopping};
use crate::ops::SpaceDots;
use crate::{Context, Real, Result, Scalar, Vector};

/// Conjugate gradients for symmetric (complex: Hermitian) positive definite A whose preconditioner may differ from one application to
/// the next or be slightly nonsymmetric: a K-cycle, a solve in single precision (Notay 2000, FCG(1)).
///
/// Each direction is made A-orthogonal to the previous one by a computed dot product instead of by the usual recurrence. Owns five vectors of `n` values, and one
/// more where the initial guess is not zero; an iteration reads numbers back three times. The best iterate is returned if the solve does not converge. [`Cg`](crate::solve::Cg) is faster where the
/// preconditioner is a fixed symmetric one.
#[derive(Debug)]
pub struct FlexibleCg<T: Scalar, V: KrylovVector<Scalar = T> = Vector<T>> {
    params: FlexibleCgParams,
    r: V,
    z: V,
    p: V,
    q: V,
    best: Best<V>,
    norms: V::Dots,
    state: State,
}

/// After the last iteration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The scale of the residual.
    unit: f64,
    /// The largest Rayleigh quotient so far.
    largest: f64,
    /// p'Ap, and the residual of the recurrence.
    curvature: f64,
    norm: f64,
}

impl<T: Scalar> FlexibleCg<T> {
    /// A solver for systems of `n` equations.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation), [`Error::NoFp64`](crate::Error::NoFp64).
    pub fn new(context: &Context, n: usize, params: FlexibleCgParams) -> Result<FlexibleCg<T>> {
        FlexibleCg::with(Vector::uninit(context, n)?, params)
    }
}

impl<T: Scalar, V: KrylovVector<Scalar = T>> FlexibleCg<T, V> {
    /// A solver for systems whose vectors are like this one.
    ///
    /// # Errors
    /// As [`FlexibleCg::new`].
    pub fn like(vector: &V, params: FlexibleCgParams) -> Result<FlexibleCg<T, V>> {
        let [r] = like(vector)?;
        FlexibleCg::with(r, params)
    }

    fn with(r: V, params: FlexibleCgParams) -> Result<FlexibleCg<T, V>> {
        let [z, p, q, best] = like(&r)?;
        let norms = r.dots()?;
        Ok(FlexibleCg { params, r, z, p, q, best: Best::new(best), norms, state: State::default() })
    }
}

impl<T: Scalar, V: KrylovVector<Scalar = T>> Method for FlexibleCg<T, V> {
    type Scalar = T;
    type Vector = V;

    const RETURNS_LAST: bool = true;

    fn stopping(&self) -> &Stopping {
        &self.params.stopping
    }

    fn stopping_mut(&mut self) -> &mut Stopping {
        &mut self.params.stopping
    }

    fn vectors(&self) -> Vec<&V> {
        vec![&self.r, &self.z, &self.p, &self.q, self.best.vector()]
    }

    fn workspace(&mut self) -> Workspace<'_, V> {
        let FlexibleCg { r, p, q, best, norms, .. } = self;
        Workspace { r, p, q, best, norms }
    }

    fn min_window(&self) -> usize {
        self.r.size()
    }

    fn reset(&mut self, _: bool) {
        self.state = State::default();
    }

    fn cycle(
        &mut self,
        run: &mut Run<'_, T, V>,
        mut m: Option<&mut (dyn Preconditioner<T, V> + '_)>,
        x: &mut V,
        mut continues: bool,
    ) -> Result<Option<Stop>> {
        let FlexibleCg { r, z, p, q, best, norms, state, .. } = self;
        let (a, eps, wide) = (run.a, T::Real::epsilon().into_f64(), T::Wide::from_f64);
        if !continues {
            state.unit = run.rescale(r)?;
            p.set_copy(precondition(&mut m, r, z)?)?;
        }
        let unit = state.unit;
        loop {
            if continues {
                let z = precondition(&mut m, r, z)?;
                norms.set_dot(q, z)?;
                let overlap = norms.first()? / wide(state.curvature);
                p.axpby(T::one(), z, T::narrow(-overlap))?;
            }
            continues = true;
            a.apply_dot(p, q, norms)?;
            let curvature = norms.first()?.re();
            norms.set_dots(p, r)?;
            let (along, square) = norms.both()?;
            if !(curvature.is_finite() && along.has_finite_parts()) {
                return Ok(Some(Stop::NotFinite));
            }
            let quotient = curvature / square;
            let singular = eps * state.largest;
            if quotient.is_nan() || quotient <= singular {
                return Ok(Some(if quotient < -singular { Stop::Indefinite } else { Stop::Breakdown }));
            }
            state.largest = state.largest.max(quotient);
            let step = along / wide(curvature);
            if step.modulus() == 0.0 {
                return Ok(Some(Stop::Breakdown));
            }
            r.axpby(T::narrow(-step), q, T::one())?;
            let norm = unit * r.norm()?;
            best.before(x, run.iterations(), norm)?;
            x.axpby(T::narrow(step * wide(unit)), p, T::one())?;
            (state.curvature, state.norm) = (curvature, norm);
            if let Some(stop) = run.record(norm, norm) {
                return Ok(Some(stop));
            }
            if run.cancelled() {
                return Ok(Some(Stop::Cancelled));
            }
        }
    }

    fn state(&self) -> Result<MethodState> {
        Ok(MethodState::FlexibleCg(self.state))
    }

    fn restore(&mut self, state: MethodState) -> Result<bool> {
        let MethodState::FlexibleCg(state) = state else { return Ok(false) };
        self.state = state;
        Ok(true)
    }

    fn kept_vectors(&mut self) -> Vec<&mut V> {
        vec![&mut self.r, &mut self.p, &mut self.q]
    }

    fn recurrence_norm(&self) -> f64 {
        self.state.norm
    }
}
