//! Flexible conjugate gradients.

use num_traits::Float;

use super::checked::{CheckedOperator, CheckedPreconditioner, check_own};
use super::run::{Run, check_system};
use super::scalars::precondition;
use super::solver::own_parts;
use super::{FlexibleCgParams, Operator, Preconditioner, Progress, Report, Solver, Stop};
use crate::ops::{self, DotParts};
use crate::{Context, Real, Result, Scalar, Vector};

/// Conjugate gradients for symmetric (complex: Hermitian) positive definite A whose preconditioner may differ from one application to
/// the next or be slightly unsymmetric: a K-cycle, a solve in single precision (Notay 2000, FCG(1)).
///
/// Each direction is made orthogonal to the last one by a dot product instead of by recurrence. Owns four vectors of `n` values; an
/// iteration reads numbers back three times. [`Cg`](crate::solve::Cg) is faster where the preconditioner is a fixed symmetric one.
#[derive(Debug)]
pub struct FlexibleCg<T: Scalar> {
    params: FlexibleCgParams,
    r: Vector<T>,
    z: Vector<T>,
    p: Vector<T>,
    q: Vector<T>,
    norms: DotParts<T>,
}

impl<T: Scalar> FlexibleCg<T> {
    /// A solver for systems of `n` equations.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation), [`Error::NoFp64`](crate::Error::NoFp64).
    pub fn new(context: &Context, n: usize, params: FlexibleCgParams) -> Result<FlexibleCg<T>> {
        let vector = || Vector::uninit(context, n);
        let norms = DotParts::new(context)?;
        Ok(FlexibleCg { params, r: vector()?, z: vector()?, p: vector()?, q: vector()?, norms })
    }

    /// Iterates from r = b - A x until a stopping criterion is met. `largest` is the largest Rayleigh quotient so far.
    fn cycle<'m>(
        &mut self,
        run: &mut Run<'_, T>,
        a: &dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + 'm)>,
        x: &mut Vector<T>,
        largest: &mut f64,
    ) -> Result<Stop> {
        let FlexibleCg { r, z, p, q, norms, .. } = self;
        let eps = T::Real::epsilon().into_f64();
        let unit = run.rescale(r)?;
        let wide = T::Wide::from_f64;
        ops::copy(precondition(&mut m, r, z)?, p)?;
        loop {
            a.apply_dot(p, q, norms)?;
            let curvature = norms.value()?.re();
            norms.set_pair(p, r)?;
            let (along, square) = norms.values()?;
            if !(curvature.is_finite() && along.has_finite_parts()) {
                return Ok(Stop::NotFinite);
            }
            let quotient = curvature / square;
            if quotient.is_nan() || quotient <= eps * *largest {
                return Ok(if quotient < -eps * *largest { Stop::Indefinite } else { Stop::Breakdown });
            }
            *largest = largest.max(quotient);
            let step = along / wide(curvature);
            if step.modulus() == 0.0 {
                return Ok(Stop::Breakdown);
            }
            ops::update(T::narrow(step * wide(unit)), p, T::one(), x)?;
            ops::update(T::narrow(-step), q, T::one(), r)?;
            let norm = unit * ops::norm2(r)?.into_f64();
            if let Some(stop) = run.record(norm, norm) {
                return Ok(stop);
            }
            if run.cancelled() {
                return Ok(Stop::Cancelled);
            }
            let z = precondition(&mut m, r, z)?;
            norms.set(q, z)?;
            let overlap = norms.value()? / wide(curvature);
            ops::update(T::one(), z, T::narrow(-overlap), p)?;
        }
    }
}

impl<T: Scalar> Solver<T> for FlexibleCg<T> {
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
        check_own([&self.r, &self.z, &self.p, &self.q])?;
        check_system(self.r.context(), n, a, m.as_deref(), b, x)?;
        let a = &CheckedOperator::new(a, n);
        let mut m = m.map(|m| CheckedPreconditioner::new(m, n));
        let mut m = m.as_mut().map(|m| m as &mut dyn Preconditioner<T>);
        let (mut run, mut end) =
            Run::start(a, b, x, &mut self.r, &mut self.norms, self.params.stopping.clone(), progress)?;
        run.be_patient(n);
        let mut largest = 0.0;
        loop {
            if let Some(stop) = end {
                return Ok(run.report(stop));
            }
            let seen = self.cycle(&mut run, a, m.as_deref_mut(), x, &mut largest)?;
            end = run.confirm(seen, x, &mut self.r, &mut self.p, &mut self.q, &mut self.norms)?;
        }
    }
}
