//! Kernels on tiles along the index of grid points ([`phases`](crate::tiling::phases)).
//!
//! On GPUs a work-group has a tile: values stay in registers, what neighbours read goes through local memory. On CPUs
//! an item has a tile, with arrays of its own and loops along rows that become vector code.

use std::cell::RefCell;
use std::fmt::Write;
use std::marker::PhantomData;

use clinalg::{KernelFamily, Real};

use crate::codegen::names::{column_name, new_lines, row_name};
use crate::codegen::snippet;
use crate::codegen::writer::Writer;
use crate::method::graph::{Op, Value};
use crate::model::access::{distance, ring, slow_axis};
use crate::model::system::System;
use crate::plan::group::stage_groups_of;
use crate::plan::{Group, Plan, Variant};
use crate::tiling::multi_workgroup::places;
use crate::tiling::phases::{Items, Phase};

/// A phase with how its tiles are dealt out, and the norms that it makes partial sums of with their first entries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Launched<'a> {
    pub(crate) phase: &'a Phase,
    pub(crate) items: Items,
    pub(crate) sums: &'a [(Value, usize)],
}

/// The source of a phase's kernel.
pub(crate) fn source<T: Real>(
    plan: &Plan,
    group: &Group,
    system: &System,
    launched: Launched<'_>,
    family: KernelFamily,
    name: &str,
) -> String {
    let Launched { phase, items, sums } = launched;
    let base = Writer::<T> { plan, system, group, family, marker: PhantomData };
    let stage_groups = plan.graph().stage_groups();
    let all = stage_groups_of(plan, group);
    let place = |k: usize| all.binary_search(&stage_groups[k]).expect("a stage group of the group");
    let stages = (0..stage_groups.len()).map(|k| group.nodes.contains(&Value(k)).then(|| place(k))).collect();
    let tile = Tile { base, phase, items, stages, d: distance(system) as i64, sums };
    match family {
        KernelFamily::Gpu if plan.variant() == Variant::Cooperative => tile.cooperative(name),
        KernelFamily::Gpu => tile.gpu(name),
        KernelFamily::Cpu => tile.cpu(name),
    }
}

pub(super) struct Tile<'a, T> {
    pub(super) base: Writer<'a, T>,
    pub(super) phase: &'a Phase,
    pub(super) items: Items,
    /// Stage group of each node, counted from the group's first; `None` for what is made elsewhere.
    pub(super) stages: Vec<Option<usize>>,
    pub(super) d: i64,
    pub(super) sums: &'a [(Value, usize)],
}

