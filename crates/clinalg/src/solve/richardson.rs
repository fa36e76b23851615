//! Richardson iteration with a preconditioner.

use super::best::Start;
use super::checked::{CheckedOperator, check_own};
use super::run::{Run, check_system};
use super::solver::own_parts;
use super::{Operator, Preconditioner, Progress, Report, RichardsonParams, Solver};
use crate::ops::DotParts;
use crate::{Context, Real, Result, Vector, ops};

/// x += M^-1 (b - A x) (Saad, Iterative Methods for Sparse Linear Systems, 2003, section 4.1): a preconditioner as a solver in its own right, such as
/// the cycles of [`Amg`](crate::amg::Amg) or [`MultigridPreconditioner`](crate::precond::MultigridPreconditioner).
///
/// Converges where the eigenvalues of I - M^-1 A are below 1 in modulus. Owns three vectors of `n` values, and one more where the initial guess
/// is not zero. Every entry of the history is a true residual. Without a preconditioner M = I.
#[derive(Debug)]
pub struct Richardson<T: Real> {
    params: RichardsonParams,
    r: Vector<T>,
    z: Vector<T>,
    q: Vector<T>,
    start: Start<Vector<T>>,
    norms: DotParts<T>,
}

impl<T: Real> Richardson<T> {
    /// A solver for `n` equations.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation).
    pub fn new(context: &Context, n: usize, params: RichardsonParams) -> Result<Richardson<T>> {
        let vector = || Vector::uninit(context, n);
        let (start, norms) = (Start::new(), DotParts::new(context)?);
        Ok(Richardson { params, r: vector()?, z: vector()?, q: vector()?, start, norms })
    }
}

impl<T: Real> Solver<T> for Richardson<T> {
    own_parts!(r);

    fn solve_with(
        &mut self,
        a: &dyn Operator<T>,
        mut m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        progress: Progress<'_>,
    ) -> Result<Report> {
        let Richardson { params, r, z, q, start, norms } = self;
        check_own([&*r, z, q])?;
        check_system(r.context(), r.len(), a, m.as_deref(), b, x)?;
        let a = &CheckedOperator::new(a, r.len());
        let (mut run, mut end) = Run::start(a, b, x, r, norms, params.stopping.clone(), progress)?;
        if end.is_none() {
            start.keep(x)?;
        }
        while end.is_none() {
            match &mut m {
                Some(m) => m.apply(r, z)?,
                None => ops::copy(r, z)?,
            }
            ops::update(T::one(), z, T::one(), x)?;
            end = run.step(x, r, z, q, norms)?;
        }
        let stop = end.expect("the loop ends with a reason");
        run.no_worse(stop, start, x, r, norms)?;
        Ok(run.report(stop))
    }
}
