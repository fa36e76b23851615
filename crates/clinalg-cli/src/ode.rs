//! `clinalg ode`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clinalg::io::matrix_market;
use clinalg::{Context, Precision, Real, Shape, Vector};
use clinalg_ode::choose::{Measured, survey};
use clinalg_ode::integrate::{Integrator, Norm, Options, Report, Stepper, Stored};
use clinalg_ode::problems::{self, PROBLEMS, Problem};
use clinalg_ode::reference::Reference;
use clinalg_ode::{DeviceOptions, DeviceStepper, METHODS, Method, Plan, Variant};
use serde::Serialize;

use crate::Global;
use crate::args::{self, DeviceName, PrecisionArg};
use crate::exit::{Exit, Failure};
use crate::output::{Align, Output, bytes, seconds, table};
use crate::plot::{Field, Frames, Profile};
use crate::progress::Way;
use crate::solve::missing_folder;

/// Integrate a system of ordinary differential equations
///
/// y' = f(t, y) for a test problem of the literature, by an explicit method whose steps are made into kernels for method and
/// problem. Steps follow the error of the method's estimate, or have a fixed size.
#[derive(clap::Args)]
#[command(after_help = "\
Problems and methods: clinalg ode --list

Steps:
  --rtol and --atol  each step's error, divided by atol + rtol |y| in every
                     component, has a root mean square of at most 1; for
                     methods with an error estimate (dopri54, verner65, ...)
  --h                equal steps of at most this size, for every method; a step
                     past the method's stability limit is refused
