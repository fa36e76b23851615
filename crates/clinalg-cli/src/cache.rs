//! `clinalg cache`.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clinalg::CsrParts;
use clinalg::io::matrix_market;
use clinalg::runtime::KernelCache;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{self, DeviceName};
use crate::child;
use crate::exit::{Exit, Failure};
use crate::global::Global;
use crate::interrupt;
use crate::output::Output;
use crate::progress::Progress;
use crate::text::{bytes, seconds};

/// Show the cache of compiled kernels, or fill it in advance
///
/// The driver compiles each kernel at its first use, which takes seconds per command. --warm runs each command once with its defaults, in single precision
/// and, if the device has it, in double precision. Later runs then find their kernels compiled. Most drivers compile only one kernel at a time
/// per process, so --warm starts several processes.
#[derive(clap::Args)]
#[command(after_help = "\
After an update of the driver or of clinalg, the kernels are compiled again. A run with options other than
the defaults may need further kernels.

JSON: {\"device\", \"folder\", \"files\", \"bytes\", \"runs\": [{\"command\", \"seconds\", \"error\"}]}.
folder, files and bytes describe the library's own cache. They are null if only the driver keeps
compiled kernels, or if CLINALG_CACHE_DIR is empty. runs is empty without --warm. error is null
for a run that succeeded.

Examples:
  clinalg cache                     where the kernels of the default device are, and how many
  clinalg cache --warm              compile the kernels of all commands
  clinalg cache --warm --device 1 --processes 2

The exit code is 0 if all runs succeed, else 1.")]
pub(crate) struct Args {
    /// Compile the kernels of all commands
    #[arg(long)]
    warm: bool,
    /// Number of concurrent processes [default: the number of cores, at most 8]
    #[arg(long, requires = "warm", value_parser = args::positive, value_name = "COUNT", allow_hyphen_values = true)]
    processes: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Document {
    device: DeviceName,
    folder: Option<PathBuf>,
    files: Option<usize>,
    bytes: Option<u64>,
    runs: Vec<Run>,
}

#[derive(Serialize, JsonSchema)]
struct Run {
    command: String,
    seconds: f64,
    error: Option<String>,
}

/// Most processes side by side unless --processes says otherwise: each has a context on the device.
const MOST_PROCESSES: usize = 8;

/// The commands of --warm, those that take longest first. Their systems and sizes are the defaults, as these decide which kernels are taken.
const COMMANDS: &[&str] = &[
    "solve symmetric.mtx",
    "solve unsymmetric.mtx",
    "ode --problem heat2d",
    "waveform",
    "heat-bem",
    "poisson",
    "elastodynamics",
    "poisson --coefficient 1+x",
    "poisson --points 300x200",
    "poisson --dim 3",
    "ode --problem lotka-volterra",
    "wave",
];

pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    let device = global.device()?;
    let info = device.info();
    let runs = if args.warm { warm(args, info.index, info.fp64, out)? } else { Vec::new() };
    let cache = KernelCache::of(info);
    let failed = runs.iter().filter(|run| run.error.is_some()).count();
    out.field("device", DeviceName::from(info).to_string())?;
    match &cache {
        Some(cache) => {
            let KernelCache { folder, files, bytes: size, .. } = cache;
            out.field("cache", format!("{}: {files} files, {}", folder.display(), bytes(*size)))?;
        }
        None if std::env::var_os("CLINALG_CACHE_DIR").is_some() => {
            out.field("cache", "none, because CLINALG_CACHE_DIR is empty; unset it to use the default folder")?;
        }
        None => out.field(
            "cache",
            "kept by the driver; set CLINALG_CACHE_DIR to a folder to use the library's cache as well",
        )?,
    }
    if args.warm {
        out.field("runs", format!("{} of {} succeeded", runs.len() - failed, runs.len()))?;
    }
    out.json(&Document {
        device: DeviceName::from(info),
        folder: cache.as_ref().map(|cache| cache.folder.clone()),
        files: cache.as_ref().map(|cache| cache.files),
        bytes: cache.as_ref().map(|cache| cache.bytes),
        runs,
    })?;
    Ok(if failed == 0 { Exit::Done } else { Exit::NotReached })
}

/// Runs each command in each precision in a process of its own, some side by side.
fn warm(args: &Args, device: usize, fp64: bool, out: &mut Output) -> Result<Vec<Run>, Failure> {
    let folder = tempfile::tempdir().map_err(|error| Failure::file(&std::env::temp_dir(), error))?;
    for (name, wind) in [("symmetric.mtx", 0.0), ("unsymmetric.mtx", 0.5)] {
        let path = folder.path().join(name);
        matrix_market::write_coordinate(&path, &system(wind)?)?;
    }
    let precisions = if fp64 { &["f64", "f32"][..] } else { &["f32"] };
    let lines: Vec<String> = precisions
        .iter()
        .flat_map(|precision| COMMANDS.iter().map(move |command| format!("{command} --precision {precision}")))
        .collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processes = args.processes.unwrap_or(cores.min(MOST_PROCESSES)).min(lines.len());
    let progress = Progress::of_part(out);
    interrupt::watch(false);
    let (next, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let show = |count: usize, line: &str| {
        progress.reached(count as f64 / lines.len() as f64, format!("{count} of {} runs: {line}", lines.len()));
    };
    let work = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(line) = lines.get(place).filter(|_| !interrupt::interrupted()) else { return done };
            show(ended.load(Ordering::Relaxed), line);
            let start = Instant::now();
            let error = run_command(folder.path(), line, device).err();
            show(ended.fetch_add(1, Ordering::Relaxed) + 1, line);
            done.push((place, Run { command: line.clone(), seconds: start.elapsed().as_secs_f64(), error }));
        }
    };
    let mut runs: Vec<(usize, Run)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..processes).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    progress.clear();
    runs.sort_unstable_by_key(|(place, _)| *place);
    let runs: Vec<Run> = runs.into_iter().map(|(_, run)| run).collect();
    for Run { command, seconds: time, error } in &runs {
        let result = error.as_ref().map_or_else(|| seconds(*time), |error| format!("FAILED: {error}"));
        out.line(format!("  {command:<46}{result}"))?;
    }
    Ok(runs)
}

