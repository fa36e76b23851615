//! `clinalg bench --predict`: a model fitted to measurements of earlier runs, and the scaling it predicts on clusters.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clinalg::team::{ClusterModel, Link};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::super::Args;
use super::Solver;
use crate::exit::{Exit, Failure, usage};
use crate::output::Output;
use crate::plot::{Picture, Scaling};
use crate::text::seconds;

/// The largest number of devices is 2 to this power.
const MOST: u32 = 10;

/// A network between nodes of one device each.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(in crate::bench) struct Network {
    network: String,
    latency: f64,
    /// In bytes per second
    bandwidth: f64,
}

/// `NAME:MICROSECONDS:GB_PER_S`.
pub(in crate::bench) fn network(text: &str) -> Result<Network, String> {
    let wrong = || "expected NAME:MICROSECONDS:GB_PER_S, such as NDR:2:50".to_owned();
    let [name, latency, bandwidth] = text.split(':').collect::<Vec<_>>()[..] else { return Err(wrong()) };
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0).ok_or_else(wrong);
    let (latency, bandwidth) = (1e-6 * number(latency)?, 1e9 * number(bandwidth)?);
    if bandwidth == 0.0 {
        return Err(wrong());
    }
    Ok(Network { network: name.trim().to_owned(), latency, bandwidth })
}

/// Nominal bandwidths; latencies between processes of MPI that are usual for them.
const USUAL: [(&str, f64, f64); 2] = [("InfiniBand NDR", 2e-6, 50e9), ("100 Gb/s Ethernet", 30e-6, 12.5e9)];

#[derive(Serialize, JsonSchema)]
pub(crate) struct Document {
    /// The files that the model is fitted to
    measured: Vec<PathBuf>,
    /// Of an exchange through the host, both ways at the same time
    latency: f64,
    bandwidth: f64,
    models: Vec<super::Fitted>,
    checks: Vec<Check>,
    networks: Vec<Network>,
    predictions: Vec<Prediction>,
}

/// A run that was measured. Those of one device are what the model is fitted to.
#[derive(Debug, Serialize, JsonSchema)]
struct Check {
    problem: Solver,
    n: usize,
    devices: usize,
    seconds: f64,
    predicted_seconds: f64,
    relative_difference: f64,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Prediction {
    network: String,
    problem: Solver,
    /// strong or weak
    scaling: &'static str,
    n: usize,
    devices: usize,
    seconds: f64,
    efficiency: f64,
}

/// Seconds by problem, size and number of devices; seconds of exchanges by bytes.
#[derive(Default)]
struct Measured {
    runs: BTreeMap<(String, usize, usize), f64>,
    exchanges: BTreeMap<usize, f64>,
    /// Of the documents; lines are in double precision.
    single: Option<bool>,
}

impl Measured {
    /// Adds the runs of a file: a document of `bench --devices --json`, or the lines of the example `team`.
    fn read(&mut self, path: &Path) -> Result<(), Failure> {
        let failed = |reason: String| Failure::file(path, reason);
        let text = clinalg::io::read_text(path).map_err(|error| failed(error.to_string()))?;
        let mut single = false;
        let rows = match serde_json::from_str::<Value>(&text) {
            Ok(document) if document.get("runs").is_some() => {
                single = document["precision"] == "f32";
                let list = |key: &str| document[key].as_array().cloned().unwrap_or_default();
                list("runs").into_iter().chain(list("transfers")).collect()
            }
            Ok(line) => vec![line],
            Err(_) => {
                let lines = text.lines().filter(|line| !line.trim().is_empty());
                let rows: Result<Vec<Value>, _> = lines.map(serde_json::from_str).collect();
                rows.map_err(|error| failed(format!("neither a JSON document nor JSON lines: {error}; pass the output of `clinalg bench --devices all --json`")))?
            }
        };
        if *self.single.get_or_insert(single) != single {
            return usage!("--predict: the files have runs in single and in double precision; give those of one");
        }
        for row in rows {
            self.add(&row).ok_or_else(|| {
                failed(format!("not a measurement: {row}; pass the output of `clinalg bench --devices all --json`"))
            })?;
        }
        Ok(())
    }

