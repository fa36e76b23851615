//! The self-test under Oclgrind, an interpreter that watches memory accesses.

use anyhow::Result;

use crate::ci::Verdict;
use crate::system::{self, Profile, Workspace};

const FOLDER: &str = "target/ci/oclgrind";

/// Runs the small self-test with the kernels of both shapes; Oclgrind must have nothing to say.
pub(crate) fn run(workspace: &Workspace) -> Result<Verdict> {
    workspace.build_program(Profile::Release)?;
    // Without drivers the loader lists Oclgrind alone.
    let no_drivers = workspace.path(FOLDER).join("no-drivers");
    system::fresh_folder(&no_drivers)?;
    let mut complaints = 0;
    for shape in ["cpu", "gpu"] {
        let log = workspace.path(FOLDER).join(format!("{shape}.log"));
        let mut oclgrind = workspace.command("oclgrind");
        oclgrind.args(["--data-races", "--check-api", "--log"]).arg(&log);
        oclgrind.arg(workspace.program_path(Profile::Release)).args(["doctor", "--quick"]);
        oclgrind.env("OCL_ICD_VENDORS", &no_drivers).env("CLINALG_SHAPE", shape);
        system::run(&mut oclgrind)?;
        // Oclgrind passes the program's exit code on whatever it finds.
        let found = std::fs::read_to_string(&log).unwrap_or_default();
        if !found.trim().is_empty() {
            println!("{shape} kernels: {}", found.trim());
            complaints += 1;
        }
    }
    Ok(match complaints {
        0 => Verdict::ok("both shapes"),
        _ => Verdict::failed("Oclgrind complains, see above"),
    })
}
