//! What kernels are made for.

use clinalg::runtime::DeviceKind;
use clinalg::{Context, KernelFamily};

/// What kernels are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) family: KernelFamily,
    /// Items of a work-group on GPUs.
    pub(super) local: usize,
    /// Items of a CPU.
    pub(super) chunks: usize,
    pub(super) local_mem: usize,
    pub(super) units: usize,
    /// Work-groups that are launched for each that has to run at the same time as others.
    pub(super) spare: usize,
    /// Why work-groups do not wait for each other here; `None` where they may.
    pub(super) no_waiting: Option<&'static str>,
}

impl Target {
    pub(crate) fn of(context: &Context) -> Target {
        Target {
            family: context.family(),
            local: context.local(),
            chunks: context.chunks(),
            local_mem: context.device().local_mem as usize,
            units: context.device().compute_units as usize,
            // PoCL gives a thread several groups, one after the other.
            spare: if context.device().kind == DeviceKind::Cpu { 4 } else { 1 },
            // The caches of CPUs are coherent.
            no_waiting: match context.device().kind {
                DeviceKind::Cpu => None,
                _ => no_waiting(&context.device().platform),
            },
        }
    }

    /// A generic device model of this family.
    pub(crate) fn any(family: KernelFamily) -> Target {
        Target { family, local: 256, chunks: 8, local_mem: LOCAL_BYTES, units: 64, spare: 1, no_waiting: None }
    }
}

/// Platforms whose compilers have a fence of the device, which OpenCL C 1.2 lacks, each with the reason why multi-workgroup
/// kernels do not run there all the same.
const FENCES: [(&str, Option<&str>); 2] = [
    ("NVIDIA CUDA", None),
    (
        "AMD Accelerated Parallel Processing",
        Some("multi-workgroup kernels have not been tried on AMD devices and are off there; use wavefront"),
    ),
];

/// Why work-groups do not wait for each other on a platform.
fn no_waiting(platform: &str) -> Option<&'static str> {
    match FENCES.iter().find(|(name, _)| *name == platform) {
        Some((_, reason)) => *reason,
        None => Some("this platform's compiler has no fence of the device for multi-workgroup kernels; use wavefront"),
    }
}

/// Local memory of the generic GPU model: every GPU has as much.
const LOCAL_BYTES: usize = 32 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_groups_wait_where_that_was_tried() {
        assert_eq!(no_waiting("NVIDIA CUDA"), None);
        assert!(no_waiting("AMD Accelerated Parallel Processing").unwrap().contains("not been tried on AMD"));
        assert!(no_waiting("Intel(R) OpenCL Graphics").unwrap().contains("no fence"));
    }
}
