//! The kernels of a plan on a device: their sources, ranges and buffers, and the sizes of tiles.

use clinalg::runtime::{DeviceKind, Kernel, Range};
use clinalg::{Context, Real, Shape};

use crate::device::{DeviceOptions, interned, interned_name};
use crate::graph::{Graph, Op, Value};
use crate::method::Method;
use crate::plan::{Group, Plan, Variant};
use crate::rhs::System;
use crate::stream::{Reach, Strip};
use crate::tile::{Items, Launched, Phase, cooperative, distance, group_links, most_arguments, phases, ring};
use crate::wavefront::{self, Block};
use crate::{Error, Result, opencl, stream, tile};

/// Sizes of tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// Most links in a kernel.
    pub links: usize,
    /// Items of a work-group, on GPUs; on processors lines of a strip of a three-dimensional grid.
    pub items: usize,
    /// Grid points of an item on GPUs, of a tile on processors; columns of a strip there, and of a strip of a
    /// three-dimensional grid on GPUs as well; points of a block of a wavefront.
    pub points: usize,
    /// Rows, or planes, of a strip of a grid; work-groups of a unit that wait for each other.
    pub rows: usize,
}

/// What kernels are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) shape: Shape,
    /// Items of a work-group on GPUs.
    local: usize,
    /// Items of a processor.
    chunks: usize,
    local_mem: usize,
    units: usize,
    /// Work-groups that are launched for each that is wanted at the same time as others.
    spare: usize,
    /// Whether what a group stores can be made known to all others while they run.
    fences: bool,
}

impl Target {
    pub(crate) fn of(context: &Context) -> Target {
        Target {
            shape: context.shape(),
            local: context.local(),
            chunks: context.chunks(),
            local_mem: context.device().local_mem as usize,
            units: context.device().compute_units as usize,
            // PoCL gives a thread several groups, one after the other.
            spare: if context.device().kind == DeviceKind::Cpu { 4 } else { 1 },
            // OpenCL C 1.2 has no word for it: by the compilers that have one, and on processors, whose caches agree.
            fences: context.device().kind == DeviceKind::Cpu || FENCES.contains(&&*context.device().platform),
        }
    }

    /// A device of this kind that nobody asked.
    pub(crate) fn any(shape: Shape) -> Target {
        Target { shape, local: 256, chunks: 8, local_mem: LOCAL_BYTES, units: 64, spare: 1, fences: true }
    }
}

/// The OpenCL C of the kernels of one step, and of `options.steps` steps where they are more, with and without the errors of
/// each, for a device of the kind `shape`, each with its name; `kernels/common.cl` stands before it. No device is asked.
///
/// # Errors
/// [`Error::Variant`] where the system does not allow the variant; [`Error::Value`] for [`Variant::Auto`], which a device
/// decides.
pub fn sources<T: Real>(
    method: &Method,
    system: &System,
    options: &DeviceOptions,
    shape: Shape,
) -> Result<Vec<(&'static str, &'static str)>> {
    if options.variant == Variant::Auto {
        return Err(Error::value("variant", "one that no device has to choose", options.variant.name()));
    }
    let (graph, target) = (method.graph(), Target::any(shape));
    let mut counts = vec![(1, true)];
    if options.steps > 1 && options.variant.tiled() {
        counts.push((options.steps, false));
        counts.extend(graph.has_error().then_some((options.steps, true)));
    }
    let mut all = Vec::new();
    for (steps, errors) in counts {
        let make = if errors { Outline::with_errors::<T> } else { Outline::new::<T> };
        let schedule = make(&target, graph, system, options.variant, steps, options.tile)?.build::<T>(system, shape);
        for launch in &schedule.launches {
            // The blocks of a wavefront have the same kernels.
            if !all.contains(&(launch.name, launch.source)) {
                all.push((launch.name, launch.source));
            }
        }
    }
    Ok(all)
}

