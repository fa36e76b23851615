//! Kernels whose work-groups wait for each other.
//!
//! Each group computes a block of points through all links of the kernel, then the block as many further as there are groups.
//! What a later link reads at the point itself stays with the group in local memory, unless it is stored anyway; what neighbours
//! read goes through memory, or the cache where that is large enough. After a link a group makes what it stored known to
//! the device and raises the flag of its block, a number that counts launches, so that no flag is ever taken down; before
//! the next link it waits for the flags of all blocks within the access distance.
//!
//! Groups have to run at the same time. A block waits in its link k for blocks that are at most the access distance further
//! and in link k - 1, those for others in link k - 2; the last in the chain wait for nobody, but have to have begun. With
//! blocks of w points, distance d and n links, ⌈d/w⌉ (n - 1) + 1 groups are enough, see [`enough`]. Whether so many run at
//! the same time is asked of the device by a launch in which they only meet; in case of need, those that arrive after
//! enough others leave at once. A group that waits in vain gives up and says so.

use std::collections::BTreeMap;
use std::fmt::Write;

use clinalg::Real;

use super::{Items, Tile, Words, distance, group_links};
use crate::graph::{Op, Value};
use crate::opencl::{Writer, column_name, row_name};
use crate::plan::{Group, Plan};
use crate::rhs::System;

/// Groups that have to run at the same time for `blocks` blocks of `width` points.
pub(crate) fn enough(blocks: usize, links: usize, d: usize, width: usize) -> usize {
    ((links - 1) * d.div_ceil(width) + 1).min(blocks)
}

/// What the cache and the waits of a kernel cost, in words from memory, for groups with `together` points. Neighbours in
/// other rows are words of their own in the cache. A block is waited for while those of the access distance are computed
/// in each link but the last: for that part of the time its group does nothing.
pub(crate) fn least(plan: &Plan, group: &Group, system: &System, together: usize) -> f64 {
    let graph = plan.graph();
    let links = group_links(plan, group).len();
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
    let idle = (links - 1) as f64 * distance(system) as f64 / together as f64;
    CACHE * words as f64 / (1.0 - idle.min(0.9))
}

/// What a word from the cache costs where all groups compute, in words from memory, barriers and latencies within; fitted to RK4 at
/// two distances on an H200.
const CACHE: f64 = 0.6;

/// Rows that a right-hand side in OpenCL C reads, as far as anybody knows.
const SNIPPET_ROWS: usize = 3;

/// Places in local memory of the vectors that a later link reads at the point and that are not stored, and the number of
/// places: the link that reads a vector last gives its place to one that it makes.
pub(crate) fn places(plan: &Plan, group: &Group) -> (BTreeMap<Value, usize>, usize) {
    let links = plan.graph().links();
    let stored = |v: &Value| group.writes.contains(v) || group.saved.contains(v);
    let mut last: BTreeMap<Value, usize> = BTreeMap::new();
    for v in group.nodes.iter().filter(|v| !matches!(plan.graph().node(**v).op, Op::Rhs { .. })) {
        for r in plan.graph().node(*v).op.reads() {
            if group.nodes.contains(&r) && !stored(&r) && links[r.0] < links[v.0] {
                let until = last.entry(r).or_insert(0);
                *until = (*until).max(links[v.0]);
            }
        }
    }
    let mut made: Vec<Value> = last.keys().copied().collect();
    made.sort_by_key(|v| links[v.0]);
    // The link after which each place is free.
    let mut until: Vec<usize> = Vec::new();
    let mut places = BTreeMap::new();
    for v in made {
        let place = until.iter().position(|u| *u <= links[v.0]).unwrap_or_else(|| {
            until.push(0);
            until.len() - 1
        });
        until[place] = last[&v];
        places.insert(v, place);
    }
    (places, until.len())
}

/// What makes stores of a group known to all, and stores of others to the group that has seen their flags: a fence of the
/// device. In OpenCL C 1.2 fences are those of a work-group, so that it goes by the compiler.
const PUBLISH: &str = r#"#if defined(__NV_CL_C_VERSION)
#define PUBLISH() __asm__ volatile("fence.acq_rel.gpu;" ::: "memory")
#elif defined(__AMDGCN__)
#define PUBLISH() __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "agent")
#else
#define PUBLISH() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
"#;

