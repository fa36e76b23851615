//! Kernels that compute several links on tiles along the index of grid points.
//!
//! A right-hand side reads points at most d away, so that a link of a tile can follow the one before inside the tile if
//! that one was computed d points further on either side. A [`Phase`] says which points of which links a tile computes:
//!
//! - overlapped: each tile starts wider than what it owns, by d for each link, and gets narrower by d from link to link;
//! - trapezoidal: tiles start next to each other and get narrower; a second phase computes the triangles between them;
//! - hexagonal: tiles get wider for some links and narrower for as many, each row of them between those of the row before.
//!
//! In the last two a tile takes what it does not compute itself from vectors in memory, where tiles of earlier phases
//! saved it; only values along borders are ever saved.
//!
//! On GPUs a work-group has a tile: values stay in registers, what neighbours read goes through local memory. On processors
//! an item has a tile, with arrays of its own and loops along rows that become vector code.

pub(crate) mod cooperative;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::marker::PhantomData;

use clinalg::{Real, Shape};

use crate::graph::{Op, Value};
use crate::opencl::{SCALAR, Writer, column_name, flat, new_lines, row_name};
use crate::plan::{Group, Plan, Variant};
use crate::rhs::{Bound, System};
use crate::snippet;

/// Points of the links that a tile computes in one kernel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Phase {
    /// The links, counted from the first of the group.
    links: Vec<usize>,
    /// First and last point, past the end, of each of them, relative to the tile's place.
    span: Vec<(i64, i64)>,
    /// What is written of the vectors that leave the group, relative to the tile's place; everything computed for `None`.
    own: Option<(i64, i64)>,
    /// Place of the first tile, and from tile to tile.
    origin: i64,
    spacing: i64,
    /// Number of tiles.
    pub(crate) tiles: usize,
}

impl Phase {
    /// Whether it computes this link of the group.
    pub(crate) fn has(&self, link: usize) -> bool {
        self.links.contains(&link)
    }

    /// Words moved per component by the model: what comes in at the first link and goes out at the last, and of what is
    /// saved the borders.
    pub(crate) fn words(&self, group: &Group, d: usize) -> f64 {
        let (d, spacing) = (d as f64, self.spacing as f64);
        let width = |span: &(i64, i64)| (span.1 - span.0) as f64 / spacing;
        let reads = match self.links.contains(&0) {
            true => group.reads.len() as f64 * (width(&self.span[0]) + 2.0 * d / spacing),
            false => 0.0,
        };
        let written = |own: (i64, i64)| group.writes.len() as f64 * width(&own);
        let writes = match self.own {
            Some(own) => written(own),
            None => self.span.last().map_or(0.0, |s| written(*s)),
        };
        reads + writes + group.saved.len() as f64 * 4.0 * d / spacing
    }

    /// Points computed for each of the grid's, over all links.
    pub(crate) fn work(&self) -> f64 {
        self.span.iter().map(|(a, b)| (b - a) as f64).sum::<f64>() / self.spacing as f64
    }

    /// First point that is read or computed, and their number.
    fn window(&self, d: i64) -> (i64, i64) {
        let low = self.span.iter().map(|s| s.0).min().unwrap_or(0) - d;
        let high = self.span.iter().map(|s| s.1).max().unwrap_or(0) + d;
        (low, high - low)
    }
}

/// Largest distance along the index of points between a point and one that is read there. Along the slowest axis, periodic
/// grids go on past their end.
pub(crate) fn distance(system: &System) -> usize {
    if let Some(snippet) = &system.snippet {
        return snippet.distance;
    }
    let [nx, ny, _] = system.grid.n;
    let slow = slow_axis(system);
    let reach = |axis: usize, d: i32| match system.bounds[axis][0] {
        Bound::Periodic if axis != slow && d != 0 => system.grid.n[axis] - 1,
        _ => d.unsigned_abs() as usize,
    };
    let far = |o: &[i32; 3]| reach(0, o[0]) + nx * (reach(1, o[1]) + ny * reach(2, o[2]));
    system.offsets().iter().map(far).max().unwrap_or(0)
}

/// The axis along which whole rows or planes follow each other.
fn slow_axis(system: &System) -> usize {
    system.grid.dims - 1
}

