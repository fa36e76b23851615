//! Files that only this user and root can have written: what a process loads and runs, or takes launch parameters from.
//!
//! A folder that others may write can hold anything: a binary of theirs, a link, a FIFO that blocks whoever opens it.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

/// Why a file or folder is not used.
fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

#[cfg(unix)]
fn check_owner(metadata: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;

    // SAFETY: the call takes nothing and cannot fail.
    let user = unsafe { libc::geteuid() };
    trusts(user, metadata.uid(), metadata.mode())
}

/// Whether `user` may trust what belongs to `owner` with these permissions.
#[cfg(unix)]
fn trusts(user: u32, owner: u32, mode: u32) -> io::Result<()> {
    if owner != user && owner != 0 {
        return Err(refused(&format!("it belongs to the user with the number {owner}, this process runs as {user}")));
    }
    if mode & 0o022 != 0 {
        return Err(refused(&format!("others may write it (mode {:o}); `chmod go-w` mends that", mode & 0o7777)));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_owner(_: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Checks that `folder` is a folder that others cannot write.
///
/// # Errors
/// [`io::ErrorKind::NotFound`]; [`io::ErrorKind::PermissionDenied`] with the reason.
pub(crate) fn check_folder(folder: &Path) -> io::Result<()> {
    let metadata = std::fs::metadata(folder)?;
    if !metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotADirectory, "it is not a folder"));
    }
    check_owner(&metadata)
}

/// Makes `folder` where it is missing, for this user only, and checks it.
///
/// # Errors
/// Those of [`check_folder`] and of making it.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)?;
    check_folder(folder)
}

/// Opens a regular file that others cannot write; follows no link and never waits.
///
/// # Errors
/// [`io::ErrorKind::NotFound`]; [`io::ErrorKind::PermissionDenied`] with the reason; those of opening.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path).map_err(|error| match is_link(path) {
        true => refused("it is a symbolic link"),
        false => error,
    })?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(refused("it is not a regular file"));
    }
    check_owner(&metadata)?;
    Ok(file)
}

/// Opens a regular file that others cannot write. If it is missing, creates it for this user only. Follows no links.
///
/// # Errors
/// Those of [`open`].
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => open(path),
        other => other,
    }
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink())
}

/// The content of a file in `folder`, both checked, of at most `most` bytes.
///
/// # Errors
/// Those of [`check_folder`] and [`open`]; [`io::ErrorKind::FileTooLarge`].
pub(crate) fn read(folder: &Path, name: &str, most: u64) -> io::Result<Vec<u8>> {
    check_folder(folder)?;
    let mut bytes = Vec::new();
    open(&folder.join(name))?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}

/// How the names of files end that are being written.
const PARTIAL: &str = ".partial";

/// The name that a file gets when it is complete, where `name` is one that [`write`] gives meanwhile: `.NAME.RANDOM.partial`.
pub(crate) fn name_of_partial(name: &str) -> Option<&str> {
    name.strip_prefix('.')?.strip_suffix(PARTIAL)?.rsplit_once('.').map(|(name, _)| name)
}

/// The temporary name of the file `name` while it is written; [`name_of_partial`] recovers `name`.
pub(crate) fn name_while_written(name: &str, what: &str) -> String {
    format!(".{name}.{what}{PARTIAL}")
}

/// Writes `parts` to `name` in `folder`, which is made where it is missing: whole or not at all.
///
/// # Errors
/// Those of [`make_folder`] and of writing.
pub(crate) fn write(folder: &Path, name: &str, parts: &[&[u8]]) -> io::Result<()> {
    make_folder(folder)?;
    let mut file = tempfile::Builder::new().prefix(&format!(".{name}.")).suffix(PARTIAL).tempfile_in(folder)?;
    parts.iter().try_for_each(|part| file.write_all(part))?;
    file.persist(folder.join(name)).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn refusal(folder: &Path, name: &str) -> String {
        let error = read(folder, name, 1000).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
        error.to_string()
    }

    #[test]
    fn owners_and_modes() {
        assert!(
            trusts(1000, 1000, 0o100644).is_ok() && trusts(1000, 0, 0o40755).is_ok() && trusts(0, 0, 0o600).is_ok()
        );
        for (owner, mode) in [(1001, 0o600), (1000, 0o620), (1000, 0o602), (0, 0o666)] {
            assert!(trusts(1000, owner, mode).is_err(), "{owner} {mode:o}");
        }
        assert!(trusts(0, 1000, 0o600).is_err());
    }

    #[test]
    fn files_come_back_and_are_replaced() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("new/folder");
        assert_eq!(read(&folder, "a", 10).unwrap_err().kind(), io::ErrorKind::NotFound);
        write(&folder, "a", &[b"one ", b"two"]).unwrap();
        assert_eq!(read(&folder, "a", 7).unwrap(), b"one two");
        assert_eq!(read(&folder, "a", 6).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read(&folder, "b", 7).unwrap_err().kind(), io::ErrorKind::NotFound);
        write(&folder, "a", &[b"three"]).unwrap();
        assert_eq!(read(&folder, "a", 10).unwrap(), b"three");
        assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn what_others_may_write_is_refused() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path();
        write(folder, "a", &[b"content"]).unwrap();
        for mode in [0o620, 0o602, 0o666] {
            set_mode(&folder.join("a"), mode);
            assert!(refusal(folder, "a").contains(&format!("mode {mode:o}")));
        }
        set_mode(&folder.join("a"), 0o600);
        for mode in [0o770, 0o707, 0o1777] {
            set_mode(folder, mode);
            assert!(refusal(folder, "a").contains("chmod go-w"));
            assert_eq!(write(folder, "b", &[]).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        }
        set_mode(folder, 0o700);
        assert_eq!(read(folder, "a", 10).unwrap(), b"content");
    }

    #[test]
    fn what_belongs_to_another_user_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a", &[b"content"]).unwrap();
        // Only root can give a file away; `owners_and_modes` has the rule itself.
        if std::os::unix::fs::chown(folder.path().join("a"), Some(12_345), None).is_ok() {
            assert!(refusal(folder.path(), "a").contains("12345"));
        }
    }

    #[test]
    fn links_fifos_and_folders_are_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write(folder, "file", &[b"content"]).unwrap();
        symlink(folder.join("file"), folder.join("link")).unwrap();
        assert!(refusal(folder, "link").contains("symbolic link"));
        symlink("nowhere", folder.join("dangling")).unwrap();
        assert!(refusal(folder, "dangling").contains("symbolic link"));
        let fifo = folder.join("fifo");
        let name = CString::new(fifo.as_os_str().as_bytes()).unwrap();
        // SAFETY: the name ends in zero.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        assert!(refusal(folder, "fifo").contains("regular file"));
        std::fs::create_dir(folder.join("folder")).unwrap();
        assert!(refusal(folder, "folder").contains("regular file"));
        // A file takes the place of each but the folder.
        for name in ["link", "dangling", "fifo"] {
            write(folder, name, &[b"new"]).unwrap();
            assert_eq!(read(folder, name, 10).unwrap(), b"new");
        }
        assert_eq!(read(folder, "file", 10).unwrap(), b"content");
    }
}
