//! Files that are replaced as a whole.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use tempfile::NamedTempFile;

/// Symbolic links that operating systems follow.
const LINKS: usize = 40;

/// Bytes of a file's name that the name of its temporary file repeats.
const NAME: usize = 100;

/// The temporary files of this process.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of every [`AtomicFile`] under construction, for a process that ends at once, without dropping them: as after a
/// second Ctrl-C. From then on no [`AtomicFile`] is created or committed.
pub fn remove_unfinished_files() {
    // A file system that does not answer must not keep the process.
    for _ in 0..20 {
        let mut paths = match UNFINISHED.try_lock() {
            Ok(paths) => paths,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(Duration::from_millis(10));
                continue;
            }
        };
        for path in paths.drain(..) {
            let _ = std::fs::remove_file(path);
        }
        std::mem::forget(paths);
        return;
    }
}

/// A path among [`UNFINISHED`].
#[derive(Debug)]
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        unfinished().retain(|path| *path != self.0);
    }
}

/// A file under construction. Until [`AtomicFile::commit`] its content goes to a temporary file in the same folder, and what was there before
/// stays: a full disk or a killed process leaves the previous content. Without a commit the temporary file is removed.
///
/// What is no regular file, such as a pipe or a device, is written directly.
///
/// ```
/// use std::io::Write;
///
/// use clinalg::io::AtomicFile;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("x.csv");
/// let mut file = AtomicFile::create(&path)?;
/// writeln!(file, "t,x")?;
/// assert!(!path.exists());
/// file.commit()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "t,x\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    /// At the end of all links.
    target: PathBuf,
    destination: Destination,
}

#[derive(Debug)]
enum Destination {
    Temporary(BufWriter<NamedTempFile>, Unfinished),
    Direct(BufWriter<File>),
}

impl AtomicFile {
    /// Begins the file `path`; through symbolic links, the file that they name. A new file has the permissions that the umask leaves, a replaced
    /// one those it had.
    ///
    /// # Errors
    /// Those of creating a file in the folder, and of opening a file that is there for writing.
    pub fn create(path: impl AsRef<Path>) -> Result<AtomicFile> {
        let target = followed(path.as_ref());
        let present = target.metadata().ok();
        if let Some(found) = &present {
            if !found.is_file() {
                let file = BufWriter::new(File::create(&target)?);
                return Ok(AtomicFile { target, destination: Destination::Direct(file) });
            }
            // A file that its owner has protected is not replaced.
            OpenOptions::new().append(true).open(&target)?;
        }
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let end = name.char_indices().map(|(at, _)| at).take_while(|&at| at <= NAME).last().unwrap_or(0);
        let prefix = format!(".{}-", if name.len() > NAME { &name[..end] } else { &name });
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(".tmp");
        #[cfg(unix)]
        {
            // A temporary file is private by default.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut paths = unfinished();
        let file = builder.tempfile_in(folder(&target))?;
        let unfinished = Unfinished(file.path().to_owned());
        paths.push(unfinished.0.clone());
        drop(paths);
        if let Some(found) = present {
            file.as_file().set_permissions(found.permissions())?;
        }
        Ok(AtomicFile { target, destination: Destination::Temporary(BufWriter::new(file), unfinished) })
    }

    /// Replaces `path` by what `content` writes; an error leaves the file as it was.
    ///
    /// # Errors
    /// Those of [`AtomicFile::create`], of `content` and of [`AtomicFile::commit`].
    pub fn write(path: impl AsRef<Path>, content: impl FnOnce(&mut AtomicFile) -> Result<()>) -> Result<()> {
        let mut file = AtomicFile::create(path)?;
        content(&mut file)?;
        file.commit()
    }

    /// Puts the content in the place of the previous one, once it is on the disk.
    ///
    /// # Errors
    /// Those of writing, synchronising and renaming; the previous content then stays.
    pub fn commit(self) -> Result<()> {
        let AtomicFile { target, destination } = self;
        match destination {
            Destination::Direct(mut file) => file.flush(),
            Destination::Temporary(file, _unfinished) => {
                let file = file.into_inner().map_err(|stopped| stopped.into_error())?;
                supported(file.as_file().sync_all())?;
                {
                    let _paths = unfinished();
                    file.persist(&target).map_err(|refused| refused.error)?;
                }
                // The content is safe already; not every system can synchronise a folder.
                #[cfg(unix)]
                let _ = File::open(folder(&target)).and_then(|folder| folder.sync_all());
                Ok(())
            }
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        match &mut self.destination {
            Destination::Temporary(file, _) => file.write(bytes),
            Destination::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match &mut self.destination {
            Destination::Temporary(file, _) => file.flush(),
            Destination::Direct(file) => file.flush(),
        }
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, position: SeekFrom) -> Result<u64> {
        match &mut self.destination {
            Destination::Temporary(file, _) => file.seek(position),
            Destination::Direct(file) => file.seek(position),
        }
    }
}

/// The file at the end of symbolic links, which need not exist.
fn followed(path: &Path) -> PathBuf {
    if let Ok(found) = path.canonicalize() {
        return found;
    }
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Ok(next) = path.read_link() else { break };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    path
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The result of synchronising, where the file system can do it.
fn supported(synchronised: Result<()>) -> Result<()> {
    match synchronised {
        Err(error) if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_failed_write_leaves_the_previous_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "previous").unwrap();
        let failed = AtomicFile::write(&path, |file| {
            file.write_all(&[b'x'; 1 << 20])?;
            Err(ErrorKind::StorageFull.into())
        });
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "previous");
        assert_eq!(names(folder.path()), ["a.csv"]);
        AtomicFile::write(&path, |file| file.write_all(b"next")).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "next");
        assert_eq!(names(folder.path()), ["a.csv"]);
    }

    #[test]
    fn names_of_the_longest_length_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let name = "ü".repeat(120) + ".csv";
        AtomicFile::write(folder.path().join(&name), |file| file.write_all(b"x")).unwrap();
        assert_eq!(names(folder.path()), [name]);
    }

    #[cfg(unix)]
    #[test]
    fn links_permissions_and_devices_stay_as_they_are() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mode = |name: &str| at(name).metadata().unwrap().permissions().mode() & 0o777;
        std::fs::write(at("a"), "previous").unwrap();
        std::fs::set_permissions(at("a"), std::fs::Permissions::from_mode(0o640)).unwrap();
        symlink("a", at("link")).unwrap();
        symlink("new", at("dangling")).unwrap();
        std::fs::write(at("plain"), "").unwrap();
        for name in ["link", "dangling"] {
            AtomicFile::write(at(name), |file| file.write_all(b"next")).unwrap();
            assert!(at(name).is_symlink());
        }
        assert_eq!(std::fs::read(at("a")).unwrap(), b"next");
        assert_eq!((mode("a"), mode("new")), (0o640, mode("plain")));
        AtomicFile::write("/dev/null", |file| file.write_all(b"next")).unwrap();
        assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
        std::fs::set_permissions(at("a"), std::fs::Permissions::from_mode(0o440)).unwrap();
        // Root may write every file.
        if OpenOptions::new().append(true).open(at("a")).is_err() {
            assert_eq!(AtomicFile::create(at("a")).unwrap_err().kind(), ErrorKind::PermissionDenied);
        }
    }
}
