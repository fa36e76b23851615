//! `clinalg doctor`.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use clinalg::runtime::faults::{self, Fault};
use clinalg::{Device, DeviceInfo, KernelFamily};
use clinalg_selftest::{self as selftest, Check};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::child;
use crate::devices::kind;
use crate::exit::{Exit, Failure};
use crate::global::Global;
use crate::interrupt;
use crate::output::Output;
use crate::text::{self, bytes, seconds, wrapped};

/// Check every operation on every device against sequential code
///
/// Runs each kernel family (cpu, gpu) in each precision that the device supports, at awkward sizes. One line per check: the
/// largest error, the tolerance from rounding, the time including kernel compilation. Each family on each device runs in a
/// process of its own, so that a driver that crashes ends only these checks.
#[derive(clap::Args)]
#[command(after_help = "\
JSON: {\"passed\", \"quick\", \"devices\": [{\"device\", \"notes\", \"faults\", \"passed\",
\"runs\": [{\"kernel_family\", \"error\", \"checks\": [{\"name\", \"precision\", \"size\",
\"max_error\", \"tolerance\", \"passed\", \"seconds\", \"detail\"}]}]}]}. max_error is
null if a result that must be exact is not. error says why the checks of a run did not start, or did not reach
their end; else it is null.

Examples:
  clinalg doctor                      every device
  clinalg doctor --device 0 --quick   a first look at one device
  CLINALG_KERNEL_FAMILY=gpu clinalg doctor    only the kernels for GPUs

The exit code is 0 if every check passes on every device, else 1.")]
pub(crate) struct Args {
    /// Use only sizes of a few hundred: takes seconds on a slow device or an emulator
    #[arg(long)]
    quick: bool,
}

/// Set in the environment of a child process, which runs the checks and writes them to stdout as messages for its parent.
const CHILD: &str = "CLINALG_DOCTOR_CHILD";

/// What the process that runs the checks of one kernel family on one device writes to stdout, one JSON object per line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Message {
    /// A check has ended.
    Check(Check),
    /// All checks have ended, or none could start for this reason.
    End(Option<String>),
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Document {
    passed: bool,
    quick: bool,
    devices: Vec<Examined>,
}

#[derive(Serialize, JsonSchema)]
struct Examined {
    #[schemars(with = "crate::document::DeviceInfo")]
    device: DeviceInfo,
    notes: Vec<String>,
    #[schemars(with = "Vec<&'static crate::document::Fault>")]
    faults: Vec<&'static Fault>,
    passed: bool,
    runs: Vec<Run>,
}

/// One kernel family on one device.
#[derive(Serialize, JsonSchema)]
struct Run {
    #[schemars(with = "String")]
    kernel_family: KernelFamily,
    /// Why no check could run, or not all of them.
    error: Option<String>,
    #[schemars(with = "Vec<crate::document::Check>")]
    checks: Vec<Check>,
}

impl Run {
    fn passed(&self) -> bool {
        self.error.is_none() && self.checks.iter().all(|check| check.passed)
    }
}

pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    if std::env::var_os(CHILD).is_some() {
        return run_checks(args.quick, global, out);
    }
    let families = match KernelFamily::from_environment()? {
        Some(family) => vec![family],
        None => vec![KernelFamily::Cpu, KernelFamily::Gpu],
    };
    let devices = match &global.device {
        Some(selector) => vec![Device::select(selector)?],
        None => clinalg::runtime::devices()?,
    };
    let mut examined = Vec::new();
    for device in &devices {
        examined.push(examine(device.info(), &families, args.quick, global, out)?);
    }
    let document = Document { passed: examined.iter().all(|e| e.passed), quick: args.quick, devices: examined };
    out.json(&document)?;
    let checks = || document.devices.iter().flat_map(|e| &e.runs).flat_map(|r| &r.checks);
    let (all, failed) = (checks().count(), checks().filter(|c| !c.passed).count());
    let number = document.devices.len();
    let on = format!("{number} {}", if number == 1 { "device" } else { "devices" });
    if document.passed {
        out.line(format!("all {all} checks hold on {on}"))?;
        return Ok(Exit::Done);
    }
    let unfinished = document.devices.iter().flat_map(|e| &e.runs).filter(|r| r.error.is_some()).count();
    let unfinished = match unfinished {
        0 => String::new(),
        1 => ", and 1 kernel family did not finish".into(),
        several => format!(", and {several} kernel families did not finish"),
    };
    out.line(format!(
        "{failed} of {all} checks FAILED on {on}{unfinished}; do not trust results of a device that fails"
    ))?;
    Ok(Exit::NotReached)
}

fn examine(
    info: &DeviceInfo,
    families: &[KernelFamily],
    quick: bool,
    global: &Global,
    out: &mut Output,
) -> Result<Examined, Failure> {
    let (notes, faults) = (notes(info), faults::of(info).collect::<Vec<_>>());
    out.line(format!("device {}: {} ({}, driver {})", info.index, info.name, info.platform, info.driver))?;
    let known = |f: &&Fault| format!("known fault of this driver ({}): {}; instead: {}", f.versions, f.what, f.instead);
    for note in notes.iter().cloned().chain(faults.iter().map(known)) {
        for (index, line) in wrapped(&note, 100).into_iter().enumerate() {
            out.line(format!("  {}{line}", if index == 0 { "" } else { "  " }))?;
        }
    }
    let mut runs = Vec::new();
    for &family in families {
        runs.push(examine_family(info, family, quick, global, out)?);
    }
    out.line("")?;
    Ok(Examined { device: info.clone(), notes, faults, passed: runs.iter().all(Run::passed), runs })
}

