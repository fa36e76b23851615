//! Tests and self-test on one driver at a time.

use std::path::Path;

use anyhow::{Context, Result};

use crate::ci::Verdict;
use crate::setup;
use crate::system::{self, Profile, Workspace};

pub(crate) fn pocl(workspace: &Workspace) -> Result<Verdict> {
    let library = setup::pocl_icd().context("PoCL's ICD file is gone")?;
    on(workspace, &setup::icd_folder(workspace, "pocl", &library)?)
}

pub(crate) fn intel(workspace: &Workspace) -> Result<Verdict> {
    let library = setup::intel_driver(workspace).context("Intel's driver library is gone")?;
    on(workspace, &setup::icd_folder(workspace, "intel", &library.display().to_string())?)
}

/// The core's tests and the program's self-test with no other driver than that of the folder.
fn on(workspace: &Workspace, icd_folder: &Path) -> Result<Verdict> {
    let mut tests = workspace.cargo();
    tests.args(["test", "--package", "clinalg", "--lib", "--tests"]).env("OCL_ICD_VENDORS", icd_folder);
    system::run(&mut tests)?;
    workspace.build_program(Profile::Release)?;
    let mut doctor = workspace.program(Profile::Release);
    system::run(doctor.args(["doctor", "--json"]).env("OCL_ICD_VENDORS", icd_folder))?;
    Ok(Verdict::ok(""))
}
