//! What the kernels of all variants have in common.

use std::fmt::Write;
use std::marker::PhantomData;
use std::ops::Range;

use clinalg::{KernelFamily, Real};

use crate::codegen::expression::literal;
use crate::codegen::snippet;
use crate::method::graph::{Coefficient, Op, Value};
use crate::model::access::slow_axis;
use crate::model::grid::Layout;
use crate::model::system::System;
use crate::plan::group::buffers;
use crate::plan::{Group, Plan, Variant};

/// What all kernels of a group have in common.
pub(crate) struct Writer<'a, T> {
    pub(crate) plan: &'a Plan,
    pub(crate) system: &'a System,
    pub(crate) group: &'a Group,
    pub(crate) family: KernelFamily,
    pub(crate) marker: PhantomData<T>,
}

/// What formulas call besides the functions of OpenCL C.
pub(super) const FUNCTIONS: &str = "\
inline REAL power(const REAL x, const int n)
{
    REAL r = x;
    for (int k = 1; k < n; k++)
        r = r * x;
    return r;
}
inline REAL signum(const REAL x)
{
    return x > ZERO ? ONE : (x < ZERO ? -ONE : x);
}
inline REAL modulo(const REAL a, const REAL b)
{
    const REAL r = fmod(a, b);
    return b == ZERO ? a : (r != ZERO && (r < ZERO) != (b < ZERO) ? r + b : r);
}
";

