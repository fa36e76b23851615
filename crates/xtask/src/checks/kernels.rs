//! The kernel files, the ways in which the library compiles them, and clang's warnings about them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result};
use clinalg_build::KernelFile;

use crate::opencl_c::Source;
use crate::outcome::Outcome;
use crate::system::{self, Workspace};

const KERNELS: &str = "kernels";
/// Where the kernels that the library makes at run time are written for the checks.
pub(crate) const GENERATED: &str = "target/ci/generated";
/// What the library puts before kernels that it makes at run time.
const COMMON: &str = "kernels/common.clh";

/// Items of a work-group as the library has it by default on a GPU.
const LOCAL: u32 = 256;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Precision {
    Single,
    Double,
}

/// One compilation of one kernel file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Build {
    /// Where the file is.
    folder: &'static str,
    /// The file's name without its ending.
    pub(crate) file: String,
    pub(crate) precision: Precision,
    /// `NAME=value`
    pub(crate) defines: Vec<String>,
    is_rounded: bool,
    has_doubles: bool,
    /// The file with what it includes.
    pub(crate) text: Arc<str>,
}

impl Build {
    /// What the compilation depends on besides the text and the target.
    pub(crate) fn options(&self, workspace: &Workspace) -> String {
        system::words(&self.clang(workspace))
    }

    /// Whether it is for GPUs: `CPU` and `PROCESSOR` make the kernels of CPUs.
    pub(crate) fn for_gpus(&self) -> bool {
        !self.defines.iter().any(|define| define.starts_with("CPU=") || define.starts_with("PROCESSOR="))
    }

    /// Ten times the compute capability of NVIDIA's GPUs that it is made for; 0 for builds for every device.
    pub(crate) fn capability(&self) -> u64 {
        let of = |name| self.defines.iter().find_map(|define| define.strip_prefix(name)?.parse().ok());
        of("TENSOR=").or_else(|| of("CAPABILITY=")).unwrap_or(0)
    }

    /// For tables and file names.
    pub(crate) fn title(&self) -> String {
        let precision = match self.precision {
            Precision::Single => "f32",
            Precision::Double => "f64",
        };
        let defines: Vec<String> = self.defines.iter().map(|d| format!("-{d}")).collect();
        format!("{}-{precision}{}", self.file, defines.concat())
    }

    /// clang for this build, with the options of the library's own builds; target and output are the caller's.
    pub(crate) fn clang(&self, workspace: &Workspace) -> Command {
        let mut clang = workspace.command("clang-19");
        clang.args(["-x", "cl", "-cl-std=CL1.2"]);
        if self.folder == GENERATED {
            clang.args(["-include", COMMON]);
        }
        clang.args(match self.precision {
            Precision::Single => ["-DREAL=float", "-DREAL_BITS=32", "-cl-single-precision-constant"].as_slice(),
            Precision::Double => ["-DREAL=double", "-DREAL_BITS=64"].as_slice(),
        });
        if self.is_rounded && self.precision == Precision::Single {
            clang.arg("-cl-fp32-correctly-rounded-divide-sqrt");
        }
        if !self.defines.iter().any(|define| define.starts_with("LOCAL=")) {
            clang.arg(format!("-DLOCAL={LOCAL}"));
        }
        clang.args(self.defines.iter().map(|d| format!("-D{d}")));
        clang.arg(format!("{}/{}.cl", self.folder, self.file));
        clang
    }
}

/// The names of the files that kernel files include, without ending.
pub(crate) fn headers(workspace: &Workspace) -> Result<Vec<String>> {
    names_in(workspace, KERNELS, "clh")
}

/// The names of the kernel files, without ending.
pub(crate) fn files(workspace: &Workspace) -> Result<Vec<String>> {
    names_in(workspace, KERNELS, "cl")
}

/// The names of the files in a folder that end in `.extension`, without it.
fn names_in(workspace: &Workspace, folder: &str, extension: &str) -> Result<Vec<String>> {
    let entries =
        std::fs::read_dir(workspace.path(folder)).with_context(|| format!("cannot read the folder {folder}"))?;
    let paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    let mut names: Vec<String> = (paths.iter())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort_unstable();
    Ok(names)
}

