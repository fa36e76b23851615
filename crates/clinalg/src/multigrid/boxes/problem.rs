//! A checked problem on a grid, its levels and its right-hand sides.

use std::sync::Arc;

use super::axis::Factors;
use super::field::{Finest, Varying};
use super::grid::Grid;
use super::levels::{Level, levels};
use super::points::{Layout, Points};
use super::stencil::{self, StencilLevel};
use crate::error::check_length;
use crate::multigrid::params::PoissonParams;
use crate::{Context, Error, Real, Result, Vector};

/// A checked problem: its levels and where its unknowns lie.
pub(in crate::multigrid) struct Problem<T: Real> {
    /// Of the finest level; what given values add to the right-hand side by couplings that vary has been left out.
    factors: Vec<Factors>,
    pub(super) levels: Levels<T>,
    pub(super) layout: Layout,
    /// Whether u is determined up to a constant only.
    pub(super) singular: bool,
    /// Of the discretisation.
    order: usize,
}

/// The operators of all levels.
pub(super) enum Levels<T: Real> {
    /// Sums of tensor products.
    Separable(Vec<Level>),
    /// By their couplings on the device, with the grid of the finest.
    Coupled(Arc<Vec<StencilLevel<T>>>, Box<Finest<T>>),
}

impl<T: Real> Problem<T> {
    pub(in crate::multigrid) fn new(
        context: &Context,
        grid: &Grid,
        params: &PoissonParams,
        varying: Option<Varying<'_, T>>,
    ) -> Result<Problem<T>> {
        params.check(grid)?;
        let axes = grid.axes(&params.diffusion)?;
        let singular = params.shift == 0.0 && axes.iter().all(|axis| axis.floats());
        let Level { mut factors, .. } = Level::new(axes.clone(), params.shift);
        let layout = Layout::new(grid);
        let order = params.order;
        if varying.is_some() && order != 2 {
            return Err(Error::value("order", "2 with a variable coefficient or tensor", order));
        }
        if varying.is_none() && params.mixed_in(grid.dim()) == [0.0; 3] && order == 2 {
            let levels = Levels::Separable(levels(axes, params.shift));
            return Ok(Problem { factors, levels, layout, singular, order });
        }
        let finest = Finest::new(context, &axes, &layout, params, varying)?;
        for (factors, axis) in factors.iter_mut().zip(&axes) {
            for end in (0..2).filter(|&end| Finest::<T>::takes(axis, end)) {
                factors.load[end] = 0.0;
            }
        }
        let levels = stencil::levels(finest.operator()?, axes.iter().map(stencil::distances).collect())?;
        let levels = Levels::Coupled(Arc::new(levels), Box::new(finest));
        Ok(Problem { factors, levels, layout, singular, order })
    }

    /// Unknowns of each direction, by level.
    pub(in crate::multigrid) fn counts(&self) -> Vec<[usize; 3]> {
        match &self.levels {
            Levels::Separable(levels) => levels.iter().map(Level::counts).collect(),
            Levels::Coupled(levels, _) => levels.iter().map(|level| level.operator.counts()).collect(),
        }
    }

    /// Most points of a direction, by level.
    pub(super) fn sides(&self) -> Vec<usize> {
        self.counts().iter().map(|counts| counts.iter().copied().max().unwrap_or(1)).collect()
    }

    /// A typical sum of the magnitudes of a row of the matrix.
    pub(super) fn row_sum(&self) -> Result<f64> {
        let diagonal = match &self.levels {
            Levels::Separable(levels) => levels[0].diagonal(),
            Levels::Coupled(levels, _) => levels[0].operator.diagonal()?,
        };
        Ok(2.0 * diagonal)
    }

    /// What adds the values of sides with factors that vary to the right-hand side.
    pub(super) fn finest(&self) -> Option<&Finest<T>> {
        match &self.levels {
            Levels::Separable(_) => None,
            Levels::Coupled(_, finest) => Some(finest),
        }
    }

    /// The mapping between points and unknowns.
    pub(in crate::multigrid) fn points(&self, context: &Context) -> Result<Points<T>> {
        Points::new(context, &self.layout, &self.factors, self.order, self.singular)
    }
}

/// An error unless all vectors live there and have so many values.
pub(super) fn check<T: Real, const N: usize>(
    context: &Context,
    len: usize,
    vectors: [(&'static str, &Vector<T>); N],
) -> Result<()> {
    for (argument, vector) in vectors {
        if !context.same(vector.context()) {
            return Err(Error::Context { argument });
        }
        check_length(argument, len, vector.len())?;
    }
    Ok(())
}
