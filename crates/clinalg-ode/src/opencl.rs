//! OpenCL C for the kernels of a plan.
//!
//! A kernel computes all operations of its group for all fields of a grid point. On GPUs an item has one point. On
//! processors an item has a run of points, in blocks. Where rows are long, loops go along rows; where they are short, over whole
//! blocks, and what stands for a neighbour beyond the end of a row is chosen after both were read: either way neighbours are
//! at fixed distances, so that the loops become vector code. Contraction is off and sums keep their order, so that every
//! variant gives the same bits.

use std::cell::RefCell;
use std::fmt::Write;
use std::marker::PhantomData;

use clinalg::{Real, Shape};

use crate::dense::{self, Sums};
use crate::formula::{Expr, literal};
use crate::graph::{Coefficient, Op, Value};
use crate::plan::{Group, Plan, Variant};
use crate::rhs::{Bound, Layout, Side, System};
use crate::snippet;
use crate::tile::distance;

/// The source of the kernel `name` of a group. Each has a file of its own: PoCL goes through all kernels of a program to
/// build one.
pub(crate) fn source<T: Real>(plan: &Plan, group: &Group, system: &System, shape: Shape, name: &str) -> String {
    let writer = Writer::<T> { plan, system, group, shape, marker: PhantomData };
    let mut text = writer.head();
    writer.recomputed().into_iter().for_each(|x| text.push_str(&writer.again(x)));
    writer.kernel(&mut text, name);
    text
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

/// What all kernels of a group have in common.
pub(crate) struct Writer<'a, T> {
    pub(crate) plan: &'a Plan,
    pub(crate) system: &'a System,
    pub(crate) group: &'a Group,
    pub(crate) shape: Shape,
    pub(crate) marker: PhantomData<T>,
}