/// A schedule before its kernels are written.
#[derive(Debug, Clone)]
pub(crate) struct Outline {
    pub(crate) plan: Plan,
    pub(crate) tile: Option<Tile>,
    /// Words moved per component and step.
    pub(crate) words: f64,
    /// Work done for work needed.
    pub(crate) redundancy: f64,
    /// What an operation costs on tiles of this size, in that of the best.
    effort: f64,
    /// Partial sums of the norm of each step's error.
    partials: Vec<usize>,
    /// What the cache and the launches cost at least, in words.
    least: f64,
    parts: Vec<Part>,
}

/// A kernel to be.
#[derive(Debug, Clone)]
struct Part {
    group: usize,
    points: Points,
    range: Range,
    /// Norms that it makes partial sums of, with the first among those of the norm.
    sums: Vec<(Value, usize)>,
    together: Option<Together>,
}

/// Work-groups of a launch that wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Together {
    /// How many take part; others leave.
    pub(crate) groups: usize,
    /// How few may take part, and how many are launched.
    pub(crate) fewest: usize,
    pub(crate) launched: usize,
    /// Flags that they raise.
    pub(crate) flags: usize,
}

/// Points that a kernel works on.
#[derive(Debug, Clone)]
enum Points {
    All,
    Block(Block),
    Tiles(Phase, Items),
    Strips(Strip),
}

impl Outline {
    /// The kernels of `steps` steps, on tiles of the best size by the model where none is given; those of more than one step
    /// leave the error estimate out.
    pub(crate) fn new<T: Real>(
        target: &Target,
        graph: &Graph,
        system: &System,
        variant: Variant,
        steps: usize,
        tile: Option<Tile>,
    ) -> Result<Outline> {
        match steps {
            1 => Outline::with_errors::<T>(target, graph, system, variant, 1, tile),
            _ => Outline::with_errors::<T>(target, &graph.without_error(), system, variant, steps, tile),
        }
    }

    /// The same with the error estimate of each step.
    pub(crate) fn with_errors<T: Real>(
        target: &Target,
        graph: &Graph,
        system: &System,
        variant: Variant,
        steps: usize,
        tile: Option<Tile>,
    ) -> Result<Outline> {
        let refuse = |reason: String| Error::Variant { variant: variant.name(), reason };
        match variant {
            Variant::Auto => unreachable!("the variant is chosen before"),
            Variant::Basic => return Ok(Outline::whole(target, graph, Plan::new(graph, variant), system)),
            Variant::Fused => return Ok(Outline::whole(target, graph, fused(target, graph, system), system)),
            _ if system.is_dense() => {
                return Err(refuse("the right-hand side has sums over all points".into()));
            }
            Variant::Trapezoidal | Variant::Hexagonal | Variant::Wavefront | Variant::Cooperative if ring(system) => {
                return Err(refuse("the slowest axis is periodic: tiles would have to fit around it".into()));
            }
            Variant::Grid if system.grid.dims == 1 => {
                return Err(refuse("the grid has one dimension".into()));
            }
            Variant::Cooperative if target.shape == Shape::Cpu || !target.fences => {
                return Err(refuse("work-groups cannot wait for each other on this device".into()));
            }
            Variant::Recomputed => return Ok(Outline::recomputed(target, graph, steps, system)),
            _ => {}
        }
        let found = match tile {
            Some(tile) if variant == Variant::Wavefront => {
                Some(Outline::wavefront::<T>(target, Plan::wavefront(graph, steps), system, tile))
            }
            Some(tile) => Outline::tiled::<T>(target, Plan::tiled(graph, variant, steps, tile.links), system, tile),
            None => Outline::sizes::<T>(target, graph, system, variant, steps).into_iter().next(),
        };
        found.ok_or_else(|| match variant {
            Variant::Grid => refuse("strips with the columns that the links reach over do not fit".into()),
            Variant::Cooperative => refuse(format!(
                "points {} apart depend on each other; too few work-groups run at the same time",
                distance(system)
            )),
            _ => {
                refuse(format!("points {} apart depend on each other; tiles of that size do not fit", distance(system)))
            }
        })
    }

