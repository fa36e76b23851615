//! `clinalg ode`.

mod compare;
mod document;
mod frame_buffer;
mod graph;
mod integration;
mod list;
mod reference;
mod solve;

use std::path::PathBuf;

use clinalg::Real;
use clinalg_ode::integrate::{Norm, Options, STABILISED, Stabilised, Stepper};
use clinalg_ode::problems::Problem;
use clinalg_ode::{METHODS, Method, Variant};

pub(crate) use self::compare::Document as CompareDocument;
pub(crate) use self::document::Document;
pub(crate) use self::graph::Document as GraphDocument;
pub(crate) use self::list::Document as ListDocument;
use crate::args::{self, PrecisionArg};
use crate::checkpoint::Checkpoints;
use crate::exit::{Exit, Failure, usage};
use crate::global::Global;
use crate::output::Output;
use crate::plot::PlotArgs;
use crate::processes;
use crate::series::SeriesArgs;
use crate::system::SystemArgs;

/// The help between the statements of a system and the files of frames.
const BEFORE_FRAMES: &str = "

Steps:
  --rtol and --atol  each step's error, divided by atol + rtol |y| in every
                     component, has a root mean square of at most 1; for
                     methods with an error estimate (dopri54, verner65, ...)
  --h                equal steps of at most this size, for every method; a step
                     past the method's stability limit is refused
