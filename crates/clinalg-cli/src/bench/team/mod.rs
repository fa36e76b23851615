//! `clinalg bench --devices`: transfers, and the scaling of solvers beside a model.

mod predict;
mod solver;
mod transfer;

use clinalg::team::{ClusterModel, Link, Team};
use clinalg::{Precision, Real, counted};
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use self::predict::Document as PredictDocument;
pub(super) use self::predict::{Network, network, run as predict};
pub(super) use self::solver::Solver;
use self::transfer::{Route, Transfer};
use super::Args;
use crate::args::DeviceName;
use crate::exit::{Exit, Failure, usage};
use crate::global::Global;
use crate::output::Output;
use crate::plot::{Picture, Scaling};
use crate::progress::Progress;
use crate::text::{bytes, seconds};

/// Points per side by default.
const N: usize = 513;

/// Bytes of the largest message.
const LARGEST: usize = 1 << 24;

/// Most samples of a solver.
const SAMPLES: usize = 5;

#[derive(Serialize, JsonSchema)]
pub(crate) struct Document {
    devices: Vec<DeviceName>,
    #[schemars(with = "String")]
    precision: Precision,
    transfers: Vec<Transfer>,
    /// For each number of devices from two on
    teams: Vec<Measured>,
    /// Those of one device
    models: Vec<Fitted>,
    runs: Vec<Run>,
}

/// What the model takes of transfers and of devices that work at the same time.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
struct Measured {
    devices: usize,
    /// Of an exchange, both ways at the same time
    latency: f64,
    /// Of an exchange, in bytes per second
    bandwidth: f64,
    reduction_seconds: f64,
    /// How many times longer all devices take at the same time than one alone
    contention: f64,
}

/// The part of a solver's time that does not depend on the number of points, and that per point.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
struct Fitted {
    problem: Solver,
    launch_seconds: f64,
    point_seconds: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// One device, the smaller size of the two that the model is fitted to
    Fit,
    Strong,
    Weak,
}

/// Seconds of a cycle, iteration, step or product.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Run {
    problem: Solver,
    scaling: Kind,
    n: usize,
    devices: usize,
    seconds: f64,
    predicted_seconds: f64,
    /// Of the predicted seconds from the measured ones
    relative_difference: f64,
    /// T1 / (p Tp), for weak scaling times the ratio of unknowns
    efficiency: f64,
}

pub(super) fn run<T: Real>(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    if !args.only.is_empty() || args.kernels {
        return usage!(
            "--only and --kernels cannot be combined with --devices, --solvers or --plot; to choose solvers, use --solvers"
        );
    }
    let n = args.n.unwrap_or(N);
    if n < 9 {
        return usage!("--n {n}: several devices are measured with at least 9 points per side");
    }
    let picture = args.plot.as_deref().map(|path| Picture::new(path, &args.style)).transpose()?;
    let Some(team) = global.team()? else {
        return usage!("--solvers and --plot need several devices or --predict; add --devices 0,1 or --devices all");
    };
    team.each(|_, context| context.require::<T>())?;
    let ranks = team.ranks();
    if ranks == 1 && !args.solvers.is_empty() {
        return usage!(
            "--solvers measures scaling and needs at least 2 devices, but --devices gives 1; add devices (--devices 0,1 or all), or set POCL_DEVICES=\"pthread pthread\" to present a CPU as two"
        );
    }
    let solvers: Vec<Solver> = match args.solvers.as_slice() {
        [] if ranks == 1 => Vec::new(),
        [] => <Solver as clap::ValueEnum>::value_variants().to_vec(),
        some => some.to_vec(),
    };
    let samples = args.samples.min(SAMPLES);
    let names = team.contexts().iter().map(|context| context.device().into()).collect();
    let progress = Progress::of_part(out);
    progress.stage("transfers");
    let transfers = transfers(&team, samples)?;
    let mut document = Document {
        devices: names,
        precision: T::PRECISION,
        transfers,
        teams: Vec::new(),
        models: Vec::new(),
        runs: Vec::new(),
    };
    let teams = teams(&team)?;
    for team in teams.iter().skip(1) {
        document.teams.push(measured::<T>(team, samples)?);
    }
    for (done, &solver) in solvers.iter().enumerate() {
        let count = solvers.len();
        progress.reached(done as f64 / count as f64, format!("{}, {} of {count}", solver.name(), done + 1));
        let (fitted, runs) = scaling::<T>(solver, solver.size(n), &teams, &document.teams, samples)?;
        document.models.push(fitted);
        document.runs.extend(runs);
    }
    drop(progress);
    if let Some(picture) = &picture {
        document.draw(picture)?;
    }
    document.print(out)?;
    out.json(&document)?;
    Ok(Exit::Done)
}

