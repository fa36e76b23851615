//! Induced dimension reduction.

use num_traits::{Float, Zero};

use super::best::Best;
use super::driver::Method;
use super::idr_state::{State, negative, random_basis};
use super::krylov_vector::{BasisProducts, KrylovVector, all_like, like};
use super::memory::MethodState;
use super::run::{Run, Workspace};
use super::scalars::{after_step, precondition};
use super::{IdrParams, Preconditioner, Stop, Stopping};
use crate::ops::SpaceDots;
use crate::{Context, Error, Real, Result, Scalar, Vector};

/// IDR(s) for any square nonsingular A, with an optional preconditioner applied from the right (Sonneveld and van Gijzen 2008; van
/// Gijzen and Sonneveld 2011, the variant with biorthogonal directions).
///
/// Owns `3 s + 5` vectors of `n` values, and one more where the initial guess is not zero. An iteration takes a product and reads numbers back three times; `s + 1` iterations
/// make the residual smaller by at least one more polynomial degree. With s = 1 the method is close to BiCGStab; with s = 4, the
/// default, it needs about as many products as GMRES without restarts where that needs few. Shadow vectors are random, and the
/// same in every solve.
///
/// The best iterate is returned if the solve does not converge ([`Report::iterate`](super::Report::iterate)).
#[derive(Debug)]
pub struct Idr<T: Scalar, V: KrylovVector<Scalar = T> = Vector<T>> {
    params: IdrParams,
    shadow: Vec<V>,
    g: Vec<V>,
    u: Vec<V>,
    r: V,
    v: V,
    z: V,
    t: V,
    best: Best<V>,
    norms: V::Dots,
    basis: V::Basis,
    state: State<T::Wide>,
}

/// The step length is enlarged if the cosine is smaller (Sleijpen and van der Vorst 1995).
const COSINE: f64 = 0.7;

impl<T: Scalar> Idr<T> {
    /// A solver for systems of `n` equations.
    ///
    /// # Errors
    /// [`Error::Value`] for `dimensions` 0; [`Error::Allocation`]; [`Error::NoFp64`].
    pub fn new(context: &Context, n: usize, params: IdrParams) -> Result<Idr<T>> {
        Idr::with(Vector::uninit(context, n)?, params)
    }
}

impl<T: Scalar, V: KrylovVector<Scalar = T>> Idr<T, V> {
    /// A solver for systems whose vectors are like this one.
    ///
    /// # Errors
    /// As [`Idr::new`].
    pub fn like(vector: &V, params: IdrParams) -> Result<Idr<T, V>> {
        let [r] = like(vector)?;
        Idr::with(r, params)
    }

    fn with(r: V, params: IdrParams) -> Result<Idr<T, V>> {
        if params.dimensions == 0 {
            return Err(Error::value("dimensions", "at least 1", 0));
        }
        let s = params.dimensions.min(r.size().max(1));
        let (mut basis, norms, state) = (r.basis(s, 1)?, r.dots()?, State::new(s));
        let shadow = random_basis(&r, s, &mut basis)?;
        let (g, u, [v, z, t, best]) = (all_like(&r, s)?, all_like(&r, s)?, like(&r)?);
        Ok(Idr { params, shadow, g, u, r, v, z, t, best: Best::new(best), norms, basis, state })
    }
}

impl<T: Scalar, V: KrylovVector<Scalar = T>> Method for Idr<T, V> {
    type Scalar = T;
    type Vector = V;

    fn stopping(&self) -> &Stopping {
        &self.params.stopping
    }

    fn stopping_mut(&mut self) -> &mut Stopping {
        &mut self.params.stopping
    }

    fn vectors(&self) -> Vec<&V> {
        let own = [&self.r, &self.v, &self.z, &self.t, self.best.vector()];
        own.into_iter().chain(&self.g).chain(&self.u).collect()
    }

