//! What a program or shared library for Linux needs of the system that loads it.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use object::elf::{DT_NEEDED, EM_X86_64, FileHeader64};
use object::read::elf::{Dyn, FileHeader};
use object::{Endianness, SectionIndex};

/// The newest version of gcc's library that may be needed: that of the oldest systems with [`crate::products::GLIBC`].
const GCC: (u32, u32) = (4, 8);

/// Libraries that every system has, beside the C library's own.
const LIBRARIES: [&str; 8] = ["libc", "libm", "libpthread", "libdl", "librt", "libutil", "ld-linux-x86-64", "libgcc_s"];

/// What the dynamic linker is asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Names of libraries.
    pub(crate) libraries: Vec<String>,
    /// Versions of their symbols, such as `GLIBC_2.17`.
    pub(crate) versions: Vec<String>,
}

impl Needs {
    /// Reads them from a 64-bit file.
    pub(crate) fn of(file: &Path) -> Result<Needs> {
        let data = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        Needs::parse(&data).with_context(|| format!("{} is no dynamic file for x86-64", file.display()))
    }

    fn parse(data: &[u8]) -> Result<Needs> {
        let header = FileHeader64::<Endianness>::parse(data)?;
        let endian = header.endian()?;
        ensure!(header.e_machine(endian) == EM_X86_64, "it is for another processor");
        let sections = header.sections(endian, data)?;
        let mut needs = Needs::default();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (entries, link): (_, SectionIndex) =
            sections.dynamic(endian, data)?.context("it has no dynamic section")?;
        let strings = sections.strings(endian, data, link)?;
        for entry in entries.iter().filter(|entry| entry.tag32(endian).map(i64::from) == Some(DT_NEEDED)) {
            needs.libraries.push(text(entry.string(endian, strings)?));
        }
        if let Some((mut files, link)) = sections.gnu_verneed(endian, data)? {
            let strings = sections.strings(endian, data, link)?;
            while let Some((_, mut versions)) = files.next()? {
                while let Some(version) = versions.next()? {
                    needs.versions.push(text(version.name(endian, strings)?));
                }
            }
        }
        Ok(needs)
    }

    /// The newest version of the C library among the symbols.
    ///
    /// # Errors
    /// If one is newer than `most`, or another library or version is needed than every system has.
    pub(crate) fn check(&self, most: (u32, u32)) -> Result<(u32, u32)> {
        for library in &self.libraries {
            let name = library.split_once(".so").map_or(library.as_str(), |(name, _)| name);
            ensure!(LIBRARIES.contains(&name), "it needs the library {library}, which not every system has");
        }
        let mut newest = (0, 0);
        for version in &self.versions {
            let (limit, number) = match version.split_once('_') {
                Some(("GLIBC", number)) => (most, number),
                Some(("GCC", number)) => (GCC, number),
                _ => bail!("it needs the symbol version {version}, which is unknown here"),
            };
            let number = parsed(number).with_context(|| format!("it needs the symbol version {version}"))?;
            ensure!(number <= limit, "it needs the symbol version {version}, newer than {}.{}", limit.0, limit.1);
            if version.starts_with("GLIBC") {
                newest = newest.max(number);
            }
        }
        Ok(newest)
    }
}

/// The first two numbers of a version.
fn parsed(number: &str) -> Option<(u32, u32)> {
    let mut parts = number.split('.');
    let major = parts.next()?.parse().ok()?;
    let minor = parts.next().map_or(Some(0), |part| part.parse().ok())?;
    parts.all(|part| part.parse::<u32>().is_ok()).then_some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(libraries: &[&str], versions: &[&str]) -> Needs {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Needs { libraries: owned(libraries), versions: owned(versions) }
    }

    #[test]
    fn the_newest_version_counts() {
        let old = needs(
            &["libc.so.6", "ld-linux-x86-64.so.2", "libgcc_s.so.1"],
            &["GLIBC_2.2.5", "GLIBC_2.14", "GLIBC_2.9", "GCC_4.2.0"],
        );
        assert_eq!(old.check((2, 17)).unwrap(), (2, 14));
        let error = old.check((2, 12)).unwrap_err().to_string();
        assert!(error.contains("GLIBC_2.14, newer than 2.12"), "{error}");
    }

    #[test]
    fn other_libraries_and_versions_are_refused() {
        for (libraries, versions, word) in [
            (&["libOpenCL.so.1"], &["GLIBC_2.2.5"], "libOpenCL"),
            (&["libc.so.6"], &["GLIBC_ABI_DT_RELR"], "GLIBC_ABI"),
            (&["libc.so.6"], &["GLIBC_PRIVATE"], "GLIBC_PRIVATE"),
            (&["libc.so.6"], &["GLIBCXX_3.4"], "GLIBCXX"),
            (&["libgcc_s.so.1"], &["GCC_7.0.0"], "GCC_7"),
        ] {
            let error = needs(libraries, versions).check((2, 17)).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }

    /// This very program, against what binutils say.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[test]
    fn the_file_is_read_as_binutils_do() {
        let file = std::env::current_exe().unwrap();
        let readelf = |option| {
            let mut command = std::process::Command::new("readelf");
            crate::system::text(&crate::system::capture_ok(command.arg(option).arg("--wide").arg(&file)).unwrap())
        };
        let found = Needs::of(&file).unwrap();
        let dynamic = readelf("--dynamic");
        let libraries: Vec<&str> = dynamic
            .lines()
            .filter(|line| line.contains("(NEEDED)"))
            .filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0))
            .collect();
        assert!(!libraries.is_empty());
        assert_eq!(found.libraries, libraries);
        let table = readelf("--version-info");
        let (_, table) = table.split_once("'.gnu.version_r'").unwrap();
        let versions: Vec<&str> =
            table.lines().filter_map(|line| line.split_once("Name: ")?.1.split_whitespace().next()).collect();
        assert!(!versions.is_empty());
        assert_eq!(found.versions, versions);
    }

    #[test]
    fn other_files_are_errors() {
        assert!(Needs::parse(b"#!/bin/sh\n").is_err());
    }
}
