//! What tests share: what to do where something that they need is missing, and what the bindings offer.
//!
//! A missing OpenCL device is a failure, so that no test passes by doing nothing. With `CLINALG_TEST_ALLOW_NO_DEVICE=1` the
//! test is skipped instead. Everything skipped is recorded with its reason; `cargo xtask test` counts and lists it.

pub mod bindings;

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;

/// Set to 1, tests that need a device are skipped where there is none.
pub const ALLOW_NO_DEVICE: &str = "CLINALG_TEST_ALLOW_NO_DEVICE";

/// The file to which what is skipped is appended, one line each: `test` or `part`, the program, the test, the reason, with tabs
/// between.
pub const RECORD: &str = "CLINALG_TEST_SKIPS";

/// Set to anything, tests take all kernels and methods in turn, not only those that the device would get.
pub const THOROUGH: &str = "CLINALG_TEST_THOROUGH";

/// Set to anything, tests take their long cases as well, and are thorough.
pub const LONG: &str = "CLINALG_TEST_LONG";

/// Whether every kernel and method is to be tested; on CPUs most of the time is spent on building kernels.
pub fn thorough() -> bool {
    is_set(THOROUGH) || long()
}

/// Whether the cases that take minutes are asked for.
pub fn long() -> bool {
    is_set(LONG)
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// The families of kernels to test: all of them in a [`thorough`] run, else only `None`, the one that suits the device.
pub fn families<F>(all: impl IntoIterator<Item = F>) -> Vec<Option<F>> {
    if thorough() { all.into_iter().map(Some).collect() } else { vec![None] }
}

/// What a test needs of OpenCL, such as the list of devices; `None` where it is missing and the test is to be skipped.
///
/// # Panics
/// With the error where it is missing and [`ALLOW_NO_DEVICE`] is not 1.
#[track_caller]
pub fn found<T>(device: Result<T, impl Display>) -> Option<T> {
    match device {
        Ok(device) => Some(device),
        Err(error) if std::env::var_os(ALLOW_NO_DEVICE).is_some_and(|value| value == "1") => {
            skip(error);
            None
        }
        Err(error) => panic!("{error}\n(with {ALLOW_NO_DEVICE}=1 this test is skipped)"),
    }
}

/// Records that the running test is skipped.
pub fn skip(reason: impl Display) {
    record("test", &reason.to_string());
}

/// Records that a part of the running test is skipped.
pub fn skip_part(reason: impl Display) {
    record("part", &reason.to_string());
}

fn record(what: &str, reason: &str) {
    eprintln!("skipped: {reason}");
    let Some(file) = std::env::var_os(RECORD) else { return };
    let program = std::env::args().next().unwrap_or_default();
    let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
    // libtest names the threads of tests.
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a thread of a test");
    let line = format!("{what}\t{program}\t{test}\t{}\n", reason.replace(['\n', '\t'], " "));
    let written =
        OpenOptions::new().create(true).append(true).open(&file).and_then(|mut f| f.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Runs in a child process only, where the variables are set.
    #[test]
    fn without_a_device() {
        if std::env::var_os("CLINALG_TESTING_CHILD").is_some() {
            assert_eq!(found(Err::<(), _>("no\tdevice\nat all")), None);
            skip_part("half");
        }
    }

    fn child(allowed: &str) -> (bool, String) {
        let record = std::env::temp_dir().join(format!("clinalg-testing-{}-{allowed}", std::process::id()));
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["tests::without_a_device", "--exact"]).env("CLINALG_TESTING_CHILD", "1");
        let output = command.env(ALLOW_NO_DEVICE, allowed).env(RECORD, &record).output().unwrap();
        let lines = std::fs::read_to_string(&record).unwrap_or_default();
        let _ = std::fs::remove_file(record);
        (output.status.success(), lines)
    }

    #[test]
    fn a_missing_device_is_a_failure_unless_allowed() {
        assert_eq!(child("0"), (false, String::new()));
        let (passed, lines) = child("1");
        let lines: Vec<Vec<&str>> = lines.lines().map(|line| line.split('\t').collect()).collect();
        assert!(passed && lines.len() == 2, "{lines:?}");
        for (line, (what, reason)) in lines.iter().zip([("test", "no device at all"), ("part", "half")]) {
            assert!(line[1].starts_with("clinalg_testing"), "{line:?}");
            assert_eq!((line[0], line[2], line[3]), (what, "tests::without_a_device", reason));
        }
    }

    #[test]
    fn what_is_there_is_given() {
        assert_eq!(found(Ok::<_, &str>(3)), Some(3));
    }
}
