//! Tests and self-test on one driver at a time.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::ci::Verdict;
use crate::setup;
use crate::system::{self, Profile, Workspace};
use crate::test_programs;

/// What PoCL's platform is called.
const POCL: &str = "Portable Computing Language";

pub(crate) fn pocl(workspace: &Workspace) -> Result<Verdict> {
    let library = setup::pocl_icd().context("PoCL's ICD file is gone")?;
    let folder = setup::icd_folder(workspace, "pocl", &library)?;
    workspace.build_products()?;
    // Where there is no other driver, `cargo xtask test` has been just this.
    if platforms(workspace)?.iter().all(|name| name == POCL) {
        return self_test(workspace, &folder).map(|checks| said("the tests run on no other driver", checks));
    }
    on(workspace, &folder)
}

pub(crate) fn intel(workspace: &Workspace) -> Result<Verdict> {
    let library = setup::intel_driver(workspace).context("Intel's driver library is gone")?;
    on(workspace, &setup::icd_folder(workspace, "intel", &library.display().to_string())?)
}

/// The platforms that the program lists.
fn platforms(workspace: &Workspace) -> Result<Vec<String>> {
    let listed = system::capture_ok(workspace.program(Profile::Release).args(["devices", "--json"]))?;
    let devices: Vec<Value> = serde_json::from_slice(&listed.stdout).context("`devices --json` printed no list")?;
    Ok(devices.iter().filter_map(|device| device["platform"].as_str()).map(str::to_owned).collect())
}

/// Test programs of the core that every driver runs: operations, formats, solvers. The grids are in the self-test.
const PROGRAMS: [&str; 9] =
    ["formats", "inverse", "many", "matrix", "ops", "processor_paths", "props", "registry", "solvers"];

/// The core's tests and the program's self-test with no other driver than that of the folder.
fn on(workspace: &Workspace, icd_folder: &Path) -> Result<Verdict> {
    let programs = test_programs::build(workspace)?;
    let all = std::env::var_os(setup::LONG_TESTS).is_some();
    let chosen = |name: &str| all || PROGRAMS.contains(&name);
    let core: Vec<_> = programs.iter().filter(|p| p.package == "clinalg" && chosen(&p.name)).collect();
    let variables = [("OCL_ICD_VENDORS", icd_folder), (setup::TESTS_NEED_DEVICE, Path::new("1"))];
    let failed = test_programs::run(&core, &variables).failed;
    if !failed.is_empty() {
        return Ok(Verdict::failed(format!("tests failed: {}", failed.join(", "))));
    }
    workspace.build_products()?;
    self_test(workspace, icd_folder).map(|checks| said("the tests", checks))
}

/// Runs the program's self-test and gives how many checks it made; none unless all held.
fn self_test(workspace: &Workspace, icd_folder: &Path) -> Result<Option<usize>> {
    let mut doctor = workspace.program(Profile::Release);
    doctor.args(["doctor", "--json"]).env("OCL_ICD_VENDORS", icd_folder);
    println!("$ {}", system::words(&doctor));
    let answer = system::capture_ok(&mut doctor)?;
    let answer: Value = serde_json::from_slice(&answer.stdout).context("`clinalg doctor --json` printed no JSON")?;
    Ok(checks_that_held(&answer))
}

fn said(tests: &str, checks: Option<usize>) -> Verdict {
    match checks {
        Some(0) | None => Verdict::failed("the self-test reports no checks, or one that does not hold"),
        Some(n) => Verdict::ok(format!("{tests}; {n} checks of the self-test")),
    }
}

/// How many checks the self-test made; none unless all held.
fn checks_that_held(answer: &Value) -> Option<usize> {
    let devices = answer["devices"].as_array()?;
    let runs: Vec<&Value> = devices.iter().filter_map(|device| device["runs"].as_array()).flatten().collect();
    let checks: Vec<&Value> = runs.iter().filter_map(|run| run["checks"].as_array()).flatten().collect();
    let all_held = answer["passed"] == true && checks.iter().all(|check| check["passed"] == true);
    all_held.then_some(checks.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_check_must_hold() {
        let answer = |passed: [bool; 3]| {
            let check = |passed: bool| json!({"name": "sum", "passed": passed});
            let runs = json!([{"checks": [check(passed[0]), check(passed[1])]}, {"checks": []}]);
            json!({"passed": passed[2], "devices": [{"runs": runs}]})
        };
        assert_eq!(checks_that_held(&answer([true, true, true])), Some(2));
        assert_eq!(checks_that_held(&answer([true, false, true])), None);
        assert_eq!(checks_that_held(&answer([true, true, false])), None);
        assert_eq!(checks_that_held(&json!({"error": {}})), None);
    }
}
