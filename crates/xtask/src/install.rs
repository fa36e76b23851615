//! Installs the C library (shared and static library, headers, pkg-config file, CMake package) and the program.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::products::Products;
use crate::system::{self, Profile, Workspace};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What the static library needs beside itself (`rustc --print native-static-libs`).
const STATIC: &str = "-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc";

/// The number in the shared library's name that programs depend on.
fn interface() -> String {
    format!("{}.{}", env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"))
}

/// Builds the library and the program and installs them below `prefix`.
pub(crate) fn run(workspace: &Workspace, prefix: &Path) -> Result<()> {
    let packages = ["--package", "clinalg-capi", "--package", "clinalg-cli"];
    system::run(workspace.cargo().args(["build", "--release"]).args(packages))?;
    let products = Products::built(workspace, Profile::Release);
    place(workspace, &products, prefix)?;
    place_program(&products, prefix)?;
    println!(
        "Installed below {}.\nWith CMake: find_package(clinalg CONFIG) and -DCMAKE_PREFIX_PATH={0}\n\
         With pkg-config: PKG_CONFIG_PATH={0}/lib/pkgconfig pkg-config --cflags --libs clinalg\n\
         The program is {0}/bin/clinalg; add {0}/bin to PATH.",
        prefix.display()
    );
    Ok(())
}

/// Puts the program, its completions and its manual pages below `prefix`, where shells and `man` look for them.
pub(crate) fn place_program(products: &Products, prefix: &Path) -> Result<()> {
    let program = prefix.join("bin/clinalg");
    copy(&products.program(), &program)?;
    let scripts = [
        ("bash", "share/bash-completion/completions/clinalg"),
        ("zsh", "share/zsh/site-functions/_clinalg"),
        ("fish", "share/fish/vendor_completions.d/clinalg.fish"),
    ];
    for (shell, place) in scripts {
        let out = system::capture_ok(Command::new(&program).args(["completions", shell]))?;
        system::write_file(&prefix.join(place), &String::from_utf8(out.stdout)?)?;
    }
    let mut man = Command::new(&program);
    system::capture_ok(man.args(["man", "--out"]).arg(prefix.join("share/man/man1")))?;
    Ok(())
}

/// Puts the library below `prefix`. Nothing there refers to `prefix` itself, so that the folder may be moved.
pub(crate) fn place(workspace: &Workspace, products: &Products, prefix: &Path) -> Result<()> {
    let shared = format!("libclinalg.so.{VERSION}");
    let soname = format!("libclinalg.so.{}", interface());

    copy(&products.shared_library(), &prefix.join("lib").join(&shared))?;
    place_static(workspace, &products.static_library(), &prefix.join("lib/libclinalg.a"))?;
    link(&prefix.join("lib").join(&soname), &shared)?;
    link(&prefix.join("lib/libclinalg.so"), &soname)?;
    copy_folder(&workspace.path("crates/clinalg-capi/include"), &prefix.join("include"))?;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&workspace.path(licence), &prefix.join("share/doc/clinalg").join(licence))?;
    }
    system::write_file(&prefix.join("lib/pkgconfig/clinalg.pc"), &pkg_config())?;
    let cmake = prefix.join("lib/cmake/clinalg");
    system::write_file(&cmake.join("clinalg-config.cmake"), &cmake_config(&shared, &soname))?;
    system::write_file(&cmake.join("clinalg-config-version.cmake"), &cmake_version())
}

/// The functions of this library and of OpenCL among the symbols that `nm` lists.
fn functions(symbols: &str) -> BTreeSet<&str> {
    let is_opencl =
        |name: &str| name.strip_prefix("cl").is_some_and(|rest| rest.starts_with(|c: char| c.is_uppercase()));
    symbols
        .lines()
        .filter_map(|line| line.rsplit_once(" T ").map(|(_, name)| name))
        .filter(|name| name.starts_with("clinalg_") || is_opencl(name))
        .collect()
}

/// Puts the static library at `to` as one object with what its functions need, in sections that a linker can still drop,
/// without debug information. Only these functions stay visible: what the compiler's own library defines does not meet
/// another library in Rust. Without the tools of the linker the library is copied as it is.
fn place_static(workspace: &Workspace, from: &Path, to: &Path) -> Result<()> {
    if let Some(tool) = ["nm", "ld", "objcopy", "ar"].into_iter().find(|tool| system::find_program(tool).is_none()) {
        println!("There is no `{tool}` (binutils): {} keeps debug information and unused code.", to.display());
        return copy(from, to);
    }
    let symbols = system::capture_ok(Command::new("nm").args(["--defined-only", "--extern-only"]).arg(from))?;
    let symbols = String::from_utf8_lossy(&symbols.stdout);
    let functions = functions(&symbols);
    let folder = workspace.target().join("static");
    let [visible, linked, object, archive] =
        ["visible", "linked.o", "clinalg.o", "libclinalg.a"].map(|name| folder.join(name));
    system::write_file(&visible, &functions.iter().map(|name| format!("{name}\n")).collect::<String>())?;
    let mut ld = Command::new("ld");
    ld.args(["-r", "--gc-sections"]).args(functions.iter().flat_map(|name| ["-u", name]));
    system::capture_ok(ld.arg("-o").arg(&linked).arg(from))?;
    let mut objcopy = Command::new("objcopy");
    objcopy.args(["--strip-debug", "-R", ".llvmbc", "-R", ".llvmcmd", "-R", ".comment"]);
    objcopy.arg(format!("--keep-global-symbols={}", visible.display()));
    system::capture_ok(objcopy.arg(&linked).arg(&object))?;
    system::capture_ok(Command::new("objcopy").arg("--strip-unneeded").arg(&object))?;
    // `ar` adds to an archive that is there.
    std::fs::remove_file(&archive).ok();
    system::capture_ok(Command::new("ar").arg("rcsD").arg(&archive).arg(&object))?;
    copy(&archive, to)?;
    std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))
}

/// Copies the files of a folder and of those below it.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    let entries = std::fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))?;
    for entry in entries {
        let path = entry?.path();
        let place = to.join(path.file_name().context("an entry of a folder has a name")?);
        if path.is_dir() { copy_folder(&path, &place)? } else { copy(&path, &place)? }
    }
    Ok(())
}

pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    let folder = to.parent().context("a file lies in a folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    // A program may have the old library open: a new file leaves that one as it is.
    let beside = PathBuf::from(format!("{}.new", to.display()));
    std::fs::copy(from, &beside).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    std::fs::rename(&beside, to).with_context(|| format!("cannot write {}", to.display()))
}

#[cfg(unix)]
pub(crate) fn link(at: &Path, target: &str) -> Result<()> {
    if at.symlink_metadata().is_ok() {
        std::fs::remove_file(at).with_context(|| format!("cannot replace {}", at.display()))?;
    }
    std::os::unix::fs::symlink(target, at).with_context(|| format!("cannot link {}", at.display()))
}

#[cfg(not(unix))]
pub(crate) fn link(at: &Path, _target: &str) -> Result<()> {
    anyhow::bail!("{}: links are made on Unix only", at.display())
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

#[cfg(test)]
mod tests {
    #[test]
    fn functions_are_told_from_other_symbols() {
        let symbols = "\nclinalg_capi.o:\n0000 T clinalg_version\n0000 T clFinish\n0000 T clone\n0000 D clinalg_data\n0000 T _ZN7clinalg_3fooE\n";
        assert_eq!(super::functions(symbols).into_iter().collect::<Vec<_>>(), ["clFinish", "clinalg_version"]);
    }
}
