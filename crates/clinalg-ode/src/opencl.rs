//! OpenCL C for the kernels of a plan.
//!
//! A kernel computes all operations of its group for all fields of a grid point. On GPUs an item has one point. On
//! processors an item has a run of points, cut at rows; inside a row neighbours are at fixed distances, so that the loop
//! becomes vector code. Contraction is off and sums keep their order, so that every variant gives the same bits.

use std::fmt::Write;
use std::marker::PhantomData;

use clinalg::{Real, Shape};

use crate::dense::{self, Sums};
use crate::formula::{Expr, literal};
use crate::graph::{Coefficient, Op, Value};
use crate::plan::{Group, Plan, Variant};
use crate::rhs::{Bound, Layout, Side, System};
use crate::snippet;

/// The source of the kernel `name` of a group. Each has a file of its own: PoCL goes through all kernels of a program to
/// build one.
pub(crate) fn source<T: Real>(plan: &Plan, group: &Group, system: &System, shape: Shape, name: &str) -> String {
    let writer = Writer::<T> { plan, system, group, shape, marker: PhantomData };
    let mut text = writer.head();
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
        let times: Vec<String> = (0..graph.steps()).map(|k| format!("const REAL time{k}")).collect();
        let mut text = format!("__kernel {attributes}void {name}(\n    {},\n", times.join(", "));
        text.push_str("    const REAL h, const REAL relative, const REAL absolute, const uint largest,\n");
        text.push_str("    __global const REAL *restrict par, __global REAL *restrict partial\n");
        for b in buffers(self.plan, self.group) {
            let constant = if written.contains(&b) { "" } else { "const " };
            writeln!(text, "    , __global {constant}REAL *restrict b{b}").expect("text grows");
        }
        if self.in_blocks() {
            text.push_str("    , const ulong block_begin, const ulong block_end, const ulong block_sum\n");
        }
        text.push_str(")\n{\n");
        for p in 0..self.system.parameters().count() {
            writeln!(text, "    const REAL par{p} = par[{p}];").expect("text grows");
        }
        for v in &self.group.nodes {
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

    /// Adds what field `f` of a point contributes to the norm of the error.
    pub(crate) fn measure(&self, v: Value, f: usize, name: &dyn Fn(Value, usize) -> String) -> String {
        let Op::Red { error, from, to, absolute } = self.plan.graph().node(v).op else {
            unreachable!("only norms are measured")
        };
        let absolute = absolute.map_or("absolute".into(), |a| name(a, f));
        let size = format!("fmax(fabs({}), fabs({}))", name(from, f), name(to, f));
        format!(
            "const REAL q{n}_{f} = fabs({} / ({absolute} + relative * {size}));\nsum{n} = largest ? LARGER(sum{n}, q{n}_{f}) : sum{n} + q{n}_{f} * q{n}_{f};",
            name(error, f),
            n = v.0
        )
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
                line(&self.point(false));
                line("    }");
                line(&Self::tree(&norms, &format!("{entry}get_group_id(0)")));
            }
            Shape::Cpu if !sums.is_empty() => {
                line(&format!("#define LANES {}", dense::LANES));
                line("    const size_t item = get_global_id(0), items = get_global_size(0);");
                line("    const idx end = (idx)part_start((size_t)POINTS, item + 1, items);");
                line("    for (idx at = (idx)part_start((size_t)POINTS, item, items); at < end; at += LANES) {");
                sums.iter().for_each(|s| line(&s.processor()));
                line("        const int count = (int)min((idx)LANES, end - at);");
                line("        for (int k = 0; k < count; k++) {");
                line("            const idx p = at + k;");
                line("            const idx ix = p % NX, iy = p / NX % NY, iz = p / NX / NY;");
                line(&row);
                line(&self.point(false));
                line("        }\n    }");
                line(&Self::leaves(&norms, "item"));
            }
            Shape::Cpu => {
                line("    const size_t item = get_global_id(0), items = get_global_size(0);");
                line(&format!("    const idx end = {first}(idx)part_start({count}, item + 1, items);"));
                line(&format!("    for (idx at = {first}(idx)part_start({count}, item, items); at < end;) {{"));
                line("        const idx line = at / NX, iy = line % NY, iz = line / NY;");
                line("        const idx first = at - line * NX, last = min(NX, first + (end - at));");
                line(&row);
                let (low, high) = self.reach();
                line(&format!(
                    "        const idx from = clamp((idx){low}, first, last), to = clamp(NX - {high}, from, last);"
                ));
                for (start, stop, inner) in [("first", "from", false), ("from", "to", true), ("to", "last", false)] {
                    if !inner && self.offsets().is_empty() {
                        continue;
                    }
                    line(&format!("        for (idx ix = {start}; ix < {stop}; ix++) {{"));
                    line("            const idx p = line * NX + ix;");
                    line(&self.point(inner));
                    line("        }");
                }
                line("        at += last - first;\n    }");
                line(&Self::leaves(&norms, &format!("{entry}item")));
            }
        }
        line("}");
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

    /// All operations at one point; `inner` where no neighbour along x is outside.
    fn point(&self, inner: bool) -> String {
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
            let x = if inner { format!("ix + ({d})") } else { self.neighbour(0, d) };
            line(format!("const idx {} = {x};", column_name(d)));
        }
        // Pointwise values; what only a right-hand side reads is read there.
        let pointwise = |v: &Value| {
            self.group.nodes.iter().any(|k| {
                let op = &graph.node(*k).op;
                !matches!(op, Op::Rhs { .. }) && op.reads().contains(v)
            })
        };
        for v in self.group.reads.iter().filter(|v| pointwise(v)) {
            for f in 0..fields {
                line(format!("const REAL n{}_{f} = {};", v.0, self.get(&self.buffer(*v), "p", f)));
            }
        }
        for v in &self.group.nodes {
            match &graph.node(*v).op {
                Op::Input => {}
                Op::Rhs { x, .. } => {
                    let read = |field: usize, offset: [i32; 3]| {
                        let (row, column) = (row_name(offset[1], offset[2]), column_name(offset[0]));
                        self.get(&self.buffer(*x), &format!("{row} + {column}"), field)
                    };
                    for f in 0..fields {
                        let value = self.derivative(f, v.0, &|axis| inner && axis == 0, &read);
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
                        line(self.measure(*v, f, &plain_name));
                    }
                }
            }
        }
        for v in &self.group.writes {
            let names: Vec<String> = (0..fields).map(|f| plain_name(*v, f)).collect();
            line(self.put(&self.buffer(*v), "p", &names));
        }
        text
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
                format!("derivative(p, t{node}, par, {})", self.buffer(x))
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
