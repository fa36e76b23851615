//! Induced dimension reduction.

use num_traits::{Float, One, Zero};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::basis::{Projection, shrink};
use super::best::Best;
use super::checked::{CheckedOperator, CheckedPreconditioner, check_own};
use super::run::{Run, check_system};
use super::scalars::precondition;
use super::solver::own_parts;
use super::{IdrParams, Operator, Preconditioner, Progress, Report, Solver, Stop};
use crate::ops::{self, DotParts};
use crate::{Context, Error, Real, Result, Scalar, Vector};

/// IDR(s) for any square nonsingular A, with an optional preconditioner applied from the right (Sonneveld and van Gijzen 2008; van
/// Gijzen and Sonneveld 2011, the variant with biorthogonal directions).
///
/// Owns `3 s + 5` vectors of `n` values. An iteration takes a product and reads numbers back three times; `s + 1` iterations
/// make the residual smaller by at least one more polynomial degree. With s = 1 the method is close to BiCGStab; with s = 4, the
/// default, it needs about as many products as GMRES without restarts where that needs few. Shadow vectors are random, and the
/// same in every solve.
///
/// The best iterate among those worth a copy is returned if the solve does not converge.
#[derive(Debug)]
pub struct Idr<T: Scalar> {
    params: IdrParams,
    shadow: Vec<Vector<T>>,
    g: Vec<Vector<T>>,
    u: Vec<Vector<T>>,
    r: Vector<T>,
    v: Vector<T>,
    z: Vector<T>,
    t: Vector<T>,
    best: Best<Vector<T>>,
    norms: DotParts<T>,
    projection: Projection<T>,
}

/// A step length of smaller cosine is enlarged (Sleijpen and van der Vorst 1995).
const COSINE: f64 = 0.7;

impl<T: Scalar> Idr<T> {
    /// A solver for systems of `n` equations.
    ///
    /// # Errors
    /// [`Error::Value`] for `dimensions` 0; [`Error::Allocation`]; [`Error::NoFp64`].
    pub fn new(context: &Context, n: usize, params: IdrParams) -> Result<Idr<T>> {
        if params.dimensions == 0 {
            return Err(Error::value("dimensions", "at least 1", 0));
        }
        let s = params.dimensions.min(n.max(1));
        let vectors = || (0..s).map(|_| Vector::uninit(context, n)).collect::<Result<Vec<_>>>();
        let mut projection = Projection::new(context, n, s)?;
        let mut random = StdRng::seed_from_u64(0);
        let mut shadow: Vec<Vector<T>> = Vec::with_capacity(s);
        let mut column = vec![T::Wide::zero(); s];
        for _ in 0..s {
            let part = |random: &mut StdRng| T::Real::from_f64(random.random_range(-1.0..1.0));
            let values: Vec<T> = (0..n).map(|_| T::from_parts(part(&mut random), part(&mut random))).collect();
            let mut p = Vector::from_slice(context, &values)?;
            let (_, length) = projection.apply(&shadow, &mut p, &mut column)?;
            if length > 0.0 {
                shrink(&mut p, length)?;
            }
            shadow.push(p);
        }
        let (best, norms) = (Best::new(Vector::uninit(context, n)?), DotParts::new(context)?);
        let [r, v, z, t] = [
            Vector::uninit(context, n)?,
            Vector::uninit(context, n)?,
            Vector::uninit(context, n)?,
            Vector::uninit(context, n)?,
        ];
        Ok(Idr { params, shadow, g: vectors()?, u: vectors()?, r, v, z, t, best, norms, projection })
    }

