//! The kernels of a plan on a device: their sources, ranges and buffers, and the sizes of tiles.

use clinalg::runtime::Range;
use clinalg::{KernelFamily, Real};

use crate::method::graph::{Graph, Value};
use crate::model::access::{distance, ring};
use crate::model::system::System;
use crate::plan::group::{self, Group, stage_groups_of};
use crate::plan::{Plan, Variant};
use crate::schedule::cost::{PER_KERNEL, Work, effort, fused, through_caches, values_read, work};
use crate::schedule::options::Tile;
use crate::schedule::sizes::{LEAST_POINTS, MOST_ROWS, MULTI_WORKGROUP, fits, multi_workgroup_fits, streaming_sizes};
use crate::schedule::target::Target;
use crate::tiling::multi_workgroup;
use crate::tiling::phases::{Items, Phase, phases};
use crate::tiling::streaming::{Reach, StreamingTile};
use crate::tiling::wavefront::{self, Block};
use crate::{Error, Result};

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
    pub(crate) partials: Vec<usize>,
    /// What the cache and the launches cost at least, in words.
    least: f64,
    pub(crate) parts: Vec<Part>,
}

/// A kernel to be.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) group: usize,
    pub(crate) points: Points,
    pub(crate) range: Range,
    /// Norms that it makes partial sums of, with the first among those of the norm.
    pub(crate) sums: Vec<(Value, usize)>,
    pub(crate) together: Option<Together>,
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
pub(crate) enum Points {
    All,
    Block(Block),
    Tiles(Phase, Items),
    Streaming(StreamingTile),
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
            Variant::Cooperative if target.family == KernelFamily::Cpu => {
                return Err(refuse("work-groups wait for each other in kernels for GPUs only; use wavefront".into()));
            }
            Variant::Cooperative if target.no_waiting.is_some() => {
                return Err(refuse(target.no_waiting.unwrap_or_default().into()));
            }
            Variant::Recomputed => return Ok(Outline::recomputed(target, graph, steps, system)),
            _ => {}
        }
        let found = match tile {
            Some(tile) if variant == Variant::Wavefront => {
                Some(Outline::wavefront::<T>(target, Plan::wavefront(graph, steps), system, tile))
            }
            Some(tile) => {
                Outline::tiled::<T>(target, Plan::tiled(graph, variant, steps, tile.stage_groups), system, tile)
            }
            None => Outline::sizes::<T>(target, graph, system, variant, steps).into_iter().next(),
        };
        found.ok_or_else(|| match variant {
            Variant::Grid => {
                refuse("streaming tiles with the columns that the stage groups reach over do not fit".into())
            }
            Variant::Cooperative => refuse(format!(
                "points {} apart depend on each other; too few work-groups run at the same time",
                distance(system)
            )),
            _ => {
                refuse(format!("points {} apart depend on each other; tiles of that size do not fit", distance(system)))
            }
        })
    }

    /// Two stage groups per kernel over all points.
    fn recomputed(target: &Target, graph: &Graph, steps: usize, system: &System) -> Outline {
        Outline::whole(target, graph, Plan::tiled(graph, Variant::Recomputed, steps, 2), system)
    }

    /// One kernel for each group over all points.
    fn whole(target: &Target, graph: &Graph, plan: Plan, system: &System) -> Outline {
        let points = system.grid().points();
        let (range, partials) = match target.family {
            KernelFamily::Cpu => (Range::d1(target.chunks, 1), target.chunks),
            KernelFamily::Gpu => (Range::d1(points, target.local), points.div_ceil(target.local)),
        };
        let sums = |group: &Group| group::reductions(&plan, group).into_iter().map(|v| (v, 0)).collect();
        let part = |(k, group)| Part { group: k, points: Points::All, range, sums: sums(group), together: None };
        let parts = plan.groups().iter().enumerate().map(part).collect();
        let partials = vec![partials; plan.graph().reductions().len()];
        let (least, redundancy) = match target.family {
            KernelFamily::Gpu => (through_caches(target, system, &plan), 1.0),
            KernelFamily::Cpu => (0.0, values_read(plan.graph(), system) as f64 / values_read(graph, system) as f64),
        };
        // Stage groups that are computed again at each neighbour are every other one.
        let redundancy = match (target.family, plan.variant()) {
            (KernelFamily::Cpu, Variant::Recomputed) => redundancy * (1.0 + system.offsets().len().max(3) as f64 / 2.0),
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
            let (range, entries) = match target.family {
                KernelFamily::Cpu => (Range::d1(target.chunks, 1), target.chunks),
                KernelFamily::Gpu => (Range::d1(count, target.local), count.div_ceil(target.local)),
            };
            let sums = partials.take(group::reductions(&plan, &plan.groups()[block.group]), entries);
            parts.push(Part { group: block.group, points: Points::Block(block), range, sums, together: None });
        }
        let steps = plan.graph().steps();
        let behind = spacing * plan.groups().len();
        let fits = (width + behind) * plan.buffers() * point <= 2 * wavefront::sizes(target.family)[0];
        let words = wavefront::words(&plan, width, spacing, fits) / steps as f64;
        let least = wavefront::least(target.family, plan.words(), parts.len(), points * point) / steps as f64;
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
            let tile =
                |bytes: &usize| Tile { stage_groups: 1, items: target.local, points: (bytes / point).max(1), rows: 0 };
            let all = wavefront::sizes(target.family).iter().map(tile);
            return all.map(|tile| Outline::wavefront::<T>(target, plan.clone(), system, tile)).collect();
        }
        let whole = Plan::tiled(graph, variant, steps, usize::MAX);
        let most = stage_groups_of(&whole, &whole.groups()[0]).len();
        // Kernels of equal numbers of stage groups.
        let mut counts: Vec<usize> = (1..=4).map(|parts| most.div_ceil(parts)).collect();
        counts.dedup();
        let mut all = Vec::new();
        for stage_groups in counts {
            let plan =
                if stage_groups == most { whole.clone() } else { Plan::tiled(graph, variant, steps, stage_groups) };
            let tiles: Vec<Tile> = match (target.family, variant) {
                (KernelFamily::Gpu, Variant::Grid) if system.grid.dims == 3 => {
                    [16, 32].map(|points| Tile { stage_groups, items: 256, points, rows: 0 }).to_vec()
                }
                (KernelFamily::Cpu, Variant::Grid) if system.grid.dims == 3 => {
                    vec![Tile { stage_groups, items: 24 + 2 * stage_groups, points: 64 + 2 * stage_groups, rows: 0 }]
                }
                (KernelFamily::Gpu, Variant::Grid) => {
                    [256, 128, 64].map(|items| Tile { stage_groups, items, points: 1, rows: 0 }).to_vec()
                }
                (KernelFamily::Gpu, Variant::Cooperative) => {
                    MULTI_WORKGROUP.map(|[items, points, rows]| Tile { stage_groups, items, points, rows }).to_vec()
                }
                (KernelFamily::Gpu, _) => {
                    [4, 2, 1].map(|points| Tile { stage_groups, items: target.local, points, rows: 0 }).to_vec()
                }
                (KernelFamily::Cpu, Variant::Grid) => {
                    vec![Tile { stage_groups, items: 1, points: 256 + 2 * stage_groups, rows: 0 }]
                }
                (KernelFamily::Cpu, _) => {
                    let points = LEAST_POINTS.max(8 * distance(system) * stage_groups);
                    [1, 2, 4].map(|times| Tile { stage_groups, items: 1, points: times * points, rows: 0 }).to_vec()
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

    /// What a step costs, in words moved per component; see [`work`].
    pub(crate) fn price(&self, work: Work) -> f64 {
        let cost = |words: f64| {
            let weight = work.words * self.redundancy * self.effort;
            if work.overlaps { words.max(weight) } else { words + weight }
        };
        match self.plan.variant() {
            Variant::Cooperative | Variant::Recomputed => cost(self.words.max(self.least)),
            variant if variant.joins_stage_groups() => cost(self.words) + PER_KERNEL * self.parts.len() as f64,
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
        let link_of = plan.graph().stage_groups();
        for (k, group) in plan.groups().iter().enumerate() {
            let all = stage_groups_of(&plan, group);
            let stage_groups = all.len();
            needed += stage_groups as f64;
            if plan.variant() == Variant::Grid {
                let (mut part, tiles, moved, done) = streaming_part(target, &plan, k, system, tile)?;
                part.sums = partials.take(group::reductions(&plan, group), tiles);
                parts.push(part);
                words += moved;
                work += done;
                continue;
            }
            for phase in phases(plan.variant(), stage_groups, points, d, items.local * items.points)? {
                work += phase.work();
                let (groups, together) = match plan.variant() {
                    Variant::Cooperative => {
                        // What is handed over is overwritten before the next step, but too late to stay in a cache.
                        words += (group.reads.len() + group.writes.len() + group.saved.len()) as f64;
                        let (groups, width) = (target.units * tile.rows.max(1), items.local * items.points);
                        let fewest = multi_workgroup::enough(phase.tiles, stage_groups, d, width);
                        if groups < fewest || !multi_workgroup_fits::<T>(target, &plan, group, system, &tile) {
                            return None;
                        }
                        least += multi_workgroup::least(&plan, group, system, groups * width);
                        let (launched, flags) = (groups * target.spare, phase.tiles * (stage_groups - 1));
                        (launched, Some(Together { groups, fewest, launched, flags }))
                    }
                    _ => {
                        words += phase.words(group, d);
                        (phase.tiles, None)
                    }
                };
                let range = Range::d1(groups * items.local, items.local);
                let made = |v: &Value| all.binary_search(&link_of[v.0]).is_ok_and(|stage_group| phase.has(stage_group));
                let norms = group::reductions(&plan, group).into_iter().filter(made).collect();
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

/// The kernel of a group on streaming tiles, their number, words and work.
fn streaming_part(
    target: &Target,
    plan: &Plan,
    group: usize,
    system: &System,
    tile: Tile,
) -> Option<(Part, usize, f64, f64)> {
    let (columns, lines, items) = streaming_sizes(target, &tile, system.grid.dims);
    let reach = Reach::of(system);
    let stage_groups = stage_groups_of(plan, &plan.groups()[group]).len();
    let (own, own_lines) = reach.own(columns, lines, stage_groups)?;
    let n = system.grid.n;
    // Streaming tiles side by side, and the rows or planes that they go over.
    let (across, ny) = match system.grid.dims {
        3 => (n[0].div_ceil(own) * n[1].div_ceil(own_lines), n[2]),
        _ => (n[0].div_ceil(own), n[1]),
    };
    // Enough streaming tiles for every unit several times over, but many rows for each row that is computed twice.
    let wanted = (8 * target.units).div_ceil(across);
    let rows = match tile.rows {
        0 => ny.div_ceil(wanted).clamp(16 * stage_groups, MOST_ROWS.max(16 * stage_groups)).min(ny),
        rows => rows.min(ny),
    };
    let streaming = StreamingTile { columns, lines, rows };
    let down = ny.div_ceil(rows);
    let range = Range::d2([across * items, down], [items, 1]);
    let (words, mut work) = reach.words(&plan.groups()[group], stage_groups, streaming);
    if target.family == KernelFamily::Gpu {
        // Items without a point take as long as the others.
        let over = |points: usize, own: usize| (points.div_ceil(own) * own) as f64 / points as f64;
        work *= over(n[0], own) * if system.grid.dims == 3 { over(n[1], own_lines) } else { 1.0 };
    }
    let part = Part { group, points: Points::Streaming(streaming), range, sums: Vec::new(), together: None };
    Some((part, across * down, words, work))
}
