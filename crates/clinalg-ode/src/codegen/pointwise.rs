//! Kernels over all points.
//!
//! A kernel computes all operations of its group for all fields of a grid point. On GPUs an item has one point. On
//! CPUs an item has a run of points, in blocks. Where rows are long, loops go along rows; where they are short, over whole
//! blocks, and what stands for a neighbour beyond the end of a row is chosen after both were read: either way neighbours are
//! at fixed distances, so that the loops become vector code. Contraction is off and sums keep their order, so that every
//! variant gives the same bits.

use std::cell::RefCell;
use std::fmt::Write;
use std::marker::PhantomData;

use clinalg::{KernelFamily, Real};

use crate::codegen::all_pairs::{self, Sums};
use crate::codegen::names::{SCALAR, column_name, flat, new_lines, plain_name, row_name};
use crate::codegen::snippet;
use crate::codegen::writer::Writer;
use crate::method::graph::{Op, Value};
use crate::model::access::distance;
use crate::model::grid::Layout;
use crate::model::system::System;
use crate::plan::Plan;
use crate::plan::group::{Group, reductions};

/// The source of the kernel `name` of a group.
pub(crate) fn source<T: Real>(plan: &Plan, group: &Group, system: &System, family: KernelFamily, name: &str) -> String {
    let writer = Writer::<T> { plan, system, group, family, marker: PhantomData };
    let mut text = writer.head();
    writer.recomputed().into_iter().for_each(|x| text.push_str(&writer.again(x)));
    writer.kernel(&mut text, name);
    text
}

