//! The values of the sides.

use super::grid::{Condition, End, Grid};
use crate::error::check_length;
use crate::{Error, Real, Result};

/// The values g of the conditions on the sides of a [`Grid`]. Sides without values have 0; on vertex-centred Dirichlet sides
/// without values u keeps those that it has.
#[derive(Debug, Clone, PartialEq)]
pub struct SideValues<T> {
    points: Vec<usize>,
    values: Vec<[Option<Vec<T>>; 2]>,
}

impl<T: Real> SideValues<T> {
    /// Without values.
    pub fn new(grid: &Grid) -> SideValues<T> {
        SideValues { points: grid.points().to_vec(), values: vec![[None, None]; grid.dim()] }
    }

    /// Number of values of a side across `axis`: the product of the points of the other directions.
    fn count(&self, axis: usize) -> usize {
        self.points.iter().enumerate().filter(|(other, _)| *other != axis).map(|(_, n)| n).product()
    }

    /// Sets the values of a side at the points of the other directions, in their order: on the side x = 0 of a box of three
    /// dimensions value (j, k) is `values[k * ny + j]`. Where sides with Dirichlet conditions meet, the last direction holds.
    ///
    /// # Errors
    /// [`Error::Length`] that names `values`; [`Error::Value`] where there is no such axis.
    pub fn set(&mut self, axis: usize, end: End, values: Vec<T>) -> Result<()> {
        self.check_axis(axis)?;
        check_length("values", self.count(axis), values.len())?;
        self.values[axis][end.index()] = Some(values);
        Ok(())
    }

    /// Clears the values of a side.
    ///
    /// # Errors
    /// [`Error::Value`] where there is no such axis.
    pub fn clear(&mut self, axis: usize, end: End) -> Result<()> {
        self.check_axis(axis)?;
        self.values[axis][end.index()] = None;
        Ok(())
    }

    fn check_axis(&self, axis: usize) -> Result<()> {
        if axis < self.points.len() {
            return Ok(());
        }
        Err(Error::value("axis", format!("less than {}", self.points.len()), axis))
    }

    /// The values of a function of the axis, the end and the coordinates of the point on the side; of sides that are not
    /// periodic. The third coordinate is 0 in two dimensions.
    ///
    /// # Errors
    /// As [`Grid::check`].
    pub fn from_fn(grid: &Grid, mut g: impl FnMut(usize, End, [f64; 3]) -> T) -> Result<SideValues<T>> {
        grid.check()?;
        let mut sides = SideValues::new(grid);
        let coordinates: Vec<_> = (0..grid.dim()).map(|axis| grid.coordinates(axis)).collect::<Result<_>>()?;
        for axis in 0..grid.dim() {
            let around = grid.around(axis)?;
            for end in [End::Low, End::High].into_iter().filter(|&end| grid.condition(axis, end) != Condition::Periodic)
            {
                let values = (0..sides.count(axis)).map(|p| {
                    let mut rest = p;
                    let mut at = [0.0; 3];
                    for (other, x) in coordinates.iter().enumerate() {
                        at[other] = if other == axis { around[end.index()] } else { x[rest % x.len()] };
                        rest /= if other == axis { 1 } else { x.len() };
                    }
                    g(axis, end, at)
                });
                sides.values[axis][end.index()] = Some(values.collect());
            }
        }
        Ok(sides)
    }

    /// The values of a side, if they were set.
    pub(super) fn get(&self, axis: usize, end: usize) -> Option<&[T]> {
        self.values[axis][end].as_deref()
    }

    /// Points of each direction of the grid.
    pub(super) fn points(&self) -> &[usize] {
        &self.points
    }
}