/// Whether the points form a ring: the slowest axis is periodic.
pub(crate) fn ring(system: &System) -> bool {
    system.bounds[slow_axis(system)][0] == Bound::Periodic
}

/// The phases that compute `links` links of `points` points with access distance `d` on tiles of at most `window` points
/// with their margins; `None` where such tiles are too small.
pub(crate) fn phases(variant: Variant, links: usize, points: usize, d: usize, window: usize) -> Option<Vec<Phase>> {
    let (n, d, window, count) = (points as i64, d as i64, window as i64, links as i64);
    let all: Vec<usize> = (0..links).collect();
    match variant {
        Variant::Overlapped => {
            let own = window - 2 * d * count;
            // Less than a quarter of the work would be for the tile itself.
            if own < 1 || own * 4 < window {
                return None;
            }
            let margin = |k: usize| d * (count - 1 - k as i64);
            let span = all.iter().map(|k| (-margin(*k), own + margin(*k))).collect();
            let tiles = points.div_ceil(own as usize);
            Some(vec![Phase { links: all, span, own: Some((0, own)), origin: 0, spacing: own, tiles }])
        }
        Variant::Trapezoidal => {
            let width = window - 2 * d;
            if width < 1 || width < 2 * d * (count - 1) || 2 * d * count > window {
                return None;
            }
            let down = all.iter().map(|k| (d * *k as i64, width - d * *k as i64)).collect();
            let tiles = points.div_ceil(width as usize);
            let narrow = Phase { links: all, span: down, own: None, origin: 0, spacing: width, tiles };
            let later: Vec<usize> = (1..links).collect();
            let up = later.iter().map(|k| (-d * *k as i64, d * *k as i64)).collect();
            let between = Phase { links: later, span: up, own: None, origin: 0, spacing: width, tiles: tiles + 1 };
            let done = links == 1 || d == 0;
            Some(if done { vec![narrow] } else { vec![narrow, between] })
        }
        Variant::Hexagonal => {
            // Tiles as high as the window allows: half as many links get wider as fit beside a margin.
            let half = |h: i64| (window - 2 * d) - 2 * d * (h - 1);
            let h = (1..=count.max(1)).rev().find(|h| half(*h) >= 2 * d * h.max(&1) + 2)?;
            // Widest 2 (g + d (h - 1)) = P / 2 + d (h - 1) for the period P, the narrowest 2 g with g at least 0.
            let widest = window - 2 * d;
            let mut period = 2 * (widest - d * (h - 1));
            period -= period.rem_euclid(4);
            while (period / 2 - d * (h - 1)) % 2 != 0 {
                period -= 2;
            }
            let g = (period / 2 - d * (h - 1)) / 2;
            if period < 4 || g < 1 {
                return None;
            }
            let width = |q: i64| if q < h { g + d * q } else { period / 2 - (g + d * (q - h)) };
            let mut rows = Vec::new();
            let mut row = 0;
            while (row - 1) * h < count {
                let steps: Vec<i64> = (0..2 * h).filter(|q| (0..count).contains(&((row - 1) * h + q))).collect();
                let links = steps.iter().map(|q| ((row - 1) * h + q) as usize).collect();
                let span = steps.iter().map(|q| (-width(*q), width(*q))).collect();
                let shift = if row % 2 == 0 { 0 } else { period / 2 };
                // From the first tile that reaches into the grid to the last.
                let tiles = ((n + period / 2 + period) / period + 1) as usize;
                rows.push(Phase { links, span, own: None, origin: shift - period, spacing: period, tiles: tiles + 1 });
                row += 1;
            }
            Some(rows.into_iter().filter(|p| !p.links.is_empty()).collect())
        }
        Variant::Cooperative => {
            let (span, tiles) = (vec![(0, window); links], points.div_ceil(window as usize));
            Some(vec![Phase { links: all, span, own: None, origin: 0, spacing: window, tiles }])
        }
        _ => None,
    }
}

