//! Which variant and which sizes of tiles run: the model names the best few, a trial of each decides.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::time::Instant;

use clinalg::tune::{self, Problem, Table};
use clinalg::{Context, Precision, Real, Shape, Vector, ops};

use crate::device::{DeviceOptions, DeviceStepper};
use crate::integrate::Stepper;
use crate::method::Method;
use crate::plan::Variant;
use crate::rhs::System;
use crate::schedule::{Outline, Target, Tile, work};
use crate::{Error, Result};

/// What the tuning table calls these choices.
const OPERATION: &str = "ode";

/// Components from which on a trial pays; below, launches cost more than the traffic that tiles save.
const TRIAL: usize = 1 << 18;

/// Sizes of tiles of a variant among the candidates.
const SIZES: usize = 2;

/// Candidates that are tried.
const TRIED: usize = 5;

/// Runs of a candidate whose median counts, and runs before that.
pub(crate) const RUNS: usize = 5;
pub(crate) const WARM: usize = 2;

/// What was chosen, and why.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    pub(crate) options: DeviceOptions,
    /// A line for people.
    pub(crate) reason: String,
}

/// A candidate with what the model says of it.
#[derive(Debug, Clone)]
struct Candidate {
    options: DeviceOptions,
    /// Words moved per component and step, or what the work weighs where that is more.
    price: f64,
    /// Bytes of vectors.
    memory: u64,
}

/// The best variant for a method, a system and a device. Steps are at most `steps` at once, tiles those of `tile` where they
/// are given.
///
/// # Errors
/// [`Error::Memory`] when no variant fits the device; those of the device.
pub(crate) fn choose<T: Real>(
    context: &Context,
    method: &Method,
    system: &System,
    wanted: &DeviceOptions,
) -> Result<Choice> {
    let fits = fitting::<T>(context, method, system, wanted)?;
    let class = class(context, method, system, wanted);
    if let Some(choice) = settled::<T>(context, &class, system, &fits) {
        return Ok(choice);
    }
    let mut times: Vec<(f64, DeviceOptions)> = Vec::new();
    for candidate in fits.iter().take(TRIED) {
        // What a driver cannot build or run is no candidate.
        if let Ok(seconds) = measure::<T>(context, method, system, &candidate.options) {
            times.push((seconds, candidate.options));
        }
    }
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let Some(&(seconds, options)) = times.first() else {
        return Ok(Choice {
            options: DeviceOptions { variant: Variant::Basic, steps: 1, tile: None },
            reason: "nothing else runs".into(),
        });
    };
    if tune::folder().is_some() {
        // Read again: others may have written since.
        let mut table = Table::of_user(context.device());
        table.keep(entry(&class, T::PRECISION, system.components(), &options, seconds));
        // A choice that cannot be kept is made again.
        let _ = table.save(context.device());
    }
    let mut reason = String::from("measured a step:");
    for (seconds, options) in &times {
        write!(reason, " {} {:.3} ms", describe(options), seconds * 1e3).expect("text grows");
    }
    Ok(Choice { options, reason })
}

/// As [`choose`], by the model alone where the table has nothing: no kernel is built or run for it.
///
/// # Errors
/// Those of [`choose`].
pub(crate) fn choose_untried<T: Real>(context: &Context, method: &Method, system: &System) -> Result<Choice> {
    let wanted = DeviceOptions::default();
    let fits = fitting::<T>(context, method, system, &wanted)?;
    let known = settled::<T>(context, &class(context, method, system, &wanted), system, &fits);
    Ok(known.unwrap_or_else(|| Choice { options: fits[0].options, reason: "the model's, not tried".into() }))
}

/// The candidates whose vectors fit the device, the best by the model first; at least one.
fn fitting<T: Real>(
    context: &Context,
    method: &Method,
    system: &System,
    wanted: &DeviceOptions,
) -> Result<Vec<Candidate>> {
    let available = available(context);
    let all = candidates::<T>(&Target::of(context), method, system, wanted, SIZES);
    let fits: Vec<Candidate> = all.iter().filter(|c| c.memory <= available).cloned().collect();
    if fits.is_empty() { Err(too_little(&all, available)) } else { Ok(fits) }
}

