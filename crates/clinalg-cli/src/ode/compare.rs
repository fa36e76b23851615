//! `clinalg ode --compare`.

use clinalg::Real;
use clinalg_ode::problems::Problem;
use clinalg_ode::survey::{Measured, survey};
use clinalg_ode::{DeviceOptions, Method};
use schemars::JsonSchema;
use serde::Serialize;

use super::Args;
use crate::args::DeviceName;
use crate::exit::{Exit, Failure};
use crate::global::Global;
use crate::output::Output;
use crate::text::{precision, seconds};

/// A variant with sizes of its tiles and the time of a step.
#[derive(Serialize, JsonSchema)]
struct Compared {
    variant: &'static str,
    steps: usize,
    links: Option<usize>,
    items: Option<usize>,
    points: Option<usize>,
    words: f64,
    seconds_expected: f64,
    seconds: f64,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Document {
    problem: String,
    components: usize,
    method: String,
    precision: &'static str,
    device: DeviceName,
    #[schemars(with = "String")]
    kernel_family: clinalg::KernelFamily,
    /// In GB/s
    copy_bandwidth: f64,
    candidates: Vec<Compared>,
    /// The candidate that the model takes
    by_model: usize,
    /// The candidate that a trial takes
    by_trial: usize,
    /// The fastest candidate
    fastest: usize,
    /// Time of the model's choice divided by that of the fastest
    model_over_fastest: f64,
    /// Time of the trial's choice divided by that of the fastest
    trial_over_fastest: f64,
}

/// Groups of rounds of a comparison, and rounds in a group.
const ROUNDS: [usize; 2] = [5, 4];

/// Every variant beside each other, and how far from the fastest the choices are.
pub(super) fn compare<T: Real>(
    problem: &Problem,
    method: &Method,
    args: &Args,
    global: &Global,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let context = global.context(false)?;
    let method = if args.h.is_some() { method.without_error() } else { method.clone() };
    let wanted = DeviceOptions { steps: args.steps_at_once.unwrap_or(1), ..DeviceOptions::default() };
    let found = survey::<T>(&context, &method, &problem.system, &wanted, ROUNDS)?;
    let one = |m: &Measured| Compared {
        variant: m.options.variant.name(),
        steps: m.options.steps,
        links: m.options.tile.map(|t| t.stage_groups),
        items: m.options.tile.map(|t| t.items),
        points: m.options.tile.map(|t| t.points),
        words: m.words,
        seconds_expected: m.expected,
        seconds: m.seconds,
    };
    let all: Vec<Compared> = found.measured.iter().map(one).collect();
    let columns = ["variant", ">steps", ">links", ">items", ">points", ">words", ">expected", ">measured", ""];
    let row = |(k, c): (usize, &Compared)| {
        let size = |n: Option<usize>| n.map_or("-".into(), |n| n.to_string());
        let marks = [(0, "model"), (found.tried, "trial"), (found.best, "fastest")];
        let marks: Vec<&str> = marks.iter().filter(|(place, _)| *place == k).map(|(_, name)| *name).collect();
        vec![
            c.variant.to_owned(),
            c.steps.to_string(),
            size(c.links),
            size(c.items),
            size(c.points),
            format!("{:.2}", c.words),
            seconds(c.seconds_expected),
            seconds(c.seconds),
            marks.join(", "),
        ]
    };
    out.table(&columns, all.iter().enumerate().map(row))?;
    out.line("")?;
    let copy = found.copy * 1e-9;
    out.line(format!(
        "The model's choice takes {:.3} times as long as the fastest, that of a trial {:.3} times; a copy moves {copy:.1} GB/s.",
        found.model_over_best(),
        found.trial_over_best()
    ))?;
    out.json(&Document {
        problem: problem.name.clone(),
        components: problem.system.components(),
        method: args.method.clone(),
        precision: precision(T::PRECISION),
        device: DeviceName::from(context.device()),
        kernel_family: context.family(),
        copy_bandwidth: copy,
        by_model: 0,
        by_trial: found.tried,
        fastest: found.best,
        model_over_fastest: found.model_over_best(),
        trial_over_fastest: found.trial_over_best(),
        candidates: all,
    })?;
    Ok(Exit::Done)
}
