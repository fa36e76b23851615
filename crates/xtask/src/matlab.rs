//! The folder for MATLAB and Octave, and the package for Octave.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::install;
use crate::outcome::Outcome;
use crate::products::Products;
use crate::system::{self, Profile, Workspace};
use crate::test_programs;

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The folder for both hosts, below the root.
const FOLDER: &str = "target/matlab";
/// Where the package is made, below the root.
const PACKAGES: &str = "target/octave";
/// What `matlab/` holds for users; the tests stay behind.
const PARTS: [&str; 3] = ["+clinalg", "examples", "octave"];

/// Random steps of each of the five runs of the stand-in host; a step is a call or several.
const FUZZ_STEPS: &str = "250000";

/// What [`stage`] leaves.
pub(crate) struct Built {
    /// The folder that is added to the path of either host.
    pub(crate) folder: PathBuf,
    /// The package for `pkg install`.
    pub(crate) package: PathBuf,
}

/// Builds the gateway and puts everything in place.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let products = Products::built(workspace, Profile::Release);
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--package", "clinalg-mex"]).args(Profile::Release.words());
    // Chosen together, the gateway and the program share all they have in common. Without the program that would be built as well,
    // the gateway takes half the time.
    if products.program().is_file() {
        cargo.args(["--package", "clinalg-cli"]);
    }
    system::run(&mut cargo)?;
    stage(workspace, &products).map(drop)
}

/// Names the gateway for tests, which build one where it is not set.
pub(crate) const GATEWAY: &str = "CLINALG_TEST_GATEWAY";

/// Builds the gateway for tests and gives its file. Tests beside it make cargo take the dependencies as they have them; with
/// others the core would be compiled once more.
pub(crate) fn build_for_tests(workspace: &Workspace) -> Result<PathBuf> {
    system::run(workspace.cargo().args(["build", "--quiet"]).args(workspace.packages()).args(["--lib", "--tests"]))?;
    Ok(Products::built(workspace, Profile::Dev).gateway())
}

/// Puts the gateway and all that goes with it in place.
fn stage(workspace: &Workspace, products: &Products) -> Result<Built> {
    let folder = workspace.path(FOLDER);
    system::fresh_folder(&folder)?;
    place(workspace, products, &folder)?;
    let packages = workspace.path(PACKAGES);
    system::fresh_folder(&packages)?;
    let root = packages.join(package());
    place_package(workspace, products, &root)?;
    let package = system::pack(&root, &packages.join(format!("{}.tar.gz", package())))?;
    println!("{}: add it to the path of MATLAB or Octave", folder.display());
    println!("{}: for Octave's `pkg install`", package.display());
    Ok(Built { folder, package })
}

/// The name of the package's folder.
pub(crate) fn package() -> String {
    format!("clinalg-{VERSION}")
}

/// Fills the folder for both hosts.
pub(crate) fn place(workspace: &Workspace, products: &Products, folder: &Path) -> Result<()> {
    fill(workspace, &products.gateway(), folder)?;
    // One file for each host, of the same bytes.
    let (octave, matlab) = (folder.join("clinalg_mex.mex"), folder.join("clinalg_mex.mexa64"));
    std::fs::hard_link(&octave, &matlab).or_else(|_| install::copy(&octave, &matlab))
}

/// The functions, the gateway for Octave and the licences.
fn fill(workspace: &Workspace, library: &Path, folder: &Path) -> Result<()> {
    let matlab = workspace.path("matlab");
    for file in files_of(&matlab)? {
        install::copy(&file, &folder.join(file.file_name().context("a file has a name")?))?;
    }
    for part in PARTS {
        install::copy_folder(&matlab.join(part), &folder.join(part))?;
    }
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        install::copy(&workspace.path(licence), &folder.join(licence))?;
    }
    install::copy(library, &folder.join("clinalg_mex.mex"))
}

fn files_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Makes the package's folder: the functions below `inst`, with what `pkg` wants beside them. Nothing in it is compiled when
/// it is installed.
pub(crate) fn place_package(workspace: &Workspace, products: &Products, root: &Path) -> Result<()> {
    fill(workspace, &products.gateway(), &root.join("inst"))?;
    let read =
        |file: &str| std::fs::read_to_string(workspace.path(file)).with_context(|| format!("cannot read {file}"));
    system::write_file(&root.join("DESCRIPTION"), &description())?;
    system::write_file(&root.join("COPYING"), &(read("LICENSE-MIT")? + "\n" + &read("LICENSE-APACHE")?))?;
    system::write_file(&root.join("INDEX"), &index(&read("matlab/Contents.m")?))?;
    // The library is locked; it must not outlive the package's files.
    let unload = "try, clinalg_mex('MexShutdown'); catch, end\n";
    system::write_file(&root.join("PKG_DEL"), unload)
}

fn description() -> String {
    format!(
        "Name: clinalg\n\
         Version: {VERSION}\n\
         Date: {date}\n\
         Author: the clinalg authors\n\
         Maintainer: the clinalg authors\n\
         Title: Linear algebra on any OpenCL device\n\
         Description: Matrices, vectors, iterative solvers and multigrid on GPUs and CPUs through OpenCL, in\n \
         single and double precision: functions Mex* on handles, and objects clinalg.* with operators.\n\
         Categories: Linear algebra\n\
         Depends: octave (>= 7.0.0)\n\
         License: MIT or Apache-2.0\n",
        date = date(system::build_time()),
    )
}

