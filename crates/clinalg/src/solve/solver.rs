//! The trait that all solvers share.

use std::ops::ControlFlow;

use super::{KrylovMemory, Operator, Preconditioner, Report, Stopping};
use crate::ops::SpaceVector;
use crate::{Result, Scalar, Vector};

/// Called with the number of each iteration, 0 for the start, and its relative residual; [`ControlFlow::Break`] stops the
/// solve with [`Stop::Cancelled`](super::Stop::Cancelled).
///
/// Methods whose iterations are checked in batches (CG, BiCGStab) finish the current batch. The report always describes
/// the x that is returned.
pub type Progress<'a> = &'a mut dyn FnMut(usize, f64) -> ControlFlow<()>;

/// An iterative method for A x = b, which owns its vectors and its parameters.
///
/// Vectors are those of one device, or [`team::Vector`](crate::team::Vector)s. On a team of several processes,
/// `progress` must stop the solve at the same iteration on each of them.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use clinalg::solve::{BiCgStab, Cg, Solver, Stop};
/// use clinalg::{Context, Csr, Vector};
///
/// let context = Context::global()?;
/// let a = Csr::from_triplets(&context, 2, 2, &[(0, 0, 4.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 3.0)])?;
/// let b = Vector::from_slice(&context, &[1.0, 2.0])?;
/// let symmetric = true;
/// let mut solver: Box<dyn Solver<f64>> = match symmetric {
///     true => Box::new(Cg::new(&context, 2, Default::default())?),
///     false => Box::new(BiCgStab::new(&context, 2, Default::default())?),
/// };
/// let mut x = Vector::zeros(&context, 2)?;
/// let report = solver.solve_with(&a, None, &b, &mut x, &mut |iteration, residual| {
///     println!("{iteration}: {residual:.1e}");
///     if iteration < 100 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
/// })?;
/// assert_eq!(report.stop, Stop::Converged);
/// # Ok::<(), clinalg::Error>(())
/// ```
pub trait Solver<T: Scalar, V: SpaceVector<Scalar = T> = Vector<T>> {
    /// Number of equations.
    fn size(&self) -> usize;

    /// Where its vectors live: a context, or the layout of a team.
    fn context(&self) -> &V::Space;

    /// The stopping criteria.
    fn stopping(&self) -> &Stopping;

    /// The stopping criteria of the next solve, for changes.
    fn stopping_mut(&mut self) -> &mut Stopping;

    /// Solves A x = b from the initial guess x, with the preconditioner `m`, and calls `progress` after each iteration.
    ///
    /// # Errors
    /// Before any work, [`Error::Shape`](crate::Error::Shape),
    /// [`Error::Length`](crate::Error::Length) or [`Error::Context`](crate::Error::Context) that
    /// names `a`, `m`, `b` or `x`, and [`Error::Value`](crate::Error::Value) for a parameter, or for a preconditioner `m`
    /// if the method accepts none; later, errors of the device. An iteration that does not converge is not an error: see
    /// [`Report::stop`].
    fn solve_with(
        &mut self,
        a: &dyn Operator<T, V>,
        m: Option<&mut dyn Preconditioner<T, V>>,
        b: &V,
        x: &mut V,
        progress: Progress<'_>,
    ) -> Result<Report>;

    /// [`Solver::solve_with`] without a progress callback.
    ///
    /// # Errors
    /// As [`Solver::solve_with`].
    fn solve(
        &mut self,
        a: &dyn Operator<T, V>,
        m: Option<&mut dyn Preconditioner<T, V>>,
        b: &V,
        x: &mut V,
    ) -> Result<Report> {
        self.solve_with(a, m, b, x, &mut |_, _| ControlFlow::Continue(()))
    }
}

/// A [`Solver`] whose solves can be ended and continued.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use clinalg::solve::{Gmres, GmresParams, KrylovMemory, Resumable, Stop};
/// use clinalg::{Context, Csr, Vector};
///
/// let context = Context::global()?;
/// let a = Csr::from_triplets(&context, 2, 2, &[(0, 0, 2.0), (0, 1, 1.0), (1, 1, 3.0)])?;
/// let (b, mut x) = (Vector::from_slice(&context, &[1.0, 2.0])?, Vector::zeros(&context, 2)?);
/// let mut solver = Gmres::new(&context, 2, GmresParams::default())?;
/// let mut memory = KrylovMemory::default();
/// let mut once = |iteration, _| if iteration < 1 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
/// let report = solver.solve_from(&mut memory, &a, None, &b, &mut x, &mut once)?;
/// assert_eq!((report.stop, memory.is_empty()), (Stop::Cancelled, false));
/// let report = solver.solve_from(&mut memory, &a, None, &b, &mut x, &mut |_, _| ControlFlow::Continue(()))?;
/// assert_eq!((report.stop, report.iterations, memory.is_empty()), (Stop::Converged, 2, true));
/// # Ok::<(), clinalg::Error>(())
/// ```
pub trait Resumable<T: Scalar, V: SpaceVector<Scalar = T> = Vector<T>>: Solver<T, V> {
    /// As [`Solver::solve_with`]. A solve that `progress` or the limit of iterations ends leaves in `memory` what another solve of the same
    /// system, on the same device or the same team, needs to continue with the same bits. If `memory` is not empty, the solve continues from it instead of from x. It is
    /// empty after a solve that ended for another reason, and where no iteration was made. The vectors of the iteration are copied to the host once, at the end.
    ///
    /// # Errors
    /// Those of [`Solver::solve_with`]; [`Error::Value`](crate::Error::Value) for a memory of another method or size, with GMRES also of more
    /// iterations between restarts.
    fn solve_from(
        &mut self,
        memory: &mut KrylovMemory<T>,
        a: &dyn Operator<T, V>,
        m: Option<&mut dyn Preconditioner<T, V>>,
        b: &V,
        x: &mut V,
        progress: Progress<'_>,
    ) -> Result<Report>;
}
