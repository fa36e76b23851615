//! Boxes of any size, spacing and conditions: finite volumes, semicoarsening, point smoothing.

mod axis;
mod coarse;
mod device;
mod field;
mod gpu;
mod grid;
mod levels;
mod operator;
mod points;
mod problem;
mod sides;
mod solver;
mod stencil;
mod stencil_device;
mod stencil_strips;
mod strips;
mod sweep;
mod tables;
mod tiles;

pub use field::Tensor;
pub(super) use field::{Varying, is_positive};
pub(super) use grid::by;
pub use grid::{Centring, Condition, End, Grid};
pub use operator::{PoissonOperator, PoissonPreconditioner};
pub(super) use points::{BoundaryData, Layout, Points};
pub(super) use problem::Problem;
pub use sides::SideValues;
pub(super) use solver::Solver;

/// The single operations on `grid` and the unknowns of each level.
#[cfg(test)]
pub(crate) fn components<T: crate::Real>(
    context: &crate::Context,
    grid: &Grid,
) -> crate::Result<(device::Boxes<T>, Vec<usize>)> {
    let levels = levels::levels(grid.axes(&[1.0; 3])?, 1.0);
    Ok((device::Boxes::new(context, &levels, false)?, levels.iter().map(levels::Level::unknowns).collect()))
}

/// The components of GPUs on `grid`.
#[cfg(test)]
pub(crate) fn gpu_components<T: crate::Real>(context: &crate::Context, grid: &Grid) -> crate::Result<gpu::GpuBoxes<T>> {
    gpu::GpuBoxes::new(context, &levels::levels(grid.axes(&[1.0; 3])?, 1.0), false)
}

/// The components for a coefficient that varies, with the matrices of all levels, row by row.
#[cfg(test)]
pub(crate) fn stencil_components<T: crate::Real>(
    context: &crate::Context,
    grid: &Grid,
    params: &super::PoissonParams,
    coefficient: super::Coefficient<'_, T>,
) -> crate::Result<(impl super::cycle::Components<Grid = crate::Vector<T>>, Vec<Vec<f64>>)> {
    let problem = Problem::new(context, grid, params, Some(Varying::Coefficient(coefficient)))?;
    let problem::Levels::Coupled(levels, _) = &problem.levels else { unreachable!("a coefficient couples points") };
    let matrices = levels.iter().map(|level| level.operator.dense()).collect::<crate::Result<_>>()?;
    Ok((stencil_device::Stencils::new(context, levels, problem.singular)?, matrices))
}

/// The components of GPUs for a coefficient in each cell, by single kernels and in strips, and the number of unknowns by level.
#[cfg(test)]
pub(crate) fn stencil_strip_components<T: crate::Real>(
    context: &crate::Context,
    grid: &Grid,
    params: &super::PoissonParams,
    cells: &[T],
) -> crate::Result<([impl super::cycle::Components<Grid = crate::Vector<T>>; 2], Vec<usize>)> {
    let varying = Varying::Coefficient(super::Coefficient::Cells(cells));
    let problem = Problem::new(context, grid, params, Some(varying))?;
    let problem::Levels::Coupled(levels, _) = &problem.levels else { unreachable!("a coefficient couples points") };
    let single = || stencil_device::Stencils::new(context, levels, problem.singular);
    let counts = levels.iter().map(|level| level.operator.unknowns()).collect();
    Ok(([single()?, single()?.in_strips()?], counts))
}
