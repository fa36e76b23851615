//! Compares waveform relaxation, with one exchange per iteration, with time stepping, with one exchange every few steps, on a cluster.

use std::time::Instant;

use clinalg::team::{Network, Reduction, Team};
use clinalg::{Context, ContextOptions, Device, Precision, Real};
use clinalg_ode::integrate::Stepper;
use clinalg_ode::problems::Problem;
use clinalg_ode::team::{Link, TeamOptions, TeamStepper, simulate};
use clinalg_ode::waveform::{Stop, WaveformModel, WaveformOptions, relax_by_devices};
use clinalg_ode::{DeviceStepper, Variant};
use schemars::JsonSchema;
use serde::Serialize;

use super::Args;
use crate::args::DeviceName;
use crate::exit::{Exit, Failure, usage};
use crate::global::Global;
use crate::output::Output;
use crate::plot::{Picture, Scaling};

/// Latencies in seconds, bandwidth in bytes per second.
const LATENCIES: [f64; 3] = [1e-6, 1e-5, 1e-4];
const BANDWIDTH: f64 = 1e10;

/// The largest number of nodes is 2 to this power; all numbers of nodes are powers of two.
const MOST_NODES: u32 = 10;

/// Default number of iterations.
const ITERATIONS: usize = 8;

/// Most steps between two exchanges, the same limit as in a team.
const MOST_STEPS: usize = 16;

/// Least number of points per axis of the small grid, and that of the grid for ranks in threads.
const SMALL: usize = 8;
const CHECKED: usize = 32;

/// Number of runs, of which the fastest counts: the model does not include the time that a thread waits for a CPU core.
const RUNS: usize = 3;

#[derive(Serialize, JsonSchema)]
pub(crate) struct Document {
    problem: String,
    study: &'static str,
    n: usize,
    method: String,
    #[schemars(with = "String")]
    precision: Precision,
    steps: usize,
    iterations: usize,
    bandwidth: f64,
    bytes_per_step: usize,
    launch_seconds: f64,
    row_seconds: f64,
    device: DeviceName,
    checks: Vec<Check>,
    runs: Vec<Run>,
}

/// Seconds that latency and bandwidth add to a step, measured and by the model.
#[derive(Serialize, JsonSchema)]
struct Check {
    ranks: usize,
    latency: f64,
    step_seconds: f64,
    step_model: f64,
    window_seconds: f64,
    window_model: f64,
}

/// Seconds per step by the model.
#[derive(Serialize, JsonSchema)]
struct Run {
    nodes: usize,
    latency: f64,
    /// With an exchange at every step, and with one every `steps_per_exchange` steps, the number that takes the least time.
    step_exchange: f64,
    steps_per_exchange: usize,
    best_step_exchange: f64,
    window_exchange: f64,
}

impl Run {
    fn ratio(&self) -> f64 {
        self.best_step_exchange / self.window_exchange
    }
}

