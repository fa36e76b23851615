//! The self-test on the drivers that a release of Debian has, in a root folder of its own.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::checks::drivers;
use crate::outcome::Outcome;
use crate::system::{self, Profile, Workspace};

/// Releases with their names, as the archive has them.
const RELEASES: [(u32, &str); 1] = [(13, "trixie")];

/// Loader and drivers.
const PACKAGES: &str = "ocl-icd-libopencl1,pocl-opencl-icd,mesa-opencl-icd";

/// A driver: its name, its ICD file, and what it needs in the environment.
struct Driver {
    name: &'static str,
    icd: &'static str,
    variables: &'static [(&'static str, &'static str)],
}

const DRIVERS: [Driver; 2] = [
    Driver { name: "pocl", icd: "pocl.icd", variables: &[] },
    Driver {
        name: "rusticl",
        icd: "rusticl.icd",
        variables: &[("RUSTICL_ENABLE", "llvmpipe"), ("RUSTICL_FEATURES", "fp64")],
    },
];

/// Makes the root folder if it is not there, runs the small self-test on each driver in it, and gives their outcomes.
///
/// # Errors
/// For unknown releases, and where the folder cannot be made: that needs debootstrap, root and Debian's archive.
pub(crate) fn run(workspace: &Workspace, release: u32) -> Result<Vec<(&'static str, Outcome, Duration)>> {
    let Some((_, name)) = RELEASES.iter().find(|(number, _)| *number == release) else {
        let known: Vec<String> = RELEASES.iter().map(|(number, _)| number.to_string()).collect();
        bail!("--debian {release} is not known here, expected {}", known.join(" or "));
    };
    let root = workspace.path(format!("target/drivers/debian-{release}"));
    if !root.join("etc/OpenCL/vendors").is_dir() {
        // What an interrupted run left there may be half a system.
        system::fresh_folder(&root)?;
        let mut debootstrap = workspace.command("debootstrap");
        debootstrap.args(["--variant=minbase", &format!("--include={PACKAGES}"), name]);
        system::run(debootstrap.arg(&root)).context("debootstrap needs root and Debian's archive")?;
    }
    workspace.build_program(Profile::Dev)?;
    std::fs::copy(workspace.program_path(Profile::Dev), root.join("usr/local/bin/clinalg"))?;
    let one = |driver: &Driver| {
        let start = Instant::now();
        let outcome = self_test(workspace, &root, driver)
            .unwrap_or_else(|error| Outcome::failed(format!("{error:#}").replace('\n', "; ")));
        (driver.name, outcome, start.elapsed())
    };
    Ok(DRIVERS.iter().map(one).collect())
}

/// The small self-test on one driver, with both families of kernels.
fn self_test(workspace: &Workspace, root: &Path, driver: &Driver) -> Result<Outcome> {
    let icd = Path::new("etc/OpenCL/vendors").join(driver.icd);
    if !root.join(&icd).is_file() {
        return Ok(Outcome::skipped(format!("this release has no {}", driver.icd)));
    }
    // PoCL counts processors in /sys, and aborts without it. The mounts end with the process.
    let script = "mount --rbind /proc \"$0/proc\" && mount --rbind /sys \"$0/sys\" && mount --rbind /dev \"$0/dev\" && \
                  exec chroot \"$0\" \"$@\"";
    let mut doctor = workspace.command("unshare");
    doctor.args(["--mount", "sh", "-c", script]).arg(root).arg("env");
    doctor.arg(format!("OCL_ICD_VENDORS=/{}", icd.display())).args(["HOME=/root", "CLINALG_CACHE_DIR="]);
    doctor.args(driver.variables.iter().map(|(name, value)| format!("{name}={value}")));
    doctor.args(["clinalg", "doctor", "--quick", "--json"]);
    println!("$ {}", system::words(&doctor));
    report(&mut doctor)
}

/// What the self-test says: the driver's version with the number of checks, or what failed.
fn report(doctor: &mut Command) -> Result<Outcome> {
    let output = system::capture(doctor)?;
    let Ok(answer) = serde_json::from_slice::<Value>(&output.stdout) else {
        bail!("no report: {}, {}", output.status, system::text(&output).trim());
    };
    let devices = answer["devices"].as_array().map_or(&[][..], Vec::as_slice);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let versions: Vec<_> = devices.iter().map(|device| text(&device["device"]["driver"])).collect();
    let failures = drivers::failures(&answer);
    failures.iter().for_each(|failure| println!("{failure}"));
    match drivers::checks_that_held(&answer) {
        Some(checks) if checks > 0 => Ok(Outcome::ok(format!("{}; {checks} checks", versions.join(", ")))),
        _ => Ok(Outcome::failed(format!("{}: {} failures, see above", versions.join(", "), failures.len()))),
    }
}