    /// Two links a kernel over all points.
    fn recomputed(target: &Target, graph: &Graph, steps: usize, system: &System) -> Outline {
        Outline::whole(target, graph, Plan::tiled(graph, Variant::Recomputed, steps, 2), system)
    }

    /// One kernel for each group over all points.
    fn whole(target: &Target, graph: &Graph, plan: Plan, system: &System) -> Outline {
        let points = system.grid().points();
        let (range, partials) = match target.shape {
            Shape::Cpu => (Range::d1(target.chunks, 1), target.chunks),
            Shape::Gpu => (Range::d1(points, target.local), points.div_ceil(target.local)),
        };
        let sums = |group: &Group| opencl::reductions(&plan, group).into_iter().map(|v| (v, 0)).collect();
        let part = |(k, group)| Part { group: k, points: Points::All, range, sums: sums(group), together: None };
        let parts = plan.groups().iter().enumerate().map(part).collect();
        let partials = vec![partials; plan.graph().reductions().len()];
        let (least, redundancy) = match target.shape {
            Shape::Gpu => (through_caches(target, system, &plan), 1.0),
            Shape::Cpu => (0.0, values_read(plan.graph(), system) as f64 / values_read(graph, system) as f64),
        };
        // Links that are computed again at each neighbour are every other one.
        let redundancy = match (target.shape, plan.variant()) {
            (Shape::Cpu, Variant::Recomputed) => redundancy * (1.0 + system.offsets().len().max(3) as f64 / 2.0),
            _ => redundancy,
        };
        let steps = plan.graph().steps() as f64;
        let (words, least) = (plan.words() as f64 / steps, least / steps);
        Outline { words, redundancy, effort: 1.0, least, plan, tile: None, partials, parts }
    }

    /// The fused kernels on blocks of `tile.points` points.
    fn wavefront<T: Real>(target: &Target, plan: Plan, system: &System, tile: Tile) -> Outline {
        let (points, spacing) = (system.grid().points(), wavefront::spacing(distance(system)));
        let point = system.fields().len() * size_of::<T>();
        let width = tile.points.max(1);
        let mut partials = Partials::new(plan.graph());
        let mut parts = Vec::new();
        for block in wavefront::blocks(points, plan.groups().len(), width, spacing) {
            let count = block.end - block.begin;
            let (range, entries) = match target.shape {
                Shape::Cpu => (Range::d1(target.chunks, 1), target.chunks),
                Shape::Gpu => (Range::d1(count, target.local), count.div_ceil(target.local)),
            };
            let sums = partials.take(opencl::reductions(&plan, &plan.groups()[block.group]), entries);
            parts.push(Part { group: block.group, points: Points::Block(block), range, sums, together: None });
        }
        let steps = plan.graph().steps();
        let behind = spacing * plan.groups().len();
        let fits = (width + behind) * plan.buffers() * point <= 2 * wavefront::sizes(target.shape)[0];
        let words = wavefront::words(&plan, width, spacing, fits) / steps as f64;
        let least = wavefront::least(target.shape, plan.words(), parts.len(), points * point) / steps as f64;
        Outline { words, redundancy: 1.0, effort: 1.0, least, plan, tile: Some(tile), partials: partials.counts, parts }
    }

