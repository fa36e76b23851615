//! The loop of the iterations that compute the true residual after each sweep.

use super::best::Start;
use super::checked::{CheckedOperator, check_own};
use super::krylov_vector::like;
use super::run::{Run, check_system};
use super::{Operator, Preconditioner, Progress, Report, Stopping};
use crate::ops::SpaceVector;
use crate::{Result, Scalar};

/// The vectors of such an iteration.
#[derive(Debug)]
pub(super) struct Sweeps<V: SpaceVector> {
    pub(super) r: V,
    z: V,
    q: V,
    start: Start<V>,
    norms: V::Dots,
}

impl<T: Scalar, V: SpaceVector<Scalar = T>> Sweeps<V> {
    pub(super) fn with(r: V) -> Result<Sweeps<V>> {
        let ([z, q], norms) = (like(&r)?, r.dots()?);
        Ok(Sweeps { r, z, q, start: Start::new(), norms })
    }

    /// An error unless A, M, b and x fit these vectors.
    pub(super) fn check(
        &self,
        a: &dyn Operator<T, V>,
        m: Option<&dyn Preconditioner<T, V>>,
        b: &V,
        x: &V,
    ) -> Result<()> {
        check_own([&self.r, &self.z, &self.q])?;
        check_system(self.r.space(), self.r.size(), a, m, b, x)
    }

    /// Solves A x = b by sweeps, each of which takes r = b - A x and a vector that it may overwrite, and updates x.
    pub(super) fn solve(
        &mut self,
        (a, b): (&dyn Operator<T, V>, &V),
        x: &mut V,
        (stopping, progress): (&Stopping, Progress<'_>),
        sweep: &mut dyn FnMut(&V, &mut V, &mut V) -> Result<()>,
    ) -> Result<Report> {
        let Sweeps { r, z, q, start, norms } = self;
        let a = &CheckedOperator::new(a, r.size());
        let mut run = Run::new(a, b, stopping.clone(), progress)?;
        let mut end = run.start(x, r, norms)?;
        if end.is_none() {
            start.keep(x)?;
        }
        let stop = loop {
            if let Some(stop) = end {
                break stop;
            }
            sweep(r, z, x)?;
            end = run.step(x, [r, z, q], norms)?;
        };
        run.no_worse(stop, start, x, r, norms)?;
        Ok(run.report(stop))
    }
}
