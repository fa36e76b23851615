//! Record of the compilations that passed, so that the checks of kernels compile only what has changed.
//!
//! Each line of `.ci/NAME.passed` holds a name and a hash of the kernels' text, the options, the compilers and the check itself. A
//! different sixteenth is recompiled each day regardless.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, Result};

use crate::system::{self, Workspace};

/// In so many days each compilation is made again.
const RECHECK_DAYS: u64 = 16;

/// The compilations of one check that passed.
pub(crate) struct PassedCompilations {
    path: PathBuf,
    /// A hash of what all compilations depend on.
    toolchain: u64,
    known: BTreeMap<String, u64>,
    /// All that there is now.
    current: BTreeMap<String, u64>,
    today: u64,
    recompile_all: bool,
}

impl PassedCompilations {
    /// Reads the record of the check `name`. What each compiler prints for `--version`, the device library (a file or a folder)
    /// and `source`, that of the check with its rules, are part of every hash.
    pub(crate) fn read(
        workspace: &Workspace,
        name: &str,
        compilers: Vec<Command>,
        library: &Path,
        source: &str,
    ) -> Result<PassedCompilations> {
        let mut toolchain = Hash::default();
        toolchain.add(source.as_bytes());
        for file in files(library)? {
            toolchain.add(&std::fs::read(file)?);
        }
        for mut compiler in compilers {
            toolchain.add(&system::capture_ok(compiler.arg("--version"))?.stdout);
        }
        let path = workspace.path(format!(".ci/{name}.passed"));
        // Without the file nothing is known: remove it to begin anew.
        let known = parse(&std::fs::read_to_string(&path).unwrap_or_default());
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).context("the clock is before 1970")?;
        let today = since.as_secs() / (24 * 60 * 60);
        let (toolchain, recompile_all) = (toolchain.0, workspace.long);
        Ok(PassedCompilations { path, toolchain, known, current: BTreeMap::new(), today, recompile_all })
    }

    /// Whether the compilation `name` is to be run; its result depends on `texts`.
    pub(crate) fn must_compile(&mut self, name: &str, texts: &[&str]) -> bool {
        let mut hash = Hash::default();
        hash.add(&self.toolchain.to_le_bytes());
        texts.iter().for_each(|text| hash.add(text.as_bytes()));
        self.current.insert(name.to_owned(), hash.0);
        let is_due = day(name) == self.today % RECHECK_DAYS;
        self.recompile_all || self.known.get(name) != Some(&hash.0) || is_due
    }

    /// Writes the record, without the compilations in `faulty`.
    pub(crate) fn write(mut self, faulty: &[String]) -> Result<()> {
        self.current.retain(|name, _| !faulty.contains(name));
        let mut text = String::new();
        for (name, hash) in &self.current {
            writeln!(text, "{name} {hash:016x}")?;
        }
        system::write_file(&self.path, &text)
    }
}

/// The day on which a compilation is made again.
fn day(name: &str) -> u64 {
    let mut hash = Hash::default();
    hash.add(name.as_bytes());
    hash.0 % RECHECK_DAYS
}

/// A file itself, or those in a folder.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path)?.map(|entry| Ok(entry?.path()));
    let mut files: Vec<PathBuf> = entries.collect::<Result<_>>()?;
    files.sort_unstable();
    Ok(files)
}

/// Names with their hashes; malformed lines are ignored.
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
    /// Bytes and their number.
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes.iter().chain(&(bytes.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(path: PathBuf, known: BTreeMap<String, u64>) -> PassedCompilations {
        // Not the day of `a`.
        let today = day("a") + 1;
        PassedCompilations { path, toolchain: 7, known, current: BTreeMap::new(), today, recompile_all: false }
    }

    #[test]
    fn passed_compilations_are_repeated_only_after_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gpu.passed");
        let mut first = passed(path.clone(), BTreeMap::new());
        assert!(first.must_compile("a", &["text", "-O3"]) && first.must_compile("b", &["text", "-O3"]));
        first.write(&["b".to_owned()]).unwrap();
        let again = || passed(path.clone(), parse(&std::fs::read_to_string(&path).unwrap()));
        assert!(!again().must_compile("a", &["text", "-O3"]));
        assert!(again().must_compile("b", &["text", "-O3"]), "it was faulty");
        assert!(again().must_compile("a", &["text2", "-O3"]) && again().must_compile("a", &["text", "-O2"]));
        assert!(again().must_compile("a", &["text-O3"]) && again().must_compile("a", &["tex", "t-O3"]));
        let mut other = again();
        other.toolchain = 8;
        assert!(other.must_compile("a", &["text", "-O3"]), "another compiler");
        let mut due = again();
        due.today -= 1;
        assert!(due.must_compile("a", &["text", "-O3"]), "its day");
        let mut long = again();
        long.recompile_all = true;
        assert!(long.must_compile("a", &["text", "-O3"]));
    }

    #[test]
    fn malformed_lines_are_ignored() {
        assert_eq!(parse("a 10\nb\nc xyz\n\n d 1 2\n"), BTreeMap::from([("a".to_owned(), 16)]));
    }
}
