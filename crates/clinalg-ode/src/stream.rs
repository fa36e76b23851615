//! Kernels that compute several links on a two-dimensional grid, row after row, or on a three-dimensional one, plane after
//! plane.
//!
//! A tile is a strip of columns with as many more on either side as its links reach over. When row j of what the links
//! start from comes in, the first link computes row j - l, the second row j - 2 l and so on, where l is how far rows
//! depend on later ones: what lies between two links is a few rows of the strip. On GPUs a work-group has a strip, an item
//! a column of it: the item keeps its own column's last rows of every vector in registers, and what neighbours in the same
//! or other rows read goes through local memory. On processors an item has a strip and keeps rows in arrays, with loops
//! along them that become vector code. In three dimensions a strip's columns stand in several lines, and what is said of
//! rows holds for planes.

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
    /// Columns with those on either side, along x.
    pub(crate) columns: usize,
    /// Lines of columns with those on either side, along y, where planes follow each other; 1 where rows do.
    pub(crate) lines: usize,
    /// Rows or planes that are written.
    pub(crate) rows: usize,
}

/// How far a system reads, and how many rows a link stays behind the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Across columns and lines.
    x: i64,
    y: i64,
    /// From row to row.
    along: i64,
    lag: i64,
}

/// The axis along which rows or planes follow each other.
pub(crate) fn axis(system: &System) -> usize {
    system.grid.dims - 1
}

/// Columns and lines that an offset goes over.
fn across(system: &System, offset: [i32; 3]) -> [i32; 2] {
    [offset[0], if axis(system) == 2 { offset[1] } else { 0 }]
}