/// Runs the checks of a kernel family in a child process.
fn examine_family(
    device: &DeviceInfo,
    family: KernelFamily,
    quick: bool,
    global: &Global,
    out: &mut Output,
) -> Result<Run, Failure> {
    let (name, other) = match family {
        KernelFamily::Cpu => ("cpu", "gpu"),
        KernelFamily::Gpu => ("gpu", "cpu"),
    };
    out.line(format!("  kernels for {name}:"))?;
    out.line(format!("    {:<30}{:<5}{:>10}{:>10}{:>10}{:>10}", "check", "", "size", "error", "allowed", "time"))?;
    let options =
        [("--quick", quick), ("--json", global.json), ("--quiet", global.quiet), ("--verbose", global.verbose)];
    let mut command = child::command("doctor", device.index)?;
    command.args(options.iter().filter(|(_, given)| *given).map(|(option, _)| option));
    command.env(CHILD, "1").env("CLINALG_KERNEL_FAMILY", name).stdin(Stdio::piped()).stdout(Stdio::piped());
    let failure = |error: std::io::Error| Failure::file(Path::new("clinalg"), error);
    let mut child = command.spawn().map_err(failure)?;
    // The child ends where this is closed: see `end_with_parent`.
    let open = child.stdin.take();
    let (mut checks, mut end) = (Vec::new(), None);
    for message in child.stdout.take().into_iter().flat_map(|stdout| BufReader::new(stdout).split(b'\n')) {
        let message = message.map_err(failure)?;
        match serde_json::from_slice(&message) {
            Ok(Message::Check(check)) => {
                out.line(line(&check))?;
                checks.push(check);
            }
            Ok(Message::End(error)) => end = Some(error),
            Err(_) if message.is_empty() => {}
            Err(_) => {
                // A driver has printed it. Nothing is left to do where stderr cannot be written.
                let _ = std::io::stderr().write_all(&[&message[..], b"\n"].concat());
            }
        }
    }
    let status = child.wait().map_err(failure)?;
    drop(open);
    let error = match end {
        Some(error) if status.success() => {
            error.iter().try_for_each(|error| out.line(format!("    no context: {error}")))?;
            error
        }
        _ => {
            let error = crash(status, checks.last(), other);
            wrapped(&format!("FAILED: {error}"), 100).iter().try_for_each(|line| out.line(format!("    {line}")))?;
            Some(error)
        }
    };
    Ok(Run { kernel_family: family, error, checks })
}

/// Why a run ended before its checks, and what to do; `other` is the other kernel family.
fn crash(status: ExitStatus, last: Option<&Check>, other: &str) -> String {
    let place = match last {
        Some(Check { name, precision: Some(precision), .. }) => {
            format!("after the check {name} {}", text::precision(*precision))
        }
        Some(Check { name, .. }) => format!("after the check {name}"),
        None => "before a check had ended".into(),
    };
    format!(
        "the process that ran the checks ended ({status}) {place}; most likely the driver crashed: try another \
         version of the driver, or the other kernel family with CLINALG_KERNEL_FAMILY={other} if its checks hold"
    )
}

/// The child process: runs the checks of the kernel family that `CLINALG_KERNEL_FAMILY` names, and writes [`Message`]s.
fn run_checks(quick: bool, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    end_with_parent();
    let mut sent = Ok(());
    let mut send = |message: Message| {
        if sent.is_ok() {
            // The line break ahead ends a line that a driver may have begun.
            let text = serde_json::to_string(&message).map_err(|error| Failure::Stdout(error.into()));
            sent = text.and_then(|text| out.raw(format!("\n{text}\n").as_bytes()));
        }
    };
    let error = match global.context(false) {
        Ok(context) => {
            let options = selftest::Options { quick };
            selftest::run_with(&context, &options, &mut |check| send(Message::Check(check.clone())));
            None
        }
        Err(error) => Some(error.to_string()),
    };
    send(Message::End(error));
    sent.map(|()| Exit::Done)
}

/// From now on this process ends when its parent does, which closes the pipe to stdin.
fn end_with_parent() {
    std::thread::spawn(|| {
        // An error and the end of the pipe mean the same.
        let _ = std::io::stdin().read(&mut [0]);
        interrupt::exit_at_once(Exit::NotReached as i32);
    });
}

fn line(check: &Check) -> String {
    let precision = check.precision.map_or("", text::precision);
    let mark = if check.passed { "  " } else { "! " };
    let detail = match (check.passed, check.detail.is_empty()) {
        (_, true) => String::new(),
        (true, false) => format!("  {}", check.detail),
        (false, false) => format!("  FAILED: {}", check.detail),
    };
    format!(
        "  {mark}{:<30}{precision:<5}{:>10}{:>10.1e}{:>10.1e}{:>10}{detail}",
        check.name,
        check.size,
        check.max_error,
        check.tolerance,
        seconds(check.seconds)
    )
}

/// What the device can and cannot do, as far as it matters here.
fn notes(d: &DeviceInfo) -> Vec<String> {
    let mut notes = vec![format!(
        "{}, {}, {} compute units, {} of memory, largest buffer {}, {} of local memory, work-groups up to {}",
        d.version,
        kind(d.kind),
        d.compute_units,
        bytes(d.global_mem),
        bytes(d.max_alloc),
        bytes(d.local_mem),
        d.max_work_group
    )];
    if !d.fp64 {
        notes.push("no double precision: only f32 is checked, and --precision f64 is refused".into());
    }
    if !d.int64_atomics {
        notes.push("no 64-bit integer atomics (nothing here needs them)".into());
    }
    notes
}