    fn workspace(&mut self) -> Workspace<'_, V> {
        let Idr { r, v, t, best, norms, .. } = self;
        Workspace { r, p: v, q: t, best, norms }
    }

    fn reset(&mut self, _: bool) {
        self.state = State::new(self.shadow.len());
    }

    fn cycle(
        &mut self,
        run: &mut Run<'_, T, V>,
        mut m: Option<&mut (dyn Preconditioner<T, V> + '_)>,
        x: &mut V,
        continues: bool,
    ) -> Result<Option<Stop>> {
        let Idr { shadow, g, u, r, v, z, t, best, norms, basis, state, .. } = self;
        let (a, s) = (run.a, shadow.len());
        if !continues {
            *state = State { unit: run.rescale(r)?, ..State::new(s) };
            for vector in g.iter_mut().chain(u.iter_mut()) {
                vector.set_all(T::zero())?;
            }
        }
        let unit = state.unit;
        let step = |factor: T::Wide| T::narrow(factor * T::Wide::from_f64(unit));
        let (mut c, mut d) = (vec![T::Wide::zero(); s], vec![T::Wide::zero(); s]);
        loop {
            if state.done == 0 {
                basis.dots(shadow, r, &mut state.f)?;
            }
            let State { matrix, f, omega, norm: last, done, .. } = state;
            for k in *done..s {
                for i in k..s {
                    let known: T::Wide = (k..i).map(|j| matrix[i][j] * c[j]).sum();
                    c[i] = (f[i] - known) / matrix[i][i];
                }
                // v = r - G c, and the direction u = omega M^-1 v + U c, orthogonal to the shadow so far.
                v.set_copy(r)?;
                basis.combine(&g[k..], &negative(&c[k..]), v)?;
                let along = precondition(&mut m, v, z)?;
                t.axpby(T::narrow(*omega), along, T::zero())?;
                basis.combine(&u[k..], &c[k..], t)?;
                std::mem::swap(t, &mut u[k]);
                a.apply(T::one(), &u[k], T::zero(), &mut g[k])?;
                basis.dots(shadow, &g[k], &mut d)?;
                for i in 0..k {
                    let known: T::Wide = (0..i).map(|j| matrix[i][j] * c[j]).sum();
                    c[i] = (d[i] - known) / matrix[i][i];
                }
                for vectors in [&mut *g, &mut *u] {
                    let (former, own) = vectors.split_at_mut(k);
                    if k > 0 {
                        basis.combine(former, &negative(&c[..k]), &mut own[0])?;
                    }
                }
                for i in k..s {
                    let known: T::Wide = (0..k).map(|j| matrix[i][j] * c[j]).sum();
                    matrix[i][k] = d[i] - known;
                }
                if !matrix[k][k].has_finite_parts() {
                    return Ok(Some(Stop::NotFinite));
                }
                if matrix[k][k].modulus() <= T::Real::epsilon().into_f64() * d[k].modulus() || d[k].is_zero() {
                    return Ok(Some(Stop::Breakdown));
                }
                let beta = f[k] / matrix[k][k];
                r.axpby(T::narrow(-beta), &g[k], T::one())?;
                let norm = unit * r.norm()?;
                best.before(x, run.iterations(), norm)?;
                x.axpby(step(beta), &u[k], T::one())?;
                (k + 1..s).for_each(|i| f[i] -= beta * matrix[i][k]);
                *done = k + 1;
                *last = norm;
                if let Some(stop) = run.record(norm, norm) {
                    return Ok(Some(stop));
                }
                if run.cancelled() {
                    return Ok(Some(Stop::Cancelled));
                }
            }
            // The step along M^-1 r that makes r smallest.
            let along = precondition(&mut m, r, z)?;
            a.apply_dots(T::one(), along, None, r, t, norms)?;
            let (mixed, square) = norms.both()?;
            let length = r.norm()?;
            let cosine = mixed.modulus() / (square.sqrt() * length);
            if !cosine.is_finite() && square != 0.0 && length != 0.0 {
                return Ok(Some(Stop::NotFinite));
            }
            // NaN where A M^-1 r is zero.
            if cosine.is_nan() || cosine <= T::Real::epsilon().into_f64() {
                return Ok(Some(Stop::Breakdown));
            }
            *omega = mixed / T::Wide::from_f64(square) * T::Wide::from_f64((COSINE / cosine).max(1.0));
            // Without a preconditioner the step is along r, so that x has to change first.
            best.before(x, run.iterations(), unit * after_step(length, mixed, square, *omega))?;
            x.axpby(step(*omega), along, T::one())?;
            r.axpby(T::narrow(-*omega), t, T::one())?;
            *done = 0;
            let norm = unit * r.norm()?;
            *last = norm;
            best.correct(norm);
            if let Some(stop) = run.record(norm, norm) {
                return Ok(Some(stop));
            }
            if run.cancelled() {
                return Ok(Some(Stop::Cancelled));
            }
        }
    }

    fn state(&self) -> Result<MethodState> {
        Ok(MethodState::Idr(self.state.saved()))
    }

    fn restore(&mut self, state: MethodState) -> Result<bool> {
        let MethodState::Idr(saved) = state else { return Ok(false) };
        let state = State::restored(saved, self.shadow.len());
        let fits = state.is_some();
        self.state = state.unwrap_or(State::new(self.shadow.len()));
        Ok(fits)
    }

    fn kept_vectors(&mut self) -> Vec<&mut V> {
        let Idr { r, g, u, .. } = self;
        std::iter::once(r).chain(g).chain(u).collect()
    }

    fn recurrence_norm(&self) -> f64 {
        self.state.norm
    }
}