The steps of explicit methods are limited by stability. If stability rather than
the tolerance determines the steps (\"stiff\" in the report), a looser tolerance
saves nothing. --method rkc (Runge-Kutta-Chebyshev, order 2) takes as many stages as
keep each step stable, about 1.25 sqrt(h |eigenvalue|): for diffusion and other problems
with real negative eigenvalues. They are estimated by a power method unless --radius
gives their largest magnitude; steps, kernels and words are then those of a stage.

On Ctrl-C the current steps are finished and a checkpoint is written. clinalg ode --resume FILE
continues from it; the result has the bits of an uninterrupted run. --checkpoint FILE also
writes one at the end of the run and where --step-limit ends it. Continuing to a later --t-end
changes the last bits, as the last step was shortened to end at the old one. Frames already
written are not written again.

Variants: how a step is divided into kernels. All give the same solution.
  basic        one kernel per operation
  fused        a right-hand side and all sums that use it in one kernel
  overlapped, trapezoidal, hexagonal
               several stages in one kernel, on tiles along the components
  grid         several stages in one kernel, on streaming (2.5-D) tiles
  wavefront    the fused kernels on blocks that stay in the cache from stage to stage
  cooperative  several stages in one kernel, whose work-groups wait for their neighbours
  recomputed   two stages in one kernel, the first recomputed at neighbours
  auto         the fastest for this device that fits its memory, by a cost model
               and, with many components, by trials
  reference    plain sequential Rust, without OpenCL

--plot DIR writes --frames pictures DIR/ode-0000.png, ...; --plot FILE, ending in
.png or .svg, writes FILE with -0000, ... before the extension: a field in colours
over a square, a middle plane of a cube, all fields as curves over a line; without
a grid one picture of curves over time. To make a film:
ffmpeg -i DIR/ode-%04d.png ode.mp4

";

/// The help after that.
const AFTER_FRAMES: &str = "

JSON keys: problem, n, components, method, order, variant, precision, kernel_family,
t, t_end, h, rtol, atol, steps, rejected, rhs_evaluations, stages, smallest_step,
largest_step, stiff_at, events, ended_by, reference, error_vs_reference, invariants, kernels,
words_per_component_step, explain, seconds_setup, seconds_upload, seconds,
seconds_download, component_steps_per_second, peak_device_bytes, device, devices,
steps_per_exchange, out, checkpoint, times, files, pictures. t is the time reached. times are those of the frames, files
what --series and --vtk wrote. events are the zeros of the file's `event` lines, with the
number of the line from 1 on and the time, ended_by is the terminal one that ended the run. error_vs_reference is the largest
difference in a component from the exact solution (reference: exact), or from one
by dopri87 with tolerances of 1e-11 in plain Rust (reference: dopri87), null if
neither was computed (--reference; not after Ctrl-C, and by default only where it takes at
most half of the run's evaluations and a part of a second besides); invariants are name, start and end of quantities that
the exact solution conserves; kernels is the number of kernels per step,
words_per_component_step the numbers that they read and write per component.
seconds is the integration, from the initial values in device memory to the
solution in device memory: the size of the first step, all steps including
rejected ones, a check that the solution is finite. devices lists all devices,
device is the first; steps_per_exchange is null on one. seconds_upload and
seconds_download are the transfers, for frames as well; seconds_upload is 0 where
the devices compute the initial values. seconds_setup is everything before, mostly
kernel compilation, and the stability check of a fixed step. The reference and pictures are in none of them.

Examples:
  clinalg ode --problem bruss2d-mix --rtol 1e-8
  clinalg ode --problem heat2d --n 257 --method rk4 --h 1e-6 --t-end 1e-3
  clinalg ode --problem heat2d --n 513 --method rkc --rtol 1e-4
  clinalg ode --problem bruss2d-hairer --n 64 --plot frames --frames 60
  clinalg ode --problem cusp --variant reference --plot cusp.png --frames 2
  clinalg ode examples/ode/gray-scott.ode --vtk frames --frames 60
  clinalg ode examples/ode/inverter-chain.ode --n 100 --series chain.csv
  clinalg ode --problem bruss2d-mix --n 4096 --devices 0,1
  clinalg ode --resume clinalg-ode-checkpoint.npz
  clinalg ode --list --json
  clinalg ode --method dopri54 --graph drawings

--compare times a step of every variant and tile size, in turn: the median over five
groups of the minimum of four. Keys problem, components,
method, precision, device, kernel_family, copy_bandwidth, candidates (variant, steps, links,
items, points, words, seconds_expected, seconds), by_model, by_trial and fastest
(places in candidates), model_over_fastest, trial_over_fastest.

--graph DIR writes the method's data flow as text, for Graphviz and as a picture,
before and after each transformation on the way to the fused kernels, and lists the
words that a step of one kernel per stage group moves; keys method, transformations (name,
kernels, words, vectors, weight, files).

The exit code is 1 if the integration stopped before its end: the solution was not
finite, or the steps became too small or too many, as where the solution slides along a
switch of the right-hand side (chattering).";

/// Integrate a system of ordinary differential equations
///
/// y' = f(t, y), from a file or a test problem of the literature, by an explicit method with kernels generated for the method
/// and the system. Steps are adaptive, by the method's error estimate, or have a fixed size.
#[derive(clap::Args)]
#[command(after_help = [
    "Test problems and methods: clinalg ode --list\n\n",
    crate::system::HELP,
    BEFORE_FRAMES,
    crate::series::HELP,
    AFTER_FRAMES,
]
.concat())]
pub(crate) struct Args {
    #[command(flatten)]
    system: SystemArgs,
    /// List problems, methods and variants
    #[arg(long, conflicts_with_all = ["file", "problem", "plot"])]
    list: bool,
    /// Draw the method's data flow into a folder, before and after each transformation
    #[arg(long, value_name = "DIR", conflicts_with_all = ["file", "problem", "plot", "out", "list", "explain", "compare"])]
    graph: Option<PathBuf>,
    /// The method, one of --list, or rkc: stabilised, of order 2
    #[arg(long, value_name = "NAME", default_value = "dopri54")]
    method: String,
    /// Spectral radius of the Jacobian of the right-hand side, for --method rkc [default: estimated]
    #[arg(long, value_name = "R", value_parser = args::at_least_zero, allow_hyphen_values = true)]
    radius: Option<f64>,
    /// How a step is divided into kernels
    #[arg(long, value_name = "NAME", default_value = "auto")]
    variant: String,
    /// Let linear combinations read stages in place of the right-hand sides of earlier stages: fewer words moved, different rounding errors
    #[arg(long)]
    recover_stages: bool,
    /// Print what the kernels read and write, and the modelled and measured time of a step
    #[arg(long)]
    explain: bool,
    /// Time every variant and tile size instead of integrating
    #[arg(long, conflicts_with_all = ["variant", "plot", "out", "explain"])]
    compare: bool,
    /// Steps per pass over memory for variants with tiles; with --h the result has the same bits
    /// [default: 4 with --h or --method rkc, else 1]
    #[arg(long, value_name = "COUNT", value_parser = args::positive, allow_hyphen_values = true)]
    steps_at_once: Option<usize>,
    /// End time [default: that of the file, or see --list]
    #[arg(long, value_name = "T", value_parser = finite, allow_hyphen_values = true)]
    t_end: Option<f64>,
    /// Fixed step size instead of adaptive steps
    #[arg(long, value_name = "H", value_parser = args::above_zero, conflicts_with_all = ["rtol", "atol", "norm"], allow_hyphen_values = true)]
    h: Option<f64>,
    /// Relative tolerance of a step [default: 1e-6 in f64, 1e-4 in f32]
    #[arg(long, value_name = "R", value_parser = args::at_least_zero, allow_hyphen_values = true)]
    rtol: Option<f64>,
    /// Absolute tolerance of a step [default: 1e-9 in f64, 1e-6 in f32]
    #[arg(long, value_name = "A", value_parser = args::at_least_zero, allow_hyphen_values = true)]
    atol: Option<f64>,
    /// Norm of the error of a step
    #[arg(long, value_enum, default_value_t = NormArg::Rms)]
    norm: NormArg,
    /// Maximum number of steps, including rejected ones
    #[arg(long, value_name = "COUNT", default_value_t = 10_000_000, value_parser = args::positive, allow_hyphen_values = true)]
    step_limit: usize,
    /// Precision of the computation
    #[arg(long, value_enum, default_value_t = PrecisionArg::F64)]
    precision: PrecisionArg,
    /// Whether the result is compared with an exact solution, or with one computed with tight tolerances
    #[arg(long, value_enum, default_value_t = ReferenceArg::Auto)]
    reference: ReferenceArg,
    /// Write the solution at the end: .mtx (MatrixMarket) or .mat, a column per field, points along x first; .npy, fields, then the axes of the grid, z first
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write a checkpoint (.npz) at the end, also if --step-limit ends the run; Ctrl-C writes clinalg-ode-checkpoint.npz without this option
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "graph", "compare"])]
    checkpoint: Option<PathBuf>,
    /// Continue from a checkpoint; limits, tolerances and devices given with it override those of its run, all other options must stay the same; files to write are not taken from the checkpoint: name them again
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "graph", "compare"])]
    resume: Option<PathBuf>,
    /// Draw frames into a folder, or into files named after FILE (.png or .svg)
    #[arg(long, value_name = "DIR|FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    style: PlotArgs,
    #[command(flatten)]
    series: SeriesArgs,
    /// Number of frames from the beginning to the end [default: 11, or 201 for a picture of curves over time or of paths]
    #[arg(long, value_name = "COUNT", value_parser = args::frames, allow_hyphen_values = true)]
    frames: Option<usize>,
    /// The field drawn for a 2-D or 3-D grid [default: the first]
    #[arg(long, value_name = "NAME", requires = "plot")]
    field: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum NormArg {
    /// Root of the mean square
    Rms,
    /// Largest magnitude
    Max,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ReferenceArg {
    /// An exact solution where it is known, a computed one for up to 1000 components
    Auto,
    /// Always, however long it takes
    Always,
    /// Never
    None,
}

fn finite(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err("expected a finite number".into()),
    }
}

