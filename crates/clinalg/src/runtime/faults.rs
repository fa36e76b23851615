//! Known faults of drivers, as data.
//!
//! Each entry says where it was seen, what is wrong and what the library does instead. Faults that
//! change what the runtime does carry a [`Quirk`]; the others are avoided by construction (a rule
//! that the checks enforce) and are listed so that `clinalg doctor` can tell the user.

use serde::Serialize;

use super::device::{DeviceInfo, DeviceKind};

/// What the runtime does differently because of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quirk {
    /// Every launch is given an event, which is released at once.
    EventPerLaunch,
    /// Built programs are kept on disk only where a folder is named for it.
    OwnKernelCache,
    /// Kernels are built by one thread at a time.
    OneCompilation,
    /// The kernels of a file that are compiled with the same options share a program.
    SharedPrograms,
    /// Nothing at run time: the kernels keep a rule under which the fault does not show.
    AvoidedByRule,
}

/// One known fault.
#[derive(Debug, Clone, Serialize)]
pub struct Fault {
    /// Part of the platform's name, letter case ignored.
    pub platform: &'static str,
    /// Part of the vendor's name, letter case ignored; empty for any.
    pub vendor: &'static str,
    /// The driver versions it was seen with, in words.
    pub versions: &'static str,
    /// What is wrong.
    pub what: &'static str,
    /// What is done instead.
    pub instead: &'static str,
    /// The change in behaviour.
    pub quirk: Quirk,
}

/// Every fault known.
pub const FAULTS: &[Fault] = &[
    Fault {
        platform: "Portable Computing Language",
        vendor: "",
        versions: "3.1, 5, 6 and 7",
        what: "a barrier under a uniform `if` inside a loop, followed by divergent control flow, gives wrong results; from 5 on it aborts the process while a kernel compiles, with the assertion `createParallelRegionBefore`",
        instead: "barriers stand only at a kernel's top level or in plain uniform loops; `cargo xtask ci barriers` checks it, and the check `barriers` of the self-test compiles such kernels at random. PoCL 5.0 aborts still in multigrid with the kernels for GPUs, which it takes only when asked to",
        quirk: Quirk::AvoidedByRule,
    },
    Fault {
        platform: "Portable Computing Language",
        vendor: "",
        versions: "3.1, with POCL_WORK_GROUP_METHOD=loops",
        what: "after a loop with barriers, a loop over the items' elements with a loop inside runs beyond its end and writes outside buffers",
        instead: "such kernels have a barrier between the two",
        quirk: Quirk::AvoidedByRule,
    },
    Fault {
        platform: "Portable Computing Language",
        vendor: "",
        versions: "3.1",
        what: "clBuildProgram reads 0.9 MB of declarations for every program, which takes 0.1 s; code is made for a kernel at its first launch only",
        instead: "the kernels of a file that are compiled with the same options share a program",
        quirk: Quirk::SharedPrograms,
    },
    Fault {
        platform: "Portable Computing Language",
        vendor: "",
        versions: "3.1",
        what: "a kernel cache folder that cannot be written gives a platform without devices and no error",
        instead: "the error for a platform without devices names POCL_CACHE_DIR",
        quirk: Quirk::AvoidedByRule,
    },
    Fault {
        platform: "Portable Computing Language",
        vendor: "",
        versions: "3.1",
        what: "the first queries of a process crash it when they come from several threads at once",
        instead: "devices are listed by one thread at a time",
        quirk: Quirk::AvoidedByRule,
    },
    Fault {
        platform: "Portable Computing Language",
        vendor: "",
        versions: "3.1",
        what: "asked for a program's binary it compiles every kernel, in a form that no launch uses: a first start takes three times as long",
        instead: "it keeps compiled kernels on disk itself; the library does so besides only where CLINALG_CACHE_DIR names a folder",
        quirk: Quirk::OwnKernelCache,
    },
    Fault {
        platform: "NVIDIA CUDA",
        vendor: "",
        versions: "580.159",
        what: "clEnqueueFillBuffer takes the number of values modulo 2^32: of 2^32 + 1000 it sets 1000; in parts at far offsets it met an illegal access",
        instead: "buffers of more than 1 GiB are filled by a kernel",
        quirk: Quirk::AvoidedByRule,
    },
    Fault {
        platform: "rusticl",
        vendor: "",
        versions: "Mesa 25",
        what: "`fma` in double precision is not fused though FP_FAST_FMA is claimed; exp and sin are far off the specification",
        instead: "no kernel relies on a fused multiply-add for its result",
        quirk: Quirk::AvoidedByRule,
    },
    Fault {
        platform: "Oclgrind",
        vendor: "",
        versions: "21.10",
        what: "a reduction that ends in the last work-group of the same launch is reported as a race",
        instead: "reductions end in a second step after the launch",
        quirk: Quirk::AvoidedByRule,
    },
    Fault {
        platform: "Oclgrind",
        vendor: "",
        versions: "21.10",
        what: "clBuildProgram corrupts the heap when two threads are in it at once",
        instead: "kernels are built by one thread at a time, from their source to the kernel object",
        quirk: Quirk::OneCompilation,
    },
    Fault {
        platform: "Oclgrind",
        vendor: "",
        versions: "21.10",
        what: "clCreateKernel fails with CL_INVALID_KERNEL_NAME, although the program builds, if the compiler emits an intrinsic that the interpreter does not support, such as llvm.usub.sat for `a > b ? a - b : 0`",
        instead: "kernels write `max(a, b) - b`, which calls a function",
        quirk: Quirk::AvoidedByRule,
    },
    Fault {
        platform: "Oclgrind",
        vendor: "",
        versions: "21.10",
        what: "subtracting the result of a vector comparison gives 255 instead of 1 for each true lane: the compiler emits a zero extension of the 1-bit result, which the interpreter holds as the 8-bit value -1",
        instead: "kernels add vector comparisons and negate the sum",
        quirk: Quirk::AvoidedByRule,
    },
    Fault {
        platform: "Oclgrind",
        vendor: "",
        versions: "21.10",
        what: "integers of more than 53 bits are converted to single precision by way of double precision, rounded twice",
        instead: "kernels convert integers of at most 53 bits",
        quirk: Quirk::AvoidedByRule,
    },
    Fault {
        platform: "AMD Accelerated Parallel Processing",
        vendor: "",
        versions: "unknown; reported by users of other libraries",
        what: "memory objects are not freed when kernels are enqueued without an event that is released",
        instead: "every launch takes an event and releases it",
        quirk: Quirk::EventPerLaunch,
    },
];

/// The faults known of the driver of `device`.
pub fn of(device: &DeviceInfo) -> impl Iterator<Item = &'static Fault> + use<> {
    let platform = device.platform.to_lowercase();
    let vendor = device.vendor.to_lowercase();
    FAULTS
        .iter()
        .filter(move |f| platform.contains(&f.platform.to_lowercase()) && vendor.contains(&f.vendor.to_lowercase()))
}

/// Platforms whose compiler takes prefetch hints in kernels for CPUs (`AHEAD` in `memory.clh`); Oclgrind 21.10 refuses the
/// kernel.
const PREFETCH_PLATFORMS: &[&str] = &["Portable Computing Language", "Intel(R) OpenCL"];

/// Whether kernels for CPUs may carry prefetch hints on `device`.
pub(crate) fn takes_prefetch(device: &DeviceInfo) -> bool {
    device.kind == DeviceKind::Cpu && PREFETCH_PLATFORMS.iter().any(|platform| device.platform.contains(platform))
}
