//! Several blocks, or several grids.

use clinalg::{Precision, Real, counted};
use clinalg_ode::Error;
use clinalg_ode::problems::Problem;
use clinalg_ode::waveform::WaveformOptions;
use schemars::JsonSchema;
use serde::Serialize;

use super::measured::{Devices, Measured, Span, measure};
use super::{Args, block, is_euler};
use crate::args::DeviceName;
use crate::exit::{Exit, Failure, usage};
use crate::global::Global;
use crate::output::Output;
use crate::plot::{Picture, Scaling};
use crate::progress::Progress;
use crate::text::{bytes, precision, seconds};

/// What is varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Varied {
    Blocks,
    Sizes,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Document {
    problem: String,
    study: &'static str,
    method: String,
    #[schemars(with = "String")]
    precision: Precision,
    h: f64,
    steps: usize,
    windows: usize,
    #[schemars(with = "String")]
    kernel_family: clinalg::KernelFamily,
    device: DeviceName,
    runs: Vec<Run>,
}

#[derive(Serialize, JsonSchema)]
struct Run {
    n: usize,
    variant: &'static str,
    block: Option<Vec<usize>>,
    iterations: Vec<usize>,
    memory_bytes: u64,
    seconds: f64,
    method_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    euler_seconds: Option<f64>,
}

impl Run {
    /// Iterations of a window, on average.
    fn mean(&self) -> f64 {
        self.iterations.iter().sum::<usize>() as f64 / self.iterations.len() as f64
    }
}

pub(super) fn run<T: Real>(what: Varied, args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    let picture = args.plot.as_deref().map(|path| Picture::new(path, &args.style)).transpose()?;
    let devices = Devices::new(args, global)?;
    let problem = args.system.problem("bruss2d-mix", |_| 100)?;
    let progress = Progress::of_part(out);
    let runs = match what {
        Varied::Blocks => blocks::<T>(args, &devices, &problem, &progress)?,
        Varied::Sizes => sizes::<T>(args, &devices, &problem, &progress)?,
    };
    progress.clear();
    let document = Document {
        problem: problem.name.clone(),
        study: if what == Varied::Blocks { "blocks" } else { "sizes" },
        method: args.method.clone(),
        precision: T::PRECISION,
        h: args.h,
        steps: args.steps,
        windows: args.windows,
        kernel_family: devices.context().family(),
        device: devices.context().device().into(),
        runs,
    };
    if let Some(picture) = &picture {
        draw(what, &document, picture)?;
    }
    let row = |run: &Run| {
        let block = run.block.iter().map(|sides| sides.iter().map(usize::to_string).collect::<Vec<_>>().join("x"));
        let variant = block.fold(run.variant.to_owned(), |name, sides| format!("{name} {sides}"));
        let [own, other] = [run.seconds, run.method_seconds].map(seconds);
        vec![run.n.to_string(), variant, format!("{:.1}", run.mean()), own, other, bytes(run.memory_bytes)]
    };
    let columns = [">n", "variant", ">iterations", ">relaxation", &format!(">{}", document.method), ">memory"];
    out.table(&columns, document.runs.iter().map(row))?;
    out.json(&document)?;
    Ok(Exit::Done)
}

fn one<T: Real>(
    devices: &Devices,
    problem: &Problem,
    options: &WaveformOptions,
    progress: &Progress,
) -> Result<Run, Failure> {
    let y0: Vec<T> = problem.y0_as()?;
    let Measured { result, seconds, compared, .. } =
        measure(devices, problem, &y0, options, Span::whole(progress), |_, _| Ok(()))?;
    let method_seconds = compared.map_or(0.0, |compared| compared.method_seconds);
    let shape = problem.system.grid().shape();
    let (variant, block) = (options.variant(), block(options, shape.len()));
    let (iterations, memory_bytes) = (result.report.iterations, result.report.memory_bytes);
    let euler_seconds = is_euler(options).then_some(method_seconds);
    Ok(Run { n: shape[0], variant, block, iterations, memory_bytes, seconds, method_seconds, euler_seconds })
}

/// Square blocks up to the grid or to the local memory of the device.
fn blocks<T: Real>(
    args: &Args,
    devices: &Devices,
    problem: &Problem,
    progress: &Progress,
) -> Result<Vec<Run>, Failure> {
    if !args.variant.starts_with("block") || args.block.is_some() {
        return usage!("--study blocks: give --variant block or --variant block-boundary, and no --block");
    }
    let shape = problem.system.grid().shape();
    let mut runs = Vec::new();
    let largest = shape.iter().copied().max().unwrap_or(1);
    for side in (0..).map(|k| 1_usize << k).take_while(|side| *side < 2 * largest) {
        let sides = std::array::from_fn(|axis| shape.get(axis).map_or(1, |n| side.min(*n)));
        let mut options = args.options(shape)?;
        options.set_variant(&args.variant, sides)?;
        match one::<T>(devices, problem, &options, progress) {
            Ok(run) => runs.push(run),
            Err(Failure::Ode(Error::Variant { .. })) if !runs.is_empty() => break,
            Err(failure) => return Err(failure),
        }
    }
    Ok(runs)
}

/// Grids of 10, 20, 40, ... points per axis, and the grid of the problem.
fn sizes<T: Real>(args: &Args, devices: &Devices, largest: &Problem, progress: &Progress) -> Result<Vec<Run>, Failure> {
    let most = largest.system.grid().shape()[0];
    let mut all: Vec<usize> = (0..).map(|k| 10 << k).take_while(|n| *n < most).collect();
    all.push(most);
    let mut runs = Vec::new();
    for n in all {
        let problem = args.system.with_points(n).problem("bruss2d-mix", |_| n)?;
        runs.push(one::<T>(devices, &problem, &args.options(problem.system.grid().shape())?, progress)?);
    }
    Ok(runs)
}

fn draw(what: Varied, document: &Document, picture: &Picture) -> Result<String, Failure> {
    let runs = &document.runs;
    let subtitle = format!(
        "{} of {} by {} in {} · {}",
        counted(document.steps, "step"),
        clinalg::shown(document.h),
        document.method,
        counted(document.windows, "window"),
        precision(document.precision)
    );
    let problem = &document.problem;
    let (title, names, sizes, curves): (_, _, Vec<usize>, _) = match what {
        Varied::Blocks => (
            format!("{problem}, {} points per axis: iterations over the size of blocks", runs[0].n),
            ["points of a block per axis", "iterations of a window"],
            runs.iter().map(|run| run.block.iter().flatten().copied().max().unwrap_or(1)).collect(),
            vec![(runs[0].variant.to_owned(), runs.iter().map(Run::mean).collect::<Vec<f64>>())],
        ),
        Varied::Sizes => (
            format!("{problem}: waveform relaxation against the method itself"),
            ["points per axis", "seconds"],
            runs.iter().map(|run| run.n).collect(),
            vec![
                (
                    format!("waveform relaxation, variant {}", runs[0].variant),
                    runs.iter().map(|run| run.seconds).collect(),
                ),
                (document.method.clone(), runs.iter().map(|run| run.method_seconds).collect()),
            ],
        ),
    };
    picture.draw(&Scaling { title, subtitle, names, sizes: &sizes, curves: &curves })
}
