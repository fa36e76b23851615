//! The kernels of a schedule: sources, ranges and buffers.

use clinalg::runtime::{GeneratedKernel, Range};
use clinalg::{KernelFamily, Real};

use crate::codegen::tiles::Launched;
use crate::codegen::{pointwise, streaming, tiles};
use crate::method::Method;
use crate::method::graph::Value;
use crate::model::system::System;
use crate::plan::group::buffers;
use crate::plan::{Plan, Variant};
use crate::schedule::options::{DeviceOptions, Tile};
use crate::schedule::outline::{Outline, Part, Points, Together};
use crate::schedule::target::Target;
use crate::tiling::wavefront::Block;
use crate::{Error, Result};

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
    pub(crate) kernel: GeneratedKernel,
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
        if let Some(Tile { stage_groups, items, points, .. }) = self.tile {
            text.push_str(&format!(
                "tiles: at most {stage_groups} stage groups, {items} items, {points} points; {:.2} words with their margins, {} launches\n",
                self.words,
                self.launches.len()
            ));
        }
        text
    }
}

/// The OpenCL C of the kernels of one step, and of `options.steps` steps where they are more, with and without the errors of
/// each, for the generic device model of `family`, each with its name; `kernels/common.clh` precedes it. No device is needed.
///
/// # Errors
/// [`Error::Variant`] where the system does not allow the variant; [`Error::Value`] for [`Variant::Auto`], which a device
/// decides.
pub fn sources<T: Real>(
    method: &Method,
    system: &System,
    options: &DeviceOptions,
    family: KernelFamily,
) -> Result<Vec<(String, String)>> {
    if options.variant == Variant::Auto {
        return Err(Error::value("variant", "one that can be chosen without a device", options.variant.name()));
    }
    options.check(family)?;
    let (graph, target) = (method.graph(), Target::any(family));
    let mut counts = vec![(1, true)];
    if options.steps > 1 && options.variant.tiled() {
        counts.push((options.steps, false));
        counts.extend(graph.has_error().then_some((options.steps, true)));
    }
    let mut all = Vec::new();
    for (steps, errors) in counts {
        let make = if errors { Outline::with_errors::<T> } else { Outline::new::<T> };
        let schedule = make(&target, graph, system, options.variant, steps, options.tile)?.build::<T>(system, family);
        for launch in &schedule.launches {
            // The blocks of a wavefront have the same kernels.
            let kernel = (launch.kernel.name().to_owned(), launch.kernel.source().to_owned());
            if !all.contains(&kernel) {
                all.push(kernel);
            }
        }
    }
    Ok(all)
}

impl Outline {
    /// Writes the kernels.
    pub(crate) fn build<T: Real>(self, system: &System, family: KernelFamily) -> Schedule {
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
                    assert!(sums.len() <= 1, "a stage group has one norm at most");
                    Some([begin, end, sums.first().map_or(0, |s| s.1)])
                }
                _ => None,
            };
            // The blocks of a group have one kernel.
            if let Some(same) = launches.iter().find(|l| block.is_some() && l.group == part.group) {
                let (kernel, buffers) = (same.kernel.clone(), same.buffers.clone());
                launches.push(Launch { kernel, buffers, block, range: part.range, ..*same });
                continue;
            }
            let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
            let method: String = plan.graph().name().chars().map(letter).collect();
            let name = format!("ode_{method}_{}_{number}", plan.variant().name());
            let source = match &part.points {
                Points::All | Points::Block(_) => pointwise::source::<T>(&plan, group, system, family, &name),
                Points::Tiles(phase, items) => tiles::source::<T>(
                    &plan,
                    group,
                    system,
                    Launched { phase, items: *items, sums: &sums },
                    family,
                    &name,
                ),
                Points::Streaming(streaming) => {
                    streaming::source::<T>(&plan, group, system, *streaming, family, &sums, &name)
                }
            };
            let kernel = GeneratedKernel::new(&name, source, T::PRECISION);
            let kernel = if system.is_dense() { kernel.flushing() } else { kernel };
            let buffers = buffers(&plan, group);
            let Part { range, group, together, .. } = *part;
            launches.push(Launch { kernel, buffers, range, group, block, together });
        }
        Schedule { launches, plan, partials, words, tile }
    }
}
