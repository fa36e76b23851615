//! Which variant and which sizes of tiles run: the model names the best few, a trial of each decides.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::time::Instant;

use clinalg::ops::{self, Uniform};
use clinalg::tune::{self, Problem, Table};
use clinalg::{Context, KernelFamily, Precision, Real, number};

use crate::method::Method;
use crate::model::system::System;
use crate::plan::Variant;
use crate::run::device::{DeviceStepper, RUNS, WARM, prepare};
use crate::run::stepper::Stepper;
use crate::schedule::candidates::{Candidate, SIZES, available, candidates, describe, too_little};
use crate::schedule::target::Target;
use crate::schedule::{DeviceOptions, Tile};
use crate::{Error, Result};

/// What the tuning table calls these choices.
const OPERATION: &str = "ode";

/// Components from which on a trial pays; below, launches cost more than the traffic that tiles save.
const TRIAL: usize = 1 << 18;

/// What was chosen, and why.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    pub(crate) options: DeviceOptions,
    /// The reason, for messages.
    pub(crate) reason: String,
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
    let mut expected: BTreeMap<usize, Option<u64>> = BTreeMap::new();
    let mut wrong = String::new();
    prepare::<T>(context, method, system, fits.iter().take(TRIED).map(|candidate| candidate.options));
    for candidate in fits.iter().take(TRIED) {
        let fastest = times.iter().map(|(seconds, _)| *seconds).fold(f64::INFINITY, f64::min);
        // What a driver cannot build or run is not a candidate.
        let Ok((seconds, result)) = trial::<T>(context, method, system, &candidate.options, fastest) else { continue };
        let steps = candidate.options.steps;
        let expected = expected.entry(steps).or_insert_with(|| untiled::<T>(context, method, system, steps));
        if *expected == Some(result) {
            times.push((seconds, candidate.options));
        } else {
            write!(wrong, " {} left out, its solution differs;", describe(&candidate.options)).expect("text grows");
        }
    }
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let Some(&(seconds, options)) = times.first() else {
        return Ok(Choice {
            options: DeviceOptions { variant: Variant::Basic, steps: 1, tile: None },
            reason: format!("nothing else runs;{wrong}"),
        });
    };
    tune::keep(context.device(), entry(&class, T::PRECISION, system.components(), &options, seconds));
    let mut reason = format!("{wrong} measured per step:").trim_start().to_owned();
    for (seconds, options) in &times {
        write!(reason, " {} {} ms", describe(options), number(seconds * 1e3, 3)).expect("text grows");
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

/// What needs no trial: small systems, and what the tuning table has among `fits`.
fn settled<T: Real>(context: &Context, class: &str, system: &System, fits: &[Candidate]) -> Option<Choice> {
    if system.components() < TRIAL {
        // A launch for each stage group at most: fused kernels.
        let fused = fits.iter().find(|c| c.options.variant == Variant::Fused).unwrap_or(&fits[0]);
        return Some(Choice { options: fused.options, reason: "a small system, not tried".into() });
    }
    let table = Table::in_force(context.device());
    let (options, seconds) = known(&table, class, T::PRECISION, system.components())?;
    let reason = format!("measured before: {} ms per step", number(seconds * 1e3, 3));
    fits.iter().any(|c| c.options == options).then_some(Choice { options, reason })
}

/// Seconds of a run of some steps that need no run before it, and of runs that are enough together.
const LONG: f64 = 0.02;
const ENOUGH: f64 = 0.1;

/// Median seconds of a step, and the fingerprint of the solution after the first `options.steps` steps. Fewer runs count where they take
/// long, one where a step takes more than twice the seconds `fastest`.
fn trial<T: Real>(
    context: &Context,
    method: &Method,
    system: &System,
    options: &DeviceOptions,
    fastest: f64,
) -> Result<(f64, u64)> {
    let mut stepper = DeviceStepper::<T>::with(context, method, system, options)?;
    let result = solution_fingerprint(&mut stepper, options.steps)?;
    let times = vec![0.0; options.steps];
    let mut seconds: Vec<f64> = Vec::new();
    for run in 0..WARM + RUNS {
        let start = Instant::now();
        stepper.advance(&times, 0.0)?;
        context.finish()?;
        let taken = start.elapsed().as_secs_f64();
        if run >= WARM || taken > LONG {
            seconds.push(taken / options.steps as f64);
        }
        let spent = seconds.iter().sum::<f64>() * options.steps as f64;
        if spent > ENOUGH || seconds.first().is_some_and(|first| *first > 2.0 * fastest) || seconds.len() == RUNS {
            break;
        }
    }
    seconds.sort_by(f64::total_cmp);
    Ok((seconds[seconds.len() / 2], result))
}

/// What every variant has to compute, to the last bit: the fingerprint of the solution after `steps` steps by kernels without tiles;
/// `None` where those do not run.
fn untiled<T: Real>(context: &Context, method: &Method, system: &System, steps: usize) -> Option<u64> {
    [Variant::Fused, Variant::Basic].into_iter().find_map(|variant| {
        let options = DeviceOptions { variant, steps: 1, tile: None };
        let mut stepper = DeviceStepper::<T>::with(context, method, system, &options).ok()?;
        solution_fingerprint(&mut stepper, steps).ok()
    })
}

/// Takes `steps` small steps from a random state and returns the fingerprint of the solution.
fn solution_fingerprint<T: Real>(stepper: &mut DeviceStepper<T>, steps: usize) -> Result<u64> {
    const STEP: f64 = 1.0 / 1048576.0;
    for input in 0..stepper.method().inputs().len() {
        Uniform::new(input as u64, 1.0..1.5)?.fill(stepper.input_mut(input))?;
    }
    let times: Vec<f64> = (0..steps).map(|k| k as f64 * STEP).collect();
    stepper.advance(&times, STEP)?;
    Ok(ops::fingerprint(stepper.solution_on_device()?)?)
}

/// Names the class of problems: the method with its coefficients, the kernels' family, the system with its formulas, boundaries
/// and length of rows, and the options. The table adds the device with its driver, the precision and the size.
fn class(context: &Context, method: &Method, system: &System, wanted: &DeviceOptions) -> String {
    let mut hasher = DefaultHasher::new();
    (method.graph().to_text(), context.family() == KernelFamily::Gpu).hash(&mut hasher);
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
            stage_groups: number("links")?,
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
    if let Some(Tile { stage_groups, items, points, rows }) = options.tile {
        let sizes = [("links", stage_groups), ("items", items), ("points", points), ("rows", rows)];
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

/// The candidates whose vectors fit the device, the best by the model first; at least one.
pub(super) fn fitting<T: Real>(
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

/// Candidates that are tried.
pub(super) const TRIED: usize = 5;

impl<T: Real> DeviceStepper<T> {
    /// Compiles the kernels and takes the memory. Without an error estimate, drop it by [`Method::without_error`]: it costs
    /// work even where steps have a fixed size.
    ///
    /// # Errors
    /// Those of the device: a missing precision, too little memory, a failed build; [`Error::Variant`] where the system
    /// does not allow the variant.
    pub fn new(context: &Context, method: &Method, system: &System, variant: Variant) -> Result<DeviceStepper<T>> {
        DeviceStepper::with(context, method, system, &DeviceOptions { variant, ..DeviceOptions::default() })
    }

    /// The same with sizes of tiles and several steps at once.
    ///
    /// # Errors
    /// Those of [`DeviceStepper::new`].
    pub fn with(
        context: &Context,
        method: &Method,
        system: &System,
        options: &DeviceOptions,
    ) -> Result<DeviceStepper<T>> {
        context.require::<T>()?;
        options.check(context.family())?;
        let chosen = match options.variant {
            Variant::Auto => Some(choose::<T>(context, method, system, options)?),
            _ => None,
        };
        let options = chosen.as_ref().map_or(*options, |c| c.options);
        DeviceStepper::possible(context, method, system, &options, chosen.map(|c| c.reason))
    }

    /// Of these kernels, or where work-groups would have to wait for each other and cannot, of those of a wavefront.
    fn possible(
        context: &Context,
        method: &Method,
        system: &System,
        options: &DeviceOptions,
        reason: Option<String>,
    ) -> Result<DeviceStepper<T>> {
        match DeviceStepper::made(context, method, system, options, reason) {
            Err(Error::Variant { reason, .. }) if options.variant == Variant::Cooperative => {
                let instead = DeviceOptions { variant: Variant::Wavefront, tile: None, ..*options };
                DeviceStepper::made(context, method, system, &instead, Some(format!("not cooperative: {reason}")))
            }
            made => made,
        }
    }

    /// As [`DeviceStepper::new`], but [`Variant::Auto`] takes what the tuning table has for such problems, or the model's
    /// choice, without a trial.
    ///
    /// # Errors
    /// Those of [`DeviceStepper::new`].
    pub fn untried(context: &Context, method: &Method, system: &System, variant: Variant) -> Result<DeviceStepper<T>> {
        if variant != Variant::Auto {
            return DeviceStepper::new(context, method, system, variant);
        }
        context.require::<T>()?;
        let Choice { options, reason } = choose_untried::<T>(context, method, system)?;
        DeviceStepper::possible(context, method, system, &options, Some(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trials take seconds on a CPU; without a folder for tables they were made again by every stepper.
    #[test]
    fn a_trial_is_made_once_in_a_process() {
        let Some(context) = clinalg_testing::found(Context::global()) else { return };
        let system = System::builder(crate::Grid::unit(&[TRIAL])).field("u", "u[-1] - 2*u + u[1]").build().unwrap();
        let method = Method::named("heun2").unwrap().without_error();
        let choose = || choose::<f32>(&context, &method, &system, &DeviceOptions::default()).unwrap();
        let (first, second) = (choose(), choose());
        assert_eq!(second.options, first.options);
        assert!(second.reason.starts_with("measured before"), "{}", second.reason);
    }

    #[test]
    fn choices_come_back_from_the_table_and_what_means_nothing_is_none() {
        let Some(context) = clinalg_testing::found(Context::global()) else { return };
        let mut table = Table::new(context.device());
        let find = |table: &Table, class: &str| known(table, class, Precision::F64, 1 << 20);
        assert_eq!(find(&table, "a"), None);
        let fused = DeviceOptions { variant: Variant::Fused, steps: 1, tile: None };
        let tile = Some(Tile { stage_groups: 4, items: 256, points: 2, rows: 0 });
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
}
