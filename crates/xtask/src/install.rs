//! Installs the C library: shared and static library, headers, pkg-config file, CMake package.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::system::{self, Profile, Workspace};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What the static library needs beside itself (`rustc --print native-static-libs`).
const STATIC: &str = "-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc";

/// The number in the shared library's name that programs depend on.
fn interface() -> String {
    format!("{}.{}", env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"))
}

/// Builds the library and installs it below `prefix`.
pub(crate) fn run(workspace: &Workspace, prefix: &Path) -> Result<()> {
    let packages = ["--package", "clinalg-capi", "--package", "clinalg-cli"];
    system::run(workspace.cargo().args(["build", "--release"]).args(packages))?;
    place(workspace, prefix)?;
    place_program(workspace, prefix)
}

/// Puts the program, its completions and its manual pages below `prefix`, where shells and `man` look for them.
fn place_program(workspace: &Workspace, prefix: &Path) -> Result<()> {
    let program = prefix.join("bin/clinalg");
    copy(&workspace.built(Profile::Release).join("clinalg"), &program)?;
    let scripts = [
        ("bash", "share/bash-completion/completions/clinalg"),
        ("zsh", "share/zsh/site-functions/_clinalg"),
        ("fish", "share/fish/vendor_completions.d/clinalg.fish"),
    ];
    for (shell, place) in scripts {
        let out = std::process::Command::new(&program).args(["completions", shell]).output()?;
        anyhow::ensure!(out.status.success(), "clinalg completions {shell} failed");
        system::write_file(&prefix.join(place), &String::from_utf8(out.stdout)?)?;
    }
    system::run(std::process::Command::new(&program).args(["man", "--out"]).arg(prefix.join("share/man/man1")))?;
    println!("The program is {}; add {} to PATH.", program.display(), prefix.join("bin").display());
    Ok(())
}

/// Puts the library, which must have been built, below `prefix`. Nothing there refers to `prefix` itself, so that the folder may be
/// moved.
pub(crate) fn place(workspace: &Workspace, prefix: &Path) -> Result<()> {
    let built = workspace.built(Profile::Release);
    let headers = workspace.path("crates/clinalg-capi/include");
    let shared = format!("libclinalg.so.{VERSION}");
    let soname = format!("libclinalg.so.{}", interface());

    copy(&built.join("libclinalg_capi.so"), &prefix.join("lib").join(&shared))?;
    copy(&built.join("libclinalg_capi.a"), &prefix.join("lib/libclinalg.a"))?;
    link(&prefix.join("lib").join(&soname), &shared)?;
    link(&prefix.join("lib/libclinalg.so"), &soname)?;
    for header in headers_of(&headers)? {
        copy(&headers.join(&header), &prefix.join("include").join(&header))?;
    }
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&workspace.path(licence), &prefix.join("share/doc/clinalg").join(licence))?;
    }
    system::write_file(&prefix.join("lib/pkgconfig/clinalg.pc"), &pkg_config())?;
    let cmake = prefix.join("lib/cmake/clinalg");
    system::write_file(&cmake.join("clinalg-config.cmake"), &cmake_config(&shared, &soname))?;
    system::write_file(&cmake.join("clinalg-config-version.cmake"), &cmake_version())?;
    println!(
        "Installed below {}.\nWith CMake: find_package(clinalg CONFIG) and -DCMAKE_PREFIX_PATH={0}\n\
         With pkg-config: PKG_CONFIG_PATH={0}/lib/pkgconfig pkg-config --cflags --libs clinalg",
        prefix.display()
    );
    Ok(())
}