    /// Iterates from r = b - A x until a stopping criterion is met.
    fn cycle<'m>(
        &mut self,
        run: &mut Run<'_, T>,
        a: &dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + 'm)>,
        x: &mut Vector<T>,
    ) -> Result<Stop> {
        let Idr { shadow, g, u, r, v, z, t, best, norms, projection, .. } = self;
        let s = shadow.len();
        let unit = run.rescale(r)?;
        let step = |factor: T::Wide| T::narrow(factor * T::Wide::from_f64(unit));
        for vector in g.iter_mut().chain(u.iter_mut()) {
            vector.fill(T::zero())?;
        }
        // The dot products of the shadow vectors (rows) with the columns of G: lower triangular.
        let mut matrix: Vec<Vec<T::Wide>> =
            (0..s).map(|i| (0..s).map(|j| if i == j { T::Wide::one() } else { T::Wide::zero() }).collect()).collect();
        let mut omega = T::Wide::one();
        let (mut f, mut c, mut d) = (vec![T::Wide::zero(); s], vec![T::Wide::zero(); s], vec![T::Wide::zero(); s]);
        loop {
            projection.dot(shadow, r, &mut f)?;
            for k in 0..s {
                for i in k..s {
                    let known: T::Wide = (k..i).map(|j| matrix[i][j] * c[j]).sum();
                    c[i] = (f[i] - known) / matrix[i][i];
                }
                // v = r - G c, and the direction u = omega M^-1 v + U c, orthogonal to the shadow so far.
                ops::copy(r, v)?;
                projection.combine(&g[k..], c[k..].iter().map(|&c| -c), v)?;
                let along = precondition(&mut m, v, z)?;
                ops::update(T::narrow(omega), along, T::zero(), t)?;
                projection.combine(&u[k..], c[k..].iter().copied(), t)?;
                std::mem::swap(t, &mut u[k]);
                a.apply(T::one(), &u[k], T::zero(), &mut g[k])?;
                projection.dot(shadow, &g[k], &mut d)?;
                for i in 0..k {
                    let known: T::Wide = (0..i).map(|j| matrix[i][j] * c[j]).sum();
                    c[i] = (d[i] - known) / matrix[i][i];
                }
                for vectors in [&mut *g, &mut *u] {
                    let (former, own) = vectors.split_at_mut(k);
                    if k > 0 {
                        projection.combine(former, c[..k].iter().map(|&c| -c), &mut own[0])?;
                    }
                }
                for i in k..s {
                    let known: T::Wide = (0..k).map(|j| matrix[i][j] * c[j]).sum();
                    matrix[i][k] = d[i] - known;
                }
                if !matrix[k][k].has_finite_parts() {
                    return Ok(Stop::NotFinite);
                }
                if matrix[k][k].modulus() <= T::Real::epsilon().into_f64() * d[k].modulus() || d[k].is_zero() {
                    return Ok(Stop::Breakdown);
                }
                let beta = f[k] / matrix[k][k];
                ops::update(T::narrow(-beta), &g[k], T::one(), r)?;
                ops::update(step(beta), &u[k], T::one(), x)?;
                let norm = unit * ops::norm2(r)?.into_f64();
                best.enter(norm);
                if let Some(stop) = run.record(norm, norm) {
                    return Ok(stop);
                }
                best.look(x, norm)?;
                if run.cancelled() {
                    return Ok(Stop::Cancelled);
                }
                (k + 1..s).for_each(|i| f[i] -= beta * matrix[i][k]);
            }
            // The step along M^-1 r that makes r smallest.
            let along = precondition(&mut m, r, z)?;
            a.apply_dots(T::one(), along, None, r, t, norms)?;
            let (mixed, square) = norms.values()?;
            let length = ops::norm2(r)?.into_f64();
            let cosine = mixed.modulus() / (square.sqrt() * length);
            if !cosine.is_finite() && square != 0.0 && length != 0.0 {
                return Ok(Stop::NotFinite);
            }
            // NaN where A M^-1 r is zero.
            if cosine.is_nan() || cosine <= T::Real::epsilon().into_f64() {
                return Ok(Stop::Breakdown);
            }
            omega = mixed / T::Wide::from_f64(square) * T::Wide::from_f64((COSINE / cosine).max(1.0));
            ops::update(step(omega), along, T::one(), x)?;
            ops::update(T::narrow(-omega), t, T::one(), r)?;
            let norm = unit * ops::norm2(r)?.into_f64();
            best.enter(norm);
            if let Some(stop) = run.record(norm, norm) {
                return Ok(stop);
            }
            best.look(x, norm)?;
            if run.cancelled() {
                return Ok(Stop::Cancelled);
            }
        }
    }
}

impl<T: Scalar> Solver<T> for Idr<T> {
    own_parts!(r);

    fn solve_with(
        &mut self,
        a: &dyn Operator<T>,
        m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        progress: Progress<'_>,
    ) -> Result<Report> {
        let n = self.r.len();
        let own = [&self.r, &self.v, &self.z, &self.t, self.best.vector()];
        check_own(own.into_iter().chain(&self.g).chain(&self.u))?;
        check_system(self.r.context(), n, a, m.as_deref(), b, x)?;
        let a = &CheckedOperator::new(a, n);
        let mut m = m.map(|m| CheckedPreconditioner::new(m, n));
        let mut m = m.as_mut().map(|m| m as &mut dyn Preconditioner<T>);
        let (mut run, mut end) =
            Run::start(a, b, x, &mut self.r, &mut self.norms, self.params.stopping.clone(), progress)?;
        self.best.start(x, run.norm())?;
        loop {
            if let Some(stop) = end {
                return Ok(run.report(stop));
            }
            let seen = self.cycle(&mut run, a, m.as_deref_mut(), x)?;
            end = run.confirm(seen, x, &mut self.r, &mut self.v, &mut self.t, &mut self.norms)?;
            match end {
                Some(Stop::Converged) => {}
                None => self.best.look(x, run.norm())?,
                Some(_) => {
                    let norm = run.norm();
                    self.best.take(x, norm, |x| run.go_back(x, &mut self.r, &mut self.norms))?;
                }
            }
        }
    }
}