impl<T: Real> Tile<'_, T> {
    pub(super) fn cooperative(&self, name: &str) -> String {
        let Items { local, points } = self.items;
        let (fields, blocks, d) = (self.fields(), self.phase.tiles, self.d);
        let (places, count) = places(self.base.plan, self.base.group);
        let mut text = self.base.head();
        writeln!(text, "#define K {points}\n#undef LOCAL\n#define LOCAL {local}\n#define BLOCKS {blocks}u\n{PUBLISH}")
            .expect("text grows");
        text.push_str(&self.base.open(&format!("__attribute__((reqd_work_group_size({local}, 1, 1))) "), name));
        let mut line = |s: &str| {
            text.push_str(s);
            text.push('\n');
        };
        (0..count * fields).for_each(|k| line(&format!("__local REAL v{k}[K * LOCAL];")));
        line(
            "__local uint place;
const uint lane = (uint)get_local_id(0);
if (lane == 0) {
place = atomic_inc(sync) - base;
uint tries = 0;
while (meet && sync[0] - base < groups && ++tries < patience)
;
if (tries >= patience)
sync[1] = 1;
}
barrier(CLK_LOCAL_MEM_FENCE);
const uint me = place;
volatile __global uint *flag = sync + 2;",
        );
        line(
            "const uint turns = meet ? 0 : (BLOCKS + groups - 1) / groups;
for (uint turn = 0; turn < turns; turn++) {
const uint block = me < groups ? turn * groups + me : BLOCKS;
const idx first = (idx)block * (K * LOCAL);",
        );
        let value = |v: Value, f: usize| match places.get(&v) {
            Some(place) => format!("v{}[s]", place * fields + f),
            None => self.base.get(&self.base.buffer(v), "p", f),
        };
        let neighbour = |x, field: usize, o: [i32; 3]| {
            let at = format!("(p + {} + {})", row_name(o[1], o[2]), column_name(o[0]));
            self.base.get(&self.base.buffer(x), &at, field)
        };
        let all = |x| self.base.buffer(x);
        let known = Default::default();
        let words = Words { value: &value, neighbour: &neighbour, all: &all, known: &known };
        for q in 0..self.phase.links.len() {
            if q > 0 {
                // One item's fence holds for what the barrier before it ordered. Without the barrier after it PoCL may wait
                // with items before the one that raises the flag.
                line(&format!(
                    "barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
if (lane == 0 && block < BLOCKS) {{
PUBLISH();
flag[{done}u * BLOCKS + block] = epoch;
}}
barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
if (block < BLOCKS) {{
const uint from = (uint)(max(first - (idx){d}, (idx)0) / (K * LOCAL));
const uint to = (uint)(min(first + (idx){reach}, POINTS - 1) / (K * LOCAL));
for (uint other = from + lane; other <= to; other += LOCAL) {{
uint tries = 0;
while (flag[{done}u * BLOCKS + other] != epoch) {{
if ((++tries & 63) == 0 && (tries >= patience || sync[1])) {{
sync[1] = 1;
break;
}}
}}
}}
}}
PUBLISH();
barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);",
                    done = q - 1,
                    reach = d + (local * points) as i64 - 1,
                ));
            }
            // One point after the other: registers decide how many groups have room.
            line(
                "#pragma unroll 1
for (int k = 0; k < K; k++) {
const uint s = (uint)k * LOCAL + lane;
const idx p = first + (idx)s;
if (p < POINTS) {
const idx ix = p % NX, iy = p / NX % NY, iz = p / NX / NY;",
            );
            line(&self.position(false));
            line(&self.point(q, false, false, &words));
            line("}\n}");
        }
        line("}");
        text.push_str(&Writer::<T>::tree(self.sums, "me"));
        text.push_str("}\n");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups that take turns, each as far as it can without the others, in the worst order: whoever is last goes first.
    fn finishes(groups: usize, blocks: usize, links: usize, reach: usize) -> bool {
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
                    if done[*block] == links {
                        *block += groups;
                    }
                }
            }
            if !moved {
                return done.iter().all(|k| *k == links);
            }
        }
    }

    #[test]
    fn enough_groups_finish_and_one_less_does_not() {
        for (blocks, links, d, width) in
            [(40, 4, 100, 32), (40, 3, 1, 32), (9, 2, 5000, 32), (40, 7, 0, 1), (33, 2, 64, 32)]
        {
            let groups = enough(blocks, links, d, width);
            assert!(finishes(groups, blocks, links, d.div_ceil(width)), "{blocks} {links} {d}");
            assert!(groups == 1 || !finishes(groups - 1, blocks, links, d.div_ceil(width)), "{blocks} {links} {d}");
        }
    }
}