/// What needs no trial: small systems, and what the tuning table has among `fits`.
fn settled<T: Real>(context: &Context, class: &str, system: &System, fits: &[Candidate]) -> Option<Choice> {
    if system.components() < TRIAL {
        // A launch for each link at most: fused kernels.
        let fused = fits.iter().find(|c| c.options.variant == Variant::Fused).unwrap_or(&fits[0]);
        return Some(Choice { options: fused.options, reason: "a small system, not tried".into() });
    }
    let table = Table::of_user(context.device());
    let (options, seconds) = known(&table, class, T::PRECISION, system.components())?;
    let reason = format!("measured before: {:.3} ms a step", seconds * 1e3);
    fits.iter().any(|c| c.options == options).then_some(Choice { options, reason })
}

/// A variant with sizes of its tiles, by the model and by the clock.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// What ran.
    pub options: DeviceOptions,
    /// Words moved per component and step.
    pub words: f64,
    /// Seconds of a step by the model, at the rate of a copy.
    pub expected: f64,
    /// Seconds of a step: the median over groups of rounds of the least in a group.
    pub seconds: f64,
}

/// Every variant and size of tiles beside each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// Bytes read and written in a second by a copy of a vector, in the same rounds.
    pub copy: f64,
    /// All candidates that ran, the best by the model first.
    pub measured: Vec<Measured>,
    /// The fastest of those that [`Variant::Auto`] tries, by its place in `measured`.
    pub tried: usize,
    /// The fastest of all.
    pub best: usize,
}

impl Survey {
    /// Time of the model's pick over that of the fastest.
    pub fn model_over_best(&self) -> f64 {
        self.measured[0].seconds / self.measured[self.best].seconds
    }

    /// Time of what a trial picks over that of the fastest.
    pub fn trial_over_best(&self) -> f64 {
        self.measured[self.tried].seconds / self.measured[self.best].seconds
    }
}

/// Times all variants and sizes of tiles, one step of each in turn, in `groups` groups of `rounds` rounds. All have their
/// vectors at the same time.
///
/// # Errors
/// [`Error::Memory`] when no variant fits the device; [`Error::Variant`] when none runs; those of the device.
pub fn survey<T: Real>(
    context: &Context,
    method: &Method,
    system: &System,
    wanted: &DeviceOptions,
    [groups, rounds]: [usize; 2],
) -> Result<Survey> {
    let target = Target::of(context);
    let tried: Vec<DeviceOptions> =
        fitting::<T>(context, method, system, wanted)?.iter().take(TRIED).map(|c| c.options).collect();
    let mut runs: Vec<(Candidate, DeviceStepper<T>)> = Vec::new();
    for candidate in candidates::<T>(&target, method, system, wanted, usize::MAX) {
        // What does not fit or cannot be built is no candidate.
        let Ok(mut stepper) = DeviceStepper::<T>::with(context, method, system, &candidate.options) else { continue };
        if stepper.advance(&vec![0.0; candidate.options.steps], 0.0).and_then(|()| Ok(context.finish()?)).is_ok() {
            runs.push((candidate, stepper));
        }
    }
    let n = system.components();
    let from = Vector::<T>::zeros(context, n)?;
    let mut to = Vector::<T>::zeros(context, n)?;
    // The last entry is the copy's.
    let mut least = vec![Vec::new(); runs.len() + 1];
    for _ in 0..groups.max(1) {
        let mut group = vec![f64::INFINITY; runs.len() + 1];
        for _ in 0..rounds.max(1) {
            for (k, (candidate, stepper)) in runs.iter_mut().enumerate() {
                let steps = candidate.options.steps;
                let start = Instant::now();
                stepper.advance(&vec![0.0; steps], 0.0)?;
                context.finish()?;
                group[k] = group[k].min(start.elapsed().as_secs_f64() / steps as f64);
            }
            let start = Instant::now();
            ops::copy(&from, &mut to)?;
            context.finish()?;
            group[runs.len()] = group[runs.len()].min(start.elapsed().as_secs_f64());
        }
        least.iter_mut().zip(group).for_each(|(all, one)| all.push(one));
    }
    let mut medians = least.iter_mut().map(|all| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2].max(f64::MIN_POSITIVE)
    });
    let bytes = (n * size_of::<T>()) as f64;
    let seconds: Vec<f64> = medians.by_ref().take(runs.len()).collect();
    let copy = 2.0 * bytes / medians.next().expect("the copy's entry is the last");
    let measured = runs.iter().zip(&seconds).map(|((candidate, stepper), seconds)| Measured {
        options: candidate.options,
        words: stepper.words(),
        expected: candidate.price * bytes / copy,
        seconds: *seconds,
    });
    let measured: Vec<Measured> = measured.collect();
    let fastest = |among: &dyn Fn(&Measured) -> bool| {
        let all = measured.iter().enumerate().filter(|(_, m)| among(m));
        all.min_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds)).map(|(k, _)| k)
    };
    let none = || Error::Variant { variant: Variant::Auto.name(), reason: "no variant runs on this device".into() };
    let best = fastest(&|_| true).ok_or_else(none)?;
    let tried = fastest(&|m| tried.contains(&m.options)).ok_or_else(none)?;
    Ok(Survey { copy, tried, best, measured })
}