    fn add(&mut self, row: &Value) -> Option<()> {
        let number = |key: &str| row[key].as_u64().map(|n| n as usize);
        let seconds = row["seconds"].as_f64().filter(|s| *s > 0.0)?;
        if row.get("transfer").is_some() {
            if row["transfer"] == "exchange" {
                self.exchanges.insert(number("bytes")?, seconds);
            }
            return Some(());
        }
        let (problem, n, devices) = (row["problem"].as_str()?, number("n")?, number("devices")?);
        let alone_as_team = row["solver"] == "team" && devices == 1;
        if row.get("phase").is_some() || alone_as_team {
            return Some(());
        }
        if problem == "exchange" {
            self.exchanges.insert(n, seconds);
            return Some(());
        }
        let each = seconds / number("cycles").unwrap_or(1).max(1) as f64;
        // Of several sizes of the gathered levels the fastest.
        let kept = self.runs.entry((problem.to_owned(), n, devices)).or_insert(each);
        *kept = kept.min(each);
        Some(())
    }

    fn of(&self, solver: Solver) -> impl Iterator<Item = (usize, usize, f64)> {
        let name = solver.name();
        self.runs
            .iter()
            .filter(move |((problem, ..), _)| *problem == name)
            .map(|((_, n, devices), s)| (*n, *devices, *s))
    }
}

pub(in crate::bench) fn run(args: &Args, out: &mut Output) -> Result<Exit, Failure> {
    let picture = args.plot.as_deref().map(|path| Picture::new(path, &args.style)).transpose()?;
    let mut measured = Measured::default();
    args.predict.iter().try_for_each(|path| measured.read(path))?;
    let exchanges: Vec<(usize, f64)> = measured.exchanges.iter().map(|(bytes, seconds)| (*bytes, *seconds)).collect();
    if exchanges.len() < 2 {
        return usage!(
            "--predict: the files have no times of exchanges of two sizes; measure with `clinalg bench --devices all --json`"
        );
    }
    let link = Link::fit(&exchanges)?;
    let networks: Vec<Network> = if args.network.is_empty() {
        USUAL.map(|(name, latency, bandwidth)| Network { network: name.into(), latency, bandwidth }).to_vec()
    } else {
        args.network.clone()
    };
    let value_bytes = if measured.single == Some(true) { size_of::<f32>() } else { size_of::<f64>() };
    let Link { latency, bandwidth } = link;
    let mut document = Document {
        measured: args.predict.clone(),
        latency,
        bandwidth,
        models: Vec::new(),
        checks: Vec::new(),
        networks,
        predictions: Vec::new(),
    };
    for &solver in <Solver as clap::ValueEnum>::value_variants() {
        let alone: Vec<_> = measured.of(solver).filter(|(_, devices, _)| *devices == 1).collect();
        if alone.len() < 2 || !(args.solvers.is_empty() || args.solvers.contains(&solver)) {
            continue;
        }
        let samples = alone.iter().map(|&(n, _, seconds)| Ok((solver.work(n, value_bytes, 1)?, seconds)));
        let model = ClusterModel::fit(&samples.collect::<clinalg::Result<Vec<_>>>()?, link, link.latency)?;
        document.models.push(super::Fitted {
            problem: solver,
            launch_seconds: model.launch,
            point_seconds: model.point,
        });
        for (n, devices, seconds) in measured.of(solver) {
            let predicted_seconds = model.seconds(&solver.work(n, value_bytes, devices)?, devices);
            let relative_difference = predicted_seconds / seconds - 1.0;
            document.checks.push(Check {
                problem: solver,
                n,
                devices,
                seconds,
                predicted_seconds,
                relative_difference,
            });
        }
        let largest = alone.iter().map(|(n, ..)| *n).max().unwrap_or(0);
        for Network { network, latency, bandwidth } in document.networks.clone() {
            let link = link.then(Link { latency, bandwidth });
            let model = ClusterModel { link, reduction: link.latency, ..model };
            document.predictions.extend(predictions(solver, largest, value_bytes, &model, &network));
        }
    }
    if document.models.is_empty() {
        return usage!(
            "--predict: no solver has times on one device for two sizes; measure with `clinalg bench --devices all --json`"
        );
    }
    if let Some(picture) = &picture {
        document.draw(picture)?;
    }
    document.print(out)?;
    out.json(&document)?;
    Ok(Exit::Done)
}

/// Strong scaling from the largest size, and weak scaling with as many unknowns per device, where that size exists and can be distributed.
fn predictions(
    solver: Solver,
    largest: usize,
    value_bytes: usize,
    model: &ClusterModel,
    network: &str,
) -> Vec<Prediction> {
    let seconds = |n: usize, devices: usize| Some(model.seconds(&solver.work(n, value_bytes, devices).ok()?, devices));
    let Some(one) = seconds(largest, 1) else { return Vec::new() };
    let mut all = Vec::new();
    for scaling in ["strong", "weak"] {
        for devices in (0..=MOST).map(|k| 1 << k) {
            let n = if scaling == "strong" { Some(largest) } else { solver.weak(largest, devices) };
            let Some(n) = n else { continue };
            let ratio = solver.unknowns(n) / solver.unknowns(largest);
            if scaling == "weak" && (ratio / devices as f64 - 1.0).abs() > 0.05 {
                continue;
            }
            if let Some(seconds) = seconds(n, devices) {
                let efficiency = one * ratio / (devices as f64 * seconds);
                all.push(Prediction {
                    network: network.to_owned(),
                    problem: solver,
                    scaling,
                    n,
                    devices,
                    seconds,
                    efficiency,
                });
            }
        }
    }
    all
}

impl Document {
    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        let bandwidth = 1e-9 * self.bandwidth;
        out.line(format!(
            "an exchange between devices of a host: {} and {bandwidth:.1} GB/s each way",
            seconds(self.latency)
        ))?;
        for m in &self.models {
            let (launch, unit) = (seconds(m.launch_seconds), m.problem.unit());
            out.line(format!(
                "{}: {launch} and {:.3} ps per point, each {unit}",
                m.problem.name(),
                1e12 * m.point_seconds
            ))?;
        }
        out.line("\nmeasured, and by the model")?;
        let columns = ["problem", ">n", ">devices", ">time", ">model", ">difference"];
        let row = |c: &Check| {
            let difference = format!("{:+.0} %", 100.0 * c.relative_difference);
            vec![
                c.problem.name(),
                c.n.to_string(),
                c.devices.to_string(),
                seconds(c.seconds),
                seconds(c.predicted_seconds),
                difference,
            ]
        };
        out.table(&columns, self.checks.iter().map(row))?;
        for network in &self.networks {
            let (latency, bandwidth) = (seconds(network.latency), 1e-9 * network.bandwidth);
            out.line(format!(
                "\nby the model on nodes of one device: {}, {latency} and {bandwidth:.1} GB/s",
                network.network
            ))?;
            let columns = ["problem", "scaling", ">n", ">devices", ">time", ">efficiency"];
            let rows = self.predictions.iter().filter(|p| p.network == network.network).map(|p| {
                let efficiency = format!("{:.1} %", 100.0 * p.efficiency);
                vec![
                    p.problem.name(),
                    p.scaling.to_owned(),
                    p.n.to_string(),
                    p.devices.to_string(),
                    seconds(p.seconds),
                    efficiency,
                ]
            });
            out.table(&columns, rows)?;
        }
        Ok(())
    }