Explicit methods take steps no larger than stability allows. Where that, and not
the accuracy asked for, decides (\"stiff\" in the report), a looser tolerance saves
nothing.

Variants: how a step is cut into kernels. All give the same solution.
  basic        one kernel for each operation
  fused        a right-hand side with all sums that it enters in one kernel
  overlapped, trapezoidal, hexagonal
               several stages in one kernel, on tiles along the components
  grid         several stages in one kernel, on strips of a grid
  wavefront    the fused kernels on blocks that stay in the cache from stage to stage
  cooperative  several stages in one kernel, whose work-groups wait for each other
  recomputed   two stages in one kernel, the first computed again at neighbours
  auto         the fastest for this device that fits its memory, by a model and
               by trial where there are many components
  reference    plain sequential Rust, without OpenCL

--plot DIR writes --frames pictures DIR/ode-0000.png, ...; --plot FILE, ending in
.png or .svg, writes FILE with -0000, ... before the extension: a field in colours
over a square, a middle plane of a cube, all fields as curves over a line. To make
a film: ffmpeg -i DIR/ode-%04d.png ode.mp4

JSON keys: problem, n, components, method, order, variant, precision, shape,
t_end, h, rtol, atol, steps, rejected, rhs_evaluations, smallest_step,
largest_step, stiff_at, reference, error_vs_reference, invariants, kernels,
words_per_component_step, explain, seconds_setup, seconds_upload, seconds,
seconds_download, component_steps_per_second, peak_device_bytes, device, out,
pictures. error_vs_reference is the largest
difference in a component from the exact solution (reference: exact), or from one
by dopri87 with tolerances of 1e-11 in plain Rust (reference: dopri87), null where
neither was computed (--reference); invariants are name, start and end of what the
exact solution keeps; kernels counts those of a step, words_per_component_step the
numbers they read and write for a component. seconds is the integration, from the
initial values in the device's memory to the solution there: the first step's size,
all steps, those thrown away, a check that the solution is finite.
seconds_upload and seconds_download are the ways to the device and back, for
solutions of frames as well; seconds_setup is all before, mostly the building of
kernels, and whether a fixed step is stable. The reference and pictures are in
none of them.

Examples:
  clinalg ode --problem bruss2d-mix --rtol 1e-8
  clinalg ode --problem heat2d --n 257 --method rk4 --h 1e-6 --t-end 1e-3
  clinalg ode --problem bruss2d-hairer --n 64 --plot frames --frames 60
  clinalg ode --problem cusp --variant reference --plot cusp.png --frames 2
  clinalg ode --list --json
  clinalg ode --method dopri54 --graph drawings

--compare times a step of every variant with every size of tiles, one after the other
in turn: the median over five groups of the least of four. Keys problem, components,
method, precision, device, shape, copy_bandwidth, candidates (variant, steps, links,
items, points, words, seconds_expected, seconds), by_model, by_trial and fastest
(places in candidates), model_over_fastest, trial_over_fastest.

--graph DIR writes the method's data flow as text, for Graphviz and as a picture,
before and after each transformation on the way to the fused kernels, and lists the
words that a step of one kernel a link moves; keys method, transformations (name,
kernels, words, vectors, weight, files).

The exit code is 1 when the integration stopped before its end: no finite solution,
steps too small or too many.")]
pub(crate) struct Args {
    /// The problem, one of --list
    #[arg(long, value_name = "NAME", required_unless_present_any = ["list", "graph"])]
    problem: Option<String>,
    /// Lists problems, methods and variants
    #[arg(long, conflicts_with_all = ["problem", "plot"])]
    list: bool,
    /// Draws the method's data flow into a folder, before and after each transformation
    #[arg(long, value_name = "DIR", conflicts_with_all = ["problem", "plot", "out", "list", "explain", "compare"])]
    graph: Option<PathBuf>,
    /// Grid points along each axis; pairs, inverters or bodies where there is no grid [default: see --list]
    #[arg(long, value_parser = args::positive, allow_hyphen_values = true)]
    n: Option<usize>,
    /// The method, one of --list
    #[arg(long, value_name = "NAME", default_value = "dopri54")]
    method: String,
    /// How a step is cut into kernels
    #[arg(long, value_name = "NAME", default_value = "auto")]
    variant: String,
    /// Sums read stages in place of right-hand sides of earlier stages: fewer words moved, other rounding errors
    #[arg(long)]
    recover_stages: bool,
    /// Says what the kernels read and write, what they cost by the model and what a step takes
    #[arg(long)]
    explain: bool,
    /// Times every variant and size of tiles in place of an integration
    #[arg(long, conflicts_with_all = ["variant", "plot", "out", "explain"])]
    compare: bool,
    /// Steps that tiles compute in one pass over memory where they can; with --h the result has the same bits
    /// [default: 4 with --h, else 1]
    #[arg(long, value_name = "COUNT", value_parser = args::positive, allow_hyphen_values = true)]
    steps_at_once: Option<usize>,
    /// Time to reach [default: see --list]
    #[arg(long, value_name = "T", value_parser = finite, allow_hyphen_values = true)]
    t_end: Option<f64>,
    /// Steps of this size instead of such that follow the error
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
    /// Most steps, those thrown away counted
    #[arg(long, value_name = "COUNT", default_value_t = 10_000_000, value_parser = args::positive, allow_hyphen_values = true)]
    step_limit: usize,
    /// Precision of all that is computed
    #[arg(long, value_enum, default_value_t = PrecisionArg::F64)]
    precision: PrecisionArg,
    /// Whether an exact solution, or one with tight tolerances, is computed to compare with
    #[arg(long, value_enum, default_value_t = ReferenceArg::Auto)]
    reference: ReferenceArg,
    /// Write the solution at the end as a MatrixMarket array
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw frames into a folder, or into files named after FILE (.png or .svg)
    #[arg(long, value_name = "DIR|FILE")]
    plot: Option<PathBuf>,
    /// Number of frames from the beginning to the end
    #[arg(long, default_value_t = 11, value_name = "COUNT", value_parser = args::frames, allow_hyphen_values = true)]
    frames: usize,
    /// The field drawn over a square or cube [default: the first]
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
    /// Exact ones where they are known, others for up to 1000 components
    Auto,
    /// However long it takes
    Always,
    /// Never
    None,
}

/// Fixed steps in one pass where nothing else is asked for.
const AT_ONCE: usize = 4;

/// Components up to which `--reference auto` computes a reference by a method.
const SMALL: usize = 1000;

fn finite(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err("expected a finite number".into()),
    }
}

/// Grid points along an axis where `--n` is not given: some seconds of work at most on a processor.
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

#[derive(Serialize)]
struct Document {
    problem: &'static str,
    n: usize,
    components: usize,
    method: String,
    order: usize,
    variant: String,
    precision: Precision,
    shape: Option<Shape>,
    t_end: f64,
    h: Option<f64>,
    rtol: Option<f64>,
    atol: Option<f64>,
    steps: usize,
    rejected: usize,
    rhs_evaluations: usize,
    smallest_step: f64,
    largest_step: f64,
    stiff_at: Option<f64>,
    reference: Option<&'static str>,
    error_vs_reference: Option<f64>,
    invariants: Vec<Invariant>,
    kernels: Option<usize>,
    words_per_component_step: Option<f64>,
    explain: Option<String>,
    seconds_setup: f64,
    seconds_upload: f64,
    seconds: f64,
    seconds_download: f64,
    component_steps_per_second: f64,
    peak_device_bytes: u64,
    device: Option<DeviceName>,
    out: Option<String>,
    pictures: Vec<String>,
}

