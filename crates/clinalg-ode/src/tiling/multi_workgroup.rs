//! Kernels whose work-groups wait for each other.
//!
//! Each group computes a block of points through all stage groups of the kernel, then the block as many further as there are groups.
//! What a later stage group reads at the point itself stays with the group in local memory, unless it is stored anyway; what neighbours
//! read goes through memory, or the cache where that is large enough. After a stage group a group makes what it stored known to
//! the device and raises the flag of its block, a number that counts launches, so that no flag is ever taken down; before
//! the next stage group it waits for the flags of all blocks within the access distance.
//!
//! Groups have to run at the same time. A block waits in its stage group k for blocks that are at most the access distance further
//! and in stage group k - 1, those for others in stage group k - 2; the last in the chain wait for none, but must have begun. With
//! blocks of w points, distance d and n stage groups, ⌈d/w⌉ (n - 1) + 1 groups are enough, see [`enough`]. Whether so many run at
//! the same time is determined by a launch in which they only meet; groups that arrive after enough
//! others return at once. A group whose wait runs out of patience sets a flag that the host reads.

use std::collections::BTreeMap;

use crate::method::graph::{Op, Value};
use crate::model::access::distance;
use crate::model::system::System;
use crate::plan::Plan;
use crate::plan::group::{Group, stage_groups_of};

/// Groups that have to run at the same time for `blocks` blocks of `width` points.
pub(crate) fn enough(blocks: usize, stage_groups: usize, d: usize, width: usize) -> usize {
    ((stage_groups - 1) * d.div_ceil(width) + 1).min(blocks)
}

/// What the cache and the waits of a kernel cost, in words from memory, for groups with `together` points. Neighbours in
/// other rows are words of their own in the cache. A block is waited for while those of the access distance are computed
/// in each stage group but the last: for that part of the time its group does nothing.
pub(crate) fn least(plan: &Plan, group: &Group, system: &System, together: usize) -> f64 {
    let graph = plan.graph();
    let stage_groups = stage_groups_of(plan, group).len();
    let mut rows: Vec<[i32; 2]> = system.offsets().iter().map(|o| [o[1], o[2]]).collect();
    rows.sort_unstable();
    rows.dedup();
    let rows = if system.snippet.is_some() { SNIPPET_ROWS } else { rows.len().max(1) };
    let (places, _) = places(plan, group);
    let read = |v: &Value| match &graph.node(*v).op {
        Op::Rhs { .. } => rows,
        op => op.reads().iter().filter(|r| !places.contains_key(*r) && plan.place(**r).is_some()).count(),
    };
    let words = group.nodes.iter().map(read).sum::<usize>() + group.writes.len() + group.saved.len();
    let idle = (stage_groups - 1) as f64 * distance(system) as f64 / together as f64;
    CACHE * words as f64 / (1.0 - idle.min(0.9))
}

/// What a word from the cache costs where all groups compute, in words from memory, barriers and latencies within; fitted to RK4 at
/// two distances on an H200.
const CACHE: f64 = 0.6;

/// Rows that a right-hand side in OpenCL C is assumed to read.
const SNIPPET_ROWS: usize = 3;

/// Places in local memory of the vectors that a later stage group reads at the point and that are not stored, and the number of
/// places: the stage group that reads a vector last gives its place to one that it makes.
pub(crate) fn places(plan: &Plan, group: &Group) -> (BTreeMap<Value, usize>, usize) {
    let stage_groups = plan.graph().stage_groups();
    let stored = |v: &Value| group.writes.contains(v) || group.saved.contains(v);
    let mut last: BTreeMap<Value, usize> = BTreeMap::new();
    for v in group.nodes.iter().filter(|v| !matches!(plan.graph().node(**v).op, Op::Rhs { .. })) {
        for r in plan.graph().node(*v).op.reads() {
            if group.nodes.contains(&r) && !stored(&r) && stage_groups[r.0] < stage_groups[v.0] {
                let until = last.entry(r).or_insert(0);
                *until = (*until).max(stage_groups[v.0]);
            }
        }
    }
    let mut made: Vec<Value> = last.keys().copied().collect();
    made.sort_by_key(|v| stage_groups[v.0]);
    // The stage group after which each place is free.
    let mut until: Vec<usize> = Vec::new();
    let mut places = BTreeMap::new();
    for v in made {
        let place = until.iter().position(|u| *u <= stage_groups[v.0]).unwrap_or_else(|| {
            until.push(0);
            until.len() - 1
        });
        until[place] = last[&v];
        places.insert(v, place);
    }
    (places, until.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups that run one at a time, each as far as it can, in the worst order: the last one first.
    fn finishes(groups: usize, blocks: usize, stage_groups: usize, reach: usize) -> bool {
        let mut done = vec![0; blocks];
        let mut at: Vec<usize> = (0..groups).collect();
        loop {
            let mut moved = false;
            for block in at.iter_mut().rev() {
                while *block < blocks {
                    let near = block.saturating_sub(reach)..(*block + reach + 1).min(blocks);
                    if done[*block] > 0 && done[near].iter().any(|k| *k < done[*block]) {
                        break;
                    }
                    done[*block] += 1;
                    moved = true;
                    if done[*block] == stage_groups {
                        *block += groups;
                    }
                }
            }
            if !moved {
                return done.iter().all(|k| *k == stage_groups);
            }
        }
    }

    #[test]
    fn enough_groups_finish_and_one_less_does_not() {
        for (blocks, stage_groups, d, width) in
            [(40, 4, 100, 32), (40, 3, 1, 32), (9, 2, 5000, 32), (40, 7, 0, 1), (33, 2, 64, 32)]
        {
            let groups = enough(blocks, stage_groups, d, width);
            assert!(finishes(groups, blocks, stage_groups, d.div_ceil(width)), "{blocks} {stage_groups} {d}");
            assert!(
                groups == 1 || !finishes(groups - 1, blocks, stage_groups, d.div_ceil(width)),
                "{blocks} {stage_groups} {d}"
            );
        }
    }
}
