//! The test programs of the workspace: built once, with one choice of features, and run side by side.

use std::fmt;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::system::{self, Workspace};

/// A compiled test program.
pub(crate) struct Program {
    /// The package it tests.
    pub(crate) package: String,
    /// The target's name, that of the library or program for its unit tests.
    pub(crate) name: String,
    path: PathBuf,
    /// The package's folder, in which cargo would run it.
    folder: PathBuf,
}

impl Program {
    /// The command that runs it as cargo would.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }
}

/// Tests, or checks, by how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}

impl Counts {
    /// What test programs, or the examples of the documentation, say of themselves. Where one fails without a word, at
    /// least itself failed.
    pub(crate) fn of(said: &str, succeeded: bool) -> Counts {
        let mut counts = Counts::default();
        for line in said.lines().filter(|line| line.trim_start().starts_with("test result: ")) {
            let number = |what: &str| -> usize {
                let before = line.split_once(what).and_then(|(before, _)| before.trim_end().rsplit(' ').next());
                before.and_then(|number| number.parse().ok()).unwrap_or(0)
            };
            counts += Counts { passed: number(" passed"), failed: number(" failed"), skipped: number(" ignored") };
        }
        if !succeeded {
            counts.failed = counts.failed.max(1);
        }
        counts
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// How test programs ended.
pub(crate) struct Outcome {
    pub(crate) counts: Counts,
    /// The names of the programs that failed.
    pub(crate) failed: Vec<String>,
}

/// Builds the test programs of all packages, and what they run. Chosen one by one, packages would get dependencies
/// with fewer features, and be compiled once more.
pub(crate) fn build(workspace: &Workspace) -> Result<Vec<Program>> {
    let mut cargo = workspace.cargo();
    cargo.args(["test", "--workspace", "--no-run", "--message-format", "json-render-diagnostics"]);
    println!("$ {}", system::words(&cargo));
    let output = cargo.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("`{}` ended with {}", system::words(&cargo), output.status);
    }
    programs(&String::from_utf8_lossy(&output.stdout))
}

/// The test programs, from cargo's messages.
fn programs(messages: &str) -> Result<Vec<Program>> {
    let mut found = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Value = serde_json::from_str(line).context("cargo printed a line that is no JSON")?;
        let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
        let Some(path) = message["executable"].as_str().filter(|_| is_test) else { continue };
        let text = |value: &Value| value.as_str().map(str::to_owned).context("cargo names what it built");
        let manifest = PathBuf::from(text(&message["manifest_path"])?);
        let folder = manifest.parent().context("a manifest lies in a folder")?.to_owned();
        let package = folder.file_name().context("a package has a folder")?.to_string_lossy().into_owned();
        found.push(Program { package, name: text(&message["target"]["name"])?, path: path.into(), folder });
    }
    let turn = |p: &Program| LONGEST.iter().position(|l| *l == (&p.package, &p.name)).unwrap_or(LONGEST.len());
    found.sort_by(|a, b| (turn(a), &a.package, &a.name).cmp(&(turn(b), &b.package, &b.name)));
    Ok(found)
}

/// Packages and programs that begin first, so that no core waits for them in the end.
const LONGEST: [(&str, &str); 5] = [
    ("clinalg-ode", "tiles"),
    ("clinalg", "clinalg"),
    ("clinalg-ode", "device"),
    ("clinalg-mex", "octave"),
    ("clinalg-capi", "programs"),
];

/// Runs the programs, as many at once as there are cores, with these variables. Prints what each says when it ends, and
/// a table of their times.
pub(crate) fn run(programs: &[&Program], variables: &[(&str, &Path)]) -> Outcome {
    let results = system::parallel(programs, |program| {
        let start = Instant::now();
        let output = system::capture(program.command().envs(variables.iter().copied()));
        let (passed, said) = match &output {
            Ok(output) => (output.status.success(), system::text(output)),
            Err(error) => (false, error.to_string()),
        };
        println!("== {} {}\n{}\n", program.package, program.name, said.trim());
        (passed, start.elapsed(), Counts::of(&said, passed))
    });
    let times: Vec<_> = results.iter().map(|(passed, time, _)| (*passed, *time)).collect();
    println!("{}", table(programs, &times));
    let mut outcome = Outcome { counts: Counts::default(), failed: Vec::new() };
    for (program, (passed, _, counts)) in programs.iter().zip(results) {
        outcome.counts += counts;
        outcome.failed.extend((!passed).then(|| format!("{} {}", program.package, program.name)));
    }
    outcome
}

/// The programs with their times, the longest first.
fn table(programs: &[&Program], results: &[(bool, Duration)]) -> String {
    let mut rows: Vec<_> = programs.iter().zip(results).collect();
    rows.sort_by_key(|(_, (_, time))| std::cmp::Reverse(*time));
    let row = |(program, (passed, time)): (&&Program, &(bool, Duration))| {
        let words = if *passed { "" } else { "  FAILED" };
        format!("\n{:>7.1}  {} {}{words}", time.as_secs_f64(), program.package, program.name)
    };
    format!("seconds  tests{}", rows.into_iter().map(row).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = r#"
{"reason":"compiler-artifact","manifest_path":"/w/crates/b/Cargo.toml","target":{"name":"ops"},"profile":{"test":true},"executable":"/t/ops-1"}
{"reason":"compiler-artifact","manifest_path":"/w/crates/a/Cargo.toml","target":{"name":"a"},"profile":{"test":true},"executable":"/t/a-2"}
{"reason":"compiler-artifact","manifest_path":"/w/crates/a/Cargo.toml","target":{"name":"a"},"profile":{"test":false},"executable":"/t/a"}
{"reason":"compiler-artifact","manifest_path":"/w/crates/a/Cargo.toml","target":{"name":"a"},"profile":{"test":false},"executable":null}
{"reason":"build-finished","success":true}"#;

    #[test]
    fn test_programs_are_found_in_messages() {
        let found = programs(MESSAGES).unwrap();
        let names: Vec<_> = found.iter().map(|p| (p.package.as_str(), p.name.as_str())).collect();
        assert_eq!(names, [("a", "a"), ("b", "ops")]);
        assert_eq!(found[1].command().get_program(), "/t/ops-1");
        assert_eq!(found[1].command().get_current_dir(), Some(Path::new("/w/crates/b")));
        assert!(programs("{").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn failures_are_named() {
        let program = |name: &str| Program {
            package: "p".to_owned(),
            name: name.to_owned(),
            path: format!("/bin/{name}").into(),
            folder: "/".into(),
        };
        let programs = [program("true"), program("false"), program("no such program")];
        let outcome = run(&programs.iter().collect::<Vec<_>>(), &[]);
        assert_eq!(outcome.failed, ["p false", "p no such program"]);
        assert_eq!(outcome.counts.to_string(), "0 passed, 2 failed, 0 skipped");
    }

    #[test]
    fn tests_are_counted() {
        let said = "running 3 tests\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\n\
                    test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s\n";
        assert_eq!(Counts::of(said, false), Counts { passed: 12, failed: 2, skipped: 1 });
        assert_eq!(Counts::of("killed", false), Counts { failed: 1, ..Counts::default() });
        assert_eq!(Counts::of("", true), Counts::default());
    }

    #[test]
    fn the_longest_stands_first() {
        let programs = programs(MESSAGES).unwrap();
        let results = [(true, Duration::from_secs(1)), (false, Duration::from_secs(20))];
        let table = table(&programs.iter().collect::<Vec<_>>(), &results);
        assert_eq!(table, "seconds  tests\n   20.0  b ops  FAILED\n    1.0  a a");
    }
}
