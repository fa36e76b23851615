//! Stabilised biconjugate gradients.

use super::run::{Run, check_system};
use super::{Operator, Params, Preconditioner, Report, Stop};
use crate::ops::{self, axpbypcz, dot_pair, dot_triple, dot_wide, step_residual};
use crate::{Context, Real, Result, Vector};

/// BiCGStab for any square nonsingular A, with an optional preconditioner applied from the right
/// (van der Vorst 1992; Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithm 7.7;
/// Barrett et al., Templates, 1994, section 2.3.8).
///
/// Owns six vectors of `n` values. One iteration takes two products and six launches on vectors and
/// reads back eight numbers in five transfers.
///
/// Where a coefficient or A M^-1 p vanishes to working precision the iteration starts again from the true
/// residual; [`Stop::Breakdown`] says that this did not help.
#[derive(Debug)]
pub struct BiCgStab<T: Real> {
    r: Vector<T>,
    shadow: Vector<T>,
    p: Vector<T>,
    v: Vector<T>,
    t: Vector<T>,
    z: Vector<T>,
}

impl<T: Real> BiCgStab<T> {
    /// A solver for systems of `n` equations.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation), [`Error::NoFp64`](crate::Error::NoFp64).
    pub fn new(context: &Context, n: usize) -> Result<BiCgStab<T>> {
        let vector = || Vector::uninit(context, n);
        Ok(BiCgStab { r: vector()?, shadow: vector()?, p: vector()?, v: vector()?, t: vector()?, z: vector()? })
    }

    /// Solves A x = b from the start x, with the preconditioner `m`.
    ///
    /// # Errors
    /// As [`Cg::solve`](crate::solve::Cg::solve).
    pub fn solve(
        &mut self,
        a: &dyn Operator<T>,
        m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        params: &Params,
    ) -> Result<Report> {
        self.solve_with(a, m, b, x, params, &mut |_, _| ())
    }

    /// As [`BiCgStab::solve`]; `progress` gets the number of each iteration, 0 for the start, and
    /// its relative residual.
    ///
    /// # Errors
    /// As [`Cg::solve`](crate::solve::Cg::solve).
    pub fn solve_with(
        &mut self,
        a: &dyn Operator<T>,
        mut m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        params: &Params,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Report> {
        check_system(self.r.context(), self.r.len(), a, m.as_deref(), b, x)?;
        let (mut run, mut end) = Run::start(a, b, x, &mut self.r, params, progress)?;
        let mut largest = 0.0;
        loop {
            if let Some(stop) = end {
                return Ok(run.report(stop));
            }
            let seen = self.cycle(&mut run, a, m.as_deref_mut(), x, &mut largest)?;
            end = run.confirm(seen, x, &mut self.r, &mut self.p, &mut self.v)?;
        }
    }

    /// Iterates from r = b - A x until there is a reason to stop. `largest` is the largest
    /// |A M^-1 p| / |p| so far.
    fn cycle<'m>(
        &mut self,
        run: &mut Run<'_, T>,
        a: &dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + 'm)>,
        x: &mut Vector<T>,
        largest: &mut f64,
    ) -> Result<Stop> {
        let BiCgStab { r, shadow, p, v, t, z } = self;
        let eps = T::epsilon().wide();
        let unit = run.rescale(r)?;
        ops::copy(r, shadow)?;
        ops::copy(r, p)?;
        let shadow_square = (run.norm() / unit).powi(2);
        let mut rho = shadow_square;
        loop {
            // v = A M^-1 p, and the step along M^-1 p that makes r orthogonal to the shadow.
            let direction = match &mut m {
                Some(m) => {
                    m.apply(p, z)?;
                    &*z
                }
                None => &*p,
            };
            a.apply(T::one(), direction, T::zero(), v)?;
            let (sigma, square, length) = dot_triple(v, shadow, p)?;
            if !(sigma.is_finite() && square.is_finite()) {
                return Ok(Stop::NotFinite);
            }
            let quotient = (square / length).sqrt();
            if quotient <= eps * *largest || sigma.abs() <= eps * (shadow_square * square).sqrt() {
                return Ok(Stop::Breakdown);
            }
            *largest = largest.max(quotient);
            let alpha = rho / sigma;
            let half = step_residual(T::of(alpha * unit), Some(direction), x, T::of(alpha), v, r)?;
            if run.reaches(unit * half.sqrt()) {
                let norm = unit * half.sqrt();
                return Ok(run.record(norm, norm).unwrap_or(Stop::Converged));
            }

            // t = A M^-1 r, and the step along M^-1 r that makes r smallest.
            let direction = match &mut m {
                Some(m) => {
                    m.apply(r, z)?;
                    Some(&*z)
                }
                None => None,
            };
            a.apply(T::one(), direction.unwrap_or(r), T::zero(), t)?;
            let (mixed, square) = dot_pair(t, r)?;
            if !(mixed.is_finite() && square.is_finite() && half.is_finite()) {
                return Ok(Stop::NotFinite);
            }
            if mixed.abs() <= eps * (square * half).sqrt() {
                let norm = unit * half.sqrt();
                return Ok(run.record(norm, norm).unwrap_or(Stop::Breakdown));
            }
            let omega = mixed / square;
            let squares = step_residual(T::of(omega * unit), direction, x, T::of(omega), t, r)?;
            let norm = unit * squares.sqrt();
            if let Some(stop) = run.record(norm, norm) {
                return Ok(stop);
            }

            let next = dot_wide(shadow, r)?;
            if next.abs() <= eps * (shadow_square * squares).sqrt() {
                return Ok(Stop::Breakdown);
            }
            let beta = next / rho * (alpha / omega);
            axpbypcz(T::one(), r, T::of(beta), None, T::of(-beta * omega), v, p)?;
            rho = next;
        }
    }
}
