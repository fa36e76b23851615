//! Induced dimension reduction.

use num_traits::{Float, Zero};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::basis::{Projection, shrink};
use super::best::Best;
use super::checked::{CheckedOperator, CheckedPreconditioner, check_own};
use super::memory::{Kept, Kind, number_of, numbers_from, seen_by};
use super::run::{Run, check_system};
use super::scalars::{after_step, precondition};
use super::solver::{own_parts, resumable, without_memory};
use super::{IdrParams, KrylovMemory, Operator, Preconditioner, Progress, Report, Solver, Stop};
use crate::ops::{self, DotParts};
use crate::{Context, Error, Real, Result, Scalar, Vector};

/// IDR(s) for any square nonsingular A, with an optional preconditioner applied from the right (Sonneveld and van Gijzen 2008; van
/// Gijzen and Sonneveld 2011, the variant with biorthogonal directions).
///
/// Owns `3 s + 5` vectors of `n` values, and one more where the initial guess is not zero. An iteration takes a product and reads numbers back three times; `s + 1` iterations
/// make the residual smaller by at least one more polynomial degree. With s = 1 the method is close to BiCGStab; with s = 4, the
/// default, it needs about as many products as GMRES without restarts where that needs few. Shadow vectors are random, and the
/// same in every solve.
///
/// The best iterate is returned if the solve does not converge ([`Report::iterate`]).
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

/// The state of a cycle after the last iteration.
#[derive(Debug)]
struct State<W> {
    /// The scale of the residual.
    unit: f64,
    /// The residual of the recurrence.
    norm: f64,
    /// Number of steps in the current subspace.
    done: usize,
    /// The dot products of the shadow vectors (rows) with the columns of G: lower triangular.
    matrix: Vec<Vec<W>>,
    /// The dot products of the shadow vectors with the residual.
    f: Vec<W>,
    omega: W,
    /// Whether the next cycle continues from here.
    goes_on: bool,
}

impl<W: Scalar<Real = f64>> State<W> {
    /// The initial state, with `s` shadow vectors.
    fn new(s: usize) -> State<W> {
        let matrix = (0..s).map(|i| (0..s).map(|j| if i == j { W::one() } else { W::zero() }).collect()).collect();
        State { unit: 1.0, norm: 0.0, done: 0, matrix, f: vec![W::zero(); s], omega: W::one(), goes_on: false }
    }

    fn numbers(&self, seen: Stop, best: [f64; 3]) -> Vec<f64> {
        let State { unit, norm, done, .. } = *self;
        let first = [number_of(seen), unit, norm, done as f64].into_iter().chain(best);
        let values = self.matrix.iter().flatten().chain(&self.f).chain([&self.omega]);
        first.chain(values.flat_map(|value| [value.re(), value.im()])).collect()
    }

    /// Continues from these numbers; returns the reason to stop that was seen there, and the numbers of the best iterate.
    fn restore(&mut self, numbers: &[f64]) -> (Option<Stop>, [f64; 3]) {
        let [seen, unit, norm, done, best @ ..]: [f64; 7] = numbers_from(numbers, 0);
        (self.unit, self.norm, self.done, self.goes_on) = (unit, norm, done as usize, true);
        let places = self.matrix.iter_mut().flatten().chain(&mut self.f).chain([&mut self.omega]);
        for (k, place) in places.enumerate() {
            let [re, im] = numbers_from(numbers, 7 + 2 * k);
            *place = W::from_parts(re, im);
        }
        (seen_by(seen), best)
    }
}

