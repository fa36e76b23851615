//! `clinalg devices`.

use clinalg::runtime::DeviceKind;
use clinalg::{Device, DeviceInfo};

use crate::exit::{Exit, Failure};
use crate::global::Global;
use crate::output::Output;
use crate::text::bytes;

/// List the OpenCL devices of this machine
///
/// The device marked with * is the one that the other commands take by default.
#[derive(clap::Args)]
#[command(after_help = "\
JSON: a list with one object per device. Keys: index, platform,
platform_version, vendor, name, version, c_version, driver, kind (cpu, gpu,
accelerator, other), fp64, compute_units, global_mem, max_alloc and local_mem
(bytes), max_work_group, clock_mhz, int64_atomics, sub_groups,
correctly_rounded_divide_sqrt, tensor_f64, l1_no_allocate, unified_memory,
extensions.

Examples:
  clinalg devices
  clinalg devices --json | jq -r '.[].name'
  clinalg devices --device nvidia           only the device that matches

Without a device, the message says what is missing; the exit code is 3.")]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    let devices: Vec<DeviceInfo> = match &global.device {
        Some(selector) => vec![Device::select(selector)?.info().clone()],
        None => clinalg::runtime::devices()?.iter().map(|d| d.info().clone()).collect(),
    };
    out.json_list(&devices)?;
    // A selector in CLINALG_DEVICE that matches nothing must not hide the list.
    let default = Device::default_device().ok().map(|d| d.info().index);
    let columns = [
        "",
        ">index",
        "device",
        "kind",
        "platform",
        "driver",
        "fp64",
        ">units",
        ">memory",
        ">largest buffer",
        ">local",
    ];
    let rows: Vec<Vec<String>> = devices
        .iter()
        .map(|d| {
            vec![
                if default == Some(d.index) { "*" } else { "" }.into(),
                d.index.to_string(),
                d.name.clone(),
                kind(d.kind).into(),
                d.platform.clone(),
                d.driver.clone(),
                if d.fp64 { "yes" } else { "no" }.into(),
                d.compute_units.to_string(),
                bytes(d.global_mem),
                bytes(d.max_alloc),
                bytes(d.local_mem),
            ]
        })
        .collect();
    out.table(&columns, rows)?;
    if default.is_some() {
        out.line("\n* the default; choose with --device or CLINALG_DEVICE")?;
    }
    Ok(Exit::Done)
}

/// The name of a kind of device.
pub(crate) fn kind(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Cpu => "CPU",
        DeviceKind::Gpu => "GPU",
        DeviceKind::Accelerator => "accelerator",
        DeviceKind::Other => "other",
    }
}
