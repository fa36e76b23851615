//! Flexible conjugate gradients.

use num_traits::Float;

use super::best::Best;
use super::checked::{CheckedOperator, CheckedPreconditioner, check_own};
use super::memory::{Kept, Kind, number_of, numbers_from, seen_by};
use super::run::{Run, check_system};
use super::scalars::precondition;
use super::solver::{own_parts, resumable, without_memory};
use super::{FlexibleCgParams, KrylovMemory, Operator, Preconditioner, Progress, Report, Solver, Stop};
use crate::ops::{self, DotParts};
use crate::{Context, Real, Result, Scalar, Vector};

/// Conjugate gradients for symmetric (complex: Hermitian) positive definite A whose preconditioner may differ from one application to
/// the next or be slightly nonsymmetric: a K-cycle, a solve in single precision (Notay 2000, FCG(1)).
///
/// Each direction is made A-orthogonal to the previous one by a computed dot product instead of by the usual recurrence. Owns five vectors of `n` values, and one
/// more where the initial guess is not zero; an iteration reads numbers back three times. The best iterate is returned if the solve does not converge. [`Cg`](crate::solve::Cg) is faster where the
/// preconditioner is a fixed symmetric one.
#[derive(Debug)]
pub struct FlexibleCg<T: Scalar> {
    params: FlexibleCgParams,
    r: Vector<T>,
    z: Vector<T>,
    p: Vector<T>,
    q: Vector<T>,
    best: Best<Vector<T>>,
    norms: DotParts<T>,
}

/// The state of a cycle after the last iteration.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// The scale of the residual.
    unit: f64,
    /// The largest Rayleigh quotient so far.
    largest: f64,
    /// p'Ap, and the residual of the recurrence.
    curvature: f64,
    norm: f64,
    /// Whether the next direction follows from these.
    goes_on: bool,
}

impl<T: Scalar> FlexibleCg<T> {
    /// A solver for systems of `n` equations.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation), [`Error::NoFp64`](crate::Error::NoFp64).
    pub fn new(context: &Context, n: usize, params: FlexibleCgParams) -> Result<FlexibleCg<T>> {
        let vector = || Vector::uninit(context, n);
        let (best, norms) = (Best::new(vector()?), DotParts::new(context)?);
        Ok(FlexibleCg { params, r: vector()?, z: vector()?, p: vector()?, q: vector()?, best, norms })
    }

    /// Iterates from r = b - A x, or from where `state` is, until a stopping criterion is met.
    fn cycle<'m>(
        &mut self,
        run: &mut Run<'_, T>,
        a: &dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + 'm)>,
        x: &mut Vector<T>,
        state: &mut State,
    ) -> Result<Stop> {
        let FlexibleCg { r, z, p, q, best, norms, .. } = self;
        let eps = T::Real::epsilon().into_f64();
        let wide = T::Wide::from_f64;
        if !state.goes_on {
            state.unit = run.rescale(r)?;
            ops::copy(precondition(&mut m, r, z)?, p)?;
        }
        let unit = state.unit;
        loop {
            if state.goes_on {
                let z = precondition(&mut m, r, z)?;
                norms.set(q, z)?;
                let overlap = norms.value()? / wide(state.curvature);
                ops::update(T::one(), z, T::narrow(-overlap), p)?;
            }
            state.goes_on = false;
            a.apply_dot(p, q, norms)?;
            let curvature = norms.value()?.re();
            norms.set_pair(p, r)?;
            let (along, square) = norms.values()?;
            if !(curvature.is_finite() && along.has_finite_parts()) {
                return Ok(Stop::NotFinite);
            }
            let quotient = curvature / square;
            let singular = eps * state.largest;
            if quotient.is_nan() || quotient <= singular {
                return Ok(if quotient < -singular { Stop::Indefinite } else { Stop::Breakdown });
            }
            state.largest = state.largest.max(quotient);
            let step = along / wide(curvature);
            if step.modulus() == 0.0 {
                return Ok(Stop::Breakdown);
            }
            ops::update(T::narrow(-step), q, T::one(), r)?;
            let norm = unit * ops::norm2(r)?.into_f64();
            best.before(x, run.iterations(), norm)?;
            ops::update(T::narrow(step * wide(unit)), p, T::one(), x)?;
            (state.curvature, state.norm) = (curvature, norm);
            if let Some(stop) = run.record(norm, norm) {
                return Ok(stop);
            }
            if run.cancelled() {
                return Ok(Stop::Cancelled);
            }
            state.goes_on = true;
        }
    }
}

impl<T: Scalar> FlexibleCg<T> {
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
        check_own([&self.r, &self.z, &self.p, &self.q, self.best.vector()])?;
        check_system(self.r.context(), n, a, m.as_deref(), b, x)?;
        let a = &CheckedOperator::new(a, n);
        let mut m = m.map(|m| CheckedPreconditioner::new(m, n));
        let mut m = m.as_mut().map(|m| m as &mut dyn Preconditioner<T>);
        let mut kept = Kept::new(Kind::FlexibleCg, memory);
        let stopping = self.params.stopping.clone();
        let (mut run, mut end) = kept.start((a, b, x, &mut self.r), &mut self.norms, stopping, progress)?;
        run.be_patient(n);
        let mut state = State::default();
        let mut resumed = None;
        let (best, start) = self.best.parts_mut();
        match kept.resume(&mut run, x, [&mut self.r, &mut self.p, &mut self.q, best], Some(start))? {
            None => self.best.start(x, run.norm())?,
            Some(numbers) => {
                let [seen, unit, largest, curvature, norm] = numbers_from(&numbers, 0);
                state = State { unit, largest, curvature, norm, goes_on: true };
                self.best.restore(numbers_from(&numbers, 5));
                resumed = run.end_of(norm).or(seen_by(seen));
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
            let State { unit, largest, curvature, norm, .. } = state;
            let numbers = [number_of(seen), unit, largest, curvature, norm].into_iter().chain(self.best.numbers());
            let own = [&self.r, &self.p, &self.q].into_iter().chain(self.best.vectors());
            kept.keep(&run, x, own, numbers)?;
            state.goes_on = false;
            end = run.confirm(seen, x, &mut self.r, &mut self.p, &mut self.q, &mut self.norms)?;
            // As with conjugate gradients.
            if end != Some(Stop::Cancelled) {
                let vectors = [&mut self.r, &mut self.p, &mut self.q];
                end = run.settle(end, &mut self.best, x, vectors, &mut self.norms)?;
            }
        }
    }
}

impl<T: Scalar> Solver<T> for FlexibleCg<T> {
    own_parts!(r);

    without_memory!();
}

resumable!(FlexibleCg);
