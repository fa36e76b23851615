//! Checkpoints: `.npz` files from which `--resume` continues.

pub(crate) mod krylov;

use std::fmt::{self, Debug, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::{Command, ValueEnum};
use clinalg::Real;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::args::value_name;
use crate::data::Values;
use crate::data::array::{self, Array, Content, Limits, Packing};
use crate::exit::{Failure, usage};
use crate::options::{is_command, value_of};
use crate::overwrite::is_written;
use crate::paths::check_outputs;
use crate::processes;

/// Options that belong to a run and not to the problem; they are not kept.
const NOT_KEPT: [&str; 5] = ["--json", "--quiet", "-q", "--verbose", "-v"];

/// What is [`kept`] of the command line, with `--resume` after that of the run that is continued.
static ARGUMENTS: OnceLock<Vec<String>> = OnceLock::new();

/// What a checkpoint holds besides arrays.
#[derive(Serialize, Deserialize)]
struct About {
    /// Of the format.
    version: u32,
    arguments: Vec<String>,
    fingerprint: Fingerprint,
    state: Value,
}

const VERSION: u32 = 9;

/// The array with the bytes of [`About`] as JSON.
const ABOUT: &str = "about";

/// What determines the result of a run, apart from how far it gets: options, and digests of the values of formulas and files. Only a run
/// with the same fingerprint may continue from a checkpoint.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Fingerprint(Vec<(String, String)>);

/// The prefix of a digest.
const DIGEST: &str = "sha256:";

/// The value of an option that is not given.
const NOT_GIVEN: &str = "not given";

/// Hashes what is written to it.
struct Hashed(Sha256);

impl fmt::Write for Hashed {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text);
        Ok(())
    }
}

impl Fingerprint {
    /// An option with its value.
    pub(crate) fn option(mut self, name: &str, value: impl Debug) -> Fingerprint {
        self.0.push((name.to_owned(), as_given(&format!("{value:?}"))));
        self
    }

    /// An option whose values have names; `None` if it is not given.
    pub(crate) fn choice<V: ValueEnum>(mut self, name: &str, value: Option<V>) -> Fingerprint {
        self.0.push((name.to_owned(), value.as_ref().map_or_else(|| NOT_GIVEN.to_owned(), value_name)));
        self
    }

    /// Values; `None` if the option is not given.
    pub(crate) fn values<T: Real>(self, name: &str, values: Option<&[T]>) -> Fingerprint {
        let mut hash = Sha256::new();
        for some in values.unwrap_or_default().chunks(1 << 16) {
            hash.update(Values::of(some).bytes());
        }
        self.digest(name, values.is_some(), hash)
    }

    /// Counts and indices.
    pub(crate) fn indices(self, name: &str, indices: impl Iterator<Item = usize>) -> Fingerprint {
        let mut hash = Sha256::new();
        let mut some = Vec::with_capacity(1 << 16);
        for index in indices {
            some.extend((index as u64).to_le_bytes());
            if some.len() >= 1 << 16 {
                hash.update(&some);
                some.clear();
            }
        }
        hash.update(&some);
        self.digest(name, true, hash)
    }

    /// Anything, by a digest of its debug format.
    pub(crate) fn described(self, name: &str, what: &impl Debug) -> Fingerprint {
        let mut hashed = Hashed(Sha256::new());
        // Hashing cannot fail.
        let _ = write!(hashed, "{what:?}");
        self.digest(name, true, hashed.0)
    }

    fn digest(mut self, name: &str, given: bool, hash: Sha256) -> Fingerprint {
        let value = if given { format!("{DIGEST}{:x}", hash.finalize()) } else { NOT_GIVEN.into() };
        self.0.push((name.to_owned(), value));
        self
    }

    /// A message that says how `run` differs from the run of the checkpoint, `self`.
    fn difference(&self, run: &Fingerprint) -> Option<String> {
        let find = |of: &Fingerprint, name: &str| of.0.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
        let names = self.0.iter().chain(&run.0).map(|(name, _)| name);
        names.into_iter().find_map(|name| {
            let [before, now] = [self, run].map(|of| find(of, name).unwrap_or_else(|| NOT_GIVEN.into()));
            let digests = before.starts_with(DIGEST) && now.starts_with(DIGEST);
            let description = |value: &str| match value {
                NOT_GIVEN => format!("without {name}"),
                value if value.starts_with(DIGEST) => format!("with {name}"),
                value => format!("with {name} {value}"),
            };
            match before == now {
                true => None,
                false if digests => Some(format!("{name} has other values than in the run that wrote it")),
                false => Some(format!(
                    "it was written by a run {}, but is continued {}",
                    description(&before),
                    description(&now)
                )),
            }
        })
    }
}

