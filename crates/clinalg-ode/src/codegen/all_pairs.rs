//! OpenCL C for sums over all points.
//!
//! On GPUs an item has one point and the items of a work-group fetch points to add into local memory together. On CPUs
//! an item has [`LANES`] points at a time, so that a loop over them becomes vector code. What a sum adds is computed with
//! fused multiply-adds, written as such: the sums have the same bits in every kernel of a family. They are added up by
//! blocks of points, so that rounding does not grow with the number of points.
//!
//! Work: a pair of points costs what is written. Memory: on GPUs a point that is added is read from memory once a
//! work-group, and from local memory, by all items at once, once for each pair.

use std::collections::HashMap;
use std::fmt::Write;

use clinalg::{KernelFamily, Real};

use crate::codegen::expression::{binary_text, function_name, literal};
use crate::method::graph::Value;
use crate::model::access::slow_axis;
use crate::model::formula::{Binary, Expr, leaves};
use crate::model::slab::Slab;
use crate::model::system::System;

/// Points of a CPU's inner loop.
pub(crate) const LANES: usize = 32;

/// Points that a CPU adds before it adds their sum to that of the others.
const BLOCK: usize = 256;

/// The sums of one evaluation of the right-hand side.
pub(crate) struct Sums<'a, T> {
    system: &'a System,
    /// Number of the evaluation.
    node: usize,
    /// The buffer read.
    buffer: String,
    sums: Vec<&'a Expr>,
    /// Leaves at the point itself and at the point that is added.
    own: Vec<&'a Expr>,
    sources: Vec<&'a Expr>,
    marker: std::marker::PhantomData<T>,
}

/// Name of sum `m` of an evaluation at the point, which is point `k` of the item on CPUs.
pub(crate) fn sum_name(node: Value, m: usize, family: KernelFamily) -> String {
    match family {
        KernelFamily::Gpu => format!("s{}_{m}", node.0),
        KernelFamily::Cpu => format!("s{}_{m}[k]", node.0),
    }
}

impl<'a, T: Real> Sums<'a, T> {
    pub(crate) fn new(system: &'a System, node: Value, buffer: String) -> Sums<'a, T> {
        Sums { buffer, ..Sums::of(system, node, system.sums()) }
    }

    /// Some of the system's sums, for [`Sums::alone`].
    pub(crate) fn of(system: &'a System, node: Value, sums: Vec<&'a Expr>) -> Sums<'a, T> {
        let (mut own, mut sources) = (Vec::new(), Vec::new());
        for sum in &sums {
            leaves(sum, &mut own, &mut sources);
        }
        let buffer = String::new();
        Sums { system, node: node.0, buffer, sums, own, sources, marker: std::marker::PhantomData }
    }

    /// Numbers of a point in local memory; whole vectors of four, which are read at once.
    fn width(&self) -> usize {
        match self.sources.len() {
            n @ (0..=2 | 4) => n.max(1),
            n => n.next_multiple_of(4),
        }
    }

    /// What the items of a work-group share, for all evaluations of a kernel.
    pub(crate) fn shared(&self) -> String {
        format!("    __local REAL tile[LOCAL * {}] __attribute__((aligned(16)));", self.width())
    }

    /// The sums of point `p`; `me` is the item's number in its work-group.
    pub(crate) fn gpu(&self) -> String {
        let width = self.width();
        let mut text = String::new();
        let mut line = |s: &str| {
            text.push_str(s);
            text.push('\n');
        };
        line(&self.each_sum(|m| format!("    REAL s{}_{m} = ZERO;", self.node)));
        for w in 0..self.own.len() {
            line(&format!("    REAL o{}_{w};", self.node));
        }
        line("    {\n        const idx at = p;\n        const idx p = min(at, POINTS - 1);");
        line(&self.own_values(""));
        line("    }");
        line("    for (idx start = 0; start < POINTS; start += LOCAL) {");
        line("        {\n            const idx p = min(start + (idx)me, POINTS - 1);");
        line(&self.loads(|w| format!("tile[me * {width} + {w}]")));
        line("        }");
        line("        barrier(CLK_LOCAL_MEM_FENCE);");
        line(&self.each_sum(|m| format!("        REAL part{}_{m} = ZERO;", self.node)));
        let body: String = (0..self.sources.len())
            .map(|w| format!("                const REAL q{w} = tile[j * {width} + {w}];\n"))
            .chain([self.pair("")])
            .collect();
        // A number of points that the compiler knows lets it unroll.
        line("        if (start + LOCAL <= POINTS) {\n            #pragma unroll 16");
        line(&format!("            for (int j = 0; j < LOCAL; j++) {{\n{body}            }}\n        }} else {{"));
        line(&format!("            for (int j = 0; j < POINTS - start; j++) {{\n{body}            }}\n        }}"));
        line(&self.each_sum(|m| format!("        s{n}_{m} = s{n}_{m} + part{n}_{m};", n = self.node)));
        line("        barrier(CLK_LOCAL_MEM_FENCE);\n    }");
        text
    }

