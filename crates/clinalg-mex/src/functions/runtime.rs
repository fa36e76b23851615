//! Devices and sessions.

use std::fmt::Write as _;

use clinalg::runtime::{DeviceKind, MemoryReport, devices};
use clinalg::{Context, ContextOptions, Device, DeviceInfo};

use super::{GPU, Outcome, registry};
use crate::args::{Args, Input, Kind, Value};
use crate::emit::{Answer, Out};
use crate::function::Function;
use crate::session;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexInitOpenCL",
        title: "Start a session and get its handle.",
        outputs: &["gpu"],
        text: "\
gpu is the handle of the session, which the other functions take as their first argument. If a session is
running, its handle is returned. It is an error, with advice, if this machine has no OpenCL device.

In place of gpu each function also accepts 0, which means the running session or, if there is none, a
new one.",
        example: "\
gpu = MexInitOpenCL();
x = MexMatrix(gpu, [3; 4]);
MexNorm2(gpu, x)
MexReleaseOpenCL(gpu);",
        see: &["MexPrintGPU", "MexSetGPU", "MexReleaseOpenCL"],
        run: |_| Ok(Out::Handle(session::open()?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexPrintGPU",
        title: "List the OpenCL devices.",
        inputs: &[GPU],
        required: 1,
        outputs: &["devices"],
        prints: true,
        text: "\
Without an output it prints a line per device; an asterisk marks the one in use. With an output it
returns a column of structures with the fields
  index          number of the device, from 0 on, as MexSetGPU takes it
  name, vendor, platform, version, driver
                 names and versions reported by the driver
  kind           'cpu', 'gpu', 'accelerator' or 'other'
  fp64           whether it supports double precision
  compute_units  number of compute units
  global_mem, max_alloc, local_mem
                 bytes of memory, of the largest object, of memory that a work-group shares
  selected       whether it is the device in use",
        example: "\
gpu = MexInitOpenCL();
MexPrintGPU(gpu)
devices = MexPrintGPU(gpu);
devices(1).name",
        see: &["MexSetGPU", "MexDeviceInfo"],
        run: list_devices,
        ..Function::DEFAULT
    },
    Function {
        name: "MexSetGPU",
        title: "Choose the device.",
        inputs: &[GPU, Input::named("device", "devices", Kind::Device), Input::new("doubles", Kind::Flag)],
        required: 2,
        outputs: &["team"],
        prints: true,
        text: "\
device is an index from MexPrintGPU, from 0 on, or a part of the name of a device or platform. With
doubles = 1 it is an error if the device does not support double precision.

Without this call the device is the one that the environment variable CLINALG_DEVICE names, else the
first GPU, else the first device. Existing objects stay on their device and cannot be combined with new
ones.

Several indices, such as [0 1], choose the first of these devices and make a team of all, which the output
takes: as MexTeam does.",
        example: "\
gpu = MexInitOpenCL();
MexSetGPU(gpu, 0, 1);",
        see: &["MexPrintGPU", "MexDeviceInfo"],
        run: set_device,
        ..Function::DEFAULT
    },
    Function {
        name: "MexDeviceInfo",
        title: "Properties of the current device.",
        inputs: &[GPU],
        required: 1,
        outputs: &["info"],
        text: "info is a structure with the fields that MexPrintGPU lists.",
        example: "\
gpu = MexInitOpenCL();
info = MexDeviceInfo(gpu);
info.fp64",
        see: &["MexPrintGPU", "MexSetGPU", "MexMemory"],
        run: |args| {
            let context = args.context()?;
            Ok(records(vec![device_record(context.device(), true)]).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexMemory",
        title: "Memory that objects take on the device.",
        inputs: &[GPU],
        required: 1,
        outputs: &["memory"],
        text: "\
memory is a structure with the fields
  live_bytes    bytes in use now
  peak_bytes    the largest number of bytes in use so far
  live_buffers  number of buffers; an object has one or a few
  objects       number of objects, on all devices",
        example: "\
gpu = MexInitOpenCL();
x = MexZeros(gpu, 1000, 1);
memory = MexMemory(gpu);
memory.live_bytes",
        see: &["MexRelease", "MexDeviceInfo"],
        run: |args| {
            let objects = args.objects()?.len();
            let memory = Context::current().map(|c| c.memory());
            let count = |get: fn(&MemoryReport) -> u64| Out::Real(memory.as_ref().map_or(0, get) as f64);
            let record = vec![
                count(|m| m.live_bytes),
                count(|m| m.peak_bytes),
                count(|m| m.live_buffers),
                Out::Real(objects as f64),
            ];
            let fields = vec![c"live_bytes", c"peak_bytes", c"live_buffers", c"objects"];
            Ok(Out::Records { fields, records: vec![record] }.into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexFinish",
        title: "Wait until the device has done its work.",
        inputs: &[GPU],
        required: 1,
        text: "\
Most functions return while the device still works; the next transfer to the host waits for it. Call
this before reading a clock.",
        example: "\
gpu = MexInitOpenCL();
a = MexZeros(gpu, 1000, 1000);
x = MexZeros(gpu, 1000, 1);
tic, y = MexMatrixVector(gpu, a, x); MexFinish(gpu), toc",
        see: &["MexHandleMatrix"],
        run: |args| {
            args.objects()?;
            if let Some(context) = Context::current() {
                context.finish()?;
            }
            Ok(Answer::Nothing)
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexReleaseOpenCL",
        title: "End a session and free all its objects.",
        inputs: &[GPU],
        required: 1,
        text: "All handles, gpu included, are stale afterwards. MexInitOpenCL starts a new session.",
        example: "\
gpu = MexInitOpenCL();
MexReleaseOpenCL(gpu);",
        see: &["MexInitOpenCL", "MexShutdown"],
        run: |args| {
            args.objects()?;
            session::close();
            Ok(Answer::Nothing)
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexShutdown",
        title: "Free everything and unlock the library.",
        text: "\
Ends the running session, if any, and unlocks the library, so that the next 'clear functions' (Octave)
or 'clear mex' (MATLAB) unloads it. A later call of any function starts a new session.",
        example: "\
MexShutdown()
clear functions",
        see: &["MexReleaseOpenCL"],
        unlocks: true,
        run: |_| {
            session::close();
            Ok(Answer::Nothing)
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexVersion",
        title: "Version of the library.",
        outputs: &["version"],
        text: "version is a text such as '0.1.0'.",
        example: "MexVersion()",
        see: &["MexDeviceInfo"],
        run: |_| Ok(Out::Text(env!("CARGO_PKG_VERSION").to_owned()).into()),
        ..Function::DEFAULT
    },
];

fn list_devices(args: &Args<'_>) -> Outcome {
    args.objects()?;
    let selected = match Context::current() {
        Some(context) => context.device().index,
        None => Device::default_device()?.info().index,
    };
    let all = devices()?;
    if args.outputs == 0 {
        let mut lines = String::new();
        for device in &all {
            let d = device.info();
            let mark = if d.index == selected { '*' } else { ' ' };
            let precision = if d.fp64 { "double and single" } else { "single" };
            let _ = writeln!(
                lines,
                "{mark} {}  {}: {} ({} compute units, {} MiB, {precision}, driver {})",
                d.index,
                d.platform,
                d.name,
                d.compute_units,
                d.global_mem >> 20,
                d.driver
            );
        }
        return Ok(Answer::Print(lines));
    }
    Ok(records(all.iter().map(|d| device_record(d.info(), d.info().index == selected)).collect()).into())
}

fn records(records: Vec<Vec<Out>>) -> Out {
    let fields = vec![
        c"index",
        c"name",
        c"vendor",
        c"platform",
        c"version",
        c"driver",
        c"kind",
        c"fp64",
        c"compute_units",
        c"global_mem",
        c"max_alloc",
        c"local_mem",
        c"selected",
    ];
    Out::Records { fields, records }
}

fn device_record(d: &DeviceInfo, selected: bool) -> Vec<Out> {
    let text = |s: &str| Out::Text(s.to_owned());
    let kind = match d.kind {
        DeviceKind::Cpu => "cpu",
        DeviceKind::Gpu => "gpu",
        DeviceKind::Accelerator => "accelerator",
        DeviceKind::Other => "other",
    };
    vec![
        Out::Real(d.index as f64),
        text(&d.name),
        text(&d.vendor),
        text(&d.platform),
        text(&d.version),
        text(&d.driver),
        text(kind),
        Out::Flag(d.fp64),
        Out::Real(d.compute_units.into()),
        Out::Real(d.global_mem as f64),
        Out::Real(d.max_alloc as f64),
        Out::Real(d.local_mem as f64),
        Out::Flag(selected),
    ]
}

fn set_device(args: &Args<'_>) -> Outcome {
    args.objects()?;
    let team = match args.value(1) {
        Value::Full(_) if args.outputs == 0 => {
            let expected =
                "one index; several make a team, which must be assigned to an output: team = MexSetGPU(gpu, [0 1])";
            return Err(clinalg::Error::value("devices", expected, "several").into());
        }
        Value::Full(list) => Some((super::team::make(list)?, list.values.reals()[0].to_string())),
        _ => None,
    };
    let device = Device::select(&team.as_ref().map_or_else(|| args.text(1), |(_, first)| first.clone()))?;
    if args.maybe_flag(2) == Some(true) && !device.info().fp64 {
        return Err(clinalg::Error::NoFp64 { device: device.info().name.clone() }.into());
    }
    // The context in use is kept with its objects where it is on this device already.
    if Context::current().is_none_or(|c| c.device().index != device.info().index) {
        Context::set_global(Context::new(&device, &ContextOptions::default())?);
    }
    Ok(match team {
        Some((team, _)) => Out::Handle(team).into(),
        None if args.outputs > 0 => Out::Handle(registry().team(&[device.info().index])?).into(),
        None => Answer::Nothing,
    })
}
