//! The gateway in a stand-in for MATLAB (`tests/mex`): both naming schemes, errors by exceptions and by `longjmp`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use common::{library, run};

mod common;

/// Random steps of each run; `CLINALG_FUZZ` sets another number.
const STEPS: &str = "20000";

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mex")
}

/// The stand-in, compiled with `defines`.
fn build(name: &str, defines: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let compile = |file: &str, output: &str, more: &[&str]| {
        let mut command = Command::new(&compiler);
        command.args(["-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fPIC"]).args(defines);
        command.arg(sources().join(file)).arg("-o").arg(folder.join(output)).args(more);
        if output.ends_with(".so") {
            command.arg("-shared");
        }
        command.arg(format!("-L{}", folder.display())).arg("-Wl,-rpath,$ORIGIN");
        run(&mut command).unwrap();
    };
    compile("libmx.cpp", "libmx.so", &[]);
    compile("libmex.cpp", "libmex.so", &["-lmx"]);
    compile("cases.cpp", "cases.so", &["-Wl,--no-as-needed", "-lmx", "-lmex"]);
    compile("host.cpp", "host", &[]);
    std::fs::copy(library(), folder.join("clinalg_mex.mexa64")).unwrap();
    folder
}

fn host(folder: &Path, mode: &str, scope: &str, errors: &str) -> Command {
    let steps = std::env::var("CLINALG_FUZZ").unwrap_or_else(|_| STEPS.into());
    let mut command = Command::new(folder.join("host"));
    command.arg(folder.join("cases.so")).arg(mode).arg(folder.join("clinalg_mex.mexa64")).args([scope, errors, &steps]);
    command
}

/// MATLAB from R2018a on.
fn recent() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| build("recent", &[]))
}

/// MATLAB before R2018a.
fn older() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| build("older", &["-DBEFORE_R2018A"]))
}

fn passes(folder: &Path, scope: &str, errors: &str) {
    let text = run(&mut host(folder, "all", scope, errors)).unwrap();
    print!("{text}");
    assert!(text.ends_with("passed\n"), "{text}");
}

#[test]
fn recent_matlab_with_exceptions() {
    passes(recent(), "global", "throw");
}

#[test]
fn recent_matlab_with_jumps() {
    passes(recent(), "global", "jump");
}

#[test]
fn recent_matlab_that_keeps_its_libraries_to_itself() {
    passes(recent(), "local", "throw");
}

#[test]
fn older_matlab_with_exceptions() {
    passes(older(), "local", "throw");
}

#[test]
fn older_matlab_with_jumps() {
    passes(older(), "global", "jump");
}

#[test]
fn a_machine_without_devices_gives_advice() {
    let text = run(host(recent(), "no-device", "global", "throw").env("OCL_ICD_VENDORS", "/nonexistent")).unwrap();
    assert!(text.ends_with("passed\n"), "{text}");
}

#[test]
fn a_missing_function_of_the_host_is_named() {
    let folder = build("lacking", &["-DLACKS_STRUCTURES"]);
    for errors in ["throw", "jump"] {
        let text = run(&mut host(&folder, "missing", "global", errors)).unwrap();
        assert!(text.ends_with("passed\n"), "{text}");
    }
}

/// The symbols of a shared library that others can see.
fn visible(flag: &str) -> Vec<String> {
    let text = run(Command::new("nm").args(["-D", flag]).arg(library())).unwrap();
    text.lines().filter_map(|line| line.split_whitespace().last()).map(|s| s.to_owned()).collect()
}

#[test]
fn the_library_shows_two_functions_and_needs_none_of_the_host_or_of_opencl() {
    assert_eq!(visible("--defined-only"), ["mexFunction", "mexfilerequiredapiversion"]);
    for name in visible("--undefined-only") {
        let name = name.split('@').next().unwrap();
        let opencl = name.strip_prefix("cl").is_some_and(|rest| rest.starts_with(char::is_uppercase));
        assert!(!name.starts_with("mx") && !name.starts_with("mex") && !opencl, "{name}");
        assert!(!name.starts_with("_ZNS") && !name.starts_with("_ZS"), "{name} is libstdc++'s");
    }
}