/// A quantity that the exact solution keeps.
#[derive(Serialize)]
struct Invariant {
    name: &'static str,
    start: f64,
    end: f64,
}

pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    match (&args.problem, args.precision) {
        (None, _) => match &args.graph {
            Some(folder) => graphs(args, folder, out),
            None => list(out),
        },
        (Some(problem), PrecisionArg::F32) => solve::<f32>(problem, args, global, out),
        (Some(problem), PrecisionArg::F64) => solve::<f64>(problem, args, global, out),
    }
}

#[derive(Serialize)]
struct ListedProblem {
    name: &'static str,
    title: &'static str,
    n: usize,
    components: usize,
    access_distance: usize,
    t_end: f64,
}

#[derive(Serialize)]
struct ListedMethod {
    name: &'static str,
    order: usize,
    error_order: Option<usize>,
    rhs_evaluations_per_step: usize,
    words_basic: usize,
    words_fused: usize,
}

fn list(out: &mut Output) -> Result<Exit, Failure> {
    let problem = |name: &&'static str| {
        let n = default_n(name);
        let p = problems::problem(name, n)?;
        let (components, access_distance) = (p.y0.len(), p.system.access_distance());
        Ok(ListedProblem { name, title: p.title, n, components, access_distance, t_end: p.t_end })
    };
    let problems = PROBLEMS.iter().map(problem).collect::<Result<Vec<_>, Failure>>()?;
    let method = |name: &&'static str| {
        let method = Method::named(name)?;
        let words = |variant| Plan::new(method.graph(), variant).words();
        Ok(ListedMethod {
            name,
            order: method.order(),
            error_order: method.error_order(),
            rhs_evaluations_per_step: method.graph().rhs_count(),
            words_basic: words(Variant::Basic),
            words_fused: words(Variant::Fused),
        })
    };
    let methods = METHODS.iter().map(method).collect::<Result<Vec<_>, Failure>>()?;
    let columns = [
        ("problem", Align::Left),
        ("n", Align::Right),
        ("components", Align::Right),
        ("t end", Align::Right),
        ("", Align::Left),
    ];
    let rows: Vec<Vec<String>> = (problems.iter())
        .map(|p| vec![p.name.into(), p.n.to_string(), p.components.to_string(), p.t_end.to_string(), p.title.into()])
        .collect();
    for line in table(&columns, &rows) {
        out.line(line)?;
    }
    out.line("")?;
    let right = |name| (name, Align::Right);
    let columns = [
        ("method", Align::Left),
        right("order"),
        right("estimate"),
        right("evaluations"),
        right("words basic"),
        right("words fused"),
    ];
    let rows: Vec<Vec<String>> = (methods.iter())
        .map(|m| {
            let estimate = m.error_order.map_or("-".into(), |order| order.to_string());
            let numbers = [m.rhs_evaluations_per_step, m.words_basic, m.words_fused].map(|v| v.to_string());
            [vec![m.name.into(), m.order.to_string(), estimate], numbers.to_vec()].concat()
        })
        .collect();
    for line in table(&columns, &rows) {
        out.line(line)?;
    }
    out.line("")?;
    out.line(
        "n: the default of --n. estimate: the order that a step's error is estimated with; methods without one take",
    )?;
    out.line("--h. evaluations of the right-hand side in a step; words read and written in it for a component.")?;
    out.json(&serde_json::json!({ "problems": problems, "methods": methods, "variants": variants() }))?;
    Ok(Exit::Done)
}

/// A method's data flow after a transformation.
#[derive(Serialize)]
struct Transformed {
    name: &'static str,
    kernels: usize,
    words: usize,
    vectors: usize,
    weight: f64,
    files: Vec<String>,
}

