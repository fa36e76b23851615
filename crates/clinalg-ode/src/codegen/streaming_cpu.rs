//! Streaming tiles on CPUs: a work-item has a tile and keeps rows in arrays.

use std::fmt::Write;

use clinalg::Real;

use crate::codegen::streaming::{Stream, lane_name};
use crate::codegen::writer::Writer;
use crate::method::graph::Value;
use crate::tiling::streaming::{Reach, StreamingTile, all_across};

impl<T: Real> Stream<'_, T> {
    pub(super) fn cpu(&self, name: &str) -> String {
        let StreamingTile { columns, lines, rows } = self.streaming;
        let Reach { x, y: reach_lines, along: y, lag } = self.reach;
        let stage_groups = self.stage_groups;
        let (own, own_lines) = self.own();
        let [margin, margin_lines] = self.margins();
        let [first, front] = self.places("get_global_id(0)");
        let (axis, i, n) = self.rows_axis();
        let planes = axis == 2;
        let fields = self.fields();
        let mut text = self.base.head();
        text.push_str(&self.base.open("", name));
        let mut line = |s: String| {
            text.push_str(&s);
            text.push('\n');
        };
        let delays = self.delays();
        for (v, rows) in &delays {
            for f in 0..fields {
                line(format!("REAL a{}_{f}[{}][{}];", v.0, rows + 1, columns * lines));
            }
        }
        line(format!("const idx first = {first};"));
        if planes {
            line(format!("const idx front = {front};"));
        }
        line(format!("const idx begin = (idx)get_global_id(1) * {rows}, end = min(begin + {rows}, {n});"));
        let before = y * stage_groups as i64;
        line(match self.periodic(axis) {
            true => format!("const idx start = begin - {before};"),
            false => format!("const idx start = max(begin - {before}, (idx)0);"),
        });
        let stop = stage_groups as i64 * lag;
        // Columns relative to the streaming tile from one to another, those outside the grid left out.
        let range = |from: i64, to: i64| match self.periodic(0) {
            true => format!("const int low = {from}, high = {to};"),
            false => format!("const int low = (int)max((idx){from}, -first), high = (int)min((idx){to}, NX - first);"),
        };
        let column = match self.periodic(0) {
            true => "const idx ix = ((first + s) % NX + NX) % NX;",
            false => "const idx ix = first + s;",
        };
        // The same for lines, whose loop stands around that over columns.
        let each_line = |from: i64, to: i64| match (planes, self.periodic(1)) {
            (false, _) => "{".into(),
            (_, true) => {
                format!("for (int l = {from}; l < {to}; l++) {{\nconst idx iy = ((front + l) % NY + NY) % NY;")
            }
            (_, false) => format!(
                "for (int l = (int)max((idx){from}, -front); l < (int)min((idx){to}, NY - front); l++) {{\nconst idx iy = front + l;"
            ),
        };
        let here = if planes { format!("{columns} * l + s") } else { "s".to_owned() };
        line(format!("for (idx j = start; j < end + {stop}; j++) {{"));
        line("{".into());
        line(range(0, columns as i64));
        line(match self.periodic(axis) {
            true => format!("const idx {i} = (j % {n} + {n}) % {n};"),
            false => format!("const idx {i} = min(j, {n} - 1);"),
        });
        for v in &self.base.group.reads {
            let rows = delays[v] + 1;
            line(format!("const int to{} = (int)((j + {}) % {rows});", v.0, before * rows));
            line(each_line(0, lines as i64));
            line(format!("for (int s = low; s < high; s++) {{\n{column}\nconst idx p = {};", self.point_in(i)));
            for f in 0..fields {
                let from = self.base.get(&self.base.buffer(*v), "p", f);
                line(format!("a{}_{f}[to{}][{here}] = {from};", v.0, v.0));
            }
            line("}\n}".into());
        }
        line("}".into());
        // Row of an array: counted by iterations, so that every vector's row of an iteration has one place.
        let place = |v: Value, rows: i64| format!("r{}_{}", v.0, rows);
        let value = |v: Value, f: usize, rows: i64| format!("a{}_{f}[{}][{here}]", v.0, place(v, rows));
        let neighbour =
            |v: Value, f: usize, d: [i32; 2], rows: i64| format!("a{}_{f}[{}][{}]", v.0, place(v, rows), lane_name(d));
        let leaves = if self.base.offsets().is_empty() { Vec::new() } else { all_across(self.base.system) };
        for stage_group in 0..stage_groups {
            let left = (stage_groups - 1 - stage_group) as i64 * x;
            let left_lines = (stage_groups - 1 - stage_group) as i64 * reach_lines;
            line("{".into());
            line(range(margin - left, margin + own as i64 + left));
            let back = (stage_group as i64 + 1) * lag;
            line(format!("const idx row = j - {back};"));
            line(match self.periodic(axis) {
                true => format!("const idx {i} = (row % {n} + {n}) % {n};"),
                false => format!("const idx {i} = row;"),
            });
            for (v, rows) in &delays {
                for k in 0..=*rows {
                    let turn = before * (rows + 1) + (rows + 1) - k;
                    line(format!("const int {} = (int)((j + {turn}) % {});", place(*v, k), rows + 1));
                }
            }
            line("const bool kept = row >= begin && row < end;".into());
            let (below, above) = self.base.reach();
            line(match self.periodic(0) {
                true => "const int from = low, to = high;".into(),
                false => format!(
                    "const int from = clamp((int)({below} - first), low, high), to = clamp((int)(NX - {above} - first), from, high);"
                ),
            });
            line(each_line(margin_lines - left_lines, margin_lines + own_lines as i64 + left_lines));
            for (start, stop, inner) in [("low", "from", false), ("from", "to", true), ("to", "high", false)] {
                if !inner && self.periodic(0) {
                    continue;
                }
                line(format!("for (int s = {start}; s < {stop}; s++) {{\n{column}"));
                line(format!("const idx {}p = {};", if planes { "" } else { "iz = 0, " }, self.point_in(i)));
                // Streaming tiles at the end of a periodic grids go over it.
                let mut owns = format!("kept && s >= {margin} && s < {}", margin + own as i64);
                if self.periodic(0) {
                    owns.push_str(" && first + s < NX");
                }
                if planes {
                    let to = margin_lines + own_lines as i64;
                    write!(owns, " && l >= {margin_lines} && l < {to} && front + l < NY").expect("text grows");
                }
                line(format!("const bool owns = {owns};"));
                for d in &leaves {
                    let mut to = match inner {
                        true => format!("s + ({})", d[0]),
                        false => format!("(int)({} - first)", self.base.neighbour(0, d[0])),
                    };
                    if planes {
                        let line = match self.periodic(1) {
                            true => format!("(l + ({}))", d[1]),
                            false => format!("(int)({} - front)", self.base.neighbour(1, d[1])),
                        };
                        write!(to, " + {columns} * {line}").expect("text grows");
                    }
                    line(format!("const int {} = {to};", lane_name(*d)));
                }
                line(self.point(stage_group, (inner, false), &value, &neighbour));
                for v in self.nodes(stage_group).iter().filter(|v| delays.contains_key(v)) {
                    for f in 0..fields {
                        line(format!("{} = n{}_{f};", value(*v, f, 0), v.0));
                    }
                }
                line("}".into());
            }
            line("}\n}".into());
        }
        line("}".into());
        line(Writer::<T>::leaves(self.sums, "get_global_id(1) * get_global_size(0) + get_global_id(0)"));
        text.push_str("}\n");
        text
    }
}
