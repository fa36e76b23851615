//! Files that a command is to write, checked before its work.

use std::io::Write;
use std::path::{Path, PathBuf};

use clinalg::io::AtomicFile;

use crate::exit::{Failure, usage};
use crate::processes;

/// The ending of a file's name without its dot, in small letters.
pub(crate) fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// The name of a file that an option gives, for a document.
pub(crate) fn name(path: &Option<PathBuf>) -> Option<String> {
    path.as_ref().map(|path| path.display().to_string())
}

/// An error where `path` cannot be written, before work goes into what is to be written there. A file that is there stays as it is.
///
/// # Errors
/// [`Failure::File`].
pub(crate) fn check_target(path: &Path) -> Result<(), Failure> {
    if !processes::writes() {
        return Ok(());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(Failure::file(folder, "no such folder"));
    }
    // What is no regular file is opened when it is written: a reader of a pipe sees one writer.
    if path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Ok(());
    }
    let created = AtomicFile::create(path).map(drop);
    created.map_err(|error| Failure::file(path, error))
}

/// An error unless the name of a file to write ends in one of these, in small or capital letters.
///
/// # Errors
/// [`Failure::Usage`].
pub(crate) fn check_ending(option: &str, path: &Path, known: &[&str]) -> Result<(), Failure> {
    if known.contains(&ending(path).as_str()) {
        return Ok(());
    }
    let (last, others) = known.split_last().expect("there is an ending");
    let others = if others.is_empty() { String::new() } else { format!(".{} or ", others.join(", .")) };
    usage!("{option} {}: the name must end in {others}.{last}", path.display())
}

/// Checks the files to write, if they are given: options with their files, and the endings of names.
///
/// # Errors
/// [`Failure::Usage`] for another ending, [`Failure::File`] where a file cannot be written.
pub(crate) fn check_outputs(files: &[(&str, &Option<PathBuf>, &[&str])]) -> Result<(), Failure> {
    files.iter().filter_map(|(option, path, known)| Some((option, path.as_deref()?, known))).try_for_each(
        |(option, path, known)| {
            check_ending(option, path, known)?;
            check_target(path)
        },
    )
}

/// Writes a file, which takes the place of an earlier one when it is complete.
///
/// # Errors
/// [`Failure::File`].
pub(crate) fn write_file(path: &Path, content: &[u8]) -> Result<(), Failure> {
    AtomicFile::write(path, |file| file.write_all(content)).map_err(|error| Failure::file(path, error))
}

/// [`check_target`] for files in `folder`, which is created with the first of them.
///
/// # Errors
/// [`Failure::File`].
pub(crate) fn check_folder(folder: &Path) -> Result<(), Failure> {
    if folder.is_dir() { check_target(&folder.join("frame")) } else { check_target(folder) }
}

/// Creates the folder of a file, unless it is there.
///
/// # Errors
/// [`Failure::File`].
pub(crate) fn create_folder(folder: &Path) -> Result<(), Failure> {
    if !processes::writes() || folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    std::fs::create_dir(folder).map_err(|error| Failure::file(folder, error))
}
