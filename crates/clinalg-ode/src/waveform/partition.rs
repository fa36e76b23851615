//! Partitions: which components form a block.

use crate::model::System;
use crate::{Error, Result};

/// How components are cut into blocks. Values inside a block come from the iterate at hand, others from the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partition {
    /// Every component is a block: Jacobi iteration.
    Component,
    /// All fields of a grid point are a block.
    Point,
    /// All fields of a box of grid points are a block, with so many points along each axis: block-Jacobi iteration. Boxes
    /// at the upper ends of the grid may be smaller.
    Block([usize; 3]),
    /// The part of the grid of each device of a team is a block: consecutive rows along its slowest axis.
    Device,
}

impl Partition {
    /// Names of the kinds.
    pub const NAMES: [&'static str; 4] = ["component", "point", "block", "device"];

    /// The name of the kind, one of [`Partition::NAMES`].
    pub fn name(&self) -> &'static str {
        match self {
            Partition::Component => "component",
            Partition::Point => "point",
            Partition::Block(_) => "block",
            Partition::Device => "device",
        }
    }

    /// # Errors
    /// [`Error::Value`] for a block without points or with more along an axis than the grid has.
    pub(crate) fn check(&self, system: &System) -> Result<()> {
        let Partition::Block(sides) = self else { return Ok(()) };
        let n = system.grid().n;
        match (0..3).find(|axis| !(1..=n[*axis]).contains(&sides[*axis])) {
            Some(axis) => {
                let expected = format!("from 1 to the grid's {} points along axis {axis}", n[axis]);
                Err(Error::value("block", expected, sides[axis]))
            }
            None => Ok(()),
        }
    }

    /// Points of a block along each axis, where it is made of points; of one device all.
    pub(crate) fn sides(&self, system: &System) -> [usize; 3] {
        match self {
            Partition::Block(sides) => *sides,
            Partition::Device => system.grid().n,
            Partition::Component | Partition::Point => [1; 3],
        }
    }

    /// Number of blocks of points along each axis.
    pub(crate) fn counts(&self, system: &System) -> [usize; 3] {
        let (n, sides) = (system.grid().n, self.sides(system));
        std::array::from_fn(|axis| n[axis].div_ceil(sides[axis]))
    }

    /// The block of each component, in the order of memory.
    pub(crate) fn blocks(&self, system: &System) -> Vec<usize> {
        let (sides, counts) = (self.sides(system), self.counts(system));
        let mut all = vec![0; system.components()];
        for p in 0..system.grid().points() {
            let [x, y, z] = system.grid().index(p);
            let block = x / sides[0] + counts[0] * (y / sides[1] + counts[1] * (z / sides[2]));
            for field in 0..system.fields().len() {
                let component = system.component(field, p);
                all[component] = if *self == Partition::Component { component } else { block };
            }
        }
        all
    }
}