impl<T: Real> Tile<'_, T> {
    pub(super) fn fields(&self) -> usize {
        self.base.system.fields.len()
    }

    pub(super) fn nodes(&self, stage: usize) -> Vec<Value> {
        self.base.group.nodes.iter().copied().filter(|v| self.stages[v.0] == Some(stage)).collect()
    }

    /// Arguments of right-hand sides in a stage group.
    pub(super) fn arguments(&self, stage: usize) -> Vec<Value> {
        let graph = self.base.plan.graph();
        let mut all: Vec<Value> = (self.nodes(stage).iter())
            .filter_map(|v| if let Op::Rhs { x, .. } = graph.node(*v).op { Some(x) } else { None })
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether a node of the stage group reads the vector at the point itself.
    pub(super) fn pointwise(&self, v: Value, stage: usize) -> bool {
        let graph = self.base.plan.graph();
        let op = |k: &Value| &graph.node(*k).op;
        self.nodes(stage).iter().any(|k| !matches!(op(k), Op::Rhs { .. }) && op(k).reads().contains(&v))
    }

    /// Position in the phase of a stage group of the group.
    pub(super) fn order(&self, stage: usize) -> Option<usize> {
        self.phase.stage_groups.iter().position(|l| *l == stage)
    }

    /// Position in the phase of the stage group that makes a vector; `None` for what is made before.
    pub(super) fn made(&self, v: Value) -> Option<usize> {
        self.stages[v.0].and_then(|s| self.order(s))
    }

    /// Whether work-groups hand over what neighbours read through memory.
    pub(super) fn cooperates(&self) -> bool {
        self.base.plan.variant() == Variant::Cooperative
    }

    /// Vectors with a place in registers or arrays: what later stage groups read, and what comes from memory. Work-groups that wait for each other
    /// keep what is stored nowhere.
    pub(super) fn kept(&self) -> Vec<Value> {
        if self.cooperates() {
            return places(self.base.plan, self.base.group).0.into_keys().collect();
        }
        let count = self.base.plan.graph().nodes().len();
        let uses = |v: Value, q: usize| {
            let stage = self.phase.stage_groups[q];
            self.pointwise(v, stage) || self.arguments(stage).contains(&v)
        };
        (0..count)
            .map(Value)
            .filter(|v| {
                let from = self.made(*v).map_or(0, |q| q + 1);
                (from..self.phase.stage_groups.len()).any(|q| uses(*v, q))
            })
            .collect()
    }

    /// Vectors made before stage group `q` of the phase that it or a later one reads at the point; those that `q` reads at
    /// neighbours as well are not among them.
    pub(super) fn waiting(&self, q: usize) -> Vec<Value> {
        let arguments = self.arguments(self.phase.stage_groups[q]);
        let before = |v: &Value| self.made(*v).is_none_or(|m| m < q);
        let later =
            |v: &Value| (q..self.phase.stage_groups.len()).any(|r| self.pointwise(*v, self.phase.stage_groups[r]));
        self.kept().into_iter().filter(|v| before(v) && later(v) && !arguments.contains(v)).collect()
    }

    /// The points, from and to, at which a vector made in stage group `q` is not only for the tile itself: below the first and
    /// from the second on.
    pub(super) fn borders(&self, v: Value, q: usize) -> Option<(i64, i64)> {
        if !self.base.group.saved.contains(&v) {
            return None;
        }
        let stage = self.phase.stage_groups[q];
        let last_stage = self.base.group.nodes.iter().filter_map(|k| self.stages[k.0]).max().unwrap_or(0);
        let (mut low, mut high) = (i64::MIN, i64::MAX);
        for later in stage + 1..=last_stage {
            let span = self.order(later).map(|r| self.phase.span[r]);
            // Nothing of a stage group that the phase does not have is computed here.
            let (from, to) = span.unwrap_or((i64::MAX, i64::MIN));
            if self.pointwise(v, later) {
                (low, high) = (low.max(from), high.min(to));
            }
            if self.arguments(later).contains(&v) {
                (low, high) = (low.max(from.saturating_add(self.d)), high.min(to.saturating_sub(self.d)));
            }
        }
        (low > i64::MIN || high < i64::MAX).then_some((low, high))
    }

    /// `s` in a span of points, relative to the window; `true` where it always is.
    pub(super) fn within(&self, (from, to): (i64, i64), low: i64, asked: (i64, i64)) -> String {
        let mut all = Vec::new();
        if from > asked.0 {
            all.push(format!("s >= {}", from - low));
        }
        if to < asked.1 {
            all.push(format!("s < {}", to - low));
        }
        if all.is_empty() { "true".into() } else { all.join(" && ") }
    }

    /// The slowest axis and whether all neighbours along it are inside.
    pub(super) fn position(&self, inner: bool) -> String {
        let slow = slow_axis(self.base.system);
        let through = inner || ring(self.base.system);
        let mut text = String::new();
        let mut offsets = self.base.offsets();
        offsets.sort_unstable();
        let mut rows: Vec<[i32; 2]> = offsets.iter().map(|o| [o[1], o[2]]).collect();
        rows.sort_unstable();
        rows.dedup();
        let along = |axis: usize, d: i32| match axis == slow && through {
            true => format!("({d})"),
            false => format!("({} - {})", self.base.neighbour(axis, d), ["ix", "iy", "iz"][axis]),
        };
        for [dy, dz] in rows {
            writeln!(text, "const idx {} = NX * ({} + NY * {});", row_name(dy, dz), along(1, dy), along(2, dz))
                .expect("text grows");
        }
        let mut columns: Vec<i32> = offsets.iter().map(|o| o[0]).collect();
        columns.sort_unstable();
        columns.dedup();
        for dx in columns {
            writeln!(text, "const idx {} = {};", column_name(dx), along(0, dx)).expect("text grows");
        }
        text
    }

    /// What a stage group computes at a point, in a GPU's or a CPU's words.
    pub(super) fn point(&self, q: usize, inner: bool, inner_row: bool, words: &Words<'_>) -> String {
        let graph = self.base.plan.graph();
        let (slow, periodic) = (slow_axis(self.base.system), ring(self.base.system));
        let kept = self.kept();
        let stage = self.phase.stage_groups[q];
        let nodes = self.nodes(stage);
        let here = |v: Value, f: usize| match nodes.contains(&v) {
            true => format!("n{}_{f}", v.0),
            false => (words.value)(v, f),
        };
        let mut text = String::new();
        let mut line = |s: String| {
            text.push_str(&s);
            text.push('\n');
        };
        words.known.borrow_mut().clear();
        let mut said = 0;
        for v in &nodes {
            for f in 0..self.fields() {
                match &graph.node(*v).op {
                    Op::Rhs { x, .. } if self.base.system.snippet.is_some() && self.cooperates() => {
                        line(format!("const REAL n{}_{f} = derivative(p, t{}, par, {});", v.0, v.0, (words.all)(*x)));
                    }
                    Op::Rhs { x, .. } if self.base.system.snippet.is_some() => {
                        line(format!("const REAL n{}_{f} = near(p, t{}, par, {}, first);", v.0, v.0, (words.all)(*x)));
                    }
                    Op::Rhs { x, .. } => {
                        let read = |field: usize, o: [i32; 3]| match o {
                            [0, 0, 0] => (words.value)(*x, field),
                            _ => (words.neighbour)(*x, field, o),
                        };
                        let inside = |axis: usize| axis == slow && (inner || periodic) || axis == 0 && inner_row;
                        let value = self.base.derivative(f, v.0, &inside, &read);
                        new_lines(words.known, &mut said).into_iter().for_each(&mut line);
                        line(format!("const REAL n{}_{f} = {value};", v.0));
                    }
                    Op::Lc { .. } => {
                        line(format!("const REAL n{}_{f} = {};", v.0, self.base.combination(*v, f, &here)))
                    }
                    Op::Red { .. } if self.base.family == KernelFamily::Cpu => {
                        line(format!("ratio{f}[s] = {};", self.base.ratio(*v, f, &here)));
                    }
                    Op::Red { .. } => {
                        let own = self.phase.own.map_or("true".into(), |own| {
                            self.within(own, self.phase.window(self.d).0, (i64::MIN, i64::MAX))
                        });
                        // A ring's last tile goes on at its beginning, which counts once.
                        let once = match periodic {
                            true => {
                                let Phase { origin, spacing, .. } = self.phase;
                                let low = self.phase.window(self.d).0;
                                format!(" && (idx)({origin} + {low}) + (idx)get_group_id(0) * {spacing} + s < POINTS")
                            }
                            false => String::new(),
                        };
                        line(format!("if ({own}{once}) {{\n{}\n}}", self.base.measure(*v, f, &here)));
                    }
                    Op::Input => {}
                }
            }
        }
        for v in nodes.iter().filter(|v| kept.contains(v)) {
            for f in 0..self.fields() {
                line(format!("{} = n{}_{f};", (words.value)(*v, f), v.0));
            }
        }
        for v in &nodes {
            if let Some(when) = self.stored(*v, q).filter(|_| !self.stored_apart(*v, q)) {
                let names: Vec<String> = (0..self.fields()).map(|f| format!("n{}_{f}", v.0)).collect();
                let store = self.base.put(&self.base.buffer(*v), "p", &names);
                line(match when.as_str() {
                    "true" => store,
                    _ => format!("if ({when}) {{\n{store}\n}}"),
                });
            }
        }
        text
    }

    /// When a vector made in stage group `q` of the phase is stored; `None` for never.
    pub(super) fn stored(&self, v: Value, q: usize) -> Option<String> {
        let low = self.phase.window(self.d).0;
        if self.base.group.writes.contains(&v) {
            let own = self.phase.own.unwrap_or((i64::MIN, i64::MAX));
            return Some(self.within(own, low, self.phase.span[q]));
        }
        if self.cooperates() {
            return self.base.group.saved.contains(&v).then(|| "true".into());
        }
        let (from, to) = self.borders(v, q)?;
        let (a, b) = self.phase.span[q];
        Some(match from >= b || to <= a {
            true => "true".into(),
            false => format!("s < {} || s >= {}", from - low, to - low),
        })
    }

    /// Whether a loop of its own stores the vector: on CPUs, where a condition would keep the loop that computes it from
    /// becoming vector code.
    pub(super) fn stored_apart(&self, v: Value, q: usize) -> bool {
        let asked = self.stored(v, q).is_some_and(|when| when != "true");
        self.base.family == KernelFamily::Cpu && asked && self.kept().contains(&v)
    }

    /// Text that loads all fields of a vector at `p`.
    pub(super) fn load(&self, v: Value, value: &dyn Fn(Value, usize) -> String) -> String {
        let buffer = self.base.buffer(v);
        let field = |f: usize| format!("{} = {};", value(v, f), self.base.get(&buffer, "p", f));
        (0..self.fields()).map(field).collect::<Vec<_>>().join("\n")
    }

    /// What stands before the kernel; a snippet reads the tile in place of a vector in memory.
    pub(super) fn head(&self) -> String {
        let near = |s| snippet::near(self.base.system, s, self.base.family);
        self.base.head() + &self.base.system.snippet.as_ref().map_or(String::new(), near)
    }
}

/// How kept values and neighbours are called.
pub(super) struct Words<'a> {
    pub(super) value: &'a dyn Fn(Value, usize) -> String,
    pub(super) neighbour: &'a dyn Fn(Value, usize, [i32; 3]) -> String,
    /// The window's values of a vector that neighbours read, from the first.
    pub(super) all: &'a dyn Fn(Value) -> String,
    /// Lines that have to stand before what `neighbour` gave.
    pub(super) known: &'a RefCell<Vec<String>>,
}
