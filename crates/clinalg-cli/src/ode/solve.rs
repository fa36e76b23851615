//! An integration from the command line to the document.

use std::path::Path;
use std::time::Instant;

use clinalg::multigrid::Backend;
use clinalg::{Precision, Real};
use clinalg_ode::Variant;
use clinalg_ode::integrate::{Norm, State};
use clinalg_ode::problems::Problem;

use super::compare::compare;
use super::document::Document;
use super::frame_buffer::{FrameBuffer, is_one_picture};
use super::integration::{Frames, Integration};
use super::reference::{self, is_computed};
use super::{Args, PLAIN, default_n, variant};
use crate::checkpoint::{self, Fingerprint, Loaded};
use crate::data::Values;
use crate::data::array::write_npy;
use crate::executor::Executor;
use crate::exit::{Exit, Failure, usage};
use crate::files;
use crate::global::Global;
use crate::interrupt;
use crate::messages;
use crate::output::Output;
use crate::paths::ending;
use crate::plot::Frames as Pictures;
use crate::processes;
use crate::progress::Progress;
use crate::text::number;

pub(super) fn solve<T: Real>(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    out.phase("options and files");
    let problem = args.system.problem("", default_n)?;
    let method = args.method()?;
    let variant = variant(&args.variant)?;
    args.check_variant(variant, global)?;
    if args.compare {
        return compare::<T>(&problem, &method, args, global, out);
    }
    let mut options = args.options(&problem, &method)?;
    files::check_output(&args.out)?;
    let count = args.frame_count(&problem);
    let pictures = args.plot.as_deref().map(|path| Pictures::new(path, &args.style, "ode", count)).transpose()?;
    let field = args.drawn_field(&problem)?;
    options.check()?;
    let t_end = args.t_end(&problem)?;
    options.save_at = args.frame_times(problem.t0, t_end, count);
    // Fixed steps need no error estimate.
    let method = if args.h.is_some() { method.without_error() } else { method };
    let series = args.series.open(&problem, "ode", args.resume.is_some())?;
    let checkpoints = args.checkpoints()?;
    let fingerprint = || args.fingerprint(&problem, options.norm, T::PRECISION);
    let resumed = checkpoints.resumed(fingerprint)?.map(restored::<T>).transpose()?;

    interrupt::watch(checkpoints.is_given() || args.out.is_some() || args.series.is_given());
    let progress = Progress::of_part(out);
    progress.stage("setting up");
    out.phase("frames");
    let start = Instant::now();
    let executor = if variant.is_some() { Executor::new(global, Backend::Kernels)? } else { Executor::Host };
    let reached = resumed.as_ref().and_then(|state| state.numbers.first().copied());
    let before = reached.map_or(0, |t| options.save_at.iter().filter(|save| **save <= t).count());
    let buffer = pictures.is_some().then(|| FrameBuffer::new(&problem, field, before));
    let mut frames = Frames { buffer, series };
    let integration = Integration {
        args,
        problem: &problem,
        method: &method,
        t_end,
        options: &options,
        resume: resumed.as_ref(),
        keeps: checkpoints.is_given(),
        whole: args.out.is_some() || is_computed(args.reference, &problem),
        verbose: global.verbose,
        progress: &progress,
        start,
    };
    let (done, stepper) = integration.run(&executor, variant, global.balance, &mut frames)?;
    out.split_phase(&done.phases());

    out.phase("output");
    let (files, times) = frames.series.finish()?;
    if let (Some(path), Some(y)) = (&args.out, &done.y) {
        write(path, &problem, y)?;
    }
    let write = |state| checkpoints.write(interrupt::interrupted(), |path| save(path, fingerprint()?, state));
    let checkpoint = done.state.as_ref().map_or(Ok(None), write)?;
    progress.stage("computing the reference");
    out.phase("reference");
    let error = reference::error(args.reference, &problem, &done, t_end)?;
    out.phase("output");
    let (norms, limited) = (done.summary.norms, done.limited);
    let mut document = Document::new(&integration, (&executor, global), done, stepper)?;
    (document.files, document.times, document.checkpoint) = (files, times, checkpoint);
    (document.error_vs_reference, document.reference) = error.unzip();
    if let (Some(buffer), Some(pictures)) = (&frames.buffer, &pictures) {
        progress.stage("drawing");
        buffer.draw(&mut document, &problem, pictures)?;
    }
    progress.clear();
    if let (true, Some(path)) = (limited, &document.checkpoint) {
        messages::reason(&format!(
            "--step-limit {} ended the run at t = {}, before --t-end {t_end}; continue it by --resume {path} with a larger --step-limit",
            args.step_limit,
            number(document.t, 7)
        ));
    }
    out.report(&document, executor.contexts(), || Ok([("y0", norms[0]), ("y", norms[1])]))
}