/// Columns and lines of all offsets that leave the column.
fn all_across(system: &System) -> Vec<[i32; 2]> {
    let mut all: Vec<[i32; 2]> = system.offsets().iter().map(|o| across(system, *o)).filter(|a| *a != [0, 0]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Most rows between a point and one that it reads in another column; `None` where it reads none there.
fn rows_across(system: &System) -> Option<i64> {
    let leaves = |o: &&[i32; 3]| across(system, **o) != [0, 0];
    system.offsets().iter().filter(leaves).map(|o| i64::from(o[axis(system)].abs())).max()
}

impl Reach {
    pub(crate) fn of(system: &System) -> Reach {
        let radius = system.radius().map(|r| r as i64);
        let along = radius[axis(system)];
        let y = if axis(system) == 2 { radius[1] } else { 0 };
        Reach { x: radius[0], y, along, lag: along.max(rows_across(system).unwrap_or(0) + 1) }
    }

    /// Columns and lines of a strip that are written.
    pub(crate) fn own(self, columns: usize, lines: usize, links: usize) -> Option<(usize, usize)> {
        let x = columns as i64 - 2 * self.x * links as i64;
        let y = lines as i64 - 2 * self.y * links as i64;
        (x >= 1 && y >= 1 && 4 * x * y >= (columns * lines) as i64).then_some((x as usize, y as usize))
    }

    /// Words read and written per component by a group of `links` links, and the work of its links.
    pub(crate) fn words(self, group: &Group, links: usize, strip: Strip) -> (f64, f64) {
        let n = links as f64;
        let (x, y) = self.own(strip.columns, strip.lines, links).unwrap_or((1, 1));
        let wide = (strip.columns * strip.lines) as f64 / (x * y) as f64;
        let high = |margin: f64| (strip.rows as f64 + margin) / strip.rows as f64;
        let words = group.reads.len() as f64 * wide * high((2 * self.along) as f64 * n) + group.writes.len() as f64;
        // All items run all links; rows at the ends of a strip are run through for every link.
        (words, n * wide * high((self.along + self.lag) as f64 * n))
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
    let slots = rows_across(system).map_or(0, |a| (lag + a) as usize + 1);
    arguments.len() * system.fields.len() * slots * columns * size_of::<T>()
}

/// Values of a component that the kernel of a group keeps for later rows.
pub(crate) fn kept_values(plan: &Plan, group: &Group, system: &System) -> usize {
    let base = Writer::<f64> { plan, system, group, shape: Shape::Gpu, marker: PhantomData };
    let all = group_links(plan, group);
    let links = plan.graph().links();
    let place = |k: usize| all.binary_search(&links[k]).expect("a link of the group") as i64;
    let made = (0..links.len()).map(|k| if group.nodes.contains(&Value(k)) { place(k) } else { -1 }).collect();
    let strip = Strip { columns: 1, lines: 1, rows: 1 };
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
                    Op::Rhs { .. } => self.reach.along,
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
        if self.base.offsets().is_empty() {
            return None;
        }
        Some(self.reach.lag - 1 + rows_across(self.base.system)?)
    }

    /// The axis of the rows, what a row's index along it and the number of rows are called.
    fn rows_axis(&self) -> (usize, &'static str, &'static str) {
        match axis(self.base.system) {
            2 => (2, "iz", "NZ"),
            _ => (1, "iy", "NY"),
        }
    }

    /// The point in a column that is in a row.
    fn point_in(&self, row: &str) -> String {
        match axis(self.base.system) {
            2 => format!("({row} * NY + iy) * NX + ix"),
            _ => format!("{row} * NX + ix"),
        }
    }

    /// Distance in rows to what stands for the neighbour `d` rows away, as cases of the row; the last one holds for all other
    /// rows, and for all where both sides are `far`.
    fn rows(&self, d: i32, far: bool) -> Vec<(Option<String>, i64)> {
        let (axis, i, n) = self.rows_axis();
        let d = i64::from(d);
        let mut all = Vec::new();
        if !self.closed(axis) && !far {
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

    /// What a link computes at a point, `inner` where no neighbour along x is outside the grid, `far` where none along the
    /// rows is; `value` names a vector so many rows back, `neighbour` a value in another column.
    fn point(
        &self,
        link: usize,
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
        let nodes = self.nodes(link);
        let here = |v: Value, f: usize| match nodes.contains(&v) {
            true => format!("n{}_{f}", v.0),
            false => value(v, f, self.ahead(v, link)),
        };
        for v in &nodes {
            for f in 0..self.fields() {
                match &graph.node(*v).op {
                    Op::Rhs { x, .. } => {
                        let read = |field: usize, offset: [i32; 3]| {
                            let mut text = String::new();
                            for (row, away) in self.rows(offset[along], far) {
                                let v = match across(self.base.system, offset) {
                                    [0, 0] => value(*x, field, self.ahead(*x, link) - away),
                                    other => neighbour(*x, field, other, self.ahead(*x, link) - away),
                                };
                                match row {
                                    Some(row) => write!(text, "{row} ? {v} : "),
                                    None => write!(text, "{v}"),
                                }
                                .expect("text grows");
                            }
                            format!("({text})")
                        };
                        let inside = |axis: usize| self.closed(axis) || axis == 0 && inner || axis == along && far;
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

    /// The first column and the first line of the strip of this number.
    fn places(&self, number: &str) -> [String; 2] {
        let (own, lines) = self.own();
        let [x, y] = self.margins();
        let n = self.base.system.grid.n[0].div_ceil(own);
        match axis(self.base.system) {
            2 => [format!("(idx)({number} % {n}) * {own} - {x}"), format!("(idx)({number} / {n}) * {lines} - {y}")],
            _ => [format!("(idx){number} * {own} - {x}"), "0".into()],
        }
    }

    fn margins(&self) -> [i64; 2] {
        [self.reach.x, self.reach.y].map(|r| r * self.links as i64)
    }

    fn own(&self) -> (usize, usize) {
        self.reach.own(self.strip.columns, self.strip.lines, self.links).expect("strips were checked")
    }

    fn gpu(&self, name: &str) -> String {
        let Strip { columns, lines, rows } = self.strip;
        let Reach { along: y, lag, .. } = self.reach;
        let links = self.links;
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
        // An item's place in its line, which is the whole strip where rows follow each other.
        let at = if planes { "lane_x" } else { "lane" };
        if planes {
            line(format!("const int lane_x = lane % {columns}, lane_y = lane / {columns};"));
        }
        let place = |axis: usize, place: &str| match (self.closed(axis), ["NX", "NY"][axis]) {
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
        let before = y * links as i64;
        line(match self.closed(axis) {
            true => format!("const idx start = begin - {before};"),
            false => format!("const idx start = max(begin - {before}, (idx)0);"),
        });
        // Items for neighbours in other columns; past the strip's ends nothing is asked that is needed.
        if !self.base.offsets().is_empty() {
            for d in all_across(self.base.system) {
                let item = |axis: usize, lane: &str, place: &str, count: usize| {
                    let to = match self.closed(axis) {
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
        let row_of = |j: &str| match self.closed(axis) {
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
        // A link's newest row is an argument of the next link in the same turn.
        for link in 0..links {
            for v in self.nodes(link).iter().filter(|v| delays.contains_key(v)) {
                for f in 0..fields {
                    line(format!("REAL m{}_{f};", v.0));
                }
            }
        }
        // Most rows are far from the first and the last one.
        let cases: &[bool] = if self.closed(axis) { &[true] } else { &[true, false] };
        for far in cases {
            line(match (self.closed(axis), far) {
                (true, _) => "{".into(),
                (false, true) => format!("if (j >= {} && j < {n} + {}) {{", stop + y, lag - y),
                (false, false) => "} else {".into(),
            });
            for link in 0..links {
                line("{".into());
                let back = (link as i64 + 1) * lag;
                line(format!("const idx row = j - {back};"));
                line(format!("const idx {i} = {};", if self.closed(axis) { row_of("row") } else { "row".into() }));
                line(format!("const idx p = {};", self.point_in(i)));
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
        let Strip { columns, lines, rows } = self.strip;
        let Reach { x, y: reach_lines, along: y, lag } = self.reach;
        let links = self.links;
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
        let before = y * links as i64;
        line(match self.closed(axis) {
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
        // The same for lines, whose loop stands around that over columns.
        let each_line = |from: i64, to: i64| match (planes, self.closed(1)) {
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
        line(match self.closed(axis) {
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
        // Row of an array: counted by turns, so that every vector's row of a turn has one place.
        let place = |v: Value, rows: i64| format!("r{}_{}", v.0, rows);
        let value = |v: Value, f: usize, rows: i64| format!("a{}_{f}[{}][{here}]", v.0, place(v, rows));
        let neighbour =
            |v: Value, f: usize, d: [i32; 2], rows: i64| format!("a{}_{f}[{}][{}]", v.0, place(v, rows), lane_name(d));
        let leaves = if self.base.offsets().is_empty() { Vec::new() } else { all_across(self.base.system) };
        for link in 0..links {
            let left = (links - 1 - link) as i64 * x;
            let left_lines = (links - 1 - link) as i64 * reach_lines;
            line("{".into());
            line(range(margin - left, margin + own as i64 + left));
            let back = (link as i64 + 1) * lag;
            line(format!("const idx row = j - {back};"));
            line(match self.closed(axis) {
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
            line(match self.closed(0) {
                true => "const int from = low, to = high;".into(),
                false => format!(
                    "const int from = clamp((int)({below} - first), low, high), to = clamp((int)(NX - {above} - first), from, high);"
                ),
            });
            line(each_line(margin_lines - left_lines, margin_lines + own_lines as i64 + left_lines));
            for (start, stop, inner) in [("low", "from", false), ("from", "to", true), ("to", "high", false)] {
                if !inner && self.closed(0) {
                    continue;
                }
                line(format!("for (int s = {start}; s < {stop}; s++) {{\n{column}"));
                line(format!("const idx {}p = {};", if planes { "" } else { "iz = 0, " }, self.point_in(i)));
                // Strips at the end of a closed grid go over it.
                let mut owns = format!("kept && s >= {margin} && s < {}", margin + own as i64);
                if self.closed(0) {
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
                        let line = match self.closed(1) {
                            true => format!("(l + ({}))", d[1]),
                            false => format!("(int)({} - front)", self.base.neighbour(1, d[1])),
                        };
                        write!(to, " + {columns} * {line}").expect("text grows");
                    }
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
            line("}\n}".into());
        }
        line("}".into());
        line(Writer::<T>::leaves(self.sums, "get_global_id(1) * get_global_size(0) + get_global_id(0)"));
        text.push_str("}\n");
        text
    }
}

/// Where another column's values stand.
fn lane_name(d: [i32; 2]) -> String {
    let signed = |d: i32| if d < 0 { format!("m{}", d.unsigned_abs()) } else { d.to_string() };
    format!("at_{}_{}", signed(d[0]), signed(d[1]))
}

/// A vector so many rows before its newest.
fn delayed(v: Value, f: usize, rows: i64) -> String {
    format!("d{}_{f}_{rows}", v.0)
}
