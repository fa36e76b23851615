//! Stage groups that follow each other block after block of points, at the access distance.
//!
//! A stage group computes a block as soon as the one before has computed what neighbours read: the same block and what lies at most
//! the access distance d after it. Its own block therefore stands d before that one's, and all stage groups of a block run before the
//! next block. What a stage group reads was stored just before, and is still in the cache where a block's vectors fit it. Every stage group
//! is a launch, so that no work-group waits for another one, on any device.
//!
//! The buffer of a vector that is no longer needed is reused, as in [`Variant::Fused`](crate::Variant::Fused): a stage group
//! overwrites points that lie a distance before all that earlier stage groups still read.
//!
//! Words, per component: memory sees what comes in once and each buffer that is stored to once, however many stage groups store
//! there; where blocks with the distances of all stage groups do not fit the cache, what reaches over a block's ends as well. The
//! cache sees all words of the fused kernels. A launch costs as much as some words.

use clinalg::KernelFamily;

use crate::method::graph::Op;
use crate::plan::fusion::Plan;

/// Points that a group of a plan computes in one launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) group: usize,
    /// The first, and past the last.
    pub(crate) begin: usize,
    pub(crate) end: usize,
}

/// The blocks of `groups` groups in their order: `width` points each, those of a group `distance` before those of the
/// group before.
pub(crate) fn blocks(points: usize, groups: usize, width: usize, distance: usize) -> Vec<Block> {
    let count = points.div_ceil(width);
    let edge = |k: usize, group: usize| match k == count {
        true => points,
        false => (k * width).saturating_sub(group * distance),
    };
    (0..count)
        .flat_map(|k| (0..groups).map(move |group| (k, group)))
        .map(|(k, group)| Block { group, begin: edge(k, group), end: edge(k + 1, group) })
        .filter(|block| block.begin < block.end)
        .collect()
}

/// What lies between two stage groups: the access distance, rounded up so that blocks begin where vectors of a GPU's lanes do.
pub(crate) fn spacing(distance: usize) -> usize {
    distance.next_multiple_of(32)
}

/// Bytes of blocks that are worth a trial, as shares of caches are usual.
pub(crate) fn sizes(family: KernelFamily) -> &'static [usize] {
    match family {
        KernelFamily::Gpu => &[32 << 20, 16 << 20],
        KernelFamily::Cpu => &[4 << 20, 12 << 20],
    }
}

/// Words that come from and go to memory, per component, with blocks of `width` points.
pub(crate) fn words(plan: &Plan, width: usize, distance: usize, fits: bool) -> f64 {
    let distinct = |mut all: Vec<usize>| {
        all.sort_unstable();
        all.dedup();
        all.len()
    };
    let reads = || plan.groups().iter().flat_map(|g| &g.reads);
    let inputs = reads().filter(|v| plan.graph().node(**v).op == Op::Input).filter_map(|v| plan.place(*v));
    let stored = plan.groups().iter().flat_map(|g| &g.writes).filter_map(|v| plan.place(*v));
    let through = distinct(inputs.collect()) + distinct(stored.collect());
    let over = if fits { 0.0 } else { reads().count() as f64 * distance as f64 / width as f64 };
    through as f64 + over
}

/// What the cache and the launches cost of `words` words of the fused kernels and `launches` launches over `bytes` bytes of a
/// vector, in words from memory.
pub(crate) fn least(family: KernelFamily, words: usize, launches: usize, bytes: usize) -> f64 {
    let (cache, launch) = match family {
        // A second-level cache gives half as much again as memory; 3 us are 12 MB.
        KernelFamily::Gpu => (0.7, 12e6),
        KernelFamily::Cpu => (0.5, 0.5e6),
    };
    cache * words as f64 + launch * launches as f64 / bytes as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_finds_what_it_reads_and_overwrites_nothing_that_is_still_read() {
        for (points, groups, width, distance) in [
            (1000, 4, 100, 32),
            (1000, 4, 100, 0),
            (1000, 7, 64, 200),
            (90, 3, 1000, 7),
            (1000, 3, 33, 5000),
            (1, 2, 1, 1),
        ] {
            let mut done = vec![0; groups];
            for block in blocks(points, groups, width, distance) {
                let Block { group, begin, end } = block;
                assert_eq!(begin, done[group], "{block:?}");
                for before in &done[..group] {
                    assert!(*before >= (end + distance).min(points), "{block:?} after {done:?}");
                }
                done[group] = end;
            }
            assert_eq!(done, vec![points; groups]);
        }
    }
}
