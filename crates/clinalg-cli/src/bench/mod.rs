//! `clinalg bench`.

mod case;
mod dense;
mod document;
mod operation;
mod team;

use std::path::PathBuf;

use clap::ValueEnum;
use clinalg::Real;
use clinalg_bem::heat::multiply_add_rate;

use self::case::Case;
pub(crate) use self::document::Document;
use self::document::Measured;
use self::operation::{Limit, Operation};
pub(crate) use self::team::{Document as DevicesDocument, PredictDocument};
use self::team::{Network, Solver};
use crate::args::{self, PrecisionArg};
use crate::exit::{Exit, Failure};
use crate::global::Global;
use crate::output::Output;
use crate::plot::PlotArgs;
use crate::progress::Progress;

/// Measure each operation against the memory bandwidth
///
/// Vectors have N^2 random values. These operations are bound by memory, so their limit is the bandwidth of a plain copy or, if
/// they mostly read, of a plain sum or dot product, measured in the same run.
#[derive(clap::Args)]
#[command(after_help = "\
How: after a warm-up, a sample is the mean wall time of a batch of calls that
takes 2 ms, including a wait for the device at its end. Times are medians of the
samples. Bytes count what must be read and written once: in
f64 24 N^2 for axpby, 12 per entry and 20 per row for the CSR product; red_black
counts one pass (24 N^2), jacobi_fused the same for its five sweeps together,
wave_leapfrog 24 N^2, wave_fused 32 N^2 for its eight steps together. Poisson
counts 18 values per point and cycle (poisson_vcycle, poisson_solve,
poisson_solve_w) and 28 for a pass of full multigrid (poisson_fmg, poisson3_fmg);
fused kernels move fewer. cg_poisson counts per iteration a product and nine
passes over vectors, cg_iteration a product and eight. Gpoint/s are points times
sweeps or time steps per second. enqueue moves no data: it is the host's time for a launch.
heat_v, heat_k, heat_ks and heat_d are products of the heat operators on the fly
on the cube with 24 (N - 1) triangles and N - 1 time steps; they count each entry
of a block written and read once, and operations counted in the kernel source, two
per multiply-add. An evaluation is a pair of quadrature points and a block, as in
the published algorithms. Their limit is the multiply-add rate, measured in the
same run.
gemm, lu, cholesky, qr and triangular_solve are of dense matrices with N rows and
columns, the last with N right-hand sides: 2 N^3, 2/3 N^3, 1/3 N^3, 4/3 N^3 and N^3
operations. All but gemm work in a copy of their matrix, whose time counts. Their
limit is the multiply-add rate, too; tensor cores can be faster.
copy_bandwidth is that of `copy`, read_bandwidth that of `sum` or `dot`,
whichever is faster, medians over samples at the beginning and the end of the run.
Operations that mostly read are compared with the larger one.

--devices measures transfers, exchanges and reductions, and the strong and weak
scaling of the solvers (time per cycle, iteration, step or product). Beside each time
stands the prediction of a model. The model takes computation from the times of one
device at two sizes, and messages from the latency and bandwidth of an exchange.
Cubes have about N^2 points, boundary elements at most N / 2 triangles. For weak
scaling, multigrid takes the next larger size 2^k + 1. Efficiency is T1 / (p Tp), times
the ratio of unknowns. --predict fits the same model to such measurements and predicts
the scaling on nodes with one device each, whose messages pass through the host and a network.

