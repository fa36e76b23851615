//! Kernels that compute several links on a two-dimensional grid, row after row.
//!
//! A tile is a strip of columns with as many more on either side as its links reach over. When row j of what the links
//! start from comes in, the first link computes row j - l, the second row j - 2 l and so on, where l is how far rows
//! depend on later ones: what lies between two links is a few rows of the strip. On GPUs a work-group has a strip, an item
//! a column of it: the item keeps its own column's last rows of every vector in registers, and what neighbours in the same
//! or other rows read goes through local memory. On processors an item has a strip and keeps rows in arrays, with loops
//! along them that become vector code.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::marker::PhantomData;

use clinalg::{Real, Shape};

use crate::graph::{Op, Value};
use crate::opencl::Writer;
use crate::plan::{Group, Plan};
use crate::rhs::{Bound, System};
use crate::tile::group_links;

/// Sizes of strips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Strip {
    /// Columns with those on either side.
    pub(crate) columns: usize,
    /// Rows that are written.
    pub(crate) rows: usize,
}

/// How far a system reads along columns and rows, and how many rows a link stays behind the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reach {
    x: i64,
    y: i64,
    lag: i64,
}

impl Reach {
    pub(crate) fn of(system: &System) -> Reach {
        let offsets = system.offsets();
        let [x, y, _] = system.radius().map(|r| r as i64);
        let across = offsets.iter().filter(|o| o[0] != 0).map(|o| i64::from(o[1].abs())).max().unwrap_or(0);
        Reach { x, y, lag: y.max(across + 1) }
    }

    /// Columns of a strip that are written.
    pub(crate) fn own(self, columns: usize, links: usize) -> Option<usize> {
        let own = columns as i64 - 2 * self.x * links as i64;
        (own >= 1 && 4 * own >= columns as i64).then_some(own as usize)
    }

    /// Words read and written per component by a group of `links` links, and the work of its links.
    pub(crate) fn words(self, group: &Group, links: usize, strip: Strip) -> (f64, f64) {
        let (columns, n) = (strip.columns as f64, links as f64);
        let wide = columns / self.own(strip.columns, links).unwrap_or(1) as f64;
        let high = |margin: f64| (strip.rows as f64 + margin) / strip.rows as f64;
        let words = group.reads.len() as f64 * wide * high((2 * self.y) as f64 * n) + group.writes.len() as f64;
        // All items run all links; rows at the ends of a strip are run through for every link.
        (words, n * wide * high((self.y + self.lag) as f64 * n))
    }
}

/// The source of a group's kernel.
pub(crate) fn source<T: Real>(
    plan: &Plan,
    group: &Group,
    system: &System,
    strip: Strip,
    shape: Shape,
    sums: &[(Value, usize)],
    name: &str,
) -> String {
    let base = Writer::<T> { plan, system, group, shape, marker: PhantomData };
    let all = group_links(plan, group);
    let links = plan.graph().links();
    let place = |k: usize| all.binary_search(&links[k]).expect("a link of the group") as i64;
    let made = (0..links.len()).map(|k| if group.nodes.contains(&Value(k)) { place(k) } else { -1 }).collect();
    let stream = Stream { base, strip, reach: Reach::of(system), links: all.len(), made, sums };
    match shape {
        Shape::Gpu => stream.gpu(name),
        Shape::Cpu => stream.cpu(name),
    }
}

/// Bytes of local memory that the kernel of a group takes on a GPU.
pub(crate) fn local_bytes<T: Real>(plan: &Plan, group: &Group, system: &System, columns: usize) -> usize {
    let mut arguments: Vec<Value> = (group.nodes.iter())
        .filter_map(|v| if let Op::Rhs { x, .. } = plan.graph().node(*v).op { Some(x) } else { None })
        .collect();
    arguments.sort_unstable();
    arguments.dedup();
    let Reach { lag, .. } = Reach::of(system);
    let across = system.offsets().iter().filter(|o| o[0] != 0).map(|o| o[1].unsigned_abs() as usize).max();
    let slots = across.map_or(0, |a| lag as usize + a + 1);
    arguments.len() * system.fields.len() * slots * columns * size_of::<T>()
}

