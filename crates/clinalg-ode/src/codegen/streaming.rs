//! Kernels on streaming tiles ([`streaming`](crate::tiling::streaming)).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::marker::PhantomData;

use clinalg::{KernelFamily, Real};

use crate::codegen::writer::Writer;
use crate::method::graph::{Op, Value};
use crate::model::grid::Bound;
use crate::model::system::System;
use crate::plan::group::stage_groups_of;
use crate::plan::{Group, Plan};
use crate::tiling::streaming::{self, Reach, StreamingTile, across, axis, rows_across};

/// The source of a group's kernel.
pub(crate) fn source<T: Real>(
    plan: &Plan,
    group: &Group,
    system: &System,
    streaming: StreamingTile,
    family: KernelFamily,
    sums: &[(Value, usize)],
    name: &str,
) -> String {
    let base = Writer::<T> { plan, system, group, family, marker: PhantomData };
    let all = stage_groups_of(plan, group);
    let stage_groups = plan.graph().stage_groups();
    let place = |k: usize| all.binary_search(&stage_groups[k]).expect("a stage group of the group") as i64;
    let made = (0..stage_groups.len()).map(|k| if group.nodes.contains(&Value(k)) { place(k) } else { -1 }).collect();
    let stream = Stream { base, streaming, reach: Reach::of(system), stage_groups: all.len(), made, sums };
    match family {
        KernelFamily::Gpu => stream.gpu(name),
        KernelFamily::Cpu => stream.cpu(name),
    }
}

pub(super) struct Stream<'a, T> {
    pub(super) base: Writer<'a, T>,
    pub(super) streaming: StreamingTile,
    pub(super) reach: Reach,
    pub(super) stage_groups: usize,
    /// Stage group of each node counted from the group's first, -1 for what comes from memory.
    pub(super) made: Vec<i64>,
    /// Norms that it makes partial sums of, with their first entries.
    pub(super) sums: &'a [(Value, usize)],
}