fn transfers(team: &Team, samples: usize) -> Result<Vec<Transfer>, Failure> {
    let mut all = Vec::new();
    for bytes in transfer::sizes(LARGEST) {
        for (rank, context) in team.contexts().iter().enumerate() {
            all.extend(transfer::of_device(context, rank, bytes, samples)?);
        }
        if team.ranks() > 1 {
            all.extend(transfer::of_team(team, bytes, samples)?);
        }
    }
    Ok(all)
}

/// Teams of 1, 2, 4, ... devices and of all.
fn teams(team: &Team) -> Result<Vec<Team>, Failure> {
    let all = team.ranks();
    let smaller = std::iter::successors(Some(1), |p| Some(2 * p)).take_while(|p| *p < all);
    let of = |p: usize| Ok(Team::of_contexts(team.contexts()[..p].to_vec())?);
    smaller.chain([all]).map(of).collect()
}

fn measured<T: Real>(team: &Team, samples: usize) -> Result<Measured, Failure> {
    let exchanges = transfer::sizes(LARGEST)
        .map(|bytes| transfer::exchange_seconds(team, bytes, samples).map(|seconds| (bytes, seconds)));
    let Link { latency, bandwidth } = Link::fit(&exchanges.collect::<Result<Vec<_>, Failure>>()?)?;
    let reduction_seconds = transfer::reduction::<T>(team, samples)?;
    let contention = transfer::contention::<T>(team, samples)?;
    Ok(Measured { devices: team.ranks(), latency, bandwidth, reduction_seconds, contention })
}

impl Measured {
    fn model(&self, fitted: &Fitted) -> ClusterModel {
        let rounds = f64::from(self.devices.next_power_of_two().ilog2());
        ClusterModel {
            launch: fitted.launch_seconds,
            point: fitted.point_seconds * self.contention,
            link: Link { latency: self.latency, bandwidth: self.bandwidth },
            reduction: self.reduction_seconds / rounds,
        }
    }
}

/// Strong and weak scaling of a solver.
fn scaling<T: Real>(
    solver: Solver,
    size: usize,
    teams: &[Team],
    measured: &[Measured],
    samples: usize,
) -> Result<(Fitted, Vec<Run>), Failure> {
    let bytes = size_of::<T>();
    let smaller = solver.smaller(size);
    let fit = [smaller, size].map(|n| Ok::<_, Failure>((n, solver.seconds::<T>(&teams[0], n, samples)?)));
    let [few, one] = fit;
    let (few, one) = (few?, one?);
    let link = Link { latency: 0.0, bandwidth: f64::INFINITY };
    let of = |(n, seconds): (usize, f64)| Ok::<_, Failure>((solver.work(n, bytes, 1)?, seconds));
    let alone = ClusterModel::fit(&[of(few)?, of(one)?], link, 0.0)?;
    let fitted = Fitted { problem: solver, launch_seconds: alone.launch, point_seconds: alone.point };
    let run = |scaling: Kind, n: usize, devices: usize, seconds: f64, model: &ClusterModel| {
        let predicted_seconds = model.seconds(&solver.work(n, bytes, devices)?, devices);
        let relative_difference = predicted_seconds / seconds - 1.0;
        let ratio = solver.unknowns(n) / solver.unknowns(one.0);
        let efficiency = one.1 * ratio / (devices as f64 * seconds);
        Ok::<_, Failure>(Run {
            problem: solver,
            scaling,
            n,
            devices,
            seconds,
            predicted_seconds,
            relative_difference,
            efficiency,
        })
    };
    let mut runs = vec![run(Kind::Fit, few.0, 1, few.1, &alone)?, run(Kind::Strong, one.0, 1, one.1, &alone)?];
    for (team, measured) in teams[1..].iter().zip(measured) {
        let (devices, model) = (team.ranks(), measured.model(&fitted));
        runs.push(run(Kind::Strong, size, devices, solver.seconds::<T>(team, size, samples)?, &model)?);
        if let Some(n) = solver.weak(size, devices) {
            runs.push(run(Kind::Weak, n, devices, solver.seconds::<T>(team, n, samples)?, &model)?);
        }
    }
    Ok((fitted, runs))
}

