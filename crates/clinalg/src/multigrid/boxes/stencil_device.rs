//! The components of the cycles for operators by their couplings, as kernels.

use std::sync::Arc;

use super::levels;
use super::stencil::{StencilLevel, Transfer};
use super::stencil_strips::StencilStrips;
use crate::multigrid::conjugate::Space;
use crate::multigrid::cycle::{Components, Hierarchy, Order, Start, Sweeps};
use crate::runtime::Out;
use crate::{Context, Dense, Real, Result, Vector, ops};

/// Kernels for operators by their couplings.
pub(super) struct Stencils<T: Real> {
    context: Context,
    levels: Arc<Vec<StencilLevel<T>>>,
    /// Residuals by level.
    work: Vec<Vector<T>>,
    /// How levels are visited in one pass, and what a pass writes before it takes the place of u; `None` where kernels follow each other.
    strips: Vec<Option<(StencilStrips, Vector<T>)>>,
    /// Of the matrix of the coarsest level; with 1 added to the eigenvalue 0 of a constant.
    inverse: Dense<T>,
}

impl<T: Real> Stencils<T> {
    /// For the levels; `singular` where constants are in the null space.
    pub(super) fn new(context: &Context, levels: &Arc<Vec<StencilLevel<T>>>, singular: bool) -> Result<Stencils<T>> {
        let coarsest = &levels.last().expect("a box has a level").operator;
        let inverse = levels::inverse(context, coarsest.unknowns(), coarsest.dense()?, singular)?;
        let work =
            levels.iter().map(|level| Vector::zeros(context, level.operator.unknowns())).collect::<Result<_>>()?;
        let strips = levels.iter().map(|level| with_spare(StencilStrips::new(context, level), level));
        let strips = strips.collect::<Result<_>>()?;
        Ok(Stencils { context: context.clone(), levels: Arc::clone(levels), work, strips, inverse })
    }

    /// With strips on all levels that can be cut into them, whatever their size.
    #[cfg(test)]
    pub(super) fn in_strips(mut self) -> Result<Stencils<T>> {
        let strips = self.levels.iter().map(|level| with_spare(StencilStrips::of_any(&self.context, level), level));
        self.strips = strips.collect::<Result<_>>()?;
        Ok(self)
    }

    fn transfer(&self, level: usize) -> &Transfer<T> {
        self.levels[level].transfer.as_ref().expect("the coarsest level has no coarser one")
    }

    fn restrict(&self, level: usize, fine: &Vector<T>, coarse: &Vector<T>) -> Result<()> {
        let Transfer { coarsened, to, parts: [wx, wy, wz], .. } = self.transfer(level);
        let ([nx, ny, _], coarser) = (self.levels[level].operator.counts(), &self.levels[level + 1].operator);
        let [mx, my, mz] = coarser.counts();
        let (program, range, out) = (coarser.program(), coarser.all(), Out::shared(coarse.buffer()));
        let (context, fine) = (&self.context, fine.buffer());
        program.restrict_stencil(context, range, mx, my, mz, nx, ny, *coarsened, to, wx, wy, wz, fine, out)
    }
}

/// The strips of a level with the grid that their passes write.
fn with_spare<T: Real>(
    strips: Option<StencilStrips>,
    level: &StencilLevel<T>,
) -> Result<Option<(StencilStrips, Vector<T>)>> {
    strips.map(|strips| Ok((strips, level.operator.zeros()?))).transpose()
}

impl<T: Real> Space<T> for Stencils<T> {
    fn defect_to(&mut self, u: &Vector<T>, f: &Vector<T>, d: &mut Vector<T>) -> Result<()> {
        self.levels[0].operator.residual(u, f, d)
    }

    fn dot(&self, a: &Vector<T>, b: &Vector<T>) -> Result<T> {
        ops::dot(a, b)
    }

    fn update(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        ops::update(alpha, x, beta, y)
    }
}

impl<T: Real> Hierarchy for Stencils<T> {
    type Grid = Vector<T>;

    fn zeros(&self, level: usize) -> Result<Vector<T>> {
        Vector::zeros(&self.context, self.levels[level].operator.unknowns())
    }

    fn clear(&self, u: &mut Vector<T>) -> Result<()> {
        u.fill(T::zero())
    }

    fn solve_coarsest(&mut self, u: &mut Vector<T>, f: &Vector<T>, _zero: bool) -> Result<()> {
        ops::mv(T::one(), &self.inverse, f, T::zero(), u)
    }

    fn defect_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        let (operator, work) = (&self.levels[level].operator, &self.work[level]);
        operator.residual(u, f, work)?;
        self.norm(work)
    }

    fn source_norm(&mut self, _level: usize, _u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        self.norm(f)
    }

    fn norm(&self, u: &Vector<T>) -> Result<f64> {
        Ok(ops::norm2(u)?.into_f64())
    }

    fn coarsen(
        &mut self,
        level: usize,
        _u: &Vector<T>,
        f: &Vector<T>,
        _coarse_u: &mut Vector<T>,
        coarse_f: &mut Vector<T>,
    ) -> Result<()> {
        self.restrict(level, f, coarse_f)
    }
}

impl<T: Real> Components for Stencils<T> {
    type Grid = Vector<T>;
    type Hierarchy = Self;

    fn hierarchy(&self) -> &Self {
        self
    }

    fn hierarchy_mut(&mut self) -> &mut Self {
        self
    }

    fn smooth(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        let StencilLevel { operator, parts, .. } = &self.levels[level];
        if let Some((strips, spare)) = &mut self.strips[level] {
            return strips.relax(operator, (Start::Current, sweeps), u, f, spare);
        }
        let colours = operator.colours();
        let steps = parts.iter().flat_map(|part| colours.iter().map(move |&colour| (part, colour)));
        let mut steps: Vec<_> = steps.collect();
        if sweeps.order == Order::BlackFirst {
            steps.reverse();
        }
        for _ in 0..sweeps.count {
            steps.iter().try_for_each(|(part, colour)| operator.relax(part, *colour, u, f))?;
        }
        Ok(())
    }

    fn smooth_from_zero(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        if let Some((strips, spare)) = self.strips[level].as_mut().filter(|_| sweeps.count > 0) {
            return strips.relax(&self.levels[level].operator, (Start::FromZero, sweeps), u, f, spare);
        }
        self.clear(u)?;
        self.smooth(level, u, f, sweeps)
    }

    fn restrict_defect(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>, coarse: &mut Vector<T>) -> Result<()> {
        let (operator, work) = (&self.levels[level].operator, &self.work[level]);
        operator.residual(u, f, work)?;
        self.restrict(level, work, coarse)
    }

    fn interpolate_add(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        let Transfer { coarsened, from, parts: [wx, wy, wz], .. } = self.transfer(level);
        let (operator, [mx, my, _]) = (&self.levels[level].operator, self.levels[level + 1].operator.counts());
        let ([nx, ny, nz], u) = (operator.counts(), Out::shared(u.buffer()));
        let (program, context, coarse) = (operator.program(), &self.context, coarse.buffer());
        program.add_interpolated(context, operator.all(), nx, ny, nz, mx, my, *coarsened, from, wx, wy, wz, coarse, u)
    }

    /// By the interpolation of corrections.
    fn refine(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        u.fill(T::zero())?;
        self.interpolate_add(level, coarse, u)
    }
}
