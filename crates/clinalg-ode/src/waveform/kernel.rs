//! Kernels of waveform relaxation, for any system and any explicit Runge-Kutta method.
//!
//! An iteration is one launch of `waveform_sweep`: blocks read the previous iterate of others and need nothing of each other. With
//! blocks of one point or component an item has a point on GPUs and runs through the steps with its own values in registers;
//! on CPUs an item has a run of points and goes step by step. Larger blocks are a work-group each, with the values at hand
//! in local memory, where each phase of a step ends at a barrier; where only waveforms at boundaries are stored, `numbers` has
//! their place, and `start` and `end` have all components at the ends of the window. A waveform has the rows of each step
//! ([`Stages`]) and the end. Memory: the old waveform is read and the new one written once, 2 words per component and row; the
//! difference of both reads them again.

use std::fmt::Write;
use std::marker::PhantomData;

use clinalg::{KernelFamily, Real};

use crate::codegen::expression::literal;
use crate::codegen::names::{column_name, plain_name, row_name, signed};
use crate::codegen::writer::Writer;
use crate::method::graph::{Op, Value};
use crate::model::formula::Expr;
use crate::model::{Layout, System};
use crate::plan::{Plan, Variant};
use crate::waveform::boundary::NOT_STORED;
use crate::waveform::options::{Copies, Storage, WaveformOptions};
use crate::waveform::partition::Partition;
use crate::waveform::stages::{Slots, Stages};
/// The source of `waveform_sweep` for blocks of the system.
pub(super) fn sweep<T: Real>(
    system: &System,
    options: &WaveformOptions,
    stages: &Stages,
    family: KernelFamily,
    stored: Option<usize>,
) -> String {
    let plan = Plan::new(stages.graph(), Variant::Basic);
    let rhs = |v: &Value| matches!(plan.graph().node(*v).op, Op::Rhs { .. });
    let group = plan.groups().iter().find(|group| group.nodes.iter().any(rhs));
    let group = group.expect("a method evaluates the right-hand side");
    let writer = Writer::<T> { plan: &plan, system, group, family, marker: PhantomData };
    let sweep = Sweep { writer, options, stages };
    let mut text = sweep.writer.head();
    text.push_str(&sweep.kernel(stored));
    text
}

pub(super) struct Sweep<'a, T> {
    pub(super) writer: Writer<'a, T>,
    pub(super) options: &'a WaveformOptions,
    stages: &'a Stages,
}

