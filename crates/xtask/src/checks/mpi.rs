//! The crate `clinalg-mpi` with its feature, which the workspace leaves out.

use anyhow::{Context, Result};

use crate::ci::Verdict;
use crate::setup;
use crate::system::{self, Workspace};
use crate::test_programs;

/// What cargo builds.
const CHOSEN: [&str; 4] = ["--package", "clinalg-mpi", "--features", "mpi"];

/// Clippy, then the tests, which start ranks on PoCL by `mpirun`.
pub(crate) fn run(workspace: &Workspace) -> Result<Verdict> {
    let library = setup::pocl_icd().context("PoCL's ICD file is gone")?;
    let folder = setup::icd_folder(workspace, "pocl", &library)?;
    let mut clippy = workspace.cargo();
    system::run(clippy.arg("clippy").args(CHOSEN).args(["--all-targets", "--", "-D", "warnings"]))?;
    let programs = test_programs::build_some(workspace, &CHOSEN)?;
    let programs: Vec<_> = programs.iter().collect();
    let outcome = test_programs::run(&programs, &[("OCL_ICD_VENDORS", folder.as_path())]);
    outcome.failed.iter().for_each(|failure| println!("{failure}"));
    Ok(match (outcome.failed.is_empty(), outcome.counts.skipped) {
        (false, _) => Verdict::failed(outcome.counts.to_string()),
        (true, 0) => Verdict::ok(outcome.counts.to_string()),
        (true, _) => Verdict::skipped(format!("{}: see what was skipped", outcome.counts)),
    })
}
