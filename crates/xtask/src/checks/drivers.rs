//! Tests and self-test on one driver at a time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::outcome::Outcome;
use crate::products::Products;
use crate::setup;
use crate::system::{self, Workspace};
use crate::test_programs;

/// A run of the self-test: the family of kernels, as `CLINALG_KERNEL_FAMILY` names it, and PoCL's method for barriers where it is not
/// the driver's choice.
type Run = (&'static str, Option<&'static str>);

/// With the driver's own choice.
const FAMILIES: [Run; 2] = [("cpu", None), ("gpu", None)];

/// With PoCL's other method: what its compiler makes of barriers differs most from what GPUs do.
const LOOPS: [Run; 2] = [("cpu", Some("loops")), ("gpu", Some("loops"))];

/// What PoCL's platform is called.
const POCL: &str = "Portable Computing Language";

pub(crate) fn pocl(workspace: &Workspace) -> Result<Outcome> {
    let library = setup::pocl_icd().context("PoCL's ICD file is gone")?;
    let folder = setup::icd_folder(workspace, "pocl", &library)?;
    let products = Products::build(workspace)?;
    // Where there is no other driver, `cargo xtask test` has been just this.
    if platforms(workspace, &products)?.iter().all(|name| name == POCL) {
        // Thorough tests have taken both families of kernels.
        let families = if workspace.thorough && !workspace.long { &FAMILIES[..1] } else { &FAMILIES[..] };
        let checks = self_test(workspace, &products, &folder, &[families, &LOOPS].concat())?;
        return Ok(said("the tests run on no other driver", checks));
    }
    on(workspace, &folder, &[FAMILIES, LOOPS].concat())
}

pub(crate) fn intel(workspace: &Workspace) -> Result<Outcome> {
    let library = setup::intel_driver(workspace).context("Intel's driver library is gone")?;
    on(workspace, &setup::icd_folder(workspace, "intel", &library.display().to_string())?, &FAMILIES)
}

/// The platforms that the program lists.
fn platforms(workspace: &Workspace, products: &Products) -> Result<Vec<String>> {
    let listed = system::capture_ok(workspace.command(products.program()).args(["devices", "--json"]))?;
    let devices: Vec<Value> = serde_json::from_slice(&listed.stdout).context("`devices --json` printed no list")?;
    Ok(devices.iter().filter_map(|device| device["platform"].as_str()).map(str::to_owned).collect())
}

/// Test programs of the core that every driver runs, with that of the handles, and which of their modules: operations, formats,
/// solvers. The grids are in the self-test.
const PROGRAMS: [(&str, &[&str]); 2] = [
    ("core-operations", &["cpu_paths::", "formats::", "inverse::", "matrix::", "multivector::", "ops::", "props::"]),
    ("core-systems", &["solvers::"]),
];

/// The core's tests and the program's self-test with no other driver than that of the folder.
fn on(workspace: &Workspace, icd_folder: &Path, runs_of_self_test: &[Run]) -> Result<Outcome> {
    let programs = test_programs::build(workspace)?;
    // The modules that run of a program, if it runs; all without a name.
    let runs = |package: &str, name: &str| -> Option<&[&str]> {
        match package {
            "tests" if workspace.long => name.starts_with("core-").then_some(&[]),
            "tests" => PROGRAMS.iter().find(|(program, _)| *program == name).map(|(_, modules)| *modules),
            "clinalg-handles" if name == "registry" => Some(&[]),
            _ => None,
        }
    };
    let core: Vec<_> = programs.iter().filter_map(|p| Some(p.only(runs(&p.package, &p.name)?))).collect();
    let core: Vec<_> = core.iter().collect();
    // Both families of kernels run in the self-test.
    let thorough = Path::new(if workspace.long { "1" } else { "" });
    let mut variables = vec![("OCL_ICD_VENDORS", icd_folder), (system::THOROUGH_TESTS, thorough)];
    if workspace.long {
        variables.push((system::LONG_TESTS, Path::new("1")));
    }
    let failed = test_programs::run(&core, &variables).failed;
    if !failed.is_empty() {
        failed.iter().for_each(|failure| println!("{failure}"));
        let names: Vec<_> = failed.iter().map(|failure| failure.name.as_str()).collect();
        return Ok(Outcome::failed(format!("tests failed: {}", names.join(", "))));
    }
    let products = Products::build(workspace)?;
    self_test(workspace, &products, icd_folder, runs_of_self_test).map(|checks| said("the tests", checks))
}

/// Makes these runs of the program's small self-test and gives how many checks they made; none unless all held. With the
/// long cases its sizes are those of `clinalg doctor`. A warning of the driver's compiler is an error.
fn self_test(workspace: &Workspace, products: &Products, icd_folder: &Path, runs: &[Run]) -> Result<Option<usize>> {
    let counts = system::parallel(runs, |run| self_test_of(workspace, products, icd_folder, *run));
    let counts = counts.into_iter().collect::<Result<Vec<_>>>()?;
    Ok(counts.into_iter().sum())
}