/// The step length is enlarged if the cosine is smaller (Sleijpen and van der Vorst 1995).
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
        let mut projection = Projection::new(context, n, s, 1)?;
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

    /// Iterates from r = b - A x, or from where `state` is, until a stopping criterion is met.
    fn cycle<'m>(
        &mut self,
        run: &mut Run<'_, T>,
        a: &dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + 'm)>,
        x: &mut Vector<T>,
        state: &mut State<T::Wide>,
    ) -> Result<Stop> {
        let Idr { shadow, g, u, r, v, z, t, best, norms, projection, .. } = self;
        let s = shadow.len();
        if !state.goes_on {
            *state = State { unit: run.rescale(r)?, ..State::new(s) };
            for vector in g.iter_mut().chain(u.iter_mut()) {
                vector.fill(T::zero())?;
            }
        }
        let unit = state.unit;
        let step = |factor: T::Wide| T::narrow(factor * T::Wide::from_f64(unit));
        let (mut c, mut d) = (vec![T::Wide::zero(); s], vec![T::Wide::zero(); s]);
        loop {
            state.goes_on = false;
            if state.done == 0 {
                projection.dot(shadow, r, &mut state.f)?;
            }
            let State { matrix, f, omega, norm: last, done, .. } = state;
            for k in *done..s {
                for i in k..s {
                    let known: T::Wide = (k..i).map(|j| matrix[i][j] * c[j]).sum();
                    c[i] = (f[i] - known) / matrix[i][i];
                }
                // v = r - G c, and the direction u = omega M^-1 v + U c, orthogonal to the shadow so far.
                ops::copy(r, v)?;
                projection.combine(&g[k..], c[k..].iter().map(|&c| -c), v)?;
                let along = precondition(&mut m, v, z)?;
                ops::update(T::narrow(*omega), along, T::zero(), t)?;
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
                let norm = unit * ops::norm2(r)?.into_f64();
                best.before(x, run.iterations(), norm)?;
                ops::update(step(beta), &u[k], T::one(), x)?;
                (k + 1..s).for_each(|i| f[i] -= beta * matrix[i][k]);
                *done = k + 1;
                *last = norm;
                if let Some(stop) = run.record(norm, norm) {
                    return Ok(stop);
                }
                if run.cancelled() {
                    return Ok(Stop::Cancelled);
                }
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
            *omega = mixed / T::Wide::from_f64(square) * T::Wide::from_f64((COSINE / cosine).max(1.0));
            // Without a preconditioner the step is along r, so that x has to change first.
            best.before(x, run.iterations(), unit * after_step(length, mixed, square, *omega))?;
            ops::update(step(*omega), along, T::one(), x)?;
            ops::update(T::narrow(-*omega), t, T::one(), r)?;
            *done = 0;
            let norm = unit * ops::norm2(r)?.into_f64();
            *last = norm;
            best.correct(norm);
            if let Some(stop) = run.record(norm, norm) {
                return Ok(stop);
            }
            if run.cancelled() {
                return Ok(Stop::Cancelled);
            }
        }
    }
}

impl<T: Scalar> Idr<T> {
    fn solve_kept(
        &mut self,
        memory: Option<&mut KrylovMemory<T>>,
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
        let mut kept = Kept::new(Kind::Idr, memory);
        let stopping = self.params.stopping.clone();
        let (mut run, mut end) = kept.start((a, b, x, &mut self.r), &mut self.norms, stopping, progress)?;
        let mut state = State::new(self.shadow.len());
        let mut resumed = None;
        let (best, start) = self.best.parts_mut();
        let own = [&mut self.r, best].into_iter().chain(&mut self.g).chain(&mut self.u);
        match kept.resume(&mut run, x, own, Some(start))? {
            None => self.best.start(x, run.norm())?,
            Some(numbers) => {
                let (seen, best) = state.restore(&numbers);
                self.best.restore(best);
                resumed = run.end_of(state.norm).or(seen);
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
            let mut of_best = self.best.vectors();
            let own =
                [Some(&self.r), of_best.next()].into_iter().flatten().chain(&self.g).chain(&self.u).chain(of_best);
            kept.keep(&run, x, own, state.numbers(seen, self.best.numbers()))?;
            state.goes_on = false;
            end = run.confirm(seen, x, &mut self.r, &mut self.v, &mut self.t, &mut self.norms)?;
            let vectors = [&mut self.r, &mut self.v, &mut self.t];
            end = run.settle(end, &mut self.best, x, vectors, &mut self.norms)?;
        }
    }
}

impl<T: Scalar> Solver<T> for Idr<T> {
    own_parts!(r);

    without_memory!();
}

resumable!(Idr);