/// The headers below a folder, relative to it: those of C and C++ and what the latter includes from the folder `clinalg`.
fn headers_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut headers = vec![PathBuf::from("clinalg.h"), PathBuf::from("clinalg.hpp")];
    let parts = folder.join("clinalg");
    for entry in std::fs::read_dir(&parts).with_context(|| format!("cannot read {}", parts.display()))? {
        headers.push(Path::new("clinalg").join(entry?.file_name()));
    }
    Ok(headers)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let folder = to.parent().context("a file lies in a folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    // A program may have the old library open: a new file leaves that one as it is.
    let beside = PathBuf::from(format!("{}.new", to.display()));
    std::fs::copy(from, &beside).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    std::fs::rename(&beside, to).with_context(|| format!("cannot write {}", to.display()))
}

#[cfg(unix)]
fn link(at: &Path, target: &str) -> Result<()> {
    if at.symlink_metadata().is_ok() {
        std::fs::remove_file(at).with_context(|| format!("cannot replace {}", at.display()))?;
    }
    std::os::unix::fs::symlink(target, at).with_context(|| format!("cannot link {}", at.display()))
}

#[cfg(not(unix))]
fn link(at: &Path, _target: &str) -> Result<()> {
    anyhow::bail!("{}: the library is installed on Unix only", at.display())
}

fn pkg_config() -> String {
    format!(
        "prefix=${{pcfiledir}}/../..\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include\n\n\
         Name: clinalg\nDescription: Linear algebra on any OpenCL device\nVersion: {VERSION}\n\
         Libs: -L${{libdir}} -lclinalg\nLibs.private: {STATIC}\nCflags: -I${{includedir}}\n"
    )
}

fn cmake_config(shared: &str, soname: &str) -> String {
    let libraries = STATIC.replace(' ', ";");
    format!(
        "get_filename_component(_clinalg_prefix \"${{CMAKE_CURRENT_LIST_DIR}}/../../..\" ABSOLUTE)\n\
         if(NOT TARGET clinalg::clinalg)\n\
         \x20 add_library(clinalg::clinalg SHARED IMPORTED)\n\
         \x20 set_target_properties(clinalg::clinalg PROPERTIES\n\
         \x20   IMPORTED_LOCATION \"${{_clinalg_prefix}}/lib/{shared}\"\n\
         \x20   IMPORTED_SONAME \"{soname}\"\n\
         \x20   INTERFACE_INCLUDE_DIRECTORIES \"${{_clinalg_prefix}}/include\")\n\
         \x20 add_library(clinalg::static STATIC IMPORTED)\n\
         \x20 set_target_properties(clinalg::static PROPERTIES\n\
         \x20   IMPORTED_LOCATION \"${{_clinalg_prefix}}/lib/libclinalg.a\"\n\
         \x20   INTERFACE_INCLUDE_DIRECTORIES \"${{_clinalg_prefix}}/include\"\n\
         \x20   INTERFACE_LINK_LIBRARIES \"{libraries}\")\n\
         endif()\n\
         unset(_clinalg_prefix)\n"
    )
}

/// While the major number is 0, a minor number is a new interface.
fn cmake_version() -> String {
    let interface = interface();
    let bytes = size_of::<usize>();
    format!(
        "set(PACKAGE_VERSION \"{VERSION}\")\n\
         if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)\n\
         \x20 set(PACKAGE_VERSION_COMPATIBLE FALSE)\n\
         elseif(\"${{PACKAGE_FIND_VERSION_MAJOR}}.${{PACKAGE_FIND_VERSION_MINOR}}\" STREQUAL \"{interface}\" OR NOT PACKAGE_FIND_VERSION)\n\
         \x20 set(PACKAGE_VERSION_COMPATIBLE TRUE)\n\
         \x20 if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)\n\
         \x20   set(PACKAGE_VERSION_EXACT TRUE)\n\
         \x20 endif()\n\
         else()\n\
         \x20 set(PACKAGE_VERSION_COMPATIBLE FALSE)\n\
         endif()\n\
         if(CMAKE_SIZEOF_VOID_P AND NOT CMAKE_SIZEOF_VOID_P EQUAL {bytes})\n\
         \x20 set(PACKAGE_VERSION_UNSUITABLE TRUE)\n\
         endif()\n"
    )
}