fn self_test_of(
    workspace: &Workspace,
    products: &Products,
    icd_folder: &Path,
    (family, barriers): Run,
) -> Result<Option<usize>> {
    let mut doctor = workspace.command(products.program());
    doctor.args(["doctor", "--json"]);
    if !workspace.long {
        doctor.arg("--quick");
    }
    // PoCL says how many warnings there were when it compiles, which a warm cache would hide. A folder that is given, as by .ci/run,
    // was empty at first: what the tests compiled is not compiled again, and their warnings are in its logs.
    // Kernels of the other method are compiled anew.
    let given = std::env::var_os("POCL_CACHE_DIR").map(PathBuf::from).filter(|_| barriers.is_none());
    let cache = match &given {
        Some(folder) => folder.clone(),
        None => icd_folder.with_extension(format!("{family}{}.cache", barriers.unwrap_or_default())),
    };
    if given.is_none() {
        system::fresh_folder(&cache)?;
    }
    doctor.env("CLINALG_KERNEL_FAMILY", family).env("OCL_ICD_VENDORS", icd_folder).env("POCL_CACHE_DIR", &cache);
    if let Some(method) = barriers {
        doctor.env("POCL_WORK_GROUP_METHOD", method);
    }
    // With a folder for the library's own cache PoCL compiles every kernel a second time.
    doctor.env("CLINALG_CACHE_DIR", "");
    println!("$ {}", system::words(&doctor));
    let answer = system::capture_ok(&mut doctor)?;
    let said = String::from_utf8_lossy(&answer.stderr);
    let warnings = said.lines().filter(|line| warns(line)).count();
    let words = warnings_in(&cache)?;
    if warnings > 0 || !words.is_empty() {
        println!("{}", words.into_iter().collect::<Vec<_>>().join("\n"));
        bail!("programs of the tests or of the self-test compile with warnings ({family} kernels), see above");
    }
    let answer: Value = serde_json::from_slice(&answer.stdout).context("`clinalg doctor --json` printed no JSON")?;
    Ok(checks_that_held(&answer))
}

/// Whether a line is a compiler's count of its warnings.
fn warns(line: &str) -> bool {
    line.contains("warning generated") || line.contains("warnings generated")
}

/// The warnings in the logs that PoCL keeps in its cache, each once.
fn warnings_in(cache: &Path) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    // cache/PR/OGRAM/build.log
    for two_letters in folders(cache)? {
        for program in folders(&two_letters)? {
            let log = std::fs::read_to_string(program.join("build.log")).unwrap_or_default();
            // What an optimiser could not do is no fault of the text.
            let warnings =
                log.lines().filter(|line| line.contains("warning: ") && !line.contains("the optimizer was unable"));
            found.extend(warnings.map(str::to_owned));
        }
    }
    Ok(found)
}

fn folders(of: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(of).with_context(|| format!("cannot read the folder {}", of.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    Ok(paths.into_iter().filter(|path| path.is_dir()).collect())
}

fn said(tests: &str, checks: Option<usize>) -> Outcome {
    match checks {
        Some(0) | None => Outcome::failed("the self-test reports no checks, or one that does not hold"),
        Some(n) => Outcome::ok(format!("{tests}; {n} checks of the self-test")),
    }
}

/// How many checks the self-test made; none unless all held.
pub(crate) fn checks_that_held(answer: &Value) -> Option<usize> {
    let devices = answer["devices"].as_array()?;
    let runs: Vec<&Value> = devices.iter().filter_map(|device| device["runs"].as_array()).flatten().collect();
    let checks: Vec<&Value> = runs.iter().filter_map(|run| run["checks"].as_array()).flatten().collect();
    let all_held = answer["passed"] == true && checks.iter().all(|check| check["passed"] == true);
    all_held.then_some(checks.len())
}

/// The checks that do not hold, and the families of kernels that end in an error, a line each.
pub(crate) fn failures(answer: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut lines = Vec::new();
    lines.extend(answer["error"]["message"].as_str().map(str::to_owned));
    for run in list(&answer["devices"]).iter().flat_map(|device| list(&device["runs"])) {
        let family = run["kernel_family"].as_str().unwrap_or_default();
        lines.extend(run["error"].as_str().map(|error| format!("{family}: {error}")));
        for check in list(&run["checks"]).iter().filter(|check| check["passed"] != true) {
            let [name, precision, detail] =
                ["name", "precision", "detail"].map(|key| check[key].as_str().unwrap_or_default());
            lines.push(format!("{family} {name} {precision}: {detail}"));
        }
    }
    lines
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

    #[test]
    fn what_fails_is_named() {
        let checks = json!([{"name": "sum", "precision": "f64", "passed": false, "detail": "1, expected 2"}]);
        let runs = json!([{"kernel_family": "cpu", "checks": checks}, {"kernel_family": "gpu", "error": "aborted"}]);
        let answer = json!({"passed": false, "devices": [{"runs": runs}]});
        assert_eq!(failures(&answer), ["cpu sum f64: 1, expected 2", "gpu: aborted"]);
        assert_eq!(failures(&json!({"error": {"message": "no device"}})), ["no device"]);
    }

    #[test]
    fn warnings_are_named_once() {
        assert!(warns("1 warning generated.") && warns("3 warnings generated.") && !warns("no warning"));
        const OPTIMISER: &str =
            "warning: a.cl:2:1: loop not unrolled: the optimizer was unable to perform the transformation\n";
        let cache = tempfile::tempdir().unwrap();
        for (program, log) in
            [("AB/C", "warning: a.cl:1:1: x\n"), ("AB/D", "warning: a.cl:1:1: x\n"), ("EF/G", OPTIMISER)]
        {
            std::fs::create_dir_all(cache.path().join(program)).unwrap();
            std::fs::write(cache.path().join(program).join("build.log"), log).unwrap();
        }
        std::fs::create_dir_all(cache.path().join("EF/H")).unwrap();
        assert_eq!(warnings_in(cache.path()).unwrap().into_iter().collect::<Vec<_>>(), ["warning: a.cl:1:1: x"]);
    }
}
