//! Kernels of waveform relaxation, for any system of formulas.
//!
//! An iteration is one launch of `waveform_sweep`: blocks read the previous iterate of others and need nothing of each other. With
//! blocks of one point or component an item has a point on GPUs and runs through the steps with its own values in registers;
//! on CPUs an item has a run of points and goes step by step. Larger blocks are a work-group each, with the values at hand
//! in local memory, in two halves that alternate from step to step; where only waveforms at boundaries are stored, `numbers` has
//! their place, and `start` and `end` have all components at the ends of the window. Memory: the old waveform is read and the new one written
//! once, 2 words per component and step; the difference of both reads them again.

use std::fmt::Write;
use std::marker::PhantomData;

use clinalg::{KernelFamily, Real};

use crate::codegen::names::{column_name, row_name, signed};
use crate::codegen::writer::Writer;
use crate::method::Method;
use crate::method::graph::Op;
use crate::model::{Layout, System};
use crate::plan::{Plan, Variant};
use crate::waveform::boundary::NOT_STORED;
use crate::waveform::options::{Copies, Storage, WaveformOptions};
use crate::waveform::partition::Partition;
use crate::{Error, Result};

/// The source of `waveform_sweep` for blocks of the system.
///
/// # Errors
/// [`Error::Variant`] for systems without formulas at points: OpenCL C, and sums over all points.
pub(super) fn sweep<T: Real>(
    system: &System,
    options: &WaveformOptions,
    family: KernelFamily,
    stored: Option<usize>,
) -> Result<String> {
    let refuse = |reason: &str| Err(Error::Variant { variant: "waveform", reason: reason.into() });
    if system.snippet.is_some() {
        return refuse("OpenCL C does not say which values are its own; write formulas");
    }
    if system.is_dense() {
        return refuse("sums over all points have no waveform kernels; use `relax_sequentially`");
    }
    let euler = Method::named("euler")?;
    let plan = Plan::new(euler.graph(), Variant::Fused);
    let group = &plan.groups()[0];
    let writer = Writer::<T> { plan: &plan, system, group, family, marker: PhantomData };
    let rhs = |v: &&crate::method::graph::Value| matches!(plan.graph().node(**v).op, Op::Rhs { .. });
    let node = group.nodes.iter().find(rhs).expect("Euler's method has a right-hand side").0;
    let sweep = Sweep { writer, options, node };
    let mut text = sweep.writer.head();
    text.push_str(&sweep.kernel(stored));
    Ok(text)
}

