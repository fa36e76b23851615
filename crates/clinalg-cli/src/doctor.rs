//! `clinalg doctor`.

use clinalg::runtime::faults::{self, Fault};
use clinalg::{Context, ContextOptions, Device, DeviceInfo, KernelFamily, Precision};
use clinalg_selftest::{self as selftest, Check};
use schemars::JsonSchema;
use serde::Serialize;

use crate::devices::kind;
use crate::exit::{Exit, Failure};
use crate::global::Global;
use crate::output::Output;
use crate::text::{bytes, seconds, wrapped};

/// Check every operation on every device against sequential code
///
/// Runs each kernel family (cpu, gpu) in each precision that the device supports, at awkward sizes. One line per check: the
/// largest error, the tolerance from rounding, the time including kernel compilation.
#[derive(clap::Args)]
#[command(after_help = "\
JSON: {\"passed\", \"quick\", \"devices\": [{\"device\", \"notes\", \"faults\", \"passed\",
\"runs\": [{\"kernel_family\", \"error\", \"checks\": [{\"name\", \"precision\", \"size\",
\"max_error\", \"tolerance\", \"passed\", \"seconds\", \"detail\"}]}]}]}. max_error is
null if a result that must be exact is not.

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
    /// Why no check could run.
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
    let devices = match &global.device {
        Some(selector) => vec![Device::select(selector)?],
        None => clinalg::runtime::devices()?,
    };
    let mut examined = Vec::new();
    for device in &devices {
        examined.push(examine(device, args.quick, out)?);
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
    out.line(format!("{failed} of {all} checks FAILED on {on}; do not trust results of a device that fails"))?;
    Ok(Exit::NotReached)
}

fn examine(device: &Device, quick: bool, out: &mut Output) -> Result<Examined, Failure> {
    let info = device.info();
    let (notes, faults) = (notes(info), faults::of(info).collect::<Vec<_>>());
    out.line(format!("device {}: {} ({}, driver {})", info.index, info.name, info.platform, info.driver))?;
    let known = |f: &&Fault| format!("known fault of this driver ({}): {}; instead: {}", f.versions, f.what, f.instead);
    for note in notes.iter().cloned().chain(faults.iter().map(known)) {
        for (index, line) in wrapped(&note, 100).into_iter().enumerate() {
            out.line(format!("  {}{line}", if index == 0 { "" } else { "  " }))?;
        }
    }
    let mut runs = Vec::new();
    for family in families(device)? {
        runs.push(examine_family(device, family, quick, out)?);
    }
    out.line("")?;
    Ok(Examined { device: info.clone(), notes, faults, passed: runs.iter().all(Run::passed), runs })
}

/// Both kernel families, or the one that `CLINALG_KERNEL_FAMILY` names.
fn families(device: &Device) -> Result<Vec<KernelFamily>, Failure> {
    match std::env::var_os("CLINALG_KERNEL_FAMILY") {
        Some(name) if !name.is_empty() => Ok(vec![Context::new(device, &ContextOptions::default())?.family()]),
        _ => Ok(vec![KernelFamily::Cpu, KernelFamily::Gpu]),
    }
}

fn examine_family(device: &Device, family: KernelFamily, quick: bool, out: &mut Output) -> Result<Run, Failure> {
    let name = match family {
        KernelFamily::Cpu => "cpu",
        KernelFamily::Gpu => "gpu",
    };
    out.line(format!("  kernels for {name}:"))?;
    out.line(format!("    {:<30}{:<5}{:>10}{:>10}{:>10}{:>10}", "check", "", "size", "error", "allowed", "time"))?;
    let context = match Context::new(device, &ContextOptions { family: Some(family), ..ContextOptions::default() }) {
        Ok(context) => context,
        Err(error) => {
            out.line(format!("    no context: {error}"))?;
            return Ok(Run { kernel_family: family, error: Some(error.to_string()), checks: Vec::new() });
        }
    };
    let mut printed = Ok(());
    let checks = selftest::run_with(&context, &selftest::Options { quick }, &mut |check| {
        if printed.is_ok() {
            printed = out.line(line(check));
        }
    });
    printed?;
    Ok(Run { kernel_family: family, error: None, checks })
}

fn line(check: &Check) -> String {
    let precision = match check.precision {
        Some(Precision::F32) => "f32",
        Some(Precision::F64) => "f64",
        None => "",
    };
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