/// Draws the method's data flow before and after each transformation.
fn graphs(args: &Args, folder: &Path, out: &mut Output) -> Result<Exit, Failure> {
    let method = Method::named(&args.method)?;
    let graph = args.method()?.graph().clone();
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error: std::io::Error| Failure::File { path, reason: error.to_string() }
    };
    std::fs::create_dir_all(folder).map_err(failed(folder))?;
    let mut all = vec![("basic", Plan::new(method.graph(), Variant::Basic))];
    if args.recover_stages {
        all.push(("recovered", Plan::new(&graph, Variant::Basic)));
    }
    all.extend(Plan::transformations(&graph));
    let mut transformations = Vec::new();
    for (k, (name, plan)) in all.into_iter().enumerate() {
        let mut files = Vec::new();
        let drawn = plan.graph();
        for (ending, text) in [("txt", plan.explain()), ("dot", drawn.to_dot()), ("svg", drawn.to_svg())] {
            let path = folder.join(format!("{}-{k}-{name}.{ending}", method.name()));
            std::fs::write(&path, text).map_err(failed(&path))?;
            files.push(path.display().to_string());
        }
        let (kernels, words, vectors) = (plan.groups().len(), plan.words(), plan.buffers());
        transformations.push(Transformed { name, kernels, words, vectors, weight: drawn.weight(), files });
    }
    let right = |name| (name, Align::Right);
    let columns = [
        ("", Align::Left),
        right("kernels"),
        right("words"),
        right("vectors"),
        right("weight"),
        ("files", Align::Left),
    ];
    let row = |t: &Transformed| {
        let numbers = [t.kernels, t.words, t.vectors].map(|n| n.to_string());
        let first = t.files.first().map(|f| f.replace(".txt", ".*")).unwrap_or_default();
        [vec![t.name.to_owned()], numbers.to_vec(), vec![format!("{:.1}", t.weight), first]].concat()
    };
    for line in table(&columns, &transformations.iter().map(row).collect::<Vec<_>>()) {
        out.line(line)?;
    }
    out.line("")?;
    out.line("words: read and written in a step for a component. vectors: in memory. weight: by how much sums")?;
    out.line("enlarge rounding errors of what they read.")?;
    out.json(&serde_json::json!({ "method": method.name(), "transformations": transformations }))?;
    Ok(Exit::Done)
}

fn variants() -> Vec<&'static str> {
    Variant::ALL.iter().map(|v| v.name()).chain([PLAIN]).collect()
}

/// The variant without kernels.
const PLAIN: &str = "reference";

/// The variant of this name; `None` for plain Rust.
fn variant(name: &str) -> Result<Option<Variant>, Failure> {
    match name {
        PLAIN => Ok(None),
        name if variants().contains(&name) => Ok(Some(Variant::named(name)?)),
        name => Err(Failure::usage(format!("--variant {name}: expected one of {}", variants().join(", ")))),
    }
}

