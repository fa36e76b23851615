//! `clinalg waveform`.

mod devices;
mod measured;
mod network;
mod report;
mod study;

use std::path::{Path, PathBuf};

use clinalg::{Precision, Real};
use clinalg_ode::Method;
use clinalg_ode::problems::Problem;
use clinalg_ode::waveform::{Guess, Partition, Stop, VARIANTS, WaveformOptions, WaveformState, explain};

pub(crate) use self::devices::Document as DevicesDocument;
use self::measured::{Devices, Span, measure};
pub(crate) use self::network::Document as NetworkDocument;
pub(crate) use self::report::Document;
pub(crate) use self::study::Document as StudyDocument;
use self::study::Varied;
use crate::args::{self, PrecisionArg};
use crate::checkpoint::{self, Checkpoints, Fingerprint, Loaded};
use crate::data::Values;
use crate::exit::{Exit, Failure, usage};
use crate::global::Global;
use crate::interrupt;
use crate::output::Output;
use crate::plot::{Picture, PlotArgs};
use crate::progress::Progress;
use crate::series::SeriesArgs;
use crate::system::{SystemArgs, fingerprint};

/// The help between the statements of a system and the files of frames.
const BEFORE_FRAMES: &str = "

Blocks (--variant):
  component       every component: Jacobi iteration
  copy-all        as component; each right-hand side reads a private copy of all
                  components: for comparison, needs memory for their square
  copy-access-distance
                  as component; private copies as far as formulas read
  point           all fields of a grid point
  block           all fields of a box of grid points, --block 32x32
  block-boundary  as block; only waveforms at boundaries of blocks are stored
  device          the rows of the grid of each device (--devices), integrated by
                  the kernels of the method; halos are exchanged once an iteration

Waveform relaxation pays off only if launches or messages cost more than
arithmetic.

Studies (--study), each drawn by --plot:
  blocks  iterations and times of square blocks of 1, 2, 4, ... points per side
  sizes   times against the method itself on grids of 10, 20, 40, ... points per
          axis, up to --n
  devices times of the first of --devices alone and of all, per iteration; no picture
  network a cluster of 1, 2, 4, ... 1024 nodes by a model: an exchange once an
          iteration (--iterations) of a window of --steps steps against one every
          few steps, at latencies of 1, 10 and 100 us and 10 GB/s. The time of a
          step is measured on this device, and the model is compared with ranks
          in threads whose messages take such times.

Frames: the beginning, and the end of every window.
";

/// The help after that.
const AFTER_FRAMES: &str = "

JSON keys: problem, n, components, variant, block, method, precision, h, steps, windows,
iterations, window_steps (of each window), error_history (of each window), memory_bytes,
words_per_component, seconds, seconds_setup, method_seconds, predicted_seconds (for the
iterations taken), predicted_method_seconds, break_even_iterations, max_difference, explain,
kernel_family, device, devices (of --devices), peak_device_bytes, times and files (of the
frames), t (the time reached), unfinished (the differences of a window that was ended before it
converged), checkpoint. The keys from method_seconds to max_difference are null if the run was
ended early. With Euler's method also euler_seconds and max_difference_from_euler, which are
method_seconds and max_difference.
With --study: problem, study, method, precision, h, steps, windows, kernel_family, device
and runs, each with n, variant, block, iterations, memory_bytes, seconds, method_seconds,
with Euler's method also euler_seconds.

Ctrl-C ends the run after the current iteration, --iteration-limit after that many. On one
device a checkpoint is then written; in the middle of a window it includes the waveforms.
--resume FILE continues from it; on the same device the result is bitwise that of an
uninterrupted run. Frames that were already written are not written again. The exit code is
1 if the run was ended early, else 0.";

