//! Files that a command would both read and write, or write twice.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command};

use crate::exit::Failure;
use crate::options::takes_value;
use crate::plot;

/// Options whose files are written; every other value that is the name of a file counts as read.
const WRITTEN: [&str; 7] = ["out", "plot", "plot_pattern", "checkpoint", "series", "vtk", "graph"];

/// Whether this word of a command line begins an option whose files are written, alone or with `=` and its value.
pub(crate) fn is_written(word: &str) -> bool {
    let option = word.split_once('=').map_or(word, |(option, _)| option);
    // How a picture looks belongs to its file.
    let is_of = |name: &str| WRITTEN.contains(&name.replace('-', "_").as_str()) || plot::OPTIONS.contains(&name);
    option.strip_prefix("--").is_some_and(is_of)
}

/// A file as the system sees it.
#[derive(Debug, PartialEq)]
enum Identity {
    /// Device and number of a file, the same for all its hard links.
    #[cfg(unix)]
    Numbers(u64, u64),
    /// The canonical path.
    Path(PathBuf),
}

impl Identity {
    /// That of a file, or of one that does not exist yet; `None` for folders, devices and where it cannot be determined.
    fn of(path: &Path) -> Option<Identity> {
        match path.metadata() {
            Ok(about) if !about.is_file() => None,
            #[cfg(unix)]
            Ok(about) => {
                use std::os::unix::fs::MetadataExt;
                Some(Identity::Numbers(about.dev(), about.ino()))
            }
            #[cfg(not(unix))]
            Ok(_) => path.canonicalize().ok().map(Identity::Path),
            Err(_) => Identity::of_missing(path),
        }
    }

    /// That of a file that is still to be created, perhaps at the end of links.
    fn of_missing(path: &Path) -> Option<Identity> {
        /// Number of links that operating systems follow.
        const LINKS: usize = 40;
        let folder_of = |path: &Path| path.parent().unwrap_or(Path::new("")).to_owned();
        let mut path = path.to_owned();
        for _ in 0..LINKS {
            let Ok(target) = path.read_link() else { break };
            path = folder_of(&path).join(target);
        }
        let folder = Path::new(".").join(folder_of(&path)).canonicalize().ok()?;
        Some(Identity::Path(folder.join(path.file_name()?)))
    }
}

/// A file that the command line names.
struct Named {
    id: String,
    /// As messages call it.
    title: String,
    is_written: bool,
    path: PathBuf,
    identity: Identity,
}

impl Named {
    /// The files of an option or argument; where they are read, of NAME=FILE too.
    fn of(arg: &Arg, given: &ArgMatches) -> Vec<Named> {
        let id = arg.get_id().as_str();
        let is_written = WRITTEN.contains(&id);
        let values = given.get_raw(id).into_iter().flatten().map(|raw| raw.to_string_lossy().into_owned());
        let paths = values.flat_map(|value| {
            let named = value.split_once('=').filter(|_| !is_written).map(|(_, file)| file.to_owned());
            [Some(value), named].into_iter().flatten().map(PathBuf::from)
        });
        let title = arg.get_long().map_or_else(|| format!("the {id}"), |long| format!("--{long}"));
        let named = |path: PathBuf| {
            let identity = Identity::of(&path)?;
            Some(Named { id: id.to_owned(), title: title.clone(), is_written, path, identity })
        };
        paths.filter(|path| is_written || path.is_file()).filter_map(named).collect()
    }

    /// An error where this file, which is written, is another one of the command line.
    fn check(&self, other: &Named) -> Result<(), Failure> {
        let Named { title, path, .. } = self;
        let (path, continues) = (path.display(), self.id == "checkpoint" && other.id == "resume");
        let message = match other.title.starts_with("--") {
            _ if other.identity != self.identity || continues => return Ok(()),
            _ if other.is_written => {
                let (other, its) = (&other.title, other.path.display());
                format!("{title} {path} and {other} {its} name the same file; give them different names")
            }
            true => {
                format!("{title} {path} is the file of {}, which would be overwritten; give another name", other.title)
            }
            false => format!("{title} {path} is {}, which would be overwritten; give another name", other.title),
        };
        Err(Failure::usage(message))
    }
}

/// An error where a file that the command would write is one that it reads, or is to be written twice. The checkpoint that a run continues from may be
/// replaced by its next one.
pub(crate) fn check(matches: &ArgMatches, program: &Command) -> Result<(), Failure> {
    let Some((name, given)) = matches.subcommand() else { return Ok(()) };
    let Some(command) = program.find_subcommand(name) else { return Ok(()) };
    let files: Vec<Named> =
        command.get_arguments().filter(|arg| takes_value(arg)).flat_map(|arg| Named::of(arg, given)).collect();
    for (k, file) in files.iter().enumerate().filter(|(_, file)| file.is_written) {
        let mut others = files.iter().enumerate().filter(|(l, other)| !other.is_written || *l > k);
        others.try_for_each(|(_, other)| file.check(other))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;

    /// Options whose files are read; `value` is that of an ODE's field.
    const READ: [&str; 11] = [
        "options",
        "resume",
        "points",
        "matrices",
        "matrix",
        "x0",
        "coordinates",
        "nullspace",
        "file",
        "predict",
        "measured",
    ];

    #[test]
    fn an_option_of_a_file_is_either_read_or_written() {
        for command in Cli::program().get_subcommands() {
            for arg in command.get_arguments().filter(|arg| takes_value(arg)) {
                let id = arg.get_id().as_str();
                let is_path = arg.get_value_parser().type_id() == std::any::TypeId::of::<PathBuf>();
                let is_known = WRITTEN.contains(&id) || READ.contains(&id);
                assert!(!is_path || is_known, "{} {id}: enter it in WRITTEN or READ", command.get_name());
                if WRITTEN.contains(&id) {
                    let names = (arg.get_long(), arg.get_short(), arg.get_all_aliases().unwrap_or_default());
                    assert_eq!(
                        names,
                        (Some(id.replace('_', "-").as_str()), None, Vec::new()),
                        "{}",
                        command.get_name()
                    );
                }
            }
        }
    }

    #[test]
    fn names_of_one_file_are_recognised() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a"), "a").unwrap();
        std::fs::hard_link(at("a"), at("hard")).unwrap();
        std::fs::create_dir(at("inside")).unwrap();
        let same = |a: &str, b: &str| Identity::of(&at(a)).is_some_and(|a| Some(a) == Identity::of(&at(b)));
        assert!(
            same("a", "inside/../a") && same("new", "./inside/../new") && !same("a", "new") && !same("new", "other")
        );
        assert!(Identity::of(&at("inside")).is_none() && Identity::of(&at("nowhere/new")).is_none());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("a", at("soft")).unwrap();
            std::os::unix::fs::symlink("new", at("dangling")).unwrap();
            assert!(same("a", "hard") && same("hard", "soft") && same("dangling", "new"));
        }
    }
}
