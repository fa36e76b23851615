//! Variants: how a step becomes kernels.

use serde::Serialize;

use crate::{Error, Result};

/// How a graph is cut into kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// The fastest of the others for the method, the system and the device.
    Auto,
    /// One kernel for each operation.
    Basic,
    /// One kernel for each stage group: right-hand sides that are independent of each other with all linear combinations and
    /// reductions that need nothing later. Linear combinations are split, and cloned into later stage groups, so that the fewest
    /// words are moved; on devices they are inlined as well where that costs less, see [`Graph::inline`](crate::Graph::inline).
    Fused,
    /// Several stage groups in one kernel: tiles along the index of grid points, computed with as much of their neighbours as they
    /// need.
    Overlapped,
    /// Several stage groups in two kernels: tiles that get narrower from stage group to stage group, then what is left between them.
    Trapezoidal,
    /// Rows of tiles that get wider for some stage groups and then narrower, each between two of the row before.
    Hexagonal,
    /// Several stage groups in one kernel on a grid of two or three dimensions: streaming tiles of columns, the stage groups following each other
    /// down the rows or the planes. What is computed twice does not depend on the length of the rows.
    Grid,
    /// The kernels of [`Variant::Fused`] on one block of points after the other: each stage group follows the one before at the
    /// access distance, so that it finds in the cache what that one stored. Nothing is computed twice, and the distance may
    /// be as large as some of the cache.
    Wavefront,
    /// Several stage groups in one kernel whose work-groups run at the same time: each computes a block of points through all of the
    /// stage groups, and waits after each for those that compute its neighbours. Nothing is computed twice; the distance may be as
    /// large as the blocks of all groups together, over the number of stage groups. Where a device does not let work-groups wait for
    /// each other, [`Variant::Wavefront`] runs.
    Cooperative,
    /// Two stage groups in one kernel over all points, whatever the distance: a point computes again what the second stage group reads of
    /// the first at its neighbours, out of what the caches hold.
    Recomputed,
}

impl Variant {
    /// Every variant.
    pub const ALL: [Variant; 10] = [
        Variant::Auto,
        Variant::Basic,
        Variant::Fused,
        Variant::Overlapped,
        Variant::Trapezoidal,
        Variant::Hexagonal,
        Variant::Grid,
        Variant::Wavefront,
        Variant::Cooperative,
        Variant::Recomputed,
    ];

    /// The variant of this name.
    ///
    /// # Errors
    /// [`Error::Value`] for another name.
    pub fn named(name: &str) -> Result<Variant> {
        let all = Variant::ALL.map(Variant::name);
        let known = Variant::ALL.into_iter().find(|v| v.name() == name);
        known.ok_or_else(|| Error::value("variant", format!("one of {}", all.join(", ")), name))
    }

    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Auto => "auto",
            Variant::Basic => "basic",
            Variant::Fused => "fused",
            Variant::Overlapped => "overlapped",
            Variant::Trapezoidal => "trapezoidal",
            Variant::Hexagonal => "hexagonal",
            Variant::Grid => "grid",
            Variant::Wavefront => "wavefront",
            Variant::Cooperative => "cooperative",
            Variant::Recomputed => "recomputed",
        }
    }

    /// Whether several stage groups are computed on tiles of the points, and several steps where that is requested.
    pub fn tiled(self) -> bool {
        !matches!(self, Variant::Auto | Variant::Basic | Variant::Fused)
    }

    /// Whether a kernel computes several stage groups.
    pub(crate) fn joins_stage_groups(self) -> bool {
        self.tiled() && self != Variant::Wavefront
    }
}