/// Grid points along an axis where `--n` is not given: some seconds of work at most on a CPU.
fn default_n(problem: &str) -> usize {
    match problem {
        "bruss2d-mix" | "heat2d" => 129,
        "bruss2d-hairer" => 32,
        "bruss2d-sciml" => 8,
        "heat3d" => 33,
        "cusp" => 32,
        "medakzo" => 100,
        "nbody" => 200,
        _ => 1000,
    }
}
pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    match (&args.graph, args.precision) {
        (Some(folder), _) => graph::draw(args, folder, out),
        _ if args.list => list::list(out),
        _ if !args.system.is_given() => {
            usage!("expected the FILE of a system, or --problem NAME with one of `clinalg ode --list`")
        }
        (_, PrecisionArg::F32) => solve::solve::<f32>(args, global, out),
        (_, PrecisionArg::F64) => solve::solve::<f64>(args, global, out),
    }
}

pub(crate) fn variants() -> Vec<&'static str> {
    Variant::ALL.iter().map(|v| v.name()).chain([PLAIN]).collect()
}

/// The variant without kernels.
const PLAIN: &str = "reference";

/// The variant of this name; `None` for plain Rust.
fn variant(name: &str) -> Result<Option<Variant>, Failure> {
    match name {
        PLAIN => Ok(None),
        name if variants().contains(&name) => Ok(Some(Variant::named(name)?)),
        name => usage!("--variant {name}: expected one of {}", variants().join(", ")),
    }
}