    /// The sums of the `LANES` points from `at` on.
    pub(crate) fn cpu(&self) -> String {
        let mut text = String::new();
        let mut line = |s: &str| {
            text.push_str(s);
            text.push('\n');
        };
        line(&self.each_sum(|m| format!("    REAL s{n}_{m}[LANES], part{n}_{m}[LANES];", n = self.node)));
        for w in 0..self.own.len() {
            line(&format!("    REAL o{}_{w}[LANES];", self.node));
        }
        line("    for (int k = 0; k < LANES; k++) {\n        const idx p = min(at + k, POINTS - 1);");
        line(&self.own_values("[k]"));
        line(&self.each_sum(|m| format!("        s{}_{m}[k] = ZERO;", self.node)));
        line("    }");
        line(&format!("    for (idx start = 0; start < POINTS; start += {BLOCK}) {{"));
        line("        for (int k = 0; k < LANES; k++) {");
        line(&self.each_sum(|m| format!("            part{}_{m}[k] = ZERO;", self.node)));
        line("        }");
        line(&format!("        for (idx p = start; p < min(start + {BLOCK}, POINTS); p++) {{"));
        line(&self.loads(|w| format!("const REAL q{w}")));
        line(&format!(
            "            for (int k = 0; k < LANES; k++) {{\n{}            }}\n        }}",
            self.pair("[k]")
        ));
        line("        for (int k = 0; k < LANES; k++) {");
        line(&self.each_sum(|m| format!("            s{n}_{m}[k] = s{n}_{m}[k] + part{n}_{m}[k];", n = self.node)));
        line("        }\n    }");
        text
    }

    /// The sums of point `p` with the indices `ix`, `iy` and `iz` by one item, in the order of [`Sums::gpu`] or [`Sums::cpu`] and so with
    /// the same bits. `own` reads a field at the point itself, `source` at the point that is added, which is `p` there while
    /// the point itself is `here`.
    pub(crate) fn alone(
        &self,
        family: KernelFamily,
        own: &dyn Fn(usize) -> String,
        source: &dyn Fn(usize) -> String,
    ) -> String {
        let chunk = match family {
            KernelFamily::Gpu => "LOCAL".to_owned(),
            KernelFamily::Cpu => BLOCK.to_string(),
        };
        let mut text = self.each_sum(|m| format!("REAL s{}_{m} = ZERO;", self.node)) + "\nconst idx here = p;\n";
        for (w, leaf) in self.own.iter().enumerate() {
            writeln!(text, "const REAL o{}_{w} = {};", self.node, self.read_at_point(leaf, own)).expect("text grows");
        }
        let parts = self.each_sum(|m| format!("REAL part{}_{m} = ZERO;", self.node));
        let sources: String = (self.sources.iter().enumerate())
            .map(|(w, leaf)| format!("const REAL q{w} = {};\n", self.read_at_point(leaf, source)))
            .collect();
        let (indices, pair) = (indices(), self.pair(""));
        let added = self.each_sum(|m| format!("s{n}_{m} = s{n}_{m} + part{n}_{m};", n = self.node));
        write!(
            text,
            "for (idx start = 0; start < POINTS; start += {chunk}) {{
{parts}
for (idx p = start; p < min(start + {chunk}, POINTS); p++) {{
{indices}{sources}{pair}}}
{added}
}}\n"
        )
        .expect("text grows");
        text
    }

    fn each_sum(&self, line: impl Fn(usize) -> String) -> String {
        (0..self.sums.len()).map(line).collect::<Vec<_>>().join("\n")
    }

    /// What belongs to point `p` itself; `k` is what follows the names.
    fn own_values(&self, k: &str) -> String {
        let mut text = indices();
        for (w, leaf) in self.own.iter().enumerate() {
            writeln!(text, "        o{}_{w}{k} = {};", self.node, self.at_point(leaf)).expect("text grows");
        }
        text
    }

    /// What is read of point `p` to be added.
    fn loads(&self, name: impl Fn(usize) -> String) -> String {
        let mut text = indices();
        for (w, leaf) in self.sources.iter().enumerate() {
            writeln!(text, "            {} = {};", name(w), self.at_point(leaf)).expect("text grows");
        }
        text
    }

    /// A leaf at point `p` with the indices ix, iy, iz.
    fn at_point(&self, leaf: &Expr) -> String {
        self.read_at_point(leaf, &|field| format!("{}[AT(p, {field})]", self.buffer))
    }

    /// The same where `read` reads a field.
    fn read_at_point(&self, leaf: &Expr, read: &dyn Fn(usize) -> String) -> String {
        match leaf {
            Expr::Field { field, .. } => read(*field),
            other => leaf_at_point::<T>(self.system, other, [0; 3]),
        }
    }

    /// Adds what a pair of points gives to all sums; `k` is what follows the names of what belongs to the point itself.
    fn pair(&self, k: &'static str) -> String {
        let mut pair = Pair { sums: self, k, lines: String::new(), known: HashMap::new() };
        for (m, sum) in self.sums.iter().enumerate() {
            let name = format!("part{}_{m}{k}", self.node);
            let value = match product(sum) {
                Some((a, b)) => {
                    let (a, b) = (pair.value(a), pair.value(b));
                    format!("fma({a}, {b}, {name})")
                }
                None => format!("{name} + {}", pair.value(sum)),
            };
            writeln!(pair.lines, "                {name} = {value};").expect("text grows");
        }
        pair.lines
    }
}

