//! The list of checks, and running them.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::checks::{
    amd, bare, barriers, capi, cargo, debian, dist, drivers, kernels, layers, licences, mpi, nvidia, oclgrind, package,
    words,
};
use crate::matlab;
use crate::outcome::Outcome;
use crate::setup::{self, Installer, Need};
use crate::system::{self, Workspace};
use crate::test_programs::Counts;

struct Check {
    name: &'static str,
    /// Other names that choose it, together with others.
    group: Option<&'static str>,
    about: &'static str,
    needs: &'static [Need],
    /// Runs at the same time as its neighbours that do so, too: many wait for one program at their end. Alone run those
    /// that compile the workspace, whose lock the others would wait for, and those that take the time.
    beside: bool,
    run: fn(&Workspace) -> Result<Outcome>,
}

const CHECKS: [Check; 22] = [
    Check { name: "fmt", group: None, about: "formatting (cargo fmt)", needs: &[], beside: false, run: cargo::fmt },
    Check {
        name: "clippy",
        group: None,
        about: "clippy, warnings denied",
        needs: &[],
        beside: false,
        run: cargo::clippy,
    },
    Check { name: "docs", group: None, about: "rustdoc, warnings denied", needs: &[], beside: false, run: cargo::docs },
    Check {
        name: "layers",
        group: None,
        about: "modules and crates name only what their layer may (.ci/layers.toml)",
        needs: &[],
        beside: true,
        run: layers::run,
    },
    Check {
        name: "words",
        group: None,
        about: "documents, comments and messages use the field's terms (.ci/words.toml)",
        needs: &[],
        beside: true,
        run: words::run,
    },
    Check {
        name: "package",
        group: None,
        about: "the crates compile from their packages, and a program that uses them runs",
        needs: &[Need::Loader, Need::Pocl],
        beside: false,
        run: package::run,
    },
    Check {
        name: "barriers",
        group: None,
        about: "kernels keep the barrier rule",
        needs: &[],
        beside: true,
        run: barriers::run,
    },
    Check {
        name: "kernels",
        group: None,
        about: "kernels compile without a warning, in single precision without doubles",
        needs: &[Need::Clang],
        beside: true,
        run: kernels::run,
    },
    Check {
        name: "amd",
        group: None,
        about: "kernels compile for three AMD GPUs, with --long five, without spills",
        needs: &[Need::Clang, Need::DeviceLibs],
        beside: true,
        run: amd::run,
    },
    Check {
        name: "nvidia",
        group: None,
        about: "kernels compile for two NVIDIA GPUs without spills",
        needs: &[Need::Clang, Need::Libclc, Need::Ptxas],
        beside: true,
        run: nvidia::run,
    },
    Check {
        name: "licences",
        group: None,
        about: "every dependency's licence is on the list .ci/licences.txt",
        needs: &[],
        beside: true,
        run: licences::licences,
    },
    Check {
        name: "advisories",
        group: None,
        about: "no dependency has a security advisory (needs cargo-deny or cargo-audit)",
        needs: &[],
        beside: true,
        run: licences::advisories,
    },
    Check {
        name: "pocl",
        group: Some("drivers"),
        about: "tests and self-test on PoCL",
        needs: &[Need::Loader, Need::Pocl],
        beside: true,
        run: drivers::pocl,
    },
    Check {
        name: "intel",
        group: Some("drivers"),
        about: "tests and self-test on Intel's CPU runtime",
        needs: &[Need::Loader, Need::Intel],
        beside: true,
        run: drivers::intel,
    },
    Check {
        name: "oclgrind",
        group: None,
        about: "self-test under Oclgrind: no race, no access out of bounds, no wrong call",
        needs: &[Need::Loader, Need::Oclgrind],
        beside: true,
        run: oclgrind::run,
    },
    Check {
        name: "capi",
        group: Some("c"),
        about: "the C library, installed and moved, with CMake and pkg-config",
        needs: &[Need::Cxx, Need::Loader, Need::Pocl, Need::Cmake, Need::PkgConfig],
        beside: true,
        run: capi::run,
    },
    Check {
        name: "octave",
        group: None,
        about: "the MATLAB functions, the objects and the package in Octave",
        needs: &[Need::Loader, Need::Pocl, Need::Octave],
        beside: true,
        run: matlab::check,
    },
    Check {
        name: "fuzz",
        group: Some("c"),
        about: "a million random calls and eight threads through the C interface",
        needs: &[Need::Cxx, Need::Loader, Need::Pocl, Need::PkgConfig],
        beside: true,
        run: capi::fuzz,
    },
    Check {
        name: "valgrind",
        group: Some("c"),
        about: "the host part of the C interface under valgrind",
        needs: &[Need::Loader, Need::Pocl, Need::PkgConfig, Need::Valgrind],
        beside: true,
        run: capi::valgrind,
    },
    Check {
        name: "dist",
        group: None,
        about: "archives for machines without Rust: symbol versions, unpacked and used",
        needs: &dist::NEEDS,
        beside: true,
        run: dist::run,
    },
    Check {
        name: "mpi",
        group: None,
        about: "the crate clinalg-mpi with its feature, and its tests on 2 to 4 ranks",
        needs: &[Need::Loader, Need::Pocl, Need::Mpi, Need::Libclang],
        beside: false,
        run: mpi::run,
    },
    Check {
        name: "bare",
        group: None,
        about: "the program says in words what a machine without OpenCL lacks",
        needs: &[],
        beside: false,
        run: bare::run,
    },
];

