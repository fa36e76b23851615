//! Conjugate gradients around a symmetric multigrid cycle.

use super::cycle::{Components, CycleFromZero, Cycles, Hierarchy, Multigrid, Norms};
use crate::{Real, Result};

/// What the method of conjugate gradients needs beside the cycle, on the finest level.
pub(crate) trait Space<T>: Components {
    /// `d` = f - A u inside, 0 on the boundary.
    fn defect_to(&mut self, u: &Self::Grid, f: &Self::Grid, d: &mut Self::Grid) -> Result<()>;

    /// Sum of the products of all values.
    fn dot(&self, a: &Self::Grid, b: &Self::Grid) -> Result<T>;

    /// y = alpha x + beta y.
    fn update(&self, alpha: T, x: &Self::Grid, beta: T, y: &mut Self::Grid) -> Result<()>;
}

/// Multigrid cycles from 0 as the preconditioner of conjugate gradients (Tatebe 1993; Saad, *Iterative Methods for Sparse
/// Linear Systems*, 2nd ed., algorithm 9.1). They remove the few errors that a cycle leaves nearly as they are where the
/// coefficient jumps, as at the crossings of a chessboard. Cycles are symmetric when their plan is: as many sweeps
/// after the correction as before, in the opposite order.
///
/// The residual is computed anew in every step, so that it is always that of the solution.
pub(crate) struct Accelerated<T, C: Components> {
    multigrid: Multigrid<C>,
    /// Defect of the solution, the cycle's answer to it, the direction, and the defect of the direction for it.
    r: C::Grid,
    z: C::Grid,
    p: C::Grid,
    t: C::Grid,
    /// r' z of the last step; none before the first one.
    last: Option<T>,
    /// The same of a solve that is continued.
    next: Option<T>,
    /// Whether `r` is the defect of the solution.
    current: bool,
}

impl<T: Real, C: Space<T> + Send> Accelerated<T, C>
where
    C::Grid: Send,
{
    pub(crate) fn new(multigrid: Multigrid<C>) -> Result<Accelerated<T, C>> {
        let zeros = || multigrid.hierarchy().zeros(0);
        let (r, z, p, t) = (zeros()?, zeros()?, zeros()?, zeros()?);
        Ok(Accelerated { multigrid, r, z, p, t, last: None, next: None, current: false })
    }

    /// One step: a cycle and the step along its direction.
    fn step(&mut self, u: &mut C::Grid, f: &C::Grid) -> Result<Norms> {
        let Accelerated { multigrid, r, z, p, t, last, current, .. } = self;
        if last.is_none() || !*current {
            multigrid.components().defect_to(u, f, r)?;
            *current = true;
        }
        multigrid.cycle_from_zero(z, r)?;
        let components = multigrid.components();
        let product = components.dot(r, z)?;
        let finite = |ratio: T| Some(ratio).filter(|ratio| ratio.is_finite());
        let beta = last.and_then(|last| finite(product / last)).unwrap_or(T::zero());
        components.update(T::one(), z, beta, p)?;
        // p' A p by the defect of p for r as the right-hand side.
        components.defect_to(p, r, t)?;
        let along = components.dot(p, r)?;
        let alpha = along / (along - components.dot(p, t)?);
        // Where the products left the range of numbers, the cycle goes on without acceleration.
        match finite(alpha) {
            Some(alpha) => components.update(alpha, p, T::one(), u)?,
            None => components.update(T::one(), z, T::one(), u)?,
        }
        *last = finite(alpha).map(|_| product);
        components.defect_to(u, f, r)?;
        Ok(Norms { defect: components.hierarchy().norm(r)?, size: None })
    }
}

impl<T: Real, C: Space<T> + Send> Cycles for Accelerated<T, C>
where
    C::Grid: Send,
{
    type Grid = C::Grid;

    fn start_norms(&mut self, u: &C::Grid, f: &C::Grid) -> Result<[f64; 3]> {
        self.multigrid.components().start_norms(u, f)
    }

    fn norm(&self, u: &C::Grid) -> Result<f64> {
        self.multigrid.hierarchy().norm(u)
    }

    fn levels(&self) -> usize {
        self.multigrid.levels()
    }

    fn reset(&mut self) {
        self.last = self.next.take();
        self.current = false;
    }

    fn memory(&self) -> Option<(&C::Grid, f64)> {
        self.last.map(|last| (&self.p, last.into_f64()))
    }

    fn remember(&mut self, fill: &mut dyn FnMut(&mut C::Grid) -> Result<()>, number: f64) -> Result<bool> {
        fill(&mut self.p)?;
        self.next = Some(T::from_f64(number));
        Ok(true)
    }

    fn cycles(&mut self, u: &mut C::Grid, f: &C::Grid, count: usize, _last: bool, _size: f64) -> Result<Vec<Norms>> {
        (0..count).map(|_| self.step(u, f)).collect()
    }

    fn full(&mut self, u: &mut C::Grid, f: &C::Grid) -> Result<Norms> {
        self.multigrid.full(u, f)
    }
}