/// A value in debug format, as it is written on the command line.
fn as_given(debug: &str) -> String {
    let value = debug.strip_prefix("Some(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(debug);
    match value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(text) => text.to_owned(),
        None if value == "None" => NOT_GIVEN.into(),
        // The name of a variant.
        None if value.chars().all(char::is_alphanumeric) => value.to_lowercase(),
        None => value.to_owned(),
    }
}

/// A command line to be parsed.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) words: Vec<String>,
    /// Whether part of it comes from a checkpoint.
    pub(crate) resumed: bool,
    /// Options of the run of the checkpoint that name files to write and are not given again.
    pub(crate) left_out: Vec<String>,
}

/// The command line to be parsed: that of the checkpoint of `--resume FILE`, then the one given. Files to write are those of the latter
/// alone: a checkpoint from elsewhere must not choose what is overwritten.
///
/// # Errors
/// [`Failure::File`] where the checkpoint cannot be read, [`Failure::Usage`] where it is that of another command.
pub(crate) fn arguments(given: Vec<String>, program: &Command) -> Result<Arguments, Failure> {
    let Some(path) = value_of(&given, "--resume") else {
        let _ = ARGUMENTS.set(kept(&given[1..], program));
        return Ok(Arguments { words: given, resumed: false, left_out: Vec::new() });
    };
    let about = about(Path::new(&path))?;
    let (before, mut left_out) = without_outputs(kept(&about.arguments, program));
    left_out.retain(|option| value_of(&given, option.split([' ', '=']).next().unwrap_or_default()).is_none());
    let command = given.iter().skip(1).position(|word| !word.starts_with('-'));
    let command = command.map(|at| at + 1).unwrap_or(given.len());
    if before.first() != given.get(command) {
        return usage!(
            "{path} is a checkpoint of `clinalg {}`: resume it with that command",
            before.first().map_or("", String::as_str)
        );
    }
    let new = || given[1..command].iter().chain(&given[(command + 1).min(given.len())..]).cloned();
    let merged: Vec<String> = before.iter().cloned().chain(new()).collect();
    let _ = ARGUMENTS.set(kept(&merged, program));
    let words = [given[0].clone()].into_iter().chain(merged).collect();
    Ok(Arguments { words, resumed: true, left_out })
}

/// What is kept of the command line: the command first, neither `--resume` nor how to report.
fn kept(words: &[String], program: &Command) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--resume" => drop(words.next()),
            word if word.starts_with("--resume=") || NOT_KEPT.contains(&word) => {}
            _ => kept.push(word.clone()),
        }
    }
    // Options of every command may stand before it.
    if let Some(at) = kept.iter().position(|word| is_command(program, word)) {
        kept[..=at].rotate_right(1);
    }
    kept
}

/// A command line without its options of files to write, and these options.
fn without_outputs(words: Vec<String>) -> (Vec<String>, Vec<String>) {
    let (mut rest, mut outputs) = (Vec::new(), Vec::new());
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match is_written(&word) {
            true if word.contains('=') => outputs.push(word),
            true => outputs.push([Some(word), words.next()].into_iter().flatten().collect::<Vec<_>>().join(" ")),
            false => rest.push(word),
        }
    }
    (rest, outputs)
}

/// Checkpoints are not compressed.
fn limits(path: &Path) -> Limits {
    let bytes = path.metadata().map_or(0, |about| about.len());
    Limits { values: usize::try_from(bytes).unwrap_or(usize::MAX), compressed: None }
}

fn about(path: &Path) -> Result<About, Failure> {
    let bytes = array::read_bytes(path, ABOUT, limits(path))?;
    let about: About = serde_json::from_slice(&bytes)
        .map_err(|error| Failure::file(path, format!("it is not a checkpoint of this program: {error}")))?;
    if about.version != VERSION {
        return Err(Failure::file(
            path,
            format!("the checkpoint has version {}, expected {VERSION}; start again without --resume", about.version),
        ));
    }
    Ok(about)
}

