//! The crate `clinalg-mpi` with its feature, which the workspace leaves out.

use anyhow::{Context, Result};

use crate::outcome::Outcome;
use crate::setup;
use crate::system::{self, Workspace};
use crate::test_programs;

/// The feature, of the whole workspace: for one package alone dependencies would have other features, and all be built again.
const FEATURE: [&str; 2] = ["--features", "clinalg-mpi/mpi"];

/// Clippy, then the tests, which start ranks on PoCL by `mpirun`.
pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let library = setup::pocl_icd().context("PoCL's ICD file is gone")?;
    let folder = setup::icd_folder(workspace, "pocl", &library)?;
    let mut clippy = workspace.cargo();
    let chosen = [workspace.packages(), &FEATURE].concat();
    system::run(clippy.arg("clippy").args(&chosen).args(["--all-targets", "--", "-D", "warnings"]))?;
    let programs = test_programs::build_some(workspace, &chosen)?;
    let programs: Vec<_> = programs.iter().filter(|program| program.package == "clinalg-mpi").collect();
    let outcome = test_programs::run(&programs, &[("OCL_ICD_VENDORS", folder.as_path())]);
    outcome.failed.iter().for_each(|failure| println!("{failure}"));
    Ok(match (outcome.failed.is_empty(), outcome.counts.skipped) {
        (false, _) => Outcome::failed(outcome.counts.to_string()),
        (true, 0) => Outcome::ok(outcome.counts.to_string()),
        (true, _) => Outcome::skipped(format!("{}: see what was skipped", outcome.counts)),
    })
}
