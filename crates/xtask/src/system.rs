//! Paths, programs and processes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Set, tests also take the cases that take minutes.
pub(crate) const LONG_TESTS: &str = "CLINALG_TEST_LONG";

/// Set, tests take every family of kernels and every method.
pub(crate) const THOROUGH_TESTS: &str = "CLINALG_TEST_THOROUGH";

/// A cargo profile, as far as it matters where the program lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Profile {
    /// Quick to build, slow to run
    Dev,
    /// What users build
    Release,
    /// What users download: as fast as it gets, slow to build
    Dist,
}

impl Profile {
    /// Words for cargo.
    pub(crate) fn words(self) -> &'static [&'static str] {
        match self {
            Profile::Dev => &[],
            Profile::Release => &["--release"],
            Profile::Dist => &["--profile", "dist"],
        }
    }

    /// The folder of its products.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Profile::Dev => "debug",
            Profile::Release => "release",
            Profile::Dist => "dist",
        }
    }
}

/// The root of the repository.
pub(crate) struct Workspace {
    root: PathBuf,
    /// Whether the cases that take minutes are asked for, by `--long` or [`LONG_TESTS`].
    pub(crate) long: bool,
    /// Whether tests are to take every family of kernels and every method, by `--thorough` or [`THOROUGH_TESTS`].
    pub(crate) thorough: bool,
}

/// Whether this runs in CI: `.ci/run` and CI services set `CI=true`.
pub(crate) fn on_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

impl Workspace {
    pub(crate) fn find() -> Result<Workspace> {
        let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&package).ancestors().nth(2).context("xtask lies in crates/xtask")?.to_owned();
        let set = |name| std::env::var_os(name).is_some();
        Ok(Workspace { root, long: set(LONG_TESTS), thorough: set(THOROUGH_TESTS) })
    }

    pub(crate) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// `cargo`, the one that started this program, at the root.
    pub(crate) fn cargo(&self) -> Command {
        self.command(std::env::var_os("CARGO").unwrap_or("cargo".into()))
    }

    /// A program, run at the root.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }

    /// The words for cargo that choose the packages to test. Chosen one by one, packages would get dependencies with fewer
    /// features, and be compiled once more. cbindgen, which compares the C header with its crate, is compiled for thorough runs and
    /// on CI only.
    pub(crate) fn packages(&self) -> &'static [&'static str] {
        if self.thorough || on_ci() { &["--workspace"] } else { &["--workspace", "--exclude", "clinalg-header"] }
    }

    /// Builds the program `clinalg`.
    pub(crate) fn build_program(&self, profile: Profile) -> Result<()> {
        run(self.cargo().args(["build", "--package", "clinalg-cli"]).args(profile.words()))
    }

    /// Builds an example and gives its path. Built for its package alone, the core would be compiled once more, for
    /// dependencies with fewer features than the tests have them.
    pub(crate) fn build_example(&self, name: &str) -> Result<PathBuf> {
        capture_ok(self.cargo().args(["build", "--quiet", "--workspace", "--example", name]))?;
        Ok(self.built(Profile::Dev).join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
    }

    /// Where [`build_program`](Self::build_program) leaves the program.
    pub(crate) fn program_path(&self, profile: Profile) -> PathBuf {
        self.built(profile).join(format!("clinalg{}", std::env::consts::EXE_SUFFIX))
    }

    /// Where cargo leaves what it builds.
    pub(crate) fn built(&self, profile: Profile) -> PathBuf {
        self.target().join(profile.folder())
    }

    /// The folder of all that cargo builds.
    pub(crate) fn target(&self) -> PathBuf {
        self.path(std::env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into()))
    }

    /// The program `clinalg`, run at the root.
    pub(crate) fn program(&self, profile: Profile) -> Command {
        self.command(self.program_path(profile))
    }
}

/// A program of the search path, or of the system folders that a user's path may lack.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// The command as one would type it.
pub(crate) fn words(command: &Command) -> String {
    let env = command.get_envs().filter_map(|(k, v)| Some(format!("{}={}", k.display(), quoted(v?))));
    // The cargo that started us is known by a long path.
    let is_cargo = |path: &OsStr| Path::new(path).file_stem() == Some(OsStr::new("cargo"));
    let program = Some(command.get_program()).filter(|p| !is_cargo(p)).unwrap_or(OsStr::new("cargo"));
    let args = std::iter::once(program).chain(command.get_args()).map(quoted);
    env.chain(args).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+:,@%~<>!".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into_owned() } else { format!("'{word}'") }
}

/// Announces the command and runs it, its output going where ours goes.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = announce(command)?;
    if !status.success() {
        bail!("`{}` ended with {status}", words(command));
    }
    Ok(())
}

