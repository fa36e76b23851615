//! The C library as installed: found by CMake and pkg-config after a move, a million random calls, valgrind.

use std::f64::consts::PI;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::install;
use crate::outcome::Outcome;
use crate::products::Products;
use crate::setup;
use crate::system::{self, Workspace};

/// Below the root.
const FOLDER: &str = "target/ci/capi";
/// Random calls, and how long they may take. They take half a minute on one core.
const CALLS: &str = "1000000";
const FUZZ_LIMIT: Duration = Duration::from_secs(900);
/// Random calls under valgrind, and how long they may take; most of it is PoCL compiling three kernels.
const WATCHED_CALLS: &str = "5000";
const VALGRIND_LIMIT: Duration = Duration::from_secs(900);
/// The exit code by which valgrind says that it found something.
const FOUND: &str = "9";

/// An installed library and the one driver that its programs run on.
struct Installed {
    prefix: PathBuf,
    icd_folder: PathBuf,
    /// Where programs are built.
    programs: PathBuf,
}

impl Installed {
    fn new(workspace: &Workspace, name: &str) -> Result<Installed> {
        let prefix = workspace.path(FOLDER).join(name);
        system::fresh_folder(&prefix)?;
        install::place(workspace, &Products::build(workspace)?, &prefix)?;
        Installed::at(workspace, prefix, workspace.path(FOLDER).join("programs").join(name))
    }

    /// The library that lies below `prefix`.
    fn at(workspace: &Workspace, prefix: PathBuf, programs: PathBuf) -> Result<Installed> {
        let library = setup::pocl_icd().context("PoCL's ICD file is gone")?;
        Ok(Installed { prefix, icd_folder: setup::icd_folder(workspace, "pocl", &library)?, programs })
    }

    /// Moves the folder; nothing is left where it was.
    fn move_to(self, prefix: PathBuf) -> Result<Installed> {
        if prefix.exists() {
            std::fs::remove_dir_all(&prefix)?;
        }
        std::fs::rename(&self.prefix, &prefix).with_context(|| format!("cannot move to {}", prefix.display()))?;
        Ok(Installed { prefix, ..self })
    }

    /// A program that finds the shared library and sees PoCL alone.
    fn program(&self, workspace: &Workspace, path: &Path) -> Command {
        let mut program = workspace.command(path);
        program.env("LD_LIBRARY_PATH", self.prefix.join("lib")).env("OCL_ICD_VENDORS", &self.icd_folder);
        program
    }

    /// Compiles one file with what pkg-config says.
    fn compile(&self, workspace: &Workspace, language: &Language, file: &str, more: &[&str]) -> Result<PathBuf> {
        let stem = Path::new(file).file_stem().context("a source file has a name")?;
        let programs = &self.programs;
        std::fs::create_dir_all(programs).with_context(|| format!("cannot create {}", programs.display()))?;
        let program = programs.join(stem);
        let mut ask = Command::new("pkg-config");
        ask.args(["--cflags", "--libs", "clinalg"]).env("PKG_CONFIG_PATH", self.prefix.join("lib/pkgconfig"));
        let flags = system::text(&system::capture_ok(&mut ask)?);
        let mut compiler =
            workspace.command(std::env::var_os(language.variable).unwrap_or_else(|| language.compiler.into()));
        compiler.args([language.standard, "-O1", "-g", "-Wall", "-Wextra", "-pedantic", "-Werror"]);
        compiler.arg(file).arg("-o").arg(&program).args(flags.split_whitespace()).args(more);
        system::run(&mut compiler)?;
        Ok(program)
    }

    /// Builds and runs the examples with CMake and with pkg-config.
    fn try_examples(&self, workspace: &Workspace) -> Result<()> {
        ensure_named(&self.prefix)?;
        let (examples, package) = (self.programs.join("cmake"), self.programs.join("package"));
        cmake(self, &workspace.path("examples/cpp"), &examples)?;
        cmake(self, &workspace.path("tests/capi/package"), &package)?;
        // CMake writes into its programs where the library lies.
        let found = |program: PathBuf| {
            let mut command = workspace.command(program);
            command.env("OCL_ICD_VENDORS", &self.icd_folder);
            command
        };
        let matrix = "tests/data/heat_sink.mtx";
        poisson(&output_of(found(examples.join("poisson")).arg("129"))?)?;
        system_of_file(&output_of(found(examples.join("system")).arg(matrix))?)?;
        for library in ["clinalg", "static"] {
            first(&output_of(&mut found(package.join(format!("first_{library}"))))?)?;
        }

        let program = |language, file| self.compile(workspace, language, file, &[]);
        first(&output_of(&mut self.program(workspace, &program(&C, "examples/c/first.c")?))?)?;
        poisson(&output_of(self.program(workspace, &program(&CXX, "examples/cpp/poisson.cpp")?).arg("129"))?)?;
        let solved = output_of(self.program(workspace, &program(&CXX, "examples/cpp/system.cpp")?).arg(matrix))?;
        system_of_file(&solved)
    }
}

