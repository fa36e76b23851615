//! Every variant and size of tiles beside each other, by the model and by the clock.

use std::time::Instant;

use clinalg::{Context, Real, Vector, ops};

use crate::method::Method;
use crate::model::system::System;
use crate::plan::Variant;
use crate::run::choice::{TRIED, fitting};
use crate::run::device::DeviceStepper;
use crate::run::stepper::Stepper;
use crate::schedule::DeviceOptions;
use crate::schedule::candidates::{Candidate, candidates};
use crate::schedule::target::Target;
use crate::{Error, Result};

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
        // What does not fit or cannot be built is not a candidate.
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
