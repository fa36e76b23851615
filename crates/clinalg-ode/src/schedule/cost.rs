//! The cost model: what kernels move and compute, in words moved per component.

use clinalg::{KernelFamily, Real};

use crate::method::graph::{Graph, Op, Value};
use crate::model::system::System;
use crate::plan::{Group, Plan, Variant};
use crate::schedule::options::Tile;
use crate::schedule::target::Target;

/// What the operations of a step weigh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Work {
    /// In words moved per component.
    pub(super) words: f64,
    /// Whether words move meanwhile: on a GPU other groups compute while one waits.
    pub(super) overlaps: bool,
}

/// What the operations of a step weigh, in words moved per component.
pub(crate) fn work(target: &Target, graph: &Graph, system: &System) -> Work {
    let read = values_read(graph, system) as f64;
    match target.family {
        KernelFamily::Gpu => Work { words: TILE_READ * read, overlaps: true },
        KernelFamily::Cpu => Work { words: WORK_READ * read, overlaps: false },
    }
}

/// Values that the operations of a step read for a component, neighbours counted one by one.
pub(super) fn values_read(graph: &Graph, system: &System) -> usize {
    let reads = |op: &Op| match op {
        Op::Rhs { .. } => system.offsets().len() * graph.neighbours(op).len(),
        op => op.reads().len(),
    };
    graph.nodes().iter().map(|n| reads(&n.op)).sum()
}

/// The fused schedule that costs least on the target, with linear combinations inlined where right-hand sides are formulas:
/// words moved against values read from the caches.
pub(super) fn fused(target: &Target, graph: &Graph, system: &System) -> Plan {
    if system.is_dense() || system.snippet.is_some() {
        return Plan::new(graph, Variant::Fused);
    }
    Plan::inlined(graph, &|plan| match target.family {
        KernelFamily::Gpu => through_caches(target, system, plan),
        KernelFamily::Cpu => plan.words() as f64 + WORK_READ * values_read(plan.graph(), system) as f64,
    })
}

/// What the kernels of a plan over all points cost on a GPU, in words from memory: each as much as memory, the second-level cache
/// or the first-level caches take. A work-group fetches neighbours through the second-level cache once, or once for each
/// row where rows are further apart than it is wide.
pub(super) fn through_caches(target: &Target, system: &System, plan: &Plan) -> f64 {
    let offsets = system.offsets();
    let [nx, ny, _] = system.grid.n.map(|n| n as i64);
    let places = |o: &[i32; 3]| i64::from(o[0]) + nx * (i64::from(o[1]) + ny * i64::from(o[2]));
    let all = || offsets.iter().map(places);
    let span = all().max().unwrap_or(0) - all().min().unwrap_or(0);
    let mut rows: Vec<[i32; 2]> = offsets.iter().map(|o| [o[1], o[2]]).collect();
    rows.sort_unstable();
    rows.dedup();
    let fetched = (rows.len() as f64).min(1.0 + span as f64 / target.local as f64);
    let graph = plan.graph();
    let cost = |group: &Group| {
        let mut near: Vec<Value> = Vec::new();
        let mut first = group.writes.len() + group.reads.len();
        for v in &group.nodes {
            let read = graph.neighbours(&graph.node(*v).op);
            let again = if read.iter().any(|x| group.nodes.contains(x)) { offsets.len() } else { 1 };
            first += again * offsets.len() * read.len();
            near.extend(read);
        }
        near.sort_unstable();
        near.dedup();
        let words = (group.reads.len() + group.writes.len()) as f64;
        let second = words + near.len() as f64 * (fetched - 1.0);
        words.max(second / SECOND_LEVEL).max(first as f64 / FIRST_LEVEL)
    };
    plan.groups().iter().map(cost).sum()
}

/// How many times as fast as memory the caches of a GPU are: 7.7 and 24 TB/s beside 4.2 on an H200.
const SECOND_LEVEL: f64 = 1.8;

const FIRST_LEVEL: f64 = 5.7;

/// What a value read in a tile costs in words, with the arithmetic that it goes into. A heat equation's steps on streaming tiles
/// of an H200 take 0.10 to 0.14 with the factors of [`effort`].
const TILE_READ: f64 = 0.09;

/// The same of a value read from a core's caches, by count: two vectors of four values read in a cycle of each of two cores
/// that share 45 GB/s, twice that for the arithmetic between. Not fitted to measurements.
const WORK_READ: f64 = 0.25;

/// Words that one more kernel weighs.
pub(super) const PER_KERNEL: f64 = 0.05;

/// What an operation costs on tiles of this size of a GPU, in that of the best: a barrier waits for more items of a larger
/// group, serves more points where items have several, and values kept in registers lower the occupancy. Tiles that hand over
/// borders choose between two places for each value. Fitted to all sizes of tiles of RK4, DOPRI5(4), Bogacki-Shampine and Euler on an H200.
pub(super) fn effort<T: Real>(target: &Target, plan: &Plan, system: &System, tile: &Tile) -> f64 {
    match (target.family, plan.variant()) {
        (KernelFamily::Cpu, _) | (KernelFamily::Gpu, Variant::Cooperative) => 1.0,
        (KernelFamily::Gpu, Variant::Grid) => 1.0 + tile.items as f64 / 1024.0,
        (KernelFamily::Gpu, variant) => {
            let waiting = plan.groups().iter().map(|group| plan.waiting(group)).max().unwrap_or(0);
            let kept = waiting * tile.points * system.fields().len() * size_of::<T>();
            let borders = if variant == Variant::Overlapped { 1.0 } else { 1.3 };
            borders * (1.0 + 0.2 / tile.points as f64) * (1.0 + kept as f64 / 700.0)
        }
    }
}