struct Language {
    /// The variable that names another compiler.
    variable: &'static str,
    compiler: &'static str,
    standard: &'static str,
}

const C: Language = Language { variable: "CC", compiler: "cc", standard: "-std=c99" };
const CXX: Language = Language { variable: "CXX", compiler: "c++", standard: "-std=c++11" };

/// Runs a program and gives what it prints.
fn output_of(command: &mut Command) -> Result<String> {
    println!("$ {}", system::words(command));
    let text = system::text(&system::capture_ok(command)?);
    println!("{text}");
    Ok(text)
}

/// Installs, moves, and builds and runs the examples with CMake and with pkg-config.
pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let installed = Installed::new(workspace, "first")?;
    let installed = installed.move_to(workspace.path(FOLDER).join("moved"))?;
    installed.try_examples(workspace)?;
    Ok(Outcome::ok("CMake and pkg-config, C99 and C++11, shared and static"))
}

/// Builds and runs the examples with the library below `prefix`, their programs in `programs`.
pub(crate) fn try_library(workspace: &Workspace, prefix: PathBuf, programs: &Path) -> Result<()> {
    Installed::at(workspace, prefix, programs.to_owned())?.try_examples(workspace)
}

/// The shared library's soname must be the name of the link that programs look for, and that of the file its version.
fn ensure_named(prefix: &Path) -> Result<()> {
    let lib = prefix.join("lib");
    let file = std::fs::canonicalize(lib.join("libclinalg.so"))?;
    let dynamic = system::capture_ok(Command::new("readelf").arg("-d").arg(&file))?;
    let soname = soname(&system::text(&dynamic)).context("the shared library has no soname")?;
    ensure!(std::fs::canonicalize(lib.join(&soname))? == file, "{soname} is not {}", file.display());
    let version = format!("libclinalg.so.{}", env!("CARGO_PKG_VERSION"));
    ensure!(file.ends_with(&version), "the library is {} instead of {version}", file.display());
    ensure!(version.starts_with(&soname), "{version} has the soname {soname}");
    Ok(())
}

/// The soname in the output of `readelf -d`.
fn soname(dynamic: &str) -> Option<String> {
    let line = dynamic.lines().find(|line| line.contains("(SONAME)"))?;
    Some(line.split_once('[')?.1.split_once(']')?.0.to_owned())
}

fn cmake(installed: &Installed, source: &Path, build: &Path) -> Result<()> {
    system::fresh_folder(build)?;
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(source).arg("-B").arg(build).arg("-DCMAKE_BUILD_TYPE=Release");
    configure.arg(format!("-DCMAKE_PREFIX_PATH={}", installed.prefix.display()));
    system::run(&mut configure)?;
    system::run(Command::new("cmake").arg("--build").arg(build))
}

/// The number after `words`.
fn number(text: &str, words: &str) -> Result<f64> {
    let after = text.split_once(words).map(|(_, after)| after.split([',', ' ', '\n']).next().unwrap_or_default());
    let number = after.and_then(|number| number.parse().ok());
    number.with_context(|| format!("`{words}` and a number are missing in: {text}"))
}

/// The stencil's own error at N = 129 is about pi^2 h^2 / 12.
fn poisson(text: &str) -> Result<()> {
    let error = number(text, "largest error ")?;
    let expected = PI * PI / 12.0 / 128.0_f64.powi(2);
    ensure!((error / expected - 1.0).abs() < 0.1, "error {error:.3e} instead of {expected:.3e}: {text}");
    Ok(())
}

fn system_of_file(text: &str) -> Result<()> {
    ensure!(text.starts_with("26794 x 26794, 181746 entries"), "another matrix: {text}");
    ensure!(number(text, "relative residual ")? <= 1e-10, "the residual is large: {text}");
    ensure!(number(text, "largest error ")? <= 1e-6, "the solution is not ones: {text}");
    Ok(())
}