struct Sweep<'a, T> {
    writer: Writer<'a, T>,
    options: &'a WaveformOptions,
    /// The node of the right-hand side in the graph of Euler's method.
    node: usize,
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
        writeln!(text, "#define STORED {stored}").expect("text grows");
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
        text.push_str(")\n{\nconst REAL factor = ONE * h;\n");
        for p in 0..self.writer.system.parameters().count() {
            writeln!(text, "const REAL par{p} = par[{p}];").expect("text grows");
        }
        text.push_str(&match (self.options.partition, self.writer.family) {
            (Partition::Block(sides), _) => self.blocks(sides),
            (_, KernelFamily::Gpu) => self.points_gpu(),
            (_, KernelFamily::Cpu) => self.points_cpu(),
        });
        text.push_str("}\n");
        text
    }

    /// Time and the row of the previous iterate at a step.
    fn step(&self) -> String {
        let Sweep { node, .. } = self;
        format!("const REAL t{node} = times[i];\n__global const REAL *row = old + (size_t)i * STORED;\n")
    }

    /// Makes the private copy of component `own` and names where the value of component 0 would be in it.
    fn copy(&self, f: usize) -> String {
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
        format!(
            "const idx own = AT(p, {f}), shift = {shift};
__global REAL *mine = copies + (size_t)own * {width};
for (idx c = {from}; c < {to}; c++)
mine[c - shift] = row[c];
mine[own - shift] = w{f};\n"
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

    /// The derivatives of all fields at point `p`, whose own values are `w0`, `w1`, ...
    fn derivatives(&self) -> String {
        self.each_field(|f| {
            let copies = self.options.copies != Copies::None;
            let read = |field: usize, offset: [i32; 3]| {
                let own = self.options.partition == Partition::Point || field == f;
                let at = match offset {
                    [0, 0, 0] => "p".to_owned(),
                    [dx, dy, dz] => format!("{} + {}", row_name(dy, dz), column_name(dx)),
                };
                match (own, offset) {
                    _ if copies => format!("mine[AT({at}, {field}) - shift]"),
                    (true, [0, 0, 0]) => format!("w{field}"),
                    // At a side of the grid the neighbour can be the point itself.
                    (true, _) => format!("({at} == p ? w{field} : row[AT({at}, {field})])"),
                    (false, _) => format!("row[AT({at}, {field})]"),
                }
            };
            let derivative = self.writer.derivative(f, self.node, &|_| false, &read);
            match copies {
                true => format!("REAL f{f};\n{{\n{}f{f} = {derivative};\n}}", self.copy(f)),
                false => format!("const REAL f{f} = {derivative};"),
            }
        })
    }

    fn points_gpu(&self) -> String {
        let mut text = "const idx p = (idx)get_global_id(0);\nif (p < POINTS) {\n".to_owned();
        text.push_str(&self.neighbours());
        text.push_str(&self.each_field(|f| format!("REAL w{f} = next[AT(p, {f})];")));
        text.push_str("for (uint i = 0; i < steps; i++) {\n");
        text.push_str(&self.step());
        text.push_str(&self.derivatives());
        text.push_str("__global REAL *out = next + ((size_t)i + 1) * COMPONENTS;\n");
        text.push_str(&self.each_field(|f| format!("w{f} = w{f} + factor * f{f};\nout[AT(p, {f})] = w{f};")));
        text + "}\n}\n"
    }

    fn points_cpu(&self) -> String {
        let mut text = "const size_t item = get_global_id(0), items = get_global_size(0);
const idx from = (idx)part_start((size_t)POINTS, item, items), to = (idx)part_start((size_t)POINTS, item + 1, items);
for (uint i = 0; i < steps; i++) {\n"
            .to_owned();
        text.push_str(&self.step());
        text.push_str("__global const REAL *now = next + (size_t)i * COMPONENTS;\n");
        text.push_str("__global REAL *out = next + ((size_t)i + 1) * COMPONENTS;\n");
        text.push_str("for (idx p = from; p < to; p++) {\n");
        text.push_str(&self.neighbours());
        text.push_str(&self.each_field(|f| format!("const REAL w{f} = now[AT(p, {f})];")));
        text.push_str(&self.derivatives());
        text.push_str(&self.each_field(|f| format!("out[AT(p, {f})] = w{f} + factor * f{f};")));
        text + "}\n}\n"
    }

    /// A block of points for each work-group.
    fn blocks(&self, [bx, by, bz]: [usize; 3]) -> String {
        let boundary = self.options.storage == Storage::Boundary;
        let [cx, cy, _] = self.options.partition.counts(self.writer.system);
        let fields = self.fields();
        let size = bx * by * bz;
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
            "__local REAL tile[2][{fields}][{size}];
const idx block = (idx)({});
const idx x0 = block % {cx} * {bx}, y0 = block / {cx} % {cy} * {by}, z0 = block / {cx} / {cy} * {bz};\n{each}",
            if boundary { "get_group_id(0) + first" } else { "get_group_id(0)" }
        );
        let begin = if boundary { "start" } else { "next" };
        text.push_str(&self.each_field(|f| format!("tile[0][{f}][l] = {begin}[AT(p, {f})];")));
        text.push_str("}\n}\n");
        text.push_str(barrier);
        text.push_str("for (uint i = 0; i < steps; i++) {\n");
        text.push_str(&self.step());
        text.push_str("__global REAL *out = next + ((size_t)i + 1) * STORED;\nconst uint half_of = i & 1;\n");
        text.push_str(&each);
        for (axis, letter) in ["x", "y", "z"].iter().enumerate() {
            for d in offsets_along(self.writer.system, axis) {
                writeln!(text, "const idx n{letter}_{} = {};", signed(d), self.writer.neighbour(axis, d))
                    .expect("text grows");
            }
        }
        text.push_str(&self.each_field(|f| {
            let read = |field: usize, offset: [i32; 3]| {
                if offset == [0; 3] {
                    return format!("tile[half_of][{field}][l]");
                }
                let [x, y, z] = [0, 1, 2].map(|a| format!("n{}_{}", ["x", "y", "z"][a], signed(offset[a])));
                let inside =
                    format!("(size_t)({x} - x0) < {bx} && (size_t)({y} - y0) < {by} && (size_t)({z} - z0) < {bz}");
                let place = format!("(({z} - z0) * {by} + ({y} - y0)) * {bx} + ({x} - x0)");
                let point = format!("{x} + NX * ({y} + NY * {z})");
                let other = match boundary {
                    true => format!("row[(size_t)numbers[{point}] * {fields} + {field}]"),
                    false => format!("row[AT({point}, {field})]"),
                };
                format!("({inside} ? tile[half_of][{field}][{place}] : {other})")
            };
            format!("const REAL f{f} = {};", self.writer.derivative(f, self.node, &|_| false, &read))
        }));
        text.push_str(&self.each_field(|f| {
            format!("const REAL w{f} = tile[half_of][{f}][l] + factor * f{f};\ntile[half_of ^ 1][{f}][l] = w{f};")
        }));
        if boundary {
            text.push_str(&format!("const uint number = numbers[p];\nif (number != {NOT_STORED}u) {{\n"));
            text.push_str(&self.each_field(|f| format!("out[(size_t)number * {fields} + {f}] = w{f};")));
            text.push_str("}\n");
        } else {
            text.push_str(&self.each_field(|f| format!("out[AT(p, {f})] = w{f};")));
        }
        text.push_str("}\n}\n");
        text.push_str(barrier);
        text.push_str("}\n");
        if boundary {
            text.push_str(&each);
            text.push_str(&self.each_field(|f| format!("end[AT(p, {f})] = tile[steps & 1][{f}][l];")));
            text.push_str("}\n}\n");
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
/// if `linear`, go on from there along the line through the row before.
pub(super) const BEGIN: &str = "
#pragma OPENCL FP_CONTRACT OFF
__kernel void waveform_begin(const ulong n, const ulong source, const ulong rows, const uint linear, __global REAL *old,
    __global REAL *next)
{
    for (size_t c = get_global_id(0); c < n; c += get_global_size(0)) {
        const REAL value = old[source * n + c];
        const REAL slope = linear ? value - old[(source - 1) * n + c] : ZERO;
        for (size_t row = 0; row < rows; row++)
            old[row * n + c] = linear && row > 0 ? value + (REAL)row * slope : value;
        next[c] = value;
    }
}
";

/// The source of `waveform_difference`: the squared 2-norm of the difference of each row but the first, of `count` of the `n` columns
/// from column `first` on.
pub(super) fn difference(family: KernelFamily) -> &'static str {
    match family {
        KernelFamily::Gpu => {
            "
__kernel void waveform_difference(const ulong n, const ulong first, const ulong count, __global const REAL *restrict old, __global const REAL *restrict next,
    __global REAL *restrict squares)
{
    __local REAL tree[LOCAL];
    const size_t lane = get_local_id(0), row = get_group_id(0) + 1;
    REAL sum = ZERO;
    for (size_t c = first + lane; c < first + count; c += LOCAL) {
        const REAL difference = next[row * n + c] - old[row * n + c];
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
        squares[row - 1] = tree[0];
}
"
        }
        KernelFamily::Cpu => {
            "
__kernel void waveform_difference(const ulong n, const ulong first, const ulong count, __global const REAL *restrict old, __global const REAL *restrict next,
    __global REAL *restrict squares)
{
    const size_t row = get_global_id(0) + 1;
    REAL sum = ZERO;
    for (size_t c = first; c < first + count; c++) {
        const REAL difference = next[row * n + c] - old[row * n + c];
        sum = sum + difference * difference;
    }
    squares[row - 1] = sum;
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
