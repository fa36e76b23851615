//! What users get: the program and the libraries of the C and the MATLAB interface.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::setup::{self, Need};
use crate::system::{self, Profile, Workspace};

/// The packages that make them. Built one by one, they would get dependencies with other features, and the core be compiled
/// for each.
pub(crate) const PACKAGES: [&str; 3] = ["clinalg-cli", "clinalg-capi", "clinalg-mex"];

/// The platform of portable products.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The GNU C library that portable products need, or a newer one.
pub(crate) const GLIBC: (u32, u32) = (2, 17);

/// The program and the libraries, built.
pub(crate) struct Products {
    folder: PathBuf,
}

impl Products {
    /// Builds what is distributed where the linker for other systems is installed, otherwise what users build.
    pub(crate) fn build(workspace: &Workspace) -> Result<Products> {
        if Need::Zig.is_there(workspace) {
            return Products::portable(workspace, Profile::Dist);
        }
        let mut cargo = workspace.cargo();
        cargo.args(["build", "--release"]);
        system::run(chosen(&mut cargo))?;
        Ok(Products::built(workspace, Profile::Release))
    }

    /// What was built for this machine.
    pub(crate) fn built(workspace: &Workspace, profile: Profile) -> Products {
        Products { folder: workspace.built(profile) }
    }

    /// Builds for x86-64 Linux with the GNU C library [`GLIBC`] or newer.
    pub(crate) fn portable(workspace: &Workspace, profile: Profile) -> Result<Products> {
        ensure!(
            cfg!(all(target_os = "linux", target_arch = "x86_64")),
            "only x86-64 Linux builds for other systems; elsewhere use `cargo build --release`"
        );
        let zig = workspace.path(setup::ZIG);
        let programs = zig.join("bin");
        // The first python3 of the path is the one whose packages have the compiler.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(programs.clone()).chain(std::env::split_paths(&path)))?;
        let mut cargo = workspace.command(programs.join("cargo-zigbuild"));
        cargo.args(["zigbuild", "--target", &format!("{TARGET}.{}.{}", GLIBC.0, GLIBC.1)]);
        cargo.args(profile.words());
        cargo.env("PATH", path).env("ZIG_GLOBAL_CACHE_DIR", zig.join("cache"));
        cargo.env("CARGO_ZIGBUILD_CACHE_DIR", zig.join("cache/wrappers"));
        // In place of the user's: flags for this machine's processor have no place in what others run.
        cargo.env("CARGO_ENCODED_RUSTFLAGS", flags(&zig.join("stubs"))?);
        system::run(chosen(&mut cargo))?;
        Ok(Products { folder: workspace.target().join(TARGET).join(profile.folder()) })
    }

    /// The program `clinalg`.
    pub(crate) fn program(&self) -> PathBuf {
        self.folder.join(format!("clinalg{}", std::env::consts::EXE_SUFFIX))
    }

    /// The shared library of the C interface.
    pub(crate) fn shared_library(&self) -> PathBuf {
        self.folder.join("libclinalg_capi.so")
    }

    /// The static library of the C interface.
    pub(crate) fn static_library(&self) -> PathBuf {
        self.folder.join("libclinalg_capi.a")
    }

    /// The library that MATLAB and Octave load.
    pub(crate) fn gateway(&self) -> PathBuf {
        self.folder.join("libclinalg_mex.so")
    }
}

fn chosen(cargo: &mut Command) -> &mut Command {
    cargo.args(PACKAGES.iter().flat_map(|package| ["--package", package]))
}

/// Flags for the compiler, as cargo reads them.
///
/// They link the system's unwinder, where zig would link its own into each file: exceptions of a host cross our frames, and
/// their cleanup must ask the unwinder that raised them. The unwinder's library itself may need newer symbols than the linker
/// knows. And zig looks for shared libraries alone where a crate names one; the OpenCL loader is opened when a program runs,
/// so an empty library stands for it.
fn flags(stubs: &Path) -> Result<String> {
    let asked = system::capture_ok(Command::new("cc").arg("-print-file-name=libgcc_s.so.1"))?;
    let library = system::text(&asked);
    ensure!(Path::new(&library).is_absolute(), "the C compiler knows no libgcc_s.so.1");
    let library = std::fs::canonicalize(&library).with_context(|| format!("cannot find {library}"))?;
    system::write_file(&stubs.join("libOpenCL.so"), "INPUT(libOpenCL.a)\n")?;
    system::write_file(&stubs.join("libOpenCL.a"), "!<arch>\n")?;
    let flags = [
        format!("-Lnative={}", stubs.display()),
        format!("-Clink-arg={}", library.display()),
        "-Clink-arg=-Wl,--allow-shlib-undefined".to_owned(),
    ];
    Ok(flags.join("\u{1f}"))
}