/// Integrate a system by waveform relaxation, and by the method itself for comparison
///
/// Blocks of components are integrated over a whole window of steps of a Runge-Kutta method with the waveforms of other blocks from the
/// previous iteration, until the waveforms agree. After w iterations the first w steps are those of Euler's method to the last bit.
#[derive(clap::Args)]
#[command(after_help = [
    "Test problems: clinalg ode --list\n\n",
    crate::system::HELP,
    BEFORE_FRAMES,
    crate::series::HELP,
    AFTER_FRAMES,
]
.concat())]
pub(crate) struct Args {
    #[command(flatten)]
    system: SystemArgs,
    /// Method of the steps, an explicit Runge-Kutta method of clinalg ode --list
    #[arg(long, value_name = "NAME", default_value = "euler")]
    method: String,
    /// Step size
    #[arg(long, value_name = "H", default_value_t = 1e-4, value_parser = args::above_zero, allow_hyphen_values = true)]
    h: f64,
    /// Number of steps
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = args::positive, allow_hyphen_values = true)]
    steps: usize,
    /// Number of windows, a divisor of the steps
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = args::positive, allow_hyphen_values = true)]
    windows: usize,
    /// Fixed number of iterations per window
    #[arg(long, value_name = "COUNT", conflicts_with = "eps", value_parser = args::positive, allow_hyphen_values = true)]
    iterations: Option<usize>,
    /// A window ends when two iterates differ by at most this [default: 0, the method's solution to the last bit]
    #[arg(long, value_name = "EPS", value_parser = args::at_least_zero, allow_hyphen_values = true)]
    eps: Option<f64>,
    /// Blocks of components, and which waveforms are stored
    #[arg(long, value_name = "NAME", default_value = "component")]
    variant: String,
    /// Points of a block along each axis, for the variants block and block-boundary
    /// [default: 32, 32x32 or 8x8x8; half of it per axis for methods other than euler]
    #[arg(long, value_name = "BxB")]
    block: Option<String>,
    /// Precision of the computation
    #[arg(long, value_enum, default_value_t = PrecisionArg::F64)]
    precision: PrecisionArg,
    /// Initial guess for a window
    #[arg(long, value_enum, default_value_t = GuessArg::Previous)]
    guess: GuessArg,
    /// Target number of iterations per window: windows that take more are followed by shorter ones; --windows sets the longest
    #[arg(long, value_name = "COUNT", value_parser = args::positive, allow_hyphen_values = true)]
    adaptive: Option<usize>,
    /// Maximum number of iterations over all windows
    #[arg(long, value_name = "COUNT", value_parser = args::positive, allow_hyphen_values = true)]
    iteration_limit: Option<usize>,
    /// Write a checkpoint (.npz) if --iteration-limit or Ctrl-C ends the run; Ctrl-C writes clinalg-waveform-checkpoint.npz without this option
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Continue from a checkpoint; limits, tolerances and devices given with it override those of its run, all other options must stay the same; files to write are not taken from the checkpoint: name them again
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Which waveforms the devices (--devices) send each other after an iteration
    #[arg(long, value_enum, default_value_t = SharingArg::Limited)]
    sharing: SharingArg,
    /// Draw the differences of iterates over the iterations of all windows, or the study (.png or .svg)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    style: PlotArgs,
    /// Measure a series of runs instead of one
    #[arg(
        long,
        value_enum,
        value_name = "NAME",
        conflicts_with_all = ["series", "vtk", "iteration_limit", "checkpoint", "resume"]
    )]
    study: Option<StudyArg>,
    #[command(flatten)]
    series: SeriesArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum GuessArg {
    /// The solution at the beginning of the window
    Constant,
    /// The waveforms of the previous window, step by step
    Previous,
    /// Linear extrapolation from the last step
    Linear,
}

/// What is varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum StudyArg {
    /// Block size
    Blocks,
    /// Grid size
    Sizes,
    /// The first device alone, and all of --devices
    Devices,
    /// A model of a cluster, checked with ranks in threads
    Network,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SharingArg {
    /// All to all
    General,
    /// Only those that the receiving device may read
    Limited,
    /// As limited, but the blocks that they belong to are integrated first, and the others during the transfer
    EdgesFirst,
}

pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    match args.precision {
        PrecisionArg::F32 => run_in::<f32>(args, global, out),
        PrecisionArg::F64 => run_in::<f64>(args, global, out),
    }
}

fn run_in<T: Real>(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    match args.study {
        None => solve::<T>(args, global, out),
        Some(StudyArg::Blocks) => study::run::<T>(Varied::Blocks, args, global, out),
        Some(StudyArg::Sizes) => study::run::<T>(Varied::Sizes, args, global, out),
        Some(StudyArg::Devices) => devices::run::<T>(args, global, out),
        Some(StudyArg::Network) => network::run::<T>(args, global, out),
    }
}

impl Args {
    /// Points of a block along each axis of a grid of these sizes.
    fn sides(&self, shape: &[usize], usual: usize) -> Result<[usize; 3], Failure> {
        if self.block.is_some() && !self.variant.starts_with("block") {
            return usage!("--block: the variant {} defines its own blocks", self.variant);
        }
        let sides: Vec<usize> = match &self.block {
            None => shape.iter().map(|n| usual.min(*n)).collect(),
            Some(text) => {
                let sides: Option<Vec<usize>> = text.split('x').map(|side| side.trim().parse().ok()).collect();
                let expected = || {
                    let count = shape.len();
                    Failure::usage(format!("--block {text}: expected {count} sizes joined by x, one per axis"))
                };
                sides.filter(|sides| sides.len() == shape.len()).ok_or_else(expected)?
            }
        };
        Ok(std::array::from_fn(|axis| sides.get(axis).copied().unwrap_or(1)))
    }

    /// What decides the results.
    fn fingerprint(
        &self,
        problem: &Problem,
        options: &WaveformOptions,
        precision: Precision,
    ) -> Result<Fingerprint, Failure> {
        let run = fingerprint(problem)?.option("--method", &self.method).option("--h", self.h);
        let run = run.option("--steps", self.steps).option("--windows", self.windows).option("--eps", self.eps);
        let run = run.option("--iterations", self.iterations).option("--variant", &self.variant);
        let run = run
            .option("--block", block_name(options, problem.system.grid().shape().len()))
            .option("--guess", options.guess);
        Ok(run.option("--adaptive", self.adaptive).option("--precision", precision))
    }