/// Runs a command of this program in `folder`; the error is what it printed.
fn run_command(folder: &Path, line: &str, device: usize) -> Result<(), String> {
    let mut command = child::command(line, device).map_err(|failure| failure.message())?;
    command.arg("--quiet").current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut running = command.spawn().map_err(|error| error.to_string())?;
    while running.try_wait().map_err(|error| error.to_string())?.is_none() {
        if interrupt::interrupted() {
            let _ = running.kill();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let ended = running.wait_with_output().map_err(|error| error.to_string())?;
    if ended.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&ended.stderr);
    let message = message.lines().next().unwrap_or_default();
    Err(format!("{} ({})", message.trim_start_matches("clinalg: "), ended.status))
}

/// Points of each side of [`system`].
const SIDE: usize = 24;

/// -div(k grad u) + wind du/dx on a cube, k between 1 and 2.
fn system(wind: f64) -> clinalg::Result<CsrParts<f64>> {
    let at = |p: [usize; 3]| (p[2] * SIDE + p[1]) * SIDE + p[0];
    let coefficient = |p: [usize; 3]| 1.0 + (p.iter().sum::<usize>() as f64) / (3 * SIDE) as f64;
    let mut entries = Vec::new();
    for p in (0..SIDE.pow(3)).map(|k| [k % SIDE, k / SIDE % SIDE, k / (SIDE * SIDE)]) {
        entries.push((at(p), at(p), 6.0 * coefficient(p)));
        for axis in (0..3).filter(|&axis| p[axis] + 1 < SIDE) {
            let mut q = p;
            q[axis] += 1;
            let (k, half) = (0.5 * (coefficient(p) + coefficient(q)), if axis == 0 { 0.5 * wind } else { 0.0 });
            entries.extend([(at(p), at(q), half - k), (at(q), at(p), -half - k)]);
        }
    }
    CsrParts::from_triplets(SIDE.pow(3), SIDE.pow(3), &entries)
}
