//! Options of a schedule.

use clinalg::KernelFamily;

use crate::plan::Variant;
use crate::{Error, Result};

/// Sizes of tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// Most stage groups in a kernel.
    pub stage_groups: usize,
    /// Items of a work-group, on GPUs; on CPUs lines of a streaming tile of a three-dimensional grid.
    pub items: usize,
    /// Grid points of an item on GPUs, of a tile on CPUs; columns of a streaming tile there, and of a streaming tile of a
    /// three-dimensional grid on GPUs as well; points of a block of a wavefront.
    pub points: usize,
    /// Rows, or planes, of a streaming tile of a grid; work-groups of a unit that wait for each other.
    pub rows: usize,
}

/// How the kernels of a [`DeviceStepper`](crate::DeviceStepper) are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceOptions {
    /// The variant.
    pub variant: Variant,
    /// Steps of a fixed size that tiles compute at once where they can, see [`Stepper::advance`](crate::integrate::Stepper::advance); 1 for none.
    pub steps: usize,
    /// Sizes of tiles; `None` for those of the model.
    pub tile: Option<Tile>,
}

impl DeviceOptions {
    /// Checks what does not depend on the problem.
    ///
    /// # Errors
    /// [`Error::Value`] for more than 1024 steps at once, a tile without stage groups, items or points, with more of them
    /// than any device takes, or with a number of items that is no power of two.
    pub(crate) fn check(&self, family: KernelFamily) -> Result<()> {
        if self.steps > MOST_STEPS {
            return Err(Error::value("steps", format!("at most {MOST_STEPS} at once"), self.steps));
        }
        let Some(Tile { stage_groups, items, points, rows }) = self.tile else { return Ok(()) };
        let group = match family {
            KernelFamily::Gpu => items.is_power_of_two() && items <= MOST_ITEMS,
            KernelFamily::Cpu => (1..=MOST_POINTS).contains(&items),
        };
        let sizes = [("stage_groups", stage_groups, MOST_POINTS), ("points", points, MOST_POINTS)];
        if let Some((name, got, most)) = sizes.into_iter().find(|(_, got, most)| !(1..=*most).contains(got)) {
            return Err(Error::value(format!("tile {name}"), format!("from 1 to {most}"), got));
        }
        if rows > MOST_POINTS {
            return Err(Error::value("tile rows", format!("at most {MOST_POINTS}"), rows));
        }
        match group {
            true => Ok(()),
            false => Err(Error::value("tile items", format!("a power of two, at most {MOST_ITEMS}"), items)),
        }
    }
}

/// Most steps that kernels compute at once: every step lengthens their source.
const MOST_STEPS: usize = 1024;

/// Most items of a work-group.
const MOST_ITEMS: usize = 1024;

/// Most points, rows and stage groups of a tile: far more than any device has memory on chip for.
const MOST_POINTS: usize = 1 << 26;

impl Default for DeviceOptions {
    fn default() -> DeviceOptions {
        DeviceOptions { variant: Variant::Auto, steps: 1, tile: None }
    }
}