    /// Outlines for sizes of tiles that fit the target, the best by the model first.
    pub(crate) fn sizes<T: Real>(
        target: &Target,
        graph: &Graph,
        system: &System,
        variant: Variant,
        steps: usize,
    ) -> Vec<Outline> {
        if variant == Variant::Recomputed {
            return vec![Outline::recomputed(target, graph, steps, system)];
        }
        if variant == Variant::Wavefront {
            let plan = Plan::wavefront(graph, steps);
            let point = system.fields().len() * size_of::<T>() * plan.buffers();
            let tile = |bytes: &usize| Tile { links: 1, items: target.local, points: (bytes / point).max(1), rows: 0 };
            let all = wavefront::sizes(target.shape).iter().map(tile);
            return all.map(|tile| Outline::wavefront::<T>(target, plan.clone(), system, tile)).collect();
        }
        let whole = Plan::tiled(graph, variant, steps, usize::MAX);
        let most = group_links(&whole, &whole.groups()[0]).len();
        // Kernels of equal numbers of links.
        let mut counts: Vec<usize> = (1..=4).map(|parts| most.div_ceil(parts)).collect();
        counts.dedup();
        let mut all = Vec::new();
        for links in counts {
            let plan = if links == most { whole.clone() } else { Plan::tiled(graph, variant, steps, links) };
            let tiles: Vec<Tile> = match (target.shape, variant) {
                (Shape::Gpu, Variant::Grid) if system.grid.dims == 3 => {
                    [16, 32].map(|points| Tile { links, items: 256, points, rows: 0 }).to_vec()
                }
                (Shape::Cpu, Variant::Grid) if system.grid.dims == 3 => {
                    vec![Tile { links, items: 24 + 2 * links, points: 64 + 2 * links, rows: 0 }]
                }
                (Shape::Gpu, Variant::Grid) => {
                    [256, 128, 64].map(|items| Tile { links, items, points: 1, rows: 0 }).to_vec()
                }
                (Shape::Gpu, Variant::Cooperative) => {
                    COOPERATING.map(|[items, points, rows]| Tile { links, items, points, rows }).to_vec()
                }
                (Shape::Gpu, _) => {
                    [4, 2, 1].map(|points| Tile { links, items: target.local, points, rows: 0 }).to_vec()
                }
                (Shape::Cpu, Variant::Grid) => vec![Tile { links, items: 1, points: 256 + 2 * links, rows: 0 }],
                (Shape::Cpu, _) => {
                    let points = LEAST_POINTS.max(8 * distance(system) * links);
                    [1, 2, 4].map(|times| Tile { links, items: 1, points: times * points, rows: 0 }).to_vec()
                }
            };
            let fits = |tile: &Tile| plan.groups().iter().all(|group| fits::<T>(target, &plan, group, system, tile));
            let chosen = tiles.into_iter().filter(fits);
            all.extend(chosen.filter_map(|tile| Outline::tiled::<T>(target, plan.clone(), system, tile)));
        }
        let work = work(target, graph, system);
        all.sort_by(|a, b| a.price(work).total_cmp(&b.price(work)));
        all
    }

    /// What a step costs, in words of a component moved; see [`work`].
    pub(crate) fn price(&self, work: Work) -> f64 {
        let cost = |words: f64| {
            let weight = work.words * self.redundancy * self.effort;
            if work.overlaps { words.max(weight) } else { words + weight }
        };
        match self.plan.variant() {
            Variant::Cooperative | Variant::Recomputed => cost(self.words.max(self.least)),
            variant if variant.joins_links() => cost(self.words) + PER_KERNEL * self.parts.len() as f64,
            _ => cost(self.words.max(self.least)),
        }
    }

