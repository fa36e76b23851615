//! Tiles on GPUs: a work-group has a tile.

use std::cell::RefCell;
use std::fmt::Write;

use clinalg::Real;

use crate::codegen::names::{column_name, row_name};
use crate::codegen::tiles::{Tile, Words};
use crate::codegen::writer::Writer;
use crate::method::graph::Value;
use crate::model::access::{ring, slow_axis};
use crate::tiling::phases::Items;

impl<T: Real> Tile<'_, T> {
    pub(super) fn gpu(&self, name: &str) -> String {
        let Items { local, points } = self.items;
        let (low, length) = self.phase.window(self.d);
        let fields = self.fields();
        let system = self.base.system;
        let periodic = ring(system);
        let mut text = self.head();
        writeln!(text, "#define K {points}\n#define WINDOW {length}").expect("text grows");
        writeln!(text, "#undef LOCAL\n#define LOCAL {local}").expect("text grows");
        text.push_str(&self.base.open(&format!("__attribute__((reqd_work_group_size({local}, 1, 1))) "), name));
        let most = self.phase.stage_groups.iter().map(|l| self.arguments(*l).len()).max().unwrap_or(0);
        let mut line = |s: String| {
            text.push_str(&s);
            text.push('\n');
        };
        line(format!("__local REAL tile[{}][WINDOW];", (most * fields).max(1)));
        line("const int lane = (int)get_local_id(0);".into());
        let place =
            format!("(idx)({}) + (idx)get_group_id(0) * (idx)({})", self.phase.origin + low, self.phase.spacing);
        // The first point of the window; grids that are closed to a ring go on at their other end.
        let slow = slow_axis(system);
        let plane = ["1", "NX", "NX * NY"][slow];
        let reach = system.radius()[slow];
        if periodic {
            line(format!("const idx first = (({place}) % POINTS + POINTS) % POINTS;"));
        } else {
            line(format!("const idx first = {place};"));
            line(format!(
                "const bool inner = first >= {plane} * {reach} && first + WINDOW <= POINTS - {plane} * {reach};"
            ));
        }
        for v in self.kept() {
            for f in 0..fields {
                line(format!("REAL v{}_{f}[K];", v.0));
            }
        }
        let at = if periodic { "const idx p = (first + s) % POINTS;" } else { "const idx p = first + s;" };
        let inside = if periodic { "true" } else { "p >= 0 && p < POINTS" };
        let value = |v: Value, f: usize| format!("v{}_{f}[k]", v.0);
        for (q, stage) in self.phase.stage_groups.iter().enumerate() {
            let span = self.phase.span[q];
            let previous = if q > 0 { self.phase.span[q - 1] } else { (0, 0) };
            let arguments = self.arguments(*stage);
            let wide = (span.0 - self.d, span.1 + self.d);
            let whole = (low, low + (local * points) as i64);
            if !arguments.is_empty() {
                if q > 0 {
                    line("barrier(CLK_LOCAL_MEM_FENCE);".into());
                }
                line("#pragma unroll\nfor (int k = 0; k < K; k++) {".into());
                line(format!("const int s = k * {local} + lane;\n{at}"));
                line(format!("if ({} && {inside}) {{", self.within(wide, low, whole)));
                for (i, x) in arguments.iter().enumerate() {
                    let fresh = self.made(*x).is_some_and(|m| m + 1 == q);
                    let covered = fresh && previous.0 <= wide.0 && previous.1 >= wide.1;
                    if !covered {
                        let load = self.load(*x, &value);
                        match fresh {
                            true => {
                                let known = self.within(previous, low, (i64::MIN, i64::MAX));
                                line(format!("if (!({known})) {{\n{load}\n}}"));
                            }
                            false => line(load),
                        }
                    }
                    for f in 0..fields {
                        line(format!("tile[{}][s] = {};", i * fields + f, value(*x, f)));
                    }
                }
                line("}\n}\nbarrier(CLK_LOCAL_MEM_FENCE);".into());
            }
            let neighbour = |x: Value, field: usize, o: [i32; 3]| {
                let i = arguments.iter().position(|v| *v == x).expect("an argument of the stage group");
                format!("tile[{}][s + (int)({} + {})]", i * fields + field, row_name(o[1], o[2]), column_name(o[0]))
            };
            let all = |x: Value| {
                let i = arguments.iter().position(|v| *v == x).expect("an argument of the stage group");
                format!("tile[{i}]")
            };
            let known = RefCell::new(Vec::new());
            let words = Words { value: &value, neighbour: &neighbour, all: &all, known: &known };
            let sides: &[bool] = if periodic { &[true] } else { &[true, false] };
            for inner in sides {
                if !periodic {
                    line(if *inner { "if (inner) {".into() } else { "} else {".into() });
                }
                line("#pragma unroll\nfor (int k = 0; k < K; k++) {".into());
                line(format!("const int s = k * {local} + lane;\n{at}"));
                let inside = if *inner { "true" } else { inside };
                line(format!("if ({} && {inside}) {{", self.within(span, low, whole)));
                line("const idx ix = p % NX, iy = p / NX % NY, iz = p / NX / NY;".into());
                let joins = self.waiting(q);
                if q == 0 {
                    joins.iter().for_each(|v| line(self.load(*v, &value)));
                } else if !joins.is_empty() && (span.0 < previous.0 || span.1 > previous.1) {
                    let known = self.within(previous, low, (i64::MIN, i64::MAX));
                    let loads: Vec<String> = joins.iter().map(|v| self.load(*v, &value)).collect();
                    line(format!("if (!({known})) {{\n{}\n}}", loads.join("\n")));
                }
                line(self.position(*inner));
                line(self.point(q, *inner, false, &words));
                line("}\n}".into());
            }
            if !periodic {
                line("}".into());
            }
        }
        text.push_str(&Writer::<T>::tree(self.sums, "get_group_id(0)"));
        text.push_str("}\n");
        text
    }
}
