//! Values at the points of a grid, from where they are made to the devices.

use std::ops::Range;

use clinalg::multigrid::Separable;
use clinalg::ops::Uniform;
use clinalg::{Real, Result, Vector};
use clinalg_ode::{Function, Places};

/// Values at the points of a grid that devices compute, each those of its part, or that the host has.
pub(crate) enum GridValues<T> {
    Separable(Separable),
    Random(Uniform),
    /// A function of the coordinates along the axes, at some of the points; others keep their values.
    Formula {
        function: Function,
        axes: Vec<Vec<f64>>,
        places: Places,
    },
    Host(Vec<T>),
}

impl<T: Real> GridValues<T> {
    /// Writes the values at consecutive points, whole rows or planes of the grid, to a vector on a device.
    ///
    /// # Errors
    /// Those of the device.
    pub(crate) fn fill(&self, points: Range<usize>, out: &mut Vector<T>) -> Result<()> {
        match self {
            GridValues::Separable(function) => function.fill_range(points, out),
            GridValues::Random(numbers) => numbers.skip(points.start).fill(out),
            GridValues::Formula { function, axes, places } => function.fill(axes, places, points, out),
            GridValues::Host(values) => out.write(&values[points]),
        }
    }
}
