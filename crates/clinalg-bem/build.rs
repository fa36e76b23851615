//! Generates `kernels.rs`: the kernel files' texts and a Rust function per kernel.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let target = clinalg_build::Target { root: "clinalg", is_unsafe: true };
    match clinalg_build::build(Path::new("kernels"), "clinalg-bem", target) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