/// Values of a component that the kernel of a group keeps for later rows.
pub(crate) fn kept_values(plan: &Plan, group: &Group, system: &System) -> usize {
    let base = Writer::<f64> { plan, system, group, shape: Shape::Gpu, marker: PhantomData };
    let all = group_links(plan, group);
    let links = plan.graph().links();
    let place = |k: usize| all.binary_search(&links[k]).expect("a link of the group") as i64;
    let made = (0..links.len()).map(|k| if group.nodes.contains(&Value(k)) { place(k) } else { -1 }).collect();
    let strip = Strip { columns: 1, rows: 1 };
    let stream = Stream { base, strip, reach: Reach::of(system), links: all.len(), made, sums: &[] };
    stream.delays().values().map(|d| *d as usize + 1).sum::<usize>() * system.fields.len()
}

struct Stream<'a, T> {
    base: Writer<'a, T>,
    strip: Strip,
    reach: Reach,
    links: usize,
    /// Link of each node counted from the group's first, -1 for what comes from memory.
    made: Vec<i64>,
    /// Norms that it makes partial sums of, with their first entries.
    sums: &'a [(Value, usize)],
}

impl<T: Real> Stream<'_, T> {
    fn fields(&self) -> usize {
        self.base.system.fields.len()
    }

    fn closed(&self, axis: usize) -> bool {
        self.base.system.bounds[axis][0] == Bound::Periodic
    }

    fn nodes(&self, link: usize) -> Vec<Value> {
        self.base.group.nodes.iter().copied().filter(|v| self.made[v.0] == link as i64).collect()
    }

    /// Rows that the vector is ahead of a link.
    fn ahead(&self, v: Value, link: usize) -> i64 {
        (link as i64 - self.made[v.0]) * self.reach.lag
    }

    /// Vectors that later links read, with the most rows that they are kept for.
    fn delays(&self) -> BTreeMap<Value, i64> {
        let graph = self.base.plan.graph();
        let mut all: BTreeMap<Value, i64> = BTreeMap::new();
        for link in 0..self.links {
            for node in self.nodes(link) {
                let extra = match graph.node(node).op {
                    Op::Rhs { .. } => self.reach.y,
                    _ => 0,
                };
                for v in graph.node(node).op.reads() {
                    let rows = self.ahead(v, link) + extra;
                    let known = all.entry(v).or_insert(0);
                    *known = rows.max(*known);
                }
            }
        }
        all
    }

    /// Arguments of right-hand sides.
    fn arguments(&self) -> Vec<Value> {
        let graph = self.base.plan.graph();
        let mut all: Vec<Value> = (self.base.group.nodes.iter())
            .filter_map(|v| if let Op::Rhs { x, .. } = graph.node(*v).op { Some(x) } else { None })
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Rows before the newest one handed over that neighbours in other columns read.
    fn rows_across(&self) -> Option<i64> {
        let across = |o: &&[i32; 3]| o[0] != 0;
        let offsets = self.base.offsets();
        let y = offsets.iter().filter(across).map(|o| i64::from(o[1].abs())).max()?;
        Some(self.reach.lag - 1 + y)
    }

    /// Distance in rows to what stands for the neighbour `dy` rows away, as cases of the row `iy`; the last one holds for
    /// all other rows, and for all where both sides are `far`.
    fn rows(&self, dy: i32, far: bool) -> Vec<(Option<String>, i64)> {
        let d = i64::from(dy);
        let mut all = Vec::new();
        if !self.closed(1) && !far {
            for k in 0..d.abs() {
                let away = match (&self.base.system.bounds[1][usize::from(d > 0)], d < 0) {
                    (Bound::Mirror, true) => -2 * k - d,
                    (Bound::Mirror, false) => 2 * k - d,
                    (_, true) => -k,
                    (_, false) => k,
                };
                let row = if d < 0 { format!("iy == {k}") } else { format!("iy == NY - {}", k + 1) };
                all.push((Some(row), away));
            }
        }
        all.push((None, d));
        all
    }

    /// What a link computes at a point, `inner` where no neighbour along x is outside the grid, `far` where none along y is;
    /// `value` names a vector so many rows back, `neighbour` a value in another column.
    fn point(
        &self,
        link: usize,
        (inner, far): (bool, bool),
        value: &dyn Fn(Value, usize, i64) -> String,
        neighbour: &dyn Fn(Value, usize, i32, i64) -> String,
    ) -> String {
        let graph = self.base.plan.graph();
        let mut text = String::new();
        let mut line = |s: String| {
            text.push_str(&s);
            text.push('\n');
        };
        let nodes = self.nodes(link);
        let here = |v: Value, f: usize| match nodes.contains(&v) {
            true => format!("n{}_{f}", v.0),
            false => value(v, f, self.ahead(v, link)),
        };
        for v in &nodes {
            for f in 0..self.fields() {
                match &graph.node(*v).op {
                    Op::Rhs { x, .. } => {
                        let read = |field: usize, [dx, dy, _]: [i32; 3]| {
                            let mut text = String::new();
                            for (row, away) in self.rows(dy, far) {
                                let v = match dx {
                                    0 => value(*x, field, self.ahead(*x, link) - away),
                                    _ => neighbour(*x, field, dx, self.ahead(*x, link) - away),
                                };
                                match row {
                                    Some(row) => write!(text, "{row} ? {v} : "),
                                    None => write!(text, "{v}"),
                                }
                                .expect("text grows");
                            }
                            format!("({text})")
                        };
                        let inside = |axis: usize| self.closed(axis) || axis == 0 && inner || axis == 1 && far;
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

    fn gpu(&self, name: &str) -> String {
        let Strip { columns, rows } = self.strip;
        let Reach { x, y, lag } = self.reach;
        let links = self.links;
        let own = self.reach.own(columns, links).expect("strips were checked");
        let margin = x * links as i64;
        let fields = self.fields();
        let mut text = self.base.head();
        writeln!(text, "#undef LOCAL\n#define LOCAL {columns}").expect("text grows");
        text.push_str(&self.base.open(&format!("__attribute__((reqd_work_group_size({columns}, 1, 1))) "), name));
        let mut line = |s: String| {
            text.push_str(&s);
            text.push('\n');
        };
        let arguments = self.arguments();
        let slots = self.rows_across().map(|k| k + 2);
        if let Some(slots) = slots {
            line(format!("__local REAL shared[{}][{slots}][{columns}];", arguments.len() * fields));
        }
        line("const int lane = (int)get_local_id(0);".into());
        line(format!("const idx column = (idx)get_group_id(0) * {own} - {margin} + lane;"));
        line(match self.closed(0) {
            true => "const idx ix = (column % NX + NX) % NX, iz = 0;".into(),
            false => "const idx ix = clamp(column, (idx)0, NX - 1), iz = 0;".to_owned(),
        });
        line(format!("const bool mine = lane >= {margin} && lane < {} && column < NX;", margin + own as i64));
        line(format!("const idx begin = (idx)get_group_id(1) * {rows}, end = min(begin + {rows}, NY);"));
        let before = y * links as i64;
        line(match self.closed(1) {
            true => format!("const idx start = begin - {before};"),
            false => format!("const idx start = max(begin - {before}, (idx)0);"),
        });
        // Items for neighbours in other columns; past the strip's ends nothing is asked that is needed.
        let mut across: Vec<i32> = self.base.offsets().iter().map(|o| o[0]).filter(|d| *d != 0).collect();
        across.sort_unstable();
        across.dedup();
        for d in &across {
            let to = match self.closed(0) {
                true => format!("lane + ({d})"),
                false => format!("(int)({} - column) + lane", self.base.neighbour(0, *d)),
            };
            line(format!("const int {} = clamp({to}, 0, {});", lane_name(*d), columns - 1));
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
        let row_of = |j: &str| match self.closed(1) {
            true => format!("(({j}) % NY + NY) % NY"),
            false => format!("clamp({j}, (idx)0, NY - 1)"),
        };
        let fetch = |row: &str| {
            let mut text = format!("{{\nconst idx p = {} * NX + ix;\n", row_of(row));
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
        let stop = links as i64 * lag;
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
        let neighbour = |v: Value, f: usize, dx: i32, rows: i64| {
            let i = arguments.iter().position(|x| *x == v).expect("an argument");
            let slots = slots.expect("neighbours in other columns");
            // The newest row handed over is the one before the vector's own.
            let back = rows - 1;
            let slot = match (back, slots) {
                (0, _) => "slot".to_owned(),
                (1, 2) => "(slot ^ 1)".to_owned(),
                _ => format!("(slot + {}) % {slots}", slots - back),
            };
            format!("shared[{}][{slot}][{}]", i * fields + f, lane_name(dx))
        };
        // A link's newest row is an argument of the next link in the same turn.
        for link in 0..links {
            for v in self.nodes(link).iter().filter(|v| delays.contains_key(v)) {
                for f in 0..fields {
                    line(format!("REAL m{}_{f};", v.0));
                }
            }
        }
        // Most rows are far from the first and the last one.
        let cases: &[bool] = if self.closed(1) { &[true] } else { &[true, false] };
        for far in cases {
            line(match (self.closed(1), far) {
                (true, _) => "{".into(),
                (false, true) => format!("if (j >= {} && j < NY + {}) {{", stop + y, lag - y),
                (false, false) => "} else {".into(),
            });
            for link in 0..links {
                line("{".into());
                let back = (link as i64 + 1) * lag;
                line(format!("const idx row = j - {back};"));
                line(format!("const idx iy = {};", if self.closed(1) { row_of("row") } else { "row".into() }));
                line("const idx p = iy * NX + ix;".into());
                line("const bool owns = mine && row >= begin && row < end;".into());
                line(self.point(link, (false, *far), &value, &neighbour));
                for v in self.nodes(link).iter().filter(|v| delays.contains_key(v)) {
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

    fn cpu(&self, name: &str) -> String {
        let Strip { columns, rows } = self.strip;
        let Reach { x, y, lag } = self.reach;
        let links = self.links;
        let own = self.reach.own(columns, links).expect("strips were checked");
        let margin = x * links as i64;
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
                line(format!("REAL a{}_{f}[{}][{columns}];", v.0, rows + 1));
            }
        }
        line(format!("const idx first = (idx)get_global_id(0) * {own} - {margin};"));
        line(format!("const idx begin = (idx)get_global_id(1) * {rows}, end = min(begin + {rows}, NY);"));
        let before = y * links as i64;
        line(match self.closed(1) {
            true => format!("const idx start = begin - {before};"),
            false => format!("const idx start = max(begin - {before}, (idx)0);"),
        });
        let stop = links as i64 * lag;
        // Columns relative to the strip from one to another, those outside the grid left out.
        let range = |from: i64, to: i64| match self.closed(0) {
            true => format!("const int low = {from}, high = {to};"),
            false => format!("const int low = (int)max((idx){from}, -first), high = (int)min((idx){to}, NX - first);"),
        };
        let column = match self.closed(0) {
            true => "const idx ix = ((first + s) % NX + NX) % NX;",
            false => "const idx ix = first + s;",
        };
        line(format!("for (idx j = start; j < end + {stop}; j++) {{"));
        line("{".into());
        line(range(0, columns as i64));
        line(match self.closed(1) {
            true => "const idx iy = (j % NY + NY) % NY;".into(),
            false => "const idx iy = min(j, NY - 1);".to_owned(),
        });
        for v in &self.base.group.reads {
            let rows = delays[v] + 1;
            line(format!("const int to{} = (int)((j + {}) % {rows});", v.0, before * rows));
            line(format!("for (int s = low; s < high; s++) {{\n{column}\nconst idx p = iy * NX + ix;"));
            for f in 0..fields {
                let from = self.base.get(&self.base.buffer(*v), "p", f);
                line(format!("a{}_{f}[to{}][s] = {from};", v.0, v.0));
            }
            line("}".into());
        }
        line("}".into());
        // Row of an array: counted by turns, so that every vector's row of a turn has one place.
        let place = |v: Value, rows: i64| format!("r{}_{}", v.0, rows);
        let value = |v: Value, f: usize, rows: i64| format!("a{}_{f}[{}][s]", v.0, place(v, rows));
        let neighbour =
            |v: Value, f: usize, dx: i32, rows: i64| format!("a{}_{f}[{}][{}]", v.0, place(v, rows), lane_name(dx));
        let mut across: Vec<i32> = self.base.offsets().iter().map(|o| o[0]).filter(|d| *d != 0).collect();
        across.sort_unstable();
        across.dedup();
        for link in 0..links {
            let left = (links - 1 - link) as i64 * x;
            line("{".into());
            line(range(margin - left, margin + own as i64 + left));
            let back = (link as i64 + 1) * lag;
            line(format!("const idx row = j - {back};"));
            line(match self.closed(1) {
                true => "const idx iy = (row % NY + NY) % NY;".into(),
                false => "const idx iy = row;".to_owned(),
            });
            for (v, rows) in &delays {
                for k in 0..=*rows {
                    let turn = before * (rows + 1) + (rows + 1) - k;
                    line(format!("const int {} = (int)((j + {turn}) % {});", place(*v, k), rows + 1));
                }
            }
            line("const bool kept = row >= begin && row < end;".into());
            let (below, above) = self.base.reach();
            line(match self.closed(0) {
                true => "const int from = low, to = high;".into(),
                false => format!(
                    "const int from = clamp((int)({below} - first), low, high), to = clamp((int)(NX - {above} - first), from, high);"
                ),
            });
            for (start, stop, inner) in [("low", "from", false), ("from", "to", true), ("to", "high", false)] {
                if !inner && self.closed(0) {
                    continue;
                }
                line(format!("for (int s = {start}; s < {stop}; s++) {{\n{column}"));
                line("const idx iz = 0, p = iy * NX + ix;".into());
                // Strips at the end of a closed grid go over it.
                let ends = if self.closed(0) { " && first + s < NX" } else { "" };
                line(format!("const bool owns = kept && s >= {margin} && s < {}{ends};", margin + own as i64));
                for d in &across {
                    let to = match inner {
                        true => format!("s + ({d})"),
                        false => format!("(int)({} - first)", self.base.neighbour(0, *d)),
                    };
                    line(format!("const int {} = {to};", lane_name(*d)));
                }
                line(self.point(link, (inner, false), &value, &neighbour));
                for v in self.nodes(link).iter().filter(|v| delays.contains_key(v)) {
                    for f in 0..fields {
                        line(format!("{} = n{}_{f};", value(*v, f, 0), v.0));
                    }
                }
                line("}".into());
            }
            line("}".into());
        }
        line("}".into());
        line(Writer::<T>::leaves(self.sums, "get_global_id(1) * get_global_size(0) + get_global_id(0)"));
        text.push_str("}\n");
        text
    }
}

/// Where another column's values stand.
fn lane_name(d: i32) -> String {
    if d < 0 { format!("at_m{}", d.unsigned_abs()) } else { format!("at_{d}") }
}

/// A vector so many rows before its newest.
fn delayed(v: Value, f: usize, rows: i64) -> String {
    format!("d{}_{f}_{rows}", v.0)
}