    fn options(&self, shape: &[usize]) -> Result<WaveformOptions, Failure> {
        let mut options = WaveformOptions::new(self.h, self.steps);
        if !VARIANTS.iter().any(|(name, _)| *name == self.variant) {
            let names = VARIANTS.map(|(name, _)| name).join(", ");
            return usage!("--variant {}: expected one of {names}", self.variant);
        }
        options.method = Method::named(&self.method)?;
        options.set_variant(&self.variant, self.sides(shape, options.usual_side(shape.len()))?)?;
        options.windows = self.windows;
        options.adaptive = self.adaptive;
        options.guess = match self.guess {
            GuessArg::Constant => Guess::Constant,
            GuessArg::Previous => Guess::Previous,
            GuessArg::Linear => Guess::Linear,
        };
        options.stop = match self.iterations {
            Some(count) => Stop::Iterations(count),
            None => Stop::Difference(self.eps.unwrap_or(0.0)),
        };
        Ok(options)
    }
}

fn solve<T: Real>(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    out.phase("options and files");
    let problem = args.system.problem("bruss2d-mix", |_| 100)?;
    let y0: Vec<T> = problem.y0_as()?;
    let options = args.options(problem.system.grid().shape())?;
    let picture = args.plot.as_deref().map(|path| Picture::new(path, &args.style)).transpose()?;
    let devices = Devices::new(args, global)?;
    let explained = explain::<T>(devices.context(), &problem.system, &options)?;
    if devices.are_several() && (args.checkpoint.is_some() || args.resume.is_some()) {
        let instead = global.on_one_device();
        return usage!("--checkpoint and --resume work on one device only; {instead}");
    }
    let checkpoints = Checkpoints::new("waveform", &args.checkpoint, &args.resume)?;
    let fingerprint = || args.fingerprint(&problem, &options, T::PRECISION);
    let state = checkpoints.resumed(fingerprint)?.map(restored::<T>).transpose()?;
    let mut series = args.series.open(&problem, "waveform", args.resume.is_some())?;
    if state.is_none() {
        series.keep_solution(&problem, problem.t0, &y0)?;
    }

    interrupt::watch(checkpoints.is_given() || args.series.is_given());
    let limit = args.iteration_limit.unwrap_or(usize::MAX);
    let progress = Progress::of_part(out);
    let span = Span { limit, keep_state: !devices.are_several(), resume: state.as_ref(), progress: &progress };
    let see = |t: f64, y: &[T]| Ok(series.keep_solution(&problem, t, y)?);
    out.phase("relaxation, and the method itself");
    let measured = measure(&devices, &problem, &y0, &options, span, see)?;
    out.phase("prediction");
    progress.stage("predicting times");
    // After the run, which refuses what is past the stability limit.
    let predicted = match measured.compared {
        Some(_) => devices.predict(&problem, &y0, &options)?,
        None => None,
    };

    progress.clear();
    out.phase("output");
    let (files, times) = series.finish()?;
    let write = |state| checkpoints.write(interrupt::interrupted(), |path| save(path, fingerprint()?, state));
    let checkpoint = measured.result.state.as_ref().map_or(Ok(None), write)?;
    let mut document = Document::new(args, (&problem, &options), (&devices, global), measured, predicted.as_ref())?;
    document.explain = match &predicted {
        Some(predicted) => explained + &predicted.explain(&options)?,
        None => explained,
    };
    (document.files, document.times, document.checkpoint) = (files, times, checkpoint);
    if let Some(picture) = &picture {
        document.draw(args.eps.unwrap_or(0.0), picture)?;
    }
    out.report(&document, devices.contexts(), || Ok([]))
}

/// Writes a checkpoint.
fn save<T: Real>(path: &Path, fingerprint: Fingerprint, state: &WaveformState<T>) -> Result<(), Failure> {
    let arrays = [("start", &state.start), ("iterate", &state.iterate), ("before", &state.before)];
    let numbers = serde_json::json!({ "report": state.report, "steps": state.steps });
    checkpoint::save(path, fingerprint, numbers, &arrays.map(|(name, values)| (name, Values::of(values))))
}

/// The state that a checkpoint of this run holds.
fn restored<T: Real>(loaded: &Loaded) -> Result<WaveformState<T>, Failure> {
    Ok(WaveformState {
        report: loaded.part("report")?,
        steps: loaded.part("steps")?,
        start: loaded.array("start")?,
        iterate: loaded.array("iterate")?,
        before: loaded.array("before")?,
    })
}

/// Whether the method is Euler's, which has JSON keys of its own.
fn is_euler(options: &WaveformOptions) -> bool {
    options.method.name() == "euler"
}

/// Points of a block along each axis of a grid with `dims`, where blocks are boxes of points.
fn block(options: &WaveformOptions, dims: usize) -> Option<Vec<usize>> {
    match options.partition {
        Partition::Block(sides) => Some(sides[..dims].to_vec()),
        _ => None,
    }
}

/// That block as `--block` takes it.
fn block_name(options: &WaveformOptions, dims: usize) -> Option<String> {
    block(options, dims).map(|sides| sides.iter().map(usize::to_string).collect::<Vec<_>>().join("x"))
}