/// A checkpoint that is read.
pub(crate) struct Loaded {
    path: PathBuf,
    fingerprint: Fingerprint,
    /// What the command stored beside its arrays.
    pub(crate) state: Value,
}

impl Loaded {
    fn new(path: &Path) -> Result<Loaded, Failure> {
        let About { fingerprint, state, .. } = about(path)?;
        Ok(Loaded { path: path.to_owned(), fingerprint, state })
    }

    fn check(&self, run: &Fingerprint) -> Result<(), Failure> {
        match self.fingerprint.difference(run) {
            None => Ok(()),
            Some(difference) => usage!(
                "--resume {}: {difference}; give the options of that run, or leave out --resume to start again",
                self.path.display()
            ),
        }
    }

    /// The array `name`.
    pub(crate) fn array<T: Real>(&self, name: &str) -> Result<Vec<T>, Failure> {
        Ok(Array::read_named(&self.path, name, limits(&self.path))?.values.into_iter().map(T::from_f64).collect())
    }

    /// The part `key` of the state.
    pub(crate) fn part<D: DeserializeOwned>(&self, key: &str) -> Result<D, Failure> {
        D::deserialize(&self.state[key])
            .map_err(|error| Failure::file(&self.path, format!("`{key}` of the checkpoint: {error}")))
    }

    /// The number `key` of the state.
    pub(crate) fn number(&self, key: &str) -> Result<f64, Failure> {
        self.state[key]
            .as_f64()
            .ok_or_else(|| Failure::file(&self.path, format!("the checkpoint has no number `{key}`")))
    }
}

/// The checkpoint that a run continues from, and where it writes its own: `--checkpoint`, and for an interrupted run a file named after
/// the command.
pub(crate) struct Checkpoints {
    command: &'static str,
    path: Option<PathBuf>,
    resumed: Option<Loaded>,
}

impl Checkpoints {
    /// Those of `--checkpoint` and `--resume`.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the name does not end in `.npz`; [`Failure::File`] if the file cannot be written, or if the checkpoint of
    /// `--resume` cannot be read.
    pub(crate) fn new(
        command: &'static str,
        path: &Option<PathBuf>,
        resume: &Option<PathBuf>,
    ) -> Result<Checkpoints, Failure> {
        check_outputs(&[("--checkpoint", path, &["npz"])])?;
        let resumed = resume.as_deref().map(Loaded::new).transpose()?;
        Ok(Checkpoints { command, path: path.clone(), resumed })
    }

    /// Whether `--checkpoint` is given.
    pub(crate) fn is_given(&self) -> bool {
        self.path.is_some()
    }

    /// The checkpoint that the run continues from, before it is compared with the run.
    pub(crate) fn unchecked(&self) -> Option<&Loaded> {
        self.resumed.as_ref()
    }

    /// The checkpoint that the run with this fingerprint continues from.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the checkpoint belongs to another problem or to other options.
    pub(crate) fn resumed(
        &self,
        fingerprint: impl FnOnce() -> Result<Fingerprint, Failure>,
    ) -> Result<Option<&Loaded>, Failure> {
        let Some(loaded) = &self.resumed else { return Ok(None) };
        loaded.check(&fingerprint()?)?;
        Ok(Some(loaded))
    }

    /// Saves where `--checkpoint` is given or the run was interrupted; returns the name of the file.
    ///
    /// # Errors
    /// Those of `save`.
    pub(crate) fn write(
        &self,
        interrupted: bool,
        save: impl FnOnce(&Path) -> Result<(), Failure>,
    ) -> Result<Option<String>, Failure> {
        let own = || PathBuf::from(format!("clinalg-{}-checkpoint.npz", self.command));
        let Some(path) = self.path.clone().or_else(|| interrupted.then(own)) else { return Ok(None) };
        save(&path)?;
        Ok(Some(path.display().to_string()))
    }
}

