//! The best iterate of a method whose residuals may rise.

use super::run::Run;
use crate::ops::{self, DotParts};
use crate::{Context, Result, Scalar, Vector};

/// A residual this many times the smallest one has risen: falling again is worth a copy.
const RISEN: f64 = 10.0;
/// A residual this many times smaller than that of the iterate kept is worth a copy without having risen.
const MUCH_BETTER: f64 = 1e-2;

/// The iterate with the smallest residual among those that were worth a copy: those that improved after the residual had
/// risen, and one for each factor [`MUCH_BETTER`]. A solve that converges without peaks copies x five or six times.
#[derive(Debug)]
pub(super) struct Best<T: Scalar> {
    x: Vector<T>,
    /// Its |b - A x|.
    norm: f64,
    smallest: f64,
    risen: bool,
}

impl<T: Scalar> Best<T> {
    pub(super) fn new(context: &Context, n: usize) -> Result<Best<T>> {
        Ok(Best { x: Vector::uninit(context, n)?, norm: f64::NAN, smallest: f64::NAN, risen: false })
    }

    /// Keeps the start x, whose residual has this norm.
    pub(super) fn start(&mut self, x: &Vector<T>, norm: f64) -> Result<()> {
        self.keep(x, norm)
    }

    fn keep(&mut self, x: &Vector<T>, norm: f64) -> Result<()> {
        (self.norm, self.smallest, self.risen) = (norm, norm, false);
        ops::copy(x, &mut self.x)
    }

    /// Enters the norm of an iteration's residual.
    pub(super) fn enter(&mut self, norm: f64) {
        self.smallest = self.smallest.min(norm);
        self.risen |= norm > RISEN * self.smallest;
    }

    /// Keeps x, whose residual was entered last, where it is better and worth a copy.
    pub(super) fn look(&mut self, x: &Vector<T>, norm: f64) -> Result<()> {
        if norm <= MUCH_BETTER * self.norm || self.risen && norm < self.norm {
            self.keep(x, norm)?;
        }
        Ok(())
    }

    /// The iterate kept.
    pub(super) fn vector(&self) -> &Vector<T> {
        &self.x
    }

    /// Puts x back to the iterate kept where that has the smaller true residual. Leaves r = b - A x.
    pub(super) fn take(
        &self,
        run: &mut Run<'_, T>,
        x: &mut Vector<T>,
        r: &mut Vector<T>,
        norms: &mut DotParts<T>,
    ) -> Result<()> {
        let norm = run.norm();
        if self.norm < norm || !norm.is_finite() {
            run.go_back(&self.x, r, norms)?;
            if run.norm() < norm || !norm.is_finite() {
                return ops::copy(&self.x, x);
            }
            run.go_back(x, r, norms)?;
        }
        Ok(())
    }
}