    /// Efficiency of strong scaling over the number of devices, one curve per problem and network.
    fn draw(&self, picture: &Picture) -> Result<String, Failure> {
        let sizes: Vec<usize> = (0..=MOST).map(|k| 1 << k).collect();
        let curves = self.models.iter().flat_map(|m| {
            self.networks.iter().map(|network| {
                let of = self
                    .predictions
                    .iter()
                    .filter(|p| p.problem == m.problem && p.network == network.network && p.scaling == "strong");
                let values: Vec<(usize, f64)> = of.map(|p| (p.n, p.efficiency)).collect();
                let n = values.first().map_or(0, |(n, _)| *n);
                (
                    format!("{}, n = {n}, {}", m.problem.name(), network.network),
                    values.into_iter().map(|(_, e)| e).collect(),
                )
            })
        });
        let curves: Vec<(String, Vec<f64>)> = curves.collect();
        let subtitle = format!(
            "fitted to runs on one device and to exchanges through the host, {}, {:.1} GB/s",
            seconds(self.latency),
            1e-9 * self.bandwidth
        );
        let title = "Strong scaling on clusters, by the model".to_owned();
        picture.draw(&Scaling { title, subtitle, names: ["devices", "efficiency"], sizes: &sizes, curves: &curves })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_read() {
        let read = network("NDR: 2:50").unwrap();
        assert_eq!((read.network.as_str(), read.bandwidth), ("NDR", 50e9));
        assert!((read.latency - 2e-6).abs() < 1e-18);
        for text in ["NDR", "NDR:2", "NDR:-1:50", "NDR:2:0", "NDR:x:1", "a:1:2:3"] {
            assert!(network(text).is_err(), "{text}");
        }
    }
}