/// Writes a checkpoint.
pub(crate) fn save(
    path: &Path,
    fingerprint: Fingerprint,
    state: Value,
    arrays: &[(&str, Values)],
) -> Result<(), Failure> {
    if !processes::writes() {
        return Ok(());
    }
    let arguments = ARGUMENTS.get().cloned().unwrap_or_default();
    let about = serde_json::to_vec(&About { version: VERSION, arguments, fingerprint, state })
        .map_err(|error| Failure::file(path, error))?;
    let mut content: Vec<(&str, Content<'_>)> = vec![(ABOUT, Content::Bytes(&about))];
    content.extend(arrays.iter().map(|(name, values)| (*name, Content::Numbers { shape: vec![values.len()], values })));
    array::write_npz(path, Packing::Plain, &content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;
    use crate::args::PrecisionArg;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_problem_of_a_command_line_is_kept() {
        assert_eq!(
            kept(&words("--device 1 wave --n 9 --resume a.npz --json -v"), &Cli::program()),
            words("wave --device 1 --n 9")
        );
        assert_eq!(kept(&words("wave --resume=a.npz --n 9"), &Cli::program()), words("wave --n 9"));
        assert_eq!(value_of(&words("wave --resume=a.npz"), "--resume").as_deref(), Some("a.npz"));
        assert_eq!(value_of(&words("wave --resume a.npz"), "--resume").as_deref(), Some("a.npz"));
        assert_eq!(value_of(&words("wave --n 9"), "--resume"), None);
    }

    #[test]
    fn files_to_write_are_separated_from_a_command_line() {
        let line =
            "wave --out a --series=b --checkpoint c --n 9 --plot p --plot-pattern q --vtk v --graph=g --json --out";
        let (rest, outputs) = without_outputs(words(line));
        assert_eq!(rest, words("wave --n 9 --json"));
        let want = [
            "--out a",
            "--series=b",
            "--checkpoint c",
            "--plot p",
            "--plot-pattern q",
            "--vtk v",
            "--graph=g",
            "--out",
        ];
        assert_eq!(outputs, want);
    }

    #[test]
    fn checkpoints_come_back_and_command_lines_are_joined() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.npz");
        let about = About {
            version: VERSION,
            arguments: words("wave --n 9 --out /etc/passwd --steps 5 --plot=p"),
            fingerprint: Fingerprint::default(),
            state: Value::Null,
        };
        let bytes = serde_json::to_vec(&about).unwrap();
        array::write_npz(&path, Packing::Plain, &[(ABOUT, Content::Bytes(&bytes))]).unwrap();
        let line = format!("clinalg --json wave --resume {} --steps 7", path.display());
        let Arguments { words: joined, resumed, left_out } = arguments(words(&line), &Cli::program()).unwrap();
        let want = format!("clinalg wave --n 9 --steps 5 --json --resume {} --steps 7", path.display());
        assert!(resumed && joined == words(&want), "{joined:?}");
        assert_eq!(left_out, ["--out /etc/passwd", "--plot=p"]);
        let line = format!("clinalg wave --plot q --out=b.npy --resume {}", path.display());
        assert!(arguments(words(&line), &Cli::program()).unwrap().left_out.is_empty());
        let line = format!("clinalg ode --resume {}", path.display());
        assert!(arguments(words(&line), &Cli::program()).unwrap_err().message().contains("`clinalg wave`"));
    }

    #[test]
    fn fingerprints_say_what_differs() {
        let of = |n: usize, f: Option<&[f64]>| Fingerprint::default().option("--n", n).values("--f", f);
        let (one, two) = (Some(&[1.0, 2.0][..]), Some(&[1.0, 3.0][..]));
        assert_eq!(of(9, one).difference(&of(9, one)), None);
        let words = of(9, one).difference(&of(17, one)).unwrap();
        assert_eq!(words, "it was written by a run with --n 9, but is continued with --n 17");
        assert!(of(9, one).difference(&of(9, two)).unwrap().contains("--f has other values"));
        assert!(of(9, one).difference(&of(9, None)).unwrap().contains("but is continued without --f"));
        assert!(Fingerprint::default().difference(&of(9, None)).unwrap().contains("run without --n, but"));
        let of = |value: Option<PrecisionArg>| Fingerprint::default().choice("--precision", value);
        let words = of(None).difference(&of(Some(PrecisionArg::F32))).unwrap();
        assert_eq!(words, "it was written by a run without --precision, but is continued with --precision f32");
        let of = |value: Option<&str>| Fingerprint::default().option("--rhs", value);
        assert!(of(Some("ones")).difference(&of(None)).unwrap().contains("with --rhs ones,"));
    }
}