pub(super) fn run<T: Real>(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    if global.is_shared() {
        let instead = global.on_one_device();
        return usage!("--study network takes one device: {instead}");
    }
    if args.windows != 1 {
        return usage!("--study network has one window, of --steps steps: leave out --windows");
    }
    if args.eps.is_some() {
        return usage!("--study network makes a fixed number of iterations, --iterations: leave out --eps");
    }
    let picture = args.plot.as_deref().map(|path| Picture::new(path, &args.style)).transpose()?;
    let device = global.device()?;
    let problem = args.system.problem("bruss2d-mix", |_| 1024)?;
    let mut options = args.options(problem.system.grid().shape())?;
    let iterations = args.iterations.unwrap_or(ITERATIONS);
    (options.stop, options.watch_stability) = (Stop::Iterations(iterations), false);
    let with = |n: usize| args.system.with_points(n).problem("bruss2d-mix", |_| n);
    let context = Context::new(&device, &ContextOptions::default())?;
    // A small grid takes as long as the number of rows of the large grid that hold as many points.
    let small = with(problem.system.grid().shape()[0].div_ceil(8).max(SMALL))?;
    let rows = modelled::<T>(&problem, &options, 0.0)?.rows;
    let few = small.system.grid().points() * rows / problem.system.grid().points();
    let measured = [(few, step::<T>(&context, &small, &options)?), (rows, step::<T>(&context, &problem, &options)?)];
    let cluster = WaveformModel::new(&problem.system, &options.method, size_of::<T>(), measured, link(0.0))?;
    let checks = checks::<T>(&device, &with(CHECKED)?, &options)?;
    let at = |latency: f64| {
        let cluster = WaveformModel { link: link(latency), ..cluster };
        let nodes = (0..=MOST_NODES).map(|k| 1 << k).take_while(move |nodes| *nodes <= rows);
        nodes.map(move |nodes| {
            let (steps_per_exchange, best_step_exchange) = cluster.best_step_exchange(nodes, MOST_STEPS);
            let step_exchange = cluster.step_exchange(nodes, 1);
            let window_exchange = cluster.window_exchange(nodes, args.steps, iterations);
            Run { nodes, latency, step_exchange, steps_per_exchange, best_step_exchange, window_exchange }
        })
    };
    let runs = LATENCIES.into_iter().flat_map(at).collect();
    let document = Document {
        problem: problem.name.clone(),
        study: "network",
        n: problem.system.grid().shape()[0],
        method: args.method.clone(),
        precision: T::PRECISION,
        steps: options.steps,
        iterations,
        bandwidth: BANDWIDTH,
        bytes_per_step: cluster.bytes_per_step(),
        launch_seconds: cluster.launch,
        row_seconds: cluster.row,
        device: context.device().into(),
        checks,
        runs,
    };
    if let Some(picture) = &picture {
        draw(&document, picture)?;
    }
    print(&document, out)?;
    out.json(&document)?;
    Ok(Exit::Done)
}

fn link(latency: f64) -> Link {
    Link { latency, bandwidth: BANDWIDTH }
}

/// A cluster whose computation takes no time.
fn modelled<T: Real>(problem: &Problem, options: &WaveformOptions, latency: f64) -> Result<WaveformModel, Failure> {
    let nothing = [(0, 0.0), (1, 0.0)];
    Ok(WaveformModel::new(&problem.system, &options.method, size_of::<T>(), nothing, link(latency))?)
}

/// The time that messages add to a step with ranks in threads, measured and by the model.
fn checks<T: Real>(device: &Device, problem: &Problem, options: &WaveformOptions) -> Result<Vec<Check>, Failure> {
    let mut checks = Vec::new();
    for ranks in [2, 4] {
        let none = Link { latency: 0.0, bandwidth: f64::INFINITY };
        let before = seconds::<T>(device, problem, options, ranks, none)?;
        for latency in [1e-4, 1e-3] {
            let after = seconds::<T>(device, problem, options, ranks, link(latency))?;
            let model = modelled::<T>(problem, options, latency)?;
            checks.push(Check {
                ranks,
                latency,
                step_seconds: after[0] - before[0],
                step_model: model.step_exchange(ranks, 1),
                window_seconds: after[1] - before[1],
                window_model: model.window_exchange(ranks, options.steps, 1),
            });
        }
    }
    Ok(checks)
}