impl Document {
    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        for (rank, device) in self.devices.iter().enumerate() {
            out.field(&format!("rank {rank}"), device.to_string())?;
        }
        out.line("\ntransfers through pinned memory of the host: time, and bytes of a message over its time")?;
        let columns = ["transfer", "from", "to", ">bytes", ">time", ">GB/s"];
        let row = |t: &Transfer| {
            let (way, host) = match t.transfer {
                Route::Read => ("read", "host"),
                Route::Write => ("write", "host"),
                Route::OneWay => ("one way", "host"),
                Route::BothWays => ("both ways", "host"),
                Route::Exchange => ("exchange", "all"),
            };
            let end = |rank: Option<usize>| rank.map_or_else(|| host.to_owned(), |rank| format!("rank {rank}"));
            vec![
                way.to_owned(),
                end(t.from),
                end(t.to),
                bytes(t.bytes as u64),
                seconds(t.seconds),
                format!("{:.3}", t.gb_per_s),
            ]
        };
        out.table(&columns, self.transfers.iter().map(row))?;
        if self.teams.is_empty() {
            return out.line("\none device: exchanges, reductions and scaling take several, --devices 0,1 or all");
        }
        out.line("\nwhat the model takes of exchanges, reductions and devices that work at the same time")?;
        let columns = [">devices", ">latency", ">GB/s", ">all-reduce", ">contention"];
        let row = |m: &Measured| {
            vec![
                m.devices.to_string(),
                seconds(m.latency),
                format!("{:.2}", 1e-9 * m.bandwidth),
                seconds(m.reduction_seconds),
                format!("{:.2}", m.contention),
            ]
        };
        out.table(&columns, self.teams.iter().map(row))?;
        out.line("\nscaling: medians, and what the model predicts")?;
        let columns = ["problem", "scaling", ">n", ">devices", ">time", "per", ">model", ">difference", ">efficiency"];
        let row = |run: &Run| {
            let kind = match run.scaling {
                Kind::Fit => "(fit)",
                Kind::Strong => "strong",
                Kind::Weak => "weak",
            };
            vec![
                run.problem.name(),
                kind.to_owned(),
                run.n.to_string(),
                run.devices.to_string(),
                seconds(run.seconds),
                run.problem.unit().to_owned(),
                seconds(run.predicted_seconds),
                format!("{:+.0} %", 100.0 * run.relative_difference),
                if run.scaling == Kind::Fit { String::new() } else { format!("{:.0} %", 100.0 * run.efficiency) },
            ]
        };
        out.table(&columns, self.runs.iter().map(row))
    }

    /// Speed-ups of strong scaling over the number of devices, and those of the model; bandwidths over sizes of one device.
    fn draw(&self, picture: &Picture) -> Result<String, Failure> {
        let subtitle = format!("{} · {}", counted(self.devices.len(), "device"), self.precision);
        if self.teams.is_empty() {
            let of = |way: Route| self.transfers.iter().filter(move |t| t.transfer == way);
            let sizes: Vec<usize> = of(Route::Read).map(|t| t.bytes).collect();
            let curve = |way, name: &str| (name.to_owned(), of(way).map(|t| t.gb_per_s).collect());
            let curves = [curve(Route::Read, "device to host"), curve(Route::Write, "host to device")];
            let title = "Transfers through pinned memory".to_owned();
            return picture.draw(&Scaling {
                title,
                subtitle,
                names: ["bytes", "GB/s"],
                sizes: &sizes,
                curves: &curves,
            });
        }
        let sizes: Vec<usize> = [1].into_iter().chain(self.teams.iter().map(|m| m.devices)).collect();
        let curves = self.models.iter().flat_map(|fitted| {
            let runs: Vec<&Run> =
                self.runs.iter().filter(|r| r.problem == fitted.problem && r.scaling == Kind::Strong).collect();
            let first = runs[0].seconds;
            let name = fitted.problem.name();
            [
                (name.clone(), runs.iter().map(|r| first / r.seconds).collect()),
                (format!("{name}, model"), runs.iter().map(|r| first / r.predicted_seconds).collect()),
            ]
        });
        let curves: Vec<(String, Vec<f64>)> = curves.collect();
        let title = "Strong scaling, measured and by the model".to_owned();
        picture.draw(&Scaling { title, subtitle, names: ["devices", "speed-up"], sizes: &sizes, curves: &curves })
    }
}
