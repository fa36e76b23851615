//! Tiles on which a kernel computes several stage groups of a two-dimensional grid, row after row, or on a three-dimensional one, plane after
//! plane.
//!
//! A tile is a streaming tile of columns with as many more on either side as its stage groups reach over. When row j of what the stage groups
//! start from comes in, the first stage group computes row j - l, the second row j - 2 l and so on, where l is how far rows
//! depend on later ones: what lies between two stage groups is a few rows of the streaming tile. On GPUs a work-group has a streaming tile, an item
//! a column of it: the item keeps its own column's last rows of every vector in registers, and what neighbours in the same
//! or other rows read goes through local memory. On CPUs an item has a streaming tile and keeps rows in arrays, with loops
//! along them that become vector code. In three dimensions a streaming tile's columns stand in several lines, and the same holds with planes in place of rows.

use std::collections::BTreeMap;

use clinalg::Real;

use crate::method::graph::{Op, Value};
use crate::model::system::System;
use crate::plan::Plan;
use crate::plan::group::{Group, stage_groups_of};

/// Sizes of streaming tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamingTile {
    /// Columns with those on either side, along x.
    pub(crate) columns: usize,
    /// Lines of columns with those on either side, along y, where planes follow each other; 1 where rows do.
    pub(crate) lines: usize,
    /// Rows or planes that are written.
    pub(crate) rows: usize,
}

/// How far a system reads, and how many rows a stage group stays behind the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Across columns and lines.
    pub(crate) x: i64,
    pub(crate) y: i64,
    /// From row to row.
    pub(crate) along: i64,
    pub(crate) lag: i64,
}

/// The axis along which rows or planes follow each other.
pub(crate) fn axis(system: &System) -> usize {
    system.grid.dims - 1
}

/// Columns and lines that an offset goes over.
pub(crate) fn across(system: &System, offset: [i32; 3]) -> [i32; 2] {
    [offset[0], if axis(system) == 2 { offset[1] } else { 0 }]
}

/// Columns and lines of all offsets that leave the column.
pub(crate) fn all_across(system: &System) -> Vec<[i32; 2]> {
    let mut all: Vec<[i32; 2]> = system.offsets().iter().map(|o| across(system, *o)).filter(|a| *a != [0, 0]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Most rows between a point and one that it reads in another column; `None` where it reads none there.
pub(crate) fn rows_across(system: &System) -> Option<i64> {
    let leaves = |o: &&[i32; 3]| across(system, **o) != [0, 0];
    system.offsets().iter().filter(leaves).map(|o| i64::from(o[axis(system)].abs())).max()
}

impl Reach {
    pub(crate) fn of(system: &System) -> Reach {
        let radius = system.radius().map(|r| r as i64);
        let along = radius[axis(system)];
        let y = if axis(system) == 2 { radius[1] } else { 0 };
        Reach { x: radius[0], y, along, lag: along.max(rows_across(system).unwrap_or(0) + 1) }
    }

    /// Columns and lines of a streaming tile that are written.
    pub(crate) fn own(self, columns: usize, lines: usize, stage_groups: usize) -> Option<(usize, usize)> {
        let x = columns as i64 - 2 * self.x * stage_groups as i64;
        let y = lines as i64 - 2 * self.y * stage_groups as i64;
        (x >= 1 && y >= 1 && 4 * x * y >= (columns * lines) as i64).then_some((x as usize, y as usize))
    }

    /// Words read and written per component by a group of `stage_groups` stage groups, and the work of its stage groups.
    pub(crate) fn words(self, group: &Group, stage_groups: usize, streaming: StreamingTile) -> (f64, f64) {
        let n = stage_groups as f64;
        let (x, y) = self.own(streaming.columns, streaming.lines, stage_groups).unwrap_or((1, 1));
        let wide = (streaming.columns * streaming.lines) as f64 / (x * y) as f64;
        let high = |margin: f64| (streaming.rows as f64 + margin) / streaming.rows as f64;
        let words = group.reads.len() as f64 * wide * high((2 * self.along) as f64 * n) + group.writes.len() as f64;
        // All items run all stage groups; rows at the ends of a streaming tile are run through for every stage group.
        (words, n * wide * high((self.along + self.lag) as f64 * n))
    }
}

/// Bytes of local memory that the kernel of a group takes on a GPU.
pub(crate) fn local_bytes<T: Real>(plan: &Plan, group: &Group, system: &System, columns: usize) -> usize {
    let mut arguments: Vec<Value> = (group.nodes.iter())
        .filter_map(|v| if let Op::Rhs { x, .. } = plan.graph().node(*v).op { Some(x) } else { None })
        .collect();
    arguments.sort_unstable();
    arguments.dedup();
    let Reach { lag, .. } = Reach::of(system);
    let slots = rows_across(system).map_or(0, |a| (lag + a) as usize + 1);
    arguments.len() * system.fields.len() * slots * columns * size_of::<T>()
}

/// Values of a component that the kernel of a group keeps for later rows.
pub(crate) fn kept_values(plan: &Plan, group: &Group, system: &System) -> usize {
    let (count, made) = (stage_groups_of(plan, group).len(), made(plan, group));
    delays(plan, group, Reach::of(system), &made, count).values().map(|d| *d as usize + 1).sum::<usize>()
        * system.fields.len()
}

/// Stage group of each node counted from the group's first, -1 for what comes from memory.
pub(crate) fn made(plan: &Plan, group: &Group) -> Vec<i64> {
    let all = stage_groups_of(plan, group);
    let stage_groups = plan.graph().stage_groups();
    let place = |k: usize| all.binary_search(&stage_groups[k]).expect("a stage group of the group") as i64;
    (0..stage_groups.len()).map(|k| if group.nodes.contains(&Value(k)) { place(k) } else { -1 }).collect()
}

/// Vectors that later stage groups read, with the most rows that they are kept for.
pub(crate) fn delays(
    plan: &Plan,
    group: &Group,
    reach: Reach,
    made: &[i64],
    stage_groups: usize,
) -> BTreeMap<Value, i64> {
    let graph = plan.graph();
    let mut all: BTreeMap<Value, i64> = BTreeMap::new();
    for stage_group in 0..stage_groups as i64 {
        for node in group.nodes.iter().filter(|v| made[v.0] == stage_group) {
            let extra = match graph.node(*node).op {
                Op::Rhs { .. } => reach.along,
                _ => 0,
            };
            for v in graph.node(*node).op.reads() {
                let rows = (stage_group - made[v.0]) * reach.lag + extra;
                let known = all.entry(v).or_insert(0);
                *known = rows.max(*known);
            }
        }
    }
    all
}
