//! Sizes of tiles: which fit a target, and which are worth a trial.

use clinalg::{KernelFamily, Real};

use crate::model::access::distance;
use crate::model::system::System;
use crate::plan::group::{self, most_arguments};
use crate::plan::{Group, Plan, Variant};
use crate::schedule::options::Tile;
use crate::schedule::target::Target;
use crate::tiling::{multi_workgroup, streaming};

/// Rows of a streaming tile where there are enough streaming tiles anyway: the last ones of a launch keep fewer units waiting.
pub(super) const MOST_ROWS: usize = 128;

/// Columns and lines of a streaming tile with those on either side, and the items that have it.
pub(super) fn streaming_sizes(target: &Target, tile: &Tile, dims: usize) -> (usize, usize, usize) {
    match (target.family, dims) {
        (KernelFamily::Gpu, 3) => {
            (tile.points, tile.items / tile.points.max(1), tile.items / tile.points.max(1) * tile.points)
        }
        (KernelFamily::Gpu, _) => (tile.items, 1, tile.items),
        (KernelFamily::Cpu, 3) => (tile.points, tile.items, 1),
        (KernelFamily::Cpu, _) => (tile.points, 1, 1),
    }
}

/// Whether a tile's values fit the registers and the local memory of a GPU, or the arrays of a CPU.
pub(super) fn fits<T: Real>(target: &Target, plan: &Plan, group: &Group, system: &System, tile: &Tile) -> bool {
    let word = size_of::<T>();
    // The tree of the norm stands beside them.
    let tree = if group::reduces(plan, group) { tile.items * word } else { 0 };
    let available = target.local_mem.saturating_sub(tree);
    match (target.family, plan.variant()) {
        (KernelFamily::Cpu, Variant::Grid) => true,
        (KernelFamily::Cpu, _) => {
            let vectors = most_arguments(plan, group) + plan.waiting(group);
            let bytes = vectors * system.fields().len() * tile.points * word;
            tile.points <= MOST_POINTS
                && (bytes <= CACHE_BYTES || tile.points <= LEAST_POINTS.max(8 * distance(system)))
        }
        (KernelFamily::Gpu, Variant::Grid) => {
            let local = streaming::local_bytes::<T>(plan, group, system, tile.items);
            let kept = streaming::kept_values(plan, group, system) * word;
            local <= available && (kept <= KEPT_BYTES || tile.stage_groups == 1)
        }
        (KernelFamily::Gpu, Variant::Cooperative) => multi_workgroup_fits::<T>(target, plan, group, system, tile),
        (KernelFamily::Gpu, _) => {
            let points = tile.points * system.fields().len();
            let local = most_arguments(plan, group).max(1) * points * tile.items * word;
            local <= available && plan.waiting(group) * points * word <= KEPT_BYTES
        }
    }
}

/// Whether what work-groups that wait for each other keep from stage group to stage group fits a GPU's local memory, beside the tree of the
/// norm, and so many groups' together four times as much, which units have where a group has it.
pub(super) fn multi_workgroup_fits<T: Real>(
    target: &Target,
    plan: &Plan,
    group: &Group,
    system: &System,
    tile: &Tile,
) -> bool {
    let tree = if group::reduces(plan, group) { tile.items } else { 0 };
    let kept = multi_workgroup::places(plan, group).1 * system.fields().len() * tile.items * tile.points;
    let bytes = (tree + kept) * size_of::<T>() + 64;
    bytes <= target.local_mem && bytes * tile.rows.max(1) <= 4 * target.local_mem
}

/// Bytes of values that an item keeps at most for later stage groups: registers.
const KEPT_BYTES: usize = 640;

/// Most points of an item's arrays on a CPU, and points up to which their bytes do not matter.
const MOST_POINTS: usize = 16 * 1024;

pub(super) const LEAST_POINTS: usize = 1024;

/// Bytes of an item's arrays on a CPU: half of a core's second-level cache.
const CACHE_BYTES: usize = 512 * 1024;

/// Items of a work-group, points of an item and work-groups of a unit that wait for each other.
pub(super) const MULTI_WORKGROUP: [[usize; 3]; 3] = [[256, 8, 4], [256, 4, 5], [256, 2, 5]];
