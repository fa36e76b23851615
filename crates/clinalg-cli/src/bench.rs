//! `clinalg bench`.

use std::time::{Duration, Instant};

use clap::ValueEnum;
use clinalg::grid::{self, Cycle, Poisson, PoissonParams, Wave, WaveParams};
use clinalg::reference::{BandParts, CsrParts};
use clinalg::runtime::KernelTiming;
use clinalg::solve::{Cg, Operator, Params, Stop};
use clinalg::{Band, Context, Csr, Dense, Error, Precision, Real, Vector, ops};
use clinalg_bem::Mesh;
use clinalg_bem::heat::{Form, HeatParams, HeatSpace, Kind, OperatorOptions, multiply_add_rate};
use indicatif::{ProgressBar, ProgressDrawTarget};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde::Serialize;

use crate::Global;
use crate::args::{self, DeviceName, PrecisionArg};
use crate::exit::{Exit, Failure};
use crate::output::{Align, Output, seconds, table};

/// Measure each operation against the memory bandwidth
///
/// Vectors have N^2 random values. Operations here move far more bytes than they compute, so their limit is the bandwidth
/// of a plain copy or, where they mostly read, of a plain sum or dot product, measured in the same run.
#[derive(clap::Args)]
#[command(after_help = "\
How: after a warm-up, a sample is the wall time of as many calls in a row as
take 2 ms, with a wait for the device at their end, over their number. Times are
medians of the samples. Bytes are those that must be read and written once: in
f64 24 N^2 for axpby, 12 an entry and 20 a row for the CSR product; red_black
counts one pass (24 N^2), jacobi_fused the same for its five sweeps together,
wave_leapfrog 24 N^2, wave_fused 32 N^2 for its eight steps together. Poisson
counts 18 values a point and cycle (poisson_vcycle, poisson_solve,
poisson_solve_w) and 28 for a pass of full multigrid (poisson_fmg, poisson3_fmg);
fused kernels move fewer. cg_poisson counts per iteration a product and nine
passes over vectors, cg_iteration a product and eight. Gpoint/s are points times
sweeps or time steps a second. enqueue moves none: it is what the host needs for a launch.
heat_v, heat_k, heat_ks and heat_d are products of the heat operators on the fly
on the cube with 24 (N - 1) triangles and N - 1 time steps; they count each entry
of a block written and read once, and operations from the kernels' text, two for
a multiplication with an addition. An evaluation is a pair of quadrature points
and a block, what published algorithms compute. Their limit is the rate of
multiplications with additions, measured in the same run.
copy_bandwidth is that of
`copy`, read_bandwidth that of `sum` or `dot`, the faster, medians over both
ends of the run. Operations that mostly read are held against the larger one.