impl Args {
    fn method(&self) -> Result<Method, Failure> {
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
            return Err(Failure::usage(format!(
                "--method {} has no error estimate for steps to follow: give --h, or take one of {}",
                method.name(),
                with.join(", ")
            )));
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

fn solve<T: Real>(name: &str, args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    let n = args.n.unwrap_or_else(|| default_n(name));
    check_size(name, n)?;
    let problem = problems::problem(name, n)?;
    let method = args.method()?;
    let variant = variant(&args.variant)?;
    if args.explain && variant.is_none() {
        return Err(Failure::usage(format!("--explain: the variant {PLAIN} has no kernels to explain")));
    }
    if args.compare {
        return compare::<T>(&problem, &method, args, global, out);
    }
    let mut steps_options = args.options(&problem, &method)?;
    if let Some(folder) = args.out.as_deref().and_then(missing_folder) {
        return Err(Failure::File { path: folder.to_owned(), reason: "no such folder".into() });
    }
    let frames = args.plot.as_deref().map(|path| Frames::new(path, "ode", args.frames)).transpose()?;
    let drawn = match (&frames, &args.field) {
        (Some(_), Some(field)) => problem.system.fields().iter().position(|name| name == field).ok_or_else(|| {
            Failure::usage(format!("--field {field}: expected one of {}", problem.system.fields().join(", ")))
        })?,
        _ => 0,
    };
    steps_options.check()?;
    let t_end = args.t_end.unwrap_or(problem.t_end);
    if t_end < problem.t0 {
        return Err(Failure::usage(format!("--t-end {t_end}: the problem begins at t = {}", problem.t0)));
    }
    if frames.is_some() {
        let last = args.frames - 1;
        let time =
            |k: usize| if k == last { t_end } else { problem.t0 + (t_end - problem.t0) * k as f64 / last as f64 };
        steps_options.save_at = (0..args.frames).map(time).collect();
    }
    // What estimates errors costs work that fixed steps need not do.
    let method = if args.h.is_some() { method.without_error() } else { method };
    let way = Way::new(out);
    way.stage("setting up");
    let start = Instant::now();
    let context = variant.is_some().then(|| global.context(false)).transpose()?;
    let mut document = Document {
        problem: problem.name,
        n,
        components: problem.y0.len(),
        method: args.method.clone(),
        order: method.order(),
        variant: args.variant.clone(),
        precision: T::PRECISION,
        shape: context.as_ref().map(Context::shape),
        t_end,
        h: args.h,
        rtol: args.h.is_none().then_some(steps_options.relative),
        atol: args.h.is_none().then_some(steps_options.absolute),
        steps: 0,
        rejected: 0,
        rhs_evaluations: 0,
        smallest_step: 0.0,
        largest_step: 0.0,
        stiff_at: None,
        reference: None,
        error_vs_reference: None,
        invariants: Vec::new(),
        kernels: None,
        words_per_component_step: None,
        explain: None,
        seconds_setup: 0.0,
        seconds_upload: 0.0,
        seconds: 0.0,
        seconds_download: 0.0,
        component_steps_per_second: 0.0,
        peak_device_bytes: 0,
        device: context.as_ref().map(|c| c.device().into()),
        out: None,
        pictures: Vec::new(),
    };
    let mut film = Film::new(&problem, drawn);
    let done = match (&context, variant) {
        (Some(context), Some(variant)) => {
            let steps = args.steps_at_once.unwrap_or(if args.h.is_some() { AT_ONCE } else { 1 });
            let options = DeviceOptions { variant, steps, tile: None };
            let mut stepper = DeviceStepper::<T>::with(context, &method, &problem.system, &options)?;
            document.variant = stepper.variant().name().into();
            document.kernels = Some(stepper.kernels());
            document.words_per_component_step = Some(stepper.words());
            if args.explain {
                stepper.measure()?;
                document.explain = Some(stepper.explain());
            }
            let values = start_values(&problem);
            let before_upload = Instant::now();
            let y0 = Vector::from_slice(context, &values)?;
            context.finish()?;
            let upload = before_upload.elapsed();
            drop(values);
            let run = Run { problem: &problem, t_end, options: &steps_options, way: &way, start, upload };
            run.integrate(&mut stepper, (&y0).into(), &mut film)?
        }
        _ => {
            let mut stepper = Reference::<T>::new(&method, &problem.system);
            let y0 = start_values(&problem);
            let run =
                Run { problem: &problem, t_end, options: &steps_options, way: &way, start, upload: Duration::ZERO };
            run.integrate(&mut stepper, (&y0).into(), &mut film)?
        }
    };
    let (y, report) = (done.y, done.report);
    if let Some(path) = &args.out {
        matrix_market::write_array(path, y.len(), 1, &y)?;
        document.out = Some(path.display().to_string());
    }
    document.steps = report.accepted;
    document.rejected = report.rejected;
    document.rhs_evaluations = report.rhs_evaluations;
    (document.smallest_step, document.largest_step) = (report.smallest_step, report.largest_step);
    document.stiff_at = report.stiff;
    document.seconds_setup = done.setup.as_secs_f64();
    document.seconds_upload = done.upload.as_secs_f64();
    document.seconds = done.solving.as_secs_f64();
    document.seconds_download = done.download.as_secs_f64();
    document.component_steps_per_second =
        problem.y0.len() as f64 * report.accepted as f64 / done.solving.as_secs_f64().max(f64::MIN_POSITIVE);
    document.peak_device_bytes = context.as_ref().map_or(0, |c| c.memory().peak_bytes);
    way.stage("computing the reference");
    if let Some((kind, expected)) = compared(args.reference, &problem, t_end)? {
        let error = y.iter().zip(&expected).map(|(y, e)| (y.wide() - e).abs());
        document.error_vs_reference = Some(error.fold(0.0, f64::max));
        document.reference = Some(kind);
    }
    let end: Vec<f64> = y.iter().map(|v| v.wide()).collect();
    let kept = problem.invariants(&problem.y0).into_iter().zip(problem.invariants(&end));
    document.invariants = kept.map(|((name, start), (_, end))| Invariant { name, start, end }).collect();
    if let Some(frames) = &frames {
        way.stage("drawing");
        film.draw(&mut document, &problem, frames)?;
    }
    drop(way);
    document.print(&problem, out)?;
    out.json(&document)?;
    Ok(Exit::Done)
}

/// A variant with sizes of its tiles and what a step takes.
#[derive(Serialize)]
struct Compared {
    variant: &'static str,
    steps: usize,
    links: Option<usize>,
    items: Option<usize>,
    points: Option<usize>,
    words: f64,
    seconds_expected: f64,
    seconds: f64,
}

/// Groups of rounds of a comparison, and rounds in a group.
const ROUNDS: [usize; 2] = [5, 4];

/// Every variant beside each other, and how far from the fastest the choices are.
fn compare<T: Real>(
    problem: &Problem,
    method: &Method,
    args: &Args,
    global: &Global,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let context = global.context(false)?;
    let method = if args.h.is_some() { method.without_error() } else { method.clone() };
    let wanted = DeviceOptions { steps: args.steps_at_once.unwrap_or(1), ..DeviceOptions::default() };
    let found = survey::<T>(&context, &method, &problem.system, &wanted, ROUNDS)?;
    let one = |m: &Measured| Compared {
        variant: m.options.variant.name(),
        steps: m.options.steps,
        links: m.options.tile.map(|t| t.links),
        items: m.options.tile.map(|t| t.items),
        points: m.options.tile.map(|t| t.points),
        words: m.words,
        seconds_expected: m.expected,
        seconds: m.seconds,
    };
    let all: Vec<Compared> = found.measured.iter().map(one).collect();
    let names = ["steps", "links", "items", "points", "words", "expected", "measured"];
    let columns =
        [&[("variant", Align::Left)][..], &names.map(|name| (name, Align::Right)), &[("", Align::Left)]].concat();
    let row = |(k, c): (usize, &Compared)| {
        let size = |n: Option<usize>| n.map_or("-".into(), |n| n.to_string());
        let marks = [(0, "model"), (found.tried, "trial"), (found.best, "fastest")];
        let marks: Vec<&str> = marks.iter().filter(|(place, _)| *place == k).map(|(_, name)| *name).collect();
        vec![
            c.variant.to_owned(),
            c.steps.to_string(),
            size(c.links),
            size(c.items),
            size(c.points),
            format!("{:.2}", c.words),
            seconds(c.seconds_expected),
            seconds(c.seconds),
            marks.join(", "),
        ]
    };
    for line in table(&columns, &all.iter().enumerate().map(row).collect::<Vec<_>>()) {
        out.line(line)?;
    }
    out.line("")?;
    let copy = found.copy * 1e-9;
    out.line(format!(
        "The model's choice takes {:.3} times as long as the fastest, that of a trial {:.3} times; a copy moves {copy:.1} GB/s.",
        found.model_over_best(),
        found.trial_over_best()
    ))?;
    out.json(&serde_json::json!({
        "problem": problem.name,
        "components": problem.y0.len(),
        "method": args.method,
        "precision": precision(T::PRECISION),
        "device": DeviceName::from(context.device()),
        "shape": context.shape(),
        "copy_bandwidth": copy,
        "candidates": all,
        "by_model": 0,
        "by_trial": found.tried,
        "fastest": found.best,
        "model_over_fastest": found.model_over_best(),
        "trial_over_fastest": found.trial_over_best(),
    }))?;
    Ok(Exit::Done)
}

/// # Errors
/// [`Failure::Usage`] where the start values do not fit the machine's memory.
fn check_size(name: &str, n: usize) -> Result<(), Failure> {
    let small = problems::problem(name, 20)?.system;
    let points = n.checked_pow(small.grid().shape().len() as u32);
    let components = points.and_then(|points| points.checked_mul(small.fields().len()));
    let fits = components.is_some_and(|count| Vec::<f64>::new().try_reserve_exact(count).is_ok());
    if fits {
        return Ok(());
    }
    Err(Failure::usage(format!("--n {n}: the start values of {name} do not fit this machine's memory")))
}

/// What the solution at `t_end` is compared with, and what that is.
fn compared(wanted: ReferenceArg, problem: &Problem, t_end: f64) -> Result<Option<(&'static str, Vec<f64>)>, Failure> {
    // Exact solutions take as many operations as the square of the points along an axis.
    let quick = problem.system.grid().shape()[0] <= 10_000;
    if wanted == ReferenceArg::None {
        return Ok(None);
    }
    if let Some(exact) = (quick || wanted == ReferenceArg::Always).then(|| problem.exact(t_end)).flatten() {
        return Ok(Some(("exact", exact)));
    }
    if problem.y0.len() <= SMALL || wanted == ReferenceArg::Always {
        return Ok(Some(("dopri87", tight(problem, t_end)?)));
    }
    Ok(None)
}

/// The solution at `t_end` with tight tolerances, in plain Rust.
fn tight(problem: &Problem, t_end: f64) -> Result<Vec<f64>, Failure> {
    let mut stepper = Reference::<f64>::new(&Method::named("dopri87")?, &problem.system);
    let options = Options {
        relative: 1e-11,
        absolute: 1e-11,
        step_limit: usize::MAX,
        stops: problem.stops.clone(),
        watch_stability: false,
        ..Options::default()
    };
    let mut integrator = Integrator::new(&mut stepper, problem.t0, t_end, &problem.y0, &options)?;
    integrator.run()?;
    Ok(integrator.solution()?)
}

fn start_values<T: Real>(problem: &Problem) -> Vec<T> {
    problem.y0.iter().map(|v| T::of(*v)).collect()
}

struct Done<T> {
    y: Vec<T>,
    report: Report,
    setup: Duration,
    upload: Duration,
    solving: Duration,
    download: Duration,
}

/// An integration whose initial values are where the steps are computed.
struct Run<'a> {
    problem: &'a Problem,
    t_end: f64,
    options: &'a Options,
    way: &'a Way,
    /// Beginning of the set-up.
    start: Instant,
    /// Part of it that was the way of the initial values to the device.
    upload: Duration,
}

impl Run<'_> {
    /// Integrates; the solution is kept for the pictures where the options say so.
    fn integrate<T: Real, S: Stepper<T>>(
        self,
        stepper: &mut S,
        y0: Stored<'_, T>,
        film: &mut Film,
    ) -> Result<Done<T>, Failure> {
        let Run { problem, t_end, options, way, start, upload } = self;
        // Kernels are built where they are needed first: a step that is not taken, and all that comes before a first one.
        let tolerance = clinalg_ode::integrate::Tolerance { relative: 1.0, absolute: 1.0, norm: options.norm };
        stepper.trial(problem.t0, 0.0, &tolerance)?;
        drop(Integrator::new(stepper, problem.t0, t_end, y0, options)?);
        let setup = start.elapsed().saturating_sub(upload);
        // That a fixed step is stable is known by now.
        let options = Options { watch_stability: options.fixed_step.is_none(), ..options.clone() };
        let start = Instant::now();
        let integrator = Integrator::new(stepper, problem.t0, t_end, y0, &options)?;
        let mut told = Instant::now();
        let (mut saving, mut saved) = (Duration::ZERO, Duration::ZERO);
        let mut integrator = integrator
            .on_save_stored(|t, y| {
                let start = Instant::now();
                match y {
                    Stored::Host(y) => film.keep(problem, t, y),
                    Stored::Device(y) => {
                        let y = y.to_vec()?;
                        saved += start.elapsed();
                        film.keep(problem, t, &y);
                    }
                }
                saving += start.elapsed();
                Ok(())
            })
            .on_progress(|report| {
                if told.elapsed() > Duration::from_millis(50) {
                    told = Instant::now();
                    let part = (report.t - problem.t0) / (t_end - problem.t0);
                    way.reached(
                        part,
                        format!("t = {:.6}, {} steps, {} rejected", report.t, report.accepted, report.rejected),
                    );
                }
                true
            });
        integrator.run()?;
        integrator.stored()?;
        let all = start.elapsed();
        let start = Instant::now();
        let y = integrator.stored()?.to_vec()?;
        let back = start.elapsed();
        let report = integrator.into_report();
        Ok(Done { y, report, setup, upload, solving: all.saturating_sub(saving), download: back + saved })
    }
}