impl<T: Real> Writer<'_, T> {
    fn kernel(&self, text: &mut String, name: &str) {
        let norms: Vec<_> = reductions(self.plan, self.group).into_iter().map(|v| (v, 0)).collect();
        let (first, count, end, entry) = match self.in_blocks() {
            true => ("(idx)block_begin + ", "(size_t)(block_end - block_begin)", "(idx)block_end", "block_sum + "),
            false => ("", "(size_t)POINTS", "POINTS", ""),
        };
        text.push_str(&self.open("", name));
        let mut line = |s: &str| {
            text.push_str(s);
            text.push('\n');
        };
        let row = self.row();
        let sums = self.sums();
        match self.family {
            KernelFamily::Gpu => {
                line(&format!("    const idx p = {first}(idx)get_global_id(0);"));
                if let Some(first) = sums.first() {
                    line("    const size_t me = get_local_id(0);");
                    line(&first.shared());
                    sums.iter().for_each(|s| line(&s.gpu()));
                }
                line(&format!("    if (p < {end}) {{"));
                line("        const idx ix = p % NX, iy = p / NX % NY, iz = p / NX / NY;");
                line(&row);
                line(&self.point(Place::Edge));
                line("    }");
                line(&Self::tree(&norms, &format!("{entry}get_group_id(0)")));
            }
            KernelFamily::Cpu => {
                line("    const size_t item = get_global_id(0), items = get_global_size(0);");
                line(&format!("    const idx stop = {first}(idx)part_start({count}, item + 1, items);"));
                if !norms.is_empty() {
                    (0..self.system.fields.len()).for_each(|f| line(&format!("    REAL ratio{f}[{BLOCK}];")));
                }
                let past: Vec<Value> = self.group.writes.iter().copied().filter(|v| self.non_temporal(*v)).collect();
                let fields = self.system.fields.len();
                past.iter().for_each(|v| line(&format!("    REAL past{}[{}];", v.0, BLOCK * fields)));
                line(&format!("    for (idx block = {first}(idx)part_start({count}, item, items); block < stop;) {{"));
                line(&format!("        const idx end = min(block + {BLOCK}, stop);"));
                line(&if !sums.is_empty() {
                    self.lanes(&sums)
                } else if self.offsets().is_empty() || flat(self.system) {
                    self.block()
                } else {
                    self.rows()
                });
                norms.iter().for_each(|(v, _)| line(&self.add_ratios(*v, "0", "(int)(end - block)")));
                past.iter().for_each(|v| line(&self.store_non_temporal(*v)));
                line("        block = end;\n    }");
                line(&Self::leaves(&norms, &format!("{entry}item")));
            }
        }
        line("}");
    }

    /// The points of a CPU's block for sums over all points, some at a time.
    fn lanes(&self, sums: &[Sums<'_, T>]) -> String {
        let sums: String = sums.iter().map(Sums::cpu).collect();
        format!(
            "#define LANES {}
for (idx at = block; at < end; at += LANES) {{
{sums}
const int count = (int)min((idx)LANES, end - at);
for (int k = 0; k < count; k++) {{
const idx p = at + k;
const idx ix = p % NX, iy = p / NX % NY, iz = p / NX / NY;
{}{}}}
}}",
            all_pairs::LANES,
            self.row(),
            self.point(Place::Edge)
        )
    }

    /// The points of a CPU's block along the rows.
    fn rows(&self) -> String {
        let (low, high) = self.reach();
        let mut text = format!(
            "for (idx at = block; at < end;) {{
const idx line = at / NX, iy = line % NY, iz = line / NY;
const idx first = at - line * NX, last = min(NX, first + (end - at));
{}const idx from = clamp((idx){low}, first, last), to = clamp(NX - {high}, from, last);\n",
            self.row()
        );
        let parts = [("first", "from", Place::Edge), ("from", "to", Place::Row), ("to", "last", Place::Edge)];
        for (start, stop, place) in parts {
            let scalar = if place == Place::Edge { SCALAR } else { "" };
            write!(
                text,
                "{scalar}for (idx ix = {start}; ix < {stop}; ix++) {{\nconst idx p = line * NX + ix;\n{}}}\n",
                self.point(place)
            )
            .expect("text grows");
        }
        text.push_str("at += last - first;\n}");
        text
    }

    /// The points of a CPU's block in one loop, those whose neighbours would not be in memory before and after.
    fn block(&self) -> String {
        let mut text = String::new();
        let far = if self.offsets().is_empty() { 0 } else { distance(self.system) };
        if far > 0 {
            write!(
                text,
                "const idx from = clamp((idx){far}, block, end), to = clamp(POINTS - (idx){far}, from, end);
for (int part = 0; part < 2; part++) {{
const idx begin = part ? to : block, past = part ? end : from;
{SCALAR}for (idx p = begin; p < past; p++) {{
const idx ix = p % NX, iy = p / NX % NY, iz = p / NX / NY;
{}{}}}
}}\n",
                self.row(),
                self.point(Place::Edge)
            )
            .expect("text grows");
        } else {
            text.push_str("const idx from = block, to = end;\n");
        }
        write!(
            text,
            "const uint ix0 = (uint)(from % NX);
const int count = (int)(to - from);
for (int s = 0; s < count; s++) {{
const idx p = from + s;
const idx ix = (idx)((ix0 + (uint)s) % (uint)NX), iy = p / NX % NY, iz = p / NX / NY;
{}}}",
            self.point(Place::Plane)
        )
        .expect("text grows");
        text
    }

    /// The sums over all points of the group's right-hand sides.
    fn sums(&self) -> Vec<Sums<'_, T>> {
        let of = |v: &Value| match self.plan.graph().node(*v).op {
            Op::Rhs { x, .. } if self.system.is_dense() => Some(Sums::new(self.system, *v, self.buffer(x))),
            _ => None,
        };
        self.group.nodes.iter().filter_map(of).collect()
    }

    /// All operations at one point.
    fn point(&self, place: Place) -> String {
        let fields = self.system.fields.len();
        let mut text = self.values(&self.group.nodes, place);
        let mut line = |s: String| {
            text.push_str("            ");
            text.push_str(&s);
            text.push('\n');
        };
        for v in &self.group.writes {
            let names: Vec<String> = (0..fields).map(|f| plain_name(*v, f)).collect();
            if self.family == KernelFamily::Cpu && self.non_temporal(*v) {
                for (f, name) in names.iter().enumerate() {
                    let at = match self.system.layout {
                        Layout::Interleaved => format!("(p - block) * {fields} + {f}"),
                        Layout::FieldWise => format!("{} + (p - block)", f * BLOCK),
                    };
                    line(format!("past{}[{at}] = {name};", v.0));
                }
            } else {
                line(self.put(&self.buffer(*v), "p", &names));
            }
        }
        text
    }

    /// The values of these nodes at one point.
    fn values(&self, nodes: &[Value], place: Place) -> String {
        let graph = self.plan.graph();
        let fields = self.system.fields.len();
        let mut text = String::new();
        let mut line = |s: String| {
            text.push_str("            ");
            text.push_str(&s);
            text.push('\n');
        };
        let mut columns: Vec<i32> = self.offsets().iter().map(|o| o[0]).collect();
        columns.sort_unstable();
        columns.dedup();
        for d in columns {
            match place {
                Place::Edge => line(format!("const idx {} = {};", column_name(d), self.neighbour(0, d))),
                Place::Row => line(format!("const idx {} = ix + ({d});", column_name(d))),
                Place::Plane => {}
            }
        }
        // Pointwise values; what only a right-hand side reads is read there.
        let pointwise = |v: &Value| {
            nodes.iter().any(|k| {
                let op = &graph.node(*k).op;
                !matches!(op, Op::Rhs { .. }) && op.reads().contains(v)
            })
        };
        for v in self.group.reads.iter().filter(|v| pointwise(v)) {
            for f in 0..fields {
                line(format!("const REAL n{}_{f} = {};", v.0, self.get(&self.buffer(*v), "p", f)));
            }
        }
        let known = RefCell::new(Vec::new());
        let mut said = 0;
        for v in nodes {
            match &graph.node(*v).op {
                Op::Input => {}
                Op::Rhs { x, .. } => {
                    let read = |field: usize, offset: [i32; 3]| match place {
                        Place::Plane => {
                            let at = |far: i64| self.argument(*x, &format!("(p + ({far}))"), field);
                            self.beside(*x, field, offset, &known, &at)
                        }
                        _ if offset == [0; 3] && self.recomputed().contains(x) => plain_name(*x, field),
                        _ => {
                            let (row, column) = (row_name(offset[1], offset[2]), column_name(offset[0]));
                            self.argument(*x, &format!("{row} + {column}"), field)
                        }
                    };
                    let inside = |axis: usize| match place {
                        Place::Edge => false,
                        Place::Row => axis == 0,
                        Place::Plane => axis != 0,
                    };
                    for f in 0..fields {
                        let value = self.derivative(f, v.0, &inside, &read);
                        new_lines(&known, &mut said).into_iter().for_each(&mut line);
                        line(format!("const REAL n{}_{f} = {value};", v.0));
                    }
                }
                Op::Lc { .. } => {
                    for f in 0..fields {
                        line(format!("const REAL n{}_{f} = {};", v.0, self.combination(*v, f, &plain_name)));
                    }
                }
                Op::Red { .. } => {
                    for f in 0..fields {
                        line(match self.family {
                            KernelFamily::Gpu => self.measure(*v, f, &plain_name),
                            KernelFamily::Cpu => format!("ratio{f}[p - block] = {};", self.ratio(*v, f, &plain_name)),
                        });
                    }
                }
            }
        }
        text
    }

    /// Whether a CPU writes a vector by non-temporal stores, a block at a time: it does not fit the caches, and no line of it is read
    /// before by the same kernel.
    fn non_temporal(&self, v: Value) -> bool {
        let large = self.system.components() * size_of::<T>() >= NON_TEMPORAL_BYTES;
        let aligned = self.system.layout == Layout::Interleaved || self.system.grid.points().is_multiple_of(8);
        let place = self.plan.place(v);
        large && aligned && !self.in_blocks() && self.group.reads.iter().all(|r| self.plan.place(*r) != place)
    }

    /// Stores what a block has of such a vector.
    fn store_non_temporal(&self, v: Value) -> String {
        let fields = self.system.fields.len();
        // Parts of the block that stand together: how many values, where in the block and where in the vector.
        let parts: Vec<(usize, usize, String)> = match self.system.layout {
            Layout::Interleaved => vec![(fields, 0, format!("block * {fields}"))],
            Layout::FieldWise => (0..fields).map(|f| (1, f * BLOCK, format!("{f} * POINTS + block"))).collect(),
        };
        let (buffer, n) = (self.buffer(v), v.0);
        let part = |(values, from, to): &(usize, usize, String)| {
            format!(
                "{{
const int count = (int)(end - block) * {values};
__global REAL *target = {buffer} + {to};
int k = 0;
for (; k + 8 <= count; k += 8)
PAST8(vload8(0, past{n} + {from} + k), target + k);
for (; k < count; k++)
target[k] = past{n}[{from} + k];
}}\n"
            )
        };
        parts.iter().map(part).collect()
    }

    /// Field `f` of the argument `x` of a right-hand side at point `p`, from its buffer or computed there, again where this
    /// kernel makes it.
    fn argument(&self, x: Value, p: &str, f: usize) -> String {
        match self.plan.graph().node(x).inlined {
            false if self.group.nodes.contains(&x) => format!("again{}({p}, {}).s{f}", x.0, self.passed().1),
            true => format!("({})", self.combination(x, f, &|v, f| self.get(&self.buffer(v), p, f))),
            false => self.get(&self.buffer(x), p, f),
        }
    }

    /// Arguments of right-hand sides that the same kernel makes, and computes again at their neighbours.
    pub(super) fn recomputed(&self) -> Vec<Value> {
        let graph = self.plan.graph();
        let made = |v: &Value| match graph.node(*v).op {
            Op::Rhs { x, .. } if self.group.nodes.contains(&x) && !graph.node(x).inlined => Some(x),
            _ => None,
        };
        let mut all: Vec<Value> = self.group.nodes.iter().filter_map(made).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// What functions that compute vectors again need, declared and called.
    pub(super) fn passed(&self) -> (String, String) {
        let mut names: Vec<(&str, String)> =
            (0..self.plan.graph().steps()).map(|k| ("const REAL ", format!("time{k}"))).collect();
        names.extend(["earliest", "latest", "h"].map(|name| ("const REAL ", name.into())));
        names.push(("__global const REAL *", "par".into()));
        let mut buffers: Vec<usize> = self.group.reads.iter().filter_map(|v| self.plan.place(*v)).collect();
        buffers.sort_unstable();
        buffers.dedup();
        names.extend(buffers.iter().map(|b| ("__global const REAL *", format!("b{b}"))));
        let declared: Vec<String> = names.iter().map(|(kind, name)| format!("{kind}{name}")).collect();
        let called: Vec<String> = names.into_iter().map(|(_, name)| name).collect();
        (declared.join(", "), called.join(", "))
    }

    /// The function that computes all fields of a vector of this kernel at any point.
    fn again(&self, x: Value) -> String {
        let graph = self.plan.graph();
        let mut needed = vec![x];
        for v in self.group.nodes.iter().rev() {
            if needed.contains(v) {
                needed.extend(graph.node(*v).op.reads());
            }
        }
        let nodes: Vec<Value> = self.group.nodes.iter().copied().filter(|v| needed.contains(v)).collect();
        let fields = self.system.fields.len();
        let (declared, called) = self.passed();
        let members: String = (0..fields).map(|f| format!("REAL s{f}; ")).collect();
        let values: Vec<String> = (0..fields).map(|f| plain_name(x, f)).collect();
        let mut text = format!(
            "typedef struct {{ {members}}} value{n};\ninline value{n} again{n}(const idx p, {declared})\n{{\n{}",
            self.constants(&nodes),
            n = x.0
        );
        text.push_str("const idx ix = p % NX, iy = p / NX % NY, iz = p / NX / NY;\n");
        text.push_str(&self.row());
        text.push_str(&self.values(&nodes, Place::Edge));
        writeln!(text, "const value{n} result = {{ {} }};\nreturn result;\n}}", values.join(", "), n = x.0)
            .expect("text grows");
        if let Some(snippet) = &self.system.snippet {
            let access = format!("(again{}((j), {called}).s0)", x.0);
            text.push_str(&snippet::reading(self.system, snippet, &format!("derivative{}", x.0), &declared, &access));
        }
        text
    }
}

/// Where a loop is that computes points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Anywhere.
    Edge,
    /// Inside a row: no neighbour along x is outside.
    Row,
    /// Inside a plane: no neighbour along y is outside; `ix` is the column.
    Plane,
}

/// Points of a block of a CPU.
const BLOCK: usize = 512;

/// Bytes of a vector from which CPUs use non-temporal stores.
const NON_TEMPORAL_BYTES: usize = 32 << 20;
