//! Panels whose columns need one synchronisation of the device each: a launch, or work-groups that wait for each other.

use super::tuning;
use crate::{Context, Error, Result};

/// How the work-groups of a panel on a GPU see each other's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Panels {
    /// A launch per column.
    Columns,
    /// One launch whose work-groups wait for each other; they have to run at the same time.
    Groups,
}

impl Panels {
    /// By `together` of the tuning table, 0 or 1.
    pub(super) fn new(context: &Context, together: usize) -> Panels {
        if together > 0 && tuning::runs_together(context.device()) { Panels::Groups } else { Panels::Columns }
    }

    /// For so many work-groups, which wait for each other only where each has a compute unit.
    pub(super) fn of(self, context: &Context, groups: usize) -> Panels {
        if groups <= context.units() { self } else { Panels::Columns }
    }

    /// All steps of a panel by `launch`, which takes the first one and the one after the last. Where work-groups wait for
    /// each other, `signalled`, the number that their signals begin with, grows by the steps.
    pub(super) fn launch(self, steps: u32, signalled: &mut u32, launch: impl Fn(u32, u32) -> Result<()>) -> Result<()> {
        match self {
            Panels::Columns => (0..steps).try_for_each(|step| launch(step, step + 1)),
            Panels::Groups => {
                launch(0, steps)?;
                *signalled = signalled.wrapping_add(steps);
                Ok(())
            }
        }
    }
}

/// An error if work-groups were late.
pub(super) fn check_together(argument: &'static str, late: u32) -> Result<()> {
    if late == 0 {
        return Ok(());
    }
    let expected =
        "0 in the tuning table of this device, whose work-groups of a panel did not all run at the same time";
    Err(Error::value(argument, expected, 1))
}

/// How often a work-group looks for the others: about a minute.
pub(super) const PATIENCE: u64 = 1 << 26;
/// The least compute capability of NVIDIA's GPUs with release, acquire and warp-reduction instructions, times ten.
pub(super) const CAPABILITY: u64 = 80;