/// Bytes free on the device, as far as this process knows.
fn available(context: &Context) -> u64 {
    context.device().global_mem.saturating_sub(context.memory().live_bytes)
}

/// Says what each variant needs.
fn too_little(all: &[Candidate], available: u64) -> Error {
    let mut needs: Vec<String> = all.iter().map(|c| format!("{} {}", c.options.variant.name(), c.memory)).collect();
    needs.sort();
    needs.dedup();
    Error::Memory { needs: needs.join(", "), available }
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

fn describe(options: &DeviceOptions) -> String {
    match options.tile {
        Some(Tile { links, items, points, .. }) => {
            format!(
                "{} (links {links}, items {items}, points {points}, steps {})",
                options.variant.name(),
                options.steps
            )
        }
        None => options.variant.name().to_owned(),
    }
}

/// Candidates, the best by the model first; at most so many sizes of a variant.
fn candidates<T: Real>(
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

/// Median seconds of a step.
fn measure<T: Real>(context: &Context, method: &Method, system: &System, options: &DeviceOptions) -> Result<f64> {
    let mut stepper = DeviceStepper::<T>::with(context, method, system, options)?;
    let times = vec![0.0; options.steps];
    let mut seconds = Vec::new();
    for run in 0..WARM + RUNS {
        let start = Instant::now();
        stepper.advance(&times, 0.0)?;
        context.finish()?;
        if run >= WARM {
            seconds.push(start.elapsed().as_secs_f64() / options.steps as f64);
        }
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds[RUNS / 2])
}

/// Names the class of problems: the method with its coefficients, the kernels' shape, the system with its formulas, boundaries
/// and length of rows, and what is wanted. The table adds the device with its driver, the precision and the size.
fn class(context: &Context, method: &Method, system: &System, wanted: &DeviceOptions) -> String {
    let mut hasher = DefaultHasher::new();
    (method.graph().to_text(), context.shape() == Shape::Gpu).hash(&mut hasher);
    format!("{:?} {:?} {wanted:?}", system.formulas, system.bounds).hash(&mut hasher);
    (system.layout() as u8, system.grid.n[0], system.grid.dims).hash(&mut hasher);
    format!("{}-{:016x}", method.name(), hasher.finish())
}

/// The choice that a table has for a class of problems, and its seconds for a step; `None` for an entry that means nothing.
fn known(table: &Table, class: &str, precision: Precision, components: usize) -> Option<(DeviceOptions, f64)> {
    let entry = table.problem(OPERATION, class, precision, components)?;
    let variant = Variant::named(&entry.variant).ok().filter(|v| *v != Variant::Auto)?;
    let number = |name: &str| entry.parameters.get(name).map(|n| *n as usize);
    let steps = number("steps").filter(|s| *s > 0)?;
    let tile = match variant.tiled() {
        true => Some(Tile {
            links: number("links")?,
            items: number("items")?,
            points: number("points")?,
            rows: number("rows")?,
        }),
        false => None,
    };
    Some((DeviceOptions { variant, steps, tile }, entry.nanoseconds as f64 * 1e-9))
}

/// A choice as an entry of a table.
fn entry(class: &str, precision: Precision, components: usize, options: &DeviceOptions, seconds: f64) -> Problem {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let mut parameters = BTreeMap::from([("steps".to_owned(), number(options.steps))]);
    if let Some(Tile { links, items, points, rows }) = options.tile {
        let sizes = [("links", links), ("items", items), ("points", points), ("rows", rows)];
        parameters.extend(sizes.map(|(name, n)| (name.to_owned(), number(n))));
    }
    Problem {
        operation: OPERATION.into(),
        problem: class.into(),
        precision,
        sizes: [tune::class(components); 2],
        variant: options.variant.name().into(),
        nanoseconds: (seconds * 1e9).round() as u64,
        parameters,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_come_back_from_the_table_and_what_means_nothing_is_none() {
        let Ok(context) = Context::global() else {
            eprintln!("skipped: no device");
            return;
        };
        let mut table = Table::new(context.device());
        let find = |table: &Table, class: &str| known(table, class, Precision::F64, 1 << 20);
        assert_eq!(find(&table, "a"), None);
        let fused = DeviceOptions { variant: Variant::Fused, steps: 1, tile: None };
        let tile = Some(Tile { links: 4, items: 256, points: 2, rows: 0 });
        let grid = DeviceOptions { variant: Variant::Grid, steps: 3, tile };
        table.keep(entry("a", Precision::F64, 1 << 20, &fused, 1e-3));
        table.keep(entry("b", Precision::F64, 1 << 20, &fused, 2e-3));
        table.keep(entry("b", Precision::F64, 1 << 20, &grid, 5e-4));
        assert_eq!(find(&table, "a"), Some((fused, 1e-3)));
        assert_eq!(find(&table, "b"), Some((grid, 5e-4)));
        assert_eq!(known(&table, "b", Precision::F32, 1 << 20), None);
        let sound = entry("b", Precision::F64, 1 << 20, &grid, 5e-4);
        let without = |name: &str| {
            let mut parameters = sound.parameters.clone();
            parameters.remove(name);
            Problem { parameters, ..sound.clone() }
        };
        let none = Problem { parameters: [("steps".to_owned(), 0)].into(), ..sound.clone() };
        let named = |variant: &str| Problem { variant: variant.into(), ..sound.clone() };
        for damaged in [without("links"), without("rows"), without("steps"), none, named("auto"), named("fast")] {
            table.keep(damaged);
            assert_eq!(find(&table, "b"), None);
        }
    }

    #[test]
    fn what_does_not_fit_is_told_with_what_each_variant_needs() {
        let Ok(context) = Context::global() else {
            eprintln!("skipped: no device");
            return;
        };
        let lap = "u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u";
        let system = System::builder(crate::Grid::unit(&[64, 64])).field("u", lap).build().unwrap();
        let method = Method::named("rk4").unwrap();
        let check = |vectors| check_memory::<f32>(&context, &method, &system, &DeviceOptions::default(), vectors);
        check(10).unwrap();
        let error = check(1 << 40).unwrap_err();
        assert_eq!(error.id(), "clinalg:ode:memory");
        // Four vectors of 4096 values of 4 bytes: two ends of the step, a stage, the sum.
        let text = error.to_string();
        assert!(text.contains("fused 65536") && text.contains("basic ") && text.contains("device has"), "{text}");
    }

    #[test]
    fn the_model_prefers_tiles_where_neighbours_are_near() {
        let system = |n: &[usize]| {
            let lap = "u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u";
            System::builder(crate::Grid::unit(n)).field("u", lap).build().unwrap()
        };
        let method = Method::named("rk4").unwrap();
        let best = |n: &[usize]| {
            let all =
                candidates::<f64>(&Target::any(Shape::Gpu), &method, &system(n), &DeviceOptions::default(), SIZES);
            assert!(all.windows(2).all(|w| w[0].price <= w[1].price));
            all[0].options.variant
        };
        assert!(best(&[4096, 4096]) == Variant::Grid);
        // Strips wider than the grid would have more items without a point than with one.
        assert!(best(&[16, 100_000]) == Variant::Overlapped);
    }
}
