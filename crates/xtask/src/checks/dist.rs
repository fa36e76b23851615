//! The archives for machines without Rust: what they need, and their use after unpacking.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::checks::capi;
use crate::dist::{self, Archives};
use crate::install;
use crate::matlab;
use crate::outcome::Outcome;
use crate::products::Products;
use crate::setup::{self, Need};
use crate::system::{self, Profile, Workspace};

/// What trying the archives needs, and making them.
pub(crate) const NEEDS: [Need; 7] =
    [Need::Zig, Need::Cxx, Need::Loader, Need::Pocl, Need::Cmake, Need::PkgConfig, Need::Octave];

/// Below the root.
const FOLDER: &str = "target/ci/dist";

/// Packs and tries what the other checks use.
pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let products = Products::portable(workspace, Profile::Dist)?;
    let archives = dist::pack(workspace, &products, &workspace.path(FOLDER).join("archives"))?;
    try_all(workspace, &archives)?;
    let (major, minor) = archives.glibc;
    Ok(Outcome::ok(format!("four archives for glibc {major}.{minor} or newer, each unpacked and used")))
}

/// Unpacks each archive and uses it.
pub(crate) fn try_all(workspace: &Workspace, archives: &Archives) -> Result<()> {
    let unpacked = workspace.path(FOLDER).join("unpacked");
    system::fresh_folder(&unpacked)?;
    let driver = setup::pocl_icd().context("PoCL's ICD file is gone")?;
    let icds = setup::icd_folder(workspace, "pocl", &driver)?;

    let program = unpack(&archives.program, &unpacked)?;
    try_program(&program, &icds)?;
    let library = unpack(&archives.library, &unpacked)?;
    ensure!(library.join("share/doc/clinalg/examples/c/first.c").is_file(), "the examples are missing");
    capi::try_library(workspace, library, &workspace.path(FOLDER).join("programs"))?;

    // Octave and what `pkg install` starts, but no compiler.
    let tools = workspace.path(FOLDER).join("tools");
    system::fresh_folder(&tools)?;
    for tool in ["tar", "gzip", "gunzip", "sh"] {
        let file = system::find_program(tool).with_context(|| format!("{tool} is not installed"))?;
        install::link(&tools.join(tool), &file.to_string_lossy())?;
    }
    let octave = system::find_program("octave-cli").context("Octave is not installed")?;
    let host = || {
        let mut host = Command::new(&octave);
        host.current_dir(&tools).env("PATH", &tools).env("OCL_ICD_VENDORS", &icds);
        host
    };
    let folder = unpack(&archives.matlab, &unpacked)?;
    let same = |name: &str| std::fs::read(folder.join(name));
    ensure!(same("clinalg_mex.mex")? == same("clinalg_mex.mexa64")?, "the libraries of MATLAB and Octave differ");
    matlab::try_folder(&mut host(), &folder)?;
    matlab::try_package(&mut host(), &archives.octave, &workspace.path(FOLDER).join("octave"))
}

/// Unpacks an archive and gives its one folder.
fn unpack(archive: &Path, to: &Path) -> Result<PathBuf> {
    system::capture_ok(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(to))?;
    let name = archive.file_name().context("an archive has a name")?.to_string_lossy();
    let folder = to.join(name.trim_end_matches(".tar.gz"));
    for file in ["README.txt", "LICENSE-MIT", "LICENSE-APACHE", crate::notices::FILE] {
        ensure!(folder.join(file).is_file(), "{} has no {file}", archive.display());
    }
    Ok(folder)
}

/// Solves a problem and looks for the files of shells and `man`.
fn try_program(folder: &Path, icds: &Path) -> Result<()> {
    let mut program = Command::new(folder.join("bin/clinalg"));
    program.env("OCL_ICD_VENDORS", icds).args(["poisson", "--n", "65"]);
    println!("$ {}", system::words(&program));
    println!("{}", system::text(&system::capture_ok(&mut program)?));
    for file in ["share/man/man1/clinalg-poisson.1", "share/bash-completion/completions/clinalg"] {
        ensure!(std::fs::metadata(folder.join(file)).is_ok_and(|m| m.len() > 0), "the program comes without {file}");
    }
    Ok(())
}
