//! Groups: the operations of one kernel.

use std::collections::BTreeMap;

use crate::method::graph::{Op, Value};
use crate::plan::fusion::Plan;

/// Operations computed by one kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The nodes, each after those it reads.
    pub nodes: Vec<Value>,
    /// Vectors read from memory.
    pub reads: Vec<Value>,
    /// Vectors written to memory.
    pub writes: Vec<Value>,
    /// Vectors that tiles hand over to each other inside the group, along their borders only, whole ones where
    /// [work-groups wait for each other](crate::Variant::Cooperative).
    pub saved: Vec<Value>,
}

/// The stage groups of a group, in their order.
pub(crate) fn stage_groups_of(plan: &Plan, group: &Group) -> Vec<usize> {
    let stage_groups = plan.graph().stage_groups();
    let mut all: Vec<usize> = group.nodes.iter().map(|v| stage_groups[v.0]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Vectors whose neighbours the right-hand sides of one stage group read, at most.
pub(crate) fn most_arguments(plan: &Plan, group: &Group) -> usize {
    let stage_groups = plan.graph().stage_groups();
    let mut per_link: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    for v in &group.nodes {
        if let Op::Rhs { x, .. } = plan.graph().node(*v).op {
            let all = per_link.entry(stage_groups[v.0]).or_default();
            if !all.contains(&x) {
                all.push(x);
            }
        }
    }
    per_link.values().map(Vec::len).max().unwrap_or(0)
}

/// Buffers that a kernel takes, in the order of its arguments; each once, also where it is read and written.
pub(crate) fn buffers(plan: &Plan, group: &Group) -> Vec<usize> {
    let mut all: Vec<usize> =
        group.reads.iter().chain(&group.writes).chain(&group.saved).filter_map(|v| plan.place(*v)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The reductions of a group.
pub(crate) fn reductions(plan: &Plan, group: &Group) -> Vec<Value> {
    group.nodes.iter().copied().filter(|v| matches!(plan.graph().node(*v).op, Op::Red { .. })).collect()
}

/// Whether a kernel ends in a reduction.
pub(crate) fn reduces(plan: &Plan, group: &Group) -> bool {
    !reductions(plan, group).is_empty()
}
