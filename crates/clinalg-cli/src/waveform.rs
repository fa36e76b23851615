//! `clinalg waveform`.

use std::path::PathBuf;
use std::time::Instant;

use clinalg::{Precision, Real};
use clinalg_ode::integrate::Stepper;
use clinalg_ode::waveform::{
    Guess, Partition, Relaxation, Sharing, Stop, VARIANTS, WaveformOptions, explain, relax, relax_on_team,
    relax_windows,
};
use clinalg_ode::{DeviceStepper, Method, Variant};
use serde::Serialize;

use crate::Global;
use crate::args::{self, DeviceName, PrecisionArg};
use crate::exit::{Exit, Failure};
use crate::output::{Output, bytes, seconds};
use crate::plot::{Convergence, Picture};
use crate::series::SeriesArgs;
use crate::system::SystemArgs;

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

An iteration moves more data than Euler's method over the window: waveform
relaxation pays off only if launches or messages cost more than arithmetic.

Frames: the beginning, and the end of every window.
";

/// The help after that.
const AFTER_FRAMES: &str = "

JSON keys: problem, n, components, variant, block, precision, h, steps, windows,
iterations, window_steps (of each window), error_history (of each window), memory_bytes,
words_per_component, seconds, euler_seconds, max_difference_from_euler, explain,
kernel_family, device, devices (of --devices), times and files (of the frames).";

/// Integrate a system by waveform relaxation, and by Euler's method for comparison
///
/// Blocks of components are integrated over a whole window of explicit Euler steps with the waveforms of other blocks from the
/// previous iteration, until the waveforms agree. After w iterations the first w steps are those of Euler's method to the last bit.
#[derive(clap::Args)]
#[command(after_help = [
    "Test problems: clinalg ode --list (all except nbody, whose sums have no waveform kernels)\n\n",
    crate::system::HELP,
    BEFORE_FRAMES,
    crate::series::HELP,
    AFTER_FRAMES,
]
.concat())]
pub(crate) struct Args {
    #[command(flatten)]
    system: SystemArgs,
    /// Step size
    #[arg(long, value_name = "H", default_value_t = 1e-4, value_parser = args::above_zero, allow_hyphen_values = true)]
    h: f64,
    /// Number of steps
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = args::positive, allow_hyphen_values = true)]
    steps: usize,
    /// Number of windows, a divisor of the steps
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = args::positive, allow_hyphen_values = true)]
    windows: usize,
    /// Iterations of each window
    #[arg(long, value_name = "COUNT", conflicts_with = "eps", value_parser = args::positive, allow_hyphen_values = true)]
    iterations: Option<usize>,
    /// Tolerance for the difference of two iterates at which a window ends [default: 0, Euler's solution to the last bit]
    #[arg(long, value_name = "EPS", value_parser = args::at_least_zero, allow_hyphen_values = true)]
    eps: Option<f64>,
    /// Blocks of components and what is stored of them
    #[arg(long, value_name = "NAME", default_value = "component")]
    variant: String,
    /// Points of a block along each axis, for the variants block and block-boundary [default: 32, 32x32 or 8x8x8]
    #[arg(long, value_name = "BxB")]
    block: Option<String>,
    /// Precision of the computation
    #[arg(long, value_enum, default_value_t = PrecisionArg::F64)]
    precision: PrecisionArg,
    /// First guess of a window
    #[arg(long, value_enum, default_value_t = GuessArg::Previous)]
    guess: GuessArg,
    /// Iterations that a window should take: longer ones are followed by shorter windows; --windows gives the longest
    #[arg(long, value_name = "COUNT", value_parser = args::positive, allow_hyphen_values = true)]
    adaptive: Option<usize>,
    /// Which waveforms several devices (--devices) send each other after an iteration
    #[arg(long, value_enum, default_value_t = SharingArg::Limited)]
    sharing: SharingArg,
    /// Draw the differences of iterates over the iterations of all windows (.png or .svg)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    series: SeriesArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum GuessArg {
    /// The solution at the beginning of the window
    Constant,
    /// The waveforms of the previous window, step by step
    Previous,
    /// On along a straight line from the last step
    Linear,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SharingArg {
    /// All to all
    General,
    /// Those that the other device may read
    Limited,
}

#[derive(Serialize)]
struct Document {
    problem: String,
    n: usize,
    components: usize,
    variant: &'static str,
    block: Option<Vec<usize>>,
    precision: Precision,
    h: f64,
    steps: usize,
    windows: usize,
    iterations: Vec<usize>,
    window_steps: Vec<usize>,
    error_history: Vec<Vec<f64>>,
    memory_bytes: u64,
    words_per_component: f64,
    seconds: f64,
    euler_seconds: f64,
    max_difference_from_euler: f64,
    explain: String,
    kernel_family: clinalg::KernelFamily,
    device: DeviceName,
    devices: Vec<DeviceName>,
    times: Vec<f64>,
    files: Vec<String>,
}

pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    match args.precision {
        PrecisionArg::F32 => solve::<f32>(args, global, out),
        PrecisionArg::F64 => solve::<f64>(args, global, out),
    }
}