/// Data, coordinates or a grid index at an offset from point `p` with the indices ix, iy, iz.
pub(crate) fn leaf_at_point<T: Real>(system: &System, leaf: &Expr, offset: [i32; 3]) -> String {
    let index = |axis: usize| format!("({} + ({}))", whole_index(system, axis), offset[axis]);
    match leaf {
        Expr::Data(k) => format!("par[{} + {k} * POINTS + p]", system.values.len()),
        Expr::Index(axis) => format!("((REAL){})", index(*axis)),
        Expr::Coordinate(axis) => {
            let (origin, spacing) = (system.grid.origin[*axis], system.grid.spacing[*axis]);
            format!("({} + (REAL){} * {})", literal(T::from_f64(origin)), index(*axis), literal(T::from_f64(spacing)))
        }
        _ => unreachable!("the leaves of a point are data, coordinates and indices"),
    }
}

/// The index of a point along an axis in the whole grid.
fn whole_index(system: &System, axis: usize) -> String {
    let i = ["ix", "iy", "iz"][axis];
    match &system.slab {
        Some(Slab { first, rows, .. }) if axis == slow_axis(system) => {
            if first + system.grid.n[axis] > *rows {
                format!("(({i} + (idx){first}) % (idx){rows})")
            } else {
                format!("({i} + (idx){first})")
            }
        }
        _ => i.into(),
    }
}

fn indices() -> String {
    "        const idx ix = p % NX, iy = p / NX % NY, iz = p / NX / NY;\n".into()
}

/// Writes what a pair of points adds, each part once.
struct Pair<'a, T> {
    sums: &'a Sums<'a, T>,
    k: &'static str,
    lines: String,
    known: HashMap<String, String>,
}

/// The factors of a product.
fn product(formula: &Expr) -> Option<(&Expr, &Expr)> {
    match formula {
        Expr::Binary(Binary::Multiply, a, b) => Some((a, b)),
        Expr::Power(a, 2) => Some((a, a)),
        _ => None,
    }
}

impl<T: Real> Pair<'_, T> {
    /// A name or a number for a formula's value.
    fn value(&mut self, formula: &Expr) -> String {
        let place = |all: &[&Expr], leaf: &Expr| all.iter().position(|l| *l == leaf).expect("leaves were collected");
        let text = match formula {
            Expr::Number(v) => return literal(T::from_f64(*v)),
            Expr::Time => return format!("t{}", self.sums.node),
            Expr::Parameter(p) => return format!("par[{p}]"),
            Expr::Source(leaf) => return format!("q{}", place(&self.sums.sources, leaf)),
            Expr::Field { .. } | Expr::Data(_) | Expr::Coordinate(_) | Expr::Index(_) => {
                return format!("o{}_{}{}", self.sums.node, place(&self.sums.own, formula), self.k);
            }
            Expr::Sum(_) | Expr::Snippet => unreachable!("a sum holds neither"),
            Expr::Negate(a) => format!("-{}", self.value(a)),
            Expr::Power(a, n) => {
                let a = self.value(a);
                vec![a; *n as usize].join(" * ")
            }
            Expr::Call(f, a) => format!("{}({})", function_name(*f), self.value(a)),
            Expr::If(c, a, b) => {
                let (c, a, b) = (self.value(c), self.value(a), self.value(b));
                format!("{c} != ZERO ? {a} : {b}")
            }
            Expr::Binary(op, a, b) => match (op, product(a), product(b)) {
                (Binary::Add, _, Some((x, y))) => {
                    let (x, y, a) = (self.value(x), self.value(y), self.value(a));
                    format!("fma({x}, {y}, {a})")
                }
                (Binary::Add, Some((x, y)), None) => {
                    let (x, y, b) = (self.value(x), self.value(y), self.value(b));
                    format!("fma({x}, {y}, {b})")
                }
                (Binary::Subtract, _, Some((x, y))) => {
                    let (x, y, a) = (self.value(x), self.value(y), self.value(a));
                    format!("fma(-{x}, {y}, {a})")
                }
                (Binary::Subtract, Some((x, y)), None) => {
                    let (x, y, b) = (self.value(x), self.value(y), self.value(b));
                    format!("fma({x}, {y}, -{b})")
                }
                _ => {
                    let (a, b) = (self.value(a), self.value(b));
                    binary_text(*op, &a, &b)
                }
            },
        };
        if let Some(name) = self.known.get(&text) {
            return name.clone();
        }
        let name = format!("v{}", self.known.len());
        writeln!(self.lines, "                const REAL {name} = {text};").expect("text grows");
        self.known.insert(text, name.clone());
        name
    }
}