/// As [`run`]; the command's exit code becomes the caller's.
pub(crate) fn exit_code(command: &mut Command) -> Result<ExitCode> {
    let status = announce(command)?;
    match status.code() {
        Some(code) => Ok(ExitCode::from(code as u8)),
        None => bail!("`{}` ended with {status}", words(command)),
    }
}

fn announce(command: &mut Command) -> Result<ExitStatus> {
    println!("$ {}", words(command));
    command.status().with_context(|| format!("cannot start `{}`", words(command)))
}

/// Runs the command quietly.
pub(crate) fn capture(command: &mut Command) -> Result<Output> {
    command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{}`", words(command)))
}

/// Runs the command quietly; an error with its words unless it succeeds.
pub(crate) fn capture_ok(command: &mut Command) -> Result<Output> {
    let output = capture(command)?;
    if !output.status.success() {
        bail!("`{}` ended with {}\n{}", words(command), output.status, text(&output));
    }
    Ok(output)
}

/// Runs the command quietly and kills it after `limit`; says how long it took.
pub(crate) fn capture_within(command: &mut Command, limit: Duration) -> Result<(Output, Duration)> {
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{}`", words(command)))?;
    // The outputs are a few lines and fit into the pipes, so they may be read after the end.
    while child.try_wait()?.is_none() {
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            bail!("`{}` was still running after {limit:?}", words(command));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let time = start.elapsed();
    Ok((child.wait_with_output()?, time))
}

/// Standard output and standard error, in this order.
pub(crate) fn text(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{}{}", out, err).trim_end().to_owned()
}

/// Results of `work` on each item, in the items' order, by as many threads as there are cores.
pub(crate) fn parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(k) else { break };
                    let result = work(item);
                    done.lock().expect("no thread panics holding the lock").push((k, result));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread panics holding the lock");
    done.sort_unstable_by_key(|(k, _)| *k);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Writes `content` unless the file holds it already.
pub(crate) fn write_file(path: &Path, content: &str) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    std::fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}

/// Packs a folder, whose name is that of the archive's one entry, and gives the archive. The same content gives the same
/// bytes: names are sorted, owners left out, and files as old as the last commit, or as `SOURCE_DATE_EPOCH` says.
pub(crate) fn pack(folder: &Path, archive: &Path) -> Result<PathBuf> {
    let parent = folder.parent().context("a folder to pack lies in another")?;
    let name = folder.file_name().context("a folder to pack has a name")?;
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u+rw,go=rX"]);
    tar.arg(format!("--mtime=@{}", build_time())).arg("-czf").arg(archive).arg("-C").arg(parent).arg(name);
    run(&mut tar)?;
    Ok(archive.to_owned())
}

/// Seconds from 1970 to the last commit, or those of `SOURCE_DATE_EPOCH`; now where neither is known.
pub(crate) fn build_time() -> u64 {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok();
    let committed = || Some(text(&capture_ok(Command::new("git").args(["log", "-1", "--format=%ct"])).ok()?));
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    given.or_else(committed).and_then(|seconds| seconds.parse().ok()).unwrap_or_else(now)
}

/// An empty folder at `path`, whatever was there before.
pub(crate) fn fresh_folder(path: &Path) -> Result<()> {
    if path.exists() {
        std::fs::remove_dir_all(path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    std::fs::create_dir_all(path).with_context(|| format!("cannot create {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_one_would_type() {
        let mut command = Command::new("cc");
        command.args(["-x", "cl", "a b.cl"]).env("KEY", "value");
        assert_eq!(words(&command), "KEY=value cc -x cl 'a b.cl'");
        assert_eq!(words(Command::new("/home/user/.cargo/bin/cargo").arg("test")), "cargo test");
    }

    #[test]
    fn parallel_keeps_the_order() {
        let items: Vec<u64> = (0..100).collect();
        assert_eq!(parallel(&items, |k| k * k), items.iter().map(|k| k * k).collect::<Vec<_>>());
        assert!(parallel(&[] as &[u64], |k| *k).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_command_that_hangs_is_stopped() {
        let start = Instant::now();
        let error = capture_within(Command::new("sleep").arg("30"), Duration::from_millis(50)).unwrap_err();
        assert!(error.to_string().contains("still running"), "{error}");
        assert!(start.elapsed() < Duration::from_secs(5));
    }

    #[cfg(unix)]
    #[test]
    fn failures_carry_the_words_of_the_command() {
        let error = capture_ok(Command::new("sh").args(["-c", "echo why >&2; exit 3"])).unwrap_err().to_string();
        assert!(error.contains("why") && error.contains('3'), "{error}");
    }
}
