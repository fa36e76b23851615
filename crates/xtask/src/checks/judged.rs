//! Compilations found faultless before, so that a check of kernels compiles what has changed.
//!
//! `.ci/NAME.judged` has a line for each: a name and a hash of all that it depends on, which are the kernels' text, the options
//! and the compilers. A sixteenth of them, another one each day, is compiled again all the same.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, Result};

use crate::system::{self, Workspace};

/// One compilation in so many is made again.
const AGAIN: u64 = 16;

/// What one check has found faultless.
pub(crate) struct Judged {
    path: PathBuf,
    /// What all compilations depend on.
    tools: u64,
    known: BTreeMap<String, u64>,
    /// Names of all that there is now.
    current: BTreeMap<String, u64>,
    today: u64,
    /// Whether all are compiled.
    all: bool,
}

impl Judged {
    /// What the check `name` has found, by these compilers, which say what they are if called with `--version`, and with this
    /// library of device functions, a file or a folder, of which another version has another size.
    pub(crate) fn read(workspace: &Workspace, name: &str, compilers: Vec<Command>, library: &Path) -> Result<Judged> {
        let mut tools = Hash::default();
        tools.add(&size(library)?.to_string());
        for mut compiler in compilers {
            tools.add(&system::text(&system::capture_ok(compiler.arg("--version"))?));
        }
        let path = workspace.path(format!(".ci/{name}.judged"));
        // Without the file nothing is known, as in a checkout in which it was removed to begin anew.
        let known = parse(&std::fs::read_to_string(&path).unwrap_or_default());
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).context("the clock is before 1970")?;
        let today = since.as_secs() / (24 * 60 * 60);
        Ok(Judged { path, tools: tools.0, known, current: BTreeMap::new(), today, all: workspace.long })
    }

    /// Whether the compilation has to be made, which depends on these texts.
    pub(crate) fn is_new(&mut self, name: &str, texts: &[&str]) -> bool {
        let mut hash = Hash::default();
        hash.add(&self.tools.to_string());
        texts.iter().for_each(|text| hash.add(text));
        self.current.insert(name.to_owned(), hash.0);
        let mut turn = Hash::default();
        turn.add(name);
        self.all || self.known.get(name) != Some(&hash.0) || turn.0 % AGAIN == self.today % AGAIN
    }

    /// Keeps all but those of these names, which were found faulty.
    pub(crate) fn write(mut self, faulty: &[String]) -> Result<()> {
        self.current.retain(|name, _| !faulty.contains(name));
        let mut text = String::new();
        for (name, hash) in &self.current {
            writeln!(text, "{name} {hash:016x}")?;
        }
        system::write_file(&self.path, &text)
    }
}

/// Bytes of a file, or of all in a folder.
fn size(path: &Path) -> Result<u64> {
    if !path.is_dir() {
        return Ok(std::fs::metadata(path)?.len());
    }
    std::fs::read_dir(path)?.map(|entry| Ok(entry?.metadata()?.len())).sum()
}

/// Names with their hashes; what is malformed is not known.
fn parse(text: &str) -> BTreeMap<String, u64> {
    let entry = |line: &str| {
        let (name, hash) = line.split_once(' ')?;
        Some((name.to_owned(), u64::from_str_radix(hash, 16).ok()?))
    };
    text.lines().filter_map(entry).collect()
}

/// FNV-1a, which is the same on every machine and in every version.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    /// A text and its end.
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(path: PathBuf, known: BTreeMap<String, u64>) -> Judged {
        let mut turn = Hash::default();
        turn.add("a");
        // A day on which it is not the turn of `a`.
        Judged { path, tools: 7, known, current: BTreeMap::new(), today: turn.0 % AGAIN + 1, all: false }
    }

    #[test]
    fn what_was_faultless_is_compiled_again_after_a_change_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gpu.judged");
        let mut first = judged(path.clone(), BTreeMap::new());
        assert!(first.is_new("a", &["text", "-O3"]) && first.is_new("b", &["text", "-O3"]));
        first.write(&["b".to_owned()]).unwrap();
        let again = || judged(path.clone(), parse(&std::fs::read_to_string(&path).unwrap()));
        assert!(!again().is_new("a", &["text", "-O3"]));
        assert!(again().is_new("b", &["text", "-O3"]), "it was faulty");
        assert!(again().is_new("a", &["text2", "-O3"]) && again().is_new("a", &["text", "-O2"]));
        assert!(again().is_new("a", &["text-O3"]) && again().is_new("a", &["tex", "t-O3"]));
        let mut other = again();
        other.tools = 8;
        assert!(other.is_new("a", &["text", "-O3"]), "another compiler");
        let mut turn = again();
        turn.today -= 1;
        assert!(turn.is_new("a", &["text", "-O3"]), "its day");
        let mut long = again();
        long.all = true;
        assert!(long.is_new("a", &["text", "-O3"]));
    }

    #[test]
    fn a_damaged_file_is_not_believed() {
        assert_eq!(parse("a 10\nb\nc xyz\n\n d 1 2\n"), BTreeMap::from([("a".to_owned(), 16)]));
    }
}
