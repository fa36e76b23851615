//! The test programs of the workspace: built once, with one choice of features, and run side by side.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::setup;
use crate::system::{self, Workspace};

/// A compiled test program.
#[derive(Clone)]
pub(crate) struct Program {
    /// The package it tests.
    pub(crate) package: String,
    /// The target's name, that of the library or program for its unit tests.
    pub(crate) name: String,
    path: PathBuf,
    /// The package's folder, in which cargo would run it.
    folder: PathBuf,
    /// The tests that run: those whose names contain one of these words; all where there are none.
    only: Vec<String>,
}

impl Program {
    /// The command that runs it as cargo would.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder).args(&self.only);
        command
    }

    /// The program with those of its tests alone whose names contain one of these words; with all if there are none.
    pub(crate) fn only(&self, words: &[&str]) -> Program {
        Program { only: words.iter().map(|&word| word.to_owned()).collect(), ..self.clone() }
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
    pub(crate) failed: Vec<Failure>,
}

/// What failed, and the end of what it said.
pub(crate) struct Failure {
    pub(crate) name: String,
    said: String,
}

impl Failure {
    /// Enough for the messages of a few failing tests.
    const LINES: usize = 40;

    pub(crate) fn new(name: impl Into<String>, said: &str) -> Failure {
        // A long list of tests that passed would hide the others.
        let lines: Vec<_> = said.trim().lines().filter(|line| !line.ends_with(" ... ok")).collect();
        let last = &lines[lines.len().saturating_sub(Self::LINES)..];
        Failure { name: name.into(), said: last.join("\n") }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "== failed: {}\n{}\n", self.name, self.said)
    }
}

/// Builds the test programs of all packages, and what they run.
pub(crate) fn build(workspace: &Workspace) -> Result<Vec<Program>> {
    build_some(workspace, workspace.packages())
}

/// Builds the test programs of what the words for cargo choose; not the examples, which clippy checks.
pub(crate) fn build_some(workspace: &Workspace, chosen: &[&str]) -> Result<Vec<Program>> {
    let mut cargo = workspace.cargo();
    cargo.arg("test").args(chosen).args(["--tests", "--no-run", "--message-format", "json-render-diagnostics"]);
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
        let name = text(&message["target"]["name"])?;
        found.push(Program { package, name, path: path.into(), folder, only: Vec::new() });
    }
    let turn = |p: &Program| LONGEST.iter().position(|l| *l == (&p.package, &p.name)).unwrap_or(LONGEST.len());
    found.sort_by(|a, b| (turn(a), &a.package, &a.name).cmp(&(turn(b), &b.package, &b.name)));
    Ok(found)
}

/// Packages and programs that begin first, so that no core waits for them in the end.
const LONGEST: [(&str, &str); 9] = [
    ("tests", "ode-methods"),
    ("tests", "core-operations"),
    ("tests", "core-grids"),
    ("clinalg-cli", "cli"),
    ("clinalg-mex", "octave"),
    ("clinalg", "clinalg"),
    ("tests", "core-systems"),
    ("tests", "bem-elements"),
    ("clinalg-capi", "programs"),
];

/// How many tests of a program run at once, as its harness reads it.
const THREADS: &str = "RUST_TEST_THREADS";

