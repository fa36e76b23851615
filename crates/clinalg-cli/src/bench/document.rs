//! What measurements report.

use clinalg::Precision;
use schemars::JsonSchema;
use serde::Serialize;

use super::Args;
use super::operation::{Limit, Operation};
use crate::args::DeviceName;
use crate::exit::Failure;
use crate::output::Output;
use crate::text::{number, seconds};

#[derive(Serialize, JsonSchema)]
pub(crate) struct Document {
    pub(super) device: DeviceName,
    #[schemars(with = "String")]
    pub(super) kernel_family: clinalg::KernelFamily,
    pub(super) copy_bandwidth: f64,
    pub(super) read_bandwidth: f64,
    pub(super) fma_rate: Option<f64>,
    pub(super) results: Vec<Measured>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Measured {
    pub(super) operation: Operation,
    pub(super) n: usize,
    pub(super) size: usize,
    #[schemars(with = "String")]
    pub(super) precision: Precision,
    pub(super) bytes: u64,
    pub(super) calls: usize,
    pub(super) seconds: f64,
    pub(super) samples: Vec<f64>,
    pub(super) gb_per_s: f64,
    pub(super) fraction_of_copy: f64,
    pub(super) limit: Limit,
    pub(super) fraction_of_limit: f64,
    pub(super) points_per_second: Option<f64>,
    pub(super) flops: Option<f64>,
    pub(super) flops_per_second: Option<f64>,
    pub(super) flops_per_evaluation: Option<f64>,
    pub(super) evaluations_per_second: Option<f64>,
    pub(super) kernels: Option<Vec<KernelTime>>,
}

/// Device time of a kernel per call of the operation.
#[derive(Serialize, JsonSchema)]
pub(super) struct KernelTime {
    pub(super) kernel: String,
    pub(super) launches_per_call: f64,
    pub(super) seconds_per_call: f64,
}

impl Document {
    pub(super) fn print(&self, n: usize, args: &Args, out: &mut Output) -> Result<(), Failure> {
        let precision = self.results.first().map_or("", |r| match r.precision {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        });
        out.field("device", self.device.to_string())?;
        out.field("data", format!("N = {n}, {precision}, medians of {} samples", args.samples))?;
        let Document { copy_bandwidth, read_bandwidth, .. } = self;
        out.field("bandwidth", format!("copy {copy_bandwidth:.1} GB/s, read {read_bandwidth:.1} GB/s"))?;
        if let Some(rate) = self.fma_rate {
            out.field("arithmetic", format!("{:.1} GFLOP/s of multiply-adds", 1e-9 * rate))?;
        }
        for r in &self.results {
            if let (Some(flops), Some(evaluations)) = (r.flops_per_evaluation, r.evaluations_per_second) {
                let rate = format!("{flops:.2} operations per evaluation, {} evaluations/s", number(evaluations, 3));
                out.field(&r.operation.name(), rate)?;
            }
        }
        out.line("")?;
        let columns =
            ["operation", ">MB moved", ">time", ">GB/s", ">of copy", ">of limit", "limit", ">Gpoint/s", ">GFLOP/s"];
        let row = |r: &Measured| {
            vec![
                r.operation.name(),
                format!("{:.1}", r.bytes as f64 / 1e6),
                seconds(r.seconds),
                format!("{:.1}", r.gb_per_s),
                format!("{:.0} %", 100.0 * r.fraction_of_copy),
                format!("{:.0} %", 100.0 * r.fraction_of_limit),
                match r.limit {
                    Limit::Copy => "copy",
                    Limit::Read => "read",
                    Limit::Fma => "fma",
                }
                .into(),
                r.points_per_second.map_or(String::new(), |rate| format!("{:.1}", rate * 1e-9)),
                r.flops_per_second.map_or(String::new(), |rate| format!("{:.1}", rate * 1e-9)),
            ]
        };
        out.table(&columns, self.results.iter().map(row))?;
        if !args.kernels {
            return Ok(());
        }
        out.line("")?;
        let columns = ["operation", "kernel", ">launches per call", ">device time per call"];
        let rows: Vec<Vec<String>> = self
            .results
            .iter()
            .flat_map(|r| r.kernels.iter().flatten().map(|k| (r.operation.name(), k)))
            .map(|(operation, k)| {
                vec![operation, k.kernel.clone(), format!("{:.2}", k.launches_per_call), seconds(k.seconds_per_call)]
            })
            .collect();
        out.table(&columns, rows)?;
        Ok(())
    }
}
