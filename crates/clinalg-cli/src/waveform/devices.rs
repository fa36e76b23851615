//! One device compared with several.

use clinalg::team::Team;
use clinalg::{Precision, Real};
use clinalg_ode::problems::Problem;
use clinalg_ode::waveform::{Sharing, WaveformOptions, relax_on_team};
use schemars::JsonSchema;
use serde::Serialize;

use super::Args;
use super::measured::Devices;
use crate::args::DeviceName;
use crate::exit::{Exit, Failure, usage};
use crate::global::Global;
use crate::output::Output;
use crate::text::seconds;

#[derive(Serialize, JsonSchema)]
pub(crate) struct Document {
    problem: String,
    study: &'static str,
    n: usize,
    variant: &'static str,
    method: String,
    #[schemars(with = "String")]
    precision: Precision,
    h: f64,
    steps: usize,
    windows: usize,
    device: DeviceName,
    devices: Vec<DeviceName>,
    runs: Vec<Run>,
}

#[derive(Serialize, JsonSchema)]
struct Run {
    devices: usize,
    sharing: &'static str,
    iterations: usize,
    seconds: f64,
    seconds_per_iteration: f64,
    /// Time per iteration on one device divided by the time per iteration on this many devices.
    speedup: f64,
}

pub(super) fn run<T: Real>(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    let devices = Devices::new(args, global)?;
    let Some(team) = devices.team() else {
        return usage!("--study devices: give several devices with --devices");
    };
    if team.local().len() < team.ranks() {
        return usage!("--study devices runs in one process: start `clinalg` without mpirun");
    }
    if args.plot.is_some() {
        return usage!("--study devices draws no picture: leave out --plot");
    }
    let problem = args.system.problem("bruss2d-mix", |_| 100)?;
    let options = args.options(problem.system.grid().shape())?;
    let y0: Vec<T> = problem.y0_as()?;
    let alone = Team::of_contexts(vec![team.contexts()[0].clone()])?;
    let mut sharings = vec![("limited", Sharing::Limited)];
    if options.variant() != "device" {
        sharings.push(("edges-first", Sharing::EdgesFirst));
        sharings.extend((devices.sharing == Sharing::General).then_some(("general", Sharing::General)));
    }
    let mut runs = vec![one(&alone, &problem, &y0, &options, sharings[0])?];
    for sharing in sharings {
        runs.push(one(team, &problem, &y0, &options, sharing)?);
    }
    let first = runs[0].seconds_per_iteration;
    for run in &mut runs {
        run.speedup = first / run.seconds_per_iteration;
    }
    let row = |run: &Run| {
        let share = 100.0 * run.speedup / run.devices as f64;
        let (whole, each) = (seconds(run.seconds), seconds(run.seconds_per_iteration));
        let (devices, iterations) = (run.devices.to_string(), run.iterations.to_string());
        vec![devices, run.sharing.to_owned(), iterations, whole, each, format!("{share:.1} %")]
    };
    let columns = [">devices", "sharing", ">iterations", ">time", ">per iteration", ">efficiency"];
    out.table(&columns, runs.iter().map(row))?;
    let document = Document {
        problem: problem.name.clone(),
        study: "devices",
        n: problem.system.grid().shape()[0],
        variant: options.variant(),
        method: args.method.clone(),
        precision: T::PRECISION,
        h: args.h,
        steps: args.steps,
        windows: args.windows,
        device: devices.context().device().into(),
        devices: devices.names(global)?,
        runs,
    };
    out.json(&document)?;
    Ok(Exit::Done)
}

/// Runs one window to build the kernels, then times all windows.
fn one<T: Real>(
    team: &Team,
    problem: &Problem,
    y0: &[T],
    options: &WaveformOptions,
    (name, sharing): (&'static str, Sharing),
) -> Result<Run, Failure> {
    let relax =
        |options: &WaveformOptions| relax_on_team(team, &problem.system, problem.t0, y0, options, sharing, None);
    let mut first = options.clone();
    (first.steps, first.windows) = (options.steps / options.windows, 1);
    relax(&first)?;
    first = options.clone();
    first.watch_stability = false;
    let report = relax(&first)?.report;
    let iterations = report.iterations.iter().sum::<usize>();
    let seconds_per_iteration = report.seconds / iterations as f64;
    let (devices, seconds) = (team.ranks(), report.seconds);
    Ok(Run { devices, sharing: name, iterations, seconds, seconds_per_iteration, speedup: 1.0 })
}