/// Prints the checks.
pub(crate) fn list() {
    for check in &CHECKS {
        let group = check.group.map_or_else(String::new, |group| format!(" [group {group}]"));
        println!("{:<11} {}{group}", check.name, check.about);
    }
}

/// The checks of these names or groups, in the list's order; all where no name is given.
fn choose(names: &[String]) -> Result<Vec<&'static Check>> {
    let is_meant = |check: &Check, name: &str| check.name == name || check.group == Some(name);
    if let Some(unknown) = names.iter().find(|name| !CHECKS.iter().any(|check| is_meant(check, name))) {
        let known: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
        bail!("no check is called `{unknown}`; there are {} and the groups c and drivers", known.join(", "));
    }
    Ok(CHECKS.iter().filter(|check| names.is_empty() || names.iter().any(|name| is_meant(check, name))).collect())
}

/// Runs the chosen checks one after the other and prints their table.
pub(crate) fn run(workspace: &Workspace, installer: &Installer, names: &[String]) -> Result<ExitCode> {
    let checks = choose(names)?;
    let mut needs: Vec<Need> = Vec::new();
    for need in checks.iter().flat_map(|check| check.needs) {
        if !needs.contains(need) {
            needs.push(*need);
        }
    }
    if let Err(reasons) = setup::provide(workspace, installer, &needs) {
        println!("{reasons:#}\nThe checks that need it are skipped.");
    }
    let one = |check: &&Check| {
        println!("\n== {}: {}", check.name, check.about);
        let start = Instant::now();
        let outcome = match check.needs.iter().find(|need| !need.is_there(workspace)) {
            Some(Need::Loader | Need::Pocl) if system::on_ci() && check.name == "pocl" => {
                Outcome::failed("PoCL is missing, which CI must have")
            }
            Some(need) => Outcome::skipped(format!("{} is missing", need.name())),
            None => (check.run)(workspace).unwrap_or_else(|error| {
                println!("{}: {error:#}", check.name);
                let line = error.to_string();
                Outcome::failed(line.lines().next().unwrap_or_default())
            }),
        };
        (check.name, outcome, start.elapsed())
    };
    let together = checks.chunk_by(|a, b| a.beside && b.beside);
    let rows: Vec<_> = together.flat_map(|some| system::parallel(some, one)).collect();
    Ok(ended(&rows))
}

/// Runs the small self-test on the drivers of a release of Debian and prints their table.
pub(crate) fn debian(workspace: &Workspace, installer: &Installer, names: &[String], release: u32) -> Result<ExitCode> {
    if names != ["drivers"] {
        bail!("--debian belongs to `cargo xtask ci drivers`");
    }
    setup::provide(workspace, installer, &[Need::Debootstrap])?;
    Ok(ended(&debian::run(workspace, release)?))
}

/// Prints the table.
fn ended(rows: &[(&str, Outcome, Duration)]) -> ExitCode {
    println!("\n{}", table(rows));
    let failed = rows.iter().any(|(_, outcome, _)| matches!(outcome, Outcome::Failed(_)));
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn table(rows: &[(&str, Outcome, Duration)]) -> String {
    let mut text = format!("{:<11} {:<8} {:>7}  note\n", "check", "result", "seconds");
    let mut counts = Counts::default();
    for (name, outcome, time) in rows {
        let (count, word, note) = match outcome {
            Outcome::Ok(note) => (&mut counts.passed, "ok", note),
            Outcome::Failed(why) => (&mut counts.failed, "FAILED", why),
            Outcome::Skipped(why) => (&mut counts.skipped, "skipped", why),
        };
        *count += 1;
        let line = format!("{name:<11} {word:<8} {:>7.1}  {note}", time.as_secs_f64());
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text + &counts.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(names: &[&str]) -> Vec<&'static str> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        choose(&names).unwrap().iter().map(|check| check.name).collect()
    }

    #[test]
    fn checks_are_chosen_by_name_and_group() {
        assert_eq!(chosen(&[]).len(), CHECKS.len());
        assert_eq!(chosen(&["amd", "fmt"]), ["fmt", "amd"]);
        assert_eq!(chosen(&["drivers"]), ["pocl", "intel"]);
        assert_eq!(chosen(&["c"]), ["capi", "fuzz", "valgrind"]);
        let error = choose(&["fnt".to_owned()]).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("`fnt`") && error.contains("fmt"), "{error}");
    }

    #[test]
    fn the_table_hides_nothing() {
        let rows = [
            ("fmt", Outcome::ok(""), Duration::from_millis(1500)),
            ("amd", Outcome::failed("3 kernels spill"), Duration::from_secs(20)),
            ("intel", Outcome::skipped("no network"), Duration::ZERO),
        ];
        assert_eq!(
            table(&rows),
            "check       result   seconds  note\n\
             fmt         ok           1.5\n\
             amd         FAILED      20.0  3 kernels spill\n\
             intel       skipped      0.0  no network\n\
             1 passed, 1 failed, 1 skipped"
        );
    }
}
