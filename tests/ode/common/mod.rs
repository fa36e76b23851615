//! What several tests need.

use clinalg::runtime::devices;
use clinalg::{Context, ContextOptions, KernelFamily};

/// A context for every device and each family of kernels.
pub(crate) fn contexts() -> Vec<Context> {
    let devices = clinalg_testing::found(devices()).unwrap_or_default();
    let both = devices.iter().flat_map(|device| [KernelFamily::Cpu, KernelFamily::Gpu].map(|family| (device, family)));
    let options = |family| ContextOptions { family: Some(family), ..ContextOptions::default() };
    both.map(|(device, family)| Context::new(device, &options(family)).unwrap()).collect()
}