    /// Tiles of one size; `None` where they are too small.
    fn tiled<T: Real>(target: &Target, plan: Plan, system: &System, tile: Tile) -> Option<Outline> {
        let (points, d) = (system.grid().points(), distance(system));
        let items = Items { local: tile.items, points: tile.points };
        let mut parts = Vec::new();
        let mut partials = Partials::new(plan.graph());
        let (mut words, mut work, mut needed, mut least) = (0.0, 0.0, 0.0, 0.0);
        let link_of = plan.graph().links();
        for (k, group) in plan.groups().iter().enumerate() {
            let all = group_links(&plan, group);
            let links = all.len();
            needed += links as f64;
            if plan.variant() == Variant::Grid {
                let (mut part, tiles, moved, done) = strip_part(target, &plan, k, system, tile)?;
                part.sums = partials.take(opencl::reductions(&plan, group), tiles);
                parts.push(part);
                words += moved;
                work += done;
                continue;
            }
            for phase in phases(plan.variant(), links, points, d, items.local * items.points)? {
                work += phase.work();
                let (groups, together) = match plan.variant() {
                    Variant::Cooperative => {
                        // What is handed over is overwritten before the next step, but too late to stay in a cache.
                        words += (group.reads.len() + group.writes.len() + group.saved.len()) as f64;
                        let (groups, width) = (target.units * tile.rows.max(1), items.local * items.points);
                        let fewest = cooperative::enough(phase.tiles, links, d, width);
                        if groups < fewest || !cooperating_fits::<T>(target, &plan, group, system, &tile) {
                            return None;
                        }
                        least += cooperative::least(&plan, group, system, groups * width);
                        let (launched, flags) = (groups * target.spare, phase.tiles * (links - 1));
                        (launched, Some(Together { groups, fewest, launched, flags }))
                    }
                    _ => {
                        words += phase.words(group, d);
                        (phase.tiles, None)
                    }
                };
                let range = Range::d1(groups * items.local, items.local);
                let made = |v: &Value| all.binary_search(&link_of[v.0]).is_ok_and(|link| phase.has(link));
                let norms = opencl::reductions(&plan, group).into_iter().filter(made).collect();
                let sums = partials.take(norms, groups);
                parts.push(Part { group: k, points: Points::Tiles(phase, items), range, sums, together });
            }
        }
        let words = words / plan.graph().steps() as f64;
        let partials = partials.counts;
        let least = least / plan.graph().steps() as f64;
        let effort = effort::<T>(target, &plan, system, &tile);
        Some(Outline { redundancy: work / needed, effort, words, least, plan, tile: Some(tile), partials, parts })
    }

    /// Writes the kernels.
    pub(crate) fn build<T: Real>(self, system: &System, shape: Shape) -> Schedule {
        let Outline { plan, tile, words, partials, parts, .. } = self;
        let norms = plan.graph().reductions();
        // Where the partial sums of each norm begin.
        let begin = |v: &Value| {
            let k = norms.iter().position(|n| n == v).expect("a norm of the graph");
            partials[..k].iter().sum::<usize>()
        };
        let mut launches: Vec<Launch> = Vec::with_capacity(parts.len());
        for (number, part) in parts.iter().enumerate() {
            let group = &plan.groups()[part.group];
            let sums: Vec<(Value, usize)> = part.sums.iter().map(|(v, first)| (*v, begin(v) + first)).collect();
            let block = match part.points {
                Points::Block(Block { begin, end, .. }) => {
                    assert!(sums.len() <= 1, "a link has one norm at most");
                    Some([begin, end, sums.first().map_or(0, |s| s.1)])
                }
                _ => None,
            };
            // The blocks of a group have one kernel.
            if let Some(same) = launches.iter().find(|l| block.is_some() && l.group == part.group) {
                launches.push(Launch { block, range: part.range, buffers: same.buffers.clone(), ..*same });
                continue;
            }
            let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
            let method: String = plan.graph().name().chars().map(letter).collect();
            let name = interned_name(format!("ode_{method}_{}_{number}", plan.variant().name()));
            let source = match &part.points {
                Points::All | Points::Block(_) => opencl::source::<T>(&plan, group, system, shape, name),
                Points::Tiles(phase, items) => {
                    tile::source::<T>(&plan, group, system, Launched { phase, items: *items, sums: &sums }, shape, name)
                }
                Points::Strips(strip) => stream::source::<T>(&plan, group, system, *strip, shape, &sums, name),
            };
            let (file, source) = interned(source, system.is_dense());
            let kernel = Kernel::new(file, name, T::PRECISION);
            let buffers = opencl::buffers(&plan, group);
            let Part { range, group, together, .. } = *part;
            launches.push(Launch { kernel, name, source, buffers, range, group, block, together });
        }
        Schedule { launches, plan, partials, words, tile }
    }
}

/// Entries of the partial sums of each norm that were given to kernels.
struct Partials {
    norms: Vec<Value>,
    counts: Vec<usize>,
}

impl Partials {
    fn new(graph: &Graph) -> Partials {
        let norms = graph.reductions();
        Partials { counts: vec![0; norms.len()], norms }
    }

    /// The first of `count` more entries for each of these norms.
    fn take(&mut self, norms: Vec<Value>, count: usize) -> Vec<(Value, usize)> {
        let mut take = |v: Value| {
            let k = self.norms.iter().position(|n| *n == v).expect("a norm of the graph");
            self.counts[k] += count;
            (v, self.counts[k] - count)
        };
        norms.into_iter().map(&mut take).collect()
    }
}

