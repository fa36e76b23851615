//! Kernels whose work-groups wait for each other ([`multi_workgroup`](crate::tiling::multi_workgroup)).

use std::fmt::Write;

use clinalg::Real;

use crate::codegen::names::{column_name, row_name};
use crate::codegen::tiles::{Tile, Words};
use crate::codegen::writer::Writer;
use crate::method::graph::Value;
use crate::tiling::multi_workgroup::places;
use crate::tiling::phases::Items;

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
        for q in 0..self.phase.stage_groups.len() {
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
            // One point after the other: registers limit the occupancy.
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