/// What the pictures show, kept until all of it is known: they share their colours.
struct Film {
    /// The field drawn over a square.
    field: usize,
    /// Points along the side of a square that are kept.
    side: usize,
    frames: Vec<(f64, Vec<Vec<f64>>)>,
}

/// Most points along an axis that a picture needs.
const MOST: usize = 1024;

impl Film {
    fn new(problem: &Problem, field: usize) -> Film {
        let n = problem.system.grid().shape()[0];
        Film { field, side: n.div_ceil(n.div_ceil(MOST)), frames: Vec::new() }
    }

    /// Keeps a frame: the field over a square, every field over a line, with not more points than can be seen.
    fn keep<T: Real>(&mut self, problem: &Problem, t: f64, y: &[T]) {
        let system = &problem.system;
        let shape = system.grid().shape();
        let n = shape[0];
        let stride = n.div_ceil(MOST);
        let along = || (0..n).step_by(stride);
        let value = |field: usize, p: usize| y[system.component(field, p)].wide();
        let values = match shape.len() {
            1 => (0..system.fields().len()).map(|field| along().map(|i| value(field, i)).collect()).collect(),
            dims => {
                // The plane in the middle of a cube.
                let plane = if dims == 3 { n * n * (n / 2) } else { 0 };
                vec![
                    along()
                        .flat_map(|j| along().map(move |i| (i, j)))
                        .map(|(i, j)| value(self.field, plane + j * n + i))
                        .collect(),
                ]
            }
        };
        self.frames.push((t, values));
    }