/// What the operations of a step weigh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Work {
    /// In words of a component moved.
    words: f64,
    /// Whether words move meanwhile: on a GPU other groups compute while one waits.
    overlaps: bool,
}

/// What the operations of a step weigh, in words of a component moved.
pub(crate) fn work(target: &Target, graph: &Graph, system: &System) -> Work {
    let read = values_read(graph, system) as f64;
    match target.shape {
        Shape::Gpu => Work { words: TILE_READ * read, overlaps: true },
        Shape::Cpu => Work { words: WORK_READ * read, overlaps: false },
    }
}

/// Values that the operations of a step read for a component, neighbours counted one by one.
fn values_read(graph: &Graph, system: &System) -> usize {
    let reads = |op: &Op| match op {
        Op::Rhs { .. } => system.offsets().len() * graph.neighbours(op).len(),
        op => op.reads().len(),
    };
    graph.nodes().iter().map(|n| reads(&n.op)).sum()
}

/// The fused schedule that costs least on the target, with linear combinations inlined where right-hand sides are formulas:
/// words moved against values read from the caches.
fn fused(target: &Target, graph: &Graph, system: &System) -> Plan {
    if system.is_dense() || system.snippet.is_some() {
        return Plan::new(graph, Variant::Fused);
    }
    Plan::inlined(graph, &|plan| match target.shape {
        Shape::Gpu => through_caches(target, system, plan),
        Shape::Cpu => plan.words() as f64 + WORK_READ * values_read(plan.graph(), system) as f64,
    })
}

/// What the kernels of a plan over all points cost on a GPU, in words from memory: each as much as memory, the second-level cache
/// or the first-level caches take. A work-group fetches neighbours through the second-level cache once, or once for each
/// row where rows are further apart than it is wide.
fn through_caches(target: &Target, system: &System, plan: &Plan) -> f64 {
    let offsets = system.offsets();
    let [nx, ny, _] = system.grid.n.map(|n| n as i64);
    let places = |o: &[i32; 3]| i64::from(o[0]) + nx * (i64::from(o[1]) + ny * i64::from(o[2]));
    let all = || offsets.iter().map(places);
    let span = all().max().unwrap_or(0) - all().min().unwrap_or(0);
    let mut rows: Vec<[i32; 2]> = offsets.iter().map(|o| [o[1], o[2]]).collect();
    rows.sort_unstable();
    rows.dedup();
    let fetched = (rows.len() as f64).min(1.0 + span as f64 / target.local as f64);
    let graph = plan.graph();
    let cost = |group: &Group| {
        let mut near: Vec<Value> = Vec::new();
        let mut first = group.writes.len() + group.reads.len();
        for v in &group.nodes {
            let read = graph.neighbours(&graph.node(*v).op);
            let again = if read.iter().any(|x| group.nodes.contains(x)) { offsets.len() } else { 1 };
            first += again * offsets.len() * read.len();
            near.extend(read);
        }
        near.sort_unstable();
        near.dedup();
        let words = (group.reads.len() + group.writes.len()) as f64;
        let second = words + near.len() as f64 * (fetched - 1.0);
        words.max(second / SECOND_LEVEL).max(first as f64 / FIRST_LEVEL)
    };
    plan.groups().iter().map(cost).sum()
}

/// How many times as fast as memory the caches of a GPU are: 7.7 and 24 TB/s beside 4.2 on an H200.
const SECOND_LEVEL: f64 = 1.8;
const FIRST_LEVEL: f64 = 5.7;

/// Words that a value read in a tile weighs as much as, with the arithmetic that it goes into. A heat equation's steps on strips
/// of an H200 take 0.10 to 0.14 with the factors of [`effort`].
const TILE_READ: f64 = 0.09;

/// The same of a value read from a core's caches, by count: two vectors of four values read in a cycle of each of two cores
/// that share 45 GB/s, twice that for the arithmetic between. Not fitted to measurements.
const WORK_READ: f64 = 0.25;