JSON: {\"device\", \"shape\", \"copy_bandwidth\", \"read_bandwidth\", \"fma_rate\", \"results\":
[{\"operation\", \"n\", \"size\", \"precision\", \"bytes\", \"calls\", \"seconds\", \"samples\",
\"gb_per_s\", \"fraction_of_copy\", \"limit\", \"fraction_of_limit\",
\"points_per_second\", \"flops\", \"flops_per_evaluation\", \"evaluations_per_second\",
\"kernels\"}]}.
Bandwidths in 10^9 bytes per second, fma_rate in operations per second, null
where no heat operator is measured; kernels is null without --kernels.

Examples:
  clinalg bench                             all but the special ones at N = 2049
  clinalg bench --n 4097 --only copy,dot    on 16.8 million values
  clinalg bench --kernels --precision f32   with each kernel's device time
  clinalg bench --n 65 --only heat_v,heat_k 1536 triangles, 64 time steps

Choose N so that 8 N^2 bytes are several times the last-level cache, or it is
the cache that is measured.")]
pub(crate) struct Args {
    /// Points a side of the grid; vectors have N^2 values, the dense matrix has N rows
    #[arg(long, default_value_t = 2049, value_parser = args::side, allow_hyphen_values = true)]
    n: usize,
    /// Precision of the data
    #[arg(long, value_enum, default_value_t = PrecisionArg::F64)]
    precision: PrecisionArg,
    /// Only these operations, separated by commas [default: all but cg_poisson, poisson3_fmg and heat_*]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<Operation>,
    /// Samples of each operation; cg_poisson takes at most 3
    #[arg(long, default_value_t = 20, value_name = "COUNT", value_parser = args::positive, allow_hyphen_values = true)]
    samples: usize,
    /// Also the time that the device gives for each kernel
    #[arg(long)]
    kernels: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
enum Operation {
    /// out = x
    Copy,
    /// out = alpha x + beta y
    Axpby,
    /// y = alpha x + beta y
    Update,
    /// out = alpha x
    Scale,
    /// out = x .* y
    Multiply,
    /// Sum of the values
    Sum,
    /// Dot product
    Dot,
    /// Sum of the magnitudes
    Norm1,
    /// Euclidean norm
    Norm2,
    /// Largest magnitude
    NormInf,
    /// y = A x, 5-point matrix in compressed rows
    MvCsrPoisson5,
    /// y = A x, band matrix with two sub- and two superdiagonals
    MvBand,
    /// y = A x, dense N x N matrix
    MvDense,
    /// y = A' x, dense N x N matrix
    MvDenseTransposed,
    /// A sweep of weighted Jacobi on the grid
    Jacobi,
    /// Five sweeps of weighted Jacobi, on a GPU in one pass
    JacobiFused,
    /// A sweep of red-black Gauss-Seidel on the grid
    RedBlack,
    /// d = f + Laplace_h u
    Defect,
    /// Full weighting to the next coarser grid
    Restrict,
    /// Bilinear interpolation from the next coarser grid
    Interpolate,
    /// A V(2,1) cycle with its residual norm: a quarter of four cycles from zero
    PoissonVcycle,
    /// Poisson from zero to a relative residual of 1e-10 (f32: 1e-5) by V(2,1) cycles
    PoissonSolve,
    /// The same by W(2,1) cycles
    PoissonSolveW,
    /// One pass of full multigrid with a V(2,1) cycle a level, and its residual
    PoissonFmg,
    /// The same on the cube, N^3 points
    #[value(name = "poisson3_fmg")]
    #[serde(rename = "poisson3_fmg")]
    Poisson3Fmg,
    /// A leapfrog step of the wave equation
    WaveLeapfrog,
    /// Eight leapfrog steps in one pass
    WaveFused,
    /// An iteration of conjugate gradients on the interior 5-point matrix: a hundredth of 100 from zero
    CgIteration,
    /// Host time to enqueue one kernel, without its run: out = alpha x on 1024 values
    Enqueue,
    /// Conjugate gradients to 1e-10 (f32: 1e-5) on the interior 5-point matrix; long
    CgPoisson,
    /// y = V x, single layer of the heat equation on the fly
    HeatV,
    /// y = K x, double layer
    HeatK,
    /// y = Ks x, adjoint double layer
    HeatKs,
    /// y = D x, hypersingular operator
    HeatD,
}

impl Operation {
    /// Of the grid that it works on.
    fn dimensions(self) -> usize {
        if self == Operation::Poisson3Fmg { 3 } else { 2 }
    }

    /// Whether it is measured only when it is named.
    fn is_special(self) -> bool {
        matches!(self, Operation::CgPoisson | Operation::Poisson3Fmg) || self.heat().is_some()
    }

    /// The heat operator that it applies.
    fn heat(self) -> Option<Kind> {
        match self {
            Operation::HeatV => Some(Kind::V),
            Operation::HeatK => Some(Kind::K),
            Operation::HeatKs => Some(Kind::Ks),
            Operation::HeatD => Some(Kind::D),
            _ => None,
        }
    }
}

/// What bounds the speed of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Limit {
    Copy,
    Read,
    Fma,
}

/// What an operation computes, where that bounds it.
#[derive(Debug, Clone, Copy)]
struct Work {
    flops: f64,
    /// Of the published algorithms.
    evaluations: f64,
}

#[derive(Serialize)]
struct Document {
    device: DeviceName,
    shape: clinalg::Shape,
    copy_bandwidth: f64,
    read_bandwidth: f64,
    fma_rate: Option<f64>,
    results: Vec<Measured>,
}

#[derive(Serialize)]
struct Measured {
    operation: Operation,
    n: usize,
    size: usize,
    precision: Precision,
    bytes: u64,
    calls: usize,
    seconds: f64,
    samples: Vec<f64>,
    gb_per_s: f64,
    fraction_of_copy: f64,
    limit: Limit,
    fraction_of_limit: f64,
    points_per_second: Option<f64>,
    flops: Option<f64>,
    flops_per_evaluation: Option<f64>,
    evaluations_per_second: Option<f64>,
    kernels: Option<Vec<KernelTime>>,
}

/// Device time of a kernel per call of the operation.
#[derive(Serialize)]
struct KernelTime {
    kernel: &'static str,
    launches_per_call: f64,
    seconds_per_call: f64,
}

pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    match args.precision {
        PrecisionArg::F32 => measure_all::<f32>(args, global, out),
        PrecisionArg::F64 => measure_all::<f64>(args, global, out),
    }
}

/// Samples of the limits at each end.
const LIMIT_SAMPLES: usize = 20;

fn measure_all<T: Real>(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    let context = global.context(args.kernels)?;
    context.require::<T>()?;
    let target = if out.is_json() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let spinner = ProgressBar::with_draw_target(None, target);
    spinner.enable_steady_tick(Duration::from_millis(120));
    let chosen: Vec<Operation> = match args.only.is_empty() {
        true => Operation::value_variants().iter().copied().filter(|o| !o.is_special()).collect(),
        false => args.only.clone(),
    };
    let mut limits = [Vec::new(), Vec::new(), Vec::new()];
    // Vectors as long as the largest grid.
    let cube = chosen.iter().any(|operation| operation.dimensions() == 3);
    let side = if cube { (args.n.pow(3) as f64).sqrt() as usize } else { args.n };
    let mut limit = || -> Result<(), Failure> {
        spinner.set_message("bandwidth");
        for (samples, operation) in limits.iter_mut().zip([Operation::Copy, Operation::Sum, Operation::Dot]) {
            samples.extend(Case::<T>::new(&context, side, operation)?.measure(&context, LIMIT_SAMPLES)?.samples);
        }
        Ok(())
    };
    limit()?;
    let heat = chosen.iter().any(|operation| operation.heat().is_some());
    let fma_rate = if heat { Some(multiply_add_rate::<T>(&context)?) } else { None };
    let mut measured = Vec::new();
    for operation in chosen {
        spinner.set_message(name(operation));
        let mut case = Case::<T>::new(&context, args.n, operation)?;
        let timed = case.measure(&context, args.samples)?;
        measured.push((operation, case, timed));
    }
    limit()?;
    spinner.finish_and_clear();
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
            n: args.n,
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
            flops_per_evaluation: work.map(|work| work.flops / work.evaluations),
            evaluations_per_second: work.map(|work| work.evaluations / time),
            kernels: args.kernels.then_some(timed.kernels),
        }
    });
    let document = Document {
        device: context.device().into(),
        shape: context.shape(),
        copy_bandwidth,
        read_bandwidth,
        fma_rate,
        results: results.collect(),
    };
    document.print(args, out)?;
    out.json(&document)?;
    Ok(Exit::Done)
}