    fn draw(&self, document: &mut Document, problem: &Problem, frames: &Frames) -> Result<(), Failure> {
        let all = || self.frames.iter().flat_map(|(_, values)| values.iter().flatten()).filter(|v| v.is_finite());
        let (low, high) = all().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
        let range = if low <= high { (low, high) } else { (0.0, 0.0) };
        let grid = problem.system.grid();
        let names = problem.system.fields();
        let device = document.device.as_ref().map_or("plain Rust".to_owned(), |d| d.name().to_owned());
        for (k, (t, values)) in self.frames.iter().enumerate() {
            let picture = frames.picture(k)?;
            let size = grid.shape().iter().map(ToString::to_string).collect::<Vec<_>>().join(" × ");
            let title = format!("{}, {size} points, t = {t:.4}", problem.name);
            let subtitle = format!("{} · {} · {device}", document.method, precision(document.precision));
            if grid.shape().len() == 1 {
                let curves: Vec<_> = names.iter().cloned().zip(values.iter().cloned()).collect();
                let x = ("x", grid.position(0)[0], grid.position(grid.points() - 1)[0]);
                picture.profile(&Profile { title, subtitle, x, curves: &curves, range })?;
            } else {
                let label = &names[self.field];
                let values = &values[0];
                picture.field(&Field { title, subtitle, label, n: self.side, values, range: Some(range) })?;
            }
            document.pictures.push(picture.path().display().to_string());
        }
        Ok(())
    }
}