impl<T: Real> Stream<'_, T> {
    pub(super) fn fields(&self) -> usize {
        self.base.system.fields.len()
    }

    pub(super) fn periodic(&self, axis: usize) -> bool {
        self.base.system.bounds[axis][0] == Bound::Periodic
    }

    pub(super) fn nodes(&self, stage_group: usize) -> Vec<Value> {
        self.base.group.nodes.iter().copied().filter(|v| self.made[v.0] == stage_group as i64).collect()
    }

    /// Rows that the vector is ahead of a stage group.
    pub(super) fn ahead(&self, v: Value, stage_group: usize) -> i64 {
        (stage_group as i64 - self.made[v.0]) * self.reach.lag
    }

    /// Vectors that later stage groups read, with the most rows that they are kept for.
    pub(super) fn delays(&self) -> BTreeMap<Value, i64> {
        streaming::delays(self.base.plan, self.base.group, self.reach, &self.made, self.stage_groups)
    }

    /// Arguments of right-hand sides.
    pub(super) fn arguments(&self) -> Vec<Value> {
        let graph = self.base.plan.graph();
        let mut all: Vec<Value> = (self.base.group.nodes.iter())
            .filter_map(|v| if let Op::Rhs { x, .. } = graph.node(*v).op { Some(x) } else { None })
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Rows before the newest one handed over that neighbours in other columns read.
    pub(super) fn rows_across(&self) -> Option<i64> {
        if self.base.offsets().is_empty() {
            return None;
        }
        Some(self.reach.lag - 1 + rows_across(self.base.system)?)
    }

    /// The axis of the rows, what a row's index along it and the number of rows are called.
    pub(super) fn rows_axis(&self) -> (usize, &'static str, &'static str) {
        match axis(self.base.system) {
            2 => (2, "iz", "NZ"),
            _ => (1, "iy", "NY"),
        }
    }

    /// The point in a column that is in a row.
    pub(super) fn point_in(&self, row: &str) -> String {
        match axis(self.base.system) {
            2 => format!("({row} * NY + iy) * NX + ix"),
            _ => format!("{row} * NX + ix"),
        }
    }

    /// Distance in rows to what stands for the neighbour `d` rows away, as cases of the row; the last one holds for all other
    /// rows, and for all where both sides are `far`.
    pub(super) fn rows(&self, d: i32, far: bool) -> Vec<(Option<String>, i64)> {
        let (axis, i, n) = self.rows_axis();
        let d = i64::from(d);
        let mut all = Vec::new();
        if !self.periodic(axis) && !far {
            for k in 0..d.abs() {
                let away = match (&self.base.system.bounds[axis][usize::from(d > 0)], d < 0) {
                    (Bound::Mirror, true) => -2 * k - d,
                    (Bound::Mirror, false) => 2 * k - d,
                    (_, true) => -k,
                    (_, false) => k,
                };
                let row = if d < 0 { format!("{i} == {k}") } else { format!("{i} == {n} - {}", k + 1) };
                all.push((Some(row), away));
            }
        }
        all.push((None, d));
        all
    }

    /// What a stage group computes at a point, `inner` where no neighbour along x is outside the grid, `far` where none along the
    /// rows is; `value` names a vector so many rows back, `neighbour` a value in another column.
    pub(super) fn point(
        &self,
        stage_group: usize,
        (inner, far): (bool, bool),
        value: &dyn Fn(Value, usize, i64) -> String,
        neighbour: &dyn Fn(Value, usize, [i32; 2], i64) -> String,
    ) -> String {
        let (along, ..) = self.rows_axis();
        let graph = self.base.plan.graph();
        let mut text = String::new();
        let mut line = |s: String| {
            text.push_str(&s);
            text.push('\n');
        };
        let nodes = self.nodes(stage_group);
        let here = |v: Value, f: usize| match nodes.contains(&v) {
            true => format!("n{}_{f}", v.0),
            false => value(v, f, self.ahead(v, stage_group)),
        };
        for v in &nodes {
            for f in 0..self.fields() {
                match &graph.node(*v).op {
                    Op::Rhs { x, .. } => {
                        let read = |field: usize, offset: [i32; 3]| {
                            let mut text = String::new();
                            for (row, away) in self.rows(offset[along], far) {
                                let v = match across(self.base.system, offset) {
                                    [0, 0] => value(*x, field, self.ahead(*x, stage_group) - away),
                                    other => neighbour(*x, field, other, self.ahead(*x, stage_group) - away),
                                };
                                match row {
                                    Some(row) => write!(text, "{row} ? {v} : "),
                                    None => write!(text, "{v}"),
                                }
                                .expect("text grows");
                            }
                            format!("({text})")
                        };
                        let inside = |axis: usize| self.periodic(axis) || axis == 0 && inner || axis == along && far;
                        let value = self.base.derivative(f, v.0, &inside, &read);
                        line(format!("const REAL n{}_{f} = {value};", v.0));
                    }
                    Op::Lc { .. } => {
                        line(format!("const REAL n{}_{f} = {};", v.0, self.base.combination(*v, f, &here)))
                    }
                    Op::Red { .. } => line(format!("if (owns) {{\n{}\n}}", self.base.measure(*v, f, &here))),
                    Op::Input => {}
                }
            }
        }
        let written: Vec<&Value> = nodes.iter().filter(|v| self.base.group.writes.contains(v)).collect();
        if !written.is_empty() {
            line("if (owns) {".into());
            for v in written {
                let names: Vec<String> = (0..self.fields()).map(|f| format!("n{}_{f}", v.0)).collect();
                line(self.base.put(&self.base.buffer(*v), "p", &names));
            }
            line("}".into());
        }
        text
    }

    /// The first column and the first line of the streaming tile of this number.
    pub(super) fn places(&self, number: &str) -> [String; 2] {
        let (own, lines) = self.own();
        let [x, y] = self.margins();
        let n = self.base.system.grid.n[0].div_ceil(own);
        match axis(self.base.system) {
            2 => [format!("(idx)({number} % {n}) * {own} - {x}"), format!("(idx)({number} / {n}) * {lines} - {y}")],
            _ => [format!("(idx){number} * {own} - {x}"), "0".into()],
        }
    }

    pub(super) fn margins(&self) -> [i64; 2] {
        [self.reach.x, self.reach.y].map(|r| r * self.stage_groups as i64)
    }

    pub(super) fn own(&self) -> (usize, usize) {
        self.reach
            .own(self.streaming.columns, self.streaming.lines, self.stage_groups)
            .expect("streaming tiles were checked")
    }
}

/// Where another column's values stand.
pub(super) fn lane_name(d: [i32; 2]) -> String {
    let signed = |d: i32| if d < 0 { format!("m{}", d.unsigned_abs()) } else { d.to_string() };
    format!("at_{}_{}", signed(d[0]), signed(d[1]))
}

/// A vector so many rows before its newest.
pub(super) fn delayed(v: Value, f: usize, rows: i64) -> String {
    format!("d{}_{f}_{rows}", v.0)
}