fn name(operation: Operation) -> String {
    operation.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
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

/// One operation with its data on the device.
struct Case<T: Real> {
    bytes: u64,
    size: usize,
    limit: Limit,
    /// Points times steps of a call, for steps on grids.
    updates: Option<usize>,
    /// What it computes, for operations bound by that.
    work: Option<Work>,
    /// Operations that one call makes.
    parts: usize,
    /// Whether a single call is a sample, and at most three are taken.
    long: bool,
    /// Whether the wait for the device is left out of the time.
    host: bool,
    call: Box<dyn FnMut() -> clinalg::Result<()>>,
    data: std::marker::PhantomData<T>,
}

struct Timed {
    calls: usize,
    samples: Vec<f64>,
    kernels: Vec<KernelTime>,
}

/// The shortest sample.
const SAMPLE: Duration = Duration::from_millis(2);
/// Sweeps of Jacobi in a pass.
const SWEEPS: usize = 5;
/// V-cycles from one start.
const CYCLES: usize = 4;
/// Most iterations of conjugate gradients from one start.
const ITERATIONS: usize = 100;
/// Most points a side for heat operators: 256 time steps, 6144 triangles.
const MOST_HEAT: usize = 257;
/// Launches in a row of which the host's part is timed; drivers take so many without waiting.
const LAUNCHES: usize = 200;

/// Uniform in (-1, 1).
fn random<T: Real>(len: usize, seed: u64) -> Vec<T> {
    let mut rng = StdRng::seed_from_u64(seed);
    (0..len).map(|_| T::of(rng.random_range(-1.0..1.0))).collect()
}

/// To the tolerance by default of the precision.
fn poisson_params<T: Real>() -> PoissonParams {
    let tolerance = if T::PRECISION == Precision::F32 { 1e-5 } else { 1e-10 };
    PoissonParams { tolerance, ..PoissonParams::default() }
}

/// Leapfrog at the Courant number 0.7.
fn wave_params(n: usize) -> WaveParams {
    let params = WaveParams { n, ..WaveParams::default() };
    WaveParams { dt: params.dt_of(0.7), ..params }
}

impl<T: Real> Case<T> {
    fn new(context: &Context, n: usize, operation: Operation) -> Result<Case<T>, Failure> {
        let points = n * n;
        let coarse = n.div_ceil(2).pow(2);
        let vector = |len, seed| Vector::from_slice(context, &random::<T>(len, seed));
        let (two, half) = (T::of(2.0), T::of(0.5));
        // Values moved; limit; the call.
        let (values, limit, call): (usize, Limit, Box<dyn FnMut() -> clinalg::Result<()>>) = match operation {
            Operation::Copy => {
                let (x, mut out) = (vector(points, 1)?, vector(points, 2)?);
                (2 * points, Limit::Copy, Box::new(move || ops::copy(&x, &mut out)))
            }
            Operation::Axpby => {
                let (x, y, mut out) = (vector(points, 1)?, vector(points, 2)?, vector(points, 3)?);
                (3 * points, Limit::Copy, Box::new(move || ops::axpby(two, &x, half, &y, &mut out)))
            }
            Operation::Update => {
                let (x, mut y) = (vector(points, 1)?, vector(points, 2)?);
                (3 * points, Limit::Copy, Box::new(move || ops::update(half, &x, half, &mut y)))
            }
            Operation::Scale => {
                let (x, mut out) = (vector(points, 1)?, vector(points, 2)?);
                (2 * points, Limit::Copy, Box::new(move || ops::scale(two, &x, &mut out)))
            }
            Operation::Multiply => {
                let (x, y, mut out) = (vector(points, 1)?, vector(points, 2)?, vector(points, 3)?);
                (3 * points, Limit::Copy, Box::new(move || ops::multiply(&x, &y, &mut out)))
            }
            Operation::Sum => reduction(vector(points, 1)?, ops::sum),
            Operation::Norm1 => reduction(vector(points, 1)?, ops::norm1),
            Operation::Norm2 => reduction(vector(points, 1)?, ops::norm2),
            Operation::NormInf => reduction(vector(points, 1)?, ops::norm_inf),
            Operation::Dot => {
                let (x, y) = (vector(points, 1)?, vector(points, 2)?);
                (2 * points, Limit::Read, Box::new(move || ops::dot(&x, &y).map(drop)))
            }
            Operation::MvCsrPoisson5 => {
                let a = Csr::from_parts(context, &poisson5::<T>(n))?;
                let (x, mut y) = (vector(points, 1)?, vector(points, 2)?);
                let bytes = csr_bytes::<T>(points, a.nnz());
                let call = move || ops::mv(T::one(), &a, &x, T::zero(), &mut y);
                return Ok(Case::of(bytes, points, Limit::Read, Box::new(call)));
            }
            Operation::MvBand => {
                let mut parts = BandParts::zeros(points, points, 2, 2)?;
                parts.data = random(parts.data.len(), 3);
                // Outside the matrix the diagonals hold zeros.
                for (d, i) in [(0, 0), (0, 1), (1, 0), (3, points - 1), (4, points - 1), (4, points - 2)] {
                    parts.data[d * points + i] = T::zero();
                }
                let a = Band::from_parts(context, &parts)?;
                let (x, mut y) = (vector(points, 1)?, vector(points, 2)?);
                (7 * points, Limit::Read, Box::new(move || ops::mv(T::one(), &a, &x, T::zero(), &mut y)))
            }
            Operation::MvDense | Operation::MvDenseTransposed => {
                let a = Dense::from_column_major(context, n, n, &random::<T>(points, 3))?;
                let (x, mut y) = (vector(n, 1)?, vector(n, 2)?);
                let transposed = operation == Operation::MvDenseTransposed;
                let call = move || match transposed {
                    false => ops::mv(T::one(), &a, &x, T::zero(), &mut y),
                    true => ops::mv_transposed(T::one(), &a, &x, T::zero(), &mut y),
                };
                (points + 2 * n, Limit::Read, Box::new(call))
            }
            Operation::Jacobi => {
                let (u, f, mut out) = (vector(points, 1)?, vector(points, 2)?, vector(points, 3)?);
                let call = move || grid::jacobi(&u, &f, &mut out, 1, T::of(0.8));
                return Ok(Case::stepped(3, points, 1, Box::new(call)));
            }
            Operation::JacobiFused => {
                let (u, f, mut out) = (vector(points, 1)?, vector(points, 2)?, vector(points, 3)?);
                let call = move || grid::jacobi(&u, &f, &mut out, SWEEPS, T::of(0.8));
                return Ok(Case::stepped(3, points, SWEEPS, Box::new(call)));
            }
            Operation::RedBlack => {
                let (u, f, mut out) = (vector(points, 1)?, vector(points, 2)?, vector(points, 3)?);
                return Ok(Case::stepped(3, points, 1, Box::new(move || grid::red_black(&u, &f, &mut out, 1))));
            }
            Operation::Defect => {
                let (u, f, mut out) = (vector(points, 1)?, vector(points, 2)?, vector(points, 3)?);
                (3 * points, Limit::Copy, Box::new(move || grid::defect(&u, &f, &mut out)))
            }
            Operation::Restrict => {
                let (fine, mut out) = (vector(points, 1)?, vector(coarse, 2)?);
                (points + coarse, Limit::Copy, Box::new(move || grid::restrict(&fine, &mut out)))
            }
            Operation::Interpolate => {
                let (small, mut out) = (vector(coarse, 1)?, vector(points, 2)?);
                (points + coarse, Limit::Copy, Box::new(move || grid::interpolate(&small, &mut out)))
            }
            Operation::PoissonVcycle => {
                let params = PoissonParams { n, tolerance: 0.0, max_cycles: CYCLES, ..PoissonParams::default() };
                let mut poisson = Poisson::<T>::new(context, &params)?;
                let (f, mut u) = (vector(points, 1)?, Vector::zeros(context, points)?);
                let call = move || {
                    u.fill(T::zero())?;
                    poisson.solve_device(&f, &mut u).map(drop)
                };
                let bytes = (CYCLES * 18 * points * size_of::<T>()) as u64;
                return Ok(Case {
                    parts: CYCLES,
                    ..Case::of(bytes / CYCLES as u64, points, Limit::Copy, Box::new(call))
                });
            }
            Operation::PoissonSolve | Operation::PoissonSolveW => {
                let cycle = if operation == Operation::PoissonSolve { Cycle::V } else { Cycle::W };
                return Case::poisson(context, PoissonParams { n, cycle, ..poisson_params::<T>() });
            }
            Operation::PoissonFmg | Operation::Poisson3Fmg => {
                let dim = operation.dimensions();
                let params = PoissonParams { n, dim, cycle: Cycle::Full, max_cycles: 1, ..poisson_params::<T>() };
                return Case::poisson(context, params);
            }
            Operation::WaveLeapfrog | Operation::WaveFused => {
                let steps = if operation == Operation::WaveFused { 8 } else { 1 };
                let mut wave = Wave::<T>::new(context, &wave_params(n))?;
                wave.start_device(&vector(points, 1)?, None)?;
                // One step reads two grids and writes one, a pass of several reads and writes two.
                let values = if steps == 1 { 3 } else { 4 };
                return Ok(Case::stepped(values, points, steps, Box::new(move || wave.step(steps).map(drop))));
            }
            Operation::CgIteration => return Case::cg_iteration(context, n),
            Operation::Enqueue => {
                let (x, mut out) = (vector(1024, 1)?, vector(1024, 2)?);
                let case = Case::of(0, 1024, Limit::Copy, Box::new(move || ops::scale(two, &x, &mut out)));
                return Ok(Case { host: true, ..case });
            }
            Operation::CgPoisson => return Case::cg(context, n),
            Operation::HeatV => return Case::heat(context, n, Kind::V),
            Operation::HeatK => return Case::heat(context, n, Kind::K),
            Operation::HeatKs => return Case::heat(context, n, Kind::Ks),
            Operation::HeatD => return Case::heat(context, n, Kind::D),
        };
        Ok(Case::of((values * size_of::<T>()) as u64, points, limit, call))
    }

    fn of(bytes: u64, size: usize, limit: Limit, call: Box<dyn FnMut() -> clinalg::Result<()>>) -> Case<T> {
        Case {
            bytes,
            size,
            limit,
            updates: None,
            work: None,
            parts: 1,
            long: false,
            host: false,
            call,
            data: std::marker::PhantomData,
        }
    }

    /// So many steps on a grid, which together move so many values a point.
    fn stepped(values: usize, points: usize, steps: usize, call: Box<dyn FnMut() -> clinalg::Result<()>>) -> Case<T> {
        let bytes = (values * points * size_of::<T>()) as u64;
        Case { updates: Some(steps * points), ..Case::of(bytes, points, Limit::Copy, call) }
    }

    /// A solution from zero; its bytes are those of the cycles that a first one takes: 18 values a point, 28 for the pass of
    /// full multigrid.
    fn poisson(context: &Context, params: PoissonParams) -> Result<Case<T>, Failure> {
        let points = params.n.pow(params.dim as u32);
        let mut poisson = Poisson::<T>::new(context, &params)?;
        let f = Vector::from_slice(context, &random::<T>(points, 1))?;
        let mut u = Vector::zeros(context, points)?;
        let mut call = move || {
            u.fill(T::zero())?;
            poisson.solve_device(&f, &mut u)
        };
        let report = call()?;
        let values = match params.cycle {
            Cycle::Full => 28,
            _ if report.stop.is_success() => 18 * report.cycles,
            _ => return Err(Failure::NotConverged(format!("poisson_solve: {}", report.stop))),
        };
        let bytes = (values * points * size_of::<T>()) as u64;
        Ok(Case::of(bytes, points, Limit::Copy, Box::new(move || call().map(drop))))
    }

    /// Conjugate gradients; its bytes are those of the iterations that a first solve takes: a product and nine passes over
    /// vectors each.
    fn cg(context: &Context, n: usize) -> Result<Case<T>, Failure> {
        let size = (n - 2).pow(2);
        let a = Csr::from_parts(context, &poisson5::<T>(n - 2))?;
        let b = Vector::from_slice(context, &random::<T>(size, 1))?;
        let mut x = Vector::zeros(context, size)?;
        let mut cg = Cg::new(context, size)?;
        let params = Params::of::<T>();
        let bytes = csr_bytes::<T>(size, a.nnz()) + (9 * size * size_of::<T>()) as u64;
        let mut call = move || {
            x.fill(T::zero())?;
            cg.solve(&a, None, &b, &mut x, &params)
        };
        let report = call()?;
        if !matches!(report.stop, Stop::Converged | Stop::RoundingFloor) {
            return Err(Failure::NotConverged(format!("cg_poisson: {report}")));
        }
        let case = Case::of(bytes * report.iterations as u64, size, Limit::Copy, Box::new(move || call().map(drop)));
        Ok(Case { long: true, ..case })
    }

    /// A product with a heat operator on the cube, on the fly.
    fn heat(context: &Context, n: usize, kind: Kind) -> Result<Case<T>, Failure> {
        if n > MOST_HEAT {
            let (expected, got) = (format!("at most {MOST_HEAT} for heat operators"), n.to_string());
            return Err(Error::Value { argument: "n", expected, got }.into());
        }
        let level = (n - 1).ilog2() as usize;
        let cube = if level.is_multiple_of(2) { Mesh::cube24() } else { Mesh::cube12() };
        let mesh = cube.refined_times(level.div_ceil(2))?;
        let space = HeatSpace::<T>::new(context, &mesh, &HeatParams::new(0.5, 1.0, n - 1))?;
        let a = space.operator(kind, &OperatorOptions { form: Form::Otf, ..OperatorOptions::default() })?;
        let (rows, cols, steps) = a.block_shape();
        let bytes = (2 * rows * cols * steps * size_of::<T>()) as u64;
        let work = Some(Work { flops: a.flops()?, evaluations: a.evaluations() });
        let x = Vector::from_slice(context, &random::<T>(a.cols(), 1))?;
        let mut y = Vector::zeros(context, a.rows())?;
        let call = Box::new(move || a.apply(T::one(), &x, T::zero(), &mut y));
        Ok(Case { work, ..Case::of(bytes, mesh.triangles().len(), Limit::Fma, call) })
    }

    /// Its bytes are those of a product and eight passes over vectors.
    fn cg_iteration(context: &Context, n: usize) -> Result<Case<T>, Failure> {
        let size = (n - 2).pow(2);
        let a = Csr::from_parts(context, &poisson5::<T>(n - 2))?;
        let b = Vector::from_slice(context, &random::<T>(size, 1))?;
        let mut x = Vector::zeros(context, size)?;
        let mut cg = Cg::new(context, size)?;
        let params = Params { tolerance: f64::MIN_POSITIVE, max_iterations: ITERATIONS, ..Params::default() };
        let bytes = csr_bytes::<T>(size, a.nnz()) + (8 * size * size_of::<T>()) as u64;
        let mut call = move || {
            x.fill(T::zero())?;
            cg.solve(&a, None, &b, &mut x, &params)
        };
        // On few unknowns it ends sooner.
        let parts = call()?.iterations.max(1);
        let case = Case::of(bytes, size, Limit::Copy, Box::new(move || call().map(drop)));
        Ok(Case { parts, ..case })
    }

    fn measure(&mut self, context: &Context, samples: usize) -> Result<Timed, Failure> {
        let mut sample = |calls: usize| -> Result<Duration, Failure> {
            let start = Instant::now();
            for _ in 0..calls {
                (self.call)()?;
            }
            let enqueued = start.elapsed();
            context.finish()?;
            Ok(if self.host { enqueued } else { start.elapsed() })
        };
        let mut calls = if self.host { LAUNCHES } else { 1 };
        if self.host {
            sample(calls)?;
        } else if !self.long {
            // The first call builds the kernels.
            sample(1)?;
            while sample(calls)? < SAMPLE {
                calls *= 2;
            }
        }
        context.reset_timings();
        let samples = if self.long { samples.min(3) } else { samples };
        let times = (0..samples).map(|_| sample(calls)).collect::<Result<Vec<_>, Failure>>()?;
        let all = (samples * calls * self.parts) as f64;
        let per_call = |t: KernelTiming| KernelTime {
            kernel: t.kernel,
            launches_per_call: t.launches as f64 / all,
            seconds_per_call: t.seconds / all,
        };
        Ok(Timed {
            calls,
            samples: times.iter().map(|t| t.as_secs_f64() / (calls * self.parts) as f64).collect(),
            kernels: context.timings()?.into_iter().map(per_call).collect(),
        })
    }
}

fn reduction<T: Real>(
    x: Vector<T>,
    reduce: fn(&Vector<T>) -> clinalg::Result<T>,
) -> (usize, Limit, Box<dyn FnMut() -> clinalg::Result<()>>) {
    (x.len(), Limit::Read, Box::new(move || reduce(&x).map(drop)))
}

/// Values and columns once, offsets once, x read once, y written once.
fn csr_bytes<T: Real>(rows: usize, nnz: usize) -> u64 {
    ((size_of::<T>() + 4) * nnz + 4 * (rows + 1) + 2 * size_of::<T>() * rows) as u64
}

/// The 5-point matrix of m x m unknowns, scaled by h^2.
fn poisson5<T: Real>(m: usize) -> CsrParts<T> {
    let (four, minus) = (T::of(4.0), T::of(-1.0));
    let mut a = CsrParts { rows: m * m, cols: m * m, offsets: vec![0], indices: Vec::new(), values: Vec::new() };
    a.indices.reserve(5 * m * m);
    a.values.reserve(5 * m * m);
    for j in 0..m {
        for i in 0..m {
            let k = j * m + i;
            let entries = [
                (j > 0).then(|| (k - m, minus)),
                (i > 0).then(|| (k - 1, minus)),
                Some((k, four)),
                (i + 1 < m).then_some((k + 1, minus)),
                (j + 1 < m).then_some((k + m, minus)),
            ];
            for (column, value) in entries.into_iter().flatten() {
                a.indices.push(column);
                a.values.push(value);
            }
            a.offsets.push(a.indices.len());
        }
    }
    a
}

impl Document {
    fn print(&self, args: &Args, out: &mut Output) -> Result<(), Failure> {
        let precision = self.results.first().map_or("", |r| match r.precision {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        });
        out.field("device", self.device.to_string())?;
        out.field("data", format!("N = {}, {precision}, medians of {} samples", args.n, args.samples))?;
        let Document { copy_bandwidth, read_bandwidth, .. } = self;
        out.field("bandwidth", format!("copy {copy_bandwidth:.1} GB/s, read {read_bandwidth:.1} GB/s"))?;
        if let Some(rate) = self.fma_rate {
            out.field("arithmetic", format!("{:.1} GFLOP/s of multiplications with additions", 1e-9 * rate))?;
        }
        for r in &self.results {
            if let (Some(flops), Some(evaluations)) = (r.flops_per_evaluation, r.evaluations_per_second) {
                let words = format!("{flops:.2} operations an evaluation, {evaluations:.2e} evaluations/s");
                out.field(&name(r.operation), words)?;
            }
        }
        out.line("")?;
        let columns = [
            ("operation", Align::Left),
            ("MB moved", Align::Right),
            ("time", Align::Right),
            ("GB/s", Align::Right),
            ("of copy", Align::Right),
            ("of limit", Align::Right),
            ("limit", Align::Left),
            ("Gpoint/s", Align::Right),
        ];
        let row = |r: &Measured| {
            vec![
                name(r.operation),
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
            ]
        };
        for line in table(&columns, &self.results.iter().map(row).collect::<Vec<_>>()) {
            out.line(line)?;
        }
        if !args.kernels {
            return Ok(());
        }
        out.line("")?;
        let columns = [
            ("operation", Align::Left),
            ("kernel", Align::Left),
            ("launches a call", Align::Right),
            ("device time a call", Align::Right),
        ];
        let rows: Vec<Vec<String>> = self
            .results
            .iter()
            .flat_map(|r| r.kernels.iter().flatten().map(|k| (name(r.operation), k)))
            .map(|(operation, k)| {
                vec![operation, k.kernel.into(), format!("{:.2}", k.launches_per_call), seconds(k.seconds_per_call)]
            })
            .collect();
        for line in table(&columns, &rows) {
            out.line(line)?;
        }
        Ok(())
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

    #[test]
    fn the_matrix_is_the_5_point_stencil() {
        let a = poisson5::<f64>(3);
        let mut b = clinalg::reference::grid2::poisson5_interior::<f64>(5).unwrap();
        // That one is scaled by 1 / h^2 = 16.
        b.values.iter_mut().for_each(|v| *v /= 16.0);
        assert_eq!(a, b);
    }

    #[test]
    fn operations_have_the_names_of_the_help() {
        let names: Vec<String> = Operation::value_variants().iter().map(|&o| name(o)).collect();
        for expected in ["copy", "norm_inf", "mv_csr_poisson5", "mv_dense_transposed", "poisson_vcycle", "cg_poisson"] {
            assert!(names.iter().any(|n| n == expected), "{expected} in {names:?}");
        }
        for &operation in Operation::value_variants() {
            assert_eq!(serde_json::to_value(operation).unwrap(), name(operation));
        }
    }
}