impl Args {
    /// Points of a block along each axis of a grid of these sizes.
    fn sides(&self, shape: &[usize]) -> Result<[usize; 3], Failure> {
        if self.block.is_some() && !self.variant.starts_with("block") {
            return Err(Failure::usage(format!("--block: the variant {} defines its own blocks", self.variant)));
        }
        let usual = if shape.len() == 3 { 8 } else { 32 };
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

    fn options(&self, shape: &[usize]) -> Result<WaveformOptions, Failure> {
        let mut options = WaveformOptions::new(self.h, self.steps);
        if !VARIANTS.iter().any(|(name, _)| *name == self.variant) {
            let names = VARIANTS.map(|(name, _)| name).join(", ");
            return Err(Failure::usage(format!("--variant {}: expected one of {names}", self.variant)));
        }
        options.set_variant(&self.variant, self.sides(shape)?)?;
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
    let problem = args.system.problem("bruss2d-mix", |_| 100)?;
    let system = &problem.system;
    let shape = system.grid().shape().to_vec();
    let options = args.options(&shape)?;
    let picture = args.plot.as_deref().map(Picture::new).transpose()?;
    let team = global.team()?;
    if team.is_some() && args.variant != "block-boundary" {
        return Err(Failure::usage("--devices: several devices take --variant block-boundary"));
    }
    let context = match &team {
        Some(team) => team.contexts()[0].clone(),
        None => global.context(false)?,
    };
    let explained = explain::<T>(&context, system, &options)?;
    let y0: Vec<T> = problem.y0.iter().map(|v| T::from_f64(*v)).collect();
    let mut series = args.series.open::<T>(&problem, "waveform")?;
    // The first run builds the kernels.
    series.keep(&problem, problem.t0, &y0)?;
    let keep = |t: f64, y: &[T]| Ok(series.keep(&problem, t, y)?);
    let sharing = match args.sharing {
        SharingArg::General => Sharing::General,
        SharingArg::Limited => Sharing::Limited,
    };
    let result: Relaxation<T> = match &team {
        Some(team) => relax_on_team(team, system, problem.t0, &y0, &options, sharing, keep)?,
        None => relax_windows(&context, system, problem.t0, &y0, &options, keep)?,
    };
    let (files, times) = series.finish()?;
    let start = Instant::now();
    match &team {
        Some(team) => relax_on_team(team, system, problem.t0, &y0, &options, sharing, |_, _| Ok(()))?,
        None => relax(&context, system, problem.t0, &y0, &options)?,
    };
    let relaxed = start.elapsed().as_secs_f64();
    let mut euler = DeviceStepper::<T>::new(&context, &Method::named("euler")?, system, Variant::Fused)?;
    let beginnings: Vec<f64> = (0..args.steps).map(|k| problem.t0 + k as f64 * args.h).collect();
    let mut euler_seconds = 0.0;
    for _ in 0..2 {
        euler.set(std::slice::from_ref(&y0))?;
        context.finish()?;
        let start = Instant::now();
        euler.advance(&beginnings, args.h)?;
        context.finish()?;
        euler_seconds = start.elapsed().as_secs_f64();
    }
    let difference = |(a, b): (&T, &T)| (a.into_f64() - b.into_f64()).abs();
    let reached = euler.solution()?;
    let document = Document {
        problem: problem.name.clone(),
        n: shape[0],
        components: y0.len(),
        variant: options.variant(),
        block: match options.partition {
            Partition::Block(sides) => Some(sides[..shape.len()].to_vec()),
            Partition::Component | Partition::Point => None,
        },
        precision: T::PRECISION,
        h: args.h,
        steps: args.steps,
        windows: args.windows,
        iterations: result.report.iterations,
        window_steps: result.report.window_steps,
        error_history: result.report.error_history,
        memory_bytes: result.report.memory_bytes,
        words_per_component: result.report.words_per_component,
        seconds: relaxed,
        euler_seconds,
        max_difference_from_euler: result.solution.iter().zip(&reached).map(difference).fold(0.0, f64::max),
        explain: explained,
        kernel_family: context.family(),
        device: context.device().into(),
        devices: team.iter().flat_map(|team| team.contexts()).map(|context| context.device().into()).collect(),
        times,
        files,
    };
    if let Some(picture) = &picture {
        draw(&document, args, picture)?;
    }
    print(&document, out)?;
    out.json(&document)?;
    Ok(Exit::Done)
}

/// The differences after the iterations of all windows, one after the other, on a logarithmic axis.
fn draw(document: &Document, args: &Args, picture: &Picture) -> Result<(), Failure> {
    let history: Vec<f64> = document.error_history.concat();
    // The axis begins at the first difference.
    let first = history.iter().copied().find(|e| *e > 0.0).unwrap_or(1.0);
    let scaled: Vec<f64> = history.iter().map(|e| e / first).collect();
    let points = document.n;
    let title = format!("{}, {points} points per axis, waveform relaxation: {}", document.problem, document.variant);
    let subtitle =
        format!("{} windows · {} · {}", document.window_steps.len(), document.precision, document.device.name());
    let residual = "difference of iterates over the first";
    let tolerance = args.eps.unwrap_or(0.0) / first;
    let steps = "iteration";
    picture.convergence(&Convergence { title, subtitle, steps, residual, history: &scaled, tolerance, floor: None })
}

fn print(document: &Document, out: &mut Output) -> Result<(), Failure> {
    out.line(document.explain.trim_end())?;
    out.line("")?;
    let counts: Vec<String> = document.iterations.iter().map(usize::to_string).collect();
    out.field("iterations", counts.join(", "))?;
    let last = document.error_history.last().and_then(|history| history.last());
    out.field("last change", last.map_or(String::new(), |e| format!("{e:.3e}")))?;
    out.field("memory", bytes(document.memory_bytes))?;
    if !document.files.is_empty() {
        out.field("frames", format!("{} in {}", document.times.len(), document.files.join(", ")))?;
    }
    out.field("time", seconds(document.seconds))?;
    out.field("Euler's method", seconds(document.euler_seconds))?;
    out.field("difference", format!("{:.3e} from Euler's method, at most", document.max_difference_from_euler))
}
