//! Conjugate gradients.

use super::run::{Run, check_system};
use super::{Operator, Params, Preconditioner, Report, Stop};
use crate::ops::{self, dot_wide, step_residual};
use crate::{Context, Real, Result, Vector};

/// Conjugate gradients for symmetric positive definite A, with an optional symmetric positive
/// definite preconditioner (Hestenes and Stiefel 1952; Saad, Iterative Methods for Sparse Linear
/// Systems, 2003, algorithms 6.18 and 9.1).
///
/// Owns four vectors of `n` values. One iteration takes a product and three launches on vectors, and
/// reads back two numbers; with a preconditioner its own work, one launch and one number more.
///
/// The residual may rise for long while the error falls, so the stagnation window is at least `n`.
///
/// A direction p with p'Ap <= 0 ends it with [`Stop::Indefinite`]; one with p'Ap below the machine
/// precision times the largest Rayleigh quotient met, with [`Stop::Breakdown`]: A is singular to
/// working precision. The same holds for the preconditioner, with the square of the precision.
///
/// ```no_run
/// use clinalg::solve::{Cg, Params};
/// use clinalg::{Context, Csr, Vector};
///
/// let context = Context::global()?;
/// let a = Csr::from_triplets(&context, 2, 2, &[(0, 0, 4.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 3.0)])?;
/// let b = Vector::from_slice(&context, &[1.0, 2.0])?;
/// let mut x = Vector::zeros(&context, 2)?;
/// let report = Cg::new(&context, 2)?.solve(&a, None, &b, &mut x, &Params::default())?;
/// println!("{report}: {:?}", x.to_vec()?);
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug)]
pub struct Cg<T: Real> {
    r: Vector<T>,
    z: Vector<T>,
    p: Vector<T>,
    q: Vector<T>,
}

impl<T: Real> Cg<T> {
    /// A solver for systems of `n` equations.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation), [`Error::NoFp64`](crate::Error::NoFp64).
    pub fn new(context: &Context, n: usize) -> Result<Cg<T>> {
        let vector = || Vector::uninit(context, n);
        Ok(Cg { r: vector()?, z: vector()?, p: vector()?, q: vector()? })
    }

    /// Solves A x = b from the start x, with the preconditioner `m`.
    ///
    /// # Errors
    /// Before any work, [`Error::Shape`](crate::Error::Shape),
    /// [`Error::Length`](crate::Error::Length) or [`Error::Context`](crate::Error::Context) that
    /// names `a`, `m`, `b` or `x`, and [`Error::Value`](crate::Error::Value) for a parameter; later,
    /// what the device reports. An iteration that does not converge is no error: see
    /// [`Report::stop`].
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

    /// As [`Cg::solve`]; `progress` gets the number of each iteration, 0 for the start, and its
    /// relative residual.
    ///
    /// # Errors
    /// As [`Cg::solve`].
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
        // The error falls in every step, but its residual may rise until the last of n steps.
        run.be_patient(self.r.len());
        let mut largest = 0.0;
        loop {
            if let Some(stop) = end {
                return Ok(run.report(stop));
            }
            let seen = self.cycle(&mut run, a, m.as_deref_mut(), x, &mut largest)?;
            end = run.confirm(seen, x, &mut self.r, &mut self.p, &mut self.q)?;
        }
    }

    /// Iterates from r = b - A x until there is a reason to stop. `largest` is the largest Rayleigh
    /// quotient of M^-1 A so far.
    fn cycle<'m>(
        &mut self,
        run: &mut Run<'_, T>,
        a: &dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + 'm)>,
        x: &mut Vector<T>,
        largest: &mut f64,
    ) -> Result<Stop> {
        let Cg { r, z, p, q } = self;
        let eps = T::epsilon().wide();
        let unit = run.rescale(r)?;
        let mut squares = (run.norm() / unit).powi(2);
        let mut rho = match &mut m {
            Some(m) => {
                m.apply(r, z)?;
                ops::copy(z, p)?;
                dot_wide(r, z)?
            }
            None => {
                ops::copy(r, p)?;
                squares
            }
        };
        // The largest Rayleigh quotient of M^-1.
        let mut steepest = 0.0;
        // p'Mp by its recurrence, as r is orthogonal to the former p.
        let mut square = rho;
        loop {
            if !rho.is_finite() {
                return Ok(Stop::NotFinite);
            }
            let singular = eps * eps * steepest;
            if rho / squares <= singular {
                return Ok(semidefinite(rho / squares, singular));
            }
            steepest = f64::max(steepest, rho / squares);
            a.apply(T::one(), p, T::zero(), q)?;
            let curvature = dot_wide(p, q)?;
            if !curvature.is_finite() {
                return Ok(Stop::NotFinite);
            }
            let quotient = curvature / square;
            let singular = eps * *largest;
            if quotient <= singular {
                return Ok(semidefinite(quotient, singular));
            }
            *largest = largest.max(quotient);
            let alpha = rho / curvature;
            squares = step_residual(T::of(alpha * unit), Some(p), x, T::of(alpha), q, r)?;
            let norm = unit * squares.sqrt();
            if let Some(stop) = run.record(norm, norm) {
                return Ok(stop);
            }
            let next = match &mut m {
                Some(m) => {
                    m.apply(r, z)?;
                    dot_wide(r, z)?
                }
                None => squares,
            };
            let beta = next / rho;
            ops::update(T::one(), if m.is_some() { &*z } else { &*r }, T::of(beta), p)?;
            square = next + beta * beta * square;
            rho = next;
        }
    }
}

/// What a Rayleigh quotient of at most `singular`, the least that counts as positive, says.
fn semidefinite(quotient: f64, singular: f64) -> Stop {
    if singular > 0.0 && quotient >= -singular { Stop::Breakdown } else { Stop::Indefinite }
}