/// How a tile's points are dealt out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Items {
    /// Items of a work-group; 1 on processors.
    pub(crate) local: usize,
    /// Points of an item.
    pub(crate) points: usize,
}

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
    shape: Shape,
    name: &str,
) -> String {
    let Launched { phase, items, sums } = launched;
    let base = Writer::<T> { plan, system, group, shape, marker: PhantomData };
    let links = plan.graph().links();
    let all = group_links(plan, group);
    let place = |k: usize| all.binary_search(&links[k]).expect("a link of the group");
    let stages = (0..links.len()).map(|k| group.nodes.contains(&Value(k)).then(|| place(k))).collect();
    let tile = Tile { base, phase, items, stages, d: distance(system) as i64, sums };
    match shape {
        Shape::Gpu if plan.variant() == Variant::Cooperative => tile.cooperative(name),
        Shape::Gpu => tile.gpu(name),
        Shape::Cpu => tile.cpu(name),
    }
}

/// The links of a group, in their order.
pub(crate) fn group_links(plan: &Plan, group: &Group) -> Vec<usize> {
    let links = plan.graph().links();
    let mut all: Vec<usize> = group.nodes.iter().map(|v| links[v.0]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Vectors whose neighbours the right-hand sides of one link read, at most.
pub(crate) fn most_arguments(plan: &Plan, group: &Group) -> usize {
    let links = plan.graph().links();
    let mut per_link: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    for v in &group.nodes {
        if let Op::Rhs { x, .. } = plan.graph().node(*v).op {
            let all = per_link.entry(links[v.0]).or_default();
            if !all.contains(&x) {
                all.push(x);
            }
        }
    }
    per_link.values().map(Vec::len).max().unwrap_or(0)
}

struct Tile<'a, T> {
    base: Writer<'a, T>,
    phase: &'a Phase,
    items: Items,
    /// Link of each node, counted from the group's first; `None` for what is made elsewhere.
    stages: Vec<Option<usize>>,
    d: i64,
    sums: &'a [(Value, usize)],
}

impl<T: Real> Tile<'_, T> {
    fn fields(&self) -> usize {
        self.base.system.fields.len()
    }

    fn nodes(&self, stage: usize) -> Vec<Value> {
        self.base.group.nodes.iter().copied().filter(|v| self.stages[v.0] == Some(stage)).collect()
    }

    /// Arguments of right-hand sides in a link.
    fn arguments(&self, stage: usize) -> Vec<Value> {
        let graph = self.base.plan.graph();
        let mut all: Vec<Value> = (self.nodes(stage).iter())
            .filter_map(|v| if let Op::Rhs { x, .. } = graph.node(*v).op { Some(x) } else { None })
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether a node of the link reads the vector at the point itself.
    fn pointwise(&self, v: Value, stage: usize) -> bool {
        let graph = self.base.plan.graph();
        let op = |k: &Value| &graph.node(*k).op;
        self.nodes(stage).iter().any(|k| !matches!(op(k), Op::Rhs { .. }) && op(k).reads().contains(&v))
    }

    /// Position in the phase of a link of the group.
    fn order(&self, stage: usize) -> Option<usize> {
        self.phase.links.iter().position(|l| *l == stage)
    }

    /// Position in the phase of the link that makes a vector; `None` for what is made before.
    fn made(&self, v: Value) -> Option<usize> {
        self.stages[v.0].and_then(|s| self.order(s))
    }

    /// Whether work-groups hand over what neighbours read through memory.
    fn cooperates(&self) -> bool {
        self.base.plan.variant() == Variant::Cooperative
    }

    /// Vectors with a place in registers or arrays: what later links read, and what comes from memory. Groups that cooperate
    /// keep what is stored nowhere.
    fn kept(&self) -> Vec<Value> {
        if self.cooperates() {
            return cooperative::places(self.base.plan, self.base.group).0.into_keys().collect();
        }
        let count = self.base.plan.graph().nodes().len();
        let uses = |v: Value, q: usize| {
            let stage = self.phase.links[q];
            self.pointwise(v, stage) || self.arguments(stage).contains(&v)
        };
        (0..count)
            .map(Value)
            .filter(|v| {
                let from = self.made(*v).map_or(0, |q| q + 1);
                (from..self.phase.links.len()).any(|q| uses(*v, q))
            })
            .collect()
    }

    /// Vectors made before link `q` of the phase that it or a later one reads at the point; those that `q` reads at
    /// neighbours as well are not among them.
    fn waiting(&self, q: usize) -> Vec<Value> {
        let arguments = self.arguments(self.phase.links[q]);
        let before = |v: &Value| self.made(*v).is_none_or(|m| m < q);
        let later = |v: &Value| (q..self.phase.links.len()).any(|r| self.pointwise(*v, self.phase.links[r]));
        self.kept().into_iter().filter(|v| before(v) && later(v) && !arguments.contains(v)).collect()
    }

    /// The points, from and to, at which a vector made in link `q` is not only for the tile itself: below the first and
    /// from the second on.
    fn borders(&self, v: Value, q: usize) -> Option<(i64, i64)> {
        if !self.base.group.saved.contains(&v) {
            return None;
        }
        let stage = self.phase.links[q];
        let last_stage = self.base.group.nodes.iter().filter_map(|k| self.stages[k.0]).max().unwrap_or(0);
        let (mut low, mut high) = (i64::MIN, i64::MAX);
        for later in stage + 1..=last_stage {
            let span = self.order(later).map(|r| self.phase.span[r]);
            // Nothing of a link that the phase does not have is computed here.
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

    /// `s` in a span of points, relative to the window; no text where nothing has to be asked.
    fn within(&self, (from, to): (i64, i64), low: i64, asked: (i64, i64)) -> String {
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
    fn position(&self, inner: bool) -> String {
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

    /// What a link computes at a point, in a GPU's or a processor's words.
    fn point(&self, q: usize, inner: bool, inner_row: bool, words: &Words<'_>) -> String {
        let graph = self.base.plan.graph();
        let (slow, closed) = (slow_axis(self.base.system), ring(self.base.system));
        let kept = self.kept();
        let stage = self.phase.links[q];
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
                        let inside = |axis: usize| axis == slow && (inner || closed) || axis == 0 && inner_row;
                        let value = self.base.derivative(f, v.0, &inside, &read);
                        new_lines(words.known, &mut said).into_iter().for_each(&mut line);
                        line(format!("const REAL n{}_{f} = {value};", v.0));
                    }
                    Op::Lc { .. } => {
                        line(format!("const REAL n{}_{f} = {};", v.0, self.base.combination(*v, f, &here)))
                    }
                    Op::Red { .. } if self.base.shape == Shape::Cpu => {
                        line(format!("ratio{f}[s] = {};", self.base.ratio(*v, f, &here)));
                    }
                    Op::Red { .. } => {
                        let own = self.phase.own.map_or("true".into(), |own| {
                            self.within(own, self.phase.window(self.d).0, (i64::MIN, i64::MAX))
                        });
                        // A ring's last tile goes on at its beginning, which counts once.
                        let once = match closed {
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

    /// When a vector made in link `q` of the phase is stored; `None` for never.
    fn stored(&self, v: Value, q: usize) -> Option<String> {
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

    /// Whether a loop of its own stores the vector: on processors, where a condition would keep the loop that computes it from
    /// becoming vector code.
    fn stored_apart(&self, v: Value, q: usize) -> bool {
        let asked = self.stored(v, q).is_some_and(|when| when != "true");
        self.base.shape == Shape::Cpu && asked && self.kept().contains(&v)
    }

    /// Text that loads all fields of a vector at `p`.
    fn load(&self, v: Value, value: &dyn Fn(Value, usize) -> String) -> String {
        let buffer = self.base.buffer(v);
        let field = |f: usize| format!("{} = {};", value(v, f), self.base.get(&buffer, "p", f));
        (0..self.fields()).map(field).collect::<Vec<_>>().join("\n")
    }

    /// What stands before the kernel; a snippet reads the tile in place of a vector in memory.
    fn head(&self) -> String {
        let near = |s| snippet::near(self.base.system, s, self.base.shape);
        self.base.head() + &self.base.system.snippet.as_ref().map_or(String::new(), near)
    }

    fn gpu(&self, name: &str) -> String {
        let Items { local, points } = self.items;
        let (low, length) = self.phase.window(self.d);
        let fields = self.fields();
        let system = self.base.system;
        let closed = ring(system);
        let mut text = self.head();
        writeln!(text, "#define K {points}\n#define WINDOW {length}").expect("text grows");
        writeln!(text, "#undef LOCAL\n#define LOCAL {local}").expect("text grows");
        text.push_str(&self.base.open(&format!("__attribute__((reqd_work_group_size({local}, 1, 1))) "), name));
        let most = self.phase.links.iter().map(|l| self.arguments(*l).len()).max().unwrap_or(0);
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
        if closed {
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
        let at = if closed { "const idx p = (first + s) % POINTS;" } else { "const idx p = first + s;" };
        let inside = if closed { "true" } else { "p >= 0 && p < POINTS" };
        let value = |v: Value, f: usize| format!("v{}_{f}[k]", v.0);
        for (q, stage) in self.phase.links.iter().enumerate() {
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
                let i = arguments.iter().position(|v| *v == x).expect("an argument of the link");
                format!("tile[{}][s + (int)({} + {})]", i * fields + field, row_name(o[1], o[2]), column_name(o[0]))
            };
            let all = |x: Value| {
                let i = arguments.iter().position(|v| *v == x).expect("an argument of the link");
                format!("tile[{i}]")
            };
            let known = RefCell::new(Vec::new());
            let words = Words { value: &value, neighbour: &neighbour, all: &all, known: &known };
            let sides: &[bool] = if closed { &[true] } else { &[true, false] };
            for inner in sides {
                if !closed {
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
            if !closed {
                line("}".into());
            }
        }
        text.push_str(&Writer::<T>::tree(self.sums, "get_group_id(0)"));
        text.push_str("}\n");
        text
    }

    /// Places in the arrays of an item for the kept vectors, and their number: vectors that are not needed any more give
    /// theirs to later ones, what neighbours read only after its link.
    fn slots(&self) -> (BTreeMap<Value, usize>, usize) {
        let mut slot: BTreeMap<Value, usize> = BTreeMap::new();
        let (mut free, mut count): (Vec<usize>, usize) = (Vec::new(), 0);
        let kept = self.kept();
        let links = self.phase.links.len();
        let last = |v: Value| {
            let used = |q: &usize| {
                let stage = self.phase.links[*q];
                self.pointwise(v, stage) || self.arguments(stage).contains(&v)
            };
            (0..links).rev().find(used).unwrap_or(0)
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
        for q in 0..links {
            let arguments = self.arguments(self.phase.links[q]);
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

    fn cpu(&self, name: &str) -> String {
        let (low, length) = self.phase.window(self.d);
        let fields = self.fields();
        let system = self.base.system;
        let closed = ring(system);
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
        let plane = flat(system) && !closed;
        if plane {
            line("const uint ix0 = (uint)((first % NX + NX) % NX);".into());
        }
        // Points from one relative to the window to another, those outside the grid left out; `s` counts from the window's
        // first, `p` is the point, `line` its row.
        let range = |from: i64, to: i64| match closed {
            true => format!("const int begin = {}, end = {};", from - low, to - low),
            false => format!(
                "const int begin = (int)max((idx){}, -first), end = (int)min((idx){}, POINTS - first);",
                from - low,
                to - low
            ),
        };
        // As wide as addresses: from narrow indices the compiler makes gathers and scatters.
        let point = if closed {
            "const idx p = ((first + s) % POINTS + POINTS) % POINTS;"
        } else {
            "const long p = (long)first + s;"
        };
        let array = |v: Value, f: usize| format!("a{}_{f}[s]", slot[&v]);
        for (q, stage) in self.phase.links.iter().enumerate() {
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
                line(match closed {
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
    fn position_in_row(&self, inner: bool) -> String {
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

/// How kept values and neighbours are called.
struct Words<'a> {
    value: &'a dyn Fn(Value, usize) -> String,
    neighbour: &'a dyn Fn(Value, usize, [i32; 3]) -> String,
    /// The window's values of a vector that neighbours read, from the first.
    all: &'a dyn Fn(Value) -> String,
    /// Lines that have to stand before what `neighbour` gave.
    known: &'a RefCell<Vec<String>>,
}