/// Runs the programs, as many at once as there are cores, with these variables. Prints what each says when it ends, and
/// a table of their times.
pub(crate) fn run(programs: &[&Program], variables: &[(&str, &Path)]) -> Outcome {
    let record = record();
    let results = system::parallel(programs, |program| {
        let start = Instant::now();
        let mut command = program.command();
        command.envs(variables.iter().copied()).env(setup::SKIPS, &record);
        // There is a program for each core already, and PoCL 3.1 compiles one kernel at a time in a process.
        if std::env::var_os(THREADS).is_none() {
            command.env(THREADS, "1");
        }
        let output = system::capture(&mut command);
        let (passed, said) = match &output {
            Ok(output) if output.status.success() => (true, system::text(output)),
            // A program that crashed says nothing itself.
            Ok(output) => (false, format!("{}\nended with {}", system::text(output), output.status)),
            Err(error) => (false, error.to_string()),
        };
        let name = format!("{} {}", program.package, program.name);
        println!("== {name}\n{}\n", said.trim());
        let failure = (!passed).then(|| Failure::new(name, &said));
        (start.elapsed(), Counts::of(&said, passed), failure)
    });
    let times: Vec<_> = results.iter().map(|(time, _, failure)| (failure.is_none(), *time)).collect();
    println!("{}", table(programs, &times));
    let mut outcome = Outcome { counts: Counts::default(), failed: Vec::new() };
    for (_, counts, failure) in results {
        outcome.counts += counts;
        outcome.failed.extend(failure);
    }
    // Without the file nothing was skipped.
    let skips = Skips::read(&std::fs::read_to_string(&record).unwrap_or_default());
    let _ = std::fs::remove_file(&record);
    print!("{skips}");
    // The harness counts a test that skipped itself among those that passed.
    let skipped = skips.tests().min(outcome.counts.passed);
    outcome.counts.passed -= skipped;
    outcome.counts.skipped += skipped;
    outcome
}

/// A file of its own for each run.
fn record() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("clinalg-skips-{}-{number}", std::process::id()))
}

/// What tests recorded as skipped, each once: the kind (`test` or `part`), program and test, reason.
struct Skips(BTreeSet<[String; 4]>);

impl Skips {
    fn read(lines: &str) -> Skips {
        let fields = |line: &str| {
            let mut fields = line.splitn(4, '\t').map(str::to_owned);
            Some([fields.next()?, fields.next()?, fields.next()?, fields.next()?])
        };
        Skips(lines.lines().filter_map(fields).collect())
    }

    /// How many tests were skipped as a whole.
    fn tests(&self) -> usize {
        let whole = self.0.iter().filter(|[kind, ..]| kind == "test");
        whole.map(|[_, program, test, _]| (program, test)).collect::<BTreeSet<_>>().len()
    }
}

impl fmt::Display for Skips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|[kind, program, test, reason]| {
            // Cargo adds a hash to a program's name.
            let program = program.rsplit_once('-').map_or(program.as_str(), |(name, _)| name);
            writeln!(f, "skipped {kind}: {program} {test}: {reason}")
        })
    }
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
            only: Vec::new(),
        };
        let programs = [program("true"), program("false"), program("no such program")];
        let outcome = run(&programs.iter().collect::<Vec<_>>(), &[]);
        let names: Vec<_> = outcome.failed.iter().map(|failure| failure.name.as_str()).collect();
        assert_eq!(names, ["p false", "p no such program"]);
        assert_eq!(outcome.counts.to_string(), "0 passed, 2 failed, 0 skipped");
    }

    #[test]
    fn failures_end_with_their_messages() {
        let said = format!("test a ... ok\n{}test b ... FAILED\nwhy\n", "line\n".repeat(100));
        let told = Failure::new("p b", &said).to_string();
        assert!(told.starts_with("== failed: p b\nline\n") && told.ends_with("test b ... FAILED\nwhy\n"), "{told}");
        assert_eq!(told.lines().count(), Failure::LINES + 1);
        assert_eq!(Failure::new("p a", "test a ... ok").to_string(), "== failed: p a\n\n");
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
    fn what_is_skipped_is_listed_once() {
        let lines = "part\tops-12ab\tproducts\tno fp64\ntest\tops-12ab\tsums\tno device\ntest\tops-12ab\tsums\tno device\n\
                     test\truntime-7\tlists\tno device\nno line of a test\n";
        let skips = Skips::read(lines);
        assert_eq!(skips.tests(), 2);
        let expected = "skipped part: ops products: no fp64\nskipped test: ops sums: no device\n\
                        skipped test: runtime lists: no device\n";
        assert_eq!(skips.to_string(), expected);
    }

    #[test]
    fn the_longest_stands_first() {
        let programs = programs(MESSAGES).unwrap();
        let results = [(true, Duration::from_secs(1)), (false, Duration::from_secs(20))];
        let table = table(&programs.iter().collect::<Vec<_>>(), &results);
        assert_eq!(table, "seconds  tests\n   20.0  b ops  FAILED\n    1.0  a a");
    }
}
