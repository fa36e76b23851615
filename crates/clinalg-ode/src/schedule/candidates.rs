//! Candidates: variants with sizes of tiles, ordered by the cost model.

use clinalg::{Context, Real};

use crate::method::Method;
use crate::model::system::System;
use crate::plan::Variant;
use crate::schedule::cost::work;
use crate::schedule::options::{DeviceOptions, Tile};
use crate::schedule::outline::Outline;
use crate::schedule::target::Target;
use crate::{Error, Result};

/// A candidate with its cost by the model.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) options: DeviceOptions,
    /// Words moved per component and step, or what the work weighs where that is more.
    pub(crate) price: f64,
    /// Bytes of vectors.
    pub(crate) memory: u64,
}

/// Bytes free on the device, by the account of this process.
pub(crate) fn available(context: &Context) -> u64 {
    context.device().global_mem.saturating_sub(context.memory().live_bytes)
}

/// Says what each variant needs.
pub(crate) fn too_little(all: &[Candidate], available: u64) -> Error {
    let mut needs: Vec<String> = all.iter().map(|c| format!("{} {}", c.options.variant.name(), c.memory)).collect();
    needs.sort();
    needs.dedup();
    Error::Memory { place: "on the device", needs: needs.join(", "), available }
}

/// # Errors
/// [`Error::Memory`] with what each variant needs, unless `vectors` vectors of the system fit the device.
pub(crate) fn check_memory<T: Real>(
    context: &Context,
    method: &Method,
    system: &System,
    wanted: &DeviceOptions,
    vectors: usize,
) -> Result<()> {
    let available = available(context);
    if (vectors * system.components() * size_of::<T>()) as u64 <= available {
        return Ok(());
    }
    Err(too_little(&candidates::<T>(&Target::of(context), method, system, wanted, SIZES), available))
}

pub(crate) fn describe(options: &DeviceOptions) -> String {
    match options.tile {
        Some(Tile { stage_groups, items, points, .. }) => {
            format!(
                "{} (stage groups {stage_groups}, items {items}, points {points}, steps {})",
                options.variant.name(),
                options.steps
            )
        }
        None => options.variant.name().to_owned(),
    }
}

/// Candidates, the best by the model first; at most so many sizes of a variant.
pub(crate) fn candidates<T: Real>(
    target: &Target,
    method: &Method,
    system: &System,
    wanted: &DeviceOptions,
    sizes: usize,
) -> Vec<Candidate> {
    let graph = method.graph();
    let work = work(target, graph, system);
    let bytes = |vectors: usize| (vectors * system.components() * size_of::<T>()) as u64;
    let mut all = Vec::new();
    for variant in [Variant::Basic, Variant::Fused] {
        if let Ok(one) = Outline::new::<T>(target, graph, system, variant, 1, None) {
            let options = DeviceOptions { variant, steps: 1, tile: None };
            all.push(Candidate { options, price: one.price(work), memory: bytes(one.plan.buffers()) });
        }
    }
    let mut counts = vec![1, wanted.steps.max(1)];
    counts.dedup();
    for variant in Variant::ALL.into_iter().filter(|v| v.tiled()) {
        let mut own = Vec::new();
        for steps in &counts {
            let make = |steps, tile| Outline::new::<T>(target, graph, system, variant, steps, tile);
            let outlines = match (wanted.tile, make(*steps, wanted.tile)) {
                (_, Err(_)) => continue,
                (Some(_), Ok(one)) => vec![one],
                (None, Ok(_)) => Outline::sizes::<T>(target, graph, system, variant, *steps),
            };
            for many in outlines {
                let Ok(one) = make(1, many.tile) else { continue };
                let options = DeviceOptions { variant, steps: *steps, tile: many.tile };
                let memory = bytes(one.plan.buffers().max(many.plan.buffers()));
                own.push(Candidate { options, price: many.price(work), memory });
            }
        }
        own.sort_by(|a, b| a.price.total_cmp(&b.price));
        all.extend(own.into_iter().take(sizes));
    }
    all.sort_by(|a, b| a.price.total_cmp(&b.price));
    all
}

/// Sizes of tiles of a variant among the candidates.
pub(crate) const SIZES: usize = 2;

#[cfg(test)]
mod tests {
    use clinalg::KernelFamily;

    use super::*;

    #[test]
    fn an_error_of_memory_has_what_each_variant_needs() {
        let Some(context) = clinalg_testing::found(Context::global()) else { return };
        let lap = "u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u";
        let system = System::builder(crate::Grid::unit(&[64, 64])).field("u", lap).build().unwrap();
        let method = Method::named("rk4").unwrap();
        let check = |vectors| check_memory::<f32>(&context, &method, &system, &DeviceOptions::default(), vectors);
        check(10).unwrap();
        let error = check(1 << 40).unwrap_err();
        assert_eq!(error.id(), "clinalg:ode:memory");
        // Four vectors of 4096 values of 4 bytes: two ends of the step, a stage, the sum.
        let text = error.to_string();
        assert!(text.contains("fused 65536") && text.contains("basic ") && text.contains("available: "), "{text}");
    }

    #[test]
    fn the_model_prefers_tiles_where_neighbours_are_near() {
        let system = |n: &[usize]| {
            let lap = "u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u";
            System::builder(crate::Grid::unit(n)).field("u", lap).build().unwrap()
        };
        let method = Method::named("rk4").unwrap();
        let best = |n: &[usize]| {
            let all = candidates::<f64>(
                &Target::any(KernelFamily::Gpu),
                &method,
                &system(n),
                &DeviceOptions::default(),
                SIZES,
            );
            assert!(all.windows(2).all(|w| w[0].price <= w[1].price));
            all[0].options.variant
        };
        assert!(best(&[4096, 4096]) == Variant::Grid);
        // Streaming tiles wider than the grid would have more items without a point than with one.
        assert!(best(&[16, 100_000]) == Variant::Overlapped);
    }
}