impl<T: Real> Sweep<'_, T> {
    fn fields(&self) -> usize {
        self.writer.system.fields().len()
    }

    /// One line per field.
    fn each_field(&self, line: impl Fn(usize) -> String) -> String {
        (0..self.fields()).map(|f| line(f) + "\n").collect()
    }

    /// `stored` is the number of points whose waveforms are stored where it is not all.
    fn kernel(&self, stored: Option<usize>) -> String {
        let mut text = format!("#define COMPONENTS ((size_t)POINTS * {})\n", self.fields());
        let stored = match stored {
            Some(points) => format!("((size_t){points} * {})", self.fields()),
            None => "COMPONENTS".into(),
        };
        if self.options.copies != Copies::None {
            text.push_str(match self.writer.family {
                // Adjacent work-items write adjacent values.
                KernelFamily::Gpu => "#define PLACE(k) ((size_t)(k) * COMPONENTS)\n",
                KernelFamily::Cpu => "#define PLACE(k) (k)\n",
            });
        }
        writeln!(text, "#define STORED {stored}\n#define ROWS {}", self.stages.count()).expect("text grows");
        text.push_str(&self.snippet());
        text.push_str(
            "__kernel void waveform_sweep(const REAL h, const uint steps, __global const REAL *restrict times,
    __global const REAL *restrict par, __global const REAL *restrict old, __global REAL *restrict next",
        );
        if self.options.copies != Copies::None {
            text.push_str(", __global REAL *copies");
        }
        if self.options.storage == Storage::Boundary {
            text.push_str(
                ",\n    __global const uint *restrict numbers, __global const REAL *restrict start, __global REAL *restrict end,
    const ulong first",
            );
        }
        text.push_str(")\n{\n");
        for p in 0..self.writer.system.parameters().count() {
            writeln!(text, "const REAL par{p} = par[{p}];").expect("text grows");
        }
        text.push_str(&self.coefficients());
        text.push_str(&match (self.options.partition, self.writer.family) {
            (Partition::Block(sides), _) => self.blocks(sides),
            (_, KernelFamily::Gpu) => self.points_gpu(),
            (_, KernelFamily::Cpu) => self.points_cpu(),
        });
        text.push_str("}\n");
        text
    }

    /// The nodes of all phases, each after those it reads.
    fn nodes(&self) -> impl Iterator<Item = Value> + '_ {
        (0..self.stages.phases()).flat_map(|phase| self.stages.nodes(phase))
    }

    /// The coefficients of linear combinations.
    fn coefficients(&self) -> String {
        let mut text = String::new();
        for v in self.nodes() {
            let Op::Lc { terms } = &self.stages.graph().node(v).op else { continue };
            for (k, (c, _)) in terms.iter().enumerate().filter(|(_, (c, _))| !c.is_one()) {
                let h = " * h".repeat(c.power as usize);
                writeln!(text, "const REAL c{}_{k} = {}{h};", v.0, literal(T::from_f64(c.value))).expect("text grows");
            }
        }
        text
    }

    /// Times of a step, and the rows of both iterates that it reads and writes.
    fn step(&self) -> String {
        let mut text = String::from("const REAL time = times[i];\n");
        for v in self.nodes() {
            let Op::Rhs { c, .. } = self.stages.graph().node(v).op else { continue };
            writeln!(text, "const REAL t{} = time + {} * h;", v.0, literal(T::from_f64(c))).expect("text grows");
        }
        for (j, v) in self.stages.rows().enumerate() {
            let at = format!("((size_t)i * ROWS + {j}) * STORED");
            writeln!(text, "__global const REAL *row{} = old + {at};", v.0).expect("text grows");
            if j > 0 {
                writeln!(text, "__global REAL *out{} = next + {at};", v.0).expect("text grows");
            }
        }
        text + "__global REAL *out = next + ((size_t)i + 1) * ROWS * STORED;\n"
    }

    /// Makes the private copy of the row of `x` for component `own` and names where the value of component 0 would be in it.
    fn copy(&self, f: usize, x: Value) -> String {
        let width = self.options.copied(self.writer.system);
        let (from, to) = match self.options.copies {
            Copies::AccessDistance => {
                let distance = width / 2;
                (
                    format!("(own > {distance} ? own - {distance} : 0)"),
                    format!("min(own + {distance} + 1, (idx)COMPONENTS)"),
                )
            }
            _ => ("0".into(), "(idx)COMPONENTS".into()),
        };
        let shift = if self.options.copies == Copies::All { "0".into() } else { format!("own - {}", width / 2) };
        let first = match self.writer.family {
            KernelFamily::Gpu => format!("(size_t){f} * POINTS + p"),
            KernelFamily::Cpu => format!("(size_t)own * {width}"),
        };
        format!(
            "const idx own = AT(p, {f}), shift = {shift};
__global REAL *mine = copies + {first};
for (idx c = {from}; c < {to}; c++)
mine[PLACE(c - shift)] = row{}[c];
mine[PLACE(own - shift)] = {};\n",
            x.0,
            plain_name(x, f)
        )
    }

    /// Where the neighbours of point `p` are.
    fn neighbours(&self) -> String {
        let mut text = "const idx ix = p % NX, iy = p / NX % NY, iz = p / NX / NY;\n".to_owned();
        text.push_str(&self.writer.row());
        for d in offsets_along(self.writer.system, 0) {
            writeln!(text, "const idx {} = {};", column_name(d), self.writer.neighbour(0, d)).expect("text grows");
        }
        text
    }

    /// A right-hand side `v` of `x` for all fields at point `p`, whose own values of `x` are known.
    fn derivatives(&self, v: Value, x: Value) -> String {
        self.each_field(|f| {
            let copies = self.options.copies != Copies::None;
            let read = |field: usize, offset: [i32; 3]| {
                let own = self.options.partition == Partition::Point || field == f;
                let at = match offset {
                    [0, 0, 0] => "p".to_owned(),
                    [dx, dy, dz] => format!("{} + {}", row_name(dy, dz), column_name(dx)),
                };
                let (name, row) = (plain_name(x, field), format!("row{}[AT({at}, {field})]", x.0));
                match (own, offset) {
                    _ if copies => format!("mine[PLACE(AT({at}, {field}) - shift)]"),
                    (true, [0, 0, 0]) => name,
                    // At a side of the grid the neighbour can be the point itself.
                    (true, _) => format!("({at} == p ? {name} : {row})"),
                    (false, _) => row,
                }
            };
            let mut before = if copies { self.copy(f, x) } else { String::new() };
            before += &self.sums(f, v, &|field| read(field, [0; 3]), &|field| {
                let own = self.options.partition == Partition::Point || field == f;
                let (name, row) = (plain_name(x, field), format!("row{}[AT(p, {field})]", x.0));
                match (copies, own) {
                    (true, _) => format!("mine[PLACE(AT(p, {field}) - shift)]"),
                    (false, true) => format!("(p == here ? {name} : {row})"),
                    (false, false) => row,
                }
            });
            let arguments = match copies {
                true => "mine, shift".to_owned(),
                false => format!("row{}, {}", x.0, plain_name(x, f)),
            };
            let whole = |leaf: &Expr| self.whole(f, v, leaf, &arguments);
            let derivative = self.writer.derivative_with(f, v.0, &|_| false, &read, &whole);
            self.assigned(&plain_name(v, f), &before, &derivative)
        })
    }

    /// A linear combination for all fields at the point at hand.
    fn combination(&self, v: Value) -> String {
        self.each_field(|f| {
            format!("const REAL {} = {};", plain_name(v, f), self.writer.combination(v, f, &plain_name))
        })
    }

    /// A step at point `p`, whose solution at its beginning is known, and the rows that it leaves.
    fn point_step(&self) -> String {
        let graph = self.stages.graph();
        let mut text = String::new();
        for v in self.nodes() {
            text.push_str(&match graph.node(v).op {
                Op::Rhs { x, .. } => self.derivatives(v, x),
                _ => self.combination(v),
            });
            if self.stages.row(v).is_some() {
                text.push_str(&self.each_field(|f| format!("out{}[AT(p, {f})] = {};", v.0, plain_name(v, f))));
            }
        }
        text + &self.each_field(|f| format!("out[AT(p, {f})] = {};", plain_name(graph.solution(), f)))
    }

    fn points_gpu(&self) -> String {
        let (begin, end) = (self.stages.begin(), self.stages.graph().solution());
        let mut text = "const idx p = (idx)get_global_id(0);\nif (p < POINTS) {\n".to_owned();
        text.push_str(&self.neighbours());
        text.push_str(&self.each_field(|f| format!("REAL w{f} = next[AT(p, {f})];")));
        text.push_str("for (uint i = 0; i < steps; i++) {\n");
        text.push_str(&self.step());
        text.push_str(&self.each_field(|f| format!("const REAL {} = w{f};", plain_name(begin, f))));
        text.push_str(&self.point_step());
        text.push_str(&self.each_field(|f| format!("w{f} = {};", plain_name(end, f))));
        text + "}\n}\n"
    }

    fn points_cpu(&self) -> String {
        let begin = self.stages.begin();
        let mut text = "const size_t item = get_global_id(0), items = get_global_size(0);
const idx from = (idx)part_start((size_t)POINTS, item, items), to = (idx)part_start((size_t)POINTS, item + 1, items);
for (uint i = 0; i < steps; i++) {\n"
            .to_owned();
        text.push_str(&self.step());
        text.push_str("__global const REAL *now = next + (size_t)i * ROWS * COMPONENTS;\n");
        text.push_str("for (idx p = from; p < to; p++) {\n");
        text.push_str(&self.neighbours());
        text.push_str(&self.each_field(|f| format!("const REAL {} = now[AT(p, {f})];", plain_name(begin, f))));
        text.push_str(&self.point_step());
        text + "}\n}\n"
    }

    /// A block of points for each work-group.
    fn blocks(&self, [bx, by, bz]: [usize; 3]) -> String {
        let boundary = self.options.storage == Storage::Boundary;
        let [cx, cy, _] = self.options.partition.counts(self.writer.system);
        let (fields, slots, size) = (self.fields(), self.stages.slots(), bx * by * bz);
        let barrier = match self.writer.family {
            KernelFamily::Gpu => "barrier(CLK_LOCAL_MEM_FENCE);\n",
            // A work-group is one item.
            KernelFamily::Cpu => "",
        };
        // The loop over the points of an item, and the tests whether a point is in the grid.
        let each = format!(
            "for (int l = (int)get_local_id(0); l < {size}; l += (int)get_local_size(0)) {{
const idx ix = x0 + l % {bx}, iy = y0 + l / {bx} % {by}, iz = z0 + l / {bx} / {by};
if (ix < NX && iy < NY && iz < NZ) {{
const idx p = ix + NX * (iy + NY * iz);\n"
        );
        let mut text = format!(
            "__local REAL tile[{}][{fields}][{size}];
const idx block = (idx)({});
const idx x0 = block % {cx} * {bx}, y0 = block / {cx} % {cy} * {by}, z0 = block / {cx} / {cy} * {bz};\n{each}",
            slots.count,
            if boundary { "get_group_id(0) + first" } else { "get_group_id(0)" }
        );
        let begin = if boundary { "start" } else { "next" };
        text.push_str(&self.each_field(|f| format!("tile[0][{f}][l] = {begin}[AT(p, {f})];")));
        text.push_str("}\n}\n");
        text.push_str(barrier);
        text.push_str("for (uint i = 0; i < steps; i++) {\n");
        text.push_str(&self.step());
        if slots.alternates {
            text.push_str("const uint half_of = i & 1;\n");
        }
        for phase in 0..self.stages.phases() {
            text.push_str(&each);
            text.push_str(&self.phase(phase, &slots, [bx, by, bz]));
            text.push_str("}\n}\n");
            text.push_str(barrier);
        }
        text.push_str("}\n");
        if boundary {
            text.push_str(&each);
            let last = if slots.alternates { "steps & 1" } else { "0" };
            text.push_str(&self.each_field(|f| format!("end[AT(p, {f})] = tile[{last}][{f}][l];")));
            text.push_str("}\n}\n");
        }
        text
    }

    /// A phase of a step at point `p` of a block.
    fn phase(&self, phase: usize, slots: &Slots, [bx, by, bz]: [usize; 3]) -> String {
        let boundary = self.options.storage == Storage::Boundary;
        let (fields, graph) = (self.fields(), self.stages.graph());
        let slot = |v: Value| slots.name(v).expect("what a later phase reads has a slot");
        // A field at a point with these indices: of the block at hand, or of the previous iterate.
        let from_block = |x: Value, field: usize, [x_at, y_at, z_at]: [String; 3]| {
            let inside =
                format!("(size_t)({x_at} - x0) < {bx} && (size_t)({y_at} - y0) < {by} && (size_t)({z_at} - z0) < {bz}");
            let place = format!("(({z_at} - z0) * {by} + ({y_at} - y0)) * {bx} + ({x_at} - x0)");
            let point = format!("{x_at} + NX * ({y_at} + NY * {z_at})");
            let other = match boundary {
                true => format!("row{}[(size_t)numbers[{point}] * {fields} + {field}]", x.0),
                false => format!("row{}[AT({point}, {field})]", x.0),
            };
            format!("({inside} ? tile[{}][{field}][{place}] : {other})", slot(x))
        };
        let mut text = String::new();
        for (axis, letter) in ["x", "y", "z"].iter().enumerate() {
            for d in offsets_along(self.writer.system, axis) {
                writeln!(text, "const idx n{letter}_{} = {};", signed(d), self.writer.neighbour(axis, d))
                    .expect("text grows");
            }
        }
        for v in self.stages.read(phase) {
            text.push_str(
                &self.each_field(|f| format!("const REAL {} = tile[{}][{f}][l];", plain_name(v, f), slot(v))),
            );
        }
        for v in self.stages.nodes(phase) {
            let Op::Rhs { x, .. } = graph.node(v).op else {
                text.push_str(&self.combination(v));
                continue;
            };
            let half = slot(x);
            let read = |field: usize, offset: [i32; 3]| {
                if offset == [0; 3] {
                    return format!("tile[{half}][{field}][l]");
                }
                let at = [0, 1, 2].map(|a| format!("n{}_{}", ["x", "y", "z"][a], signed(offset[a])));
                from_block(x, field, at)
            };
            let numbers = if boundary { "numbers, " } else { "" };
            let arguments = format!("row{}, {numbers}tile[{half}][0], x0", x.0);
            text.push_str(&self.each_field(|f| {
                let source = |field: usize| from_block(x, field, ["ix", "iy", "iz"].map(str::to_owned));
                let before = self.sums(f, v, &|field| read(field, [0; 3]), &source);
                let whole = |leaf: &Expr| self.whole(f, v, leaf, &arguments);
                let derivative = self.writer.derivative_with(f, v.0, &|_| false, &read, &whole);
                self.assigned(&plain_name(v, f), &before, &derivative)
            }));
        }
        // Rows that the phase makes: their names in the kernel, and their vectors.
        let mut made: Vec<(String, Value)> =
            self.stages.nodes(phase).filter(|v| self.stages.row(*v).is_some()).map(|v| (v.0.to_string(), v)).collect();
        if self.stages.nodes(phase).any(|v| v == graph.solution()) {
            made.push((String::new(), graph.solution()));
        }
        for v in self.stages.nodes(phase).filter(|v| slots.name(*v).is_some()) {
            text.push_str(&self.each_field(|f| format!("tile[{}][{f}][l] = {};", slot(v), plain_name(v, f))));
        }
        if boundary && !made.is_empty() {
            writeln!(text, "const uint number = numbers[p];\nif (number != {NOT_STORED}u) {{").expect("text grows");
        }
        for (name, v) in &made {
            text.push_str(&self.each_field(|f| match boundary {
                true => format!("out{name}[(size_t)number * {fields} + {f}] = {};", plain_name(*v, f)),
                false => format!("out{name}[AT(p, {f})] = {};", plain_name(*v, f)),
            }));
        }
        if boundary && !made.is_empty() {
            text.push_str("}\n");
        }
        text
    }
}

/// Offsets along an axis that the right-hand side reads, 0 among them.
fn offsets_along(system: &System, axis: usize) -> Vec<i32> {
    let mut all: Vec<i32> = system.offsets().iter().map(|o| o[axis]).chain([0]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The source of `waveform_begin`: rows of the old waveform, and the first of the new one, become row `source` of the old one or,
/// if `linear`, continue from there along the line through the row a step before. The waveforms begin at value `base`, and their rows have
/// `n` values.
pub(super) fn begin<T: Real>(stages: &Stages) -> String {
    let places: Vec<String> = stages.places().map(|c| literal(T::from_f64(c))).collect();
    format!(
        "
#pragma OPENCL FP_CONTRACT OFF
#define ROWS {}
__constant REAL places[ROWS] = {{ {} }};
__kernel void waveform_begin(const ulong base, const ulong n, const ulong source, const ulong rows, const uint linear,
    __global REAL *old, __global REAL *next)
{{
    for (size_t c = base + get_global_id(0); c < base + n; c += get_global_size(0)) {{
        const REAL value = old[source * n + c];
        const REAL slope = linear ? value - old[(source - ROWS) * n + c] : ZERO;
        for (size_t row = 0; row < rows; row++)
            old[row * n + c] = linear && row > 0 ? value + ((REAL)(row / ROWS) + places[row % ROWS]) * slope : value;
        next[c] = value;
    }}
}}
",
        stages.count(),
        places.join(", ")
    )
}

/// The source of `waveform_difference`: for each row but the first, the squared 2-norm of the difference, in `parts` parts. It covers `count` of the
/// `n` columns, from column `first` on. The waveforms begin at index `base`.
pub(super) fn difference(family: KernelFamily) -> &'static str {
    match family {
        KernelFamily::Gpu => {
            "
__kernel void waveform_difference(const ulong base, const ulong n, const ulong first, const ulong count, const ulong parts,
    __global const REAL *restrict old, __global const REAL *restrict next, __global REAL *restrict squares)
{
    __local REAL tree[LOCAL];
    const size_t lane = get_local_id(0), row = get_group_id(0) / parts + 1, part = get_group_id(0) % parts;
    const size_t from = first + part_start(count, part, parts), to = first + part_start(count, part + 1, parts);
    REAL sum = ZERO;
    for (size_t c = from + lane; c < to; c += LOCAL) {
        const REAL difference = next[base + row * n + c] - old[base + row * n + c];
        sum = sum + difference * difference;
    }
    tree[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t k = LOCAL / 2; k > 0; k /= 2) {
        if (lane < k)
            tree[lane] = tree[lane] + tree[lane + k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        squares[get_group_id(0)] = tree[0];
}
"
        }
        KernelFamily::Cpu => {
            "
__kernel void waveform_difference(const ulong base, const ulong n, const ulong first, const ulong count, const ulong parts,
    __global const REAL *restrict old, __global const REAL *restrict next, __global REAL *restrict squares)
{
    const size_t row = get_global_id(0) / parts + 1, part = get_global_id(0) % parts;
    const size_t from = first + part_start(count, part, parts), to = first + part_start(count, part + 1, parts);
    REAL sum = ZERO;
    for (size_t c = from; c < to; c++) {
        const REAL difference = next[base + row * n + c] - old[base + row * n + c];
        sum = sum + difference * difference;
    }
    squares[get_global_id(0)] = sum;
}
"
        }
    }
}

/// The source of `waveform_pack` and `waveform_unpack`: rows 1 to `rows` of the waveforms of points, `fields` values each, to and
/// from a list of values point by point. A row has `n` values.
pub(super) const PACK: &str = "
__kernel void waveform_pack(const ulong n, const ulong rows, const ulong fields, const ulong points,
    __global const uint *restrict list, __global const REAL *restrict next, __global REAL *restrict values)
{
    for (size_t k = get_global_id(0); k < points * rows * fields; k += get_global_size(0)) {
        const size_t point = k / fields / rows, row = k / fields % rows, field = k % fields;
        values[k] = next[(row + 1) * n + list[point] * fields + field];
    }
}
";

/// See [`PACK`].
pub(super) const UNPACK: &str = "
__kernel void waveform_unpack(const ulong n, const ulong rows, const ulong fields, const ulong points,
    __global const uint *restrict list, __global REAL *restrict next, __global const REAL *restrict values)
{
    for (size_t k = get_global_id(0); k < points * rows * fields; k += get_global_size(0)) {
        const size_t point = k / fields / rows, row = k / fields % rows, field = k % fields;
        next[(row + 1) * n + list[point] * fields + field] = values[k];
    }
}
";

/// The source of `waveform_gather`: the values of the stored points at the beginning of a window.
pub(super) fn gather(system: &System) -> String {
    let fields = system.fields().len();
    let at = match system.layout() {
        Layout::Interleaved => format!("point * {fields} + field"),
        Layout::FieldWise => format!("field * {} + point", system.grid().points()),
    };
    format!(
        "
__kernel void waveform_gather(const ulong points, __global const uint *restrict list, __global const REAL *restrict start,
    __global REAL *restrict row)
{{
    for (size_t k = get_global_id(0); k < points * {fields}; k += get_global_size(0)) {{
        const size_t point = list[k / {fields}], field = k % {fields};
        row[k] = start[{at}];
    }}
}}
"
    )
}