fn precision(precision: Precision) -> &'static str {
    match precision {
        Precision::F32 => "f32",
        Precision::F64 => "f64",
    }
}

impl Document {
    fn print(&self, problem: &Problem, out: &mut Output) -> Result<(), Failure> {
        out.line(format!("{}: {}", self.problem, problem.title))?;
        out.line(format!("{} components, {}", self.components, precision(self.precision)))?;
        out.line("")?;
        let shape = match self.shape {
            Some(Shape::Cpu) => ", kernels for cpu",
            Some(Shape::Gpu) => ", kernels for gpu",
            None => "",
        };
        out.field("device", self.device.as_ref().map_or("none, plain Rust".into(), |d| format!("{d}{shape}")))?;
        let kernels = match (self.kernels, self.words_per_component_step) {
            (Some(kernels), Some(words)) => {
                format!(", {}: {kernels} kernels and {words:.3} words a component in a step", self.variant)
            }
            _ => String::new(),
        };
        out.field("method", format!("{}, order {}{kernels}", self.method, self.order))?;
        for line in self.explain.iter().flat_map(|text| text.lines()) {
            out.line(format!("  {line}"))?;
        }
        match (self.h, self.rtol, self.atol) {
            (None, Some(rtol), Some(atol)) => {
                let sizes = format!("{:.2e} to {:.2e}", self.smallest_step, self.largest_step);
                out.field("steps", format!("{} taken, {} rejected, of {sizes}", self.steps, self.rejected))?;
                out.field("tolerance", format!("relative {rtol:e}, absolute {atol:e}"))?;
            }
            _ => out.field("steps", format!("{} of {:.6e}", self.steps, self.largest_step))?,
        }
        out.field("evaluations", format!("{} of the right-hand side, to t = {}", self.rhs_evaluations, self.t_end))?;
        if let Some(t) = self.stiff_at {
            out.field("stiff", format!("from t = {t:.4e} on stability, not accuracy, bounds the steps"))?;
        }
        out.line("")?;
        if let Some(error) = self.error_vs_reference {
            let what = if self.reference == Some("exact") { "the exact solution" } else { "a solution to 1e-11" };
            out.field("error", format!("{error:.4e} at most in a component, against {what}"))?;
        }
        for Invariant { name, start, end } in &self.invariants {
            out.field("kept", format!("{name}: {start:.6e}, changed by {:+.1e}", end - start))?;
        }
        let rate = self.component_steps_per_second;
        let time = format!("set-up {}, integration {}", seconds(self.seconds_setup), seconds(self.seconds));
        out.field("time", format!("{time}: {rate:.3e} components stepped a second"))?;
        if self.device.is_some() {
            let ways = [seconds(self.seconds_upload), seconds(self.seconds_download)];
            out.field("transfers", format!("{} to the device, {} back", ways[0], ways[1]))?;
            out.field("device memory", format!("{} at most", bytes(self.peak_device_bytes)))?;
        }
        if let Some(path) = &self.out {
            out.field("solution", path)?;
        }
        if let (Some(first), Some(last)) = (self.pictures.first(), self.pictures.last()) {
            out.field("pictures", format!("{first} to {last}"))?;
        }
        Ok(())
    }
}
