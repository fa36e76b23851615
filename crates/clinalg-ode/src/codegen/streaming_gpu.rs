//! Streaming tiles on GPUs: a work-group has a tile, a work-item a column of it.

use std::fmt::Write;

use clinalg::Real;

use crate::codegen::streaming::{Stream, delayed, lane_name};
use crate::codegen::writer::Writer;
use crate::method::graph::Value;
use crate::tiling::streaming::{Reach, StreamingTile, all_across};

impl<T: Real> Stream<'_, T> {
    pub(super) fn gpu(&self, name: &str) -> String {
        let StreamingTile { columns, lines, rows } = self.streaming;
        let Reach { along: y, lag, .. } = self.reach;
        let stage_groups = self.stage_groups;
        let (own, own_lines) = self.own();
        let [margin, margin_lines] = self.margins();
        let [column, depth] = self.places("get_group_id(0)");
        let (axis, i, n) = self.rows_axis();
        let planes = axis == 2;
        let items = columns * lines;
        let fields = self.fields();
        let mut text = self.base.head();
        writeln!(text, "#undef LOCAL\n#define LOCAL {items}").expect("text grows");
        text.push_str(&self.base.open(&format!("__attribute__((reqd_work_group_size({items}, 1, 1))) "), name));
        let mut line = |s: String| {
            text.push_str(&s);
            text.push('\n');
        };
        let arguments = self.arguments();
        let slots = self.rows_across().map(|k| k + 2);
        if let Some(slots) = slots {
            line(format!("__local REAL shared[{}][{slots}][{items}];", arguments.len() * fields));
        }
        line("const int lane = (int)get_local_id(0);".into());
        // An item's place in its line, which is the whole streaming tile where rows follow each other.
        let at = if planes { "lane_x" } else { "lane" };
        if planes {
            line(format!("const int lane_x = lane % {columns}, lane_y = lane / {columns};"));
        }
        let place = |axis: usize, place: &str| match (self.periodic(axis), ["NX", "NY"][axis]) {
            (true, n) => format!("({place} % {n} + {n}) % {n}"),
            (false, n) => format!("clamp({place}, (idx)0, {n} - 1)"),
        };
        line(format!("const idx column = {column} + {at};"));
        line(format!("const idx ix = {}{};", place(0, "column"), if planes { "" } else { ", iz = 0" }));
        let mut mine = format!("{at} >= {margin} && {at} < {} && column < NX", margin + own as i64);
        if planes {
            line(format!("const idx depth = {depth} + lane_y;"));
            line(format!("const idx iy = {};", place(1, "depth")));
            let to = margin_lines + own_lines as i64;
            write!(mine, " && lane_y >= {margin_lines} && lane_y < {to} && depth < NY").expect("text grows");
        }
        line(format!("const bool mine = {mine};"));
        line(format!("const idx begin = (idx)get_group_id(1) * {rows}, end = min(begin + {rows}, {n});"));
        let before = y * stage_groups as i64;
        line(match self.periodic(axis) {
            true => format!("const idx start = begin - {before};"),
            false => format!("const idx start = max(begin - {before}, (idx)0);"),
        });
        // Items for neighbours in other columns; past the streaming tile's ends the value is not used.
        if !self.base.offsets().is_empty() {
            for d in all_across(self.base.system) {
                let item = |axis: usize, lane: &str, place: &str, count: usize| {
                    let to = match self.periodic(axis) {
                        true => format!("{lane} + ({})", d[axis]),
                        false => format!("(int)({} - {place}) + {lane}", self.base.neighbour(axis, d[axis])),
                    };
                    format!("clamp({to}, 0, {})", count - 1)
                };
                let mut to = item(0, at, "column", columns);
                if planes {
                    write!(to, " + {columns} * {}", item(1, "lane_y", "depth", lines)).expect("text grows");
                }
                line(format!("const int {} = {to};", lane_name(d)));
            }
        }
        let delays = self.delays();
        let reads = &self.base.group.reads;
        for (v, rows) in &delays {
            for f in 0..fields {
                // A vector that nothing reads later has no row but its own.
                let from = if self.made[v.0] < 0 { 0 } else { 1 };
                let names: Vec<String> = (from..=*rows).map(|k| format!("{} = ZERO", delayed(*v, f, k))).collect();
                if !names.is_empty() {
                    line(format!("REAL {};", names.join(", ")));
                }
            }
        }
        let row_of = |j: &str| match self.periodic(axis) {
            true => format!("(({j}) % {n} + {n}) % {n}"),
            false => format!("clamp({j}, (idx)0, {n} - 1)"),
        };
        let fetch = |row: &str| {
            let mut text = format!("{{\nconst idx p = {};\n", self.point_in(&row_of(row)));
            for v in reads {
                for f in 0..fields {
                    let from = self.base.get(&self.base.buffer(*v), "p", f);
                    writeln!(text, "next{}_{f} = {from};", v.0).expect("text grows");
                }
            }
            text + "}"
        };
        for v in reads {
            for f in 0..fields {
                line(format!("REAL next{}_{f};", v.0));
            }
        }
        line(fetch("start"));
        if slots.is_some() {
            line("int slot = 0;".into());
        }
        let stop = stage_groups as i64 * lag;
        line(format!("for (idx j = start; j < end + {stop}; j++) {{"));
        if slots.is_some() {
            for (i, x) in arguments.iter().enumerate() {
                for f in 0..fields {
                    line(format!("shared[{}][slot][lane] = {};", i * fields + f, delayed(*x, f, 1)));
                }
            }
            line("barrier(CLK_LOCAL_MEM_FENCE);".into());
        }
        for v in reads {
            for f in 0..fields {
                line(format!("{} = next{}_{f};", delayed(*v, f, 0), v.0));
            }
        }
        line(fetch("j + 1"));
        let value = |v: Value, f: usize, rows: i64| match rows == 0 && self.made[v.0] >= 0 {
            true => format!("m{}_{f}", v.0),
            false => delayed(v, f, rows),
        };
        let neighbour = |v: Value, f: usize, d: [i32; 2], rows: i64| {
            let i = arguments.iter().position(|x| *x == v).expect("an argument");
            let slots = slots.expect("neighbours in other columns");
            // The newest row handed over is the one before the vector's own.
            let back = rows - 1;
            let slot = match (back, slots) {
                (0, _) => "slot".to_owned(),
                (1, 2) => "(slot ^ 1)".to_owned(),
                _ => format!("(slot + {}) % {slots}", slots - back),
            };
            format!("shared[{}][{slot}][{}]", i * fields + f, lane_name(d))
        };
        // A stage group's newest row is an argument of the next stage group in the same iteration.
        for stage_group in 0..stage_groups {
            for v in self.nodes(stage_group).iter().filter(|v| delays.contains_key(v)) {
                for f in 0..fields {
                    line(format!("REAL m{}_{f};", v.0));
                }
            }
        }
        // Most rows are far from the first and the last one.
        let cases: &[bool] = if self.periodic(axis) { &[true] } else { &[true, false] };
        for far in cases {
            line(match (self.periodic(axis), far) {
                (true, _) => "{".into(),
                (false, true) => format!("if (j >= {} && j < {n} + {}) {{", stop + y, lag - y),
                (false, false) => "} else {".into(),
            });
            for stage_group in 0..stage_groups {
                line("{".into());
                let back = (stage_group as i64 + 1) * lag;
                line(format!("const idx row = j - {back};"));
                line(format!("const idx {i} = {};", if self.periodic(axis) { row_of("row") } else { "row".into() }));
                line(format!("const idx p = {};", self.point_in(i)));
                line("const bool owns = mine && row >= begin && row < end;".into());
                line(self.point(stage_group, (false, *far), &value, &neighbour));
                for v in self.nodes(stage_group).iter().filter(|v| delays.contains_key(v)) {
                    for f in 0..fields {
                        line(format!("m{}_{f} = n{}_{f};", v.0, v.0));
                    }
                }
                line("}".into());
            }
        }
        line("}".into());
        for (v, rows) in &delays {
            for f in 0..fields {
                for k in (1..=*rows).rev() {
                    line(format!("{} = {};", delayed(*v, f, k), value(*v, f, k - 1)));
                }
            }
        }
        match slots {
            Some(2) => line("slot ^= 1;".into()),
            Some(slots) => line(format!("slot = slot + 1 == {slots} ? 0 : slot + 1;")),
            None => {}
        }
        line("}".into());
        line(Writer::<T>::tree(self.sums, "get_group_id(1) * get_num_groups(0) + get_group_id(0)"));
        text.push_str("}\n");
        text
    }
}
