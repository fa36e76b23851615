//! `clinalg tune`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clinalg::tune::{self, Choice};
use clinalg::tuner::{self, Discarded, Found, Tunable, Tuned};
use clinalg::{Context, Precision};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{DeviceName, PrecisionArg};
use crate::exit::{Exit, Failure, usage};
use crate::global::Global;
use crate::output::Output;
use crate::paths::{check_folder, create_folder};
use crate::plot::{Picture, PlotArgs, Surface};
use crate::text::{precision, seconds};

/// Search for the fastest launch parameters of this device and store them
///
/// For each operation, precision and size: tries work-group sizes, widths of loads, elements per item and numbers of
/// work-groups, and stores the fastest in a table that later programs on this device read.
#[derive(clap::Args)]
#[command(after_help = "\
Method: each candidate is first compared with sequential code at awkward sizes, and
discarded if its results differ. The others are timed at several sizes (medians of
samples of 2 ms), and the fastest is timed again beside the default. It replaces
the default if it takes less than 98 % of its time. The limit is the time of a
copy of the same number of bytes in the same run; an operation on data in the caches may be
faster.

The table is one file per device in the folder CLINALG_TUNE_DIR, else `tuning`
in the user's data folder of clinalg. It is valid for this driver version only;
delete it to return to the defaults.

JSON: {\"device\", \"copy_bandwidth\", \"table\", \"tuned\": [{\"operation\", \"precision\",
\"elements\", \"sizes\", \"bytes\", \"seconds_default\", \"seconds_tuned\",
\"seconds_limit\", \"default\", \"best\", \"candidates\"}], \"discarded\": [{\"operation\",
\"precision\", \"parameters\", \"why\"}], \"pictures\"}. Times in seconds, bandwidth in
10^9 bytes per second; table is null with --dry-run.

Examples:
  clinalg tune                              everything, some minutes
  clinalg tune --quick --dry-run            a dry run, nothing stored
  clinalg tune --op reduce --precision f64 --plot pictures")]
pub(crate) struct Args {
    /// Only these operations, separated by commas; on a CPU `_cpu` may be left out [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = names())]
    op: Vec<String>,
    /// Only this precision [default: both]
    #[arg(long, value_enum)]
    precision: Option<PrecisionArg>,
    /// Two sizes instead of six, fewer samples
    #[arg(long)]
    quick: bool,
    /// Report only, store nothing
    #[arg(long)]
    dry_run: bool,
    /// Draw the time over work-group size and elements per work-item into the folder DIR, created if it is missing; one picture
    /// per operation, precision and size
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    style: PlotArgs,
}

/// The operations, as clap lists them.
fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(tuner::operations().map(|op| op.operation.name))
}

type Parameters = BTreeMap<&'static str, u32>;

#[derive(Serialize, JsonSchema)]
pub(crate) struct Document {
    device: DeviceName,
    copy_bandwidth: f64,
    table: Option<PathBuf>,
    tuned: Vec<Row>,
    discarded: Vec<Bad>,
    pictures: Vec<PathBuf>,
}

#[derive(Serialize, JsonSchema)]
struct Row {
    operation: &'static str,
    #[schemars(with = "String")]
    precision: Precision,
    elements: usize,
    sizes: [usize; 2],
    bytes: u64,
    seconds_default: f64,
    seconds_tuned: f64,
    seconds_limit: f64,
    default: Parameters,
    best: Parameters,
    candidates: Vec<Timed>,
}

#[derive(Serialize, JsonSchema)]
struct Timed {
    parameters: Parameters,
    seconds: f64,
}

#[derive(Serialize, JsonSchema)]
struct Bad {
    operation: &'static str,
    #[schemars(with = "String")]
    precision: Precision,
    parameters: Parameters,
    why: String,
}

fn named(operation: &str, choice: &Choice) -> Parameters {
    let op = tuner::named(operation).expect("results name operations").operation;
    op.parameters.iter().map(|(name, _)| *name).zip(*choice).collect()
}

pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    let context = global.context(false)?;
    if !args.dry_run && tune::folder().is_none() {
        return usage!("CLINALG_TUNE_DIR is empty: there is no folder for the table; --dry-run needs none");
    }
    args.plot.iter().try_for_each(|folder| check_folder(folder))?;
    let options = options(args, &context)?;
    let found = search(&context, &options, out)?;
    let table = match args.dry_run {
        true => None,
        false => {
            let (mut table, dropped) = tuner::user_table(context.device());
            for why in dropped {
                log::warn!("{why}; dropped");
            }
            table.replace(found.entries());
            Some(table.save(context.device())?)
        }
    };
    let pictures = match &args.plot {
        Some(folder) => plot(folder, &args.style, &found)?,
        None => Vec::new(),
    };
    let document = Document::new(&context, found, table, pictures);
    document.print(out)?;
    out.json(&document)?;
    Ok(Exit::Done)
}