/// What stands before kernels over all points of a system: sizes, places of components, and functions of formulas.
pub(crate) fn head(system: &System, family: KernelFamily) -> String {
    let grid = &system.grid;
    let mut text = String::from("#pragma OPENCL FP_CONTRACT OFF\n");
    // Indices of components, and sums of one with an offset, must fit.
    let rows = system.slab.as_ref().map_or(0, |slab| slab.rows);
    let index = if 2 * system.components().max(rows) < i32::MAX as usize { "int" } else { "long" };
    let [nx, ny, nz] = grid.n;
    write!(
        text,
        "typedef {index} idx;\n#define NX ((idx){nx})\n#define NY ((idx){ny})\n#define NZ ((idx){nz})\n#define POINTS ((idx){})\n",
        grid.points()
    )
    .expect("text grows");
    let fields = system.fields.len();
    match system.layout {
        Layout::Interleaved => writeln!(text, "#define AT(p, f) ((p) * {fields} + (f))"),
        Layout::FieldWise => writeln!(text, "#define AT(p, f) ((f) * POINTS + (p))"),
    }
    .expect("text grows");
    // NaN stays: a maximum that loses it would accept a step that blew up.
    text.push_str("#define LARGER(a, b) ((a) != (a) || (b) <= (a) ? (a) : (b))\n");
    text.push_str(FUNCTIONS);
    if family == KernelFamily::Cpu {
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
    if let Some(snippet) = &system.snippet {
        text.push_str(&snippet::functions(system, snippet));
    }
    text
}

impl<T: Real> Writer<'_, T> {
    /// What stands before the kernel.
    pub(crate) fn head(&self) -> String {
        head(self.system, self.family)
    }

    pub(crate) fn buffer(&self, v: Value) -> String {
        format!("b{}", self.plan.place(v).expect("a vector between kernels has a buffer"))
    }

    /// Fields of a point that are read and written as one where they stand together, on GPUs: 2, or 1.
    pub(super) fn pack(&self) -> usize {
        let together = self.system.layout == Layout::Interleaved && self.family == KernelFamily::Gpu;
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
        let cooperates = self.plan.variant() == Variant::Cooperative;
        let times: Vec<String> = (0..graph.steps()).map(|k| format!("const REAL time{k}")).collect();
        let mut text = format!("__kernel {attributes}void {name}(\n    {},\n", times.join(", "));
        text.push_str("    const REAL earliest, const REAL latest,\n");
        text.push_str("    const REAL h, const REAL relative, const REAL absolute, const uint largest,\n");
        for k in 0..graph.step_arguments() {
            writeln!(text, "    const REAL argument{k},").expect("text grows");
        }
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
    pub(super) fn constants(&self, nodes: &[Value]) -> String {
        let graph = self.plan.graph();
        let mut text = String::new();
        for p in 0..self.system.parameters().count() {
            writeln!(text, "    const REAL par{p} = par[{p}];").expect("text grows");
        }
        for v in nodes {
            match &graph.node(*v).op {
                Op::Rhs { step, c, .. } => {
                    let time = format!("time{step} + {} * h", literal(T::from_f64(*c)));
                    writeln!(text, "    const REAL t{} = fmin(fmax({time}, earliest), latest);", v.0)
                        .expect("text grows");
                }
                Op::Lc { terms } => {
                    for (k, (c, _)) in terms.iter().enumerate().filter(|(_, (c, _))| !c.is_one()) {
                        let h = " * h".repeat(c.power as usize);
                        let argument = c.argument.map_or(String::new(), |k| format!(" * argument{k}"));
                        writeln!(text, "    const REAL c{}_{k} = {}{argument}{h};", v.0, literal(T::from_f64(c.value)))
                            .expect("text grows");
                    }
                }
                Op::Red { .. } => writeln!(text, "    REAL sum{} = ZERO;", v.0).expect("text grows"),
                Op::Input => {}
            }
        }
        text
    }

    /// Whether a launch computes a block of the points, given by its last arguments.
    pub(super) fn in_blocks(&self) -> bool {
        self.plan.variant() == Variant::Wavefront
    }

    /// A linear combination of field `f`, with vectors named by `name`.
    pub(crate) fn combination(&self, v: Value, f: usize, name: &dyn Fn(Value, usize) -> String) -> String {
        let Op::Lc { terms } = &self.plan.graph().node(v).op else { unreachable!("only combinations have terms") };
        let term = |(k, (c, r)): (usize, &(Coefficient, Value))| match c.is_one() {
            true => name(*r, f),
            false => format!("c{}_{k} * {}", v.0, name(*r, f)),
        };
        terms.iter().enumerate().map(term).collect::<Vec<_>>().join(" + ")
    }

    /// The error of field `f` of a point over what is allowed; 0 for points that norms do not count.
    pub(crate) fn ratio(&self, v: Value, f: usize, name: &dyn Fn(Value, usize) -> String) -> String {
        let Op::Red { error, from, to, absolute } = self.plan.graph().node(v).op else {
            unreachable!("only norms are measured")
        };
        let absolute = absolute.map_or("absolute".into(), |a| name(a, f));
        let size = format!("fmax(fabs({}), fabs({}))", name(from, f), name(to, f));
        // Without an absolute tolerance a component that stays 0 has no error.
        let error = name(error, f);
        let ratio = format!("({error} == ZERO ? ZERO : fabs({error} / ({absolute} + relative * {size})))");
        match &self.system.slab {
            Some(slab) => {
                let (i, Range { start, end }) = (["ix", "iy", "iz"][slow_axis(self.system)], &slab.own);
                format!("({i} >= {start} && {i} < {end} ? {ratio} : ZERO)")
            }
            None => ratio,
        }
    }

    /// Adds what field `f` of a point contributes to the norm of the error.
    pub(crate) fn measure(&self, v: Value, f: usize, name: &dyn Fn(Value, usize) -> String) -> String {
        let ratio = self.ratio(v, f, name);
        format!(
            "const REAL q{n}_{f} = {ratio};\nsum{n} = largest ? LARGER(sum{n}, q{n}_{f}) : sum{n} + q{n}_{f} * q{n}_{f};",
            n = v.0
        )
    }

    /// Adds up for the norm `v` the ratios that a CPU left in the arrays `ratio0`, `ratio1`, ... from entry `from` to `to`, in lanes by
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
}
