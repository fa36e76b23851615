//! What several tests need.

use clinalg::runtime::devices;
use clinalg::{Context, ContextOptions, Shape};

/// A context for every device and each shape of kernels.
pub(crate) fn contexts() -> Vec<Context> {
    match devices() {
        Ok(devices) => (devices.iter())
            .flat_map(|d| [Shape::Cpu, Shape::Gpu].map(|s| (d, s)))
            .map(|(d, s)| Context::new(d, &ContextOptions { shape: Some(s), ..ContextOptions::default() }).unwrap())
            .collect(),
        Err(error) => {
            eprintln!("skipped: {error}");
            Vec::new()
        }
    }
}