/// The civil date of seconds since 1970 (Hinnant, chrono-compatible low-level date algorithms).
fn date(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

/// The functions by topic, from the topics and lines of `Contents.m`.
fn index(contents: &str) -> String {
    let mut index = "clinalg >> Linear algebra on any OpenCL device\n".to_owned();
    for line in contents.lines().skip(2) {
        let words = line.trim_start_matches('%');
        if let Some((name, _)) = words.strip_prefix("   ").and_then(|entry| entry.split_once(' ')) {
            let _ = writeln!(index, " {name}");
        } else if !words.trim().is_empty() && !words.contains(':') {
            let _ = writeln!(index, "{}", words.trim());
        }
    }
    index + "Objects\n clinalg.array\n clinalg.matrix\n clinalg.vector\n"
}

/// The parts of the suite that the folder for both hosts can break: what lies in it, loading and unloading, and the optimised
/// gateway under random calls. `cargo xtask test` has run the whole suite.
const STAGED: [&str; 6] = ["test_examples", "test_fuzz", "test_help", "test_lifetime", "test_session", "test_transfer"];

/// Runs the stand-in host with many random calls and the suite, without the long cases its parts in [`STAGED`], against the folder
/// for both hosts; installs the package in a folder of its own, uses it and removes it.
pub(crate) fn check(workspace: &Workspace) -> Result<Outcome> {
    let products = Products::build(workspace)?;
    let built = stage(workspace, &products)?;
    let programs = test_programs::build(workspace)?;
    let standin: Vec<_> = programs.iter().filter(|p| p.package == "clinalg-mex" && p.name == "standin").collect();
    ensure!(!standin.is_empty(), "clinalg-mex has no test `standin`");
    let library = products.gateway();
    let variables = [("CLINALG_FUZZ", Path::new(FUZZ_STEPS)), (GATEWAY, &library)];
    ensure!(test_programs::run(&standin, &variables).failed.is_empty(), "the stand-in host fails");
    let matlab = workspace.path("matlab");
    let names = if workspace.long { String::new() } else { STAGED.map(|name| format!("'{name}'")).join(", ") };
    let tests = format!(
        "addpath('{}'); addpath('{}'); addpath('{}'); run_tests({names});",
        built.folder.display(),
        built.folder.join("examples").display(),
        matlab.join("test").display()
    );
    let passed = octave(workspace, &tests)?;

    let mut host = workspace.command("octave-cli");
    try_package(&mut host, &built.package, &workspace.path(PACKAGES).join("prefix"))?;
    Ok(Outcome::ok(format!("{passed}; the package installs and goes")))
}

/// Installs a package below `prefix` in Octave, uses it and removes it.
pub(crate) fn try_package(host: &mut Command, package: &Path, prefix: &Path) -> Result<()> {
    system::fresh_folder(prefix)?;
    let statements = format!(
        "pkg prefix {prefix} {prefix}; pkg local_list {prefix}/list; pkg install {archive}; pkg load clinalg; {USE} \
         pkg unload clinalg; pkg uninstall clinalg; assert(isempty(pkg('list')));",
        prefix = prefix.display(),
        archive = package.display(),
    );
    octave_in(host, &statements).map(drop)
}

/// Uses the folder for both hosts in Octave.
pub(crate) fn try_folder(host: &mut Command, folder: &Path) -> Result<()> {
    octave_in(host, &format!("addpath('{}'); {USE}", folder.display())).map(drop)
}

/// Statements that use objects and functions.
const USE: &str = "A = rand(5); x = rand(5, 1); y = gather(clinalg.matrix(A) * clinalg.vector(x)); \
                   assert(y, A * x, 1e-14); assert(MexSum(0, MexMatrix(0, [1 2 3])), 6);";

/// Runs statements in Octave; gives the last line printed.
fn octave(workspace: &Workspace, statements: &str) -> Result<String> {
    octave_in(&mut workspace.command("octave-cli"), statements)
}

/// As [`octave`], in a host that the caller chooses.
fn octave_in(host: &mut Command, statements: &str) -> Result<String> {
    let output = system::capture(host.args(["-qf", "--no-history", "--eval", statements]))?;
    let text = system::text(&output);
    if !output.status.success() {
        bail!("Octave ended with {}:\n{text}", output.status);
    }
    println!("{text}");
    Ok(text.lines().last().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_civil() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(date(1_735_689_599), "2024-12-31");
    }

    #[test]
    fn the_index_lists_topics_and_functions() {
        let contents =
            "% clinalg: words\n% Version 1\n%\n% Topic one\n%   MexA  - Does a.\n%   MexBc - Does b.\n%\n% See: x\n";
        let index = index(contents);
        assert!(index.contains("Topic one\n MexA\n MexBc\n"), "{index}");
        assert!(!index.contains("See"), "{index}");
    }

    #[test]
    fn every_function_is_in_the_index() {
        let workspace = Workspace::find().unwrap();
        let index = index(&std::fs::read_to_string(workspace.path("matlab/Contents.m")).unwrap());
        for file in files_of(&workspace.path("matlab")).unwrap() {
            let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
            assert!(!name.starts_with("Mex") || index.contains(&format!(" {name}\n")), "{name}");
        }
    }
}