/// A sample of the kernels that the library makes at run time for methods of ordinary differential equations, written
/// anew to [`GENERATED`] by the first check that asks; their names without ending.
pub(crate) fn generated(workspace: &Workspace) -> Result<Vec<String>> {
    static NAMES: OnceLock<Result<Vec<String>, String>> = OnceLock::new();
    let write = || {
        system::fresh_folder(&workspace.path(GENERATED))?;
        let sources = workspace.build_example("sources")?;
        system::capture_ok(workspace.command(sources).arg(GENERATED))?;
        names_in(workspace, GENERATED, "cl")
    };
    let names = NAMES.get_or_init(|| write().map_err(|error| format!("{error:#}")));
    names.clone().map_err(anyhow::Error::msg)
}

/// Builds of [`generated`] kernels.
pub(crate) fn generated_builds(workspace: &Workspace) -> Result<Vec<Build>> {
    let common = KernelFile::resolved(&workspace.path(COMMON))?;
    let build = |file: String| {
        let own = std::fs::read_to_string(workspace.path(format!("{GENERATED}/{file}.cl")))?;
        let (folder, precision, defines) = (GENERATED, Precision::Double, Vec::new());
        let text = Arc::from(common.clone() + &own);
        Ok(Build { folder, file, precision, defines, is_rounded: false, has_doubles: false, text })
    };
    generated(workspace)?.into_iter().map(build).collect()
}

/// Every way in which the library compiles the kernel files, as their headers say.
pub(crate) fn builds(workspace: &Workspace) -> Result<Vec<Build>> {
    let mut builds = Vec::new();
    for name in files(workspace)? {
        let file = KernelFile::read(&workspace.path(format!("{KERNELS}/{name}.cl")))?;
        builds.extend(builds_of(&name, &file));
    }
    Ok(builds)
}

/// The builds of the kernel file `name`, in both precisions.
fn builds_of(name: &str, file: &KernelFile) -> Vec<Build> {
    let mut builds = Vec::new();
    let text: Arc<str> = Arc::from(file.text.as_str());
    for build in &file.builds {
        let defines: Vec<String> = build.defines.iter().map(|(name, value)| format!("{name}={value}")).collect();
        for precision in [Precision::Single, Precision::Double] {
            let (is_rounded, has_doubles) = (file.is_rounded, file.has_doubles);
            let (folder, file, defines, text) = (KERNELS, name.to_owned(), defines.clone(), text.clone());
            let build = Build { folder, file, precision, defines, is_rounded, has_doubles, text };
            // Tensor cores are used in double precision only.
            if precision == Precision::Double || !build.defines.iter().any(|define| define.starts_with("TENSOR=")) {
                builds.push(build);
            }
        }
    }
    builds
}

/// Names whose definition `#ifdef` or `defined` asks for in `text` and that nothing defines: neither a build nor the
/// file, nor the compiler, whose names begin with two underscores or with `cl_`.
fn unknown_switches(text: &str, defines: &BTreeSet<&str>) -> Vec<String> {
    let own: BTreeSet<&str> = Source::parse(text).macros.iter().map(|m| m.name).collect();
    let mut unknown = Vec::new();
    for line in text.lines() {
        let Some(directive) = line.trim_start().strip_prefix('#') else { continue };
        let mut words = directive.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        while let Some(word) = words.next() {
            if !matches!(word, "ifdef" | "ifndef" | "defined") {
                continue;
            }
            let name = words.next().unwrap_or_default();
            let from_compiler = name.starts_with("__") || name.starts_with("cl_");
            if !(from_compiler || own.contains(name) || defines.contains(name)) {
                unknown.push(name.to_owned());
            }
        }
    }
    unknown
}