/// Seconds per step on one device.
fn step<T: Real>(context: &Context, problem: &Problem, options: &WaveformOptions) -> Result<f64, Failure> {
    let method = options.method.without_error();
    let mut stepper = DeviceStepper::<T>::new(context, &method, &problem.system, Variant::Fused)?;
    let y0: Vec<T> = problem.y0_as()?;
    let times: Vec<f64> = (0..options.steps).map(|k| problem.t0 + k as f64 * options.h).collect();
    let mut fastest = f64::INFINITY;
    for _ in 0..=RUNS {
        stepper.set(std::slice::from_ref(&y0))?;
        context.finish()?;
        let start = Instant::now();
        stepper.advance(&times, options.h)?;
        context.finish()?;
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    Ok(fastest / options.steps as f64)
}

/// Seconds per step with ranks in threads, all on one device: with an exchange at every step, and for one iteration of a window.
fn seconds<T: Real>(
    device: &Device,
    problem: &Problem,
    options: &WaveformOptions,
    ranks: usize,
    link: Link,
) -> Result<[f64; 2], Failure> {
    let method = options.method.without_error();
    let y0: Vec<T> = problem.y0_as()?;
    let times: Vec<f64> = (0..options.steps).map(|k| problem.t0 + k as f64 * options.h).collect();
    let work = |network: Box<dyn Network>| -> clinalg_ode::Result<[f64; 2]> {
        let team = Team::with_network(vec![Context::new(device, &ContextOptions::default())?], network)?;
        let mut team_options = TeamOptions::default();
        team_options.steps_per_exchange = Some(1);
        let mut stepper = TeamStepper::<T>::new(&team, &method, &problem.system, &team_options)?;
        let mut fastest = [f64::INFINITY; 2];
        for _ in 0..=RUNS {
            stepper.set(std::slice::from_ref(&y0))?;
            team.finish()?;
            // A barrier, so that all ranks start together.
            team.all_reduce(Reduction::Sum, &[vec![0.0]])?;
            let start = Instant::now();
            stepper.advance(&times, options.h)?;
            team.finish()?;
            let stepping = start.elapsed().as_secs_f64() / options.steps as f64;
            let done = relax_by_devices(&team, &problem.system, problem.t0, &y0, options, &team_options, None)?;
            let passes = options.steps * done.report.iterations.iter().sum::<usize>();
            fastest = [fastest[0].min(stepping), fastest[1].min(done.report.seconds / passes as f64)];
        }
        Ok(fastest)
    };
    let all = simulate(ranks, link, work)?;
    Ok(all.iter().fold([0.0; 2], |most, (own, _)| [most[0].max(own[0]), most[1].max(own[1])]))
}

fn print(document: &Document, out: &mut Output) -> Result<(), Failure> {
    let us = |seconds: f64| format!("{:.2}", 1e6 * seconds);
    let [step, row] = [document.launch_seconds, document.row_seconds].map(us);
    out.line(format!(
        "a step: {step} us and {row} us per row; {} bytes to both sides; windows of {} steps, {} iterations",
        document.bytes_per_step, document.steps, document.iterations
    ))?;
    out.line("\nmicroseconds that the network adds to a step, measured with ranks in threads and by the model (latency in microseconds)")?;
    let rows: Vec<Vec<String>> = document
        .checks
        .iter()
        .map(|c| {
            let numbers = [c.latency, c.step_seconds, c.step_model, c.window_seconds, c.window_model];
            std::iter::once(c.ranks.to_string()).chain(numbers.map(us)).collect()
        })
        .collect();
    let columns = [">ranks", ">latency", ">step exchange", ">model", ">iteration of a window", ">model"];
    out.table(&columns, rows)?;
    out.line("\nmicroseconds of a step by the model (latency in microseconds)")?;
    let rows: Vec<Vec<String>> = document
        .runs
        .iter()
        .map(|run| {
            let [latency, step, best, window] =
                [run.latency, run.step_exchange, run.best_step_exchange, run.window_exchange].map(us);
            let (nodes, every) = (run.nodes.to_string(), run.steps_per_exchange.to_string());
            vec![latency, nodes, step, best, every, window, format!("{:.3}", run.ratio())]
        })
        .collect();
    let columns =
        [">latency", ">nodes", ">exchange every step", ">every few", ">steps", ">window exchange", ">step over window"];
    out.table(&columns, rows)?;
    Ok(())
}

/// Ratio of step exchange to window exchange over the number of nodes, one curve per latency.
fn draw(document: &Document, picture: &Picture) -> Result<String, Failure> {
    let of = |latency: f64| document.runs.iter().filter(move |run| run.latency == latency);
    let curve =
        |latency: f64| (format!("latency {} us", 1e6 * latency), of(latency).map(Run::ratio).collect::<Vec<f64>>());
    let sizes: Vec<usize> = of(LATENCIES[0]).map(|run| run.nodes).collect();
    let title = format!("{}, {} points per axis: waveform relaxation on a cluster", document.problem, document.n);
    let subtitle = format!(
        "model · windows of {} steps, {} iterations, by {} · {} · 10 GB/s · above 1 waveform relaxation is faster",
        document.steps,
        document.iterations,
        document.method,
        crate::text::precision(document.precision)
    );
    let names = ["nodes", "time of the best step exchange over that of a window"];
    picture.draw(&Scaling { title, subtitle, names, sizes: &sizes, curves: &LATENCIES.map(curve) })
}