impl Args {
    fn check_variant(&self, variant: Option<Variant>, global: &Global) -> Result<(), Failure> {
        if self.explain && variant.is_none() {
            return usage!("--explain: the variant {PLAIN} has no kernels to explain");
        }
        match self.alone(variant.is_none()) {
            Some(option) if global.is_shared() => {
                let instead = global.on_no_device();
                usage!("{option} takes one device or none: {instead}")
            }
            _ => Ok(()),
        }
    }

    /// The field that is drawn over a square.
    fn drawn_field(&self, problem: &Problem) -> Result<usize, Failure> {
        let (Some(_), Some(field)) = (&self.plot, &self.field) else { return Ok(0) };
        let fields = problem.system.fields();
        fields
            .iter()
            .position(|name| name == field)
            .ok_or_else(|| Failure::usage(format!("--field {field}: expected one of {}", fields.join(", "))))
    }

    fn t_end(&self, problem: &Problem) -> Result<f64, Failure> {
        let t_end = self.t_end.unwrap_or(problem.t_end);
        if t_end < problem.t0 {
            return usage!(
                "--t-end {t_end}: the problem begins at t = {}; to go back in time, write the system of y(-t), whose \
                 right-hand sides are -f with -t for t",
                problem.t0
            );
        }
        Ok(t_end)
    }

    fn frame_count(&self, problem: &Problem) -> usize {
        let is_smooth = self.plot.is_some() && !self.series.is_given() && is_one_picture(problem);
        self.frames.unwrap_or(if is_smooth { 201 } else { 11 })
    }

    /// The times of the frames, if they are drawn or written.
    fn frame_times(&self, t0: f64, t_end: f64, count: usize) -> Vec<f64> {
        if self.plot.is_none() && !self.series.is_given() {
            return Vec::new();
        }
        let last = count - 1;
        let time = |k: usize| if k == last { t_end } else { t0 + (t_end - t0) * k as f64 / last as f64 };
        (0..count).map(time).collect()
    }

    /// What decides the results.
    fn fingerprint(&self, problem: &Problem, norm: Norm, precision: Precision) -> Result<Fingerprint, Failure> {
        let options = crate::system::fingerprint(problem)?.option("--method", &self.method).option("--h", self.h);
        Ok(options.option("--norm", norm).option("--precision", precision))
    }
}

/// Writes the solution at the end.
fn write<T: Real>(path: &Path, problem: &Problem, y: &[T]) -> Result<(), Failure> {
    let system = &problem.system;
    let (points, fields) = (system.grid().points(), system.fields().len());
    let columns = system.by_fields(y);
    if ending(path) != "npy" {
        return files::write(path, points, fields, &columns);
    }
    if !processes::writes() {
        return Ok(());
    }
    // As a frame of --series: --initial reads both.
    let axes = if points == 1 { &[] } else { system.grid().shape() };
    let shape: Vec<usize> = [fields].iter().chain(axes.iter().rev()).copied().collect();
    write_npy(path, &shape, &Values::of(&columns))
}

/// The array of a checkpoint with the numbers of the state.
const NUMBERS: &str = "control";

/// The array of a checkpoint with an input of the method.
fn input_name(k: usize) -> String {
    format!("input{k}")
}

/// Writes a checkpoint.
fn save<T: Real>(path: &Path, fingerprint: Fingerprint, state: &State<T>) -> Result<(), Failure> {
    let names: Vec<String> = (0..state.inputs.len()).map(input_name).collect();
    let values = state.inputs.iter().map(|input| Values::of(input));
    let mut arrays: Vec<(&str, Values)> = names.iter().map(String::as_str).zip(values).collect();
    arrays.push((NUMBERS, Values::of(&state.numbers)));
    checkpoint::save(path, fingerprint, serde_json::json!({ "inputs": names.len() }), &arrays)
}

/// The state that a checkpoint holds.
fn restored<T: Real>(loaded: &Loaded) -> Result<State<T>, Failure> {
    let input = |k: usize| loaded.array(&input_name(k));
    let inputs = (0..loaded.number("inputs")? as usize).map(input).collect::<Result<_, Failure>>()?;
    Ok(State { inputs, numbers: loaded.array(NUMBERS)? })
}