/// Rows of a strip where there are enough strips anyway: the last ones of a launch keep fewer units waiting.
const MOST_ROWS: usize = 128;

/// Platforms with compilers that know fences of the device.
const FENCES: [&str; 2] = ["NVIDIA CUDA", "AMD Accelerated Parallel Processing"];

/// Items of a work-group, points of an item and work-groups of a unit that wait for each other.
const COOPERATING: [[usize; 3]; 3] = [[256, 8, 4], [256, 4, 5], [256, 2, 5]];

/// Words that a kernel more weighs.
const PER_KERNEL: f64 = 0.05;

/// Columns and lines of a strip with those on either side, and the items that have it.
fn strip_sizes(target: &Target, tile: &Tile, dims: usize) -> (usize, usize, usize) {
    match (target.shape, dims) {
        (Shape::Gpu, 3) => {
            (tile.points, tile.items / tile.points.max(1), tile.items / tile.points.max(1) * tile.points)
        }
        (Shape::Gpu, _) => (tile.items, 1, tile.items),
        (Shape::Cpu, 3) => (tile.points, tile.items, 1),
        (Shape::Cpu, _) => (tile.points, 1, 1),
    }
}

/// The kernel of a group on strips, their number, words and work.
fn strip_part(
    target: &Target,
    plan: &Plan,
    group: usize,
    system: &System,
    tile: Tile,
) -> Option<(Part, usize, f64, f64)> {
    let (columns, lines, items) = strip_sizes(target, &tile, system.grid.dims);
    let reach = Reach::of(system);
    let links = group_links(plan, &plan.groups()[group]).len();
    let (own, own_lines) = reach.own(columns, lines, links)?;
    let n = system.grid.n;
    // Strips side by side, and the rows or planes that they go over.
    let (across, ny) = match system.grid.dims {
        3 => (n[0].div_ceil(own) * n[1].div_ceil(own_lines), n[2]),
        _ => (n[0].div_ceil(own), n[1]),
    };
    // Enough strips for every unit several times over, but many rows for each row that is computed twice.
    let wanted = (8 * target.units).div_ceil(across);
    let rows = match tile.rows {
        0 => ny.div_ceil(wanted).clamp(16 * links, MOST_ROWS.max(16 * links)).min(ny),
        rows => rows.min(ny),
    };
    let strip = Strip { columns, lines, rows };
    let down = ny.div_ceil(rows);
    let range = Range::d2([across * items, down], [items, 1]);
    let (words, mut work) = reach.words(&plan.groups()[group], links, strip);
    if target.shape == Shape::Gpu {
        // Items without a point take as long as the others.
        let over = |points: usize, own: usize| (points.div_ceil(own) * own) as f64 / points as f64;
        work *= over(n[0], own) * if system.grid.dims == 3 { over(n[1], own_lines) } else { 1.0 };
    }
    let part = Part { group, points: Points::Strips(strip), range, sums: Vec::new(), together: None };
    Some((part, across * down, words, work))
}

/// Whether a tile's values fit the registers and the local memory of a GPU, or the arrays of a processor.
fn fits<T: Real>(target: &Target, plan: &Plan, group: &Group, system: &System, tile: &Tile) -> bool {
    let word = size_of::<T>();
    // The tree of the norm stands beside them.
    let tree = if opencl::reduces(plan, group) { tile.items * word } else { 0 };
    let room = target.local_mem.saturating_sub(tree);
    match (target.shape, plan.variant()) {
        (Shape::Cpu, Variant::Grid) => true,
        (Shape::Cpu, _) => {
            let vectors = most_arguments(plan, group) + plan.waiting(group);
            let bytes = vectors * system.fields().len() * tile.points * word;
            tile.points <= MOST_POINTS
                && (bytes <= CACHE_BYTES || tile.points <= LEAST_POINTS.max(8 * distance(system)))
        }
        (Shape::Gpu, Variant::Grid) => {
            let local = stream::local_bytes::<T>(plan, group, system, tile.items);
            let kept = stream::kept_values(plan, group, system) * word;
            local <= room && (kept <= KEPT_BYTES || tile.links == 1)
        }
        (Shape::Gpu, Variant::Cooperative) => cooperating_fits::<T>(target, plan, group, system, tile),
        (Shape::Gpu, _) => {
            let points = tile.points * system.fields().len();
            let local = most_arguments(plan, group).max(1) * points * tile.items * word;
            local <= room && plan.waiting(group) * points * word <= KEPT_BYTES
        }
    }
}

