//! The self-test under Oclgrind, an interpreter that watches memory accesses.
//!
//! Its front end preloads a library with the entry points of OpenCL, which a program that opens its loader at run time
//! never calls. So Oclgrind is reached as a driver, through the loader, and its front end only sets the options.

use std::path::Path;

use anyhow::{Context, Result};

use crate::outcome::Outcome;
use crate::products::Products;
use crate::setup;
use crate::system::{self, Workspace};

const FOLDER: &str = "target/ci/oclgrind";
/// Lines of a log that are shown.
const LINES: usize = 40;

/// Runs the small self-test with the kernels of both shapes; Oclgrind must have nothing to say.
pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let products = Products::build(workspace)?;
    let driver = setup::oclgrind_driver().context("Oclgrind's driver library is gone")?;
    let icd = setup::icd_folder(workspace, "oclgrind", &driver.display().to_string())?;
    system::fresh_folder(&workspace.path(FOLDER))?;
    let found = system::parallel(&["cpu", "gpu"], |shape| self_test(workspace, &products, &icd, shape));
    let faults = found.into_iter().collect::<Result<Vec<_>>>()?.concat();
    Ok(if faults.is_empty() { Outcome::ok("both shapes") } else { Outcome::failed(faults.join("; ")) })
}

/// What is wrong with the self-test by the kernels of one shape.
fn self_test(workspace: &Workspace, products: &Products, icd: &Path, shape: &str) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let log = workspace.path(FOLDER).join(format!("{shape}.log"));
    let mut oclgrind = workspace.command("oclgrind");
    oclgrind.args(["--data-races", "--check-api", "--log"]).arg(&log);
    oclgrind.arg(products.program()).args(["doctor", "--quick"]);
    oclgrind.env("OCL_ICD_VENDORS", icd).env("CLINALG_KERNEL_FAMILY", shape);
    println!("$ {}", system::words(&oclgrind));
    let output = system::capture(&mut oclgrind)?;
    println!("{}", system::text(&output));
    if !output.status.success() {
        let said = system::text(&output);
        let last = said.trim().lines().last().unwrap_or("nothing").trim().to_owned();
        faults.push(format!("the self-test fails with {shape} kernels: {}, after `{last}`", output.status));
    }
    // Oclgrind passes the program's exit code on whatever it finds.
    let found = std::fs::read_to_string(&log).context("Oclgrind wrote no log")?;
    if !found.trim().is_empty() {
        let beginning: Vec<&str> = found.trim().lines().take(LINES).collect();
        println!("{} begins with\n{}", log.display(), beginning.join("\n"));
        faults.push(format!("Oclgrind complains about {shape} kernels"));
    }
    Ok(faults)
}