JSON: {\"device\", \"kernel_family\", \"copy_bandwidth\", \"read_bandwidth\", \"fma_rate\", \"results\":
[{\"operation\", \"n\", \"size\", \"precision\", \"bytes\", \"calls\", \"seconds\", \"samples\",
\"gb_per_s\", \"fraction_of_copy\", \"limit\", \"fraction_of_limit\",
\"points_per_second\", \"flops\", \"flops_per_second\", \"flops_per_evaluation\",
\"evaluations_per_second\", \"kernels\"}]}.
Bandwidths in 10^9 bytes per second, fma_rate in operations per second, null
if no operation is compared with it; kernels is null without --kernels. `clinalg schema
bench-devices` and `bench-predict` describe the other documents.

Examples:
  clinalg bench                             all but the special ones at N = 2049
  clinalg bench --n 4097 --only copy,dot    on 16.8 million values
  clinalg bench --kernels --precision f32   with each kernel's device time
  clinalg bench --n 1025 --only gemm,lu     rates of dense matrices
  clinalg bench --n 65 --only heat_v,heat_k 1536 triangles, 64 time steps
  clinalg bench --devices all               transfers, and the scaling of solvers
  clinalg bench --devices 0,1 --n 8193 --solvers poisson2,wave --plot scaling.svg
  clinalg bench --predict measured.json     scaling on clusters, by the model

Choose N so that 8 N^2 bytes are several times the last-level cache; otherwise the
cache is measured.")]
pub(crate) struct Args {
    /// Points per side of the grid; vectors have N^2 values, the dense matrix has N rows [default: 2049, with --devices 513]
    #[arg(long, value_parser = args::side, allow_hyphen_values = true)]
    n: Option<usize>,
    /// Precision of the data
    #[arg(long, value_enum, default_value_t = PrecisionArg::F64)]
    precision: PrecisionArg,
    /// Only these operations, separated by commas [default: all but cg_poisson, poisson3_fmg, dense
    /// products and factorisations, and heat_*]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<Operation>,
    /// Samples of each operation; cg_poisson takes at most 3
    #[arg(long, default_value_t = 20, value_name = "COUNT", value_parser = args::positive, allow_hyphen_values = true)]
    samples: usize,
    /// Also report the device time of each kernel
    #[arg(long)]
    kernels: bool,
    /// Run only these solvers, separated by commas; with --devices or --predict [default: all]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAMES")]
    solvers: Vec<Solver>,
    /// Fit the model of the time on several devices to these measurements (of `bench --devices --json`) and predict the scaling to 1024 devices
    #[arg(long, value_name = "FILES", num_args = 1.., conflicts_with_all = ["only", "kernels", "n", "devices", "device"])]
    predict: Vec<PathBuf>,
    /// Network between nodes with one device each; with --predict, may be repeated [default: InfiniBand NDR:2:50 and 100 Gb/s Ethernet:30:12.5]
    #[arg(long, value_name = "NAME:MICROSECONDS:GB_PER_S", value_parser = team::network, requires = "predict")]
    network: Vec<Network>,
    /// Draw the scaling (.png or .svg); with --devices or --predict
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    style: PlotArgs,
}

/// Points per side by default.
const N: usize = 2049;

pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    if !args.predict.is_empty() {
        return team::predict(args, out);
    }
    let several = global.is_shared() || args.plot.is_some() || !args.solvers.is_empty();
    match args.precision {
        PrecisionArg::F32 if several => team::run::<f32>(args, global, out),
        PrecisionArg::F64 if several => team::run::<f64>(args, global, out),
        PrecisionArg::F32 => measure_all::<f32>(args, global, out),
        PrecisionArg::F64 => measure_all::<f64>(args, global, out),
    }
}

/// Samples of the limits at each end.
const LIMIT_SAMPLES: usize = 20;

fn measure_all<T: Real>(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    let n = args.n.unwrap_or(N);
    let context = global.context(args.kernels)?;
    context.require::<T>()?;
    let progress = Progress::of_part(out);
    let chosen: Vec<Operation> = match args.only.is_empty() {
        true => Operation::value_variants().iter().copied().filter(|o| !o.is_special()).collect(),
        false => args.only.clone(),
    };
    let mut limits = [Vec::new(), Vec::new(), Vec::new()];
    // Vectors as long as the largest grid.
    let cube = chosen.iter().any(|operation| operation.dimensions() == 3);
    let side = if cube { (n.pow(3) as f64).sqrt() as usize } else { n };
    let mut limit = || -> Result<(), Failure> {
        progress.stage("bandwidth");
        for (samples, operation) in limits.iter_mut().zip([Operation::Copy, Operation::Sum, Operation::Dot]) {
            samples.extend(Case::<T>::new(&context, side, operation)?.measure(&context, LIMIT_SAMPLES)?.samples);
        }
        Ok(())
    };
    limit()?;
    let arithmetic = chosen.iter().any(|operation| operation.is_bound_by_arithmetic());
    let fma_rate = if arithmetic { Some(multiply_add_rate::<T>(&context)?) } else { None };
    let mut measured = Vec::new();
    let count = chosen.len();
    for (k, operation) in chosen.into_iter().enumerate() {
        progress.reached(k as f64 / count as f64, format!("{}, {} of {count}", operation.name(), k + 1));
        let mut case = Case::<T>::new(&context, n, operation)?;
        let timed = case.measure(&context, args.samples)?;
        measured.push((operation, case, timed));
    }
    limit()?;
    progress.clear();
    let values = (side * side * size_of::<T>()) as f64;
    let [copy_bandwidth, sum, dot] =
        [(2.0, &limits[0]), (1.0, &limits[1]), (2.0, &limits[2])].map(|(k, times)| k * values / median(times) / 1e9);
    let read_bandwidth = sum.max(dot);
    let results = measured.into_iter().map(|(operation, Case { bytes, size, limit, updates, work, .. }, timed)| {
        let time = median(&timed.samples);
        let gb_per_s = bytes as f64 / time / 1e9;
        // What a copy reads can be read as well.
        let limit = if limit == Limit::Read && read_bandwidth <= copy_bandwidth { Limit::Copy } else { limit };
        let fraction_of_limit = match limit {
            Limit::Copy => gb_per_s / copy_bandwidth,
            Limit::Read => gb_per_s / read_bandwidth,
            Limit::Fma => work.map_or(0.0, |work| work.flops / time) / fma_rate.unwrap_or(f64::NAN),
        };
        Measured {
            operation,
            n,
            size,
            precision: T::PRECISION,
            bytes,
            calls: timed.calls,
            seconds: time,
            samples: timed.samples,
            gb_per_s,
            fraction_of_copy: gb_per_s / copy_bandwidth,
            limit,
            fraction_of_limit,
            points_per_second: updates.map(|updates| updates as f64 / time),
            flops: work.map(|work| work.flops),
            flops_per_second: work.map(|work| work.flops / time),
            flops_per_evaluation: work.and_then(|work| Some(work.flops / work.evaluations?)),
            evaluations_per_second: work.and_then(|work| Some(work.evaluations? / time)),
            kernels: args.kernels.then_some(timed.kernels),
        }
    });
    let document = Document {
        device: context.device().into(),
        kernel_family: context.family(),
        copy_bandwidth,
        read_bandwidth,
        fma_rate,
        results: results.collect(),
    };
    document.print(n, args, out)?;
    out.json(&document)?;
    Ok(Exit::Done)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => sorted[middle],
        _ => sorted[middle - 1].midpoint(sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }
}