/// What an operation costs on tiles of this size of a GPU, in that of the best: a barrier waits for more items of a larger
/// group, serves more points where items have several, and values kept in registers leave room for fewer groups. Tiles that hand over
/// borders choose between two places for each value. Fitted to all sizes of tiles of RK4, DOPRI5(4), Bogacki-Shampine and Euler on an H200.
fn effort<T: Real>(target: &Target, plan: &Plan, system: &System, tile: &Tile) -> f64 {
    match (target.shape, plan.variant()) {
        (Shape::Cpu, _) | (Shape::Gpu, Variant::Cooperative) => 1.0,
        (Shape::Gpu, Variant::Grid) => 1.0 + tile.items as f64 / 1024.0,
        (Shape::Gpu, variant) => {
            let waiting = plan.groups().iter().map(|group| plan.waiting(group)).max().unwrap_or(0);
            let kept = waiting * tile.points * system.fields().len() * size_of::<T>();
            let borders = if variant == Variant::Overlapped { 1.0 } else { 1.3 };
            borders * (1.0 + 0.2 / tile.points as f64) * (1.0 + kept as f64 / 700.0)
        }
    }
}

/// Whether what work-groups that wait for each other keep from link to link fits a GPU's local memory, beside the tree of the
/// norm, and so many groups' together four times as much, which units have where a group has it.
fn cooperating_fits<T: Real>(target: &Target, plan: &Plan, group: &Group, system: &System, tile: &Tile) -> bool {
    let tree = if opencl::reduces(plan, group) { tile.items } else { 0 };
    let kept = cooperative::places(plan, group).1 * system.fields().len() * tile.items * tile.points;
    let bytes = (tree + kept) * size_of::<T>() + 64;
    bytes <= target.local_mem && bytes * tile.rows.max(1) <= 4 * target.local_mem
}

/// Kernels in the order in which they run.
pub(crate) struct Schedule {
    pub(crate) plan: Plan,
    pub(crate) launches: Vec<Launch>,
    /// Partial sums of the norm of each step's error.
    pub(crate) partials: Vec<usize>,
    /// Words moved per component and step.
    pub(crate) words: f64,
    tile: Option<Tile>,
}

pub(crate) struct Launch {
    pub(crate) kernel: Kernel,
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    pub(crate) buffers: Vec<usize>,
    pub(crate) range: Range,
    group: usize,
    /// First point of a block, the one past its last, and where its partial sums begin.
    pub(crate) block: Option<[usize; 3]>,
    pub(crate) together: Option<Together>,
}

impl Schedule {
    /// Kernels with what they read and write, words and sizes of tiles.
    pub(crate) fn explain(&self) -> String {
        let mut text = self.plan.explain();
        if let Some(Tile { links, items, points, .. }) = self.tile {
            text.push_str(&format!(
                "tiles: at most {links} links, {items} items, {points} points; {:.2} words with their margins, {} launches\n",
                self.words,
                self.launches.len()
            ));
        }
        text
    }
}

/// Local memory of a GPU that nobody asked: every one has it.
const LOCAL_BYTES: usize = 32 * 1024;

/// Bytes of values that an item keeps at most for later links: registers.
const KEPT_BYTES: usize = 640;

/// Most points of an item's arrays on a processor, and points up to which their bytes do not matter.
const MOST_POINTS: usize = 16 * 1024;
const LEAST_POINTS: usize = 1024;

/// Bytes of an item's arrays on a processor: half of a core's second-level cache.
const CACHE_BYTES: usize = 512 * 1024;