impl<T: Real> Writer<'_, T> {
    /// What stands before the kernel.
    pub(crate) fn head(&self) -> String {
        let grid = &self.system.grid;
        let mut text = String::from("#pragma OPENCL FP_CONTRACT OFF\n");
        // Indices of components, and sums of one with an offset, must fit.
        let index = if 2 * self.system.components() < i32::MAX as usize { "int" } else { "long" };
        let [nx, ny, nz] = grid.n;
        write!(
            text,
            "typedef {index} idx;\n#define NX ((idx){nx})\n#define NY ((idx){ny})\n#define NZ ((idx){nz})\n#define POINTS ((idx){})\n",
            grid.points()
        )
        .expect("text grows");
        let fields = self.system.fields.len();
        match self.system.layout {
            Layout::Interleaved => writeln!(text, "#define AT(p, f) ((p) * {fields} + (f))"),
            Layout::FieldWise => writeln!(text, "#define AT(p, f) ((f) * POINTS + (p))"),
        }
        .expect("text grows");
        // NaN stays: a maximum that loses it would accept a step that blew up.
        text.push_str("#define LARGER(a, b) ((a) != (a) || (b) <= (a) ? (a) : (b))\n");
        text.push_str(
            "inline REAL power(const REAL x, const int n)\n{\n    REAL r = x;\n    for (int k = 1; k < n; k++)\n        r = r * x;\n    return r;\n}\n",
        );
        if self.shape == Shape::Cpu {
            text.push_str(
                "#define PAST8(v, p) vstore8(v, 0, p)
#ifdef __has_builtin
#if __has_builtin(__builtin_nontemporal_store)
#undef PAST8
#define PAST8(v, p) __builtin_nontemporal_store((REAL8)(v), (__global REAL8 *)(p))
#endif
#endif\n",
            );
        }
        if let Some(snippet) = &self.system.snippet {
            text.push_str(&snippet::functions(self.system, snippet));
        }
        text
    }

    pub(crate) fn buffer(&self, v: Value) -> String {
        format!("b{}", self.plan.place(v).expect("a vector between kernels has a buffer"))
    }

    /// Fields of a point that are read and written as one where they stand together, on GPUs: 2, or 1.
    fn pack(&self) -> usize {
        let together = self.system.layout == Layout::Interleaved && self.shape == Shape::Gpu;
        if together && self.system.fields.len() == 2 { 2 } else { 1 }
    }

    /// Field `f` of point `p` in a buffer.
    pub(crate) fn get(&self, buffer: &str, p: &str, f: usize) -> String {
        match self.pack() {
            2 => format!("((__global const REAL2 *){buffer})[{p}].s{f}"),
            _ => format!("{buffer}[AT({p}, {f})]"),
        }
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

    /// Stores all fields of point `p` in a buffer.
    pub(crate) fn put(&self, buffer: &str, p: &str, fields: &[String]) -> String {
        match self.pack() {
            2 => format!("((__global REAL2 *){buffer})[{p}] = (REAL2)({});", fields.join(", ")),
            _ => {
                let one = |(f, name): (usize, &String)| format!("{buffer}[AT({p}, {f})] = {name};");
                fields.iter().enumerate().map(one).collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// Name and arguments of the kernel, and numbers that are the same for all points. `attributes` stand before the name.
    pub(crate) fn open(&self, attributes: &str, name: &str) -> String {
        let stored = self.group.writes.iter().chain(&self.group.saved);
        let written: Vec<_> = stored.filter_map(|v| self.plan.place(*v)).collect();
        let graph = self.plan.graph();
        let cooperates = self.plan.variant() == Variant::Cooperative;
        let times: Vec<String> = (0..graph.steps()).map(|k| format!("const REAL time{k}")).collect();
        let mut text = format!("__kernel {attributes}void {name}(\n    {},\n", times.join(", "));
        text.push_str("    const REAL h, const REAL relative, const REAL absolute, const uint largest,\n");
        text.push_str("    __global const REAL *restrict par, __global REAL *restrict partial\n");
        for b in buffers(self.plan, self.group) {
            let constant = if written.contains(&b) { "" } else { "const " };
            // Work-groups that wait for each other read what others stored meanwhile.
            let alone = if cooperates && constant.is_empty() { "" } else { "restrict " };
            writeln!(text, "    , __global {constant}REAL *{alone}b{b}").expect("text grows");
        }
        if cooperates {
            text.push_str(
                "    , volatile __global uint *sync, const uint groups, const uint base, const uint epoch,\n",
            );
            text.push_str("    const uint patience, const uint meet\n");
        }
        if self.in_blocks() {
            text.push_str("    , const ulong block_begin, const ulong block_end, const ulong block_sum\n");
        }
        text.push_str(")\n{\n");
        text.push_str(&self.constants(&self.group.nodes));
        text
    }

    /// Numbers that are the same for all points, for these nodes.
    fn constants(&self, nodes: &[Value]) -> String {
        let graph = self.plan.graph();
        let mut text = String::new();
        for p in 0..self.system.parameters().count() {
            writeln!(text, "    const REAL par{p} = par[{p}];").expect("text grows");
        }
        for v in nodes {
            match &graph.node(*v).op {
                Op::Rhs { step, c, .. } => {
                    writeln!(text, "    const REAL t{} = time{step} + {} * h;", v.0, literal(T::of(*c)))
                        .expect("text grows");
                }
                Op::Lc { terms } => {
                    for (k, (c, _)) in terms.iter().enumerate().filter(|(_, (c, _))| !c.is_one()) {
                        let h = " * h".repeat(c.power as usize);
                        writeln!(text, "    const REAL c{}_{k} = {}{h};", v.0, literal(T::of(c.value)))
                            .expect("text grows");
                    }
                }
                Op::Red { .. } => writeln!(text, "    REAL sum{} = ZERO;", v.0).expect("text grows"),
                Op::Input => {}
            }
        }
        text
    }

    /// Arguments of right-hand sides that the same kernel makes, and computes again at their neighbours.
    fn recomputed(&self) -> Vec<Value> {
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
    fn passed(&self) -> (String, String) {
        let mut names: Vec<(&str, String)> =
            (0..self.plan.graph().steps()).map(|k| ("const REAL ", format!("time{k}"))).collect();
        names.push(("const REAL ", "h".into()));
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

    /// Whether a launch computes a block of the points, which its last arguments tell.
    fn in_blocks(&self) -> bool {
        self.plan.variant() == Variant::Wavefront
    }

    /// A linear combination of field `f`, the values of vectors being called as `name` says.
    pub(crate) fn combination(&self, v: Value, f: usize, name: &dyn Fn(Value, usize) -> String) -> String {
        let Op::Lc { terms } = &self.plan.graph().node(v).op else { unreachable!("only combinations have terms") };
        let term = |(k, (c, r)): (usize, &(Coefficient, Value))| match c.is_one() {
            true => name(*r, f),
            false => format!("c{}_{k} * {}", v.0, name(*r, f)),
        };
        terms.iter().enumerate().map(term).collect::<Vec<_>>().join(" + ")
    }

    /// The error of field `f` of a point over what is allowed.
    pub(crate) fn ratio(&self, v: Value, f: usize, name: &dyn Fn(Value, usize) -> String) -> String {
        let Op::Red { error, from, to, absolute } = self.plan.graph().node(v).op else {
            unreachable!("only norms are measured")
        };
        let absolute = absolute.map_or("absolute".into(), |a| name(a, f));
        let size = format!("fmax(fabs({}), fabs({}))", name(from, f), name(to, f));
        format!("fabs({} / ({absolute} + relative * {size}))", name(error, f))
    }

    /// Adds what field `f` of a point contributes to the norm of the error.
    pub(crate) fn measure(&self, v: Value, f: usize, name: &dyn Fn(Value, usize) -> String) -> String {
        let ratio = self.ratio(v, f, name);
        format!(
            "const REAL q{n}_{f} = {ratio};\nsum{n} = largest ? LARGER(sum{n}, q{n}_{f}) : sum{n} + q{n}_{f} * q{n}_{f};",
            n = v.0
        )
    }

    /// Adds up for the norm `v` the ratios that a processor left in the arrays `ratio0`, `ratio1`, ... from entry `from` to `to`, in lanes by
    /// their distance from the first: a sum in the order of the points would not become vector code.
    pub(crate) fn add_ratios(&self, v: Value, from: &str, to: &str) -> String {
        let mut text = String::from("{\nREAL lanes[8];\nfor (int l = 0; l < 8; l++)\nlanes[l] = ZERO;\n");
        for f in 0..self.system.fields.len() {
            for (when, next) in [("largest", "LARGER(lanes[l], r)"), ("!largest", "lanes[l] + r * r")] {
                write!(
                    text,
                    "if ({when}) {{
int k = {from};
for (; k + 8 <= {to}; k += 8)
for (int l = 0; l < 8; l++) {{
const REAL r = ratio{f}[k + l];
lanes[l] = {next};
}}
for (int l = 0; k < {to}; k++, l++) {{
const REAL r = ratio{f}[k];
lanes[l] = {next};
}}
}}\n"
                )
                .expect("text grows");
            }
        }
        writeln!(
            text,
            "for (int l = 0; l < 8; l++)\nsum{n} = largest ? LARGER(sum{n}, lanes[l]) : sum{n} + lanes[l];\n}}",
            n = v.0
        )
        .expect("text grows");
        text
    }

    /// The sums of norms over a work-group, as entries of the partial sums: each norm's from its first one on, at `place`.
    pub(crate) fn tree(sums: &[(Value, usize)], place: &str) -> String {
        if sums.is_empty() {
            return String::new();
        }
        let mut text = String::from("    __local REAL tree[LOCAL];\n    const size_t leaf = get_local_id(0);\n");
        for (v, first) in sums {
            // The next sum overwrites what item 0 alone has read last.
            write!(
                text,
                "    tree[leaf] = sum{};
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t k = LOCAL / 2; k > 0; k /= 2) {{
        if (leaf < k) {{
            const REAL other = tree[leaf + k];
            tree[leaf] = largest ? LARGER(tree[leaf], other) : tree[leaf] + other;
        }}
        barrier(CLK_LOCAL_MEM_FENCE);
    }}
    if (leaf == 0)
        partial[{first} + {place}] = tree[0];\n",
                v.0
            )
            .expect("text grows");
        }
        text
    }

    /// The sums of norms of an item, as entries of the partial sums.
    pub(crate) fn leaves(sums: &[(Value, usize)], place: &str) -> String {
        sums.iter().map(|(v, first)| format!("partial[{first} + {place}] = sum{};\n", v.0)).collect()
    }

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
        match self.shape {
            Shape::Gpu => {
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
            Shape::Cpu => {
                line("    const size_t item = get_global_id(0), items = get_global_size(0);");
                line(&format!("    const idx stop = {first}(idx)part_start({count}, item + 1, items);"));
                if !norms.is_empty() {
                    (0..self.system.fields.len()).for_each(|f| line(&format!("    REAL ratio{f}[{BLOCK}];")));
                }
                let past: Vec<Value> = self.group.writes.iter().copied().filter(|v| self.goes_past(*v)).collect();
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
                past.iter().for_each(|v| line(&self.send_past(*v)));
                line("        block = end;\n    }");
                line(&Self::leaves(&norms, &format!("{entry}item")));
            }
        }
        line("}");
    }

    /// The points of a processor's block for sums over all points, some at a time.
    fn lanes(&self, sums: &[Sums<'_, T>]) -> String {
        let sums: String = sums.iter().map(Sums::processor).collect();
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
            dense::LANES,
            self.row(),
            self.point(Place::Edge)
        )
    }

    /// The points of a processor's block along the rows.
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

    /// The points of a processor's block in one loop, those whose neighbours would not be in memory before and after.
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

    /// Offsets that the group's right-hand sides read.
    pub(crate) fn offsets(&self) -> Vec<[i32; 3]> {
        let any = self.group.nodes.iter().any(|v| matches!(self.plan.graph().node(*v).op, Op::Rhs { .. }));
        if any { self.system.offsets() } else { Vec::new() }
    }

    /// How far along x neighbours reach down and up.
    pub(crate) fn reach(&self) -> (i32, i32) {
        let all = self.offsets();
        (all.iter().map(|o| -o[0]).max().unwrap_or(0).max(0), all.iter().map(|o| o[0]).max().unwrap_or(0).max(0))
    }

    /// First points of the rows that neighbours stand in.
    fn row(&self) -> String {
        let mut rows: Vec<[i32; 2]> = self.offsets().iter().map(|o| [o[1], o[2]]).collect();
        rows.sort_unstable();
        rows.dedup();
        let mut text = String::new();
        for [dy, dz] in rows {
            let (y, z) = (self.neighbour(1, dy), self.neighbour(2, dz));
            writeln!(text, "        const idx {} = NX * ({y} + NY * {z});", row_name(dy, dz)).expect("text grows");
        }
        text
    }

    /// Index along an axis of the point that stands for the neighbour at a distance; inside the grid in any case.
    pub(crate) fn neighbour(&self, axis: usize, d: i32) -> String {
        let (i, n) = (["ix", "iy", "iz"][axis], ["NX", "NY", "NZ"][axis]);
        let low = d < 0;
        let other = match (&self.system.bounds[axis][usize::from(!low)], low) {
            (Bound::Mirror, true) => format!("-({i} + ({d}))"),
            (Bound::Mirror, false) => format!("2 * ({n} - 1) - ({i} + {d})"),
            (Bound::Copy | Bound::Value(_), true) => "0".into(),
            (Bound::Copy | Bound::Value(_), false) => format!("{n} - 1"),
            (Bound::Periodic, true) => format!("{i} + ({d}) + {n}"),
            (Bound::Periodic, false) => format!("{i} + {d} - {n}"),
        };
        match d {
            0 => i.into(),
            _ if low => format!("({i} + ({d}) < 0 ? {other} : {i} + ({d}))"),
            _ => format!("({i} + {d} >= {n} ? {other} : {i} + {d})"),
        }
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
            if self.shape == Shape::Cpu && self.goes_past(*v) {
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
                        line(match self.shape {
                            Shape::Gpu => self.measure(*v, f, &plain_name),
                            Shape::Cpu => format!("ratio{f}[p - block] = {};", self.ratio(*v, f, &plain_name)),
                        });
                    }
                }
            }
        }
        text
    }

    /// Whether a processor stores a vector past the caches, a block at a time: it does not fit them, and no line of it is read
    /// before by the same kernel.
    fn goes_past(&self, v: Value) -> bool {
        let large = self.system.components() * size_of::<T>() >= PAST_BYTES;
        let aligned = self.system.layout == Layout::Interleaved || self.system.grid.points().is_multiple_of(8);
        let place = self.plan.place(v);
        large && aligned && !self.in_blocks() && self.group.reads.iter().all(|r| self.plan.place(*r) != place)
    }

    /// Stores what a block has of such a vector.
    fn send_past(&self, v: Value) -> String {
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

    /// The neighbour of a point at an offset, in a loop over a plane where all neighbours are in memory, though maybe in other
    /// rows: `at` reads field `field` of the point so many points further. What has to be known for it is added to
    /// `known`; it is read before it is chosen, because only then the loop becomes vector code.
    pub(crate) fn beside(
        &self,
        x: Value,
        field: usize,
        [dx, dy, _]: [i32; 3],
        known: &RefCell<Vec<String>>,
        at: &dyn Fn(i64) -> String,
    ) -> String {
        let n = self.system.grid.n[0] as i64;
        let row = i64::from(dy) * n;
        let d = i64::from(dx);
        let side = usize::from(dx > 0);
        let reach = d.abs();
        // Columns from which the neighbour is outside, and how far what stands for it is from the point.
        let others: Vec<(i64, i64)> = match &self.system.bounds[0][side] {
            Bound::Value(_) => Vec::new(),
            bound => (0..reach)
                .map(|j| {
                    let other = match bound {
                        Bound::Mirror => reach - 2 * j,
                        Bound::Periodic => n - reach,
                        _ => -j,
                    };
                    if side == 0 { (j, other) } else { (n - 1 - j, -other) }
                })
                .collect(),
        };
        if reach == 0 {
            return at(row);
        }
        let name = format!("m{}_{field}_{}_{}", x.0, signed(dx), signed(dy));
        let mut known = known.borrow_mut();
        let declared = format!("const REAL {name} = ");
        if !known.iter().any(|line| line.starts_with(&declared)) {
            known.push(format!("const REAL {name}_in = {};", at(d + row)));
            let mut choice = String::new();
            for (j, (column, other)) in others.iter().enumerate() {
                known.push(format!("const REAL {name}_{j} = {};", at(other + row)));
                choice.push_str(&format!("ix == {column} ? {name}_{j} : "));
            }
            known.push(format!("{declared}{choice}{name}_in;"));
        }
        name
    }

    /// The formula of field `f` as the right-hand side `node`; `read` reads a neighbour, `inside` names the axes along which
    /// no neighbour is outside the grid.
    pub(crate) fn derivative(
        &self,
        f: usize,
        node: usize,
        inside: &dyn Fn(usize) -> bool,
        read: &dyn Fn(usize, [i32; 3]) -> String,
    ) -> String {
        self.system.formulas[f].opencl::<T>(&mut |leaf| match leaf {
            Expr::Field { field, offset } => self.access(*field, *offset, node, (inside, read), [None; 3]),
            Expr::Sum(sum) => {
                let m = self.system.sums().iter().position(|s| *s == &**sum).expect("the system's sums are all there");
                dense::sum_name(Value(node), m, self.shape)
            }
            Expr::Snippet => {
                let Op::Rhs { x, .. } = self.plan.graph().node(Value(node)).op else {
                    unreachable!("only right-hand sides have formulas")
                };
                match self.recomputed().contains(&x) {
                    true => format!("derivative{}(p, t{node}, par, par, {})", x.0, self.passed().1),
                    false => format!("derivative(p, t{node}, par, {})", self.buffer(x)),
                }
            }
            other => self.plain(other, [0; 3], node),
        })
    }

    /// Time, parameters and coordinates at an offset.
    fn plain(&self, leaf: &Expr, offset: [i32; 3], node: usize) -> String {
        match leaf {
            Expr::Time => format!("t{node}"),
            Expr::Parameter(p) => format!("par{p}"),
            other => dense::leaf_at_point::<T>(self.system, other, offset),
        }
    }

    /// A neighbour's value, or what stands for it. `left` says for each axis which side the place lies next to that the
    /// formula of that side has led in from, so that it is not past the other.
    fn access(
        &self,
        field: usize,
        offset: [i32; 3],
        node: usize,
        (inside, read): (&dyn Fn(usize) -> bool, Read<'_>),
        left: [Option<Side>; 3],
    ) -> String {
        // The first axis that leaves the grid at a side with values decides.
        let mut text = String::new();
        for axis in (0..3).filter(|a| !inside(*a)) {
            let d = offset[axis];
            let side = if d > 0 { Side::High } else { Side::Low };
            let Bound::Value(formulas) = &self.system.bounds[axis][side as usize] else { continue };
            if left[axis].is_some_and(|known| known != side) {
                continue;
            }
            let (i, n) = (["ix", "iy", "iz"][axis], ["NX", "NY", "NZ"][axis]);
            let outside = match d {
                0 => continue,
                _ if d < 0 => format!("{i} + ({d}) < 0"),
                _ => format!("{i} + {d} >= {n}"),
            };
            let mut known = left;
            known[axis] = Some(side);
            let value = formulas[field].opencl::<T>(&mut |leaf| match leaf {
                Expr::Field { field, offset: inward } => {
                    let further = std::array::from_fn(|a| offset[a] + inward[a]);
                    self.access(*field, further, node, (inside, read), known)
                }
                other => self.plain(other, offset, node),
            });
            write!(text, "{outside} ? {value} : ").expect("text grows");
        }
        format!("({text}{})", read(field, offset))
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

/// Points of a block of a processor.
const BLOCK: usize = 512;

/// Bytes of a vector from which processors store past the caches.
const PAST_BYTES: usize = 32 << 20;

/// Keeps a loop over few points from becoming vector code, which would take long to compile.
pub(crate) const SCALAR: &str = "#pragma clang loop vectorize(disable)\n";

/// Points of a row from which on loops go along rows.
const LONG_ROW: usize = 256;

/// Whether loops of processors go over planes, because rows are too short for them.
pub(crate) fn flat(system: &System) -> bool {
    system.grid.dims == 2 && system.grid.n[0] < LONG_ROW && system.snippet.is_none() && !system.is_dense()
}

/// How a neighbour's value is read: field and offset.
type Read<'a> = &'a dyn Fn(usize, [i32; 3]) -> String;

fn plain_name(v: Value, f: usize) -> String {
    format!("n{}_{f}", v.0)
}

fn signed(d: i32) -> String {
    if d < 0 { format!("m{}", d.unsigned_abs()) } else { d.to_string() }
}

pub(crate) fn row_name(dy: i32, dz: i32) -> String {
    format!("row_{}_{}", signed(dy), signed(dz))
}

pub(crate) fn column_name(d: i32) -> String {
    format!("x_{}", signed(d))
}

/// The lines of `known` from number `said` on, which are said with this. Later ones may use the names in them.
pub(crate) fn new_lines(known: &RefCell<Vec<String>>, said: &mut usize) -> Vec<String> {
    let lines = known.borrow()[*said..].to_vec();
    *said += lines.len();
    lines
}