fn first(text: &str) -> Result<()> {
    ensure!(text.starts_with("x = 1 2 3 "), "x = 1 2 3 expected: {text}");
    Ok(())
}

/// A million random calls, checked against a model and by sanitizers, and eight threads at once.
pub(crate) fn fuzz(workspace: &Workspace) -> Result<Outcome> {
    let installed = Installed::new(workspace, "fuzz")?;
    let sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-lm"];
    let fuzz = installed.compile(workspace, &C, "tests/capi/fuzz.c", &sanitizers)?;
    let mut command = installed.program(workspace, &fuzz);
    // What drivers keep until the end is no leak of ours; the program counts the bytes on the device itself.
    command.arg(CALLS).env("ASAN_OPTIONS", "detect_leaks=0");
    println!("$ {}", system::words(&command));
    let (output, _) = system::capture_within(&mut command, FUZZ_LIMIT)?;
    let said = system::text(&output);
    println!("{said}");
    let threads = installed.compile(workspace, &CXX, "tests/capi/threads.cpp", &["-pthread"])?;
    let of_threads = output_of(&mut installed.program(workspace, &threads))?;
    Ok(if output.status.success() {
        Outcome::ok(format!("{said}; {of_threads}"))
    } else {
        Outcome::failed(format!("the random calls ended with {}", output.status))
    })
}

/// The host part under valgrind: no wrong access, and nothing lost but what the suppressions list.
pub(crate) fn valgrind(workspace: &Workspace) -> Result<Outcome> {
    let installed = Installed::new(workspace, "valgrind")?;
    let fuzz = installed.compile(workspace, &C, "tests/capi/fuzz.c", &["-lm"])?;
    let log = workspace.path(FOLDER).join("valgrind.log");
    let mut command = installed.program(workspace, Path::new("valgrind"));
    command.args(["--leak-check=full", "--show-leak-kinds=definite,indirect", "--errors-for-leak-kinds=definite"]);
    command.args(["--num-callers=40", &format!("--error-exitcode={FOUND}")]);
    command.arg("--suppressions=tests/capi/valgrind.supp").arg(format!("--log-file={}", log.display()));
    command.arg(&fuzz).args([WATCHED_CALLS, "1", "host"]);
    // Binaries for the cache would make PoCL compile every kernel, which takes minutes here.
    command.env("CLINALG_CACHE_DIR", "");
    println!("$ {}", system::words(&command));
    let (output, _) = system::capture_within(&mut command, VALGRIND_LIMIT)?;
    let said = system::text(&output);
    let found = std::fs::read_to_string(&log).context("valgrind wrote no log")?;
    if !output.status.success() {
        bail!("valgrind ended with {}\n{said}\n{found}", output.status);
    }
    let calls = said.lines().find(|line| line.contains(" calls, ")).unwrap_or_default();
    println!("{calls}");
    Ok(Outcome::ok(calls))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soname_is_read() {
        let dynamic =
            " 0x01 (NEEDED)  Shared library: [libm.so.6]\n 0x0e (SONAME)  Library soname: [libclinalg.so.0.1]\n";
        assert_eq!(soname(dynamic).as_deref(), Some("libclinalg.so.0.1"));
        assert_eq!(soname(" 0x01 (NEEDED)  Shared library: [libm.so.6]"), None);
    }

    #[test]
    fn numbers_are_checked() {
        let poisson_says = |error| format!("N = 129: 9 cycles, relative residual 1.0e-10, largest error {error}");
        assert!(poisson(&poisson_says("5.020e-05")).is_ok());
        assert!(poisson(&poisson_says("6.020e-05")).is_err());
        assert!(poisson("").is_err());
        let system_says = |residual, error| {
            format!("26794 x 26794, 181746 entries: 80 iterations, relative residual {residual}, largest error {error}")
        };
        assert!(system_of_file(&system_says("9e-11", "2e-08")).is_ok());
        assert!(system_of_file(&system_says("9e-9", "2e-08")).is_err());
        assert!(system_of_file(&system_says("9e-11", "nan")).is_err());
        assert!(first("x = 1 2 3 after 3 iterations").is_ok());
        assert!(first("x = 1 2 4 after 3 iterations").is_err());
    }
}
