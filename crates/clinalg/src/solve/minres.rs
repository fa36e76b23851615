//! Minimal residuals for symmetric matrices.

use num_traits::Float;

use super::basis::shrink;
use super::checked::{CheckedOperator, CheckedPreconditioner, check_own};
use super::run::{Run, check_system};
use super::scalars::precondition;
use super::solver::own_parts;
use super::{MinresParams, Operator, Preconditioner, Progress, Report, Solver, Stop};
use crate::ops::{self, DotParts};
use crate::{Context, Real, Result, Scalar, Vector};

/// MINRES for symmetric (complex: Hermitian) A, definite or not, with an optional positive definite preconditioner (Paige and Saunders
/// 1975; Elman, Silvester and Wathen, *Finite Elements and Fast Iterative Solvers*, 2014, algorithm 4.1).
///
/// Owns eight vectors of `n` values. An iteration takes a product and reads numbers back twice. The residual never rises: without a
/// preconditioner |b - A x|, with one sqrt(r^H M^-1 r). In the latter case the history is this norm, scaled at each restart to agree
/// with |b - A x|; the tolerance holds for the true residual in any case. Consistent singular systems are solved as well.
///
/// The residual may stand still for long, so the stagnation window is at least `n`.
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
    norms: DotParts<T>,
}

impl<T: Scalar> Minres<T> {
    /// A solver for systems of `n` equations.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation), [`Error::NoFp64`](crate::Error::NoFp64).
    pub fn new(context: &Context, n: usize, params: MinresParams) -> Result<Minres<T>> {
        let vector = || Vector::uninit(context, n);
        let w = [vector()?, vector()?, vector()?];
        let norms = DotParts::new(context)?;
        Ok(Minres { params, v: vector()?, former: vector()?, z: vector()?, q: vector()?, w, next: vector()?, norms })
    }

    /// Iterates from v = b - A x until a stopping criterion is met.
    fn cycle<'m>(
        &mut self,
        run: &mut Run<'_, T>,
        a: &dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + 'm)>,
        x: &mut Vector<T>,
    ) -> Result<Stop> {
        let Minres { v, former, z, q, w, next, norms, .. } = self;
        let real = |value: f64| T::from_f64(value);
        let eps = T::Real::epsilon().into_f64();
        let unit = run.rescale(v)?;
        let start = run.norm();
        former.fill(T::zero())?;
        w.iter_mut().try_for_each(|w| w.fill(T::zero()))?;
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
        let mut gamma = match scaled(&mut m, v, z)? {
            Ok(gamma) => gamma,
            Err(stop) => return Ok(stop),
        };
        if gamma == 0.0 {
            return Ok(Stop::Breakdown);
        }
        let first = gamma;
        let (mut eta, mut before) = (gamma, 1.0);
        // Cosines and sines of the last two rotations.
        let ([mut c, mut c0], [mut s, mut s0]) = ([1.0, 1.0], [0.0, 0.0]);
        // The largest entry of the tridiagonal matrix so far.
        let mut largest = 0.0_f64;
        loop {
            shrink(z, gamma)?;
            a.apply_dot(z, q, norms)?;
            let delta = norms.value()?.re();
            // The next Lanczos vector takes the place of the former one.
            ops::update(real(-delta / gamma), v, T::one(), q)?;
            ops::update(real(-gamma / before), former, T::one(), q)?;
            std::mem::swap(former, v);
            std::mem::swap(v, q);
            // The direction z, before z is overwritten.
            let alpha = c * delta - c0 * s * gamma;
            let (second, third) = (s * delta + c0 * c * gamma, s0 * gamma);
            let next_gamma = match scaled(&mut m, v, next)? {
                Ok(gamma) => gamma,
                Err(stop) => return Ok(stop),
            };
            largest = largest.max(delta.abs()).max(gamma).max(next_gamma);
            let pivot = alpha.hypot(next_gamma);
            if !pivot.is_finite() {
                return Ok(Stop::NotFinite);
            }
            if pivot <= eps * largest {
                return Ok(Stop::Breakdown);
            }
            let [older, old, new] = w;
            ops::update(real(1.0 / pivot), z, T::zero(), new)?;
            ops::update(real(-third / pivot), older, T::one(), new)?;
            ops::update(real(-second / pivot), old, T::one(), new)?;
            (c0, s0) = (c, s);
            (c, s) = (alpha / pivot, next_gamma / pivot);
            ops::update(real(unit * c * eta), new, T::one(), x)?;
            w.rotate_left(1);
            eta *= -s;
            std::mem::swap(z, next);
            (before, gamma) = (gamma, next_gamma);
            let norm = start * (eta.abs() / first);
            if let Some(stop) = run.record(norm, norm) {
                return Ok(stop);
            }
            if run.cancelled() {
                return Ok(Stop::Cancelled);
            }
            if gamma <= eps * largest {
                // The Krylov space is exhausted.
                return Ok(Stop::Breakdown);
            }
        }
    }
}

impl<T: Scalar> Solver<T> for Minres<T> {
    own_parts!(v);

    fn solve_with(
        &mut self,
        a: &dyn Operator<T>,
        m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        progress: Progress<'_>,
    ) -> Result<Report> {
        let n = self.v.len();
        check_own([&self.v, &self.former, &self.z, &self.q, &self.next].into_iter().chain(&self.w))?;
        check_system(self.v.context(), n, a, m.as_deref(), b, x)?;
        let a = &CheckedOperator::new(a, n);
        let mut m = m.map(|m| CheckedPreconditioner::new(m, n));
        let mut m = m.as_mut().map(|m| m as &mut dyn Preconditioner<T>);
        let (mut run, mut end) =
            Run::start(a, b, x, &mut self.v, &mut self.norms, self.params.stopping.clone(), progress)?;
        run.be_patient(n);
        loop {
            if let Some(stop) = end {
                return Ok(run.report(stop));
            }
            let seen = self.cycle(&mut run, a, m.as_deref_mut(), x)?;
            end = run.confirm(seen, x, &mut self.v, &mut self.z, &mut self.q, &mut self.norms)?;
        }
    }
}
