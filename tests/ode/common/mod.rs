//! What several tests need.

// Each test program uses its part of this module.
#![allow(dead_code)]

use clinalg::runtime::devices;
use clinalg::{Context, ContextOptions, KernelFamily};

/// A context for every device and each family of kernels to test.
pub(crate) fn contexts() -> Vec<Context> {
    make(&clinalg_testing::families([KernelFamily::Cpu, KernelFamily::Gpu]))
}

/// A context for every device, with the kernels of a family.
pub(crate) fn contexts_of(family: KernelFamily) -> Vec<Context> {
    make(&[Some(family)])
}

fn make(families: &[Option<KernelFamily>]) -> Vec<Context> {
    let devices = clinalg_testing::found(devices()).unwrap_or_default();
    let all = devices.iter().flat_map(|device| families.iter().map(move |&family| (device, family)));
    let options = |family| ContextOptions { family, ..ContextOptions::default() };
    all.map(|(device, family)| Context::new(device, &options(family)).unwrap()).collect()
}
