//! Tiles on CPUs: a work-item has a tile, and loops along rows that become vector code.

use std::cell::RefCell;
use std::collections::BTreeMap;

use clinalg::Real;

use crate::codegen::names::{SCALAR, column_name, flat, row_name};
use crate::codegen::tiles::{Tile, Words};
use crate::codegen::writer::Writer;
use crate::method::graph::{Op, Value};
use crate::model::access::{ring, slow_axis};

impl<T: Real> Tile<'_, T> {
    /// Places in the arrays of an item for the kept vectors, and their number: vectors that are not needed any more give
    /// theirs to later ones, what neighbours read only after its stage group.
    pub(super) fn slots(&self) -> (BTreeMap<Value, usize>, usize) {
        let mut slot: BTreeMap<Value, usize> = BTreeMap::new();
        let (mut free, mut count): (Vec<usize>, usize) = (Vec::new(), 0);
        let kept = self.kept();
        let stage_groups = self.phase.stage_groups.len();
        let last = |v: Value| {
            let used = |q: &usize| {
                let stage = self.phase.stage_groups[*q];
                self.pointwise(v, stage) || self.arguments(stage).contains(&v)
            };
            (0..stage_groups).rev().find(used).unwrap_or(0)
        };
        let mut give = |v: Value, slot: &mut BTreeMap<Value, usize>, free: &mut Vec<usize>| {
            let place = free.pop().unwrap_or_else(|| {
                count += 1;
                count - 1
            });
            slot.insert(v, place);
        };
        for v in kept.iter().filter(|v| self.made(**v).is_none()) {
            give(*v, &mut slot, &mut free);
        }
        for q in 0..stage_groups {
            let arguments = self.arguments(self.phase.stage_groups[q]);
            let ends = |v: &&Value| last(**v) == q && slot.contains_key(v) && self.made(**v) != Some(q);
            let ending: Vec<Value> = kept.iter().filter(ends).copied().collect();
            free.extend(ending.iter().filter(|v| !arguments.contains(v)).map(|v| slot[v]));
            for v in kept.iter().filter(|v| self.made(**v) == Some(q)) {
                give(*v, &mut slot, &mut free);
            }
            free.extend(ending.iter().filter(|v| arguments.contains(v)).map(|v| slot[v]));
        }
        (slot, count)
    }

    pub(super) fn cpu(&self, name: &str) -> String {
        let (low, length) = self.phase.window(self.d);
        let fields = self.fields();
        let system = self.base.system;
        let periodic = ring(system);
        let mut text = self.head();
        text.push_str(&self.base.open("", name));
        let (slot, count) = self.slots();
        let mut line = |s: String| {
            text.push_str(&s);
            text.push('\n');
        };
        for k in 0..count {
            for f in 0..fields {
                line(format!("REAL a{k}_{f}[{length}];"));
            }
        }
        if !self.sums.is_empty() {
            (0..fields).for_each(|f| line(format!("REAL ratio{f}[{length}];")));
        }
        line(format!(
            "const idx first = (idx)({}) + (idx)get_global_id(0) * (idx)({});",
            self.phase.origin + low,
            self.phase.spacing
        ));
        // Rows too short for loops of their own.
        let plane = flat(system) && !periodic;
        if plane {
            line("const uint ix0 = (uint)((first % NX + NX) % NX);".into());
        }
        // Points from one relative to the window to another, those outside the grid left out; `s` counts from the window's
        // first, `p` is the point, `line` its row.
        let range = |from: i64, to: i64| match periodic {
            true => format!("const int begin = {}, end = {};", from - low, to - low),
            false => format!(
                "const int begin = (int)max((idx){}, -first), end = (int)min((idx){}, POINTS - first);",
                from - low,
                to - low
            ),
        };
        // As wide as addresses: from narrow indices the compiler makes gathers and scatters.
        let point = if periodic {
            "const idx p = ((first + s) % POINTS + POINTS) % POINTS;"
        } else {
            "const long p = (long)first + s;"
        };
        let array = |v: Value, f: usize| format!("a{}_{f}[s]", slot[&v]);
        for (q, stage) in self.phase.stage_groups.iter().enumerate() {
            let span = self.phase.span[q];
            let previous = if q > 0 { Some(self.phase.span[q - 1]) } else { None };
            let mut fetch = |from: i64, to: i64, v: Value| {
                if from < to {
                    line(format!("{{\n{}", range(from, to)));
                    line(format!("for (int s = begin; s < end; s++) {{\n{point}\n{}\n}}\n}}", self.load(v, &array)));
                }
            };
            let mut beside = |from: i64, to: i64, known: Option<(i64, i64)>, v: Value| match known {
                Some((a, b)) => {
                    fetch(from, a.min(to), v);
                    fetch(b.max(from), to, v);
                }
                None => fetch(from, to, v),
            };
            for x in self.arguments(*stage) {
                let known = previous.filter(|_| self.made(x).is_some_and(|m| m + 1 == q));
                beside(span.0 - self.d, span.1 + self.d, known, x);
            }
            for v in self.waiting(q) {
                beside(span.0, span.1, previous, v);
            }
            let known = RefCell::new(Vec::new());
            let neighbour = |x: Value, field: usize, o: [i32; 3]| {
                format!("a{}_{field}[s + (int)({} + {})]", slot[&x], row_name(o[1], o[2]), column_name(o[0]))
            };
            let all = |x: Value| format!("a{}_0", slot[&x]);
            let words = Words { value: &array, neighbour: &neighbour, all: &all, known: &known };
            if plane {
                line(format!("{{\n{}", range(span.0, span.1)));
                let far = self.d;
                line(format!(
                    "const int last = max(begin, end), from = (int)clamp((idx){far} - first, (idx)begin, (idx)last);"
                ));
                line(format!("const int to = (int)clamp(POINTS - (idx){far} - first, (idx)from, (idx)last);"));
                line("for (int part = 0; part < 2; part++) {".into());
                line(format!("{SCALAR}for (int s = part ? to : begin; s < (part ? last : from); s++) {{\n{point}"));
                line("const idx ix = (idx)p % NX, iy = (idx)p / NX % NY, iz = (idx)p / NX / NY;".into());
                line(self.position(false));
                line(self.point(q, false, false, &words));
                line("}\n}".into());
                line(format!("for (int s = from; s < to; s++) {{\n{point}"));
                line(
                    "const idx ix = (idx)((ix0 + (uint)s) % (uint)NX), iy = (idx)p / NX % NY, iz = (idx)p / NX / NY;"
                        .into(),
                );
                let beside = |x: Value, field: usize, o: [i32; 3]| {
                    let at = |far: i64| format!("a{}_{field}[s + ({far})]", slot[&x]);
                    self.base.beside(x, field, o, &known, &at)
                };
                line(self.point(q, true, false, &Words { neighbour: &beside, ..words }));
                line("}\n}".into());
            } else {
                line(format!("{{\n{}\nfor (int at = begin; at < end;) {{", range(span.0, span.1)));
                line(match periodic {
                    true => "const idx begins = ((first + at) % POINTS + POINTS) % POINTS;".into(),
                    false => "const idx begins = first + at;".to_owned(),
                });
                line("const idx line = begins / NX, iy = line % NY, iz = line / NY, ix0 = begins - line * NX;".into());
                line("const idx ix1 = min(NX, ix0 + (end - at));".into());
                let (below, above) = self.base.reach();
                line(format!("const idx from = clamp((idx){below}, ix0, ix1), to = clamp(NX - {above}, from, ix1);"));
                let slow = slow_axis(system);
                for (start, stop, inner_row) in [("ix0", "from", false), ("from", "to", true), ("to", "ix1", false)] {
                    line(format!("for (idx ix = {start}; ix < {stop}; ix++) {{"));
                    line("const idx p = line * NX + ix;\nconst int s = at + (int)(ix - ix0);".into());
                    // In the middle of a row nothing along x is outside; where x is the slowest axis that is all there is.
                    line(self.position_in_row(inner_row));
                    line(self.point(q, slow == 0 && inner_row, inner_row, &words));
                    line("}".into());
                }
                line("at += (int)(ix1 - ix0);\n}\n}".into());
            }
            // What is only stored in part, and the norm.
            for v in self.nodes(*stage).into_iter().filter(|v| self.stored_apart(*v, q)) {
                let names: Vec<String> = (0..fields).map(|f| array(v, f)).collect();
                let store = self.base.put(&self.base.buffer(v), "p", &names);
                let mut keep = |from: i64, to: i64| {
                    if from < to {
                        line(format!("{{\n{}", range(from, to)));
                        line(format!("for (int s = begin; s < end; s++) {{\n{point}\n{store}\n}}\n}}"));
                    }
                };
                match (self.base.group.writes.contains(&v), self.phase.own, self.borders(v, q)) {
                    (true, Some(own), _) => keep(own.0.max(span.0), own.1.min(span.1)),
                    (false, _, Some((from, to))) => {
                        keep(span.0, from.min(span.1));
                        keep(to.max(span.0), span.1);
                    }
                    _ => unreachable!("what is stored apart is stored in part"),
                }
            }
            let red = |v: &Value| matches!(self.base.plan.graph().node(*v).op, Op::Red { .. });
            if let Some(norm) = self.nodes(*stage).into_iter().find(red) {
                // Each point once, also where a ring's last tile goes on at its beginning.
                let (from, to) = self.phase.own.unwrap_or(span);
                line(format!("{{\nconst int begin = (int)max((idx){}, -first);", from - low));
                line(format!("const int end = (int)min((idx){}, POINTS - first);", to - low));
                line(format!("{}}}", self.base.add_ratios(norm, "begin", "end")));
            }
        }
        line(Writer::<T>::leaves(self.sums, "get_global_id(0)"));
        text.push_str("}\n");
        text
    }

    /// Distances to rows and columns, `inner` where no neighbour along x is outside.
    pub(super) fn position_in_row(&self, inner: bool) -> String {
        if slow_axis(self.base.system) == 0 {
            return self.position(inner);
        }
        let text = self.position(false);
        if !inner {
            return text;
        }
        let mut columns: Vec<i32> = self.base.offsets().iter().map(|o| o[0]).collect();
        columns.sort_unstable();
        columns.dedup();
        let rows = text.lines().filter(|l| l.contains(" row_")).collect::<Vec<_>>().join("\n");
        let plain: Vec<String> = columns.iter().map(|d| format!("const idx {} = {d};", column_name(*d))).collect();
        format!("{rows}\n{}", plain.join("\n"))
    }
}