/// The operation of a name, or with kernels for CPUs that of the same name with `_cpu`.
fn on_this_family(name: &str, here: impl Fn(&&'static Tunable) -> bool) -> Option<&'static Tunable> {
    let on_cpu = match name.strip_suffix("_complex") {
        Some(stem) => format!("{stem}_cpu_complex"),
        None => format!("{name}_cpu"),
    };
    let own = tuner::named(name);
    own.filter(&here).or_else(|| tuner::named(&on_cpu).filter(&here)).or(own)
}

/// What to search: the operations selected, or all that the kernels of this context have.
fn options(args: &Args, context: &Context) -> Result<tuner::Options, Failure> {
    let here = |op: &&'static Tunable| op.operation.family == context.family();
    let ops: Vec<&'static Tunable> = match args.op.is_empty() {
        true => tuner::operations().filter(here).collect(),
        false => args.op.iter().filter_map(|name| on_this_family(name, here)).collect(),
    };
    if let Some(op) = ops.iter().find(|op| !here(op)) {
        let family = if context.family() == clinalg::KernelFamily::Cpu { "CPUs" } else { "GPUs" };
        let possible: Vec<&str> = tuner::operations().filter(here).map(|op| op.operation.name).collect();
        return usage!(
            "--op {}: the kernels for {family} run on {}; their operations are {}",
            op.operation.name,
            context.device().name,
            possible.join(", ")
        );
    }
    let precisions = match args.precision {
        Some(precision) => vec![precision.into()],
        None => vec![Precision::F32, Precision::F64],
    };
    if precisions == [Precision::F64] {
        context.require::<f64>()?;
    }
    Ok(tuner::Options { ops, precisions, quick: args.quick })
}

fn search(context: &Context, options: &tuner::Options, out: &Output) -> Result<Found, Failure> {
    let target = if out.is_json() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(0), target);
    if let Ok(style) = ProgressStyle::with_template("[{bar:40}] {pos}/{len} {msg} ({elapsed}, {eta} left)") {
        bar.set_style(style.progress_chars("=> "));
    }
    let found = tuner::search(context, options, &mut |step| {
        bar.set_length(step.all as u64);
        bar.set_position(step.done as u64);
        bar.set_message(step.what.to_owned());
    });
    bar.finish_and_clear();
    Ok(found?)
}

/// One picture per result, named after it.
fn plot(folder: &Path, style: &PlotArgs, found: &Found) -> Result<Vec<PathBuf>, Failure> {
    create_folder(folder)?;
    let mut pictures = Vec::new();
    for tuned in &found.tuned {
        let op = tuner::named(tuned.operation).expect("results name operations");
        // The best of all candidates with the same coordinates.
        let mut cells: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for candidate in &tuned.candidates {
            let cell = (candidate.choice[0], (op.per_item)(&candidate.choice));
            let best = cells.entry(cell).or_insert(f64::INFINITY);
            *best = best.min(candidate.seconds);
        }
        let log = tuned.elements.ilog2();
        let path = folder.join(format!("{}-{}-2e{log}.png", tuned.operation, precision(tuned.precision)));
        let picture = Picture::new(&path, style)?;
        picture.draw(&Surface {
            title: format!("{}, {}, 2^{log} elements", tuned.operation, precision(tuned.precision)),
            subtitle: "time, the best of the other parameters".to_owned(),
            x_name: op.operation.parameters[0].0,
            y_name: "elements per item",
            cells: cells.into_iter().collect(),
        })?;
        pictures.push(path);
    }
    Ok(pictures)
}

impl Document {
    fn new(context: &Context, found: Found, table: Option<PathBuf>, pictures: Vec<PathBuf>) -> Document {
        let Found { copy_bandwidth, tuned, discarded } = found;
        let row = |t: Tuned| Row {
            operation: t.operation,
            precision: t.precision,
            elements: t.elements,
            sizes: t.sizes,
            bytes: t.bytes,
            seconds_default: t.default.seconds,
            seconds_tuned: t.best.seconds,
            seconds_limit: t.bytes as f64 / copy_bandwidth * 1e-9,
            default: named(t.operation, &t.default.choice),
            best: named(t.operation, &t.best.choice),
            candidates: t
                .candidates
                .iter()
                .map(|c| Timed { parameters: named(t.operation, &c.choice), seconds: c.seconds })
                .collect(),
        };
        let bad = |d: Discarded| Bad {
            operation: d.operation,
            precision: d.precision,
            parameters: named(d.operation, &d.choice),
            why: d.why,
        };
        Document {
            device: context.device().into(),
            copy_bandwidth,
            table,
            tuned: tuned.into_iter().map(row).collect(),
            discarded: discarded.into_iter().map(bad).collect(),
            pictures,
        }
    }

    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        out.field("device", self.device.to_string())?;
        out.field("bandwidth", format!("copy {:.1} GB/s", self.copy_bandwidth))?;
        out.line("")?;
        let columns =
            ["operation", "precision", ">elements", ">default", ">tuned", ">limit", ">of limit", "parameters"];
        let list = |parameters: &Parameters| {
            parameters.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
        };
        let row = |r: &Row| {
            let same = r.default == r.best;
            vec![
                r.operation.into(),
                precision(r.precision).into(),
                format!("2^{}", r.elements.ilog2()),
                seconds(r.seconds_default),
                if same { "default".into() } else { seconds(r.seconds_tuned) },
                seconds(r.seconds_limit),
                format!("{:.0} %", 100.0 * r.seconds_limit / r.seconds_tuned),
                list(&r.best),
            ]
        };
        out.table(&columns, self.tuned.iter().map(row))?;
        for bad in &self.discarded {
            let (operation, precision, parameters) = (bad.operation, precision(bad.precision), list(&bad.parameters));
            out.line(format!("discarded: {operation} {precision}, {parameters}: {}", bad.why))?;
        }
        out.line("")?;
        match &self.table {
            Some(path) => out.field("kept in", path.display().to_string())?,
            None => out.field("kept in", "nothing (--dry-run)")?,
        }
        for picture in &self.pictures {
            out.field("picture", picture.display().to_string())?;
        }
        Ok(())
    }
}