/// Compiles every build with warnings as errors, for a neutral target where there is one.
pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let builds = builds(workspace)?;
    let mut failures = Vec::new();
    let named = |names: Vec<String>, extension: &'static str| {
        names.into_iter().map(move |name| (name.clone(), format!("{KERNELS}/{name}.{extension}")))
    };
    for (name, path) in named(headers(workspace)?, "clh").chain(named(files(workspace)?, "cl")) {
        let text = std::fs::read_to_string(workspace.path(&path))?;
        let is_header = path.ends_with(".clh");
        let defines = builds.iter().filter(|b| b.file == name || is_header).flat_map(|b| &b.defines);
        let defines = defines.filter_map(|d| d.split('=').next()).collect();
        for switch in unknown_switches(&text, &defines) {
            failures.push(format!("{path} asks for {switch}, which no `//@ build` line defines"));
        }
    }
    failures.extend(
        system::parallel(&builds, |build| warnings(workspace, build).err())
            .into_iter()
            .flatten()
            .map(|error| format!("{error:#}")),
    );
    for failure in &failures {
        println!("{failure}");
    }
    Ok(match failures.len() {
        0 => Outcome::ok(format!("{} builds", builds.len())),
        n => Outcome::failed(format!("{n} of {} builds", builds.len())),
    })
}

fn warnings(workspace: &Workspace, build: &Build) -> Result<()> {
    let mut clang = build.clang(workspace);
    // A neutral target knows no vendor's instructions.
    let target = if build.capability() == 0 { "spir64-unknown-unknown" } else { "nvptx64-nvidia-cuda" };
    clang.args(["-fsyntax-only", "-nogpulib", "-target", target, "-Xclang", "-finclude-default-header"]);
    clang.args(["-Wall", "-Wextra", "-Werror", "-Wdouble-promotion", "-Wimplicit-float-conversion"]);
    clang.args(["-Wshorten-64-to-32", "-Wshadow"]);
    if build.precision == Precision::Single && !build.has_doubles {
        clang.args(["-Xclang", "-cl-ext=-cl_khr_fp64"]);
    }
    system::capture_ok(&mut clang).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builds_of(name: &str, text: &str) -> Vec<Build> {
        super::builds_of(name, &KernelFile::parse(name, text).unwrap())
    }

    #[test]
    fn each_file_is_built_in_both_precisions() {
        let builds = builds_of("csr", "// comment\n//@ build\n//@ build LANES=8 X=1\n");
        let titles: Vec<String> = builds.iter().map(Build::title).collect();
        assert_eq!(titles, ["csr-f32", "csr-f64", "csr-f32-LANES=8-X=1", "csr-f64-LANES=8-X=1"]);
        let titles: Vec<String> = builds_of("vector", "// comment\n").iter().map(Build::title).collect();
        assert_eq!(titles, ["vector-f32", "vector-f64"]);
    }

    #[test]
    fn builds_for_tensor_cores_are_in_double_precision_only() {
        let builds = builds_of("csr", "//@ build\n//@ build TENSOR=90 X=1\n//@ build CAPABILITY=80\n");
        let capabilities: Vec<(String, u64)> = builds.iter().map(|b| (b.title(), b.capability())).collect();
        let expected = [
            ("csr-f32", 0),
            ("csr-f64", 0),
            ("csr-f64-TENSOR=90-X=1", 90),
            ("csr-f32-CAPABILITY=80", 80),
            ("csr-f64-CAPABILITY=80", 80),
        ];
        assert_eq!(capabilities, expected.map(|(title, capability)| (title.to_owned(), capability)));
    }

    #[test]
    fn switches_that_no_build_sets_are_found() {
        let text = "#define OWN 1\n#ifdef OWN\n#endif\n#ifdef LANES\n# ifndef WIDE\n#endif\n#endif\n\
                    #if REAL_BITS == 64\n#endif\n#if defined(STREAM) && defined(__has_builtin)\n#endif\n";
        assert_eq!(unknown_switches(text, &BTreeSet::from(["LANES"])), ["WIDE", "STREAM"]);
        assert_eq!(unknown_switches(text, &BTreeSet::new()), ["LANES", "WIDE", "STREAM"]);
    }

    #[test]
    fn every_kernel_file_of_the_repository_has_a_build() {
        let workspace = Workspace::find().unwrap();
        let builds = builds(&workspace).unwrap();
        for file in super::files(&workspace).unwrap() {
            assert!(builds.iter().any(|build| build.file == file), "{file}");
        }
    }
}