/// Its stages where it is drawn or timed as one method.
const STAGES: usize = 5;

impl Args {
    /// What does not work on several devices, of what was given; `plain` without kernels.
    fn alone(&self, plain: bool) -> Option<&'static str> {
        let options = [
            (plain, "--variant reference"),
            (self.compare, "--compare"),
            (self.explain, "--explain"),
            (self.is_stabilised(), "--method rkc"),
        ];
        options.into_iter().find_map(|(given, name)| given.then_some(name))
    }

    fn checkpoints(&self) -> Result<Checkpoints, Failure> {
        for (option, given) in [("--checkpoint", &self.checkpoint), ("--resume", &self.resume)] {
            if given.is_some() && processes::rank().is_some() {
                return usage!("{option} takes one process: start clinalg without mpirun");
            }
        }
        Checkpoints::new("ode", &self.checkpoint, &self.resume)
    }

    fn is_stabilised(&self) -> bool {
        self.method == STABILISED
    }

    /// A stepper of the stabilised method over one of its stages.
    fn stabilised<T: Real, S: Stepper<T>>(&self, stage: S) -> Result<Stabilised<S>, Failure> {
        let stepper = Stabilised::new(stage)?;
        Ok(match self.radius {
            Some(radius) => stepper.radius(radius)?,
            None => stepper,
        })
    }

    fn method(&self) -> Result<Method, Failure> {
        if self.is_stabilised() {
            return Ok(Method::rkc(STAGES)?);
        }
        if self.radius.is_some() {
            return usage!("--radius is for --method {STABILISED}, not for {}", self.method);
        }
        if !METHODS.contains(&self.method.as_str()) {
            return usage!("--method {}: expected one of {}, {STABILISED}", self.method, METHODS.join(", "));
        }
        let method = Method::named(&self.method)?;
        Ok(if self.recover_stages { method.with_stage_recovery() } else { method })
    }

    fn options(&self, problem: &Problem, method: &Method) -> Result<Options, Failure> {
        let (rtol, atol) = match self.precision {
            PrecisionArg::F32 => (1e-4, 1e-6),
            PrecisionArg::F64 => (1e-6, 1e-9),
        };
        if self.h.is_none() && method.error_order().is_none() {
            let with = METHODS.iter().filter(|name| Method::named(name).is_ok_and(|m| m.error_order().is_some()));
            let with: Vec<&str> = with.copied().collect();
            return usage!(
                "--method {} has no error estimate for adaptive steps: give --h, or use one of {}",
                method.name(),
                with.join(", ")
            );
        }
        Ok(Options {
            relative: self.rtol.unwrap_or(rtol),
            absolute: self.atol.unwrap_or(atol),
            norm: if self.norm == NormArg::Max { Norm::Max } else { Norm::Rms },
            fixed_step: self.h,
            step_limit: self.step_limit,
            stops: problem.stops.clone(),
            ..Options::default()
        })
    }
}
